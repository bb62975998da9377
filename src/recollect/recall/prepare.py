"""The job that keeps ready what hooks tell: packs, reminders and tellings, project by project.

It looks only at projects whose logs or notes are newer than what is ready, so
it is cheap after each session; left in between, it goes on with the next
project another time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from recollect.model.calls import Call, PlainEvent
from recollect.model.search import Query, Scope
from recollect.reading.quoting import typed
from recollect.recall import reminders
from recollect.recall.pack import (
    BY_PEOPLE,
    START_TOKENS,
    asks,
    at_start,
    describe,
    note_line,
    within,
)
from recollect.store.told import Told

if TYPE_CHECKING:
    from recollect.store import Store

# A project's newest turns; what is older is still found by who asks.
MOST_TELLINGS = 500
# Whoever wrote more than this into a prompt pasted it.
FOUND_BY_CHARACTERS = 2_000
# What an answer begins with says what it came to; nothing of it is told.
REPLY_CHARACTERS = 600


def prepare(
    store: Store, domains: dict[str, list[str]], *, only: str | None = None
) -> Iterator[str]:
    """Prepare what is outdated, or only that of one project; each project's key once it is done."""
    store.old.save_common_tellings(
        [(_note(*note), note[2]) for note in store.old.trusted_notes(None)]
    )
    for number, project in store.old.outdated_projects():
        if only is not None and project != only:
            continue
        begun = store.old.begin_preparing(number)
        commands, errors = reminders.find(store, project, domains)
        store.old.save_reminders(number, begun, "command", commands)
        store.old.save_reminders(number, begun, "error", errors)
        own = [(_note(*note), note[2]) for note in store.old.trusted_notes(number, own=True)]
        store.old.save_tellings(number, begun, own + list(_turns(store, project, domains)))
        pack = within(at_start(store, project, domains), START_TOKENS)
        store.old.save_pack(number, begun, pack.text, " ".join(line.ref for line in pack.lines))
        yield project


def _note(ref: str, category: str, text: str, at: int) -> Told:
    return Told(ref, note_line(ref, category, text, at), at)


def _turns(store: Store, project: str, domains: dict[str, list[str]]) -> Iterator[tuple[Told, str]]:
    """What people asked here and had done, each with the text that it is found by.

    What was asked often, as it came out last.
    """
    known: set[str] = set()
    scope = Scope(Query().having(project=project, **BY_PEOPLE), domains)
    for place in store.turns.newest(scope, limit=MOST_TELLINGS):
        if not place.live or place.origin == "subagent":
            continue
        events = store.turns.events(place.turn)
        asked = "\n".join(map(typed, _texts(events, "prompt")))
        # Where nothing was done there is nothing to tell.
        called = any(isinstance(event, Call) for event in events)
        if called and asks(asked) and asked not in known:
            known.add(asked)
            line = describe(store, place, events)
            yield Told(place.ref, line, place.at), _found_by(asked, events)


def _found_by(asked: str, events: list[Call | PlainEvent]) -> str:
    """What was asked, which files were changed, and how the last answer begins."""
    changed = {event.target for event in events if isinstance(event, Call) and event.kind == "edit"}
    replies = _texts(events, "reply")
    answer = replies[-1][:REPLY_CHARACTERS] if replies else ""
    return " ".join([asked[:FOUND_BY_CHARACTERS], *sorted(changed), answer])


def _texts(events: list[Call | PlainEvent], kind: str) -> list[str]:
    return [
        event.text
        for event in events
        if isinstance(event, PlainEvent) and event.kind == kind and event.text
    ]
