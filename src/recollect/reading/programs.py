"""Programs in a command: which one it is, its subcommand, and the shape of its use.

`uv run pytest -q tests/a.py` is a use of pytest; `sudo docker compose up -d`
one of docker, with the subcommand compose. Only the words decide: nothing is
looked up on this machine.
"""

from __future__ import annotations

import re

from recollect.reading.shell import Piece, pieces


def names(text: str) -> frozenset[str]:
    """A table of names that is written as a text."""
    return frozenset(text.split())


# What runs a program that is named after it.
_LAUNCHERS: tuple[tuple[str, ...], ...] = (
    ("uv", "run"), ("uv", "tool", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"),
    ("hatch", "run"),
    ("rye", "run"), ("pixi", "run"), ("pnpm", "exec"), ("pnpm", "dlx"), ("npm", "exec"), ("yarn",
    "exec"), ("yarn", "dlx"),
    ("bundle", "exec"), ("python", "-m"), ("python3", "-m"), ("mise", "exec"), ("nix", "run"),
    ("npx",), ("bunx",), ("uvx",),
    ("pnpm",), ("yarn",), ("xargs",),
)  # fmt: skip
# These run their own subcommands as well.
_MANAGERS = (("pnpm",), ("yarn",))
_LAUNCHERS_BY_PROGRAM = {
    program: [launcher for launcher in _LAUNCHERS if launcher[0] == program]
    for program in {one[0] for one in _LAUNCHERS}
}
# An option of the launcher and its value may stand before the program: `uv run --with rich pytest`.
_WORDS_BEFORE = 3
# Programs whose first argument is a thing to work on, not a subcommand.
_NO_SUBCOMMAND = names(
    "awk bash bat black cat chmod chown cp curl cut diff du echo egrep eslint fd find grep head "
    "isort jq kill ln ls make mkdir "
    "mv mypy node perl pgrep pkill printf prettier ps psql pyright pytest python python3 rg rm "
    "rmdir rsync ruby sed sh sort "
    "ssh stat tail tar tee test touch tr tree tsc uniq unzip vim wc wget which xargs zip zsh"
)
# What reads and shows, and changes nothing.
_READERS = names(
    "awk bat cat cut date df diff du echo egrep env fd file find grep head jq less ls lsof nl "
    "pgrep printenv printf ps pwd rg "
    "sort ss stat tail tr tree type uname uniq wc which whoami yq"
)
# Of PowerShell and cmd, whose names are the same in any case.
_WINDOWS_READERS = names(
    "get-content get-childitem get-item get-location get-date get-command get-process get-filehash "
    "select-string select-object where-object sort-object measure-object format-table format-list "
    "test-path resolve-path join-path split-path out-string out-host write-output write-host "
    "compare-object convertfrom-json convertto-json dir findstr where gc gci sls select type"
)
_READING_SUBCOMMANDS = {
    "git": names(
        "blame branch diff grep log ls-files remote reflog rev-parse shortlog show status"
    ),
    "docker": names("ps images logs inspect info version"),
    "kubectl": names("get describe logs explain"),
    "systemctl": names("status is-active is-enabled list-units show cat"),
    "pip": names("list show freeze check"),
    "npm": names("ls list view outdated"),
    "pnpm": names("ls list why outdated"),
    "cargo": names("tree metadata search"),
    "terraform": names("show output version providers"),
}
_FILTERS = names("awk cat cut egrep grep head jq less sed sort tail tee tr uniq wc rg")
# Options before a subcommand that take no value, and short ones that do.
_BARE_OPTIONS = names(
    "--debug --frozen --help --locked --offline --quiet --silent --verbose --version --yes"
)
_VALUED_OPTIONS = names("-C -c -n -f -p")
# Tools of tools: `docker compose up`, `gh run list`.
_NESTED = names("docker gh aws gcloud az kubectl")
# Subcommands that are named after what they run.
_RUNNING = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun", "composer"), names("run run-script")),
    "deno": names("run task"),
    "cargo": names("xtask"),
}
_INTERPRETERS = names("python python3 node bash sh zsh ruby perl")
_CODE_GIVEN = names("-c -e -lc -ic -p --eval")
_SCRIPT = re.compile(r"[\w@.~][\w@.~:/+-]*|/[\w@.~:/+-]+")
_SIMPLE = re.compile(r"[a-z][a-z0-9_:-]*")
_HOLE = "…"


def base(word: str) -> str:
    """A program without its folder."""
    return word.rpartition("/")[2] or word if "/" in word else word


def main_pieces(command: str) -> list[tuple[int, list[str]]]:
    """The commands of a line that matter, by their place in it.

    Not what filters another's output or is left in the background; what only
    looks matters in a line that does nothing else.
    """
    found = []
    piped = False
    for index, piece in enumerate(pieces(command)):
        if piece.words and piece.after != "&" and not (piped and base(piece.words[0]) in _FILTERS):
            found.append((index, piece))
        piped = piece.after in ("|", "|&")
    acting = [(index, piece) for index, piece in found if not looks_only(piece)]
    return [(index, piece.words) for index, piece in acting or found]


def program_of(words: list[str]) -> tuple[str, ...]:
    """A command's program and subcommand, without what launches
    it: what two alike commands share.
    """
    start = launched(words)
    words = words[start:]
    if not words:
        return ()
    program = base(words[0])
    sub = subcommand(words)
    return (program, sub) if sub else (program,)


