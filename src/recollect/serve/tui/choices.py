"""The list of every screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual.widgets import OptionList

if TYPE_CHECKING:
    from textual.strip import Strip

REVERSED = Style(reverse=True)


class ChoiceList(OptionList):
    """Lines of which one is chosen: it is shown the other way round, on any palette; of a long
    one its first line.

    textual 8 forgets `reverse` when a list has a style for the chosen line.
    """

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        metas = (part.style.meta for part in strip if part.style is not None)
        meta = next((meta for meta in metas if "option" in meta), {})
        if self.highlighted is None or meta.get("option") != self.highlighted:
            return strip
        return strip.apply_style(REVERSED) if meta.get("offset", (0, 0))[1] == 0 else strip
