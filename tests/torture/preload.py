"""What the server that victims are forked from has loaded: all that a command may need."""

from __future__ import annotations

import pkgutil
from contextlib import suppress
from importlib import import_module

import recollect
from recollect.errors import RecollectError

_LEFT_OUT = ("__main__", "llama", "onnx", "gguf", "recollect.serve.tui", "recollect.testing")

for _module in pkgutil.walk_packages(recollect.__path__, "recollect.", onerror=lambda _: None):
    # What belongs to an extra that is not installed is needed by no command.
    with suppress(ImportError, RecollectError):
        if not any(word in _module.name for word in _LEFT_OUT):
            import_module(_module.name)
