"""Curves as SVG for a page of results: no library, no script; colours by the page's own style."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 760, 260
LEFT, RIGHT, TOP, BOTTOM = 70, 120, 14, 40
COLOURS = ("#2f6fd6", "#c8442e", "#1b8a5a", "#b07a12", "#7a4fc0", "#3a8fa3")


def curves(series: Mapping[str, Points], *, x: str, y: str) -> str:
    """A curve for each name, both axes logarithmic, every point marked.

    Its numbers show when it is pointed at.
    """
    points = [point for line in series.values() for point in line if point[1] > 0]
    across, up = (
        _Axis([one for one, _ in points], LEFT, WIDTH - RIGHT),
        _Axis([one for _, one in points], HEIGHT - BOTTOM, TOP),
    )
    parts = [
        f'<line x1="{LEFT}" y1="{HEIGHT - BOTTOM}" x2="{WIDTH - RIGHT}" y2="{HEIGHT - BOTTOM}"/>',
        f'<line x1="{LEFT}" y1="{TOP}" x2="{LEFT}" y2="{HEIGHT - BOTTOM}"/>',
        f'<text class="soft" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" '
        f'text-anchor="middle">{escape(x)}</text>',
        f'<text class="soft" x="{LEFT}" y="{TOP - 3}">{escape(y)}</text>',
    ]
    for value in sorted({one for one, _ in points}):
        place = f'x="{across(value):.1f}" y="{HEIGHT - BOTTOM + 16}"'
        parts.append(f'<text class="soft" {place} text-anchor="middle">{short(value)}</text>')
    for value in up.ticks():
        parts.append(
            f'<text class="soft" x="{LEFT - 6}" y="{up(value) + 4:.1f}" '
            f'text-anchor="end">{short(value)}</text>'
        )
    for number, (name, line) in enumerate(series.items()):
        parts.append(_curve(name, [point for point in line if point[1] > 0], across, up, number))
    label = f"{escape(y)} by {escape(x)}"
    opening = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
    return f"{opening}{''.join(parts)}</svg>"


def page(plots: Sequence[tuple[Mapping[str, Points], str, str]]) -> str:
    """Several plots one above the other as an SVG file, which brings its own colours."""
    style = "text{font:12px sans-serif;fill:#333}line{stroke:#999}.soft{fill:#777}"
    ground = f'<rect width="{WIDTH}" height="{len(plots) * HEIGHT}" style="fill:#fff"/>'
    drawn = [
        curves(series, x=x, y=y).replace("<svg ", f'<svg y="{number * HEIGHT}" height="{HEIGHT}" ')
        for number, (series, x, y) in enumerate(plots)
    ]
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {len(plots) * HEIGHT}">'
    )
    return f"{opening}<style>{style}</style>{ground}{''.join(drawn)}</svg>\n"


def reliability(table: Sequence[tuple[float, float, int]], *, x: str, y: str) -> str:
    """What came of what was predicted: a disc for each bin, as large as its count, both axes
    from 0 to 1; the line is where prediction and outcome are the same. A file of its own.
    """
    side, edge = 320, 46

    def place(value: float) -> float:
        return edge + value * (side - 2 * edge)

    parts = [
        f'<rect width="{side}" height="{side}" fill="#fff"/>',
        f'<path d="M{edge} {edge}V{side - edge}H{side - edge}M{edge} {side - edge}'
        f'L{side - edge} {edge}" fill="none" stroke="#999"/>',
        f'<text x="{side / 2}" y="{side - 10}" text-anchor="middle">{escape(x)}</text>',
        f'<text x="{edge}" y="{edge - 16}">{escape(y)}</text>',
    ]
    for tick in (0.0, 0.5, 1.0):
        parts.append(
            f'<text x="{place(tick)}" y="{side - edge + 16}" text-anchor="middle">{tick:g}</text>'
            f'<text x="{edge - 6}" y="{side - place(tick) + 4}" text-anchor="end">{tick:g}</text>'
        )
    for said, came, count in table:
        radius = 2 + math.sqrt(count)
        parts.append(
            f'<circle cx="{place(said):.1f}" cy="{side - place(came):.1f}" r="{radius:.1f}" '
            f'fill="{COLOURS[0]}" fill-opacity=".7"><title>{came:.2f} of {count} at {said:.2f}'
            "</title></circle>"
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" width="{side}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="{escape(y)} by '
        f'{escape(x)}">{"".join(parts)}</svg>\n'
    )


def _curve(name: str, line: Points, across: _Axis, up: _Axis, number: int) -> str:
    colour = COLOURS[number % len(COLOURS)]
    path = " ".join(f"{across(one):.1f},{up(other):.1f}" for one, other in line)
    dots = "".join(
        f'<circle cx="{across(one):.1f}" cy="{up(other):.1f}" r="4" style="fill:{colour}">'
        f"<title>{escape(name)}: {short(other)} at {short(one)}</title></circle>"
        for one, other in line
    )
    place = f'x="{WIDTH - RIGHT + 10}" y="{TOP + 16 + 18 * number}"'
    label = f'<text {place} style="fill:{colour}">{escape(name)}</text>'
    return (
        f'<polyline points="{path}" style="fill:none;stroke:{colour};stroke-width:2"/>{dots}{label}'
    )


class _Axis:
    """Values between two ends, by their logarithm."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self._low, self._high = math.log10(min(values)), math.log10(max(values))
        if self._high - self._low < 0.3:
            self._low, self._high = self._low - 0.15, self._high + 0.15
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        share = (math.log10(value) - self._low) / (self._high - self._low)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> list[float]:
        """The powers of ten between the ends, or the ends where there is none."""
        powers: list[float] = [
            10.0**power for power in range(math.ceil(self._low), math.floor(self._high) + 1)
        ]
        return powers if len(powers) > 1 else [10**self._low, 10**self._high]


def short(value: float) -> str:
    """A number in few characters."""
    for size, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{name}"
    return f"{value:.3g}"
