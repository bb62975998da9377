"""What an agent did that speaks for or against its own work: kept it, took it
back, gave up on it, ran out of time.

A commit, a merge or a pull request keeps work; `git restore` and its like take
it back. What the agent says counts only against itself: "all tests pass" is a
claim, "I could not get it to build" is believed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from recollect.model.calls import Call
from recollect.reading.programs import base
from recollect.reading.shell import pieces
from recollect.store.text import ends

Operation = Literal["kept", "reverted", "stashed", "unstashed"]

# git and the command lines of its hosts: the words after which work is kept.
_KEEPING = (
    ("git", "commit"), ("git", "push"), ("git", "merge"), ("git", "cherry-pick"), ("git", "am"),
    ("git", "tag"), ("jj", "commit"),
    ("hg", "commit"), ("gh", "pr", "create"), ("gh", "pr", "merge"), ("glab", "mr", "create"),
    ("glab", "mr", "merge"),
)  # fmt: skip
_KEEPERS = {keeping[0] for keeping in _KEEPING}
_NOTHING_KEPT = re.compile(
    r"nothing (?:added )?to commit|no changes added|Everything up-to-date|Already up to "
    r"date|CONFLICT \("
)
_SHOWS_KEPT = re.compile(
    r"^\[[^\]\n]+ [0-9a-f]{7,40}\] |^ +[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40} "
    r"|^ \* \[new (?:branch|tag)\]|^https://\S+/pull/\d+$|^Fast-forward$|^HEAD is now at ",
    re.MULTILINE,
)
_TIMED_OUT = re.compile(
    r"\b(?:command )?timed out\b|\btimeout (?:exceeded|expired|reached)\b", re.IGNORECASE
)
# Servers and watchers, which are stopped by whoever started them.
_RUNS_ON = re.compile(
    r"\b(?:dev|serve|server|start|watch|runserver|preview|storybook|up)\b|\btail "
    r"-f|--watch\b|--reload\b"
)
_TIMEOUT_CODES = (124, 142)
# The program is not there, was called wrongly, or wanted a network:
# the work was not checked at all.
_NOT_RUN_CODES = (126, 127)
_NOT_RUN = re.compile(
    r"command not found|No module named '?(?:pytest|mypy|ruff|tox|nox|unittest)|Missing "
    r"script:|not recognized as an internal"
    r"|[Cc]ould not resolve host|Network is unreachable|failure in name "
    r"resolution|getaddrinfo|failed to (?:fetch|download)"
    r"|no tests ran|collected 0 items|unrecognized arguments|No such file or directory: "
    r"'?\S*(?:pytest|tox|ruff)"
)
# Nobody let the agent run it, which says nothing about the work. In
# the words of the agents' programs.
_DENIED = re.compile(
    r"requires approval|haven't granted|user (?:doesn't want to proceed|rejected|denied)|rejected "
    r"by (?:the )?user"
    r"|^\S+ in .* was blocked"
)
# How much of the end of a reply is read: that is where agents say how it went.
_REPLY_CHARACTERS = 1_200
# Over a text in lower case: looking for either case takes several times as long.
_ADMITS = re.compile(
    r"""
      \bi\ (?:was\ not\ able|wasn['’]t\ able|was\ unable|am\ unable
          |haven['’]t\ been\ able|did\ not\ manage)\ to
      \ (?!run|test|verify|see|check)
    | \bi\ (?:could\ not|couldn['’]t)\ (?:fix|get|make|solve|resolve|find|complete
          |finish|reproduce|build|install|connect)\b
    | \bi['’]?(?:m|\ am)\ (?:stuck|out\ of\ ideas|giving\ up)\b | \bi\ (?:give|gave)\ up\b
    | (?<!if\ )\b(?:it|this|the\ (?:tests?|build|suite|error|problem
          |bug|deploy|migration))\ (?:(?:is|are)\ )?still
      \ (?:fails?|failing|broken|red)\b
    """,
    re.VERBOSE,
)
# Whatever these two find has one of these words: most replies have none,
# and are not looked through any further.
_ADMITTING = (
    "able to", "manage to", "could not", "couldn", "stuck", "out of ideas", "giving up", "give up",
    "gave up",
    "still fail", "still broken", "still red",
)  # fmt: skip
_FAILURES = re.compile(r"\b(\d+) (?:tests? )?(?:failed|failing|failures?|errors?)\b")
# What is asked for where a red check is the matter itself.
_MENDS = re.compile(
    r"\b(?:fix|repair|mend|fail\w*|red|green|broken?|breaks?|error\w*|bugs?|pass\w*|tests?|suite"
    r"|lint\w*|typ(?:es?|ing)|builds?|compil\w*"
    r"|ci|warning\w*|crash\w*|upgrad\w*|convert\w*|migrat\w*)\b"
)
_KEEPS = re.compile(
    r"\b(?:commit|push|merge|rebase|squash|tag|release|cherry-pick|pull request|pr)\b"
)
_TEST_FILE = re.compile(
    r"(?:^|[/_.-])(?:tests?|specs?|__tests__|e2e)(?:[/_.-]|$)|_(?:test|spec)\.\w+$"
)
# A search that finds nothing ends like a failure.
_SEARCHES = frozenset(
    {
        "grep",
        "egrep",
        "rg",
        "ag",
        "fd",
        "find",
        "diff",
        "cmp",
        "test",
        "[",
        "which",
        "type",
        "pgrep",
        "lsof",
    }
)


def operations_of(call: Call) -> Sequence[Operation]:
    """What a command did to the work as a whole, in order."""
    if call.kind != "shell" or not call.target or call.failed:
        return ()
    found = _operations_in(call.target)
    if not found:
        return found
    shown = ends(call.output)
    # Where the line hides how it ended, only what git itself says counts.
    if not call.passed and not _SHOWS_KEPT.search(shown):
        return ()
    return () if _NOTHING_KEPT.search(shown) else found


@lru_cache(4096)
def _operations_in(command: str) -> tuple[Operation, ...]:
    if not any(name in command for name in _KEEPERS):
        return ()
    found = [
        _operation([base(piece.words[0]), *piece.words[1:]])
        for piece in pieces(command)
        if piece.words
    ]
    return tuple(operation for operation in found if operation)


def _operation(words: list[str]) -> Operation | None:
    plain = [word for word in words if not word.startswith("-") or word == "--"]
    if any(tuple(plain[: len(keeping)]) == keeping for keeping in _KEEPING):
        return "kept" if not {"--dry-run", "--abort"} & set(words) else None
    if plain[:1] != ["git"] or len(plain) < 2:
        return None
    command, rest = plain[1], plain[2:]
    if command == "stash":
        return (
            "unstashed"
            if rest[:1] in (["pop"], ["apply"])
            else "stashed"
            if rest[:1] in ([], ["push"], ["save"])
            else None
        )
    discards = (
        (command == "checkout" and ("--" in rest or rest[:1] == ["."]))
        or (command == "restore" and not {"--staged", "-S"} & set(words))
        or (command == "reset" and "--hard" in words)
        or command == "revert"
    )
    return "reverted" if discards else None


def timed_out(call: Call) -> bool:
    """Whether a command was stopped because it took too long."""
    return call.ok is not True and (
        call.exit_code in _TIMEOUT_CODES or _TIMED_OUT.search(ends(call.output)) is not None
    )


def runs_on(call: Call) -> bool:
    """Whether a command is meant to run until it is stopped."""
    return _RUNS_ON.search(call.target or "") is not None


def did_not_run(call: Call) -> bool:
    """Whether a check failed because it could not begin."""
    return call.exit_code in _NOT_RUN_CODES or _NOT_RUN.search(ends(call.output)) is not None


def was_denied(call: Call) -> bool:
    """Whether a command failed only because it was not allowed."""
    return _DENIED.search(call.output[:400]) is not None


def found_nothing(call: Call) -> bool:
    """Whether a command failed only because it looked for something that is not there."""
    names = {base(word) for piece in pieces(call.target or "") for word in _programs(piece.words)}
    return call.exit_code in (1, None) and (
        bool(names & _SEARCHES) or any(name.startswith("Get-") for name in names)
    )


def _programs(words: list[str]) -> list[str]:
    """The program of a command, and the one that `xargs` runs for it."""
    return (
        words[:1]
        if words[:1] != ["xargs"]
        else [word for word in words if not word.startswith("-")][:2]
    )


def failures_of(call: Call) -> int | None:
    """How many failures a check told of."""
    found = _FAILURES.findall(ends(call.output))
    return max(map(int, found)) if found else None


def is_test_file(path: str) -> bool:
    """Whether a file holds tests: writing one that fails is no work gone wrong."""
    return _TEST_FILE.search(path.lower()) is not None


def asks_to_mend(prompt: str) -> bool:
    """Whether a check that fails may be what a task is about."""
    return _MENDS.search(prompt.lower()) is not None


def asks_to_keep(prompt: str) -> bool:
    """Whether a task is about a commit, a merge or a release itself."""
    return _KEEPS.search(prompt.lower()) is not None


def admits(reply: str) -> bool:
    """Whether the agent says that it did not manage."""
    return _says(reply, _ADMITS, _ADMITTING)


def _says(reply: str, pattern: re.Pattern[str], words: tuple[str, ...]) -> bool:
    end = _end_of(reply)
    for word in words:
        if word in end:
            return pattern.search(end) is not None
    return False


@lru_cache(2)
def _end_of(reply: str) -> str:
    return reply[-_REPLY_CHARACTERS:].lower()
