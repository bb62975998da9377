"""Secrets known by their own structure: key files, JSON web tokens, manifests.

They are longer than a token and have parts, so that each has a reader of its
own. As rules they promise what all rules do, see `rules`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.redact.rules import Compile, PossibleSecret, Rule, RuleText, starts_clean
from recollect.redact.values import is_stand_in


class PrivateKeyRule:
    """Private keys between BEGIN and END, also with escaped line
    ends, also cut off before the END.
    """

    needles = (b"private key",)
    _mark = r"PRIVATE KEY(?: BLOCK)?[ ]?-?----"
    triggers = (_mark,)
    reach = 32
    _begin = re.compile(rb"-----?[- ]?BEGIN[A-Z0-9 ]{0,40}$")
    _tail = re.compile(rb"[\x0d\x0a]{1,2}-----END[A-Z0-9 ]{0,40}$")
    _line = re.compile(rb"[A-Za-z0-9+/=]{16,}")
    # What still looks like a line of a key when the END is missing: a
    # header, a full line, or the last one.
    _next = re.compile(
        rb"(?:[\x09-\x0d \"'+|>]|\\[nrt])*"
        rb"(?:[A-Za-z0-9-]{1,16}: "
        rb"[^\x0a\\]{1,80}|[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/=]{1,15}(?=[\x0d\x0a\\\"']|$))"
    )

    def __init__(self, compiled: Compile) -> None:
        self._head = compiled(self._mark)
        # Everything a key file holds between its markers, as text, in JSON, in YAML or glued
        # together in source code. Two dashes end it, so that two keys are never read as one.
        self._body = compiled(
            r"(?:[A-Za-z0-9+/=:,.()@<>|\x09-\x0d "
            r"\"'_]|\\{1,4}[nrt]|\\{1,4}[\x09-\x0d\"']|-[A-Za-z0-9])*"
        )
        self._end = compiled(r"-----?[- ]?END[A-Z0-9 ]{0,40}PRIVATE KEY")

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        head = self._head.match(text.data, at, text.high)
        if head is None:
            return
        if not self._begin.search(text.before(at, 56)):
            yield from self._tail_of_a_key(text, at)
            return
        body = self._body.match(text.data, head.end(), text.high)
        if body is None:
            return
        content = text.data[body.start() : body.end()]
        if self._end.match(text.data, body.end(), text.high) is None:
            content = content[: self._cut(content)]
        if self._line.search(content) and not _is_stand_in_key(content):
            start, end = _inner(content)
            yield PossibleSecret(body.start() + start, body.start() + end, "private-key", 0)

    def _tail_of_a_key(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        """The last lines of a key whose beginning the log has cut off."""
        before = text.before(at, 8192)
        tail = self._tail.search(before[-60:])
        if tail is None:
            return
        end = len(before) - len(before[-60:]) + tail.start()
        start = end
        while start and (before[start - 1 : start].isalnum() or before[start - 1] in b"+/=\r\n"):
            start -= 1
        lines = before[start:end].strip(b"\r\n").split(b"\n")
        lines = lines[next((n for n, line in enumerate(lines) if len(line) >= 40), len(lines)) :]
        size = sum(map(len, lines)) + len(lines) - 1
        if lines and not _is_stand_in_key(b"".join(lines)):
            yield PossibleSecret(
                at - len(before) + end - size, at - len(before) + end, "private-key", 0
            )

    def _cut(self, content: bytes) -> int:
        """Where a key without an END stops and other text begins."""
        stop = 0
        while (line := self._next.match(content, stop)) is not None:
            stop = line.end()
        return stop


class PuttyKeyRule:
    """The private half of a PuTTY key file."""

    needles = (b"private-lines:",)
    triggers = (r"Private-Lines: [0-9]{1,3}",)
    reach = 24

    def __init__(self, compiled: Compile) -> None:
        self._lines = compiled(r"Private-Lines: [0-9]{1,3}((?:[A-Za-z0-9+/=\x0a\x0d]|\\[rn])*)")

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        match = self._lines.match(text.data, at, text.high)
        if match is None:
            return
        content = text.data[match.start(1) : match.end(1)].removesuffix(
            b"Private"
        )  # of the Private-MAC below it
        start, end = _inner(content)
        if start < end and not _is_stand_in_key(content):
            yield PossibleSecret(match.start(1) + start, match.start(1) + end, "private-key", 0)


_LINE_ENDS = re.compile(rb"(?:[\x09-\x0d \"']|\\{1,4}[nrt])*")


def _inner(content: bytes) -> tuple[int, int]:
    """Where a key begins and ends, without the line ends and quotes around it."""
    head = _LINE_ENDS.match(content)
    start, end = head.end() if head is not None else 0, len(content)
    while end > start and (
        content[end - 1] in b" \t\r\n\"'" or content[end - 2 : end] in (b"\\n", b"\\r", b"\\\\")
    ):
        end -= 2 if content[end - 1] in b"nr\\" else 1
    return start, end


def _is_stand_in_key(content: bytes) -> bool:
    """Whether dots or one letter over and over stand where a key should."""
    return b"..." in content or len(set(content)) < 12


class JwtRule:
    """JSON web tokens: base64 parts between full stops, of which the first two are JSON."""

    needles = (b"ey",)
    triggers = (r"ey[A-Za-z0-9_\-]{15}",)
    reach = 20
    _shortest_part = 17

    def __init__(self, compiled: Compile) -> None:
        self._part = compiled(r"[A-Za-z0-9_\-]*=*")

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        # Inside a run of base64 there is no telling; only its beginning
        # counts, which also keeps this linear.
        if not starts_clean(text, at) or text.before(at, 1) in (b"_", b"-"):
            return
        parts: list[tuple[int, int]] = []
        place = at
        while (
            len(parts) < 5 and (part := self._part.match(text.data, place, text.high)) is not None
        ):
            parts.append((place, part.end()))
            place = part.end() + 1
            if text.after(part.end()) != ord("."):
                break
        if len(parts) < 2 or not all(self._is_json(text, *part) for part in parts[:2]):
            return
        end = max(end for start, end in parts if start < end)
        if not _is_stand_in_key(text.data[at:end]):
            yield PossibleSecret(at, end, "jwt", 1)

    def _is_json(self, text: RuleText, start: int, end: int) -> bool:
        """Whether a part may be an object: in base64, `{"` reads ey."""
        return end - start >= self._shortest_part and text.data.startswith(b"ey", start)


class KubernetesSecretRule:
    """The values under `data` and `stringData` of a manifest whose kind is Secret."""

    needles = (b"secret",)
    triggers = (r"kind\\{0,6}[\"']?:[ ]{0,3}\\{0,6}[\"']?Secret",)
    reach = 8
    _kind = re.compile(rb"kind\\{0,6}[\"']?:[ ]{0,3}\\{0,6}[\"']?$")
    _again = re.compile(rb"kind\\{0,6}[\"']?:[ ]{0,3}\\{0,6}[\"']?Secret[^A-Za-z0-9]")
    _mark = re.compile(rb"(?:\x0a|\\n)---")
    _limit = 16_384  # on either side; etcd would take a megabyte, but logs do not show that
    _block = re.compile(
        rb"(?:^|[\x0a{,n ])[ \t]*\\{0,6}[\"']?(?:data|stringData)\\{0,6}[\"']?:[ "
        rb"]{0,3}(?:\{|\x0a|\\n)"
    )
    _item = re.compile(
        rb"(?:[\x0d\x0a\t ,]|\\n)*\\{0,6}[\"']?([A-Za-z0-9_.\-]{1,253})\\{0,6}[\"']?:[ "
        rb"]{0,3}\\{0,6}[\"']?"
        rb"(?:\|-?[ ]*(?:\x0a|\\n)[ ]*)?([^\x00-\x20\"'\\,}]{4,8192})\\{0,6}[\"']?"
    )

    def __init__(self, compiled: Compile) -> None:
        """Nothing to compile: these patterns run on one manifest at a time."""

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        if (
            not self._kind.search(text.before(at, 24))
            or text.data[at + 6 : min(at + 7, text.high)].isalnum()
        ):
            return
        low = max(text.low, at - self._limit)
        low = max(text.data.rfind(b"\n---", low, at), text.data.rfind(b"\\n---", low, at), low)
        if self._again.search(text.data, low, at - 1):
            return  # The first mention in a manifest reads all of it.
        below = self._mark.search(text.data, at, min(text.high, at + self._limit))
        manifest = text.data[low : below.start() if below else min(text.high, at + self._limit)]
        for start, end in self._values(manifest):
            if not is_stand_in(manifest[start:end].decode("ascii")):
                yield PossibleSecret(low + start, low + end, "kubernetes-secret", 2)

    def _values(self, manifest: bytes) -> Iterator[tuple[int, int]]:
        for block in self._block.finditer(manifest):
            braces, indent = (
                manifest[block.end() - 1] == ord("{"),
                _indent(manifest, block.start() + 1),
            )
            place = block.end()
            while (item := self._item.match(manifest, place)) is not None:
                if not braces and _indent(manifest, item.start(1)) <= indent:
                    break
                yield item.span(2)
                place = item.end()


def _indent(manifest: bytes, at: int) -> int:
    """How far the line around `at` is indented.

    A line may end with a real or with an escaped newline.
    """
    before = re.split(rb"\x0a|\\n", manifest[max(0, at - 400) : at])[-1]
    return len(before) - len(before.lstrip(b" "))


def document_rules(compiled: Compile) -> list[Rule]:
    """All the rules of this module."""
    return [
        PrivateKeyRule(compiled),
        PuttyKeyRule(compiled),
        JwtRule(compiled),
        KubernetesSecretRule(compiled),
    ]
