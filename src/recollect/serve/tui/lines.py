"""Sessions, turns and notes as lines of a terminal, as wide as there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from recollect.model.sessions import ToolCall
from recollect.serve.cli import style
from recollect.serve.cli.style import age, cells
from recollect.serve.output import printable
from recollect.serve.patches import patch_of, signed

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


def cut(text: str, width: int) -> str:
    """As many words of a line as fit, with a sign that there is more."""
    return style.cut(one_line(text), width)


def padded(text: str, width: int, *, right: bool = False) -> str:
    """A line of just so many cells."""
    return style.pad(cut(text, width), width, right=right)


def session_line(session: Session, width: int, *, project: str = "") -> Content:
    """A session in one line: when, how it went, what it was, whose."""
    mark = MARKS.get(session.outcome or "", " ")
    more = f" +{session.subagents}" if session.subagents else ""
    name = f"{project}  " if project else ""
    room = width - AGE_CELLS - AGENT_CELLS - 6 - cells(more) - cells(name)
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
    mark, role = ("✗", "$error") if failed else ("✓", "$success") if call.ok else ("·", "dim")
    if call.tool_kind == "edit" and not failed:
        mark, role = "✎", "$accent"
    code = f"  exit {call.exit_code}" if failed and call.exit_code is not None else ""
    line = Content.assemble(
        ("  ", ""), (mark, role), " ", one_line(call.target or call.name or ""), (code, "$error")
    )
    if whole and call.tool_kind == "edit" and call.ok is not False:
        return Content("\n").join([line, *_patch(call)])
    output = _text(call.output or "").splitlines()
    if not output or not (failed or whole):
        return line
    shown = output if whole else output[-MOST_OUTPUT_LINES:]
    left = len(output) - len(shown)
    rest = [Content.assemble((f"    … {left} lines (Space opens)", "dim"))] if left else []
    lines = [Content.assemble((f"    {one}", "dim")) for one in shown]
    return Content("\n").join([line, *rest, *lines])


def _patch(call: ToolCall) -> list[Content]:
    """What an edit changed, line by line."""
    roles = {"+": "$success", "-": "$error"}
    return [
        Content.assemble(
            (
                f"    {text if sign == '@' else sign + text}".replace("\t", "    "),
                roles.get(sign, "dim"),
            )
        )
        for sign, text in ((sign, _text(text)) for sign, text in signed(patch_of(call.input)))
    ]


def _text(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n")).strip("\n")
