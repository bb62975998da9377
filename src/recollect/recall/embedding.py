"""Turns become vectors: their telling texts are cut into pieces, encoded and kept.

This runs after the text is committed and searchable. Bodies are read in
batches, encoded while nobody is locked out, and written in short transactions;
what was written is out of the queue, so a run that is stopped anywhere goes on
where it was. A turn that changed meanwhile is done again, and two runs at once
do some work twice and no harm.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from recollect.model.calls import Call, PlainEvent
from recollect.model.reports import Embedded
from recollect.recall.closeness import note_words
from recollect.store.codes import int8_codes
from recollect.store.sqlite.vectors.stored import TurnVectors
from recollect.store.text import without_tag_numbers

if TYPE_CHECKING:
    from recollect.embed import Encoder
    from recollect.store import Store
    from recollect.store.sqlite.vectors.stored import QueuedTurn

# A piece is about one thing: what was asked and answered, or what was done.
PIECE_CHARACTERS = 1_000
MOST_PIECES = 4
# How much of each text counts. The question is told at its start, the answer
# too; of a command the flags matter, of an error its first and last lines.
PROMPT_CHARACTERS = 2_000
REPLY_CHARACTERS = 600
COMMAND_CHARACTERS = 200
ERROR_CHARACTERS = 400

# A batch should neither hold the write lock for long nor outlast a job's
# lease, whether the encoder does ten texts a second or twenty thousand.
FIRST_BATCH = 32
LARGEST_BATCH = 64
BATCH_SECONDS = 1.0


def embed(
    store: Store, encoder: Encoder, *, again: bool = False, limit: int | None = None
) -> Iterator[Embedded]:
    """Embed the turns that wait, newest first, telling after each batch how far it came.

    Vectors of another encoder are dropped first, and with `again` this
    encoder's own as well.
    """
    started = time.monotonic()
    store.vectors.use_encoder(encoder.name, encoder.dimensions, again=again)
    report = Embedded(encoder=encoder.name, remaining=store.vectors.waiting())
    size = FIRST_BATCH
    while limit is None or report.turns < limit:
        batch_started = time.monotonic()
        waiting = store.vectors.next_waiting(
            size if limit is None else min(size, limit - report.turns)
        )
        if not waiting:
            break
        encoded = _encoded(encoder, waiting)
        report.turns += store.vectors.save(encoder.name, encoded)
        report.pieces += sum(len(turn.codes) for turn in encoded)
        report.seconds = round(time.monotonic() - started, 3)
        report.remaining = store.vectors.waiting()
        yield report
        took_seconds = time.monotonic() - batch_started
        size = min(2 * size, LARGEST_BATCH) if took_seconds < BATCH_SECONDS else max(size // 2, 1)
    # A run that was killed after its last batch has left none.
    if report.turns or store.vectors.mean() is None:
        store.vectors.save_mean()
    report.remaining = store.vectors.waiting()
    yield report


def _encoded(encoder: Encoder, waiting: list[QueuedTurn]) -> list[TurnVectors]:
    """The codes of each turn's pieces and the words in them.

    A piece of which the encoder knows nothing has no code.
    """
    cut = [pieces(queued.events) for queued in waiting]
    texts = [piece for some in cut for piece in some]
    codes = iter(
        [code.tobytes() for code in int8_codes(encoder.encode_documents(texts))] if texts else []
    )
    noted = note_words(["\n".join(some) for some in cut])
    return [
        TurnVectors(
            queued.turn,
            queued.mark,
            [code for code in islice(codes, len(some)) if any(code)],
            words,
        )
        for queued, some, words in zip(waiting, cut, noted, strict=True)
    ]


def pieces(events: list[Call | PlainEvent]) -> list[str]:
    """What a turn is about, in texts short enough to have one meaning each.

    The first holds the prompt's beginning and the reply's; then follows the
    rest of the prompt, and the commands with their errors.
    """
    said = [event for event in events if isinstance(event, PlainEvent) and event.text]
    prompt = "\n".join(event.text for event in said if event.kind == "prompt")
    replies = [event.text for event in said if event.kind == "reply"]
    asked = _cut(prompt[:PROMPT_CHARACTERS], PIECE_CHARACTERS)
    answer = replies[-1][:REPLY_CHARACTERS] if replies else ""
    first = "\n".join(text for text in (asked[0] if asked else "", answer) if text)
    done = _cut("\n".join(dict.fromkeys(_done(events))), PIECE_CHARACTERS)
    told = [piece for piece in (first, *asked[1:], *done) if piece][:MOST_PIECES]
    return [without_tag_numbers(piece) for piece in told]


def _done(events: list[Call | PlainEvent]) -> Iterator[str]:
    """Commands, and what went wrong."""
    for event in events:
        if isinstance(event, Call):
            if event.target:
                yield event.target[:COMMAND_CHARACTERS]
            if event.failed and event.output:
                yield _ends(event.output)
        elif event.kind == "error":
            yield _ends(event.text)


def _ends(text: str) -> str:
    half = ERROR_CHARACTERS // 2
    return text if len(text) <= ERROR_CHARACTERS else f"{text[:half]}\n{text[-half:]}"


def _cut(text: str, size: int) -> list[str]:
    """A text in pieces of at most `size` characters, cut at the
    ends of lines where there are any.
    """
    found = []
    start = 0
    while len(text) - start > size:
        end = text.rfind("\n", start + size // 2, start + size) + 1 or start + size
        found.append(text[start:end])
        start = end
    found.append(text[start:])
    return [piece.strip() for piece in found if piece.strip()]
