"""The files that differ from what was last committed; for a person at a terminal, never a hook.

The one place where git is run: what differs is in no file of git's alone.
"""

from __future__ import annotations

import os
import subprocess

MOST_FILES = 50


def uncommitted(folder: str, *, seconds: float) -> list[str]:
    """The changed and new files of the repository that a folder is in, the newest first.

    None outside a repository, without git, or when git takes too long. Nothing is locked,
    and no program that the repository's settings name is started.
    """
    words = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain",
             "-z", "--no-renames", "--ignore-submodules=all"]  # fmt: skip
    try:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, timeout=seconds, check=True,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        top = subprocess.run(
            ["git", "rev-parse", "--show-toplevel"], cwd=folder, capture_output=True,
            timeout=seconds, check=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return []
    root = os.fsdecode(top.stdout).rstrip("\n")
    named = [os.fsdecode(entry[3:]) for entry in done.stdout.split(b"\0") if len(entry) > 3]
    files = [os.path.join(root, name) for name in named if not name.endswith("/")]
    return sorted(files, key=_changed_at, reverse=True)[:MOST_FILES]


def _changed_at(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0
