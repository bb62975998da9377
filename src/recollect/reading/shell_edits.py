"""Which files a shell command changes, as far as it says so itself.

Recognised: redirections (`> file`, `>> file`), `tee`, `sed -i` and `perl -i`,
`mv cp rm touch install ln truncate patch dd of=` with their `git` forms,
`git checkout -- file` and `git restore`, formatters told to write, and
patches in the form of `apply_patch`. Not recognised: patterns and variables
(`src/*.py`, `$file`), scripts that open files themselves, PowerShell, and
programs that choose their files on their own (`ruff format` without a name).
"""

from __future__ import annotations

from recollect.reading.programs import base, launched
from recollect.reading.shell import Piece, below, pieces

PATCH_HEADS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
# Program: the options after which it writes to the files it is given.
_IN_PLACE: dict[str, tuple[str, ...]] = {
    "sed": ("-i", "--in-place"), "gsed": ("-i", "--in-place"), "perl": ("-i", "-pi", "-0pi", "-ni"),
    "ruby": ("-i", "-pi"),
    "gofmt": ("-w",), "goimports": ("-w",), "prettier": ("--write", "-w"), "clang-format": ("-i",),
    "eslint": ("--fix",),
}  # fmt: skip
_SCRIPTED = ("sed", "gsed", "perl", "ruby")
_ALWAYS = frozenset(
    {"tee", "touch", "rm", "unlink", "truncate", "black", "isort", "rustfmt", "mv", "patch"}
)
_LAST_ONLY = frozenset({"cp", "install", "ln"})
_GIT = ("mv", "rm", "restore")
_SPECIAL = ("/dev/", "&")
_WRITERS = _ALWAYS | _LAST_ONLY | _IN_PLACE.keys() | {"git", "dd", "ruff"}


def changed_files(command: str) -> list[str]:
    """The files that a command writes, moves or removes, as it names them, each once."""
    found: list[str | None] = []
    for piece in pieces(command):
        found += [
            below(piece.folder, path)
            for path in [*piece.writes, *_arguments(piece)]
            if _plain(path)
        ]
        if piece.words[:1] == ["apply_patch"]:
            found += [below(piece.folder, path) for path in patched_files(command)]
    return list(dict.fromkeys(path for path in found if path))


def is_patch(command: str) -> bool:
    """Whether what was given to a shell is nothing but a patch in the form of `apply_patch`."""
    return command.lstrip().startswith("*** Begin Patch")


def patched_files(text: str) -> list[str]:
    """The files that a patch in the form of `apply_patch` names."""
    if "*** " not in text:
        return []
    named = (
        line.partition(": ")[2].strip()
        for line in text.splitlines()
        if line.startswith(PATCH_HEADS)
    )
    return list(dict.fromkeys(named))


def _plain(path: str) -> bool:
    """Whether a word is the name of one file and nothing else."""
    return (
        bool(path)
        and not path.startswith(_SPECIAL)
        and not any(char in path for char in "*?$`\n{}")
    )


def _arguments(piece: Piece) -> list[str]:
    if not piece.words:
        return []
    program, *rest = piece.words[launched(piece.words) :] or [""]
    program = base(program)
    if program not in _WRITERS:
        return []
    if program == "git":
        return _git(rest)
    if program == "dd":
        return [word[3:] for word in rest if word.startswith("of=")]
    if program in _IN_PLACE:
        return _in_place(program, rest)
    if "--check" in rest or "--diff" in rest:
        return []
    plain = [word for word in rest if not word.startswith("-")]
    if program == "ruff":
        return plain[1:] if plain[:1] == ["format"] or "--fix" in rest else []
    if program in _LAST_ONLY:
        return _destination(plain)
    if program == "mv" and len(plain) > 1:
        return plain[:-1] + _destination(plain)
    return plain


def _git(rest: list[str]) -> list[str]:
    while rest[:1] == ["-C"] or rest[:1] == ["-c"]:
        if rest[0] == "-C":
            # Its paths begin somewhere else; better none than a wrong one.
            return []
        rest = rest[2:]
    if not rest:
        return []
    command, *rest = rest
    plain = [word for word in rest if not word.startswith("-")]
    if command == "checkout":
        return rest[rest.index("--") + 1 :] if "--" in rest else []
    if command == "mv" and len(plain) > 1:
        return plain[:-1] + _destination(plain)
    return plain if command in _GIT else []


def _destination(paths: list[str]) -> list[str]:
    """Where a copy or a move ends: the last path, or below it when that is a folder."""
    if len(paths) < 2:
        return []
    *sources, last = paths
    inside = [f"{last.rstrip('/')}/{source.rstrip('/').rpartition('/')[2]}" for source in sources]
    return inside if last.endswith("/") or len(sources) > 1 else [last]


def _in_place(program: str, rest: list[str]) -> list[str]:
    """The files of an editor that was told to write to them.

    A script given before them is no file.
    """
    if not any(word.startswith(option) for word in rest for option in _IN_PLACE[program]):
        return []
    files: list[str] = []
    script_comes = program in _SCRIPTED
    words = iter(rest)
    for word in words:
        if (
            program in _SCRIPTED
            and word.startswith("-")
            and not word.startswith("--")
            and word[-1] in "ef"
        ):
            script_comes = False
            next(words, None)
        elif not word or word.startswith("-"):
            continue
        elif script_comes:
            script_comes = False
        else:
            files.append(word)
    return files
