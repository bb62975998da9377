"""A session, or one turn, as a person reads it in a terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator

from recollect.memory import Memory
from recollect.model.sessions import Session, SessionDetail, ToolCall, Turn
from recollect.serve.cli.lists import OUTCOMES, Screen, agent_name, inside, project_names
from recollect.serve.cli.style import Style, cells, fill, money, seconds_of, tokens
from recollect.serve.output import counted, external_mark, printable
from recollect.serve.patches import patch_of, signed

# Of a failure the first line and the last ones say what happened.
LAST_LINES = 2
_LOOKED_AT = {
    "read": ("read", "file", "files"), "search": ("searched", "time", "times"),
    "web": ("looked up", "page", "pages"),
}  # fmt: skip


def read_session(
    screen: Screen,
    memory: Memory,
    found: SessionDetail | Turn,
    *,
    whole: bool,
    diff: bool = False,
    verbose: bool = False,
) -> Iterator[str]:
    """What was asked, done and answered; commands with how they ended, output only of failures.

    With `diff` only the edits, each as a patch; `verbose` names what else is known of the session.
    """
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
    if verbose:
        for line in _details(session):
            yield style.paint("dim", style.cut(style.clean(line), style.width))
    reader = _TurnReader(style, session.cwd, whole=whole)
    for turn in turns:
        if diff:
            edits = list(reader.edits(turn))
            if edits:
                yield from ("", _head(style, turn), *edits)
            continue
        yield from ("", _head(style, turn), *reader.events(turn))
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


def _details(session: Session) -> Iterator[str]:
    """What -v adds: exact times, the whole id, the folder and where the log is."""
    yield f"{session.id} · {session.origin}"
    yield f"{session.started_at or '-'} to {session.ended_at or '-'}"
    yield " · ".join(
        filter(None, [session.cwd, session.git.branch, session.model, session.agent_version])
    )
    if session.source:
        yield session.source


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
    spent = used.input + used.cache_read + used.cache_write + used.output
    if spent:
        took.append(f"{tokens(spent)} tokens")
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


class _TurnReader:
    """Turns of a session as lines; paths are seen from the session's folder."""

    def __init__(self, style: Style, folder: str | None, *, whole: bool) -> None:
        self.style, self.folder, self.whole = style, folder, whole

    def events(self, turn: Turn) -> Iterator[str]:
        style, whole = self.style, self.whole
        looked: list[str] = []
        for event in turn.events:
            folds = isinstance(event, ToolCall) and event.ok is not False and not whole
            if folds and isinstance(event, ToolCall):
                if event.tool_kind in _LOOKED_AT:
                    looked.append(event.tool_kind)
                    continue
                if not event.target and event.tool_kind in ("other", None):
                    # Such as an agent's own list of what to do.
                    continue
            yield from self._folded(looked)
            if isinstance(event, ToolCall):
                yield from self._call(event)
            elif event.kind == "prompt":
                # The first line is that of the turn; a long prompt is there with `show REF.N`.
                if whole:
                    yield from self._prose(event.text)
            elif event.kind in ("reply", "command"):
                yield from self._prose(event.text)
            elif event.kind in ("error", "abort", "compaction") or whole:
                sign, role = ("!", "warn") if event.kind in ("error", "abort") else ("~", "dim")
                text = style.cut(style.clean(event.text or event.kind), style.width - 4)
                yield f"  {style.paint(role, sign)} {text}"
        yield from self._folded(looked)
        if turn.evicted_at:
            yield style.paint("dim", f"  shortened on {turn.evicted_at[:10]} to save space")

    def edits(self, turn: Turn) -> Iterator[str]:
        """The edits of a turn, each as a patch."""
        style = self.style
        for call in turn.events:
            if not isinstance(call, ToolCall) or call.tool_kind != "edit" or call.ok is False:
                continue
            patch = patch_of(call.input)
            yield from self._line(call, "✎", "accent", _counts(patch))
            for sign, text in signed(patch):
                role = {"+": "ok", "-": "fail"}.get(sign, "dim")
                shown = self._plain(text if sign == "@" else f"{sign}{text}")
                yield style.paint(role, f"    {style.cut(shown, style.width - 4)}".rstrip())

    def _folded(self, looked: list[str]) -> Iterator[str]:
        if looked:
            said = [
                f"{verb} {counted(looked.count(kind), one, many)}"
                for kind, (verb, one, many) in _LOOKED_AT.items()
                if kind in looked
            ]
            yield self.style.paint("dim", f"  {', '.join(said)}")
            looked.clear()

    def _prose(self, text: str) -> Iterator[str]:
        """Text as it was written, with lines that fit."""
        style = self.style
        lines = self._plain(text).strip("\n").split("\n")
        if not any(lines):
            return
        yield ""
        for line in lines:
            if cells(line) <= style.width - 2:
                yield f"  {line}".rstrip()
                continue
            for part in fill(line, style.width - 2):
                yield f"  {style.cut(part, style.width - 2)}"

    def _plain(self, text: str) -> str:
        """Text from a log that cannot act on the terminal, with its line ends."""
        return self.style.glyph(printable(text.replace("\r", " ").replace("\t", "    ")))

    def _call(self, call: ToolCall) -> Iterator[str]:
        style, failed = self.style, call.ok is False
        sign, role = ("✗", "fail") if failed else ("✓", "ok") if call.ok else ("·", "dim")
        patch, after = patch_of(call.input) if call.tool_kind == "edit" else [], ""
        if call.tool_kind == "edit" and not failed:
            sign, role, after = "✎", "accent", _counts(patch)
        elif failed and call.exit_code is not None:
            after = f"  exit {call.exit_code}"
        yield from self._line(call, sign, role, after, right=failed)
        output = (call.output or "").splitlines() if failed or self.whole else []
        if failed and not self.whole and output and output[0].startswith("Exit code "):
            # It stands on the line above.
            output = output[1:]
        lines = [*(patch if self.whole else []), *output]
        if not self.whole and len(lines) > LAST_LINES + 1:
            left = style.glyph(f"… {len(lines) - LAST_LINES - 1} lines (--all)")
            lines = [lines[0], left, *lines[-LAST_LINES:]]
        for line in lines:
            shown = style.cut(self._plain(line), style.width - 6)
            yield style.paint("dim", f"      {shown}".rstrip())

    def _line(
        self, call: ToolCall, sign: str, role: str, after: str, *, right: bool = False
    ) -> Iterator[str]:
        """What was called, and how it ended; the end of a failure stands at the right."""
        style = self.style
        target = call.target or call.name or ""
        first, *others = target.splitlines() or [""]
        if call.tool_kind in ("edit", "read"):
            first = inside(first, self.folder)
        more = f"  +{counted(len(others), 'line')}" if others else ""
        after = style.glyph(after)
        text = style.cut(style.clean(first), style.width - 4 - cells(after) - cells(more))
        blanks = style.width - 4 - cells(text) - cells(more) - cells(after) if right else 0
        end = style.paint("fail" if right else "dim", after)
        yield (
            f"  {style.paint(role, style.glyph(sign))} {text}{style.paint('dim', more)}"
            f"{' ' * max(0, blanks)}{end}"
        )


def _counts(patch: list[str]) -> str:
    """How many lines a patch adds and removes."""
    signs = [sign for sign, _ in signed(patch)]
    added, removed = signs.count("+"), signs.count("-")
    return (
        f"  +{added} −{removed}"
        if added and removed
        else (f"  +{added}" if added else f"  −{removed}" if removed else "")
    )
