"""Commands as they were run, step by step: whole, with their folder, and whether they passed.

An agent writes `cd web && npm test 2>&1 | tail -20`. What is worth telling of it is
`npm test`, in `web`: the characters of the log, without what prepares it and without what
only shortens its output. A pipeline is one step. Whether a step passed is known from the
exit code of its line, unless a pipe or the rest of the line hides it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from recollect.model.record import CallRecord
from recollect.reading.checks import tells_failure
from recollect.reading.programs import names

_DOCUMENT = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*?(?:\n\1\b|\Z)", re.DOTALL)
_SHELL = re.compile(
    r"^(?:/usr)?(?:/bin/)?(?:ba|z|da)?sh(?:\s+--?\w+)*?\s+-\w*c\s+(['\"])(.*)\1\s*$", re.DOTALL
)
_POWERSHELL = re.compile(
    r"^(?:powershell|pwsh)(?:\.exe)?(?:\s+-(?!Command)\w+(?:\s+Bypass)?)*\s+-Command\s+(['\"]?)"
    r"(.*)\1\s*$",
    re.DOTALL | re.IGNORECASE,
)
_MOVES = re.compile(
    r"^(?:cd|Set-Location|pushd)\s+(?:/d\s+)?(\"[^\"]+\"|'[^']+'|[^\s;&|]+)\s*$", re.IGNORECASE
)
# What only shortens or hides output: the step is what stands before it.
_SHORTENS = re.compile(
    r"\s*(?:\d?>\s*&\d|[12&]?>{1,2}\s*(?:/dev/null|\$null|NUL)\b"
    r"|\|\s*(?:head|tail|cat|grep|rg|sed|awk|wc|sort|less|tee|jq|Select-Object|Select-String"
    r"|Out-String|findstr|cut|uniq)\b[^|]*)\s*$",
    re.IGNORECASE,
)
_PREFIX = re.compile(
    r"^(?:(?:timeout (?:-\S+ )*\S+|time|nice(?: -n \S+)?|sudo(?:\s+-\w+)*|nohup|env|volta run"
    r"|[A-Za-z_]\w*=(?:'[^']*'|\"[^\"]*\"|\S*))\s+)+"
)
_REDIRECTED = re.compile(r"\s*\d?>>?\s*\S+")
# Words of a shell or a language, not programs.
SYNTAX = names(
    "if then else elif fi for while until do done case esac function select in { } ( ) [ [[ ! true "
    "false return break continue local let eval trap unset alias read set export source . def "
    "class "
    "import from print async await const var foreach try catch finally param begin process end "
    "throw pub fn mod use struct impl async yield with raise"
)
# What looks, or says nothing by itself.
TRIVIAL = names(
    "ls cat head tail grep rg find sed echo pwd cd wc mkdir cp mv rm touch which sort uniq awk "
    "tr xargs "
    "test printf sleep tee cut chmod kill ps date diff tree stat file less command type wait "
    "basename "
    "dirname nl jq fd bash sh zsh lsof pkill killall du df whoami id uname dir where del copy "
    "move md "
    "cls exit ping man open code clear history ln chown env printenv apply_patch time git-bash"
)
# Tools of the system, that look at it or change it, in any project.
SYSTEM = names(
    "dmesg ldd pgrep journalctl ss ip dpkg strings lsmod tmux netstat systemctl apt apt-get "
    "apt-cache im-config hostname xxd "
    "perl tar unzip rmdir cmp timeout security defaults launchctl sysctl sw_vers shopt route "
    "hostapd start tasklist taskkill "
    "powershell pwsh cmd findstr more robocopy xcopy certutil args out sub ap"
)
_GIT_TRIVIAL = names("status diff log add show branch rev-parse ls-files blame remote config")
# The script's name says what is run.
_INTERPRETERS = re.compile(r"^(?:python[\d.]*|py|node|bun|deno|tsx|ts-node|ruby|php|perl)$")
_SHELLS = names("bash sh zsh")
_SHELL_SCRIPT = re.compile(r"^[\w.@+/\\-]+\.\w*sh$")
# One more word says what is run: `npm run build`, `docker compose up`.
_TWO_WORDS = frozenset({"run", "exec", "compose", "x", "tool", "pip", "workspace"})
_PROGRAM = re.compile(r"^(?:\.{1,2}/|~/|/|[A-Za-z]:)?[\w.+@/\\-]{2,80}$")
_WORD = re.compile(r"^[\w:@-]{1,30}$")
_CMDLET = re.compile(r"^[A-Z]\w+-[A-Z]\w+$|^[$@%?&(\[]")
# PowerShell that is more than a program and its arguments.
_POWERSHELL_SYNTAX = re.compile(
    r"\$\w+\s*=|\$_|@['\"(]|-(?:replace|match|eq|join|split)\b|\bforeach\b|\[\w+\]::"
)


class CommandStep(NamedTuple):
    """One command of a line: its text in the log, its form, and where it ran.

    `folder` is relative to the session's, "" where that is it, and absolute elsewhere;
    None where nobody knows. `shortened` says that its output went through a pipe.
    """

    text: str
    form: str
    folder: str | None
    shortened: bool
    after: str
    """What stands between it and the next: `&&`, `;`, `||`, `&` or nothing."""


@lru_cache(8192)
def steps(command: str, folder: str | None, home: str) -> tuple[CommandStep, ...]:
    """The commands of a line in order, those that only prepare or look too.

    `folder` is where the line ran, `home` the session's folder.
    """
    line = unwrapped(command)
    found: list[CommandStep] = []
    here, is_first = folder or home, True
    for raw, after in _split(_DOCUMENT.sub("<<…", line)):
        if moved := _MOVES.match(raw):
            to = moved[1].strip("\"'")
            # Where a line is stored to have run is where it was after its first `cd`.
            if folder is None or not is_first or not _is_in(folder, to):
                here = _below(here, to)
            continue
        is_first = False
        text = _bare(raw)
        if text:
            shortened = text != raw and "|" in raw[len(text) :]
            found.append(CommandStep(text, form(text), relative(here, home), shortened, after))
    return tuple(found)


def unwrapped(command: str) -> str:
    """The line that `bash -lc '...'` or `pwsh -Command "..."` runs."""
    line = command.strip()
    if shell := _SHELL.match(line):
        inner = shell[2]
        return (inner.replace("'\\''", "'") if shell[1] == "'" else inner).strip()
    if shell := _POWERSHELL.match(line):
        return shell[2].strip()
    return line


def _split(line: str) -> Iterator[tuple[str, str]]:
    """A line taken apart at `&& || ; &` and line ends, outside of quotes."""
    start, quote, depth, place = 0, "", 0, 0
    line = line.replace("\\\n", "  ")
    while place < len(line):
        char = line[place]
        if char == "\\" and quote != "'":
            place += 2
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "({":
            depth += 1
        elif char in ")}":
            depth = max(0, depth - 1)
        elif depth == 0 and (
            char in ";\n"
            or (
                char == "&"
                and line[place - 1 : place] not in (">", "<")
                and line[place + 1 : place + 2] != ">"
            )
            or line.startswith("||", place)
        ):
            end = place + (2 if line[place : place + 2] in ("&&", "||") else 1)
            if line[start:place].strip():
                yield line[start:place].strip(), line[place:end].replace("\n", ";")
            start = place = end
            continue
        place += 1
    if line[start:].strip():
        yield line[start:].strip(), ""


def _bare(raw: str) -> str:
    """A step without what only shortens its output, and without brackets around it."""
    text = raw.strip()
    while (shorter := _SHORTENS.sub("", text)) != text:
        text = shorter
    return "" if text.startswith("#") else text


@lru_cache(8192)
def form(step: str) -> str:
    """What two runs of one thing share: `npm run build`, `python -m pytest`; empty for what says
    nothing.
    """
    text = _REDIRECTED.sub("", _PREFIX.sub("", step.partition(" | ")[0]))
    plain = text.split()
    if not plain or _CMDLET.match(plain[0]) or plain[0] in SYNTAX or not _PROGRAM.match(plain[0]):
        return ""
    program = plain[0] if plain[0].startswith("./") else re.split(r"[/\\]", plain[0])[-1]
    if program in _SHELLS and len(plain) > 1:
        # A shell that runs a script, or only reads it.
        if plain[1] == "-n":
            return f"{program} -n"
        return f"{program} {plain[1]}" if _SHELL_SCRIPT.match(plain[1]) else ""
    if program in TRIVIAL or "=" in program:
        return ""
    arguments = [word for word in plain[1:] if not word.startswith("-")]
    if program == "git":
        known = arguments and _WORD.match(arguments[0]) and arguments[0] not in _GIT_TRIVIAL
        return f"git {arguments[0]}" if known and "-C" not in plain else ""
    if _INTERPRETERS.match(program) and plain[1:2] not in (["run"], ["x"], ["test"]):
        if plain[1:2] == ["-m"] and len(plain) > 2:
            return f"{program} -m {plain[2]}"
        scripted = arguments and plain[1] not in ("-c", "-e", "-", "<<…", "-p")
        return f"{program} {arguments[0]}" if scripted else ""
    kept = [program]
    for word in arguments:
        if not _WORD.match(word):
            break
        kept.append(word)
        if word not in _TWO_WORDS or len(kept) > 2:
            break
    return " ".join(kept)


@lru_cache(8192)
def action(step: str) -> str:
    """The program with all its subcommands: `bd mol show`; what a remedy has to share."""
    words = _PREFIX.sub("", step.partition(" | ")[0]).split()
    kept = [re.split(r"[/\\]", word)[-1] for word in words[:1]]
    for word in words[1:4]:
        if not re.fullmatch(r"[a-z][a-z:_-]{1,20}", word):
            break
        kept.append(word)
    return re.sub(r"^(python|pip)[\d.]*(?=\s|$)", r"\1", " ".join(kept))


def is_plain(step: str) -> bool:
    """Whether a step can be told as it is: one line, no script, document or secret place."""
    return "\n" not in step and "<<" not in step and not _POWERSHELL_SYNTAX.search(step)


def passed(call: CallRecord, line: tuple[CommandStep, ...], place: int) -> bool | None:
    """Whether one step of a call passed; None where its line does not tell."""
    step, later = line[place], line[place + 1 :]
    if call.passed:
        if step.shortened:
            # The exit code is that of what shortened it: its own last words count.
            return None if later or tells_failure(call.output) else True
        return (
            True
            if not later or all(one.after in ("&&", "") for one in (step, *later[:-1]))
            else None
        )
    if call.failed:
        return (
            False
            if len(line) == 1 or (not later and all(one.after == ";" for one in line[:-1]))
            else None
        )
    return None


def relative(path: str, home: str) -> str | None:
    """A folder as seen from a session's; "" for that itself."""
    one, other = _plain(path), _plain(home)
    if one.casefold() == other.casefold():
        return ""
    if other and one.casefold().startswith(other.casefold() + "/"):
        return one[len(other) + 1 :]
    return re.sub(r"^/(?:home|Users)/[^/]+(?=/|$)", "~", one) or None


def _is_in(folder: str, moved: str) -> bool:
    """Whether a folder may be what a `cd` led to."""
    one, other = _plain(folder).casefold(), _plain(moved).casefold().removeprefix("./")
    return one == other or one.endswith(f"/{other.lstrip('~/')}") or ".." in other.split("/")


def _plain(path: str) -> str:
    path = re.sub(r"/(?:\./)+", "/", path.replace("\\", "/")).rstrip("/")
    # Git Bash writes `/e/work` for `E:\work`, and nobody means another drive by `e:`.
    path = re.sub(r"^/([a-zA-Z])(?=/|$)", r"\1:", path)
    return path[:1].upper() + path[1:] if path[1:2] == ":" else path


def _below(folder: str, path: str) -> str:
    path = path.replace("\\", "/")
    if path.startswith(("/", "~", "$")) or re.match(r"[A-Za-z]:", path):
        return path
    parts = [*_plain(folder).split("/")]
    for part in path.rstrip("/").split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
