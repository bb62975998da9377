"""Progress on stderr: a line that is drawn again on a terminal, one now and then anywhere else."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from recollect.serve.cli.style import Style, cells, style_of
from recollect.serve.output import say

# Where there is no terminal, so often a line; and on one, nothing for what is done at once.
EVERY_SECONDS, QUIET_SECONDS, DRAWN_SECONDS = 2.0, 0.3, 0.1
# The time that is left is said once the rate has been seen for so long.
STEADY_SECONDS = 2.0
BAR, NARROW_BAR = 40, 16


class ProgressBar:
    """Shows how far something is; says nothing when it is done quickly."""

    def __init__(self, what: str, things: str = "") -> None:
        self.what, self.things = what, things
        self.begun = self.last = time.monotonic()
        self.style = style_of(sys.stderr) if sys.stderr.isatty() else None
        self.drawn = False

    def __enter__(self) -> ProgressBar:
        return self

    def __call__(self, done: int, total: int, path: str) -> None:
        """Show the next step; nothing to do needs no bar."""
        now = time.monotonic()
        if not total or now - self.begun < QUIET_SECONDS:
            return
        if self.style is None:
            if now - self.last >= EVERY_SECONDS:
                self.last = now
                say(f"{self.what}: {done:,} of {total:,}{self.things}")
        elif not self.drawn or now - self.last >= DRAWN_SECONDS:
            self.last, self.drawn = now, True
            line = self._line(self.style, done, total, now - self.begun)
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()

    def _line(self, style: Style, done: int, total: int, spent: float) -> str:
        room = BAR if style.width >= 80 else NARROW_BAR
        full = min(room, room * done // total)
        facts = [f"{done:,} of {total:,}{self.things}"]
        if spent >= STEADY_SECONDS and done:
            left = spent / done * (total - done)
            facts.append(f"{left / 60:.0f} min left" if left > 90 else f"{left:.0f} s left")
        said = style.glyph(" · ").join(facts)
        said = style.cut(said, style.width - room - cells(self.what) - 5)
        bar = style.paint("accent", style.glyph("━" * full))
        rest = style.paint("dim", style.glyph("─" * (room - full)))
        return f"{self.what}  {bar}{rest}  {said}"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
