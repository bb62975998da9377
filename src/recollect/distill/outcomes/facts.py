"""What a log tells of how work went, in numbers that `odds` weighs.

Counts are taken as logarithms: the tenth failed command says less than the first.
All of it is about the work itself; what people say is heard in `talk`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log1p
from typing import TYPE_CHECKING, NamedTuple

from recollect.store.text import ends

if TYPE_CHECKING:
    from recollect.distill.tasks.actions import Action

_TEST_RUNNERS = re.compile(
    r"\b(?:pytest|unittest|runtests|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest|nextest|bin/test"
    r"|(?:go|cargo|npm|pnpm|yarn|bun|deno|mvn|gradle|gradlew|dotnet|swift|mix|make|just|flutter)"
    r" (?:run )?test)\b"
)
_TESTS_PASSED = re.compile(r"\b(\d+) passed\b|\bRan (\d+) tests?\b|\bTests?: +(\d+) passed")
_FETCHES = re.compile(r"\b(?:curl|wget|git clone|scp|rsync)\b")
_INSTALLS = re.compile(
    r"\b(?:apt|apt-get|pip3?|npm|pnpm|yarn|conda|apk|brew|dnf|gem|cargo)\s+(?:-\S+\s+)*"
    r"(?:install|add)\b|\buv (?:pip|add)\b"
)
# Tools of other programs whose names say that they change something.
_CHANGING_TOOL = re.compile(
    r"(?:^|[._])(?:add|book|buy|cancel|close|create|delete|edit|exchange|modify|move|pay|post|put"
    r"|remove|rename|return|send|set|update|write)(?:_|$|[A-Z])"
)
# An agent that doubts what it did, in its own words. In lower case; whatever it finds
# has one of the words before it, and most replies have none.
# What an agent says that doubts what it did. A form is looked for only where one of its
# words stands: replies are long, and most have none.
_DOUBTS = tuple(
    (words, re.compile(form))
    for words, form in (
        (
            ("wait", "hmm", "oops", "actually", "no,"),
            r"(?:^|[.!?\n] *)(?:wait\b|hmm|oops|actually,|no,)",
        ),
        (
            ("mistake", "missed", "forgot", "overlooked", "misread", "misunderstood"),
            r"\bi (?:made a mistake|missed|forgot|overlooked|misread|misunderstood)\b",
        ),
        (("mistake", "my previous", "my earlier"), r"\bmy (?:mistake|previous|earlier)\b"),
        (("still ",), r"\bstill (?:fail|not|see|get|broken|doesn|isn)"),
        (
            (" work", " help", " apply"),
            r"\b(?:didn['’]?t|did not|doesn['’]?t|does not) (?:work|help|apply)\b",
        ),
        (
            ("strange", "weird", "unexpected", "surprising", "incorrect"),
            r"\b(?:strange|weird|unexpected|surprising|incorrect)(?:ly)?\b",
        ),
        (("try a",), r"\btry (?:a different|another)\b"),
    )
)
LAST_REPLIES = 6


class Facts(NamedTuple):
    """Counts are logarithms, the others 0 or 1; `odds` says what each speaks for."""

    failures: float = 0
    late_doubts: float = 0
    scripts: float = 0
    tests_passed: float = 0
    fetches: float = 0
    installs: float = 0
    tool_changes: float = 0
    only_talk: float = 0
    ran_tests: float = 0
    ran_again: float = 0
    check_fixed: float = 0
    check_failed: float = 0
    ran_well: float = 0


def facts_of(replies: Sequence[str], actions: Sequence[Action]) -> Facts:
    """The facts of a task: what the agent said and what it did, in order."""
    shell = [one for one in actions if one.call.kind == "shell"]
    commands = [one.call.target for one in shell]
    changed = [place for place, one in enumerate(actions) if one.changes]
    last = changed[-1] if changed else -1
    after = [one for one in actions[last + 1 :] if one.call.kind == "shell" and one.weight]
    failed = {
        one.call.target
        for one in actions[: max(last, 0)]
        if one.call.kind == "shell" and one.call.failed
    }
    checks = [one for one in after if one.check]
    return Facts(
        failures=log1p(sum(one.call.failed and one.weight > 0 for one in shell)),
        late_doubts=log1p(sum(map(_has_doubts, replies[-LAST_REPLIES:]))),
        scripts=log1p(sum("<<" in command for command in commands)),
        tests_passed=log1p(
            max((_tests_passed(one.call.output) for one in checks if one.call.ok), default=0)
        ),
        fetches=log1p(sum(_FETCHES.search(command) is not None for command in commands)),
        installs=log1p(sum(_INSTALLS.search(command) is not None for command in commands)),
        tool_changes=log1p(sum(map(_changes_elsewhere, actions))),
        only_talk=float(not shell and not changed),
        ran_tests=float(any(map(_TEST_RUNNERS.search, commands))),
        ran_again=log1p(_ran_again(shell)),
        check_fixed=float(any(one.call.ok and one.call.target in failed for one in shell)),
        check_failed=float(bool(checks) and checks[-1].call.failed),
        ran_well=float(bool(after) and after[-1].call.passed),
    )


def _ran_again(shell: Sequence[Action]) -> int:
    """How many commands passed that had been run before."""
    seen: set[str] = set()
    again = 0
    for one in shell:
        again += one.call.target in seen and not one.call.failed
        seen.add(one.call.target)
    return again


def _changes_elsewhere(action: Action) -> bool:
    call = action.call
    return call.kind == "mcp" and _CHANGING_TOOL.search(call.target or call.name) is not None


def _tests_passed(output: str) -> int:
    """How many tests passed, as the end of an output has it."""
    found = _TESTS_PASSED.findall(ends(output))
    return max((int(next(filter(None, counts))) for counts in found), default=0)


def _has_doubts(reply: str) -> bool:
    text = reply.lower()
    return any(form.search(text) for words, form in _DOUBTS if any(word in text for word in words))
