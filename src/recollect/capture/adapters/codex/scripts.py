"""Codex code mode: JavaScript that calls tools, taken apart into the calls it makes.

Since 0.137 a model may be given one tool, `exec`, whose input is a script:

    const r = await tools.shell_command({command: "npm test", workdir: "/srv/shop"});
    text(r.output);

Nothing is run here. Calls of `tools.<name>` whose argument is written out are
read: objects, strings of every sort, lists, and names that an earlier `const`
bound to such a value. Everything else (a loop, a computed command) is counted
as unreadable, and nobody guesses what it did.

Source: codex-rs/code-mode/src/description.rs and core/src/tools/code_mode/mod.rs.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from recollect.capture.adapters.codex.tools import CodexOutcome, from_text, texts_in
from recollect.capture.logs.values import text_of

# Scripts are short; of what is longer the beginning is read.
MOST_CHARACTERS = 200_000
MOST_CALLS = 50
MOST_DEPTH = 20

_TOKEN = re.compile(
    r"""
      (?P<space>\s+|//[^\n]*|/\*.*?\*/)
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<raw>String\.raw`[^`]*`)
    | (?P<template>`(?:[^`\\]|\\.)*`)
    | (?P<number>-?(?:\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?))
    | (?P<name>[A-Za-z_$][\w$]*)
    | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.S)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_CONSTANTS = {"true": True, "false": False, "null": None, "undefined": None}
# What stands behind one of these ran once, often or never.
_BRANCHES = frozenset({"for", "while", "do", "if", "switch", "catch", "function"})
_AT_ONCE = ["(", "async", "(", ")", "=", ">"]


class ScriptCall(NamedTuple):
    """One call of a tool in a script, with its argument."""

    name: str
    given: Any


class ScriptCalls(NamedTuple):
    """What a script calls, in its order, and how many calls in it could not be read."""

    calls: list[ScriptCall]
    unread: int


class _Unreadable(Exception):
    """A value that is not written out."""


class _Token(NamedTuple):
    kind: str
    text: str


def calls_in(script: str) -> ScriptCalls:
    """The calls of tools that a script makes, as far as it says them itself."""
    if "tools" not in script:
        return ScriptCalls([], 0)
    return _Script(script[:MOST_CHARACTERS]).calls()


