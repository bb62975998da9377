"""tools/make_samples.py, which plays scripts as logs of the agents.

It is a script and in no package.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


@cache
def player() -> ModuleType:
    """The module, loaded once."""
    spec = importlib.util.spec_from_file_location(
        "make_samples", ROOT / "tools" / "make_samples.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
