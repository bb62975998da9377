"""What a step is called, so that the same thing done by two agents has one name.

A name is made of few words: the program and subcommand of a command (`uv run
pytest -q tests/a.py` is `pytest`), the kind of tool and of file for anything
else (`edit .py`). No model decides, and no words of a log get through but
names: what does not look like the name of a program, a file or an option is
left out. That is why a sentence about a pattern may be told to an agent.

A *form* keeps what launches a program as well: where `pytest` failed and
`uv run pytest` worked, the form is all that differs.
"""

from __future__ import annotations

import re
from functools import lru_cache

from recollect.reading.programs import base, launched, looks_only, main_pieces, names, subcommand
from recollect.reading.shell import pieces

# Between the steps of one line, and wherever several steps make one signature.
AND, THEN, INSTEAD, FAILS = " && ", " > ", " => ", " ! "
EDIT, READ, MCP = "edit ", "read ", "mcp "
# A script of four commands is a procedure of its own, and not a step.
MOST_IN_A_LINE = 4

_NAME = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.:+@-]{0,39}")
# Longer, or with so many digits, it is hardly a word that somebody chose for a subcommand.
_WORD = re.compile(r"(?!.*\d{6})[A-Za-z0-9_.][A-Za-z0-9_.:+@-]{0,23}")
_SUFFIX = re.compile(r"\.[a-z][a-z0-9]{0,9}")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_OWN = "recollect"

# The word of a tool's name that tells what it does; the first kind that has one counts.
_TOOL_WORDS = (
    ("mcp", names("mcp")),
    ("web", names("web fetch url http browser browse")),
    ("task", names("task agent subagent delegate spawn")),
    ("shell", names("shell bash sh zsh powershell terminal exec execute command cmd run stdin")),
    ("edit", names("edit write patch replace create insert update delete modify")),
    ("search", names("grep glob search find list ls tree codebase")),
    ("read", names("read view open cat show")),
)
_KINDS = names("shell edit read search web task mcp")
# Files whose name says more than its ending.
_KNOWN_FILES = names(
    ".dockerignore .editorconfig .env .envrc .eslintrc.json .gitattributes .gitignore .npmrc "
    ".nvmrc .pre-commit-config.yaml "
    ".python-version AGENTS.md Cargo.lock Cargo.toml CHANGELOG.md CMakeLists.txt Dockerfile "
    "Gemfile Gemfile.lock Justfile "
    "LICENSE Makefile Procfile README.md Rakefile build.gradle composer.json conftest.py deno.json "
    "docker-compose.yml "
    "eslint.config.js go.mod go.sum justfile mix.exs mypy.ini package-lock.json package.json "
    "pnpm-lock.yaml poetry.lock pom.xml "
    "pyproject.toml pytest.ini requirements.txt ruff.toml setup.cfg setup.py tox.ini tsconfig.json "
    "uv.lock vite.config.ts "
    "yarn.lock"
)
# Programs whose first argument names what they do, whatever it is called.
_NAMED_BY_TARGET = names("make gmake just task rake nx turbo poe invoke mage")
_NESTED = names("docker gh aws gcloud az kubectl glab")
_NESTED_SUBCOMMANDS = (
    ("uv", "pip"),
    ("uv", "tool"),
    ("npm", "run"),
    ("pnpm", "run"),
    ("yarn", "run"),
    ("bun", "run"),
)
_INTERPRETERS = names("python python3 node ruby perl php bash sh zsh")
_OPTIONS = ("-m", "-c")

# What comes between any two steps, or says nothing without its arguments.
_DULL = names(
    "shell tool other cat cd chmod chown cp curl date echo env export false head kill ln ls mkdir "
    "mv pkill printf pwd rm rmdir "
    "sed sleep tail tee test touch true wget which search read web task write_stdin update_plan"
)
_DULL_COMMANDS = frozenset({
    "git add", "git branch", "git checkout", "git clone", "git commit", "git diff", "git fetch",
    "git log", "git merge",
    "git pull", "git push", "git reset", "git restore", "git show", "git stash", "git status",
    "git switch", "git init",
    "git config", "python -c", "python3 -c", "node -c", "bash -c", "perl -c", "ruby -c",
})  # fmt: skip


