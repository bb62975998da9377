"""What the server that victims are forked from has loaded: all that a command may need."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import recollect

_LEFT_OUT = ("__main__", "llama", "onnx", "gguf", "recollect.serve.tui", "recollect.testing")

for _module in pkgutil.walk_packages(recollect.__path__, "recollect."):
    if not any(word in _module.name for word in _LEFT_OUT):
        import_module(_module.name)
