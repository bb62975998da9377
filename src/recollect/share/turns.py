"""The turns of a session as they leave: what was asked and answered, and what was run and changed.

Outputs of tools, thoughts and the contents of files stay here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recollect.model.calls import Call
from recollect.model.team import TeamTurn
from recollect.share.names import prepared_words
from recollect.system.clock import iso

if TYPE_CHECKING:
    from recollect.model.calls import PlainEvent
    from recollect.share.names import OutgoingText
    from recollect.share.policy import Outgoing
    from recollect.store import Store

# Turns on their way at a time: a few megabytes of text.
AT_ONCE = 1_000
ASKED_CHARACTERS, ANSWER_CHARACTERS, DONE_CHARACTERS = 2_000, 2_000, 1_000
# The hub's column; vectors of other encoders stay here.
ENCODER, DIMENSIONS = "static:recollect-static-256", 256


def turns_of(
    store: Store, sessions: Sequence[Outgoing], clean: OutgoingText
) -> Iterator[dict[str, list[TeamTurn]]]:
    """The turns of sessions, by the id of these; whole sessions, some of them at a time."""
    batch: dict[str, list[TeamTurn]] = {}
    for session in sessions:
        batch[session.id] = _turns(store, session.number, clean)
        if sum(map(len, batch.values())) >= AT_ONCE:
            yield batch
            batch = {}
    if batch:
        yield batch


def _turns(store: Store, session: int, clean: OutgoingText) -> list[TeamTurn]:
    rows = store.team.turns_of(session)
    events = store.turns.events_of([turn for turn, _, _ in rows])
    texts = clean.many([text for turn, _, _ in rows for text in _said(events[turn])])
    vectors = store.team.vectors_of(session) if store.vectors.encoder() == ENCODER else {}
    found = []
    for place, (turn, ordinal, at) in enumerate(rows):
        asked, answer, done = texts[3 * place : 3 * place + 3]
        text = "\n\n".join(part for part in (asked, answer) if part)
        if text:
            row = " ".join(prepared_words(f"{text} {done}"))
            found.append(TeamTurn(ordinal, iso(at), text, row, _one_vector(vectors.get(turn))))
    return found


def _said(events: Sequence[Call | PlainEvent]) -> tuple[str, str, str]:
    """What was asked, what came last, and the commands and files between."""
    asked, answer, done = "", "", list[str]()
    for event in events:
        if isinstance(event, Call):
            if event.target:
                done.append(event.target)
        elif event.kind == "prompt":
            asked = f"{asked}\n{event.text}" if asked else event.text or ""
        elif event.kind == "reply":
            answer = event.text or ""
    said = " ".join(dict.fromkeys(done))
    return asked[:ASKED_CHARACTERS], answer[:ANSWER_CHARACTERS], said[:DONE_CHARACTERS]


def _one_vector(codes: bytes | None) -> bytes | None:
    """A turn's pieces as one vector, which is what a team's search compares."""
    if not codes or len(codes) % DIMENSIONS:
        return None
    pieces = np.frombuffer(codes, np.int8).reshape(-1, DIMENSIONS)
    if len(pieces) == 1:
        return codes
    lengths = np.linalg.norm(pieces, axis=1, keepdims=True)
    whole = (pieces / np.maximum(lengths, 1.0)).sum(axis=0)
    largest = float(np.abs(whole).max()) or 1.0
    packed: bytes = np.rint(whole * (127 / largest)).astype(np.int8).tobytes()
    return packed
