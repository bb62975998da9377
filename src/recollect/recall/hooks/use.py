"""Whether what a session was told was used, worked out from what it did afterwards.

- A told command counts as used when it was run afterwards, whole, perhaps within a longer line.
  A told file counts when a file of that name was read or edited. Of an earlier turn that a
  prompt called up, its commands and files count alike.
- What was told of a failing command counts as unused when that command failed there once more,
  and as used when what works instead was run.
- A told command or file that nothing was done with is unused.
- Of anything else, such as how somebody wants to be written to, nobody can say: it is unknown.

What a session's sub-agents did counts with it. Looked at are sessions that have been quiet for
an hour, again when more was read of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from recollect.errors import NotFound, UsageError
from recollect.model.sessions import ToolCall
from recollect.system.clock import now_ms

if TYPE_CHECKING:
    from recollect.model.injections import Use
    from recollect.store import Store
    from recollect.store.sqlite.injections import SessionAction

QUIET_MS = 3_600_000
# A told path is known by its end: agents write it whole.
_CODE = re.compile(r"`([^`]+)`")
_FILE = re.compile(r"[\w@.+-]*(?:[/\\][\w@.+-]+)*\.[A-Za-z][\w]{0,7}")
_FAILS = re.compile(r"^(?: \(in [^)]*\))? (?:fails|failed)\b")
_NOT_THERE = "not installed here"


class NoteNames(NamedTuple):
    """What a told line names that can be acted on: commands and files, and commands that fail."""

    commands: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()


def look_at_use(store: Store) -> Iterator[str]:
    """Work out what became of what was told to sessions that are quiet; each one's id."""
    known: dict[str, NoteNames] = {}
    for told in store.injections.to_look_at(quiet_before_ms=now_ms() - QUIET_MS):
        done = store.injections.done_since(told.session, told.at)
        uses: dict[str, Use] = {}
        for ref in told.refs:
            if ref not in known:
                known[ref] = things_of(store, ref)
            uses[ref] = use_of(known[ref], done)
        store.injections.save_use(
            told.id,
            [ref for ref, use in uses.items() if use == "used"],
            [ref for ref, use in uses.items() if use == "unused"],
        )
        yield told.id


def things_of(store: Store, ref: str) -> NoteNames:
    """What a told note or turn names; nothing when it is gone by now."""
    try:
        if ref.startswith("note:"):
            return things_in(store.notes.get(ref).text)
        session, ordinal = store.sessions.resolve(ref)
        events = store.turns.get(session, ordinal).events if ordinal is not None else []
    except (NotFound, UsageError):
        return NoteNames()
    calls = [event for event in events if isinstance(event, ToolCall)]
    return NoteNames(
        tuple(
            " ".join(call.target.split())
            for call in calls
            if call.tool_kind == "shell" and call.target and call.ok
        )[-2:],
        tuple(
            path
            for call in calls
            if call.tool_kind == "edit" and call.target
            for path in call.target.split(", ")
        )[:4],
    )


def things_in(text: str) -> NoteNames:
    """What a note names."""
    commands, files, failing = [], [], []
    for found in _CODE.finditer(text):
        said = found[1].strip()
        if _FAILS.match(text[found.end() :]) or (
            _NOT_THERE in text and found.start() < text.index(_NOT_THERE)
        ):
            failing.append(said)
        elif _FILE.fullmatch(said):
            files.append(said)
        elif re.match(r"[\w./~@-]+(?: |$)", said):
            commands.append(said)
    files += [word for word in _FILE.findall(_CODE.sub(" ", text)) if len(word) > 4]
    return NoteNames(tuple(commands), tuple(dict.fromkeys(files)), tuple(failing))


def use_of(things: NoteNames, done: Sequence[SessionAction]) -> Use:
    """What a session did with what it was told, out of what it did afterwards."""
    lines = [" ".join(one.target.split()) for one in done if one.kind == "shell"]
    touched = {
        name
        for one in done
        if one.kind in ("edit", "read")
        for path in one.target.split(", ")
        for name in [re.split(r"[/\\]", path)[-1]]
    }
    if any(command in line for command in things.commands for line in lines) or any(
        re.split(r"[/\\]", path)[-1] in touched for path in things.files
    ):
        return "used"
    if things.failing:
        failed_again = any(
            one.kind == "shell" and one.ok is False and _begins(one.target, command)
            for one in done
            for command in things.failing
        )
        return "unused" if failed_again else "unknown"
    return "unused" if things.commands or things.files else "unknown"


def _begins(line: str, command: str) -> bool:
    """Whether a line runs a command, at its start or after an operator."""
    plain = " ".join(line.split())
    return re.search(rf"(?:^|[;&|(] ?){re.escape(command)}(?![\w-])", plain) is not None
