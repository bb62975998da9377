"""Notes as whoever works on them sees them: without the store's dialect."""

from __future__ import annotations

import re
from typing import NamedTuple

# C++ and C# are not C.
_WORD = re.compile(r"\w[\w+#]*")


def compared(text: str) -> str:
    """A text as it is compared with others: its words alone, without case."""
    return " ".join(_WORD.findall(text.casefold()))


class Sought(NamedTuple):
    """A note that was given at some time, in a session that is still to be found."""

    origin: int
    note: int
    text: str
    at: int
