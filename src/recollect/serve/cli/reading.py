"""A session, or one turn, as a person reads it in a terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator

from recollect.memory import Memory
from recollect.model.sessions import Session, SessionDetail, ToolCall, Turn
from recollect.serve.cli.lists import OUTCOMES, Screen, agent_name, project_names
from recollect.serve.cli.style import Style, cells, fill, money, number, seconds_of
from recollect.serve.output import counted, external_mark, printable
from recollect.serve.patches import patch_of

# Of a failure the first line and the last ones say what happened.
LAST_LINES = 2
_LOOKED_AT = {"read": "read", "search": "searched", "web": "looked up"}


def read_session(
    screen: Screen, memory: Memory, found: SessionDetail | Turn, *, whole: bool
) -> Iterator[str]:
    """What was asked, done and answered; commands with how they ended, output only of failures."""
    if isinstance(found, Turn):
        session: Session = memory.session(found.ref.rpartition("#")[0])
        turns, whole = [found], True
    else:
        session, turns = found, [turn for turn in found.turn_list if turn.live or whole]
    style = screen.style
    short = memory.names([session.id])[session.id].short
    title = style.clean((session.title or "(no prompt)") + external_mark(session))
    room = style.width - cells(short) - 2
    title = style.cut(title, room)
    blanks = " " * (room - cells(title) + 2)
    yield f"{style.paint('bold', title)}{blanks}{style.paint('accent', short)}"
    yield style.paint("dim", style.cut(_about(style, session), style.width))
    for turn in turns:
        yield ""
        yield _head(style, turn)
        yield from _events(style, turn, whole=whole)
    if isinstance(found, SessionDetail) and len(turns) < len(found.turn_list):
        left = len(found.turn_list) - len(turns)
        yield ""
        yield style.paint("dim", f"{counted(left, 'undone turn')} left out (--all)")


def _about(style: Style, session: Session) -> str:
    facts = [
        project_names([session.project])[session.project],
        agent_name(session.agent),
        _when(session.started_at, session.ended_at),
        counted(session.turns, "turn"),
        f"{session.errors} of {session.tool_calls} calls failed" if session.tool_calls else "",
        money(session.cost_usd),
    ]
    if session.outcome in OUTCOMES:
        facts.append(f"{OUTCOMES[session.outcome][0]} {session.outcome}")
    return style.clean(" · ".join(filter(None, facts)))


def _when(start: str | None, end: str | None) -> str:
    """The day and the hours, in local time."""
    first, last = seconds_of(start), seconds_of(end)
    if first is None:
        return ""
    local = time.localtime(first)
    year = "" if local.tm_year == time.localtime().tm_year else f" {local.tm_year}"
    said = f"{time.strftime('%a', local)} {local.tm_mday} {time.strftime('%b', local)}{year}, "
    until = "" if last is None else time.strftime("–%H:%M", time.localtime(last))
    return said + time.strftime("%H:%M", local) + until


def _head(style: Style, turn: Turn) -> str:
    """The number of a turn, what was asked, and how much it took."""
    first, last = seconds_of(turn.started_at), seconds_of(turn.ended_at)
    took = []
    if first is not None and last is not None and last - first >= 60:
        took.append(f"{(last - first) / 60:.0f} min")
    used = turn.tokens
    tokens = used.input + used.cache_read + used.cache_write + used.output
    if tokens:
        took.append(f"{number(tokens)} tokens")
    marks = [] if turn.live else ["undone"]
    right = style.glyph(" · ").join([*marks, *took])
    start = f".{turn.ordinal} "
    room = style.width - cells(start) - cells(right) - 5
    asked = style.cut(style.clean(turn.prompt) or turn.author, room)
    rule = style.glyph("─")
    line = rule * max(1, room - cells(asked) + 1)
    return (
        f"{style.paint('accent', start)}{style.paint('dim', rule)} {style.paint('bold', asked)} "
        f"{style.paint('dim', f'{line} {right}'.rstrip())}"
    )


def _events(style: Style, turn: Turn, *, whole: bool) -> Iterator[str]:
    looked: list[str] = []
    for event in turn.events:
        folds = isinstance(event, ToolCall) and event.ok is not False and not whole
        if folds and isinstance(event, ToolCall) and event.tool_kind in _LOOKED_AT:
            looked.append(_LOOKED_AT[event.tool_kind])
            continue
        yield from _folded(style, looked)
        if isinstance(event, ToolCall):
            yield from _call(style, event, whole=whole)
        elif event.kind == "prompt":
            # The first line is that of the turn; a long prompt is there with `show REF.N`.
            if whole:
                yield from _prose(style, event.text)
        elif event.kind in ("reply", "command"):
            yield from _prose(style, event.text)
        elif event.kind in ("error", "abort", "compaction") or whole:
            sign, role = ("!", "warn") if event.kind in ("error", "abort") else ("~", "dim")
            text = style.cut(style.clean(event.text or event.kind), style.width - 4)
            yield f"  {style.paint(role, sign)} {text}"
    yield from _folded(style, looked)
    if turn.evicted_at:
        yield style.paint("dim", f"  shortened on {turn.evicted_at[:10]} to save space")


def _folded(style: Style, looked: list[str]) -> Iterator[str]:
    if looked:
        said = ", ".join(
            f"{word} {counted(looked.count(word), 'time')}" for word in dict.fromkeys(looked)
        )
        yield style.paint("dim", f"  {said}")
        looked.clear()


def _prose(style: Style, text: str) -> Iterator[str]:
    """Text as it was written, with lines that fit."""
    lines = printable(text.replace("\r", " ").replace("\t", "    ")).strip("\n").split("\n")
    if not any(lines):
        return
    yield ""
    for line in lines:
        line = style.glyph(line)
        if cells(line) <= style.width - 2:
            yield f"  {line}".rstrip()
            continue
        for part in fill(line, style.width - 2):
            yield f"  {style.cut(part, style.width - 2)}"


def _call(style: Style, call: ToolCall, *, whole: bool) -> Iterator[str]:
    failed = call.ok is False
    sign, role = ("✗", "fail") if failed else ("✓", "ok") if call.ok else ("·", "dim")
    patch = patch_of(call.input) if call.tool_kind == "edit" else []
    after = ""
    if call.tool_kind == "edit" and not failed:
        sign, role = "✎", "accent"
        added = sum(line.startswith("+") and not line.startswith("+++") for line in patch)
        removed = sum(line.startswith("-") and not line.startswith("---") for line in patch)
        after = style.glyph(f"  +{added} −{removed}") if patch else ""
    elif failed and call.exit_code is not None:
        after = f"  exit {call.exit_code}"
    first, *others = (call.target or call.name or "").splitlines() or [""]
    after = (f"  +{counted(len(others), 'line')}" if others else "") + after
    text = style.cut(style.clean(first), style.width - 4 - cells(after))
    after = style.paint("fail" if failed else "dim", after)
    yield f"  {style.paint(role, style.glyph(sign))} {text}{after}"
    output = (call.output or "").splitlines() if failed or whole else []
    lines = [*(patch if whole else []), *output]
    if not whole and len(lines) > LAST_LINES + 1:
        left = style.glyph(f"… {len(lines) - LAST_LINES - 1} lines (--all)")
        lines = [lines[0], left, *lines[-LAST_LINES:]]
    for line in lines:
        shown = style.glyph(printable(line.replace("\r", " ").replace("\t", "    ")))
        yield style.paint("dim", f"      {style.cut(shown, style.width - 6)}".rstrip())
