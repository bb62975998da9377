"""recollect fix: what got past this error before.

recollect fix "database is locked"        the error line
make 2>&1 | recollect fix                 or the whole output

Paths, numbers, addresses, times, ids and quotes may differ. A fix is proven
when the command that failed passes later in the same session; what was run
and edited in between is shown. The very line comes before one that differs,
and this folder's project first. When no tool printed the error, prompts that
quote it are shown.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.answers import Fix, FixStep
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_filters, chosen
from recollect.serve.cli.lists import Screen, agent_name, heading, project_names, turn_name
from recollect.serve.cli.style import Style, age, cells, fill
from recollect.serve.output import Output, counted, external_mark, placed

# More than this was pasted by mistake; the error is at the end of an output.
MOST_CHARACTERS = 1 << 20
MOST_ERROR_LINES = 3


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "error",
        nargs="*",
        metavar="ERROR",
        help="the error as it was printed; - reads standard input",
    )
    add_filters(parser)
    parser.add_argument(
        "--limit",
        type=count,
        default=5,
        metavar="N",
        help="how many answers (default: %(default)s)",
    )


def prepare(words: list[str]) -> list[str]:
    """An error may begin with a dash; an option is one word without a space in it."""
    return [f" {word}" if word.startswith("-") and " " in word else word for word in words]


def run(memory: Memory, args: Namespace) -> Output:
    text = _given(args.error)
    found = memory.fix(text, folder=None, limit=args.limit, **chosen(args))
    remarks = memory.remarks("", **chosen(args))
    if not found.rows:
        empty = "\n".join(["This error has not come up before.", *found.remarks])
        return Output([], empty=empty, note="\n".join(remarks))
    return Output(
        found,
        _text,
        note="\n".join([*remarks, *found.remarks]),
        screen=lambda screen: _screen(screen, memory, found.rows),
    )


def _screen(screen: Screen, memory: Memory, rows: list[Fix]) -> Iterator[str]:
    """Each as the story it is: what failed, the error, what was done, what worked."""
    style = screen.style
    names = memory.names(sorted({row.session for row in rows}))
    projects = project_names(row.project for row in rows)
    for place, row in enumerate(rows):
        if place:
            yield ""
        marks = ("" if row.live else "  (undone)") + external_mark(row)
        title = style.clean((names[row.session].title or "(no prompt)") + marks)
        where = [
            style.clean(projects[row.project]),
            agent_name(row.agent),
            style.glyph(age(row.at)),
        ]
        number = screen.number(row.ref)
        ref = turn_name(row.ref, lambda session: names[session].short)
        yield from heading(screen, number, title, where, ref)
        if row.failed:
            yield _line(style, "✗", "fail", row.failed, _code(row.exit_code))
        for line in fill(style.clean(row.error), style.width - 6)[:MOST_ERROR_LINES]:
            yield f"      {style.paint('dim', style.cut(line, style.width - 6))}"
        steps = [
            _line(style, "✎", "accent", step.text)
            if step.kind == "edit"
            else _line(style, "·", "dim", step.text, "" if step.ok else _code(step.exit_code))
            for step in row.steps
        ]
        if row.steps_left_out:
            more = f"      {style.glyph('…')} {counted(row.steps_left_out, 'more step')}"
            steps.insert(0 if row.proof else len(steps), style.paint("dim", more))
        yield from steps
        if row.proof is None:
            yield f"      {style.paint('dim', style.cut(style.clean(row.why), style.width - 6))}"
            continue
        sure = row.proof_match == "same"
        words = "proven: same command passed" if sure else "likely: another command passed"
        if row.match == "names":
            words = f"similar error; {words}"
        said = ("edit of " if row.proof.kind == "edit" else "") + row.proof.text
        yield _line(style, "✓", "ok", said, f"  {words}", role="ok" if sure else "warn")
    yield from screen.hint("Read one: recollect show 1")


def _line(
    style: Style, sign: str, sign_role: str, text: str, after: str = "", *, role: str = "fail"
) -> str:
    """A step: its sign, as much of the command as fits, and how it ended."""
    first, *others = text.splitlines() or [""]
    after = (f"  +{counted(len(others), 'line')}" if others else "") + after
    after = style.cut(after, max(12, style.width - 20))
    said = style.cut(style.clean(first), style.width - 6 - cells(after))
    return f"    {style.paint(sign_role, style.glyph(sign))} {said}{style.paint(role, after)}"


def _given(words: list[str]) -> str:
    if words and words != ["-"]:
        return " ".join(words)
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(
            "Which error?",
            hint="Try: recollect fix 'the error line', or make 2>&1 | recollect fix",
        )
    return sys.stdin.read()[-MOST_CHARACTERS:]


def _text(row: Fix) -> str:
    lines = [placed(row), f"    {row.confidence}: {row.why}", f"    error   {row.error}"]
    if row.failed:
        lines.append(f"    failed  {_hung(row.failed)}{_code(row.exit_code)}")
    steps = list(map(_step, row.steps))
    more = [f"    …       {counted(row.steps_left_out, 'more step')}"] if row.steps_left_out else []
    lines += more + steps if row.proof else steps + more
    if row.proof:
        elsewhere = f"  {row.proof.ref}" if row.proof.ref != row.ref else ""
        what = "edit of " if row.proof.kind == "edit" else ""
        code = _code(row.proof.exit_code)
        lines.append(f"    worked  {what}{_hung(row.proof.text)}{code}{elsewhere}")
    return "\n".join(lines)


def _hung(command: str) -> str:
    """A command of several lines, below its beginning."""
    return command.replace("\n", "\n            ")


def _step(step: FixStep) -> str:
    verb = "edited " if step.kind == "edit" else "ran    "
    code = "" if step.ok else _code(step.exit_code)
    return f"    {verb} {_hung(step.text)}{code}"


def _code(code: int | None) -> str:
    return "" if code is None else f"  (exit {code})"
