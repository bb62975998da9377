"""Whose chat it is, and the folder it worked in.

A chat is a person's, or a sub-agent's that works for another chat. Transcripts
lie in a folder named after the working directory with everything but letters
and digits turned into `-`; the chats of the command line in one named by its
MD5. Neither can be turned back. But a path that the chat itself mentions can be
turned the same way: when one of its parent folders gives that very name, it is
the working directory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from hashlib import md5
from typing import Any, NamedTuple

from recollect.capture.logs.values import fields_of, first_text, text_of
from recollect.model.logs import Author

# What a chat is called when nobody named it.
UNTITLED = {"", "New Agent", "New Chat"}
_PATH = re.compile(r"^(?:/|[A-Za-z]:[\\/])[^\n\"'<>|*?]{1,1000}$")
_SEPARATORS = re.compile(r"[\\/]")
_OTHER = re.compile(r"[^a-z0-9]+")
# Arguments of one call that are looked at, and how deep a folder may lie.
_MOST_VALUES = 12
_MOST_PARENTS = 40


class CursorChatOwner(NamedTuple):
    """A chat's session and, for a sub-agent's, the session it works for."""

    session: str
    parent: str | None = None

    @property
    def author(self) -> Author:
        """Who asks: a sub-agent is asked by the agent."""
        return "human" if self.parent is None else "agent"


def owner_of(name: str, info: Any) -> CursorChatOwner:
    """The lineage of a chat from its `subagentInfo`.

    The two places that have one name its fields differently.
    """
    told = fields_of(info)
    parent = text_of(told.get("parentComposerId")) or text_of(told.get("parentAgentId"))
    if parent is None or parent == name:
        return CursorChatOwner(name)
    root = first_text(told.get("rootParentComposerId"), told.get("rootParentAgentId")) or parent
    return CursorChatOwner(f"{root}/{name}", parent if parent == root else f"{root}/{parent}")


# The folder, proven by a name that was made from it ----------------------------


def is_slug_of(name: str) -> Callable[[str], bool]:
    """Tells whether a folder's path gives the name that a project's transcripts have."""
    plain = _plain(name)
    return lambda folder: bool(plain) and _plain(folder) == plain


def is_md5_of(name: str) -> Callable[[str], bool]:
    """Tells whether a folder's path gives the name that a project's chats have."""
    return lambda folder: (
        md5(folder.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest() == name
    )


def folder_in(arguments: Any, is_it: Callable[[str], bool]) -> str | None:
    """The working directory, if one of these arguments lies in it."""
    values = arguments.values() if isinstance(arguments, dict) else [arguments]
    for value, _ in zip(values, range(_MOST_VALUES), strict=False):
        if isinstance(value, str) and _PATH.match(value):
            for folder in _folders(value):
                if is_it(folder):
                    return folder
    return None


def _folders(path: str) -> Iterator[str]:
    """A path and the folders around it, the nearest first."""
    ends = [found.start() for found in _SEPARATORS.finditer(path)][:_MOST_PARENTS]
    for end in reversed([*ends, len(path)]):
        if path[:end].strip("/\\"):
            yield path[:end]


def _plain(name: str) -> str:
    return _OTHER.sub("-", name.lower()).strip("-")
