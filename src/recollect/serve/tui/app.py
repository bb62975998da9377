"""The terminal interface: its screens, and what they share."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from textual.app import App
from textual.binding import Binding

from recollect.memory import Memory
from recollect.model.answers import Continuation
from recollect.serve.memory_thread import MemoryThread
from recollect.serve.tui.browse import BrowseScreen

if TYPE_CHECKING:
    from typing import ClassVar


Answer = TypeVar("Answer")


class RecollectApp(App[Continuation | str | None]):
    """Ends with the session to resume, with a reference that was picked, or with nothing."""

    TITLE = "recollect"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "tui.tcss"
    BINDINGS: ClassVar = [Binding("ctrl+c", "quit", "quit", show=False, priority=True)]

    def __init__(self, memory: Memory, *, picks: bool = False) -> None:
        super().__init__(ansi_color=True)
        self.picks = picks
        self.folder = os.getcwd()
        self.here = memory.projects.of(self.folder)
        self._thread = MemoryThread(memory, resident=True)

    def on_mount(self) -> None:
        self.theme = "ansi-dark"
        self.push_screen(BrowseScreen())

    def on_unmount(self) -> None:
        self._thread.close()

    async def ask(self, question: Callable[[Memory], Answer]) -> Answer:
        """What the memory answers, while the screen goes on."""
        return await self._thread.ask(question)
