"""Replaces secrets by tags, in many strings at a time.

Strings are joined into batches of about a megabyte, each searched once, and
what the search turns up is judged string by string by the rules (see `rules`).
Both engines end up at the same places and share everything behind the search,
so that a machine without the wheels gets the same answers, only later.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, compress
from operator import not_
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import quote

from recollect.redact import hyper, python
from recollect.redact.assignments import AssignmentRule, RareAssignmentRule
from recollect.redact.commands import command_rules
from recollect.redact.contexts import CONTEXTS
from recollect.redact.documents import document_rules
from recollect.redact.known import KnownValues
from recollect.redact.passwords import as_read, password_rules
from recollect.redact.places import place_rules
from recollect.redact.rules import (
    Compile,
    InfixRule,
    IsName,
    PossibleSecret,
    Rule,
    RuleText,
    ShapeRule,
    never,
)
from recollect.redact.shapes import INFIXES, SHAPES
from recollect.redact.values import OUR_TAG, is_stand_in

# Raise this whenever the code, and not the table, changes what is found.
LOGIC = 5

_BATCH_CHARS = 1_000_000
_STEP = 256  # strings; a batch is full after so many
_ROUNDS = 8
_KNOWN_RANK = 9  # what a rule says of a value where it stands is more exact


class Finding(NamedTuple):
    """A secret in a string, as offsets into it."""

    kind: str
    start: int
    end: int


class Search(Protocol):
    def places(self, data: bytes) -> dict[int, list[int]]: ...


class Redactor:
    """Takes secrets out of strings and leaves tags in their place.

    Only the value goes: names, quotes and separators stay, so that the text
    still reads as what it was. A tag tells the kind and eight digits of a keyed
    hash, so that the same secret has the same tag throughout one store and
    cannot be guessed from it. Redacting twice changes nothing more.

    A redactor belongs to one thread: Hyperscan's working memory is its own.
    """

    counts: dict[str, int]
    """How many values of each kind were replaced since creation."""

    strong: KnownValues | None
    """Strong values that were recognised before; nothing is learned until some are known."""

    def __init__(
        self,
        key: bytes,
        *,
        known: Mapping[str, str] = {},
        engine: str = "auto",
        cache: Path | None = None,
    ) -> None:
        if engine not in ("auto", "hyperscan", "python"):
            raise ValueError(f"engine must be auto, hyperscan or python, not {engine!r}")
        if engine == "hyperscan" and not hyper.available:
            raise ImportError("engine hyperscan needs the packages hyperscan and google-re2")
        self.engine = "hyperscan" if hyper.available and engine != "python" else "python"
        self.counts = {}
        self._names: set[str] = set()
        self._key = key
        self.strong: KnownValues | None = None
        self._left: set[str] = set()
        self._cache = cache
        self._known = _needles_of(known)
        self._rules: list[Rule] = []
        self._search: Search | None = None

    def know_names(self, names: Iterable[str]) -> None:
        """Words that name something here, such as a project, a folder or a branch.

        A weak value that is one of them stays: taking it out where it stands
        would say no less, because the name is everywhere.
        """
        for name in names:
            self._names.add(name.lower())
            self._names.update(re.split(r"[/\\:.]+", name.lower()))

    def _is_name(self, value: str) -> bool:
        return value.lower() in self._names

    def know_values(self, kinds: Mapping[bytes, str]) -> None:
        """Remove the values with these hashes wherever they stand, and learn others like them."""
        if self.strong is None:
            self.strong = KnownValues(self._key, self._hash, self._is_name)
        self.strong.add(kinds)

    def take_learned(self) -> dict[bytes, str]:
        """Hashes of the strong values that were recognised since this was asked last."""
        return {} if self.strong is None else self.strong.take_new()

    def count_known(self) -> int:
        """How many strong values are known by now."""
        return 0 if self.strong is None else len(self.strong)

    def leave(self, tags: Iterable[str]) -> None:
        """Let the values with these digits in their tags stand."""
        self._left.update(tags)

    def redact(self, text: str) -> str:
        """The text without its secrets; the same object if it has none."""
        return self.redact_all([text])[0]

    def redact_strictly(self, text: str) -> str:
        """The text of a memory without its secrets, nor what a secret's name stands before.

        A memory is told again and again, and nobody needs such a value there,
        however weak it is; only stand-ins, words and plain numbers stay.
        """
        parts = _KEPT_TAG.split(self.redact(text))
        # Tags are among them, and stay: one has the name of a secret and digits in it.
        return "".join(
            part if number % 2 else _NAMED.sub(self._named, part)
            for number, part in enumerate(parts)
        )

    def _named(self, found: re.Match[str]) -> str:
        value = found[2].rstrip(".:!?")
        if value.isdigit() or not any(map(str.isdigit, value)) or is_stand_in(value):
            return found[0]
        tag = self._replace(value, [Finding("weak-secret", 0, len(value))])
        return f"{found[1]}{tag}{found[2][len(value) :]}"

    def redact_all(self, texts: Sequence[str]) -> list[str]:
        """The texts without their secrets, in order; a text without any is the same object.

        This is the way to redact many strings: they share their scans, and
        still no finding reaches from one string into the next. With the values of
        a store, one that is learned here goes from all of them.
        """
        known = self.count_known()
        results = self._redacted(texts)
        return results if self.count_known() == known else self._redacted(results)

    def _redacted(self, texts: Sequence[str]) -> list[str]:
        results = list(texts)
        for indexes, batch in _batches(results):
            changed = list(self._findings(batch))
            if not changed:
                continue
            where = list(indexes())
            for place, findings in changed:
                results[where[place]] = self._settled(batch[place], findings)
        return results

    def findings(self, text: str) -> list[Finding]:
        """The secrets of a text, in order, none overlapping another."""
        return next((findings for _, findings in self._findings([text])), [])

    def _findings(self, texts: Sequence[str]) -> Iterator[tuple[int, list[Finding]]]:
        """The findings of each text that has any, with its index."""
        joined = "\n".join(texts)
        read = joined if joined.isascii() else "\n".join(map(as_read, texts))
        data = read.encode("ascii", "replace")
        ends = list(accumulate(map(len, texts)))
        search = self._ensure_search()
        found: dict[int, list[PossibleSecret]] = {}

        def text_at(at: int) -> tuple[int, RuleText]:
            """The text around a place, and its index.

            Separators count, so that text n begins n later.
            """
            which = bisect_right(range(len(ends)), at, key=lambda index: ends[index] + index)
            high = ends[which] + which
            return which, RuleText(data, high - len(texts[which]), high)

        for owner, places in search.places(data).items():
            rule, done = self._rules[owner], 0
            which, text = 0, RuleText(data, 0, 0)
            for at in places:
                if at < done:
                    continue
                if at >= text.high:
                    which, text = text_at(at)
                for one in rule.find(text, at):
                    found.setdefault(which, []).append(one)
                    done = max(done, one.end)
        for kind, needle in self._known:
            at = joined.find(needle)
            while at >= 0:
                which, text = text_at(at)
                if at + len(needle) <= text.high:
                    found.setdefault(which, []).append(
                        PossibleSecret(at, at + len(needle), kind, 0)
                    )
                at = joined.find(needle, at + len(needle))
        for start, end, kind in self.strong.places(joined) if self.strong else ():
            which, _ = text_at(start)
            found.setdefault(which, []).append(PossibleSecret(start, end, kind, _KNOWN_RANK))
        for which in sorted(found):
            text_of = texts[which]
            offset = ends[which] + which - len(text_of)
            findings = [
                one
                for one in _merged(found[which], text_of, offset)
                if not self._left or self._digits(text_of[one.start : one.end]) not in self._left
            ]
            if findings:
                yield which, findings

    def _ensure_search(self) -> Search:
        if self._search is None:
            if self.engine == "hyperscan":
                self._rules = all_rules(hyper.compile_pattern, self._is_name)
                self._search = hyper.HyperscanSearch(self._rules, self._cache)
            else:
                self._rules = all_rules(python.compile_pattern, self._is_name)
                self._search = python.PythonSearch(self._rules)
        return self._search

    def _settled(self, text: str, findings: list[Finding]) -> str:
        """The text without these findings, nor those that stood
        too close to them to be told apart.
        """
        for _ in range(_ROUNDS):
            text = self._replace(text, findings)
            findings = self.findings(text)
            if not findings:
                break
        return text

    def _replace(self, text: str, findings: Iterable[Finding]) -> str:
        parts, done = [], 0
        for kind, start, end in findings:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if self.strong is not None and not kind.startswith("weak-"):
                self.strong.learn(text[start:end], kind)
            parts += [text[done:start], f"[REDACTED:{kind}:{self._digits(text[start:end])}]"]
            done = end
        return "".join([*parts, text[done:]])

    def _digits(self, value: str) -> str:
        return self._hash(value)[:4].hex()

    def _hash(self, value: str) -> bytes:
        data = value.encode("utf-8", "surrogatepass")
        return hmac.new(self._key, data, hashlib.sha256).digest()


def all_rules(compiled: Compile, is_name: IsName = never) -> list[Rule]:
    """Every rule there is, over patterns of the given library."""
    shapes: list[Rule] = [ShapeRule(shape, compiled) for shape in SHAPES]
    infixes: list[Rule] = [InfixRule(infix, compiled) for infix in INFIXES]
    return [
        *shapes,
        *infixes,
        AssignmentRule(compiled, is_name),
        RareAssignmentRule(compiled, is_name),
        *password_rules(compiled, is_name),
        *place_rules(compiled),
        *command_rules(compiled),
        *document_rules(compiled),
    ]


def table_version() -> str:
    """A short name for what would be found: it changes with the table and with the logic."""
    return hashlib.sha256(repr((LOGIC, SHAPES, INFIXES, CONTEXTS)).encode()).hexdigest()[:16]


_NAMED = re.compile(
    r"((?:pass(?:word|wd|phrase|wort)?|pwd|secret|token|api[_ -]?key)[\"'`*]{0,3}"
    r"(?:[ ]{0,3}[:=]|[ ]is)[ ]{0,3}[\"'`*]{0,3})([^\s\"'`,;\[\]<>{}()$]{4,128})",
    re.IGNORECASE,
)
_KEPT_TAG = re.compile(f"({OUR_TAG.pattern})")
_KNOWN_NAME = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_PATH = re.compile(r"~?\.{0,2}(?:/[A-Za-z_.][A-Za-z0-9_.-]*){2,}/?")


def known_values(environ: Mapping[str, str]) -> dict[str, str]:
    """The secrets of the environment itself, by name, to be found wherever they turn up.

    Short values are left out, because replacing `postgres` everywhere would
    harm more than it hides; so are paths to key files, and public keys.
    """
    return {
        name: value
        for name, value in environ.items()
        if _KNOWN_NAME.search(name)
        and "PUBLIC" not in name.upper()
        and len(value) >= 12
        and not _PATH.fullmatch(value)
    }


def _needles_of(known: Mapping[str, str]) -> list[tuple[str, str]]:
    """Kind and text of each known value, as it is and as JSON and URLs write it."""
    needles = []
    for name, value in known.items():
        kind = "env-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        for written in dict.fromkeys(
            (value, json.dumps(value)[1:-1], quote(value, safe="", errors="replace"))
        ):
            needles.append((kind, written))
    return needles


def _batches(texts: Sequence[str]) -> Iterator[tuple[Callable[[], Iterable[int]], Sequence[str]]]:
    """Texts that share a scan, with what tells their indexes; ASCII apart from the rest.

    One emoji would make a joined megabyte of ASCII four times as large. And a
    megabyte may be tens of thousands of strings, most of them without a
    finding: there is no loop of ours over them, and no list of indexes until
    someone asks.
    """
    start = 0
    while start < len(texts):
        stop, size = start, 0
        while stop < len(texts) and size < _BATCH_CHARS:
            step = texts[stop : stop + _STEP]
            size += sum(map(len, step))
            stop += len(step)
        batch, plain = texts[start:stop], list(map(str.isascii, texts[start:stop]))
        if all(plain):
            yield partial(range, start, stop), batch
        else:
            other = list(map(not_, plain))
            yield partial(compress, range(start, stop), plain), list(compress(batch, plain))
            yield partial(compress, range(start, stop), other), list(compress(batch, other))
        start = stop


def _merged(found: list[PossibleSecret], text: str, offset: int) -> Iterator[Finding]:
    """What of overlapping findings to report: one for each stretch, by its best name."""
    tags = [tag.span() for tag in OUR_TAG.finditer(text)] if "[REDACTED:" in text else []
    tag_ends = [right for _, right in tags]
    cluster: list[PossibleSecret] = []
    reach = 0
    for one in sorted(found):
        start, end = one.start - offset, one.end - offset
        # Only the first tag that ends behind its start can be in the way.
        tag = bisect_right(tag_ends, start)
        if tag < len(tags) and tags[tag][0] < end:
            continue
        if cluster and start >= reach:
            yield _best(cluster)
            cluster = []
        cluster.append(one._replace(start=start, end=end))
        reach = max(reach, end) if len(cluster) > 1 else end
    if cluster:
        yield _best(cluster)


def _best(cluster: list[PossibleSecret]) -> Finding:
    start, end = cluster[0].start, max(one.end for one in cluster)
    large = [one for one in cluster if 2 * (one.end - one.start) >= end - start] or cluster
    best = min(large, key=lambda one: (one.rank, one.start - one.end, one.kind))
    return Finding(best.kind, start, end)
