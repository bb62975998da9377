"""What the machine or the sandbox does not have: programs, a network, sockets, a UTF-8 console.

These hold whatever the command was, so they are told once, in words of ours with the error
as it was printed. A program is missing when it stood where a program stands, was not found,
and never passed later; one that always fails alike and prints nothing is a stub.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from recollect.distill.finders.cleaning import cut
from recollect.distill.finders.steps import SYNTAX, CommandStep, passed, steps
from recollect.model.candidates import Candidate, CandidateKind, Failing
from recollect.model.record import CallRecord, SessionRecord
from recollect.reading.error_text import clean
from recollect.reading.quoting import is_plain_command

OUTPUT_CHARACTERS, SOFT_CHARACTERS = 6_000, 3_000
MOST_PROGRAMS = 8
# How often a program has to fail alike, without a word, before it is taken for a stub.
STUB_TIMES = 3

MISSING = re.compile(
    r"(?:^|\n)(?:[^\n]*?(?:ba|z"
    r"|da)?sh(?:\.exe)?:\s*(?:(?:line )?\d+:\s*)?)?([A-Za-z][\w.+-]*): (?:command )?not found"
    r"|command not found: ([\w.+-]+)|['\"]?([\w.+-]+)['\"]? is not recognized as an internal"
    r"|[Tt]he term '([\w.+\\/-]+)' is not recognized"
)
# What starts a program that is not on the path by itself.
_LAUNCHED = re.compile(
    r"(?:(?:(?:uv|poetry|pdm|hatch|pipenv) run|npx|bunx|pnpm exec|bundle exec"
    r"|python[\d.]* -m) ([\w.+-]+)"
    r"|\.?[\w.-]*/(?:[\w.-]+/)*([\w.+-]+))(?:\s|$)"
)
_INSTEAD = (("python", "python3"), ("python3", "python"), ("pip", "pip3"), ("pip3", "pip"))


class Lack(NamedTuple):
    """Something that the machine does not do, in which words it says so, and what to do.

    A pattern is sought only where one of the `words` stands: outputs are long.
    """

    name: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]
    text: str

    def find(self, output: str) -> str:
        """The words in which an output says so; empty where it does not."""
        for word in self.words:
            place = output.find(word)
            if place >= 0:
                start = output.rfind("\n", 0, place) + 1
                found = self.pattern.search(output, start)
                if found:
                    return found[0]
        return ""


LACKS = (
    Lack(
        "glob",
        ("no matches found: ",),
        re.compile(r"no matches found: \S*[\[(].*"),
        "zsh expands brackets and stars: quote such paths (`{}`)",
    ),
    Lack(
        "codec",
        ("codec can't encode",),
        re.compile(r"'(?:gbk|cp\d+|charmap|ascii)' codec can't encode .*", re.IGNORECASE),
        "The console here is not UTF-8, printing other characters fails: `{}`",
    ),
    Lack(
        "sockets",
        ("EPERM", "EACCES"),
        re.compile(r"(?:connect|listen|bind) (?:EPERM|EACCES) (?:127\.|localhost|0\.0|::1?)\S*"),
        "The sandbox blocks local sockets: `{}`",
    ),
    Lack(
        "network",
        (
            "EAI_AGAIN",
            "ENOTFOUND",
            "ENETUNREACH",
            "not resolve host",
            "not resolve proxy",
            "failure in name resolution",
        ),
        re.compile(
            r"\w.*\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH)\b.*"
            r"|(?:\w+: )*[Cc]ould not resolve (?:host|proxy).*"
            r"|(?:\w.*)?Temporary failure in name resolution.*"
        ),
        "No network in the sandbox: `{}`",
    ),
    Lack(
        "sudo",
        ("sudo: ",),
        re.compile(r"sudo: (?:no tty present|a (?:password|terminal) is required).*"),
        "`sudo` asks for a password, so the person has to run it: `{}`",
    ),
    Lack(
        "stub",
        ("Python was not found",),
        re.compile(r"Python was not found; run without arguments.*"),
        "`python3` is a stub of the Microsoft Store here: `{}`",
    ),
)


class _Seen(NamedTuple):
    """A program that was missed, or something that the machine lacks: where, and in which words."""

    name: str
    error: str
    command: str
    turn: str
    at: str
    session: str


class _Machine(NamedTuple):
    missing: dict[str, list[_Seen]]
    lacks: dict[str, list[_Seen]]
    silent: dict[str, list[_Seen]]
    worked: dict[str, str]
    """When each program last passed."""
    launched: dict[str, str]
    """How each program last passed that something else had to start, or that a path names."""


def find(sessions: Sequence[SessionRecord]) -> Iterator[Candidate]:
    """What a project's machine lacks, as far as its sessions met it."""
    machine = _look(sessions)
    yield from _missing(machine)
    yield from _stubs(machine)
    for lack in LACKS:
        seen = machine.lacks.get(lack.name)
        # What was refused and later went through is refused no more.
        if seen and machine.worked.get(lack.name, "") < seen[-1].at:
            yield _lack_line(lack, seen)


