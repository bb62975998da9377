"""What the files on disk say of what was found: a script that is gone, a path that moved.

Logs tell how it was; the folder tells how it is. A command is stale when a file that it runs
is no longer where it ran, or its script is no longer in package.json; a sentence when it
names a file that was read or edited there and is gone. Where the project's folder is not on
this machine nothing is known, and nothing is left out. What was found on a branch that is
still there, and is not the one checked out, says so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec

from recollect.distill.finders.cleaning import LINE_CHARACTERS
from recollect.distill.finders.steps import relative, steps
from recollect.model.candidates import Candidate
from recollect.model.record import SessionRecord
from recollect.system.git import repository

_SPAN = re.compile(r"`([^`]+)`")
_LISTED = re.compile(r"^(?:Checks|Tests)(?: in [^`]+)?: ")
# What a command runs or reads, as far as its name tells that it is a file of the project.
_FILE = re.compile(
    r"^(?:\./)?(?:[\w.@+-]+/)*[\w.@+-]+\.(?:sh|py|js|cjs|mjs|ts|ps1|rb|pl|php|json|ya?ml|toml|cfg|ini|conf)$"
)
_NAMED = re.compile(r"(?:[\w.@+-]+/)+[\w.@+-]+\.\w{1,6}\b|\b[\w-]+\.\w{1,6}\b")
# What follows these is made by the command, or is no file.
_MADE = ("-o", "--output", "--out", ">", ">>", "-k", "-m", "--grep", "-t")
_SCRIPT = re.compile(r"^(?:npm|pnpm|yarn|bun) (?:run |run-script )?(?:-\S+ )*([\w:.-]+)")
# These come with the program.
_BUILT_IN = frozenset(
    [
        "install",
        "i",
        "ci",
        "add",
        "remove",
        "update",
        "upgrade",
        "audit",
        "publish",
        "pack",
        "link",
        "exec",
        "dlx",
        "x",
        "init",
        "create",
        "why",
        "list",
        "ls",
        "outdated",
        "dedupe",
        "prune",
        "version",
        "info",
        "view",
        "config",
        "cache",
        "store",
        "set",
        "node",
        "workspace",
        "workspaces",
        "bin",
        "dev-bin",
    ]
)
_SAYS_ITS_BRANCH = ("conclusion", "commit", "plan")


def still_true(
    candidates: Iterable[Candidate], sessions: Sequence[SessionRecord], folder: Path
) -> Iterator[Candidate]:
    """Candidates that the files of a project's folder do not speak against."""
    if not folder.is_dir():
        yield from candidates
        return
    disk = Disk(folder)
    ran = _where_it_ran(sessions)
    gone = _gone(sessions, disk)
    branches = _other_branches(sessions, folder)
    for candidate in candidates:
        stale = [
            text
            for text in _SPAN.findall(candidate.text)
            if text in ran and all(disk.lacks(text, one) for one in ran[text])
        ]
        if stale:
            left = _without(candidate, stale)
            if left is None:
                continue
            candidate = left
        if not any(name in gone for name in _NAMED.findall(candidate.text)):
            yield _with_branch(candidate, branches)


class Disk:
    """The files of a project as they are now."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.has = cache(self._has)
        self._scripts = cache(self._scripts_in)

    def _has(self, path: str) -> bool:
        with suppress(OSError, ValueError):
            return (self.folder / path).exists()
        return True

    def _scripts_in(self, folder: str) -> Mapping[str, object] | None:
        """The scripts of a package.json; None where there is none that can be read."""
        with suppress(OSError, ValueError, msgspec.MsgspecError):
            text = (self.folder / folder / "package.json").read_bytes()
            package = msgspec.json.decode(text, type=dict[str, object])
            scripts = package.get("scripts", {})
            return scripts if isinstance(scripts, dict) else {}
        return None

    def lacks(self, command: str, folder: str) -> bool:
        """Whether a command that ran in a folder of the project cannot run there any more."""
        if folder and not _is_inside(folder):
            return False
        if not self.has(folder):
            return True
        words = command.split()
        for before, word in zip(["", *words], words, strict=False):
            path = word.partition("::")[0].removeprefix("./")
            path = f"{folder}/{path}" if folder else path
            if before not in _MADE and _FILE.match(path) and not self.has(path):
                return True
        script = _SCRIPT.match(command)
        if script is None or script[1] in _BUILT_IN:
            return False
        scripts = self._scripts(folder)
        is_run = " run" in script[0] or command.startswith("npm")
        return scripts is not None and is_run and script[1] not in scripts


def _where_it_ran(sessions: Sequence[SessionRecord]) -> Mapping[str, set[str]]:
    """The folders of the project in which each command ran."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for session in sessions:
        for _, call in session.calls():
            if call.kind == "shell":
                for step in steps(call.target, call.folder, session.folder):
                    if step.form and step.folder is not None and _is_inside(step.folder):
                        found[step.text].add(step.folder)
    return found


def _gone(sessions: Sequence[SessionRecord], disk: Disk) -> frozenset[str]:
    """The names, with and without their folders, of files that were there and are not."""
    there: set[str] = set()
    gone: set[str] = set()
    for session in sessions:
        for _, call in session.calls():
            if call.kind in ("read", "edit") and call.passed:
                path = inside(call.target.partition("\n")[0], session.folder)
                if path:
                    parts = path.split("/")
                    names = {"/".join(parts[at:]) for at in range(len(parts))}
                    (there if disk.has(path) else gone).update(names)
    return frozenset(gone - there)


def inside(path: str, home: str) -> str | None:
    """A path as seen from a session's folder; None where it is elsewhere."""
    found = relative(path, home)
    return found if found and _is_inside(found) else None


def _is_inside(path: str) -> bool:
    return not path.startswith(("/", "~", "..", "$")) and path[1:2] != ":"


def _without(candidate: Candidate, stale: Sequence[str]) -> Candidate | None:
    """A list of commands without some of them; None where nothing is left, or it is no list."""
    head = _LISTED.match(candidate.text)
    kept = [text for text in _SPAN.findall(candidate.text) if text not in stale]
    if head is None or not kept:
        return None
    return candidate._replace(text=head[0] + ", ".join(f"`{text}`" for text in kept))


def _other_branches(sessions: Sequence[SessionRecord], folder: Path) -> Mapping[str, str]:
    """The branch of each session that was on one which is there and not checked out."""
    common = repository(str(folder))
    if common is None:
        return {}
    head, packed = "", ""
    with suppress(OSError):
        head = (Path(common) / "HEAD").read_text("utf-8").strip().removeprefix("ref: refs/heads/")
    with suppress(OSError):
        packed = (Path(common) / "packed-refs").read_text("utf-8", "replace")
    found = {}
    for session in sessions:
        branch = session.branch
        if branch and branch != head and ".." not in branch:
            is_there = (Path(common) / "refs" / "heads" / branch).is_file()
            if is_there or f" refs/heads/{branch}\n" in packed:
                found[session.ref] = branch
    return found


def _with_branch(candidate: Candidate, branches: Mapping[str, str]) -> Candidate:
    """What was said on another branch, with its name, if the line has room for it."""
    branch = branches.get(candidate.turn.rpartition("#")[0])
    if branch is None or candidate.kind not in _SAYS_ITS_BRANCH:
        return candidate
    text = f"{candidate.text} (on branch `{branch}`)"
    return candidate._replace(text=text) if len(text) <= LINE_CHARACTERS else candidate
