"""Which turns changed a file, and what was asked in them.

A path in a log is absolute, or relative to the folder the session began in. A
path that somebody types is taken as the file itself when it is one: the same
absolute path, or the same place below a folder of the same project. When no
change of that file is stored, every file whose path ends so is meant instead,
and each answer says which file it is about.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Literal

from recollect.errors import UsageError
from recollect.model.answers import Answers, ChangedFile, FileChange
from recollect.model.titles import without_pictures
from recollect.reading.shell_edits import changed_files, patched_files
from recollect.recall.query import parse
from recollect.recall.verbs.changes import change_in, shortened
from recollect.system import git
from recollect.system.clock import iso

if TYPE_CHECKING:
    from recollect.model.calls import Call, Scene
    from recollect.model.search import Scope
    from recollect.store import Store

    Match = Literal["path", "project", "suffix"]
    # A call, the file as the call names it, and how that is the file somebody means.
    Touch = tuple[Call, str, Match]

PROMPT_CHARACTERS = 200
# What a list of files is made from, and how long it is.
EDITS_LOOKED_AT, MOST_FILES = 3_000, 100

_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")


class WantedFile:
    """The file somebody means: as a whole path, as a place in a
    project, and as the end of any path.
    """

    def __init__(
        self, file: str, *, cwd: str, root: str | None, project: str | None, folders: list[str]
    ) -> None:
        if not file.strip() or (parse(file).filters and not parse(file).terms):
            raise UsageError("Which file?", hint="Try: recollect blame src/app.py")
        typed = normalised(file)
        self.name = typed.rpartition("/")[2]
        if not self.name or self.name in (".", ".."):
            raise UsageError(
                f'"{file}" is not a file name.',
                hint="Give a path, such as src/app.py or just app.py.",
            )
        self.path = (
            typed if is_absolute(typed) else normalised(posixpath.join(normalised(cwd), typed))
        )
        self.suffix = re.sub(r"^(?:\.\./)+", "", typed).lstrip("/")
        self.project = project
        self.others: set[str] = set()
        top = normalised(root) if root else normalised(cwd)
        if project and self.path.startswith(top.rstrip("/") + "/"):
            inside = self.path[len(top.rstrip("/")) + 1 :]
            self.others = {posixpath.join(normalised(folder), inside) for folder in folders}

    def match(self, path: str, scene: Scene) -> Match | None:
        """How a path in a log is the file that is meant, if it is."""
        seen = whole(path, scene)
        if seen == self.path:
            return "path"
        if seen in self.others and scene.project == self.project:
            return "project"
        return "suffix" if seen == self.suffix or seen.endswith("/" + self.suffix) else None


def blame(
    store: Store,
    file: str,
    *,
    cwd: str,
    project: str | None,
    scope: Scope,
    limit: int | None = 20,
) -> Answers[FileChange]:
    """The turns that changed a file, newest first.

    `project` is that of the folder `cwd`, where it is known.
    """
    wanted = WantedFile(
        file,
        cwd=cwd,
        root=git.work_tree(cwd),
        project=project,
        folders=store.projects.folders(project) if project else [],
    )
    calls = store.calls.naming(wanted.name, scope)
    scenes = store.turns.scenes(list(dict.fromkeys(call.turn for call in calls)))
    exact: dict[int, list[Touch]] = {}
    alike: dict[int, list[Touch]] = {}
    for call in calls:
        for path in dict.fromkeys(_paths(store, call)):
            match = wanted.match(path, scenes[call.turn])
            if match:
                (alike if match == "suffix" else exact).setdefault(call.turn, []).append(
                    (call, path, match)
                )
    # The very file, wherever it was checked out; only without one, whatever is called like it.
    found = exact or alike
    kept = _without_copies([scenes[turn] for turn in found])
    answers = Answers([_row(store, scene, found[scene.turn]) for scene in kept[:limit]])
    others = len(alike.keys() - exact.keys())
    if exact and others:
        answers.remarks.append(
            f"Other files with this name changed in {others} more turns. Type a longer path "
            "to see them."
        )
    elif alike and not exact and wanted.suffix != wanted.path.lstrip("/"):
        answers.remarks.append(
            f"No session changed {wanted.path}. These are files whose path ends in {wanted.suffix}."
        )
    if len(kept) > len(answers):
        answers.remarks.append(f"{len(kept) - len(answers)} more. To see them, raise --limit.")
    return answers


def files(store: Store, scope: Scope, limit: int = MOST_FILES) -> list[ChangedFile]:
    """The files that were changed last, each with how many turns did."""
    calls = store.calls.newest_edits(scope, EDITS_LOOKED_AT)
    scenes = store.turns.scenes(list(dict.fromkeys(call.turn for call in calls)))
    found: dict[tuple[str | None, str], ChangedFile] = {}
    turns: dict[tuple[str | None, str], set[int]] = {}
    for call in calls:
        scene = scenes[call.turn]
        for path in filter(None, call.target.split(", ")):
            key = scene.project, whole(path, scene)
            found.setdefault(key, ChangedFile(file=key[1], project=key[0], at=iso(scene.at)))
            turns.setdefault(key, set()).add(call.turn)
    for key, one in found.items():
        one.turns = len(turns[key])
    return sorted(found.values(), key=lambda one: one.at or "", reverse=True)[:limit]


def _without_copies(scenes: list[Scene]) -> list[Scene]:
    """Newest first; a turn that a fork copied is told once, where it was first."""
    first: dict[tuple[object, ...], Scene] = {}
    for scene in sorted(scenes, key=lambda scene: scene.turn):
        first.setdefault(scene.copy_of, scene)
    return sorted(first.values(), key=lambda scene: (scene.at or 0, scene.turn), reverse=True)


def _paths(store: Store, call: Call) -> list[str]:
    """The files that a call changes, as it names them."""
    [whole_call] = store.calls.whole([call]) if call.cut else [call]
    if call.kind == "shell":
        return changed_files(whole_call.target)
    named = [call.target, *call.target.split(", ")]
    given = whole_call.input
    if given is not None:
        named += [path for text in _texts(given) for path in patched_files(text)]
        named += map(str, given) if isinstance(given, dict) else []
    return named


def _texts(given: object) -> list[str]:
    values = given.values() if isinstance(given, dict) else [given]
    return [
        text
        for value in values
        for text in (value if isinstance(value, list) else [value])
        if isinstance(text, str)
    ]


def _row(store: Store, scene: Scene, touched: list[Touch]) -> FileChange:
    """One turn's changes of the file, told together."""
    outcomes = [call.ok for call, _, _ in touched]
    # What is not known to have passed shows what was tried, where nothing has passed.
    calls = store.calls.whole(call for call, _, _ in touched)
    changes = [
        (call, change_in(call.input, normalised(path)))
        for call, (_, path, _) in zip(calls, touched, strict=True)
        if call.passed or True not in outcomes
    ]
    known = [change for _, change in changes if change.known]
    excerpt = next((text for _, change in reversed(changes) if (text := change.excerpt())), "")
    if not excerpt and changes:
        excerpt = shortened(changes[-1][0].target)
    return FileChange(
        ref=scene.ref, session=scene.session_ref, turn=scene.ordinal, agent=scene.agent,
        project=scene.project, at=iso(scene.at),
        live=bool(scene.live), subagent=scene.subagent, external=scene.external,
        file=whole(touched[-1][1], scene),
        match=touched[-1][2],
        prompt=shortened(without_pictures(scene.prompt), PROMPT_CHARACTERS),
        tools=list(dict.fromkeys(call.name for call, _, _ in touched)), changes=len(touched),
        ok=True if True in outcomes else False if False in outcomes else None,
        added=sum(len(change.added) for change in known) if known else None,
        removed=sum(len(change.removed) for change in known) if known else None,
        excerpt=excerpt,
    )  # fmt: skip


def whole(path: str, scene: Scene) -> str:
    """A path in a log with the folder that it is seen from."""
    path = normalised(path)
    return (
        path
        if is_absolute(path) or not scene.cwd
        else normalised(posixpath.join(normalised(scene.cwd), path))
    )


def normalised(path: str) -> str:
    """A path with forward slashes and without `.`, `..` and doubled
    slashes, where that can be told.
    """
    if _DRIVE.match(path) or ("\\" in path and "/" not in path):
        path = path.replace("\\", "/")
    return posixpath.normpath(path) if path else ""


def is_absolute(path: str) -> bool:
    """Whether a path needs no folder before it, on whatever system it was written."""
    return path.startswith(("/", "~")) or bool(_DRIVE.match(path))