def subcommand(words: list[str]) -> str:
    """`up` in `docker up -d`; empty for programs that have none."""
    if base(words[0]) in _NO_SUBCOMMAND:
        return ""
    first = next(iter(_plain(words[1:])), "")
    return first if _SIMPLE.fullmatch(first) else ""


def _plain(words: list[str]) -> list[str]:
    """The words that are no options.

    Nor, before the first of them, what an option takes: `run` in `--app shop run`.
    """
    found: list[str] = []
    taken = False
    for word in words:
        if word.startswith("-"):
            long = word.startswith("--") and "=" not in word and not word.startswith("--no-")
            taken = not found and ((long and word not in _BARE_OPTIONS) or word in _VALUED_OPTIONS)
        elif taken:
            taken = False
        else:
            found.append(word)
    return found


def looks_only(piece: Piece) -> bool:
    """Whether a command only reads and shows."""
    if piece.only_looks is None:
        piece.only_looks = _looks_only(piece)
    return piece.only_looks


def _looks_only(piece: Piece) -> bool:
    if piece.writes and any(not path.startswith("/dev/") for path in piece.writes):
        return False
    if not piece.words:
        return True
    program = base(piece.words[0])
    if piece.words[1:] in (["--version"], ["--help"]):
        return True
    if program in _READING_SUBCOMMANDS:
        return next(iter(_plain(piece.words[1:])), "") in _READING_SUBCOMMANDS[program]
    if program == "sed":
        return not any(word.startswith(("-i", "--in-place")) for word in piece.words)
    if program == "find":
        return not any(word in ("-delete", "-exec", "-execdir") for word in piece.words)
    return program in _READERS or program.lower() in _WINDOWS_READERS


def _launchers(words: list[str]) -> list[tuple[str, ...]]:
    """What a command begins with that only launches the program after it, longest first."""
    known = _LAUNCHERS_BY_PROGRAM.get(base(words[0])) if words else None
    if not known:
        return []
    return [launcher for launcher in known if tuple(words[1 : len(launcher)]) == launcher[1:]]


def launched(words: list[str]) -> int:
    """Where the program that matters begins."""
    for launcher in _launchers(words):
        # `pnpm add` is a command of the package manager itself, so only its
        # whole name can tell: see `find_use`.
        if launcher not in _MANAGERS:
            start = len(launcher)
            while start < len(words) and words[start].startswith("-"):
                start += 1
            return start
    return 0


def find_use(words: list[str], tool: list[str]) -> int | None:
    """Where in a command the tool begins: at its start, or right after what launches it."""
    starts = [0]
    for launcher in _launchers(words):
        starts += range(len(launcher), min(len(words), len(launcher) + _WORDS_BEFORE))
    for start in starts:
        if (
            tool[0] in (words[start], base(words[start]))
            and _plain(words[start + 1 :])[: len(tool) - 1] == tool[1:]
        ):
            return start
    return None


def shape_of(words: list[str], start: int, tool: list[str]) -> str:
    """A command with its arguments left open: `pytest -q …`, `git commit -m …`."""
    kept = [*words[:start], base(words[start])]
    rest = words[start + 1 :]
    sub = subcommand(words[start:])
    names = {sub, *tool[1:]} - {""}
    if sub and base(words[start]) in _NESTED:
        names |= {word for word in rest[rest.index(sub) + 1 :][:1] if _SIMPLE.fullmatch(word)}
    for word in rest:
        if word in names:
            kept.append(word)
            names.discard(word)
        elif word.startswith("-") and len(word) > 1:
            kept.append(_option(word))
        elif kept[-1] != _HOLE:
            kept.append(_HOLE)
    return " ".join(kept)


def use_of(words: list[str], start: int, tool: list[str]) -> str:
    """What a use of a tool is for: `npm run build`, `make test`, `docker compose up`.

    By the script or subcommand that matters, if it is more than what was asked
    for; then options make no difference. Else it is the shape.
    """
    kept = [base(words[start]), *_what(words[start:])]
    if len(kept) <= len(tool):
        return shape_of(words, start, tool)
    return " ".join([*words[:start], *kept])


def _what(words: list[str]) -> list[str]:
    """The subcommand with the script that it runs, the target, or the script of an interpreter."""
    program, plain = base(words[0]), _plain(words[1:])
    if program in _INTERPRETERS:
        if "-m" in words[1:-1]:
            return words[words.index("-m") :][:2]
        script = "" if _CODE_GIVEN.intersection(words[1:]) else next(iter(plain), "")
        return [script] if _SCRIPT.fullmatch(script) else []
    if program == "make":
        return [word for word in plain if "=" not in word][:1]
    sub = subcommand(words)
    if not sub:
        return []
    if program not in _NESTED and sub not in _RUNNING.get(program, ()):
        return [sub]
    inner = _plain(words[words.index(sub) + 1 :])[:1]
    return [sub, *filter(_SCRIPT.fullmatch, inner)]


def _option(word: str) -> str:
    name, equals, _ = word.partition("=")
    if equals:
        return f"{name}={_HOLE}"
    return "-N" if word[1:].isdigit() else word