@lru_cache(16_384)
def step_signature(tool: str, action: str = "") -> str:
    """The name of one step; of a line with several commands those of all of them, in order."""
    kind = kind_of(tool)
    if kind == "shell":
        return AND.join(command_names(action)) or "shell"
    if kind in ("edit", "read"):
        return f"{kind} {file_kind(action.split(', ')[0])}"
    if kind == "mcp":
        return f"{MCP}{_plain_name(tool.removeprefix('mcp').strip('_:. '))}"
    return kind if kind != "other" else _plain_name(tool)


@lru_cache(1_024)
def kind_of(tool: str) -> str:
    """What sort of tool one is, by its name or by the kind that an adapter gave it."""
    if tool in _KINDS:
        return tool
    words = {word.lower() for word in _WORDS.findall(tool)}
    return next((kind for kind, known in _TOOL_WORDS if words & known), "other")


@lru_cache(16_384)
def command_names(command: str) -> tuple[str, ...]:
    """The commands of a line that do something, each by program and subcommand.

    Those that look when none does.
    """
    found = dict.fromkeys(filter(None, (command_name(words) for _, words in main_pieces(command))))
    return tuple(found)[:MOST_IN_A_LINE]


def command_name(words: list[str], *, form: bool = False) -> str:
    """`docker compose up`, `npm run build`, `pytest`.

    As a `form` with what launches it: `uv run pytest`.
    """
    start = launched(words)
    words, launcher = words[start:], words[:start] if form else []
    if not words or not _NAME.fullmatch(base(words[0])):
        return ""
    program, rest = base(words[0]), words[1:]
    made = [base(word) for word in launcher if not word.startswith("-") or word in _OPTIONS] + [
        program
    ]
    sub = subcommand(words)
    if program in _NAMED_BY_TARGET:
        made += [word for word in rest if not word.startswith("-") and "=" not in word][:1]
    elif program in _INTERPRETERS:
        made += _script(rest)
    elif sub and "." not in program:
        made.append(sub)
        if program in _NESTED or (program, sub) in _NESTED_SUBCOMMANDS:
            made += [word for word in rest[rest.index(sub) + 1 :] if not word.startswith("-")][:1]
    return " ".join(
        word for word in made if word in _OPTIONS or word == program or _WORD.fullmatch(word)
    )


def _script(rest: list[str]) -> list[str]:
    """The script that an interpreter runs, or that the program is given on the line."""
    for word in rest:
        if word in ("-c", "-e", "-"):
            return ["-c"]
        if not word.startswith("-"):
            return [base(word)]
    return []


def acts(command: str) -> bool:
    """Whether a line does more than read and show."""
    return any(not looks_only(piece) for piece in pieces(command))


@lru_cache(8_192)
def file_kind(path: str) -> str:
    """What sort of file one is: by its name where that is known, else by its ending."""
    name = base(path.rstrip("/").replace("\\", "/"))
    if name in _KNOWN_FILES:
        return name
    stem, dot, suffix = name.rpartition(".")
    kind = f".{suffix.lower()}" if stem and dot else ""
    return kind if _SUFFIX.fullmatch(kind) else "file"


@lru_cache(16_384)
def informs(step: str) -> bool:
    """Whether a step tells something that is not true of all work."""
    if step.startswith(EDIT):
        return not step.startswith((EDIT + ".", EDIT + "file"))
    return step not in _DULL_COMMANDS and step.partition(" ")[0] not in _DULL


def is_own(signature: str) -> bool:
    """Whether a step was a use of this program: what we told is never learned again."""
    return _OWN in signature


def _plain_name(name: str) -> str:
    """A tool's own name, as far as it is one."""
    return name if _NAME.fullmatch(name) else "tool"
