"""Error text made comparable: the lines that say what went wrong, and their shape.

Two runs of the same failure differ in paths, times, addresses and counts. The
*shape* of a line has those replaced and keeps every word, name and code, so
`No module named 'yaml'` and `No module named 'toml'` stay two errors.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from recollect.store.text import ends

# Of one output: the first lines that tell something, and the last.
TELLING_LINES = 12
LINE_CHARACTERS = 400

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_TAGS = re.compile(r"</?\w*error>")
# Plain words, because looking for each of them is ten times faster than one pattern of all.
_TELLING = (
    "error", "exception", "fail", "fatal", "panic", "denied", "refused", "cannot", "can't",
    "could not", "couldn't", "unable",
    "invalid", "undefined", "unresolved", "unexpected", "unknown ", "not found", "not defined",
    "not permitted", "not allowed",
    "not set", "not supported", "not installed", "not compatible", "no such", "no module",
    "no space", "missing",
    "already in use", "already exists", "timed out", "timeout", "abort", "conflict", "illegal",
    "killed", "segmentation",
    "does not", "doesn't", "did not", "didn't", "overloaded", "unauthorized", "forbidden",
    "too many", "exceeded", "broken pipe",
    "deadlock", "systemexit", "interrupt",
)  # fmt: skip
# Lines with such words that do not say what went wrong: frames, counts, progress, a person's no.
_DULL = re.compile(
    r"""
      Exit\ code\ -?\d+ | Traceback\b.* | =+\ .* | [-_=~^.\s]+
    | File\ ".*",\ line\ \d+.* | at\ \S+.* | \S*:\d+:\ in\ .*
    | (?:.*\s)?\d+\ (?:failed|passed|errors?|warnings?|tests?)(?=[,\s(]|$).*
    | .*\bPASSED\b.* | [✓✔].*
    | (?:Test\ Files|Tests|Summary)\b.* | Found\ \d+\ errors?.*
    | .*\b(?:user\ doesn't\ want|by\ user\b|requires?\ approval|haven't\ granted).*
    | \d+\ *[|].* | [|].*
    | ImportError\ while\ importing\ test\ module.* | failed\ in\ sandbox\ .*
    | For\ more\ information.* | npm\ error\ (?:A\ complete\ log|code).*
    | (?:error|failed|failure|npm\ error)[:!.]?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NAMED = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning|Failure)\b")
# That a word begins there is asked after its letter: a pattern whose branches begin
# with characters is sought much faster.
_CODE = re.compile(r"(?:E(?<!\wE)|TS(?<!\wTS)|F(?<!\wF)|W(?<!\wW)|C(?<!\wC))\d{3,5}\b")

_URL = r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>)\]]+"
_TIME = (
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:Z| ?[+-]\d\d:?\d\d)?\b"
    r"|\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b"
)
_UUID = r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
_HASH = r"\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"
_PATH = (
    r"(?:[A-Za-z]:\\|~?/|\.{1,2}/)[^\s'\"`:;,()\[\]<>|]*[^\s'\"`:;,()\[\]<>|.]"
    r"|\b[\w.@+-]+(?:[/\\][\w.@+-]+)+"
)
_PLACE = r"(?<=§path)(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\))"
# `main.py:12:5` is a path too, when a line number says so; E501 and utf8 are names.
_FILE = r"\b[\w-]+\.[A-Za-z]{1,5}(?=:\d|\(\d)"
_NUMBER = r"(?<![\w.])v?[-+]?\d[\d,]*(?:\.\d+)*(?:ms|s|m|h|x|%|[kKMG]i?B?|B)?(?![\w])"
_STEPS = [
    (re.compile(_URL, re.IGNORECASE), "§url"),
    (re.compile(_UUID, re.IGNORECASE), "§id"),
    (re.compile(_TIME), "§time"),
    (re.compile(_PATH), "§path"),
    (re.compile(_FILE), "§path"),
    (re.compile(_PLACE), ""),
    (re.compile(_HASH, re.IGNORECASE), "§hex"),
    (re.compile(_NUMBER), "§n"),
]
# What a build or a test runner puts before every line, and an agent before the first.
_MARGIN = re.compile(r"^(?:#\d+ \d+\.\d+ |\[[^\]]{1,60}\] \| |E (?=\S)|Output: (?=\S))")
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": "'", "”": "'", '"': "'", "`": "'", "´": "'"})
_QUOTED = re.compile(r"'[^']+'")
_HOLE = re.compile(r"§\w+")
_WORD = re.compile(r"[^\W\d_]{2,}")


def clean(line: str) -> str:
    """A line without colours, tags around it, the margin of what printed
    it, and more than one space in a row.
    """
    line = _ESCAPES.sub("", line) if "\x1b" in line else line
    return _MARGIN.sub("", " ".join(_TAGS.sub("", line).split()))[:LINE_CHARACTERS]


@lru_cache(8192)
def shape(line: str) -> str:
    """A line with what differs from run to run replaced: `:12:5`,
    `/tmp/x1`, `0x7f`, `3.2s` and their like.
    """
    text = clean(line).translate(_QUOTES)
    for pattern, name in _STEPS:
        text = pattern.sub(name, text)
    return text.lower().strip(" .:-")


def without_names(shaped: str) -> str:
    """A shape with what stands in quotes left open: the same error about something else."""
    return _QUOTED.sub("'§name'", shaped)


def error_lines(text: str) -> list[str]:
    """The lines of an output that say what went wrong; its last line when none does.

    Only both ends of a long output are read, as in the text index.
    """
    text = ends(text)
    found: list[str] = []
    if tells(text):
        found = [
            line
            for raw in text.splitlines()
            if tells(raw) and (line := clean(raw)) and not is_dull(line)
        ]
    if not found:
        lines = (clean(raw) for raw in reversed(text.splitlines()))
        return list(islice((line for line in lines if line and not is_dull(line)), 1))
    found = list(dict.fromkeys(found))
    half = TELLING_LINES // 2
    return found if len(found) <= TELLING_LINES else found[:half] + found[-half:]


def is_dull(line: str) -> bool:
    """Whether a line says nothing among others: a frame, a count, an exit code."""
    return _DULL.fullmatch(line) is not None


def tells(text: str) -> bool:
    """Whether a text has a word or a code that errors have."""
    lowered = text.lower()
    return any(word in lowered for word in _TELLING) or _CODE.search(text) is not None


def headline(lines: list[str]) -> str | None:
    """The line of an output that names the error best: an exception or a
    code, else the first of `error_lines`.
    """
    return next(
        (line for line in lines if _NAMED.match(line) or _CODE.search(line)),
        lines[0] if lines else None,
    )


def telling(shaped: str) -> bool:
    """Whether a shape has words enough to be told from any other failure."""
    return len(_words(shaped)) >= 2


def longest_word(shaped: str) -> str:
    """A word that every line of this shape holds, in lower case; empty when it has none."""
    return max(_words(shaped), key=len, default="")


def _words(shaped: str) -> list[str]:
    """The words of a shape that no replacement stands for."""
    return _WORD.findall(_HOLE.sub(" ", shaped))
