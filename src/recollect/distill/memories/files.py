"""A project's memory as files that a person, or an agent, can read.

    <home>/memories/<sha256 of the project's key>/memory/
      memory_summary.md                      one line for each trace memory, newest first
      trace_summaries/<session>_<title>.md   one for each
      MEMORY.md
      skills/<name>/SKILL.md

They follow the rows: what differs is written again, what has no row any more
is removed. Only names and contents of ours are touched, so what somebody else
keeps in these folders stays. A link is refused, wherever it stands: it would
lead out of a folder that only its owner may read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256

from recollect.errors import FileRefused, FileUnwritable
from recollect.store.traces import KeptTrace
from recollect.system import platforms
from recollect.system.clock import iso

SUMMARY, TRACES, SKILLS, MEMORY = "memory_summary.md", "trace_summaries", "skills", "MEMORY.md"
SUMMARY_HEADING = "# Sessions of this project, newest first"
NO_TRACES = "No memory traces yet."
SLUG_CHARACTERS, NAME_CHARACTERS = 64, 180
# In the front matter of every skill of ours.
SKILL_MARK = "recollect-id:"

_ILLEGAL = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
_OTHER = re.compile(r"[^a-z0-9]+")
_HEADER = re.compile(
    r"session: (?P<session>[^\n]+)\ncwd: [^\n]*\nsource: [^\n]*\nupdated_at: [^\n]*\n\n"
)


def folder_name(project: str) -> str:
    """The name of a project's folder, which says nothing about the project."""
    return sha256(project.encode("utf-8", "surrogatepass")).hexdigest()


def folder_of(home: str, project: str) -> str:
    """Where the memory of a project is."""
    return _folder(home, folder_name(project))


def _folder(home: str, name: str) -> str:
    return os.path.join(home, "memories", name, "memory")


def slug_of(title: str) -> str:
    """A title as a part of a file's name."""
    return _OTHER.sub("_", title.lower()).strip("_")[:SLUG_CHARACTERS].strip("_") or "trace"


def trace_name(session: str, title: str) -> str:
    """The name of a trace memory's file."""
    return f"{_id(session)}_{slug_of(title)}.md"


def _id(session: str) -> str:
    name = _ILLEGAL.sub("-", session).encode("utf-8", "replace").decode()
    if len(name.encode()) <= NAME_CHARACTERS:
        return name
    # Too long for a file system; two that begin alike stay two.
    return f"{name.encode()[: NAME_CHARACTERS - 17].decode('utf-8', 'ignore')}-{sha256(session.encode()).hexdigest()[:16]}"


def trace_text(trace: KeptTrace) -> str:
    """What a trace memory's file holds."""
    facts = {
        "session": trace.session,
        "cwd": trace.cwd,
        "source": trace.source,
        "updated_at": iso(trace.at),
    }
    head = "".join(f"{name}: {' '.join((value or '').split())}\n" for name, value in facts.items())
    # A path need not be text.
    return f"{head.encode('utf-8', 'replace').decode()}\n{trace.memory}\n"


def summary_text(traces: Sequence[KeptTrace]) -> str:
    """What memory_summary.md holds."""
    lines = [f"- {trace.summary} (trace: {trace.session})\n" for trace in traces]
    return f"{SUMMARY_HEADING}\n\n" + ("".join(lines) or NO_TRACES + "\n")


def write(
    home: str, project: str, traces: Sequence[KeptTrace], published: Mapping[str, str]
) -> bool:
    """Make the files of a project equal to its rows; says whether anything changed.

    To be called while nobody else can write the store: of two who write
    files, the later one then has the later rows.
    """
    folder = folder_of(home, project)
    wanted = {
        os.path.join(TRACES, trace_name(trace.session, trace.title)): trace_text(trace)
        for trace in traces
    }
    wanted |= {
        SUMMARY: summary_text(traces),
        **{os.path.join(*name.split("/")): text for name, text in published.items()},
    }
    try:
        _refuse_links(home, folder)
        changed = [
            _write(home, os.path.join(folder, name), text)
            for name, text in wanted.items()
            if not _is_foreign(folder, name)
        ]
        return _remove_orphans(folder, wanted) or any(changed)
    except OSError as error:
        raise FileUnwritable(error.filename or folder, error.strerror or str(error)) from error


