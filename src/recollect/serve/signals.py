"""How a server is told to end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress


def on_signals(stop: Callable[[], object]) -> None:
    """Call this when we are told to end.

    Windows has no such signals in a loop; there an interrupt is raised.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(number, stop)
