"""What was measured, as one page for a person: tables and plots, in
a single file that loads nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from html import escape

from recollect.errors import FileUnwritable
from recollect.model.publications import Amount, Measured, Share, Side
from recollect.publish.measure import NOT_ENOUGH
from recollect.publish.plots import Line, Mark, intervals, number
from recollect.publish.statistics import LEAST_SESSIONS, LEAST_TASKS
from recollect.system import platforms

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1d20; --soft: #5b5f68; --line: #d9dbe0; --page: #ffffff; --panel: #f5f6f8;
  --before: #8a5a00; --after: #0b62b0; --good: #1a7f45; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e9ec; --soft: #a3a8b3; --line: #3a3d45; --page: #16171a;
  --panel: #1f2125; --before: #e0a63c; --after: #6cb2f2; --good: #63c78b; --bad: #f28b82; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 72rem; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, "Segoe UI", "Liberation Sans", sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2.6rem 0 .3rem; }
p { margin: .3rem 0 .8rem; max-width: 46rem; } .soft, caption { color: var(--soft); }
.facts { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.2rem 0; padding: 0; list-style: none; }
.facts li { background: var(--panel); border-radius: .5rem; padding: .6rem 1rem; min-width: 8rem; }
.facts b { display: block; font-size: 1.5rem; line-height: 1.2; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .88rem; }
caption { text-align: left; padding-bottom: .4rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem; border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--line); } td.n, th.n { text-align: right; white-space: nowrap; }
td.text, td.said { min-width: 14rem; } code { font-family: ui-monospace, monospace; font-size: .85em; color: var(--soft); }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 13px; }
svg .label { text-anchor: end; } svg .tick, svg .unit { text-anchor: middle; fill: var(--soft); font-size: 12px; }
svg .value { font-size: 12px; } svg .grid { stroke: var(--line); } svg .zero { stroke: var(--soft); stroke-width: 1.5; }
svg .reach { stroke-width: 3; stroke-linecap: round; opacity: .55; } .plot { background: var(--panel); border-radius: .5rem;
  padding: .8rem; overflow-x: auto; } .plot svg { min-width: 40rem; }
svg .before { fill: var(--before); stroke: var(--before); } svg .after { fill: var(--after); stroke: var(--after); }
svg .good { fill: var(--good); stroke: var(--good); } svg .bad { fill: var(--bad); stroke: var(--bad); }
svg .flat { fill: var(--soft); stroke: var(--soft); }
.key span { margin-right: 1.2rem; } .key i { display: inline-block; width: .75rem; height: .75rem; margin-right: .4rem; }
.key .b { background: var(--before); border-radius: 50%; } .key .a { background: var(--after); }
.retire { color: var(--bad); }
"""


def write(path: str, rows: Sequence[Measured]) -> None:
    """Write the page, all at once."""
    try:
        if os.path.isdir(path):
            raise FileUnwritable(path, "it is a folder")
        platforms.replace_text(path, page(rows))
    except OSError as error:
        raise FileUnwritable(path, error.strerror or str(error)) from error


def page(rows: Sequence[Measured]) -> str:
    """The page about what was measured; the same for the same rows."""
    told = [row for row in rows if row.since is not None]
    parts = [
        "<!doctype html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        # Should something get past the escaping, it can load and run nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">",
        "<title>recollect: what became of it</title>", f"<style>{_STYLE}</style>", "</head>",
        "<body>", "<main>",
        "<h1>What became of what was learned</h1>",
        "<p>Patterns and notes that were accepted or published, how often agents were offered "
        "them, and what happened"
        " before and after. Every interval holds the true value 19 times out of 20.</p>",
        _facts(rows, told), _seen(told), _changes(told),
        *(_tasks(told, *kind) for kind in _TASK_PLOTS),
        _table(rows), _limits(), "</main>", "</body>", "</html>", "",
    ]  # fmt: skip
    return "\n".join(part for part in parts if part)


def _facts(rows: Sequence[Measured], told: Sequence[Measured]) -> str:
    facts = (
        (len(rows), "measured"), (len(told), "accepted or published"),
        (sum(row.enough for row in rows), "with enough data"),
        (sum(row.offered for row in rows), "times offered"), (sum(row.opened for row in rows),
        "times opened"),
        (sum(row.cited for row in rows), "sessions that used one"),
        (sum(row.retire for row in rows), "should be retired"),
    )  # fmt: skip
    return (
        '<ul class="facts">'
        + "".join(f"<li><b>{count:,}</b>{name}</li>" for count, name in facts)
        + "</ul>"
    )


def _seen(rows: Sequence[Measured]) -> str:
    """In how many of 100 sessions each pattern was seen, before and after."""
    lines = []
    for row in rows:
        marks = [
            Mark(
                100 * one.share,
                100 * (one.low or 0),
                100 * (one.high or 0),
                style,
                f"{100 * one.share:.1f} (n {one.of})",
            )
            for one, style in (
                (row.before and row.before.sessions, "before"),
                (row.after and row.after.sessions, "after"),
            )
            if one and one.share is not None
        ]
        if len(marks) == 2:
            lines.append(Line(row.text, f"{row.ref}: {row.text}", tuple(marks)))
    about = "In how many of 100 sessions of its projects each pattern was seen, before and after it was published (or accepted)."
    return _section(
        "How often it was seen",
        about,
        lines,
        "sessions in 100",
        f"{LEAST_SESSIONS} sessions on both sides",
    )


