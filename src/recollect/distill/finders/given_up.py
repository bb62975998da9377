"""What a person said is not used here any more: `docker` after "server は docker を廃止".

A person's newer word is above what worked before: commands of a program that was given up are
not told, nor is what was concluded about them. "never npm" speaks of all that npm does, "never
npm install" of that alone. Whoever goes back to it in two later sessions has changed their mind.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from recollect.distill.finders.steps import form, passed, steps
from recollect.model.candidates import Candidate
from recollect.model.record import SessionRecord

# In so many later sessions it has to pass to be in use again.
BACK_SESSIONS = 2

_NOT = re.compile(
    r"(?:\b(?:never|not|no|don['’]?t|do not|stop|drop(?:ped|ping)?|instead of|rather than|without"
    r"|abandon(?:ed)?|avoid"
    r"|nicht|kein\w*|statt|anstatt|jamais|pas|au lieu de|plutôt que|nunca|no uses|en (?:vez"
    r"|lugar) de|não|em vez de|invece di|mai|niet|nooit"
    r"|in plaats van|nie|zamiast|bỏ|không dùng|ko dùng|đừng dùng|thay vì)|不用|不要用|不使用|别用"
    r"|不再用|不再使用"
    r"|废弃|弃用|не|вместо)"
    r"(?: (?:use|run|call|using|running|the|any|plain|more))*[\s`'\"「]*$",
    re.IGNORECASE,
)
_NOT_ANY_MORE = re.compile(
    r"[`'\"」]*\s*(?:(?:は|を|の利用は)?(?:廃止|不要|禁止|使わない|使用しない|やめ)|(?:ではなく"
    r"|じゃなく)|(?:已)?(?:废弃|弃用|停用)"
    r"|(?:is|was|has been|are) (?:dropped|gone|removed|deprecated|abandoned|no longer|not used)"
    r"|말고|대신)",
    re.IGNORECASE,
)
_SPAN = re.compile(r"`([^`]+)`")
_LISTED = re.compile(r"^(?:Checks|Tests)(?: in [^`]+)?: ")
# What a person says of these is about words, not about programs.
_WORDS = frozenset(("make", "just", "task", "act", "go", "test", "run", "build", "start", "file"))


class _Given(NamedTuple):
    """A program, or one of its subcommands, and when somebody gave it up."""

    form: str
    at: str


class GivenUp:
    """What the people of a project gave up, out of what was run there."""

    def __init__(self, said: Iterable[Candidate], sessions: Sequence[SessionRecord]) -> None:
        wishes = [one for one in said if one.kind in ("person", "note") and one.is_sure]
        runs = _runs(sessions) if any(map(_may_forbid, wishes)) else {}
        by_program: defaultdict[str, set[str]] = defaultdict(set)
        for name in runs:
            by_program[name.split()[0]].add(name)
        self._given = [
            given
            for one in wishes
            if _may_forbid(one)
            for given in _given_up(one, by_program)
            if sum(at > given.at for at in _of(given.form, runs)) < BACK_SESSIONS
        ]

    def names(self, command: str, at: str = "") -> bool:
        """Whether a command is of what was given up after it was run."""
        if not self._given:
            return False
        name = form(command) or command
        return any(
            at <= given.at and (name == given.form or name.startswith(f"{given.form} "))
            for given in self._given
        )

    def without(self, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        """Candidates without those that tell how to use it."""
        for one in candidates:
            if not self._given or one.kind in (
                "person",
                "answer",
                "instruction",
                "missing",
                "note",
            ):
                yield one
            elif (kept := self._kept(one)) is not None:
                yield kept

    def _kept(self, candidate: Candidate) -> Candidate | None:
        spans = _SPAN.findall(candidate.text)
        gone = [span for span in spans if self.names(span, candidate.at)]
        if not gone and not self.names(candidate.form, candidate.at):
            return candidate
        head = _LISTED.match(candidate.text)
        left = [span for span in spans if span not in gone]
        if head is None or not left:
            return None
        return candidate._replace(text=head[0] + ", ".join(f"`{span}`" for span in left))


def _may_forbid(one: Candidate) -> bool:
    return len(one.text) < 200


def _given_up(one: Candidate, by_program: dict[str, set[str]]) -> Iterator[_Given]:
    text = one.text
    for program, forms in by_program.items():
        if program in _WORDS:
            continue
        for match in re.finditer(rf"(?<![\w./-]){re.escape(program)}(?![\w/-]|\.\w)", text):
            rest = text[match.end() :]
            if not (_NOT.search(text[: match.start()]) or _NOT_ANY_MORE.match(rest)):
                continue
            longer = [name for name in forms if rest.startswith(name[len(program) :])]
            yield _Given(max(longer, key=len, default=program), one.at)


def _of(sought: str, runs: dict[str, list[str]]) -> Iterator[str]:
    for name, times in runs.items():
        if name == sought or name.startswith(f"{sought} "):
            yield from times


def _runs(sessions: Sequence[SessionRecord]) -> dict[str, list[str]]:
    """When each form passed, once a session."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for session in sessions:
        last: dict[str, str] = {}
        for turn, call in session.calls():
            if call.kind == "shell":
                line = steps(call.target, call.folder, session.folder)
                for place, step in enumerate(line):
                    if step.form and passed(call, line, place):
                        last[step.form] = turn.at
        for name, at in last.items():
            found[name].append(at)
    return found
