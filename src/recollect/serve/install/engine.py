"""Switches the engine on and off in config.toml: one line, the rest of the file stays."""

from __future__ import annotations

import os
import re

from recollect.system import platforms

_SECTION = re.compile(r"^\[distill\][ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_NEXT = re.compile(r"^\[", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*engine[ \t]*=[^\n]*\n?", re.MULTILINE)


def choose_engine(path: str, name: str) -> bool:
    """Make this engine the one of a config.toml; False where it is that already."""
    text = _read(path)
    line = f'engine = "{name}"\n'
    section = _SECTION.search(text)
    if section is None:
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        changed = f"{text}{gap}[distill]\n{line}"
    else:
        begin = section.end() + 1
        after = _NEXT.search(text, begin)
        end = after.start() if after else len(text)
        body = text[begin:end]
        body = _LINE.sub(line, body, count=1) if _LINE.search(body) else line + body
        head = text[:begin] if text[:begin].endswith("\n") else f"{text[:begin]}\n"
        changed = head + body + text[end:]
    if changed == text:
        return False
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    platforms.replace_text(path, changed)
    return True


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""
