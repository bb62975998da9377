"""What tools proved about a project: which form of a command works, how work is checked, where files are, which versions it has.

Only exit codes prove something, and only where the line they come from is
simple enough to say of what. A note is composed by us from the command or the
path and from how it ended; what a tool printed is not quoted, except the
number that a program gives as its version.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recollect.distill.calls import Done
from recollect.model import Category
from recollect.reading.programs import base, launched, looks_only, program_of, shape_of
from recollect.reading.quoting import quoted_command, quoted_path
from recollect.reading.shell import grammar, pieces, told

# Another form is tried at once, or not because of the failure.
CALLS_AFTER = 6
MOST_CHARACTERS = 100
# Of one session, those that were run most.
MOST_USUAL = 4

NOT_FOUND, NOT_EXECUTABLE = 127, 126
CONFIDENCE = 0.8

# What is said when the form of a command is wrong, and not the work it does.
_WRONG_FORM = (
    "command not found", "no module named", "not recognized", "unrecognized", "unknown option", "unknown command",
    "unknown flag", "invalid option", "illegal option", "no such option", "unexpected argument", "missing script",
    "no such command", "is not installed", "requires an argument", "unknown or unexpected option", "cannot find module",
)  # fmt: skip
_MISSING = ("no such file or directory", "does not exist", "not found", "enoent", "cannot find the path")
_OWN = "recollect"
_FORMATTERS = frozenset(("fmt", "format", "black", "gofmt", "prettier", "rustfmt"))
# Programs whose version decides how code for them is written.
_VERSIONED = {
    "python": "Python", "python3": "Python", "node": "Node", "npm": "npm", "pnpm": "pnpm", "yarn": "Yarn", "bun": "Bun",
    "deno": "Deno", "go": "Go", "rustc": "Rust", "cargo": "Cargo", "java": "Java", "ruby": "Ruby", "php": "PHP", "swift": "Swift",
    "dotnet": ".NET", "uv": "uv", "poetry": "Poetry", "terraform": "Terraform", "gcc": "GCC", "clang": "Clang", "cmake": "CMake",
    "psql": "PostgreSQL", "docker": "Docker", "kubectl": "kubectl",
}  # fmt: skip
_ASKING_VERSION = (["--version"], ["-V"], ["-v"], ["version"])
_VERSION = re.compile(r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)?)(?![\w.])")
_PROGRAM = re.compile(r"[a-z][\w.+-]{1,30}")
# What checks one file or one test, or nothing, or repairs instead of checking.
_NOT_ALL = re.compile(
    r"""::|\.[a-z]{1,4}$
      |^--(?:markers|collect-only|co|list\S*|fixtures|no-run|dry-run|init|showConfig|cache-clear|fix|write|update\S*|unsafe)$""",
    re.VERBOSE,
)
# How a line only shows or cuts what the command before it says.
_SHOWING = re.compile(r"\s*(?:2>&1)?\s*(?:\|\s*(?:tail|head)(?:\s+-\S+|\s+\d+)*|&&\s*echo\s[^&|;]*)?\s*$")
# What differs from run to run, or names one place only: nothing of such a command holds tomorrow.
_PASSING = re.compile(
    r"""/tmp/|/var/folders|\$\(|\$\{?\w|[*?]|\b[0-9a-f]{7,40}\b|\blocalhost:|<<|\b\d{4}-\d\d-\d\d\b|\bkill\b|…
      |(?<![\w.])/(?!dev/)\w|~/""",
    re.VERBOSE,
)


class Proven(NamedTuple):
    """What was proved, and by which call."""

    category: Category
    text: str
    call: Done


def proven(calls: Sequence[Done]) -> Iterator[Proven]:
    """What the calls of a session prove."""
    forms = list(_other_forms(calls))
    yield from forms
    yield from _missing_programs(calls)
    yield from _usual(calls, known={_command(form.call) or "" for form in forms})
    yield from _places(calls)
    yield from _versions(calls)


def _other_forms(calls: Sequence[Done]) -> Iterator[Proven]:
    """Commands that failed because of their form, and the form that worked right afterwards, nothing changed in between."""
    passed = {_form(call) for call in calls if _only_command(call) and _passed(call)}
    for index, failed in enumerate(calls):
        if _only_command(failed) is None or failed.ok is not False or not _is_form(failed) or _form(failed) in passed:
            continue
        for later in calls[index + 1 : index + 1 + CALLS_AFTER]:
            if _only_command(later) and _passed(later) and _is_other_form(failed, later):
                bad, good = _command(failed), _command(later)
                if bad and good:
                    yield Proven("pattern", f"Run `{good}` here: `{bad}` fails{_code(failed)}", later)
                break
            if later.weight and later.ok is not False:
                # It may have put right, or installed, what was missing.
                break


def _is_form(failed: Done) -> bool:
    if failed.exit_code in (NOT_FOUND, NOT_EXECUTABLE):
        return True
    said = failed.output[-2_000:].lower()
    return any(words in said for words in _WRONG_FORM)


def _is_other_form(failed: Done, later: Done) -> bool:
    """The same program started otherwise or with other options, or another program with the same arguments."""
    tried, words = failed.main[0][1], later.main[0][1]
    alike = program_of(words) == program_of(tried) or (len(tried) > 1 and words[-len(tried) + 1 :] == tried[1:])
    return alike and _form(failed) != _form(later)


def _form(call: Done) -> tuple[str, str]:
    """What stands before a command on its line (variables, folders, what is sourced), and the shape of its use."""
    words = call.main[0][1]
    start = launched(words) % len(words)
    before = (call.target or "").partition(words[0])[0]
    return before, shape_of(words, start, [base(words[start])])


def _missing_programs(calls: Sequence[Done]) -> Iterator[Proven]:
    """Programs that the shell did not find, whenever they were called."""
    found: dict[str, Done] = {}
    for call in calls:
        words = _only_command(call)
        program = words[0] if words else ""
        if _PROGRAM.fullmatch(program) and call.exit_code == NOT_FOUND:
            found.setdefault(program, call)
        elif program in found and call.ok:
            del found[program]
    for program, call in found.items():
        yield Proven("project", f"`{program}` is not installed here (exit {NOT_FOUND})", call)


def _usual(calls: Sequence[Done], known: set[str]) -> Iterator[Proven]:
    """How the whole project is checked and formatted: what passed, each program as it was run most often and most simply."""
    passes: dict[tuple[str, ...], list[str]] = {}
    first: dict[str, Done] = {}
    for call in calls:
        words = _only_command(call)
        command = _command(call) if words and _passed(call) and (call.check or _formats(words)) else None
        if words and command and not any(_NOT_ALL.search(word) for word in words):
            passes.setdefault(_what_runs(words), []).append(command)
            first.setdefault(command, call)
    for commands in sorted(passes.values(), key=len, reverse=True)[:MOST_USUAL]:
        best = min(commands, key=lambda command: (-commands.count(command), len(command)))
        if best not in known:
            verb = "check work" if first[best].check else "format code"
            yield Proven("project", f"To {verb} here, run `{best}`", first[best])


def _formats(words: list[str]) -> bool:
    return bool(_FORMATTERS.intersection(_what_runs(words)))


def _what_runs(words: list[str]) -> tuple[str, ...]:
    """A program with its subcommand, and the script that it runs: `npm run lint` and `npm run test` are two checks."""
    program = program_of(words)
    after = words.index("run") + 1 if program[1:] == ("run",) else len(words)
    return (*program, *words[after : after + 1])


def _places(calls: Sequence[Done]) -> Iterator[Proven]:
    """Files that were looked for where they are not, and then found."""
    missing: dict[str, tuple[str, int]] = {}
    for index, call in enumerate(calls):
        if call.kind != "read" or not call.target or ", " in call.target:
            continue
        name = os.path.basename(call.target)
        if call.ok is False and any(words in call.output[:500].lower() for words in _MISSING):
            missing[name] = call.target, index
        elif call.ok and name in missing:
            wrong, at = missing.pop(name)
            shown, instead = quoted_path(call.target, MOST_CHARACTERS), quoted_path(wrong, MOST_CHARACTERS)
            created = any(one.kind == "edit" and name in (one.target or "") for one in calls[at:index])
            if wrong != call.target and not created and "…" not in shown + instead:
                yield Proven("project", f"`{name}` is at `{shown}`, not at `{instead}`", call)


def _versions(calls: Sequence[Done]) -> Iterator[Proven]:
    """What programs gave as their version, the last answer of each."""
    found: dict[str, Proven] = {}
    for call in calls:
        words = _only_command(call)
        if words is None or not _passed(call):
            continue
        start = launched(words)
        program = base(words[start]) if start < len(words) else ""
        if program in _VERSIONED and words[start + 1 :] in _ASKING_VERSION and (version := _VERSION.search(call.output[:300])):
            where = "" if words[start] == program and not start else f" (`{' '.join(words[: start + 1])}`)"
            found[_VERSIONED[program]] = Proven("project", f"{_VERSIONED[program]} here is version {version[1]}{where}", call)
    yield from found.values()


def _only_command(call: Done) -> list[str] | None:
    """The words of a line that runs one command that matters."""
    if call.kind != "shell" or not call.target or len(call.main) != 1:
        return None
    words = call.main[0][1]
    return None if base(words[0]) == _OWN else words


def _passed(call: Done) -> bool:
    if call.ok is not True or not call.target or grammar(call.target):
        return False
    return told(True, pieces(call.target), call.main[0][0]) is True


def _command(call: Done) -> str | None:
    """A line as a note may quote it: whole, short, and with nothing in it that only held then.

    Variables, folders and what is sourced before a command belong to it.
    """
    line = " ".join(_SHOWING.sub("", call.target or "").split())
    piece = pieces(call.target or "")[call.main[0][0]]
    if looks_only(piece) or _PASSING.search(line) or quoted_command(line, MOST_CHARACTERS) != line:
        return None
    return line.removeprefix("(").removesuffix(")") if line.startswith("(") and line.count("(") == 1 else line


def _code(failed: Done) -> str:
    return "" if failed.exit_code is None else f" (exit {failed.exit_code})"
