"""The block: what most sessions run and touch, as names, by recency.

Command forms and base names of files, once each, name nearly all of what the next session
runs and edits again. It is a list, so it stays small: 120 tokens at most.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from recollect.distill.finders.given_up import GivenUp
from recollect.distill.finders.safe import is_plain_name
from recollect.distill.finders.stale import Disk, inside
from recollect.distill.finders.steps import SYSTEM, form, is_plain, steps
from recollect.model.record import SessionRecord
from recollect.reading.quoting import is_plain_command

# After so many sessions a use counts half.
HALF_LIFE = 8
LINE_CHARACTERS = 216
SHORT_COMMAND = 45
# Of the room, what commands may take before files come.
COMMANDS_SHARE = 0.45
CHARACTERS_PER_TOKEN = 3.6
# Names that say nothing without their folder.
_COMMON = frozenset(
    (
        "index.ts", "index.tsx", "index.js", "mod.rs", "__init__.py", "page.tsx", "route.ts",
        "main.rs", "main.go", "main.py", "lib.rs", "README.md", "package.json", "layout.tsx",
    )
)  # fmt: skip
_NAME = re.compile(r"[\w ./:@+~\\-]+")
# Names that a program made up.
_MADE_UP = re.compile(r"^[0-9a-f]{6,}\.|(?=[A-Za-z0-9]*\d)(?=\w*[A-Z])[A-Za-z0-9]{20,}")
_MANY = re.compile(r",\s+(?=[/~\w.])")


def lines(
    sessions: Sequence[SessionRecord], tokens: float, known: str = "",
    *, lines_each: int = 1, disk: Disk | None = None, given_up: GivenUp | None = None,
) -> list[str]:  # fmt: skip
    """The block within some tokens, at most so many lines of commands and of files.

    Forms that `known` text names already are left out.
    """
    forms, files = used(sessions, disk)
    room = tokens * CHARACTERS_PER_TOKEN
    head = "Also run: " if known else "Run most: "
    names = (
        name
        for name in _command_names(forms, known)
        if given_up is None or not given_up.names(name.strip("`"))
    )
    commands = list(_within(names, room * COMMANDS_SHARE, len(head)))
    room -= sum(len(name) + 2 for name in commands)
    touched = list(_within(_file_names(files, known), room, len("Files: ")))
    return [*_wrapped(head, commands, lines_each), *_wrapped("Files: ", touched, lines_each)]


class Weights:
    """How much each thing was used, the newer the more, and in which words."""

    def __init__(self) -> None:
        self.weights: defaultdict[str, float] = defaultdict(float)
        self.texts: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def ranked(self) -> list[str]:
        return sorted(self.weights, key=lambda name: (-self.weights[name], name))


def used(sessions: Sequence[SessionRecord], disk: Disk | None = None) -> tuple[Weights, Weights]:
    """The forms and the files of sessions, the oldest first; an edit counts twice.

    What is no longer on the project's disk is not counted.
    """
    forms, files = Weights(), Weights()
    here = disk
    for number, session in enumerate(sessions):
        # Paths are as seen from where a session began: another folder says nothing of them.
        disk = here if here and session.folder == str(here.folder) else None
        weight = 0.5 ** ((len(sessions) - 1 - number) / HALF_LIFE)
        seen: dict[str, float] = {}
        for _, call in session.calls():
            if call.kind == "shell":
                for step in steps(call.target, call.folder, session.folder):
                    is_gone = (
                        disk and step.folder is not None and disk.lacks(step.text, step.folder)
                    )
                    if not call.failed and step.form and step.folder is not None and not is_gone:
                        forms.texts[step.form][step.text] += 1
                        seen[f"run {step.form}"] = weight
            elif call.kind in ("edit", "read") and call.target:
                for path in _MANY.split(call.target.partition("\n")[0]):
                    within = inside(path, session.folder)
                    if disk and within and not disk.has(within):
                        continue
                    kind = f"{call.kind} {path}"
                    seen[kind] = weight * (2 if call.kind == "edit" else 1)
        for kind, amount in seen.items():
            verb, _, name = kind.partition(" ")
            (forms if verb == "run" else files).weights[name] += amount
    return forms, files


def _command_names(forms: Weights, known: str) -> Iterator[str]:
    """Each form, or the command that it mostly is where that is short."""
    for name in forms.ranked():
        if (
            _names(known, name)
            or name.split()[0] in SYSTEM
            or not _NAME.fullmatch(name)
            or len(name) < 3
            or not is_plain_command(name)
        ):
            continue
        text, times = forms.texts[name].most_common(1)[0]
        shown = _shown(name, text)
        if not shown:
            continue
        is_usual = (
            times > 1
            and len(text) <= SHORT_COMMAND
            and form(text) == name
            and is_plain(text)
            and is_plain_command(text)
            and not any(char in text for char in ("`", "$", "  "))
        )
        yield f"`{text if is_usual else shown}`"


def _shown(name: str, text: str) -> str:
    """A form as it stands in a command: up to its last word, with the options before that."""
    pattern = r"\s+(?:-\S+\s+)*?".join(map(re.escape, name.split()))
    found = re.search(rf"(?<![\w-]){pattern}(?![\w-])", text)
    return found[0] if found and len(found[0]) <= SHORT_COMMAND + 15 else ""


def _names(text: str, name: str) -> bool:
    pattern = r"\s+(?:-\S+\s+)*".join(map(re.escape, name.split()))
    return re.search(rf"(?<![\w/.-]){pattern}(?![\w-])", text) is not None


def _file_names(files: Weights, known: str) -> Iterator[str]:
    by_name: defaultdict[str, float] = defaultdict(float)
    for path in files.ranked():
        by_name[base_name(path)] += files.weights[path]
    for name in sorted(by_name, key=lambda name: (-by_name[name], name)):
        if name not in known and is_plain_name(name) and not _MADE_UP.search(name):
            yield name


def base_name(path: str) -> str:
    """A file without its folder, unless its name says nothing alone."""
    parts = re.split(r"[/\\]", path.rstrip("/\\"))
    return "/".join(parts[-2:] if parts[-1] in _COMMON else parts[-1:])


def _within(names: Iterator[str], room: float, head: int) -> Iterator[str]:
    left = room - head
    for name in dict.fromkeys(names):
        if len(name) + 2 <= left:
            left -= len(name) + 2
            yield name
        elif left < 8:
            return


def _wrapped(head: str, names: Sequence[str], most: int) -> list[str]:
    """Names as at most so many lines that are short enough."""
    found: list[str] = []
    line = head
    for name in names:
        if len(line) + len(name) > LINE_CHARACTERS:
            found.append(line.rstrip(", "))
            line = head
        line += f"{name}, "
    return [*found, line.rstrip(", ")][:most] if names else []
