"""What an agent is told after its context was compacted: what a summary loses.

Composed by the hook itself, out of a few rows: it happens once in hours, and needs the session
as it is. Commands are told whole or not at all, the request in the person's words.
"""

from __future__ import annotations

from recollect.reading.quoting import is_plain_command, quoted, typed
from recollect.recall.hooks.frame import fitting, framed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.sqlite.ready import Ready

COMPACT_TOKENS = 600
REQUEST_CHARACTERS = 400
MOST_FAILING = 5
COMMAND_CHARACTERS = 200


def packet(ready: Ready, project: int, session: str | None, mark: str) -> tuple[str, str]:
    """What to tell, framed, and the references in it."""
    told, refs = ready.after_compaction(project)
    lines = _of_the_session(ready, session) if session else []
    lines += told.split("\n") if told else []
    fits = fitting(lines, COMPACT_TOKENS, mark)
    lines = [line for line, has_room in zip(lines, fits, strict=True) if has_room]
    return (framed(lines, mark), refs) if lines else ("", "")


def _of_the_session(ready: Ready, session: str) -> list[str]:
    lines = []
    first = ready.asked_first(session)
    if first:
        number, prompt = first
        asked = quoted(typed(prompt), REQUEST_CHARACTERS)
        lines += ["Asked first in this session:", f"- “{asked}” (turn {number})"]
    failing = [
        f"- `{' '.join(command.split())}`{_where(folder, code)}"
        for command, ok, code, folder in ready.last_runs(session)
        if ok == 0 and len(command) <= COMMAND_CHARACTERS and is_plain_command(command)
    ][:MOST_FAILING]
    return [*lines, "Failed when last run in this session:", *failing] if failing else lines


def _where(folder: str | None, code: int | None) -> str:
    shown = quoted(folder or "", 120)
    parts = [f"in {shown}"] if shown else []
    parts += [f"exit {code}"] if code else []
    return f" ({', '.join(parts)})" if parts else ""
