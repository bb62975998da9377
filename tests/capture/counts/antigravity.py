"""Antigravity's tokens, counted from the files alone.

Each row of `gen_metadata` is a message with the figures of one call at 1.4: 2
is the input without the cache, 5 the cache, 3 the output with what was
thought, 9 the thoughts if they and 10 make up the output, and 11 names the
answer. A conversation without such rows may have figures in its steps.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from recollect.model.sessions import Tokens

Call = tuple[int, int, int, int]


def tokens(folder: Path) -> Tokens:
    calls: dict[str, Call] = {}
    with_rows = set()
    for path in folder.rglob("*.db"):
        for idx, data in _rows(path):
            used = _get(_get(data, 1), 4)
            if isinstance(used, bytes):
                with_rows.add(path.stem)
                asked, answered, cached, thought, said = (
                    _get(used, field) or 0 for field in (2, 3, 5, 9, 10)
                )
                name = _get(used, 11) or f"{path.stem}/{idx}".encode()
                calls[name.decode()] = (
                    asked,
                    cached,
                    answered,
                    thought if thought + said == answered else 0,
                )
    for path in folder.rglob("transcript.jsonl"):
        session = path.parts[-4]
        for line in (
            path.read_text(encoding="utf-8").splitlines() if session not in with_rows else ()
        ):
            step = _parsed(line)
            if isinstance(step, dict) and isinstance(step.get("input_tokens"), int):
                counts = (step["input_tokens"], step["cache_read_tokens"], step["output_tokens"], 0)
                calls[f"{session}/step-{step['step_index']}"] = counts
    sums = [sum(call[place] for call in calls.values()) for place in range(4)]
    return Tokens(input=sums[0], cache_read=sums[1], output=sums[2], reasoning=sums[3])


def _rows(path: Path) -> list[tuple[int, Any]]:
    try:
        with sqlite3.connect(path) as connection:
            return connection.execute("select idx, data from gen_metadata").fetchall()
    except sqlite3.Error:
        return []


def _get(data: Any, wanted: int) -> Any:
    """The first field with a number in a message; None when there is none, or it is no message."""
    position = 0

    def number() -> int:
        nonlocal position
        value = shift = 0
        while True:
            byte = data[position]
            position, value, shift = position + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    try:
        while isinstance(data, bytes) and position < len(data):
            tag = number()
            found: Any = number()
            if tag & 7 == 2:
                position, found = position + found, data[position : position + found]
                if position > len(data):
                    return None
            if tag >> 3 == wanted:
                return found
    except IndexError:
        pass
    return None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
