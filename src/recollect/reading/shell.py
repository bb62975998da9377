"""Reads a shell command far enough to say what was run and what was written.

Agents write whole scripts in one line: `cd web && FOO=1 pnpm test 2>&1 | tail`.
A command is taken apart at `&& || ; | &` and line ends, outside quotes, here
documents and `$(...)`; each piece keeps its words, the files it redirects to,
and what follows it. Nothing is expanded: a variable or a pattern stays what it
is, and whoever reads the words decides not to guess.

Whatever stands there is read: a quote that never closes is a character.
"""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r]+|\\\r?\n)
    | (?P<here><<[-~]?[ \t]*
        (?:'(?P<single_tag>[^'\n]+)'|"(?P<double_tag>[^"\n]+)"|\\?(?P<plain_tag>[\w.]+)))
    | (?P<redirect>(?:\d+|&)?(?:>>|>\||>&|<<<|<&|<>|>|<))
    | (?P<operator>&&|\|\||\|&|;;|[;|&\n])
    | (?P<bracket>[()])
    | '(?P<single>[^']*)'
    | "(?P<double>(?:[^"\\]|\\.)*)"
    | (?P<inner>\$\(|`)
    | \\(?P<escaped>.)
    | (?P<plain>[^\s'"\\$`;|&<>()]+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# PowerShell and cmd: a backslash is a letter of a path, a backtick escapes, a block is one word.
_WINDOWS_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r]+|`\r?\n)
    | (?P<redirect>(?:\d+|\*)?(?:>>|>&|>|<))
    | (?P<operator>&&|\|\||[;|&\n])
    | (?P<block>[$@]?\{[^{}]*\})
    | (?P<inner>[$@]\()
    | (?P<bracket>[()])
    | '(?P<single>(?:[^']|'')*)'
    | "(?P<double>(?:[^"`]|`.)*)"
    | (?P<plain>[^\s'"`;|&<>(){}]+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# Cmdlets, variables of the environment, and paths with a drive.
_WINDOWS = re.compile(
    r"(?:^|[\s;|&(){}\"'=])(?:\$env:|[A-Za-z]:\\(?=[\w$%({])|(?:Get|Set|New|Remove|Select|Where|ForEach"
    r"|Test|Write|Out|Start|Stop|Invoke|Copy|Move|Join|Resolve|Measure|Sort|Format|Import|Export|Add|Clear"
    r"|ConvertTo|ConvertFrom|Compare|Split|Expand|Compress|Push|Pop)-[A-Z][A-Za-z]+\b)"
)
# A line in which nothing is quoted, expanded or redirected; most are like that.
_SIMPLE = re.compile(r"[\w./=:,@%+~^*?\[\]{}! \t|;&-]*")
_OPERATOR = re.compile(r"(&&|\|\||\|&|;;|[;|&])")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_DOUBLE_ESCAPE = re.compile(r'\\([$`"\\\n])')
# Words of the shell's own grammar: what follows them is the command.
_OPENERS = frozenset({"then", "do", "else", "elif", "if", "while", "until", "!", "{", "time"})
_CLOSERS = frozenset({"done", "fi", "esac", "}", "for", "case", "select", "function"})
_GRAMMAR = ("for", "while", "until", "if", "case", "select", "function")
# Programs that run another one, with those of their options that take a value.
_RUNNERS: dict[str, frozenset[str]] = {
    "sudo": frozenset({"-u", "-g", "-C", "-h", "-p"}), "doas": frozenset({"-u"}),
    "env": frozenset({"-u", "-C", "-S"}),
    "nohup": frozenset(), "nice": frozenset({"-n"}), "command": frozenset(), "exec": frozenset(),
    "stdbuf": frozenset(),
    "timeout": frozenset({"-s", "-k"}), "setsid": frozenset(), "ionice": frozenset({"-c", "-n"}),
}  # fmt: skip
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_WINDOWS_SHELLS = {
    "powershell": ("-command", "-c"), "pwsh": ("-command", "-c"), "cmd": ("/c", "/k"),
}  # fmt: skip
# What changes the folder, of PowerShell and cmd too.
_MOVERS = frozenset({"cd", "pushd", "chdir", "set-location", "push-location", "sl"})
_PATH_OPTIONS = frozenset({"--", "-path", "-literalpath"})
# What prepares the ground for the command that matters.
_SETUP = frozenset(
    {
        "cd",
        "pushd",
        "popd",
        "export",
        "set",
        "source",
        ".",
        "unset",
        "true",
        ":",
        "ulimit",
        "umask",
        "sleep",
    }
)


