"""Samples of logs: copies of them that may be spoilt, and what is done with their files."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.model.logs import Source
from recollect.model.sessions import Tokens

# How many sources and files of a sample are looked at where looking at all would take long.
_SOURCES, _FILES = 12, 4


@dataclass(frozen=True)
class Sample:
    """A log, or a folder of logs.

    `count` tells how many tokens there are in a copy of it, without any help of the adapter. A
    sample that holds nothing but trouble has no turns. One that was made up may have the same
    ids in several sessions, as no agent gives them; those of others are distinct. `lay_out`
    makes the copy, where copying is not enough.
    """

    path: Path
    name: str = ""
    count: Callable[[Path], Tokens] | None = None
    has_turns: bool = True
    distinct_ids: bool = True
    lay_out: Callable[[Path, Path], object] | None = None


def copy_sample(sample: Sample, tmp_path: Path) -> Path:
    """A folder with a copy of a sample in it."""
    folder = tmp_path / "sample"
    if sample.lay_out is not None:
        sample.lay_out(sample.path, folder)
    elif sample.path.is_dir():
        shutil.copytree(sample.path, folder)
    else:
        folder.mkdir()
        shutil.copy(sample.path, folder / sample.path.name)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def files(folder: Path) -> list[Path]:
    """All files below a folder."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def some_files(folder: Path, *endings: str, read_by: list[Source] | None = None) -> list[Path]:
    """A few files, the largest first: small ones beside logs seldom matter.

    Of these sources, those alone whose changes make a source be read: what
    lies beside a file that is appended to does not.
    """
    passed_over = ("-wal", "-shm", "README.md")
    logs = [path for path in files(folder) if not path.name.endswith(passed_over)]
    if read_by is not None:
        parts: set[str] = set()
        for source in read_by:
            parts |= {source.path, *(() if source.appended else source.companions)}
        logs = [
            path for path in logs if any(str(place) in parts for place in (path, *path.parents))
        ]
    chosen = [path for path in logs if not endings or path.suffix in endings]
    return sorted(chosen, key=lambda path: -path.stat().st_size)[:_FILES]


def a_few(sources: list[Source]) -> list[Source]:
    """Some sources of many, from all over."""
    return sources[:: max(1, len(sources) // _SOURCES)]


def put_back(path: str, folder: str, away: str) -> None:
    """Put a file, or a folder of files, back into a folder that was moved away."""
    there = away + path.removeprefix(folder)
    if os.path.isdir(there):
        shutil.copytree(there, path, dirs_exist_ok=True)
        return
    # What SQLite keeps beside a database is part of it.
    for suffix in ("", "-wal", "-shm"):
        if os.path.isfile(there + suffix):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copy2(there + suffix, path + suffix)


_watching: list[list[str]] = []
_hooked: list[bool] = []


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """The paths of the files that are opened meanwhile."""
    if not _hooked:
        # A hook cannot be taken away again, so there is one for good, which mostly does nothing.
        sys.addaudithook(_audit)
        _hooked.append(True)
    opened: list[str] = []
    _watching.append(opened)
    try:
        yield opened
    finally:
        _watching.remove(opened)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event == "open" and isinstance(arguments[0], str):
        for opened in _watching:
            opened.append(arguments[0])
