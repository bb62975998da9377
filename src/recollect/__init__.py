"""A memory for coding agents that lives on your machine."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.memory import Memory

__all__ = ["Memory", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    # Late, so that importing a part of the package costs that part.
    if name == "Memory":
        from recollect.memory import Memory

        return Memory
    raise AttributeError(name)
