"""How a project is worked on: what checks it, formats it, installs what it needs, and starts it.

A command that passed in a session is how that is done there. Of each program the
form that was run most often is kept, and the shortest of those; where only parts
were ever checked, what names the part is left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recollect.distill.notes.plain_lines import only_command, passed, quotable
from recollect.distill.tasks.calls import Done
from recollect.reading.programs import base, launched, names, program_of

# Of one session, those that were run most.
MOST = 4

_FORMATTERS = names("fmt format black gofmt prettier rustfmt")
_MANAGERS = names("npm pnpm yarn bun")
_SCRIPT_RUNNERS = _MANAGERS | names("make just task rake poe invoke nx turbo")
_STARTING = names("dev start serve up run-dev runserver preview watch")
_INSTALLING = (
    ("npm", "ci"), ("pnpm", "install"), ("yarn", "install"), ("bun", "install"), ("uv", "sync"),
    ("poetry", "install"), ("bundle", "install"), ("composer", "install"), ("dotnet", "restore"),
    ("pdm", "install"),
    ("go", "mod", "download"), ("flutter", "pub", "get"), ("mix", "deps.get"),
)  # fmt: skip
# What checks nothing of the work, or repairs instead of checking.
_NO_CHECK = re.compile(
    r"^--(?:markers|collect-only|co|list\S*|fixtures|no-run|dry-run|init|showConfig|cache-clear|fix|write|update\S*|unsafe)$"
    r"|^-[ce]$"
)
# A script in a folder such as `.github` belongs to a tool; `.venv/bin/pytest` does not.
_TOOLS_OWN = re.compile(r"(?:\./)?\.\w.*\.(?:sh|ps1|py|js)$")
_NO_CHECKERS = names(
    "test test-path [ python python3 node bun deno tsx ruby php perl bash sh docker"
)
_FILE = re.compile(r"\.[a-z]{1,6}(?:::.*|:\d+)?$")
# A folder far inside, not `tests/` or `./...`.
_DEEP = re.compile(r"^(?:\./)?\w[\w.-]*/\w[\w./-]*$")
_TESTING = re.compile(r"test|spec|e2e|cypress")
# What comes after these says how to check, not what.
_CONFIGURING = names("-p --project --manifest-path --config -c --tsconfig --rootdir --cov-config")
# What comes after these names one test.
_NAMING = names(
    "-k -t -g --grep --filter --testNamePattern -run --run --test --spec --testPathPattern --"
)
_SCRIPT = re.compile(r"[a-z][a-z0-9:_-]+")
_NAME, _ANY_FILE = "NAME", "FILE"


def usual(calls: Sequence[Done], known: set[str]) -> Iterator[tuple[str, Done]]:
    """How the project of a session is worked on, each with the call that showed it.

    Lines that are `known` from elsewhere are left out.
    """
    runs: dict[tuple[str, ...], list[tuple[str, Done]]] = {}
    parts: dict[tuple[str, ...], list[tuple[str, Done]]] = {}
    for call in calls:
        # Most commands only look at something.
        words = only_command(call) if call.weight else None
        if not words or not passed(call) or not (call.check or _purpose(words) or _is_own(words)):
            continue
        line = quotable(call)
        if not line or line in known:
            continue
        if call.check and not _checks_all(words):
            if (part := _part(line, words)) is not None:
                parts.setdefault(what_runs(words), []).append((part, call))
        else:
            runs.setdefault(what_runs(words), []).append((line, call))
    wanted = [*runs.values(), *(found for what, found in parts.items() if what not in runs)]
    for found in sorted(wanted, key=len, reverse=True)[:MOST]:
        lines = [line for line, _ in found]
        best = min(lines, key=lambda line: (-lines.count(line), len(line)))
        call = found[lines.index(best)][1]
        yield _said(best, call), call


def _said(line: str, call: Done) -> str:
    if call.check:
        return (
            f"To check a part of the work here, run `{line}`"
            if _is_open(line)
            else f"To check work here, run `{line}`"
        )
    words = only_command(call) or [""]
    purpose = _purpose(words)
    return f"To {purpose} here, run `{line}`" if purpose else f"`{line}` works here"


def _purpose(words: list[str]) -> str | None:
    """What a command is for, where its name tells."""
    if any(_FILE.search(word) for word in words[1:]):
        return None
    if _FORMATTERS.intersection(what_runs(words)):
        return "format code"
    plain = [word for word in words if not word.startswith("-")]
    if tuple(plain) in _INSTALLING:
        return "install what is needed"
    script = next((word for word in plain[1:] if word not in ("run", "compose")), "")
    runs_scripts = base(plain[0]) in _SCRIPT_RUNNERS or plain[:2] == ["docker", "compose"]
    return "start it" if runs_scripts and script.partition(":")[0] in _STARTING else None


def _is_own(words: list[str]) -> bool:
    """Whether a command has a name that the project gave it: `npm run seed`
    and `make docs`, not `npm audit`.
    """
    runner, *rest = base(words[0]), *words[1:]
    script = rest[1:] if rest[:1] == ["run"] else [] if runner in _MANAGERS else rest
    return (
        runner in _SCRIPT_RUNNERS and len(script) == 1 and _SCRIPT.fullmatch(script[0]) is not None
    )


def what_runs(words: list[str]) -> tuple[str, ...]:
    """What two uses of a command share: a program with its subcommand, or the
    script that it runs, whatever starts it.

    `npm run lint` and `npm run test` are two checks; `npx tsc`, `bunx tsc` and `pnpm tsc` are one.
    """
    rest = words[launched(words) :] or words
    runner = base(rest[0])
    if runner not in _SCRIPT_RUNNERS:
        return program_of(rest)
    script = next(
        (word for word in rest[1:] if not word.startswith("-") and word not in ("run", "exec")), ""
    )
    return (script,) if runner in _MANAGERS else (runner, script)


def _checks_all(words: list[str]) -> bool:
    """Whether a check is one of everything, as far as its words tell."""
    return not (
        _checks_nothing(words)
        or any(_filled(word, words[:place]) != word for place, word in enumerate(words))
    )


def _checks_nothing(words: list[str]) -> bool:
    program, *rest = words[launched(words) % len(words) :]
    # `make run` runs what was made.
    runs = (base(program).lower() in _NO_CHECKERS and rest[:1] != ["test"]) or words[:2] == [
        "make",
        "run",
    ]
    return (
        runs
        or _TOOLS_OWN.match(words[0]) is not None
        or any(_NO_CHECK.search(word) for word in words[1:])
    )


def _named(words: list[str]) -> bool:
    """`cargo test some_name` is one test."""
    rest = words[launched(words) :]
    return rest[:2] == ["cargo", "test"] and any(not word.startswith("-") for word in rest[2:3])


def _part(line: str, words: list[str]) -> str | None:
    """A check of a part, with what names the part left open; None when that is not plain to see."""
    plain = " ".join(words)
    # Everybody knows how to test one package of Go.
    tests = any(map(_TESTING.search, what_runs(words))) and words[0] != "go"
    if not tests or not line.endswith(plain) or _checks_nothing(words):
        return None
    opened: list[str] = []
    for word in words:
        filled = _filled(word, opened)
        if filled == word or filled not in opened[-1:]:
            opened.append(filled)
    return line.removesuffix(plain) + " ".join(opened) if _is_open(" ".join(opened)) else None


def _filled(word: str, before: list[str]) -> str:
    """A word of a check, or what stands for it when it names a part."""
    if not before or word.startswith("-") or before[-1] in _CONFIGURING:
        return word
    if _FILE.search(word) or _DEEP.search(word):
        return _ANY_FILE
    return _NAME if "::" in word or before[-1] in _NAMING or _named([*before, word]) else word


def _is_open(line: str) -> bool:
    return _NAME in line.split() or _ANY_FILE in line.split()