class _Script:
    """A script as tokens, read from left to right."""

    def __init__(self, text: str) -> None:
        self.tokens = [
            _Token(match.lastgroup or "mark", match[0])
            for match in _TOKEN.finditer(text)
            if match.lastgroup != "space"
        ]
        self.at = 0
        self.known: dict[str, Any] = {}

    def calls(self) -> ScriptCalls:
        """Everything it calls."""
        found: list[ScriptCall] = []
        unread = depth = 0
        # The depth outside of the function that is being written down, if one is.
        outside: int | None = None
        sure = True
        while self.at < len(self.tokens) and len(found) < MOST_CALLS:
            start = self.at
            name = self._callee()
            if name is None:
                self.at = start
                token = self.tokens[start]
                sure = sure and not (token.kind == "name" and token.text in _BRANCHES)
                if token.kind == "mark":
                    if token.text == "{" and outside is None and self._is_arrow(start):
                        outside = depth
                    depth += {"{": 1, "}": -1}.get(token.text, 0)
                    if outside is not None and depth <= outside:
                        outside = None
                self._bind()
                self.at = start + 1
                continue
            try:
                given = None if self._peek() == ")" else self._value()
                is_sure = sure and outside is None and not self._is_conditional(start)
                if not is_sure or self._peek() not in (")", ","):
                    raise _Unreadable
                found.append(ScriptCall(name, given))
            except _Unreadable:
                unread += 1
                self.at = start + 1
        return ScriptCalls(found, unread)

    def _before(self, at: int) -> str:
        """The two characters before a place."""
        return "".join(token.text for token in self.tokens[max(0, at - 2) : at])[-2:]

    def _is_arrow(self, at: int) -> bool:
        """Whether a brace opens the body of a function that may run later, often or never.

        One around the whole script runs at once.
        """
        return self._before(at) == "=>" and [one.text for one in self.tokens[:at]] != _AT_ONCE

    def _is_conditional(self, at: int) -> bool:
        """Whether what stands right before a call decides if it is made."""
        while at and self.tokens[at - 1].text in ("await", "("):
            at -= 1
        return self._before(at) in ("=>", "&&", "||", "??") or self._before(at)[-1:] == "?"

    def _callee(self) -> str | None:
        """`tools.name(` or `tools["name"](` at this place."""
        if not self._takes("tools"):
            return None
        if self._takes("."):
            token = self._next()
            name = token.text if token.kind == "name" else None
        elif self._takes("["):
            token = self._next()
            name = _unquoted(token) if token.kind == "string" else None
            if not self._takes("]"):
                return None
        else:
            return None
        return name if name and self._takes("(") else None

    def _bind(self) -> None:
        """`const name = value`: the name stands for the value from here on."""
        if self._next().text not in ("const", "let", "var"):
            return
        name = self._next()
        if name.kind != "name" or not self._takes("="):
            return
        try:
            value = self._value()
        except _Unreadable:
            self.known.pop(name.text, None)
            return
        if self._peek() in (";", "") or self._starts_statement():
            self.known[name.text] = value

    def _starts_statement(self) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].kind == "name"

    def _value(self, depth: int = 0) -> Any:
        """A value that is written out, texts joined with `+` too."""
        value = self._single(depth)
        while self._peek() in ("+", "."):
            if self._takes("+"):
                more = self._single(depth)
                if not (isinstance(value, str) and isinstance(more, str)):
                    raise _Unreadable
                value += more
            else:
                value = self._joined(value)
        return value

    def _single(self, depth: int) -> Any:
        token = self._next()
        if depth > MOST_DEPTH:
            raise _Unreadable
        if token.kind in ("string", "raw", "template"):
            return _unquoted(token)
        if token.kind == "number":
            return float(token.text) if re.search(r"[.e]", token.text) else int(token.text)
        if token.text == "{":
            return self._object(depth + 1)
        if token.text == "[":
            return self._list(depth + 1)
        if token.text in _CONSTANTS:
            return _CONSTANTS[token.text]
        if token.kind == "name" and token.text in self.known:
            return self.known[token.text]
        raise _Unreadable

    def _joined(self, value: Any) -> str:
        """`["a", "b"].join("\\n")`."""
        self.at += 1
        if self._next().text != "join" or not self._takes("(") or not isinstance(value, list):
            raise _Unreadable
        between = self._single(0) if self._peek() != ")" else ","
        if not self._takes(")") or not all(isinstance(one, str) for one in [between, *value]):
            raise _Unreadable
        return str(between).join(value)

    def _object(self, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        while not self._takes("}"):
            key = self._next()
            if key.kind not in ("name", "string"):
                raise _Unreadable
            name = _unquoted(key) if key.kind == "string" else key.text
            if self._takes(":"):
                made[name] = self._value(depth)
            elif key.text in self.known:
                made[name] = self.known[key.text]
            else:
                raise _Unreadable
            if not self._takes(",") and self._peek() != "}":
                raise _Unreadable
        return made

    def _list(self, depth: int) -> list[Any]:
        made: list[Any] = []
        while not self._takes("]"):
            made.append(self._value(depth))
            if not self._takes(",") and self._peek() != "]":
                raise _Unreadable
        return made

    def _peek(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def _next(self) -> _Token:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else _Token("mark", "")

    def _takes(self, text: str) -> bool:
        if self._peek() != text:
            return False
        self.at += 1
        return True


def _unquoted(token: _Token) -> str:
    """What a string says; a template only when nothing is put into it."""
    if token.kind == "raw":
        text = token.text[len("String.raw`") : -1]
        if "${" in text:
            raise _Unreadable
        return text
    text = token.text[1:-1]
    if token.kind == "template" and re.search(r"(?<!\\)\$\{", text):
        raise _Unreadable
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits:
        code = int(digits, 16)
        # Half of a pair is no character.
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return _ESCAPES.get(match[4], match[4])


# What came back from a script ------------------------------------------------

_STATUS = {"completed": True, "failed": False, "terminated": False}
_HEAD = re.compile(r"Script (\w+)[^\n]*\n(?:Wall time:? [\d.]+ seconds\n)?(?:Output:\n?)?")
_CELL = re.compile(r"Script running with cell ID (\S{1,60})")
_ERROR = "Script error:\n"


class ScriptOutcome(NamedTuple):
    """What a script gave back: of the whole, and of each of its calls where that can be told."""

    whole: CodexOutcome
    each: list[CodexOutcome]
    cell: str | None = None


def script_outcome(output: object, calls: int) -> ScriptOutcome:
    """The output of a script that made so many calls, without the lines that head it."""
    parts = [output] if isinstance(output, str) else _texts(output)
    first = parts[0] if parts else ""
    head = _HEAD.match(first)
    if head is None:
        return ScriptOutcome(from_text("\n".join(parts)), [])
    rest = first[head.end() :].removeprefix("\n")
    parts = [part for part in (rest, *parts[1:]) if part.strip()]
    text = "\n".join(parts)
    ok = _STATUS.get(head[1])
    wall = from_text(first[: head.end()]).duration_ms
    cell = _CELL.match(first)
    whole = CodexOutcome(text, ok, None, wall)
    each: list[CodexOutcome] = []
    if calls == 1:
        one = told_by(text.removeprefix(_ERROR))
        said = ok if one.ok is None else one.ok
        each = [CodexOutcome(one.text, said, one.exit_code, one.duration_ms or wall)]
    elif ok and calls > 1:
        texts = parts if len(parts) == calls else _listed(text)
        each = [told_by(part) for part in texts] if len(texts) == calls else []
    return ScriptOutcome(whole, each, cell[1] if cell else None)


def told_by(text: str) -> CodexOutcome:
    """What one call gave back, as scripts pass it on: its text, or its result as JSON."""
    if text.lstrip()[:1] == "{":
        try:
            found = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return CodexOutcome(text)
        code, shown = found.get("exit_code"), found.get("output")
        if not isinstance(shown, str):
            return CodexOutcome(text)
        known = type(code) is int and abs(code) < 1 << 32
        return CodexOutcome(shown, code == 0 if known else None, code if known else None)
    return from_text(text)


def _texts(output: object) -> list[str]:
    return [texts_in([part]) for part in output] if isinstance(output, list) else []


def _listed(text: str) -> list[str]:
    """The texts of a JSON list, which is how several results are passed on at once."""
    if text.lstrip()[:1] != "[":
        return []
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return []
    return [text_of(one) or msgspec.json.encode(one).decode() for one in found]
