"""What sort of error a failed step met, in words of ours.

An error's own text is somebody else's: it may be long, differ from run to run,
or say what it should not. So a class is the name of an exception, a code of a
compiler or a linter, or one of a table of phrases; to the few that are nothing
without it belongs the name that was missing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from recollect.reading.error_text import error_lines
from recollect.store.text import ends

# What a test that fails has to say, and what nobody can tell more
# about: no news, wherever it is met.
UNKNOWN = "failed"
ORDINARY = frozenset({"AssertionError", "failing tests", UNKNOWN, "timed out", "interrupted"})
EXIT_CODE = "exit code "

_NAME = r"['\"`]?(@?[A-Za-z0-9_][\w./@-]{0,39})"
# What says it, and the class; a group is the name that belongs to it.
_PHRASES: list[tuple[str, str]] = [
    (r"No module named " + _NAME, "no module named"),
    (r"Cannot find module " + _NAME, "cannot find module"),
    (r"command not found: " + _NAME, "command not found"),
    (r"(?:^|[\s:])" + _NAME + r"['\"`]?: (?:command )?not found", "command not found"),
    (r"Missing script: " + _NAME, "missing script"),
    (r"No rule to make target " + _NAME, "no rule to make target"),
    (r"unrecognized arguments?|unknown (?:option|flag|argument)|no such option|(?:invalid|illegal) "
     r"option|unexpected argument",
     "unknown option"),
    (r"(?:unknown|no such|invalid|unrecognized) (?:sub)?command", "unknown command"),
    (r"String to replace not found|old_string not found|Failed to find (?:expected "
     r"lines|context)|verification failed",
     "the text to change is not there"),
    (r"File has not been read yet|must (?:first )?(?:be )?read", "the file was not read before"),
    (r"modified since (?:it was )?(?:last )?read|changed (?:on disk )?since",
    "the file was changed meanwhile"),
    (r"Found \d+ matches of the string|is not unique|multiple matches",
    "the text to change is there more than once"),
    (r"not a git repository", "not a git repository"),
    (r"CONFLICT \(|merge conflict|conflicting changes", "merge conflict"),
    (r"pathspec .* did not match", "no such path in git"),
    (r"non-fast-forward|fetch first|\[(?:remote )?rejected\]", "push was rejected"),
    (r"address already in use|EADDRINUSE|port is already allocated", "port in use"),
    (r"connection refused|ECONNREFUSED", "connection refused"),
    (r"could not resolve host|name resolution|ENOTFOUND|getaddrinfo|network is unreachable",
    "no network"),
    (r"cannot connect to the docker daemon", "docker does not run"),
    (r"no space left on device|ENOSPC", "disk full"),
    (r"out of memory|heap limit|oom-?kill", "out of memory"),
    (r"permission denied|EACCES|operation not permitted|EPERM", "permission denied"),
    (r"read-only file system", "read-only file system"),
    (r"authentication failed|unauthorized|\b401\b|invalid credentials|could not read Username",
    "not logged in"),
    (r"\b403\b|forbidden", "forbidden"),
    (r"rate limit|too many requests|\b429\b", "too many requests"),
    (r"externally[- ]managed", "externally managed environment"),
    (r"ERESOLVE|could not resolve dependency|conflicting dependencies|No matching distribution",
    "dependencies do not fit"),
    (r"lock(?:ed)? by|could not (?:get|acquire).* lock|\.lock'?: File exists|state lock|database "
     r"is locked",
     "locked by another process"),
    (r"no such file or directory|ENOENT|cannot find the (?:file|path)|does not exist",
    "no such file"),
    (r"is a directory|EISDIR", "it is a folder"),
    (r"already exists|EEXIST", "it exists already"),
    (r"syntax error|parse error|unexpected token|unexpected EOF", "syntax error"),
    (r"linker|undefined reference|undefined symbol", "linking failed"),
    (r"segmentation fault|core dumped", "crashed"),
    (r"timed? ?out", "timed out"),
]  # fmt: skip
_RULES = [(re.compile(pattern, re.IGNORECASE), name) for pattern, name in _PHRASES]
_EXCEPTION = re.compile(
    r"(?:^|[\s.:(])([A-Z][A-Za-z0-9]{2,38}(?:Error|Exception|Failure|Interrupt))\b"
)
_CODE = re.compile(
    r"\berror\[(E\d{3,5})\]|\b(TS\d{4,5})\b|\b((?:E|F|W|C|B|I|N|UP|SIM|RUF|PL[A-Z])\d{3,4})\b(?= )"
)
_DECLINED = re.compile(
    r"user doesn['’]t want|rejected by user|declined by|denied by the user|requires? "
    r"approval|haven['’]t granted"
    r"|permission to use .* denied|aborted by user|user (?:rejected|denied|declined)"
)
# The lines that count failures are no error lines, and tell this all the same.
_FAILING_TESTS = re.compile(
    r"\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?)\b|^FAIL\b|--- FAIL", re.MULTILINE
)
_CODES = {
    126: "permission denied",
    127: "command not found",
    124: "timed out",
    130: "interrupted",
    137: "killed",
    139: "crashed",
}
# The more of these a line is, the less it can be anything else.
_FIRST = 6


@lru_cache(4_096)
def error_class(output: str, exit_code: int | None = None) -> str:
    """What a failed step met; UNKNOWN when nothing tells."""
    text = ends(output)
    lines = error_lines(text)
    for pattern, name in _RULES[:_FIRST]:
        for line in lines:
            if match := pattern.search(line):
                return f"{name} {match[1]}".rstrip(".")
    if exit_code in _CODES:
        return _CODES[exit_code]
    for line in lines:
        if match := _EXCEPTION.search(line):
            return str(match[1])
    for pattern, name in _RULES[_FIRST:]:
        if any(pattern.search(line) for line in lines):
            return name
    codes = [next(filter(None, match.groups())) for line in lines for match in _CODE.finditer(line)]
    # Of many findings none is the error; of one, its code is.
    if codes and len(set(codes)) == 1:
        return str(codes[0])
    if _FAILING_TESTS.search(text):
        return "failing tests"
    return UNKNOWN if exit_code in (None, 0, 1) else f"{EXIT_CODE}{exit_code:d}"


def tells_much(error: str) -> bool:
    """Whether a class says what went wrong, and not only that something did."""
    return error not in ORDINARY and not error.startswith(EXIT_CODE)


def is_declined(output: str) -> bool:
    """Whether a person, or a rule of theirs, kept a step from being done."""
    lowered = output[:2_000].lower()
    # Looking for a few words is far quicker than for all of the phrases,
    # and most outputs have none of them.
    may_be = (
        "user" in lowered
        or "approval" in lowered
        or "granted" in lowered
        or "denied" in lowered
        or "declined" in lowered
    )
    return may_be and _DECLINED.search(lowered) is not None
