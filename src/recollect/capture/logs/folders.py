"""Folders of other programs, listed without being upset by what is in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple


class FolderListing(NamedTuple):
    """What is in a folder: full paths, sorted."""

    files: list[str]
    folders: list[str]


def list_folder(folder: str) -> FolderListing:
    """The files and the folders in a folder; none when it is not there or may not be looked at."""
    files: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                (folders if is_folder(entry) else files).append(entry.path)
    except (OSError, ValueError):
        return FolderListing([], [])
    return FolderListing(sorted(files), sorted(folders))


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder; a loop of links is none, and reading it will say so."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def files_in(folder: str, *endings: str) -> Iterator[str]:
    """The files of a folder that end in one of these, sorted."""
    for path in list_folder(folder).files:
        if path.endswith(endings):
            yield path


def name_in_text(path: str) -> str:
    """The last part of a path as text: a file name need not be text, an id must be."""
    return os.path.basename(path).encode("utf-8", "backslashreplace").decode()
