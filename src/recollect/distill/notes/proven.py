"""What tools proved about a project: which form of a command works, what is
missing, where files are, which versions it has.

Only exit codes prove something, and only where the line they come from is
simple enough to say of what. A note is composed by us from the command or the
path and from how it ended; what a tool printed is not quoted, except the
number that a program gives as its version.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from recollect.distill.notes.plain_lines import MOST_CHARACTERS, only_command, passed, quotable
from recollect.distill.notes.usual import usual
from recollect.distill.tasks.calls import Done
from recollect.model.notes import Category
from recollect.reading.programs import base, launched, looks_only, names, program_of, shape_of
from recollect.reading.quoting import quoted_path
from recollect.reading.shell import pieces

# Another form is tried at once, or not because of the failure.
CALLS_AFTER = 6
NOT_FOUND, NOT_EXECUTABLE = 127, 126
CONFIDENCE = 0.8

# What is said when a command cannot be run as it stands, whatever the work it does.
_WRONG_FORM = (
    "command not found", "no module named", "not recognized as", "unknown command",
    "missing script", "no such command",
    "is not installed", "cannot find module", "could not find `cargo.toml`", "no makefile found",
    "no rule to make target",
    "could not read package.json", "no package.json", "no configuration file provided",
)  # fmt: skip
# One in place of the other is another form of the same command.
_ALIKE = (names("npm pnpm yarn bun"), names("python python3 py"), names("pip pip3"))
_NO_OPTION = re.compile(
    r"(?:unknown|unrecognized|unexpected|invalid|no such|bad|illegal)(?: \w+){0,2}? "
    r"(?:option|flag|argument|parameter)s?:?\s*"
    r"['\"`]?(--?[A-Za-z][\w-]*)",
    re.IGNORECASE,
)
# The words that name a command and its subcommands, without what they work on.
_NAMING = re.compile(r"[a-z]+")
_INTERPRETERS = names("python python3 node bun deno ruby php perl bash sh")
_MISSING = (
    "no such file or directory",
    "does not exist",
    "not found",
    "enoent",
    "cannot find the path",
)
# Files that a project may have many of.
_COMMON = names(
    "index page types utils config state settings main mod __init__ readme package route layout "
    "app test conftest"
)
# Folders of tools, not of the project.
_TOOLS_OWN = re.compile(r"/\.(?!github/)\w[^/]*/")
# Programs whose version decides how code for them is written.
_VERSIONED = {
    "python": "Python", "python3": "Python", "node": "Node", "bun": "Bun", "deno": "Deno",
    "go": "Go", "rustc": "Rust",
    "java": "Java", "ruby": "Ruby", "php": "PHP", "swift": "Swift", "dotnet": ".NET",
    "psql": "PostgreSQL",
}  # fmt: skip
_ASKING_VERSION = (["--version"], ["-V"], ["-v"], ["version"])
_VERSION = re.compile(r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)?)(?![\w.])")
_PROGRAM = re.compile(r"[a-z][\w+-]{1,30}")


class Proven(NamedTuple):
    """What was proved, and by which call."""

    category: Category
    text: str
    call: Done


def proven(calls: Sequence[Done], projects: Mapping[str, str | None]) -> Iterator[Proven]:
    """What the calls of a session prove; `projects` are those of the turns they were made in."""
    lines = [call for call in calls if only_command(call)]
    forms = list(_other_forms(calls, lines))
    yield from (form for form, _ in forms)
    yield from _wrong_options(lines)
    yield from _missing_programs(lines, known={tried for _, tried in forms})
    for text, call in usual(lines, known={quotable(form.call) or "" for form, _ in forms}):
        yield Proven("project", text, call)
    yield from _places(calls, projects)
    yield from _versions(lines)


def _other_forms(calls: Sequence[Done], lines: Sequence[Done]) -> Iterator[tuple[Proven, str]]:
    """Commands that could not be run as they stood, and the form that worked right
    afterwards, with the program that was tried.

    Nothing may have changed in between: what installs or repairs
    something proves nothing about the form.
    """
    failures = [
        call
        for call in lines
        if call.ok is False and "|" not in (call.target or "") and not _unknown_option(call)
    ]
    for failed in failures:
        words, index = failed.main[0][1], calls.index(failed)
        for later in calls[index + 1 : index + 1 + CALLS_AFTER]:
            if only_command(later) and passed(later) and _is_other_form(failed, later):
                bad, good = quotable(failed), quotable(later)
                if (
                    bad
                    and good
                    and not _is_renamed(failed, later)
                    and not any(_form(failed) == _form(one) and passed(one) for one in lines)
                ):
                    yield (
                        Proven(
                            "pattern", f"Run `{good}` here: `{bad}` fails{_code(failed)}", later
                        ),
                        words[0],
                    )
                break
            if later.weight and later.ok is not False:
                break


def _is_other_form(failed: Done, later: Done) -> bool:
    """The same program started otherwise, or one that does the same with the same arguments."""
    tried, words = failed.main[0][1], later.main[0][1]
    if program_of(words) == program_of(tried):
        is_other = launched(words) != launched(tried) or _is_wrong_form(failed)
    else:
        is_other = tried[1:] == words[1:] and any(
            {base(tried[0]), base(words[0])} <= alike for alike in _ALIKE
        )
    return is_other and _form(failed) != _form(later)


def _is_wrong_form(failed: Done) -> bool:
    if failed.exit_code in (NOT_FOUND, NOT_EXECUTABLE):
        return True
    said = failed.output[-2_000:].lower()
    return any(words in said for words in _WRONG_FORM)


def _is_renamed(failed: Done, later: Done) -> bool:
    """`python` is not there and `python3` is: that is said of the program, not of one command."""
    return failed.exit_code == NOT_FOUND and later.main[0][1][0].startswith(failed.main[0][1][0])


def _form(call: Done) -> tuple[str, str]:
    """What stands before a command on its line (variables, folders, what is
    sourced), and the shape of its use.
    """
    words = call.main[0][1]
    start = launched(words) % len(words)
    before = (call.target or "").partition(words[0])[0]
    return before, shape_of(words, start, [base(words[start])])


def _wrong_options(calls: Sequence[Done]) -> Iterator[Proven]:
    """Options that a command turned out not to have."""
    said: set[tuple[str, str]] = set()
    refused = [(call, option) for call in calls if (option := _unknown_option(call))]
    taken = (
        {
            (_named(words), _option(word))
            for call in calls
            if call.ok and (words := only_command(call))
            for word in words
        }
        if refused
        else set()
    )
    for call, option in refused:
        words = only_command(call)
        if words and (_named(words), option) not in said | taken:
            said.add((_named(words), option))
            yield Proven(
                "pattern", f"`{_named(words)}` has no option `{option}` here{_code(call)}", call
            )


def _unknown_option(call: Done) -> str | None:
    """The option that a command refused, if it was given one."""
    words = only_command(call) if call.ok is False else None
    said = call.output[:2_000]
    # Most of what fails names none of these.
    is_named = words and any(
        name in said.lower() for name in ("option", "flag", "argument", "parameter")
    )
    found = _NO_OPTION.search(said) if is_named else None
    if not words or not found or found[1] not in map(_option, words):
        return None
    return None if looks_only(pieces(call.target or "")[call.main[0][0]]) else found[1]


def _option(word: str) -> str:
    """An option without its value."""
    return word.partition("=")[0]


def _named(words: list[str]) -> str:
    """A command and its subcommands."""
    program, *rest = words[launched(words) % len(words) :]
    script = [word for word in rest[:1] if base(program) in _INTERPRETERS]
    return " ".join(
        [program, *script, *takewhile(_NAMING.fullmatch, rest[len(script) : len(script) + 2])]
    )


def _missing_programs(calls: Sequence[Done], known: set[str]) -> Iterator[Proven]:
    """Programs that the shell did not find, whenever they were called."""
    found: dict[str, Done] = {}
    worked: set[str] = set()
    for call in calls:
        words = only_command(call)
        program = words[0] if words else ""
        if call.exit_code == NOT_FOUND and _PROGRAM.fullmatch(program):
            found.setdefault(program, call)
        elif call.ok:
            worked.add(program)
    for program, call in found.items():
        if program not in worked | known:
            yield Proven("project", f"`{program}` is not installed here", call)


def _places(calls: Sequence[Done], projects: Mapping[str, str | None]) -> Iterator[Proven]:
    """Files of a project that were looked for where they are not, and then found.

    Not those of which there may be several.
    """
    missing: dict[str, tuple[str, int]] = {}
    found: dict[str, Proven | None] = {}
    for index, call in enumerate(calls):
        if call.kind not in ("read", "edit") or not call.target:
            continue
        name = os.path.basename(call.target)
        path = _inside(call.target, projects.get(call.ref))
        if path is None or "." not in name or name.partition(".")[0].lower() in _COMMON:
            continue
        if (
            call.kind == "read"
            and call.ok is False
            and any(words in call.output[:500].lower() for words in _MISSING)
        ):
            missing.setdefault(name, (path, index))
        elif call.ok and name not in found:
            found[name] = _place(path, missing.get(name), calls, index)
        elif call.ok and (known := found[name]) is not None and known.call.target != call.target:
            found[name] = None
    yield from (one for one in found.values() if one is not None)


def _place(
    path: str, missing: tuple[str, int] | None, calls: Sequence[Done], index: int
) -> Proven | None:
    """That a file is at one place and not at another, unless it was made in between."""
    if missing is None or missing[0] == path or calls[index].kind == "edit":
        return None
    wrong, at = missing
    name = os.path.basename(path)
    if any(one.kind == "edit" and name in (one.target or "") for one in calls[at:index]):
        return None
    shown, instead = quoted_path(path, MOST_CHARACTERS), quoted_path(wrong, MOST_CHARACTERS)
    return (
        None
        if "…" in shown + instead
        else Proven("project", f"`{name}` is at `{shown}`, not at `{instead}`", calls[index])
    )


def _inside(path: str, project: str | None) -> str | None:
    """A path as seen from its project's folder, which its key ends with.

    None when it is a tool's, or somewhere else.
    """
    if ", " in path or not project:
        return None
    inside = path.removeprefix("./")
    if os.path.isabs(path):
        root = project if project.startswith("/") else f"/{project.rpartition('/')[2]}"
        before, folder, inside = path.partition(root.rstrip("/") + "/")
        if not folder or (before and project.startswith("/")):
            return None
    return None if _TOOLS_OWN.search(f"/{inside}") else inside


def _versions(calls: Sequence[Done]) -> Iterator[Proven]:
    """What programs gave as their version, the last answer of each."""
    found: dict[str, Proven] = {}
    for call in calls:
        words = only_command(call)
        if words is None or words[-1:] not in _ASKING_VERSION or not passed(call):
            continue
        start = launched(words)
        program = base(words[start]) if start < len(words) else ""
        if (
            program in _VERSIONED
            and words[start + 1 :] in _ASKING_VERSION
            and (version := _VERSION.search(call.output[:300]))
        ):
            where = (
                ""
                if words[start] == program and not start
                else f" (`{' '.join(words[: start + 1])}`)"
            )
            found[_VERSIONED[program]] = Proven(
                "project", f"{_VERSIONED[program]} here is version {version[1]}{where}", call
            )
    yield from found.values()


def _code(failed: Done) -> str:
    return "" if failed.exit_code is None else f" (exit {failed.exit_code})"