def _changes(rows: Sequence[Measured]) -> str:
    lines = []
    for row in rows:
        if row.change is not None and row.change_low is not None and row.change_high is not None:
            low, high = 100 * row.change_low, 100 * row.change_high
            fewer, more = high < 0, low > 0
            good, bad = (fewer, more) if row.wanted == "fewer" else (more, fewer)
            mark = Mark(
                100 * row.change,
                low,
                high,
                "good" if good else "bad" if bad else "flat",
                f"{100 * row.change:+.1f}",
            )
            lines.append(Line(row.text, f"{row.ref}: {row.verdict}", (mark,)))
    about = (
        "The difference of the two. Of failures, recoveries and friction less is better, of the "
        "others more;"
        " green is better, red worse, and grey no clear change: the interval holds 0."
    )
    return _section(
        "What changed",
        about,
        lines,
        "change, in sessions in 100",
        f"{LEAST_SESSIONS} sessions on both sides",
        key=False,
    )


_Taken = Callable[[Side], Share | Amount]
_TASK_PLOTS: tuple[tuple[str, str, str, _Taken], ...] = (
    ("How the tasks went", "How many tasks with a known outcome were a success.",
    "successes in 100", lambda one: one.success),
    ("Tokens", "What a typical task took (geometric mean, logarithmic axis).", "tokens a task",
    lambda one: one.tokens),
    ("Time", "How long a typical task took (geometric mean, logarithmic axis).", "seconds a task",
    lambda one: one.seconds),
)  # fmt: skip


def _tasks(rows: Sequence[Measured], title: str, about: str, unit: str, taken: _Taken) -> str:
    """Before and after over the tasks that each pattern came up in,
    or that each note was offered in.
    """
    lines = []
    for row in rows:
        marks = [
            mark
            for side, style in ((row.before, "before"), (row.after, "after"))
            if side is not None and (mark := _mark(taken(side), style))
        ]
        if len(marks) == 2:
            lines.append(Line(row.text, f"{row.ref}: {row.text}", tuple(marks)))
    about += " Counted are the tasks in which a pattern came up; for a note, those of sessions that it was offered to."
    logarithmic = "success" not in unit
    return _section(
        title, about, lines, unit, f"{LEAST_TASKS} tasks on both sides", logarithmic=logarithmic
    )


def _mark(one: Share | Amount, style: str) -> Mark | None:
    if one.low is None or one.high is None:
        return None
    if isinstance(one, Share):
        return Mark(
            100 * (one.share or 0),
            100 * one.low,
            100 * one.high,
            style,
            f"{100 * (one.share or 0):.0f} (n {one.of})",
        )
    return Mark(
        one.typical or 0, one.low, one.high, style, f"{number(one.typical or 0)} (n {one.of})"
    )


def _section(
    title: str,
    about: str,
    lines: Sequence[Line],
    unit: str,
    needs: str,
    *,
    key: bool = True,
    logarithmic: bool = False,
) -> str:
    head = f"<section><h2>{escape(title)}</h2><p>{escape(about)}</p>"
    if not lines:
        return f'{head}<p class="soft">{NOT_ENOUGH.capitalize()}: this takes {needs}.</p></section>'
    legend = (
        '<p class="key"><span><i class="b"></i>before</span><span><i class="a"></i>after</span></p>'
        if key
        else ""
    )
    return f'{head}{legend}<div class="plot">{intervals(title, unit, lines, logarithmic=logarithmic)}</div></section>'


def _table(rows: Sequence[Measured]) -> str:
    heads = (
        "what",
        "offered",
        "opened",
        "used",
        "helpful / harmful",
        "seen before",
        "seen after",
        "what can be said",
    )
    columns = "".join(
        f'<th scope="col"{_numeric(place)}>{head}</th>' for place, head in enumerate(heads)
    )
    body = (
        "".join(_table_row(row) for row in rows)
        or f'<tr><td colspan="{len(heads)}">nothing is accepted yet</td></tr>'
    )
    caption = "Seen: sessions in which it was seen, of all sessions of its projects. Used: sessions in which an agent named it"
    return (
        f'<section><h2>All of them</h2><div class="wide"><table><caption>{caption}, or followed it '
        "with success.</caption>"
        f"<thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div></section>"
    )


def _numeric(place: int) -> str:
    return ' class="n"' if 1 <= place <= 6 else ""


def _table_row(row: Measured) -> str:
    what = f"{escape(row.text)}<br><code>{escape(row.ref)}</code> {escape(row.kind.replace('_', ' '))}, {escape(row.status)}"
    what += f", since {escape(row.since[:10])}" if row.since else ""
    numbers = (
        row.offered,
        row.opened,
        row.cited,
        f"{row.helpful} / {row.harmful}",
        _of(row.before),
        _of(row.after),
    )
    cells = "".join(f'<td class="n">{one}</td>' for one in numbers)
    style = "said retire" if row.retire else "said"
    return f'<tr><td class="text">{what}</td>{cells}<td class="{style}">{escape(row.verdict)}</td></tr>'


def _of(side: Side | None) -> str:
    return "" if side is None else f"{side.sessions.count} of {side.sessions.of}"


def _limits() -> str:
    return (
        "<section><h2>What this does not say</h2><p>Before and after is no experiment. Other "
        "things change at the same time, and"
        " something is published because it was seen often just before, so that some of what "
        "follows would have come anyway."
        " With many rows, one in twenty looks like a change by chance.</p></section>"
    )
