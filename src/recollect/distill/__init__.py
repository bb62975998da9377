"""From what is stored to what is worth keeping.

Reads and writes the store; knows no other stage. What programs of others may
use is named here: how a reply with notes is read.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.distill.engines.facts import Fact, read_facts

__all__ = ["Fact", "read_facts"]
_PLACES = {
    "Fact": "recollect.distill.engines.facts",
    "read_facts": "recollect.distill.engines.facts",
}


def __getattr__(name: str) -> object:
    # Late, so that importing a part of the package costs that part.
    if name not in _PLACES:
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module(_PLACES[name]), name)
