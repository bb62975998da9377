"""The job that keeps ready what hooks tell: packs, and the lines that prompts call up.

It looks only at projects whose logs or notes are newer than what is ready, so it is cheap
after each session; left in between, it goes on with the next project another time.
Reminders are found with the notes that they say again (`distill`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from recollect.model.calls import Call, PlainEvent
from recollect.model.notes import told_text
from recollect.model.search import Query, Scope
from recollect.reading.quoting import typed
from recollect.recall.hooks.packs import make_pack, may_be_told
from recollect.recall.hooks.turn_lines import BY_PEOPLE, asks, describe
from recollect.store.hook_lines import HookLine

if TYPE_CHECKING:
    from recollect.model.notes import Note
    from recollect.settings import Settings
    from recollect.store import Store

# A project's newest turns; what is older is still found by who asks.
MOST_TURNS = 500
MOST_EVERYWHERE = 200
# Whoever wrote more than this into a prompt pasted it.
FOUND_BY_CHARACTERS = 2_000
# What an answer begins with says what it came to; nothing of it is told.
REPLY_CHARACTERS = 600


def make_ready(store: Store, settings: Settings, *, only: str | None = None) -> Iterator[str]:
    """Make what is outdated, or only that of one project; each project's key once it is done."""
    everywhere = store.notes.search(everywhere=True, statuses=("active",), limit=MOST_EVERYWHERE)
    store.hook_lines.save_common_lines(
        [_note_line(note) for note in everywhere if may_be_told(note)]
    )
    feedback = store.injections.all_feedback()
    for number, project in store.hook_lines.outdated(only):
        begun = store.hook_lines.begin(number)
        notes = store.notes.in_memory(project)
        # What is told at a prompt is told unasked too.
        own = [
            _note_line(note)
            for note in notes
            if note.project is not None
            and note.section != "left_off"
            and may_be_told(note)
            and (note.is_sure or note.in_pack)
        ]
        turns = list(_turns(store, project, settings.domains()))
        store.hook_lines.save_prompt_lines(number, begun, own + turns)
        store.hook_lines.drop_reminders_of_the_past(number)
        block = store.notes.block(project)
        made = make_pack(
            notes,
            block.pack,
            block.long,
            mark=store.hook_lines.mark(),
            budget_tokens=settings.number("recall.pack_tokens"),
            feedback=feedback,
            published=store.publications.notes_of(number),
        )
        store.hook_lines.save_pack(
            number, begun, made.text, made.refs,
            compact=made.compact, compact_refs=made.compact_refs, long=made.long,
        )  # fmt: skip
        yield project


def _note_line(note: Note) -> tuple[HookLine, str]:
    line = HookLine(note.ref, f"- {(note.at or '')[:10]} {note.ref}: {told_text(note)}", None)
    return line, note.text


def _turns(
    store: Store, project: str, domains: dict[str, list[str]]
) -> Iterator[tuple[HookLine, str]]:
    """What people asked here and had done, each with the text that it is found by.

    What was asked often, as it came out last.
    """
    known: set[str] = set()
    scope = Scope(Query().having(project=project, **BY_PEOPLE), domains)
    for place in store.turns.newest(scope, limit=MOST_TURNS):
        if not place.live or place.origin == "subagent":
            continue
        events = store.turns.events(place.turn)
        asked = "\n".join(map(typed, _texts(events, "prompt")))
        # Where nothing was done there is nothing to tell.
        called = any(isinstance(event, Call) for event in events)
        if called and asks(asked) and asked not in known:
            known.add(asked)
            line = describe(store, place, events)
            yield HookLine(place.ref, line, place.at), _found_by(asked, events)


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