def _look(sessions: Sequence[SessionRecord]) -> _Machine:
    machine = _Machine(defaultdict(list), defaultdict(list), defaultdict(list), {}, {})
    for session in sessions:
        for turn, call in session.calls():
            if call.kind != "shell" or not call.target:
                continue
            line = steps(call.target, call.folder, session.folder)
            heads = _heads(line)
            for place, step in enumerate(line):
                if passed(call, line, place):
                    found = _LAUNCHED.match(step.text)
                    program = (found[1] or found[2]).lower() if found else ""
                    if found:
                        machine.launched[program] = found[0].strip()
                    # What a path names is still missed by its name alone.
                    if program != head(step.text):
                        machine.worked[head(step.text)] = turn.at
                    if "sudo " in step.text:
                        machine.worked["sudo"] = turn.at
            seen = [
                (machine.missing, program, error) for program, error in _missed(call, heads)
            ] or [(machine.lacks, name, error) for name, error in _lacked(call, line)]
            if call.failed and _is_silent(call) and line:
                last = line[-1].text.split("|")[-1]
                seen.append((machine.silent, f"{head(last)} {call.exit_code}", ""))
            for where, name, error in seen:
                command = line[-1].text if line else ""
                where[name].append(_Seen(name, error, command, turn.ref, turn.at, session.ref))
    return machine


def _heads(line: Iterable[CommandStep]) -> frozenset[str]:
    return frozenset(head(part) for step in line for part in step.text.split("|"))


def head(part: str) -> str:
    """The program of a step, or of one part of a pipeline, without its folder."""
    words = re.sub(r"^\s*(?:(?:sudo|time|timeout \S+|[A-Z_]\w*=\S*)\s+)+", "", part).split()
    return re.split(r"[/\\]", words[0].strip("\"'"))[-1].lower() if words else ""


def _missed(call: CallRecord, heads: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Programs that stand where a program stands, and are not there."""
    if not _may_tell(call) or ("not found" not in call.output and "not recogni" not in call.output):
        return
    for match in MISSING.finditer(call.output[:OUTPUT_CHARACTERS]):
        program = next(filter(None, match.groups())).lower()
        if program in heads and len(program) > 1 and program not in SYNTAX:
            yield program, match[0].strip()


def _lacked(call: CallRecord, line: Sequence[CommandStep]) -> Iterator[tuple[str, str]]:
    """What the machine lacks, in the words of an output."""
    if not _may_tell(call) or not line or (all(_only_reads(step) for step in line) and call.passed):
        return
    for lack in LACKS:
        if said := lack.find(call.output[:OUTPUT_CHARACTERS]):
            yield lack.name, cut(clean(said), 100)


def _may_tell(call: CallRecord) -> bool:
    """Whether an output tells of the run itself: a pipe may hide that it failed."""
    return not call.passed or len(call.output) < SOFT_CHARACTERS


def _only_reads(step: CommandStep) -> bool:
    return head(step.text) in (
        "cat",
        "sed",
        "grep",
        "rg",
        "head",
        "tail",
        "nl",
        "less",
        "ls",
        "find",
        "git",
        "echo",
        "get-content",
        "select-string",
    )


def _is_silent(call: CallRecord) -> bool:
    said = re.sub(r"Exit code -?\d+", "", call.output).strip()
    return not said and call.exit_code not in (None, 0, 1, 2, 124, 130, 137, 143)


def missing_key(program: str) -> str:
    """The key of the fact that a program is missing; the same in every project."""
    return f"missing {program}"


def worked(sessions: Sequence[SessionRecord]) -> dict[str, str]:
    """When each program last passed in a project."""
    return _look(sessions).worked


def _missing(machine: _Machine) -> Iterator[Candidate]:
    """The programs that are not there, those first that most sessions missed."""
    gone = [
        seen
        for program, seen in machine.missing.items()
        if machine.worked.get(program, "") < seen[-1].at
    ]
    gone.sort(key=lambda seen: (-len({one.session for one in seen}), seen[0].name))
    instead = {one: other for one, other in _INSTEAD if other in machine.worked}
    for seen in gone[:MOST_PROGRAMS]:
        program = seen[0].name
        text = f"`{program}` is not installed here (command not found)"
        failing: tuple[Failing, ...] = ()
        other = instead.get(program) or machine.launched.get(program)
        if other and is_plain_command(other):
            text += f"; use `{other}`"
            failing = (Failing(program, text, "program"),)
        strength = 2.2 + 0.2 * min(len({one.session for one in seen}), 4)
        yield _candidate(
            "missing", text, missing_key(program), seen[-1], strength, everywhere=True
        )._replace(failing=failing)


def _stubs(machine: _Machine) -> Iterator[Candidate]:
    for name, seen in machine.silent.items():
        program, _, code = name.partition(" ")
        if (
            len(seen) < STUB_TIMES
            or machine.worked.get(program, "") > seen[0].at
            or program in SYNTAX
        ):
            continue
        text = f"`{program}` fails here with exit code {code} and prints nothing"
        for one, other in _INSTEAD:
            if one == program and other in machine.worked:
                text += f": use `{other}`"
        yield _candidate("missing", text, f"stub {program}", seen[-1], 2.6, everywhere=True)


def _lack_line(lack: Lack, seen: Sequence[_Seen]) -> Candidate:
    newest = seen[-1]
    error = Counter(one.error for one in seen).most_common(1)[0][0]
    text = lack.text.format(error.replace("`", "'"))
    sessions = len({one.session for one in seen})
    strength = 1.7 + 0.2 * min(sessions, 4) + (0.2 if len(seen) > 1 else 0.0)
    return _candidate("failure", text, f"lack {lack.name}", newest, strength)


def _candidate(
    kind: CandidateKind, text: str, key: str, seen: _Seen, strength: float,
    *, everywhere: bool = False,
) -> Candidate:  # fmt: skip
    return Candidate(
        kind=kind,
        section="traps",
        category="constraint",
        text=text,
        key=key,
        trust="tool-verified",
        strength=strength,
        at=seen.at,
        turn=seen.turn,
        is_sure=True,
        everywhere=everywhere,
    )
