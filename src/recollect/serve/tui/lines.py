"""Sessions, turns and notes as lines of a terminal, as wide as there is room."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from recollect.model.sessions import ToolCall
from recollect.serve.output import printable

if TYPE_CHECKING:
    from recollect.model.search import Hit
    from recollect.model.sessions import Session, Turn

MARKS = {"success": "✓", "fail": "✗", "partial": "~", "abandoned": "–"}
STYLES = {"success": "$success", "fail": "$error", "partial": "$warning"}
AGE_CELLS, AGENT_CELLS = 4, 9
# An output is shown by its end, where it says how it went.
MOST_OUTPUT_LINES = 3


def one_line(text: str) -> str:
    """A text on one line, without what would move the cursor."""
    return " ".join(printable(text).split())


def cut(text: str, cells: int) -> str:
    """As much of a line as fits, with a sign that there is more."""
    line = one_line(text)
    if cell_len(line) <= cells:
        return line
    return set_cell_size(line, max(0, cells - 1)).rstrip() + "…"


def padded(text: str, cells: int, *, right: bool = False) -> str:
    """A line of just so many cells."""
    line = cut(text, cells)
    blanks = " " * max(0, cells - cell_len(line))
    return blanks + line if right else line + blanks


def age(at: str | None) -> str:
    """Such as 12m, 3h, 8d, 5w, 2mo, 1y; by the log's own time."""
    if not at:
        return "–"
    found = datetime.fromisoformat(at)
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    minutes = (datetime.now(UTC) - found).total_seconds() / 60
    for most, size, name in (
        (1, 1, ""), (60, 1, "m"), (1_440, 60, "h"), (20_160, 1_440, "d"), (90_720, 10_080, "w"),
        (525_600, 43_800, "mo"),
    ):  # fmt: skip
        if minutes < most:
            return f"{max(1, int(minutes / size))}{name}" if name else "now"
    return f"{int(minutes / 525_600)}y"


def money(cost: float | None) -> str:
    """In dollars; what has no price is no 0."""
    return "–" if cost is None else f"${cost:,.2f}" if cost >= 0.01 or not cost else "<1¢"


def session_line(session: Session, width: int, *, project: str = "") -> Content:
    """A session in one line: when, how it went, what it was, whose."""
    mark = MARKS.get(session.outcome or "", " ")
    more = f" +{session.subagents}" if session.subagents else ""
    name = f"{project}  " if project else ""
    room = width - AGE_CELLS - AGENT_CELLS - 6 - cell_len(more) - cell_len(name)
    title = padded(session.title or "(no prompt)", max(8, room))
    return Content.assemble(
        (padded(age(session.started_at), AGE_CELLS, right=True), "dim"),
        " ",
        (mark, STYLES.get(session.outcome or "", "")),
        " ",
        (name, "dim"),
        title,
        (more, "dim"),
        " ",
        (padded(session.agent.partition("-")[0], AGENT_CELLS, right=True), "dim"),
    )


def hit_line(hit: Hit, width: int) -> Content:
    """A turn that was found, below its session."""
    head = padded(f".{hit.turn}", AGE_CELLS + 4, right=True)
    return Content.assemble((head, "$accent"), " ", (cut(hit.snippet, width - AGE_CELLS - 7), ""))


def turn_content(turn: Turn, *, whole: bool = False) -> Content:
    """A turn as it is read: what was asked, done and said."""
    parts: list[Content] = []
    for event in turn.events:
        if isinstance(event, ToolCall):
            parts.append(_call(event, whole=whole))
        elif event.kind == "prompt":
            parts.append(Content.assemble((f"› {_text(event.text)}", "bold"), "\n"))
        elif event.kind == "reply":
            parts.append(Content(f"{_text(event.text)}\n"))
        elif event.text and event.kind in ("error", "abort"):
            parts.append(Content.assemble((f"! {_text(event.text)}\n", "$error")))
        elif event.text and whole:
            parts.append(Content.assemble((f"{_text(event.text)}\n", "dim")))
    return Content("\n").join(parts)


def _call(call: ToolCall, *, whole: bool) -> Content:
    failed = call.ok is False
    mark, style = ("✗", "$error") if failed else ("✓", "$success") if call.ok else ("·", "dim")
    if call.tool_kind == "edit" and not failed:
        mark, style = "✎", "$accent"
    code = f"  exit {call.exit_code}" if failed and call.exit_code is not None else ""
    line = Content.assemble(
        ("  ", ""), (mark, style), " ", one_line(call.target or call.name or ""), (code, "$error")
    )
    output = _text(call.output or "").splitlines()
    if not output or not (failed or whole):
        return line
    shown = output if whole else output[-MOST_OUTPUT_LINES:]
    left = len(output) - len(shown)
    rest = [Content.assemble((f"    … {left} lines (Space opens)", "dim"))] if left else []
    lines = [Content.assemble((f"    {one}", "dim")) for one in shown]
    return Content("\n").join([line, *rest, *lines])


def _text(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n")).strip("\n")
