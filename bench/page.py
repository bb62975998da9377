"""The report as one HTML file that needs nothing else: no script, no style sheet, no library.

Above, every figure as a share of its target, on a logarithmic scale; below,
each figure with all its runs, its median and its target line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from bench.measure import Figure

# Room for the titles, for a result beside its bar, and for a label beside a plot.
WIDTH, LEFT, RIGHT, MARGIN = 760, 300, 110, 95

_STYLE = """
:root {
  --ink: #1c2330; --soft: #66707f; --line: #d8dde5; --paper: #fff;
  --good: #1b8a5a; --bad: #c8442e; --mark: #2f6fd6
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e9ee; --soft: #97a1af; --line: #38414e; --paper: #14181f;
    --good: #4cc38a; --bad: #ff7a63; --mark: #74a7ff
  }
}
body {
  font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 50rem; margin: 2rem auto; padding: 0 1rem
}
p, figcaption { color: var(--soft) }
h2 { font-size: 1.05rem; margin: 2rem 0 0 }
figure { margin: 0 }
svg { width: 100%; height: auto }
text { fill: var(--ink); font-size: 12px }
text.soft { fill: var(--soft) }
line { stroke: var(--line) }
line.target { stroke: var(--bad); stroke-dasharray: 5 4 }
line.median { stroke: var(--mark) }
circle { fill: var(--mark); fill-opacity: .55 }
.good { fill: var(--good); color: var(--good) }
.bad { fill: var(--bad); color: var(--bad) }
.none { fill: var(--soft); color: var(--soft) }
"""


def render(suite: str, circumstances: str, figures: Sequence[Figure]) -> str:
    """The whole page."""
    sections = "\n".join(_section(figure) for figure in figures)
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width">'
        f"<title>recollect: {escape(suite)}</title><style>{_STYLE}</style>\n"
        f"<h1>recollect, measured: {escape(suite)}</h1><p>{escape(circumstances)}</p>\n"
        f"{_overview(figures)}\n{sections}\n</html>\n"
    )


def amount(value: float, unit: str) -> str:
    """A value with its unit, in the size a person would choose."""
    kind, _, clock = unit.partition(" ")
    if kind == "s":
        for size, name in ((1, "s"), (1e-3, "ms")):
            if value >= size:
                return f"{_digits(value / size)} {name} {clock}"
        return f"{_digits(value * 1e6)} µs {clock}"
    return f"{value:.4f}" if unit == "share" else f"{_digits(value)} {unit}"


def shown(figure: Figure, value: float) -> str:
    """A value of the same kind as the figure's result."""
    return f"{_digits(value)}×" if figure.reference is not None else amount(value, figure.unit)


def target(figure: Figure) -> str:
    """The target with its direction, or a dash."""
    if figure.target is None:
        return "–"
    return f"{'≤' if figure.better == 'lower' else '≥'} {shown(figure, figure.target)}"


def verdict(figure: Figure) -> str:
    """Whether the target was reached, in words."""
    return {True: "reached", False: "not reached", None: "no target"}[figure.reached]


def _digits(value: float) -> str:
    """Three digits that count, without a tail of zeros."""
    if value == 0 or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}".rstrip("0").rstrip(".")


def _class(figure: Figure) -> str:
    return {True: "good", False: "bad", None: "none"}[figure.reached]


def _overview(figures: Sequence[Figure]) -> str:
    """A bar for each figure: how far it is from its target. Left of the line is good."""
    rows = [(figure, _share_of_target(figure)) for figure in figures if figure.target]
    if not rows:
        return ""
    logs = [math.log10(share) for _, share in rows]
    low, high = min(-0.3, *logs), max(0.3, *logs)

    def x(log: float) -> float:
        return LEFT + (log - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    height = 22 * len(rows) + 30
    parts = [f'<line class="target" x1="{x(0):.1f}" y1="4" x2="{x(0):.1f}" y2="{height - 22}"/>',
             f'<text class="soft" x="{x(0):.1f}" y="{height - 8}" '
             'text-anchor="middle">target</text>']  # fmt: skip
    for number, ((figure, _), log) in enumerate(zip(rows, logs, strict=True)):
        y = 22 * number + 6
        start, end = sorted((x(0), x(log)))
        parts.append(
            f'<text x="{LEFT - 10}" y="{y + 12}" text-anchor="end">{_plain(figure.title)}</text>'
            f'<rect class="{_class(figure)}" x="{start:.1f}" y="{y + 2}" '
            f'width="{max(2, end - start):.1f}" height="12" rx="2"/>'
            f'<text class="soft" x="{WIDTH - RIGHT + 8}" '
            f'y="{y + 12}">{escape(shown(figure, figure.ratio))}</text>'
        )
    return _svg(height, "each figure against its target", parts)


def _share_of_target(figure: Figure) -> float:
    goal = figure.target or 1.0
    share = figure.ratio / goal if figure.better == "lower" else goal / max(figure.ratio, 1e-9)
    return max(share, 1e-3)


def _section(figure: Figure) -> str:
    against = f", against {_plain(figure.against)}" if figure.against else ""
    caption = f"ours {amount(figure.ours, figure.unit)}"
    if figure.reference is not None:
        caption += f", reference {amount(figure.reference, figure.unit)}"
    return (
        f"<section><h2>{_plain(figure.title)}{against}: {escape(shown(figure, figure.ratio))}</h2>"
        f"<figure>{_runs(figure)}<figcaption><span "
        f'class="{_class(figure)}">{verdict(figure)}</span> ({escape(target(figure))}); '
        f"{escape(caption)}; {len(figure.runs)} runs; "
        f"<code>{escape(figure.command)}</code></figcaption></figure></section>"
    )


def _runs(figure: Figure) -> str:
    """Every run as a dot over its number, with a line for the median and one for the target."""
    values, height, bottom = figure.samples(), 150, 130
    marks = [(figure.ratio, "median")] + (
        [(figure.target, "target")] if figure.target is not None else []
    )
    top = max([*values, *(value for value, _ in marks)]) * 1.1 or 1.0

    def y(value: float) -> float:
        return bottom - value / top * (bottom - 10)

    step = (WIDTH - 2 * MARGIN) / len(values)
    dots = [
        f'<circle cx="{MARGIN + step * (number + 0.5):.1f}" cy="{y(value):.1f}" '
        f'r="{3 if len(values) > 60 else 5}">'
        f"<title>{escape(shown(figure, value))}</title></circle>"
        for number, value in enumerate(values)
    ]
    lines = [
        f'<line class="{name}" x1="{MARGIN}" y1="{y(value):.1f}" x2="{WIDTH - MARGIN}" '
        f'y2="{y(value):.1f}"/>'
        f'<text class="soft" x="{0 if name == "median" else WIDTH - MARGIN + 6}" '
        f'y="{y(value) + 4:.1f}">'
        f"{escape(shown(figure, value))}</text>"
        for value, name in marks
    ]
    axis = (
        f'<line x1="{MARGIN}" y1="{bottom}" x2="{WIDTH - MARGIN}" y2="{bottom}"/>'
        f'<text class="soft" x="{MARGIN}" y="{height - 4}">runs</text>'
    )
    return _svg(height, "runs", [axis, *lines, *dots])


def _svg(height: int, label: str, parts: list[str]) -> str:
    opening = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">'
    return f"{opening}{''.join(parts)}</svg>"


def _plain(text: str) -> str:
    """Our titles are Markdown for the docs; here the code marks are only noise."""
    return escape(text.replace("`", ""))
