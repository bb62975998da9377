"""The fast engine: Hyperscan looks for triggers, RE2 confirms.

This is the only module that touches the two libraries, neither of which has
types. Compiling takes a while, so that it is done once in a process, and the
database is kept in a folder between processes; it depends on the table and on
the library's version, and anything odd about the kept copy means that we
compile again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from recollect.redact.rules import Match, Rule, SecretPattern

hyperscan: Any
re2: Any
try:
    hyperscan, re2 = import_module("hyperscan"), import_module("re2")
except ImportError:
    available = False
else:
    available = True


class _LatePattern:
    """A pattern that is compiled when something is first compared with it.

    There are four hundred, most logs have a use for none, and compiling all takes twice as long
    as starting Python.
    """

    __slots__ = ("_pattern", "match")

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self.match = self._first_match

    def _first_match(self, data: bytes, pos: int, endpos: int, /) -> Match | None:
        self.match = re2.compile(self._pattern.encode()).match
        return self.match(data, pos, endpos)


@cache
def compile_pattern(pattern: str) -> SecretPattern:
    """A pattern over bytes, matched in linear time."""
    return _LatePattern(pattern)


class HyperscanSearch:
    """Finds where the needles of rules may be worth a look."""

    def __init__(self, rules: Sequence[Rule], cache: Path | None) -> None:
        self._rules = rules
        self._cache = cache
        self._owners = [index for index, rule in enumerate(rules) for _ in rule.triggers]
        self._database: Any = None

    def places(self, data: bytes) -> dict[int, list[int]]:
        """For each rule by its index, the places of its needles before its triggers, in order."""
        if self._database is None:
            self._database = self._load()
        events: list[tuple[int, int]] = []

        def note(trigger: int, start: int, end: int, flags: int, context: object) -> None:
            events.append((trigger, end))

        self._database.scan(data, match_event_handler=note)
        places: dict[int, set[int]] = {}
        looked: dict[int, int] = {}
        for trigger, end in events:
            owner = self._owners[trigger]
            rule = self._rules[owner]
            # Two triggers close together share most of the stretch before them.
            low = max(0, end - rule.reach, looked.get(trigger, 0) - 16)
            looked[trigger] = end
            stretch = data[low:end].lower()
            found = places.setdefault(owner, set())
            for needle in rule.needles:
                at = stretch.find(needle)
                while at >= 0:
                    found.add(low + at)
                    at = stretch.find(needle, at + 1)
        return {owner: sorted(found) for owner, found in places.items()}

    def _load(self) -> Any:
        expressions = tuple(trigger.encode() for rule in self._rules for trigger in rule.triggers)
        if self._cache is None:
            return _opened(_compiled(expressions))
        named = b"\0".join([hyperscan.__version__.encode(), *expressions])
        kept = self._cache / f"redact-{hashlib.sha256(named).hexdigest()[:32]}.hs"
        database = _read(kept)
        if database is None:
            serialised = _compiled(expressions)
            database = _opened(serialised)
            _write(kept, serialised)
        return database


@cache
def _compiled(expressions: tuple[bytes, ...]) -> bytes:
    """A database, as bytes: every redactor opens one of its own."""
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=list(expressions),
        ids=list(range(len(expressions))),
        elements=len(expressions),
        flags=0,
    )
    serialised: bytes = hyperscan.dumpb(database)
    return serialised


def _opened(serialised: bytes) -> Any:
    database = hyperscan.loadb(serialised, hyperscan.HS_MODE_BLOCK)
    database.scratch = hyperscan.Scratch(database)
    return database


def _read(kept: Path) -> Any:
    """The database in a file, or None if there is none or it is damaged."""
    try:
        blob = kept.read_bytes()
        digest, serialised = blob[:32], blob[32:]
        if hashlib.sha256(serialised).digest() != digest:
            return None
        return _opened(serialised)
    except (OSError, hyperscan.error):
        return None


def _write(kept: Path, serialised: bytes) -> None:
    """Keep a database for the next process.

    A folder that cannot be written costs time, nothing else.
    """
    # Late: nearly every process finds it there.
    import tempfile

    try:
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=kept.parent, prefix=kept.name)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(serialised).digest() + serialised)
        Path(name).replace(kept)
    except OSError:
        Path(name).unlink(missing_ok=True)
