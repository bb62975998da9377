"""JSON with comments, edited in place: what is not ours stays as it is, byte for byte.

A parsed file knows where each of its values stands, and an edit inserts or
cuts text there and nowhere else. It takes over the file's own manner: its
indentation, its line ends, whether it ends lists with a comma, and where it
has comments. Cutting what was inserted gives back the text as it was.

Every edit is checked: the new text is parsed again and must hold what the old
one held, with that one difference. Otherwise it is refused.
"""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import Any

from recollect.errors import FileRefused

# What may stand between two values. A comment without its end does not match,
# and is then reported where it begins.
_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_TAIL = re.compile(r"(?:[ \t]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_LINE_END = re.compile(r"[ \t]*[\r\n]")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_SPACE = " \t\r\n"
_MARK = "\ufeff"
_DEEPEST = 200

Key = str | int
JsonPath = tuple[Key, ...]


class Node:
    """A value and where it stands.

    What it contains, each with the place where its key or value begins.
    """

    __slots__ = ("children", "end", "start", "value")

    def __init__(
        self, start: int, end: int, value: Any, children: dict[Key, tuple[int, Node]] | None = None
    ) -> None:
        self.start, self.end, self.value, self.children = start, end, value, children or {}


class JsonFile:
    """The text of one settings file, and the edits it understands. `name` is for complaints."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.newline = "\r\n" if "\r\n" in text else "\n"
        if _beginning(text) == len(text):
            # Nothing, or only comments: to the agents that is the same as an empty object.
            text += ("" if text[-1:] in ("", "\n", _MARK) else self.newline) + "{}" + self.newline
        self.text = text
        self.root = self._parsed(text)
        found = re.search(r"^([ \t]+)\S", text[self.root.start :], re.MULTILINE)
        self.indent = found[1] if found else "  "

    # Asking

    def get(self, *path: Key) -> Any:
        """The value at a path, or None."""
        node = self._find(path)
        return node.value if node else None

    def has(self, *path: Key) -> bool:
        """Whether there is anything at a path, be it null."""
        return self._find(path) is not None

    def bare(self, *path: Key) -> bool:
        """Whether an object or a list holds nothing, not even a comment."""
        node = self._at(path)
        return node.value in ({}, []) and not self.text[node.start + 1 : node.end - 1].strip(_SPACE)

    @property
    def empty(self) -> bool:
        """Whether nothing is left in the whole file."""
        return self.text.strip(_MARK + _SPACE) == "{}"

    # Editing

    def set(self, path: JsonPath, value: Any) -> None:
        """Put a value at a path, and objects on the way there.

        One that is there already is replaced.
        """
        if self.has(*path) and self.get(*path) == value:
            return
        node = self._find(path)
        if node is not None:
            expected, at = self._copy(path[:-1], (dict, list))
            at[path[-1]] = value
            made = self._written(value, self._line_indent(node.start))
            self._become(self.text[: node.start] + made + self.text[node.end :], expected)
            return
        there = len(path) - 1
        while not self.has(*path[:there]):
            there -= 1
        for key in reversed(path[there + 1 :]):
            value = {key: value}
        expected, at = self._copy(path[:there], dict)
        at[path[there]] = value
        self._become(
            self._with_child(path[:there], f"{json.dumps(path[there])}: ", value), expected
        )

    def append(self, path: JsonPath, value: Any) -> None:
        """Put a value at the end of the list at a path; the list is made if there is none."""
        if not self.has(*path):
            self.set(path, [value])
            return
        expected, at = self._copy(path, list)
        at.append(value)
        self._become(self._with_child(path, "", value), expected)

    def remove(self, path: JsonPath) -> None:
        """Take away the value at a path, with its key and its comma."""
        expected, at = self._copy(path[:-1], (dict, list))
        del at[path[-1]]
        self._become(self._without_child(path), expected)

    def _copy(self, path: JsonPath, kind: type | tuple[type, ...]) -> tuple[Any, Any]:
        """All that the file holds, to be changed at will, and what is at a
        path of it, which must be of a kind.
        """
        whole = at = deepcopy(self.root.value)
        for key in path:
            at = at[key]
        if not isinstance(at, kind):
            raise FileRefused(
                f"{self.name}: {'.'.join(map(str, path))} is not what the agent expects there.",
                hint="Correct it by hand, then run the same command again.",
            )
        return whole, at

    # How a child is put in, and taken out again

    def _with_child(self, path: JsonPath, label: str, value: Any) -> str:
        parent, text = self._at(path), self.text
        closing = parent.end - 1
        if not parent.children:
            base = self._line_indent(parent.start)
            inner = base + self.indent
            last = len(text[:closing].rstrip(_SPACE))
            rest = text[last:closing] if last > parent.start + 1 else self.newline + base
            made = f"{self.newline}{inner}{label}{self._written(value, inner)}"
            return text[:last] + made + rest + text[closing:]
        start, node = list(parent.children.values())[-1]
        comma = _comma_after(text, node.end)
        lead = text[len(text[:start].rstrip(_SPACE)) : start]
        if "\n" not in lead:
            # A file or a list on one line stays on one line.
            made = f"{label}{json.dumps(value, ensure_ascii=False)}"
            if comma:
                return f"{text[:comma]} {made},{text[comma:]}"
            return f"{text[: node.end]}, {made}{text[node.end :]}"
        inner = lead.rpartition("\n")[2]
        made = f"{self.newline}{inner}{label}{self._written(value, inner)}"
        tail = _line_tail(text, comma or node.end)
        if comma:
            return f"{text[:tail]}{made},{text[tail:]}"
        return f"{text[: node.end]},{text[node.end : tail]}{made}{text[tail:]}"

    def _without_child(self, path: JsonPath) -> str:
        parent, text = self._at(path[:-1]), self.text
        keys = list(parent.children)
        start, node = parent.children[path[-1]]
        index = keys.index(path[-1])
        before = parent.children[keys[index - 1]][1].end if index else parent.start + 1
        separator = (_comma_after(text, before) or before) if index else before
        comma = _comma_after(text, node.end)
        begin, end = len(text[:start].rstrip(_SPACE)), comma or node.end
        comments = _COMMENT.findall(text, separator, start)
        if comments and comments[-1].startswith("//") and not _LINE_END.match(text, end):
            # What follows on our line would slip into that comment.
            begin = start
        if len(keys) == 1:
            alone = begin == parent.start + 1 and not text[end : parent.end - 1].strip(_SPACE)
            return text[:begin] + text[parent.end - 1 if alone else end :]
        if index == len(keys) - 1 and not comma:
            return text[:before] + text[separator:begin] + text[end:]
        return text[:begin] + text[end:]

    def _written(self, value: Any, indent: str) -> str:
        lines = json.dumps(value, ensure_ascii=False, indent=self.indent).split("\n")
        return f"{self.newline}{indent}".join(lines)

    def _line_indent(self, position: int) -> str:
        line = self.text[self.text.rfind("\n", 0, position) + 1 : position].lstrip(_MARK)
        return line[: len(line) - len(line.lstrip())]

    def _at(self, path: JsonPath) -> Node:
        node = self.root
        for key in path:
            node = node.children[key][1]
        return node

    def _find(self, path: JsonPath) -> Node | None:
        try:
            return self._at(path)
        except KeyError:
            return None

    def _become(self, text: str, expected: Any) -> None:
        root = self._parsed(text)
        # As text, because the order counts as well, and 1 is not true.
        if json.dumps(root.value) != json.dumps(expected):
            raise FileRefused(
                f"{self.name} cannot be changed without touching more than our own entry.",
                hint="Nothing was written. Add or remove the entry by hand.",
            )
        self.text, self.root = text, root

    # Reading

    def _parsed(self, text: str) -> Node:
        try:
            root = _value(text, _beginning(text), _DEEPEST)
            end = _skip(text, root.end)
            if end != len(text):
                raise _Broken(end, "more after the end")
        except _Broken as broken:
            line = text.count("\n", 0, broken.position) + 1
            raise FileRefused(
                f"{self.name}, line {line}: {broken.reason}",
                hint="Correct that line, then run the same command again.",
            ) from None
        if not isinstance(root.value, dict):
            raise FileRefused(
                f"{self.name} is not a JSON object.",
                hint="Correct it by hand, then run the same command again.",
            )
        return root


class _Broken(Exception):
    def __init__(self, position: int, reason: str) -> None:
        self.position, self.reason = position, reason


def _beginning(text: str) -> int:
    return _skip(text, len(_MARK) if text.startswith(_MARK) else 0)


def _skip(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    return found.end() if found else position


def _comma_after(text: str, position: int) -> int | None:
    """The place behind the comma that follows a value, if one does."""
    position = _skip(text, position)
    return position + 1 if text[position : position + 1] == "," else None


def _line_tail(text: str, position: int) -> int:
    """Behind the comments that stand on the same line; they are about what is before them."""
    found = _TAIL.match(text, position)
    return position + len(found[0].rstrip(_SPACE)) if found else position


def _value(text: str, start: int, depth: int) -> Node:
    opening = text[start : start + 1]
    if opening in ("{", "["):
        if not depth:
            raise _Broken(start, "nested too deeply")
        return _filled(text, start, depth - 1, "}" if opening == "{" else "]")
    if found := _STRING.match(text, start):
        return Node(start, found.end(), _loaded(found))
    if found := _SCALAR.match(text, start):
        return Node(start, found.end(), _loaded(found))
    raise _Broken(
        start, "a value is missing here" if start < len(text) else "the file ends too early"
    )


def _filled(text: str, start: int, depth: int, closing: str) -> Node:
    """An object or a list; a comma before the closing bracket is allowed."""
    children: dict[Key, tuple[int, Node]] = {}
    name: Key
    position = _skip(text, start + 1)
    while text[position : position + 1] != closing:
        begin, name = position, len(children)
        if closing == "}":
            name, position = _key(text, position)
            if name in children:
                raise _Broken(begin, f"the key {name} appears twice")
        node = _value(text, position, depth)
        children[name] = (begin, node)
        position = _skip(text, node.end)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
        elif text[position : position + 1] != closing:
            raise _Broken(
                position,
                f"a comma or {closing} is missing here"
                if position < len(text)
                else "the file ends too early",
            )
    values = {name: node.value for name, (_, node) in children.items()}
    return Node(start, position + 1, values if closing == "}" else list(values.values()), children)


def _key(text: str, position: int) -> tuple[str, int]:
    found = _STRING.match(text, position)
    if not found:
        raise _Broken(
            position,
            "a key in quotes is missing here"
            if position < len(text)
            else "the file ends too early",
        )
    colon = _skip(text, found.end())
    if text[colon : colon + 1] != ":":
        raise _Broken(colon, "a colon is missing here")
    return str(_loaded(found)), _skip(text, colon + 1)


def _loaded(found: re.Match[str]) -> Any:
    try:
        return json.loads(found[0])
    except ValueError:
        raise _Broken(found.start(), "not a JSON escape, or too long a number") from None
