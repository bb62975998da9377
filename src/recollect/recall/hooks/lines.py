"""The job that keeps ready what hooks tell: packs, and the lines that prompts call up.

It looks only at projects whose logs or notes are newer than what is ready, so it is cheap
after each session; left in between, it goes on with the next project another time.
Reminders are found with the notes that they say again (`distill`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from recollect.model.calls import Call, PlainEvent
from recollect.model.injections import is_harmful
from recollect.model.notes import told_text
from recollect.model.search import Query, Scope
from recollect.reading.quoting import typed
from recollect.recall.hooks.facts import (
    ANSWER,
    COMMANDS,
    ERRORS,
    FIELDS,
    FILES,
    PROMPT,
    LineFacts,
    mentions,
)
from recollect.recall.hooks.packs import make_pack, may_be_told
from recollect.recall.hooks.prompts import is_command
from recollect.recall.hooks.turn_lines import BY_PEOPLE, describe
from recollect.recall.hooks.words import MOST_CHARACTERS, file_name, words_in
from recollect.store.hook_lines import PromptLine

if TYPE_CHECKING:
    from recollect.model.notes import Note
    from recollect.settings import Settings
    from recollect.store import Store

# A project's newest turns; what is older is still found by who asks.
MOST_TURNS = 500
MOST_EVERYWHERE = 200
# Whoever wrote more than this into a prompt pasted it. Of an answer the beginning and the end
# say what it came to; nothing of it is told.
ANSWER_CHARACTERS, ERROR_CHARACTERS = 1_500, 600
# A shorter answer only says that it is done.
ANSWERED_CHARACTERS = 200
COMMAND_CHARACTERS, COMMANDS_CHARACTERS = 400, 3_000
# Prompts that begin with the same words but for their numbers are copies of one form.
COPIED_CHARACTERS, FEWEST_COPIED = 160, 20
_OF_FILES = ("edit", "read", "search")


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


def _note_line(note: Note) -> PromptLine:
    line = f"- {(note.at or '')[:10]} {note.ref}: {told_text(note)}"
    words, facts = _found_by({PROMPT: note.text}, frozenset(), frozenset())
    return PromptLine(note.ref, line, None, words, facts.packed())


def _turns(store: Store, project: str, domains: dict[str, list[str]]) -> Iterator[PromptLine]:
    """What people asked here, each with the words that it is found by and what is known of it."""
    scope = Scope(Query().having(project=project, **BY_PEOPLE), domains)
    counts, feedback = store.injections.counts(), store.injections.all_feedback()
    found = []
    for place in store.turns.newest(scope, limit=MOST_TURNS):
        if not place.live or place.origin == "subagent":
            continue
        if is_harmful(*feedback.get(place.ref, (0, 0))):
            continue
        events = store.turns.events(place.turn)
        asked = "\n".join(map(typed, _texts(events, "prompt")))
        if asked.strip() and not is_command(asked) and _came_to_something(events):
            found.append((place, first_words(asked), events, asked))
    copies = Counter(first for _, first, _, _ in found if len(first) > FEWEST_COPIED)
    for place, first, events, asked in found:
        words, facts = _words_and_facts(events, asked)
        facts.copies = copies[first] - 1 if first in copies else 0
        use = counts.get(place.ref)
        if use:
            facts.used = 1 if use.used else -1 if use.unused else 0
        yield PromptLine(
            place.ref, describe(store, place, events), place.at, words, facts.packed(),
            place.session,
        )  # fmt: skip


def _came_to_something(events: list[Call | PlainEvent]) -> bool:
    """Whether something was done, or answered at some length; else there is nothing to tell."""
    replies = _texts(events, "reply")
    answered = bool(replies) and len(replies[-1]) >= ANSWERED_CHARACTERS
    return answered or any(isinstance(event, Call) for event in events)


def first_words(asked: str) -> str:
    """What a prompt begins with, the same for copies that differ in their numbers."""
    plain = "".join("0" if char.isdigit() else char for char in asked[:1_000].lower())
    return " ".join(re.sub("0+", "0", plain).split())[:COPIED_CHARACTERS]


def _words_and_facts(
    events: list[Call | PlainEvent], asked: str
) -> tuple[dict[str, int], LineFacts]:
    calls = [event for event in events if isinstance(event, Call)]
    replies = _texts(events, "reply")
    errors = [_ends(call.output, ERROR_CHARACTERS) for call in calls if call.failed]
    errors += [text[:ERROR_CHARACTERS] for text in _texts(events, "error")]
    files, changed = set(), set()
    for call in calls:
        if call.kind in _OF_FILES and call.target:
            names = {file_name(path) for path in call.target.split(", ")}
            files |= names
            changed |= names if call.kind == "edit" else set()
    commands = [call.target[:COMMAND_CHARACTERS] for call in calls if call.kind == "shell"]
    words, facts = _found_by(
        {
            PROMPT: asked[:MOST_CHARACTERS],
            ANSWER: _ends(replies[-1], ANSWER_CHARACTERS) if replies else "",
            COMMANDS: "\n".join(filter(None, commands))[:COMMANDS_CHARACTERS],
            ERRORS: "\n".join(errors)[:MOST_CHARACTERS],
        },
        files,
        changed,
    )
    facts.edited, facts.failures = bool(changed), len(errors)
    return words, facts


def _found_by(
    texts: dict[int, str], files: Collection[str], changed: Collection[str]
) -> tuple[dict[str, int], LineFacts]:
    """How often each word stands where, and how long each field is."""
    counts = {field: Counter(words_in(text)) for field, text in texts.items()}
    counts[FILES] = Counter(word for name in files for word in {*words_in(name), name})
    where: dict[str, dict[int, int]] = {}
    for field, words in counts.items():
        for word, count in words.items():
            where.setdefault(word, {})[field] = count
    lengths = [counts[field].total() if field in counts else 0 for field in FIELDS]
    found = {word: mentions(how, changed=word in changed) for word, how in where.items()}
    return found, LineFacts(lengths, asked=len(counts[PROMPT]))


def _ends(text: str, most: int) -> str:
    return text if len(text) <= 2 * most else f"{text[:most]}\n{text[-most:]}"


def _texts(events: list[Call | PlainEvent], kind: str) -> list[str]:
    return [
        event.text
        for event in events
        if isinstance(event, PlainEvent) and event.kind == kind and event.text
    ]
