"""Plots as SVG, drawn by hand: intervals on one axis, before and after.

No library, no script, no network.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple, Protocol

WIDTH, ROW, TOP, LEFT, RIGHT = 900, 44, 8, 280, 110
LABEL_CHARACTERS = 34
# Below this, powers of ten are no longer exact, and at last zero.
SMALLEST_REACH = 1e-300
# An axis shows no finer differences than this share of its values: floats have 16 digits.
FINEST = 1e-9


class Mark(NamedTuple):
    """A value with its interval; `style` is the name that the page gives its colour."""

    value: float
    low: float
    high: float
    style: str
    shown: str


class Line(NamedTuple):
    """One row of a plot: what it is about, and one or two marks."""

    label: str
    title: str
    marks: tuple[Mark, ...]


def intervals(
    name: str, unit: str, lines: Sequence[Line], *, zero: bool = True, logarithmic: bool = False
) -> str:
    """Values with their intervals on a common axis, a row for each line.

    `zero` keeps 0 on the axis.
    """
    ends = [end for line in lines for mark in line.marks for end in (mark.low, mark.high)]
    axis = _Logarithmic(ends) if logarithmic else _Linear(ends, zero=zero)
    height = TOP + ROW * len(lines) + 46
    bottom = TOP + ROW * len(lines)
    parts = [
        f'<svg role="img" viewBox="0 0 {WIDTH} {height}" aria-label="{escape(f"{name}, {unit}")}">'
    ]
    parts.append(f"<title>{escape(f'{name} ({unit})')}</title>")
    for tick in axis.ticks:
        x = axis.x(tick)
        style = "zero" if tick == 0 and not logarithmic else "grid"
        parts.append(f'<line class="{style}" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>')
        parts.append(
            f'<text class="tick" x="{x:.1f}" y="{bottom + 18}">{escape(number(tick))}</text>'
        )
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    parts.append(f'<text class="unit" x="{middle:.0f}" y="{bottom + 38}">{escape(unit)}</text>')
    for place, line in enumerate(lines):
        parts += _row(line, TOP + ROW * place + ROW / 2, axis)
    return "\n".join([*parts, "</svg>"])


def _row(line: Line, y: float, axis: _Axis) -> list[str]:
    plain = line.label.replace("`", "")
    label = plain if len(plain) <= LABEL_CHARACTERS else plain[: LABEL_CHARACTERS - 1] + "…"
    parts = [
        f'<g><title>{escape(line.title)}</title><text class="label" x="{LEFT - 14}" '
        f'y="{y + 4:.1f}">{escape(label)}</text>'
    ]
    gap = 16 if len(line.marks) > 1 else 0
    for place, mark in enumerate(line.marks):
        at = y - gap / 2 + gap * place
        low, high, value = axis.x(mark.low), axis.x(mark.high), axis.x(mark.value)
        parts.append(
            f'<line class="{mark.style} reach" x1="{low:.1f}" y1="{at:.1f}" x2="{high:.1f}" '
            f'y2="{at:.1f}"/>'
        )
        # Shapes differ too, for those who do not tell the colours apart.
        parts.append(
            f'<circle class="{mark.style}" cx="{value:.1f}" cy="{at:.1f}" r="5"/>'
            if place == 0
            else f'<rect class="{mark.style}" x="{value - 4.5:.1f}" y="{at - 4.5:.1f}" width="9" '
            'height="9"/>'
        )
        parts.append(
            f'<text class="value" x="{WIDTH - RIGHT + 12}" '
            f'y="{at + 4:.1f}">{escape(mark.shown)}</text>'
        )
    return [*parts, "</g>"]


class _Axis(Protocol):
    """Where on the page a value is, and the values that are written at the axis."""

    ticks: list[float]

    def x(self, value: float) -> float:
        """How far to the right."""


class _Linear:
    def __init__(self, ends: Sequence[float], *, zero: bool) -> None:
        low, high = min(ends), max(ends)
        if zero:
            low, high = min(low, 0.0), max(high, 0.0)
        step = _step(max((high - low) or 1.0, FINEST * max(abs(low), abs(high))))
        self.low, self.high = floor(low / step) * step, ceil(high / step) * step
        if self.low == self.high:
            self.high = self.low + step
        self.ticks = [
            self.low + step * place for place in range(round((self.high - self.low) / step) + 1)
        ]

    def x(self, value: float) -> float:
        return LEFT + (value - self.low) / (self.high - self.low) * (WIDTH - LEFT - RIGHT)


class _Logarithmic:
    def __init__(self, ends: Sequence[float]) -> None:
        low, high = floor(log10(min(ends))), ceil(log10(max(ends)))
        self.low, self.high = low, max(high, low + 1)
        self.ticks = [10.0**power for power in range(self.low, self.high + 1)]

    def x(self, value: float) -> float:
        return LEFT + (log10(value) - self.low) / (self.high - self.low) * (WIDTH - LEFT - RIGHT)


def _step(reach: float) -> float:
    """A round number that divides an axis into four to eight parts."""
    reach = max(reach, SMALLEST_REACH)
    size = 10.0 ** floor(log10(reach / 4))
    return next(size * factor for factor in (1, 2, 5, 10) if reach / (size * factor) <= 8)


def number(value: float) -> str:
    """A number as a person reads it: 1,200,000 is 1.2M, and no digits are made up."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):.3g}{letter}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
