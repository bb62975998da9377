"""Commands that tell whether the work is right: tests, linters, type checkers and builds.

A program is known by its name, a package script or a target by what it is called
(`npm run test:unit`, `make lint`). A word in the name of a file says nothing:
`monitor-build.sh` builds nothing. How a check ended is what the shell
says, unless a pipe or the rest of the line hides it: then its own last words count.
"""

from __future__ import annotations

import re
from functools import lru_cache

from recollect.model.calls import exited_well
from recollect.reading.error_text import tells
from recollect.reading.programs import base, launched, names
from recollect.reading.shell import pieces, told
from recollect.store.text import ends

# Whatever they are given, these check it.
_CHECKERS = names(
    "pytest py.test tox nox unittest jest vitest mocha ava karma cypress rspec phpunit pest ctest "
    "gotestsum cucumber behave "
    "mypy pyright basedpyright ty pyrefly pyre tsc vue-tsc flow sorbet ruff flake8 pylint eslint "
    "oxlint stylelint shellcheck "
    "hadolint golangci-lint staticcheck markdownlint rubocop ktlint detekt swiftlint actionlint "
    "yamllint checkstyle "
    "clippy-driver pre-commit xcodebuild ninja webpack rollup tsup esbuild javac rustc compileall "
    "py_compile"
)
# Of these, only some subcommands do.
_SUBCOMMANDS = {
    "cargo": names("test check build clippy nextest bench doc"), "go": names("test vet build"),
    "dotnet": names("test build"), "mvn": names("test verify package compile install"),
    "swift": names("test build"),
    "mix": names("test compile credo dialyzer"), "bazel": names("test build"),
    "deno": names("test check lint"),
    "zig": names("test build"), "sbt": names("test compile"), "lein": names("test"),
    "flutter": names("test analyze build"),
    "dart": names("test analyze"), "playwright": names("test"), "biome": names("check lint ci"),
    "next": names("build lint"),
    "vite": names("build"), "astro": names("check build"), "docker": names("build"),
    "terraform": names("validate plan"),
    "helm": names("lint"), "hatch": names("test build"), "trunk": names("check"),
    "bun": names("test build"),
}  # fmt: skip
# Formatters check only when told so.
_CHECKING_OPTIONS = {
    "black": "--check",
    "isort": "--check",
    "prettier": "--check",
    "gofmt": "-l",
    "rustfmt": "--check",
}
# What runs scripts and targets that have names of their own.
_SCRIPT_RUNNERS = names(
    "npm pnpm yarn bun make gmake just task rake gradle gradlew invoke nx turbo composer poe mage"
)
_SCRIPT_WORDS = names(
    "test tests lint build check checks typecheck types tsc ci verify validate e2e spec compile "
    "unittest unit integration"
)
# These read a script without running it.
_READS_ONLY = {"bash": "-n", "sh": "-n", "zsh": "-n", "node": "--check", "ruby": "-c", "php": "-l"}
_WORDS = re.compile(r"[^A-Za-z0-9]+")

_FAILED = re.compile(
    r"""
      \b[1-9]\d*\ (?:tests?\ |test\ suites?\ )?
      (?:failed|failing|failures?|errors?|problems?|diagnostics?)\b
    | \bFAILED\b | ---\ FAIL: | ^FAIL\b | failures=[1-9] | \bBUILD\ FAIL(?:ED|URE)\b
    | would\ (?:be\ )?reformat | ^not\ ok\b
    | error\ TS\d+ | error\[E\d+\] | ^error(?:\[\w+\])?:
    | npm\ (?:ERR!|error) | ELIFECYCLE | ^make(?:\[\d+\])?:\ \*\*\*
    | Traceback\ \(most | AssertionError
    """,
    re.VERBOSE | re.MULTILINE,
)
# Whatever fits has one of these words; most outputs have none, and looking for them costs little.
_WORDS_OF_FAILURE = (
    "fail", "FAIL", "error", "Error", "ERR!", "problem", "diagnostic", "reformat", "not ok",
    "ELIFECYCLE", "***", "Traceback",
)  # fmt: skip
_PASSED = re.compile(
    r"""
      \b[1-9]\d*\ (?:tests?\ )?(?:passed|passing)\b | \b0\ (?:errors|failed)\b
    | test\ result:\ ok | ^ok\s+(?:\d+\b|\S+\s+(?:[\d.]+m?s\b|\(cached\)))
    | ^OK\s*(?:\(|$) | ^PASS\b
    | All\ (?:checks|tests)\ passed | no\ issues\ found | \bBUILD\ SUCCESS(?:FUL)?\b
    | ^\s*Finished\ | compiled\ successfully | \bbuilt\ in\b
    """,
    re.VERBOSE | re.MULTILINE,
)


def is_check(command: str) -> bool:
    """Whether a command line has a check in it."""
    return bool(_checks_in(command))


def ended(command: str, ok: bool | None, output: str, exit_code: int | None = None) -> bool | None:
    """Whether the check in a command line passed; None when nothing tells."""
    line = pieces(command)
    known = [told(exited_well(ok, exit_code), line, index) for index in _checks_in(command)]
    if known and None not in known:
        return all(known)
    said = last_words_tell(output)
    if said is False or ok is False:
        return False
    # Silence is how many checkers say that all is well.
    return True if said else None if tells(ends(output)) else ok


def tells_failure(output: str) -> bool:
    """Whether what an output begins or ends with says that something failed."""
    said = ends(output)
    return any(word in said for word in _WORDS_OF_FAILURE) and _FAILED.search(said) is not None


def last_words_tell(output: str) -> bool | None:
    """Whether the output of a check says that it passed; None when it says neither."""
    last_words = ends(output)
    if tells_failure(output):
        return False
    return True if _PASSED.search(last_words) else None


@lru_cache(4096)
def _checks_in(command: str) -> tuple[int, ...]:
    """The places of a line's checks in it."""
    return tuple(
        index for index, piece in enumerate(pieces(command)) if piece.words and _checks(piece.words)
    )


def _checks(words: list[str]) -> bool:
    program, *rest = words[launched(words) :] or [""]
    program = base(program)
    if "--version" in rest or "--help" in rest:
        return False
    plain = [word for word in rest if not word.startswith("-")]
    if program == "ruff":
        return plain[:1] != ["format"] or "--check" in rest
    if program in _CHECKERS:
        return True
    if program in _SUBCOMMANDS:
        return any(word in _SUBCOMMANDS[program] for word in plain[:2]) or _is_script(
            program, plain
        )
    if program in _CHECKING_OPTIONS:
        return any(word.startswith(_CHECKING_OPTIONS[program]) for word in rest)
    if program in _READS_ONLY:
        return _READS_ONLY[program] in rest[:1]
    if program == "cmake":
        return "--build" in rest
    return _is_script(program, plain)


def _is_script(program: str, plain: list[str]) -> bool:
    if program in _SCRIPT_RUNNERS:
        named = [word for word in plain if word not in ("run", "exec", "run-script")]
        if named and program in ("pnpm", "yarn", "bun") and named[0] in _CHECKERS:
            return True
        return _speaks(named[0]) if named else program in ("make", "gmake", "gradle", "gradlew")
    return False


@lru_cache(1024)
def _speaks(name: str) -> bool:
    """Whether a script's name says that it checks something."""
    return any(word in _SCRIPT_WORDS for word in _WORDS.split(name.lower()))
