"""What is written into a project's own files.

Field names are what `--json` prints; docs/json.md promises them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from msgspec import Struct, field


class Target(NamedTuple):
    """A file below a project's folder; `{skill}` in its path is the name of the skill.

    A new one begins with `head`, and ours is what follows. Where the file
    `instead` is there, that one gets the block, and this one a line that has it
    read. What is not `usual` is published to when it is asked for by name.
    """

    name: str
    path: str
    head: str = ""
    instead: str | None = None
    import_line: str = ""
    is_skill: bool = False
    usual: bool = True


# `edited` has been changed by hand since we wrote it, and `kept` stays so because a person
# wants it to; `covered` needs no block of its own.
PublishedState = Literal["new", "changed", "unchanged", "removed", "edited", "kept", "covered"]
# Those of a file that is not what it would be.
DUE: tuple[PublishedState, ...] = ("new", "changed", "removed", "edited")


class Publication(Struct, kw_only=True):
    """One file that is published to: what is, or would be, done to it.

    `refs` are the notes in it; `left_out` those that
    there was no room for. `written` says that it was done.
    """

    folder: str
    path: str
    target: str
    state: PublishedState
    refs: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    diff: str = ""
    written: bool = False
    note: str = ""


# What to do with a block that was changed by hand, and who says so.
Decision = Literal["keep", "overwrite"]
Decide = Callable[[Publication], Decision]


class Block(NamedTuple):
    """What stands in a file of ours now, as far as we wrote it.

    `made` when the file was not there before.
    """

    path: str
    target: str
    hash: str
    refs: tuple[str, ...]
    made: bool
