"""One table of a TOML file, edited in place: the rest stays as it is, byte for byte.

The file is cut into statements, which are lines or, where a list or a text
goes on, several. A table of ours is a header with the statements below it; we
put it at the end, change a value where it stands, and cut it out again. As
with JSON, every edit is parsed again and compared with what it should be.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from recollect.errors import FileRefused

_TOKEN = re.compile(
    r'(?P<text>"""(?:[^\\]|\\.)*?"{3,5}|'
    + r"'''.*?'{3,5}"
    + r'|"(?:[^"\\\n]|\\.)*"|'
    + r"'[^'\n]*')"
    r"|(?P<comment>\#[^\n]*)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<line>\n)|(?P<other>[^\"'\#\[\]{}\n]+|.)",
    re.DOTALL,
)
_MARK = "\ufeff"


class TomlFile:
    """The text of one TOML file. `name` is for complaints."""

    def __init__(self, text: str, name: str) -> None:
        self.name, self.text = name, text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.values = self._parsed(text)

    def get(self, *path: str) -> Any:
        """The value at a path, or None."""
        at: Any = self.values
        for key in path:
            at = at.get(key) if isinstance(at, dict) else None
        return at

    @property
    def empty(self) -> bool:
        """Whether nothing is left, not even a comment."""
        return not self.text.strip(_MARK + " \t\r\n")

    def set(self, path: tuple[str, str], values: dict[str, Any]) -> None:
        """Give a table these values; others that it has stay."""
        expected = deepcopy(self.values)
        at = expected.setdefault(path[0], {})
        if not isinstance(at, dict) or not isinstance(at.setdefault(path[1], {}), dict):
            raise self._by_hand(path)
        at[path[1]].update(values)
        if expected == self.values:
            return
        if self.get(*path) is None:
            self._become(self._with_table(path, values), expected, path)
            return
        for key, value in values.items():
            self._become(self._with_value(path, key, value), None, path)
        if self.values != expected:
            raise self._by_hand(path)

    def remove(self, path: tuple[str, str]) -> None:
        """Take away a table and the tables below it."""
        expected = deepcopy(self.values)
        del expected[path[0]][path[1]]
        text = self.text
        for start, end in reversed(list(self._tables(path))):
            before = text[:start]
            # The blank line that parts it from what is above went in with it.
            gap = re.search(r"(?:^|(?<=\n))\r?\n\Z", before)
            text = before[: gap.start() if gap else start] + text[end:]
        if not expected[path[0]] and path[0] not in tomllib.loads(text.removeprefix(_MARK)):
            del expected[path[0]]
        self._become(text, expected, path)

    def _with_table(self, path: tuple[str, str], values: dict[str, Any]) -> str:
        text = self.text + ("" if self.text[-1:] in ("", "\n", _MARK) else self.newline)
        gap = "" if self.empty or text.endswith(("\n\n", "\n\r\n")) else self.newline
        lines = [
            f"[{'.'.join(path)}]",
            *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()),
        ]
        return text + gap + "".join(line + self.newline for line in lines)

    def _with_value(self, path: tuple[str, str], key: str, value: Any) -> str:
        """The text with one value of an existing table changed, or added below its header."""
        written = f"{key} = {json.dumps(value, ensure_ascii=False)}{self.newline}"
        inside, below = False, None
        for start, end in _statements(self.text):
            statement = self.text[start:end]
            if statement.startswith("["):
                inside = _header(statement) == path
                below = end if inside else below
            elif inside and key in tomllib.loads(statement):
                return self.text[:start] + written + self.text[end:]
        if below is None:
            raise self._by_hand(path)
        return self.text[:below] + written + self.text[below:]

    def _tables(self, path: tuple[str, str]) -> Iterator[tuple[int, int]]:
        """Where a table and those below it stand, up to the last value: what
        follows may be about the next table.
        """
        found: tuple[int, int] | None = None
        for start, end in _statements(self.text):
            if self.text.startswith("[", start):
                if found:
                    yield found
                found = (start, end) if _header(self.text[start:end])[: len(path)] == path else None
            elif found:
                found = found[0], end
        if found:
            yield found

    def _become(self, text: str, expected: dict[str, Any] | None, path: tuple[str, str]) -> None:
        try:
            values = tomllib.loads(text.removeprefix(_MARK))
        except tomllib.TOMLDecodeError:
            raise self._by_hand(path) from None
        if expected is not None and values != expected:
            raise self._by_hand(path)
        self.text, self.values = text, values

    def _by_hand(self, path: tuple[str, str]) -> FileRefused:
        return FileRefused(
            f"{self.name} has {'.'.join(path)} in a form that we do not change.",
            hint=f"Write it as a table [{'.'.join(path)}], or add or remove it by hand. "
            "Nothing was written.",
        )

    def _parsed(self, text: str) -> dict[str, Any]:
        try:
            return tomllib.loads(text.removeprefix(_MARK))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            where = re.search(r"line (\d+)", str(error))
            raise FileRefused(
                f"{self.name}, line {where[1] if where else text.count(chr(10)) + 1}: "
                f"{str(error).partition(' (at')[0]}",
                hint="Correct that line, then run the same command again.",
            ) from None


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Where each header and each key with its value stands, to the end of its last line."""
    start, depth = None, 0
    for token in _TOKEN.finditer(text, text.startswith(_MARK)):
        kind = token.lastgroup
        if kind == "line":
            if start is not None and not depth:
                yield start, token.end()
                start = None
            continue
        depth += (kind == "open") - (kind == "close")
        if start is None and kind != "comment" and token[0].strip():
            start = token.end() - len(token[0].lstrip())
    if start is not None:
        yield start, len(text)


def _header(statement: str) -> tuple[str, ...]:
    """The keys of a table's header, or of a list's: `[a."b c"]` gives a and b c."""
    at: Any = tomllib.loads(statement)
    keys = []
    while at:
        if isinstance(at, list):
            at = at[0]
            continue
        ((key, at),) = at.items()
        keys.append(key)
    return tuple(keys)