def clear(home: str, name: str) -> None:
    """Remove what is ours in the folder of this name, and the folder if nothing else is in it."""
    folder = _folder(home, name)
    try:
        _refuse_links(home, folder)
        _remove_orphans(folder, {})
        for empty in (folder, os.path.dirname(folder)):
            _remove_if_empty(empty)
    except OSError as error:
        raise FileUnwritable(error.filename or folder, error.strerror or str(error)) from error


def _is_foreign(folder: str, name: str) -> bool:
    """Whether a skill of this name is there that is not ours."""
    path = os.path.join(folder, name)
    return name.startswith(SKILLS) and _is_plain(path) and not _is_our_skill(_read(path) or "")


def _is_our_skill(text: str) -> bool:
    return SKILL_MARK in text.partition("\n---\n")[0]


def _refuse_links(home: str, path: str) -> None:
    """Nothing between our home and a path may be a link."""
    while len(path) > len(home):
        with suppress(FileNotFoundError):
            mode = os.lstat(path).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise FileRefused(
                    f"{path} is a link or a device",
                    hint="Move it away, then run the same command again.",
                )
        path = os.path.dirname(path)


def _write(home: str, path: str, text: str) -> bool:
    _refuse_links(home, path)
    _ensure_private(home, os.path.dirname(path))
    if _read(path) == text and not platforms.open_to_others(path):
        return False
    platforms.replace_text(path, text)
    return True


def _ensure_private(home: str, folder: str) -> None:
    """The folders from our home down to this one, each for its owner alone."""
    if len(folder) > len(home):
        _ensure_private(home, os.path.dirname(folder))
    platforms.private_folder(folder)


def _read(path: str) -> str | None:
    """What a file of ours holds; None when it is not there, or holds what we never write."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (FileNotFoundError, UnicodeDecodeError):
        return None


def _remove_orphans(folder: str, wanted: Mapping[str, str]) -> bool:
    """Remove files of ours that nobody wants any more, and what a killed process left of one."""
    removed = False
    for path in _ours(folder):
        if os.path.relpath(path, folder) not in wanted:
            os.unlink(path)
            removed = True
            if os.path.basename(path) == "SKILL.md":
                _remove_if_empty(os.path.dirname(path))
    for inner in (os.path.join(folder, TRACES), os.path.join(folder, SKILLS)):
        _remove_if_empty(inner)
    return removed


def _ours(folder: str) -> list[str]:
    found = [os.path.join(folder, name) for name in (SUMMARY, MEMORY)]
    traces, skills = os.path.join(folder, TRACES), os.path.join(folder, SKILLS)
    for name in _names(traces):
        path = os.path.join(traces, name)
        header = (
            _HEADER.match(_read(path) or "") if name.endswith(".md") and _is_plain(path) else None
        )
        if header is not None and name.startswith(_id(header["session"]) + "_"):
            found.append(path)
    for name in _names(skills):
        path = os.path.join(skills, name, "SKILL.md")
        if _is_plain(path) and _is_our_skill(_read(path) or ""):
            found.append(path)
    for inner in (folder, traces, *(os.path.join(skills, name) for name in _names(skills))):
        found += [
            os.path.join(inner, name)
            for name in _names(inner)
            if name.startswith(platforms.PARTIAL)
        ]
    return [path for path in found if _is_plain(path)]


def _names(folder: str) -> list[str]:
    is_folder = os.path.isdir(folder) and not os.path.islink(folder)
    return sorted(os.listdir(folder)) if is_folder else []


def _is_plain(path: str) -> bool:
    return (
        os.path.isfile(path)
        and not os.path.islink(path)
        and not os.path.islink(os.path.dirname(path))
    )


def _remove_if_empty(folder: str) -> None:
    with suppress(OSError):
        os.rmdir(folder)