class Piece:
    """One simple command: its words, the files it redirects into, and the operator after it.

    `folder` is where it runs, relative to where the line began, as far as the
    `cd` before it tell; None when one went somewhere we cannot know.
    """

    __slots__ = ("after", "folder", "only_looks", "words", "writes")

    def __init__(
        self, words: list[str], writes: list[str], after: str, folder: str | None = ""
    ) -> None:
        self.words, self.writes, self.after, self.folder = words, writes, after, folder
        self.only_looks: bool | None = None
        """What `programs.looks_only` found out about it, once that was asked."""

    def __repr__(self) -> str:
        rest = f"after={self.after!r}, folder={self.folder!r}"
        return f"Piece({self.words!r}, writes={self.writes!r}, {rest})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Piece) and repr(self) == repr(other)

    __hash__ = None  # type: ignore[assignment]


@lru_cache(4096)
def pieces(command: str, *, depth: int = 0) -> tuple[Piece, ...]:
    """The simple commands of a line or a script, in order,
    without what only runs or prepares them.
    """
    found: list[Piece] = []
    folder: str | None = ""
    commands = _split(command)
    for number, (words, writes, operator) in enumerate(commands, 1):
        if number == len(commands) and operator in (";", "\n"):
            operator = ""
        run = unwrapped(words)
        inner = _script(run) if depth < 3 else None
        if inner is not None:
            found += [
                Piece(piece.words, piece.writes, piece.after, below(folder, piece.folder))
                for piece in pieces(inner, depth=depth + 1)
            ]
        elif run and run[0].lower() in _MOVERS:
            folder = _moved(folder, run)
        elif (run and run[0] not in _SETUP and not run[0].startswith("$env:")) or writes:
            found.append(Piece(run, writes, operator, folder))
            continue
        if found:
            found[-1].after = _passed_on(found[-1].after, operator)
    return tuple(found)


def _passed_on(after: str, operator: str) -> str:
    """What follows a command when a step that is left out, such as `cd`, stands in between.

    In `make; true` the end of the line is that of `true`, in `make && cd x; ls` that of `ls`.
    """
    return after or operator if after == "&" or operator in ("", "&&") else operator


@lru_cache(4096)
def grammar(command: str) -> bool:
    """Whether a line has loops or conditions, so that its end
    says nothing about one command in it.
    """
    if not any(word in command for word in _GRAMMAR):
        return False
    return any(words[0] in _GRAMMAR for words, _, _ in _split(command) if words)


def told(ok: bool | None, line: tuple[Piece, ...], index: int) -> bool | None:
    """What the end of a line tells about one of its commands; None when it tells nothing.

    A line that worked passed every `&&` on its way to the end. In one that
    failed nobody knows which link of a chain broke, or what a pipe hid. What
    stands after `||` may not have run at all.
    """
    before = [piece.after for piece in line[:index]]
    while before and before[-1] in ("|", "|&"):
        before.pop()
    own, later = line[index].after, [piece.after for piece in line[index + 1 :]]
    if line[-1].after not in ("", "&&") or before[-1:] == ["||"]:
        return None
    if (
        ok
        and (not later or own == "&&")
        and all(after in ("&&", "|", "|&") for after in later[:-1])
    ):
        return True
    if (
        ok is False
        and not later
        and not own
        and all(piece.after in ("|", "|&", ";", "\n") for piece in line[:-1])
    ):
        return False
    return None


def unwrapped(words: list[str]) -> list[str]:
    """Words without assignments, `sudo`, `env`, `timeout 60` and the like before the program."""
    rest = list(words)
    while rest:
        word = rest[0]
        if word in _CLOSERS:
            return []
        if word in _OPENERS or _ASSIGNMENT.match(word):
            del rest[0]
        elif word in _RUNNERS and len(rest) > 1:
            valued = _RUNNERS[word]
            del rest[0]
            while rest and rest[0].startswith("-"):
                del rest[: 2 if rest[0] in valued else 1]
            if word == "timeout":
                del rest[:1]
        else:
            break
    return rest


