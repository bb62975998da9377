"""A turn in one line, composed by us: what a person asked, what was changed and run, how it ended.

What an agent or a tool wrote is not quoted. A command is told whole, as it was run, or not at
all; a path has names too short for a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from recollect.model.calls import Call, PlainEvent
from recollect.model.search import Query, Scope
from recollect.reading.quoting import is_plain_command, quoted, quoted_path, typed
from recollect.system.clock import iso

if TYPE_CHECKING:
    from recollect.model.search import Place
    from recollect.store import Store

PROMPT_CHARACTERS = 200
REF_CHARACTERS = 200
COMMAND_CHARACTERS = 120
MOST_COMMANDS = 2
MOST_FILES = 4
# A shorter prompt ("yes, do it") says nothing without the one before it.
TELLING_WORDS = 4

# What a sub-agent was asked is an agent's prose; what came with a project may be anybody's.
BY_PEOPLE = {"is": "human", "-is": "external"}


def describe(store: Store, place: Place, events: list[Call | PlainEvent] | None = None) -> str:
    """A turn in one line: when, what was asked, what was done and whether
    it worked, and where to read more.
    """
    events = store.turns.events(place.turn) if events is None else events
    asked = asked_in(events)
    if len(asked.split()) < TELLING_WORDS:
        before = store.turns.neighbours([place], 1, Scope(Query().having(**BY_PEOPLE), {})).values()
        earlier = next(
            (
                other
                for other in before
                if other.session == place.session and other.ordinal == place.ordinal - 1
            ),
            None,
        )
        asked = f"{asked_in(store.turns.events(earlier.turn))} … {asked}" if earlier else asked
    parts = [
        f"- {(iso(place.at) or '')[:10]} {quoted(place.ref, REF_CHARACTERS)}: asked “{asked}”",
        *_done(events),
    ]
    return "; ".join(parts)


def asked_in(events: list[Call | PlainEvent]) -> str:
    """What a turn began with, in one line."""
    prompts = (
        event.text
        for event in events
        if isinstance(event, PlainEvent) and event.kind == "prompt" and event.text
    )
    return quoted(typed(next(prompts, "")), PROMPT_CHARACTERS)


def _done(events: list[Call | PlainEvent]) -> Iterator[str]:
    """Which files were changed, and which commands failed or ended well, the last ones first."""
    calls = [event for event in events if isinstance(event, Call) and event.target]
    files = dict.fromkeys(call.target for call in calls if call.kind == "edit")
    if files:
        rest = f" and {len(files) - MOST_FILES} more" if len(files) > MOST_FILES else ""
        named = (quoted_path(name, COMMAND_CHARACTERS) for name in list(files)[:MOST_FILES])
        yield f"changed {', '.join(named)}{rest}"
    commands: dict[str, str] = {}
    for call in calls:
        if call.kind == "shell" and call.ending != "unknown":
            code = call.exit_code
            ended = "ok" if call.passed else "failed" if code is None else f"exit {code}"
            command = " ".join(call.target.split())
            if len(command) <= COMMAND_CHARACTERS and is_plain_command(call.target):
                commands.pop(command, None)
                commands[command] = ended
    for command, ended in list(commands.items())[-MOST_COMMANDS:]:
        yield f"ran `{command}` ({ended})"