def _script(words: list[str]) -> str | None:
    """The line that `bash -lc '...'` or `powershell -Command ...` runs."""
    if words and words[0].rpartition("/")[2] in _SHELLS:
        for index, word in enumerate(words[1:-1], 2):
            if not word.startswith("-"):
                break
            if word.endswith("c") and not word.startswith("--"):
                return words[index]
    program = words[0].lower().replace("\\", "/").rpartition("/")[2] if words else ""
    flags = _WINDOWS_SHELLS.get(program.removesuffix(".exe"), ())
    for index, word in enumerate(words[1:], 2):
        if word.lower() in flags:
            return " ".join(words[index:]) or None
    return None


def _moved(folder: str | None, words: list[str]) -> str | None:
    target = next((word for word in words[1:] if word.lower() not in _PATH_OPTIONS), "")
    return None if not target or target.startswith(("$", "~", "-", "`")) else below(folder, target)


def below(folder: str | None, path: str | None) -> str | None:
    """A path as seen from where `folder` is seen from; None when one of them is not known."""
    if path is None or is_absolute(path):
        return path
    if folder is None:
        return None
    return f"{folder}/{path}" if folder and path else folder or path


def is_absolute(path: str) -> bool:
    """Whether a path begins at a root, of this sort of machine or of the other."""
    return path.startswith(("/", "\\\\")) or (
        path[1:3] in (":/", ":\\") and path[0].isalpha() and path[0].isascii()
    )


def _split(command: str) -> list[tuple[list[str], list[str], str]]:
    """(words, files written, the operator after) for each simple command."""
    if _SIMPLE.fullmatch(command):
        return _split_plain(command)
    found: list[tuple[list[str], list[str], str]] = []
    words: list[str] = []
    writes: list[str] = []
    word: str | None = None
    into: str | None = None
    tags: list[str] = []
    position, length = 0, len(command)
    windows = _WINDOWS.search(command) is not None
    next_token = (_WINDOWS_TOKEN if windows else _TOKEN).match

    def close_word() -> None:
        nonlocal word, into
        if word is None:
            return
        if into is None:
            words.append(word)
        elif ">" in into and not (into.endswith("&") and (word.isdigit() or word == "-")):
            writes.append(word)
        word = into = None

    while position < length:
        match = next_token(command, position)
        assert match is not None  # `other` takes any character.
        kind, text, position = match.lastgroup, match[0], match.end()
        if kind == "plain" and word is None and text.startswith("#"):
            end = command.find("\n", position)
            position = end if end >= 0 else length
        elif kind == "inner":
            end = _closing(command, position, text)
            word = (word or "") + text + command[position:end]
            position = end
        elif kind in ("space", "bracket"):
            close_word()
        elif kind in ("here", "single_tag", "double_tag", "plain_tag"):
            close_word()
            tags.append(match["single_tag"] or match["double_tag"] or match["plain_tag"])
        elif kind == "redirect":
            close_word()
            into = text
        elif kind == "operator":
            close_word()
            if words or writes:
                found.append((words, writes, text))
                words, writes = [], []
            if text == "\n" and tags:
                position = _after_documents(command, position, tags)
                tags = []
        elif kind == "double":
            said = match["double"]
            word = (word or "") + (said if windows else _DOUBLE_ESCAPE.sub(r"\1", said))
        else:
            word = (word or "") + (match[kind] if kind else text)
    close_word()
    if words or writes:
        found.append((words, writes, ""))
    return found


def _split_plain(command: str) -> list[tuple[list[str], list[str], str]]:
    """The same for a command without quotes, redirections and the like."""
    if not any(char in command for char in "|&;"):
        return [(command.split(), [], "")] if command and not command.isspace() else []
    parts = _OPERATOR.split(command)
    both = zip(parts[::2], [*parts[1::2], ""], strict=True)
    return [(split, [], operator) for part, operator in both if (split := part.split())]


def _closing(command: str, position: int, opener: str) -> int:
    """Where a `$(...)` or a pair of backticks ends; the end of the text when it never does."""
    if opener == "`":
        end = command.find("`", position)
        return end + 1 if end >= 0 else len(command)
    depth = 1
    while depth and position < len(command):
        match = _TOKEN.match(command, position)
        assert match is not None
        depth += {"(": 1, "$(": 1, ")": -1}.get(match[0], 0)
        position = match.end()
    return position


def _after_documents(command: str, position: int, tags: list[str]) -> int:
    """Where the script goes on after the here documents that these tags end."""
    for tag in tags:
        while position < len(command):
            end = command.find("\n", position)
            line = command[position : end if end >= 0 else len(command)]
            position = end + 1 if end >= 0 else len(command)
            if line.strip() == tag:
                break
    return position
