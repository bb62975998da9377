"""The parts of an integration: hooks, an entry for our server, a file of our own.

A part knows the file it lives in and how to add, find and remove itself there
as text. It writes nothing: what it makes goes into a `Draft`.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Literal

from recollect.serve.install.command import is_ours, words_of
from recollect.serve.install.files import BACKUP
from recollect.serve.install.jsonc import JsonFile, JsonPath
from recollect.serve.install.toml import TomlFile

Name = Literal["hooks", "mcp", "skill"]
SERVER = "recollect"
TAKEN = f"another server there is called {SERVER}; rename it, then run this again"


class SkipPart(Exception):
    """A part that is left as it is, and why."""


class InstallPart(ABC):
    """One thing that we give an agent.

    `name` is hooks, mcp or skill; `ours` says that nothing else is in its file.
    """

    ours = False

    def __init__(self, name: Name, path: str) -> None:
        self.name, self.path = name, path

    @abstractmethod
    def added(self, text: str | None) -> str:
        """The file's text with this part in it, as it should be now."""

    @abstractmethod
    def removed(self, text: str, before: str | None) -> str | None:
        """The file's text without this part, or None when nothing is left.

        `before` is what the file held before we first changed it, None when
        there was no file. What was there then is not ours to take away, even
        if it is empty.
        """

    @abstractmethod
    def found(self, text: str | None) -> list[str] | None:
        """The command that the part calls, as words; None when it is not there."""


class JsonPart(InstallPart):
    """A part that is one or more entries of a JSON file."""

    def added(self, text: str | None) -> str:
        document = JsonFile(text or "", self.path)
        self.add_to(document)
        return document.text

    def removed(self, text: str, before: str | None) -> str | None:
        document = JsonFile(text, self.path)
        earlier = JsonFile(before, self.path + BACKUP) if before is not None else None
        for path in reversed(self.places(document)):
            document.remove(path)
            _prune(document, path[:-1], earlier)
        self.tidy(document, earlier)
        if before is None:
            return None if document.empty else document.text
        as_before = (_squeezed(before), _squeezed(before) + "{}")
        return before if _squeezed(document.text) in as_before else document.text

    def found(self, text: str | None) -> list[str] | None:
        document = JsonFile(text or "", self.path)
        places = self.places(document)
        return self.words_at(document, places[0]) if places else None

    @abstractmethod
    def add_to(self, document: JsonFile) -> None:
        """Put the entries in, or bring those that are there up to date."""

    @abstractmethod
    def places(self, document: JsonFile) -> list[JsonPath]:
        """Where our entries stand, in file order."""

    @abstractmethod
    def words_at(self, document: JsonFile, place: JsonPath) -> list[str]:
        """The command of the entry at a place."""

    def tidy(self, document: JsonFile, earlier: JsonFile | None) -> None:
        """Take away what came along with the entries, once they are gone."""


class JsonServer(JsonPart):
    """Our server among an agent's MCP servers."""

    def __init__(self, path: str, table: str, entry: Mapping[str, Any]) -> None:
        super().__init__("mcp", path)
        self.place, self.entry = (table, SERVER), entry

    def add_to(self, document: JsonFile) -> None:
        if not document.has(*self.place):
            document.set(self.place, dict(self.entry))
            return
        if not self.places(document):
            raise SkipPart(TAKEN)
        # How we are called is ours to change; a timeout or a switch that somebody set is not.
        for key in ("command", "args"):
            if key in self.entry:
                document.set((*self.place, key), self.entry[key])

    def places(self, document: JsonFile) -> list[JsonPath]:
        return [self.place] if is_ours(words_of(document.get(*self.place)), "mcp") else []

    def words_at(self, document: JsonFile, place: JsonPath) -> list[str]:
        return words_of(document.get(*place))


class JsonHooks(JsonPart):
    """Our hooks among others: by event a list of groups, or of bare
    handlers where the agent has no groups.
    """

    # The keys of a handler that say what is run; the others are the user's to change.
    CALL = ("command", "args", "bash", "powershell")

    def __init__(
        self,
        path: str,
        agent: str,
        groups: Mapping[str, Mapping[str, Any]],
        *,
        version: int | None = None,
    ) -> None:
        super().__init__("hooks", path)
        self.agent, self.groups, self.version = agent, groups, version

    def add_to(self, document: JsonFile) -> None:
        if self.version is not None and not document.has("version"):
            document.set(("version",), self.version)
        for place in reversed(self.places(document)):
            if place[1] not in self.groups:
                document.remove(place)
                _prune(document, place[:-1], None)
        for event, group in self.groups.items():
            places = [place for place in self.places(document) if place[1] == event]
            for place in reversed(places[1:]):
                document.remove(place)
            if places:
                self._update(
                    document, self._handler(document, places[0]), group.get("hooks", [group])[0]
                )
            else:
                document.append(("hooks", event), dict(group))

    def places(self, document: JsonFile) -> list[JsonPath]:
        events = document.get("hooks")
        places: list[JsonPath] = []
        for event, groups in events.items() if isinstance(events, dict) else ():
            for index, group in enumerate(groups if isinstance(groups, list) else ()):
                inner = group.get("hooks") if isinstance(group, dict) else None
                handlers = inner if isinstance(inner, list) else [group]
                ours = [
                    at
                    for at, handler in enumerate(handlers)
                    if is_ours(words_of(handler), "hook", self.agent)
                ]
                if ours and len(ours) == len(handlers):
                    places.append(("hooks", event, index))
                else:
                    places += [("hooks", event, index, "hooks", at) for at in ours]
        return places

    def words_at(self, document: JsonFile, place: JsonPath) -> list[str]:
        return words_of(document.get(*self._handler(document, place)))

    def tidy(self, document: JsonFile, earlier: JsonFile | None) -> None:
        came_along = self.version is not None and not (earlier and earlier.has("version"))
        if came_along and document.root.value == {"version": self.version}:
            document.remove(("version",))

    def _handler(self, document: JsonFile, place: JsonPath) -> JsonPath:
        return (*place, "hooks", 0) if document.has(*place, "hooks", 0) else place

    def _update(self, document: JsonFile, place: JsonPath, wanted: Mapping[str, Any]) -> None:
        for key in self.CALL:
            if key in wanted:
                document.set((*place, key), wanted[key])
            elif document.has(*place, key):
                document.remove((*place, key))


class TomlServer(InstallPart):
    """Our server as a table of a TOML file."""

    def __init__(self, path: str, table: str, entry: Mapping[str, Any]) -> None:
        super().__init__("mcp", path)
        self.place, self.entry = (table, SERVER), entry

    def added(self, text: str | None) -> str:
        document = TomlFile(text or "", self.path)
        if document.get(*self.place) is not None and not self._ours(document):
            raise SkipPart(TAKEN)
        document.set(self.place, dict(self.entry))
        return document.text

    def removed(self, text: str, before: str | None) -> str | None:
        document = TomlFile(text, self.path)
        if self._ours(document):
            document.remove(self.place)
        if before is None:
            return None if document.empty else document.text
        return before if _squeezed(document.text) == _squeezed(before) else document.text

    def found(self, text: str | None) -> list[str] | None:
        return self._ours(TomlFile(text or "", self.path)) or None

    def _ours(self, document: TomlFile) -> list[str]:
        words = words_of(document.get(*self.place))
        return words if is_ours(words, "mcp") else []


class OwnFile(InstallPart):
    """A whole file of ours, which ends in a line with its checksum.

    As long as the checksum is right nobody else has written in it, and it may
    be replaced or removed. Changed by hand, it is the user's.
    """

    ours = True

    def __init__(self, name: Name, path: str, text: str, *, comment: tuple[str, str]) -> None:
        super().__init__(name, path)
        self.text, self.comment = text, comment

    def added(self, text: str | None) -> str:
        if text is not None and not self._sealed(text):
            raise SkipPart("you changed it, so it stays; delete it to get ours back")
        return self.text + self._seal(self.text)

    def removed(self, text: str, before: str | None) -> str | None:
        return None if self._sealed(text) else text

    def found(self, text: str | None) -> list[str] | None:
        if text is None:
            return None
        called = re.search(r"^const program = (\[.*\])\r?$", text, re.MULTILINE)
        try:
            return list(json.loads(called[1])) if called else []
        except ValueError:
            return []

    def _seal(self, text: str) -> str:
        opening, closing = self.comment
        checksum = hashlib.sha256(text.encode()).hexdigest()[:16]
        return f"{opening}written by recollect install, checksum {checksum}{closing}\n"

    def _sealed(self, text: str) -> bool:
        text = text.replace("\r\n", "\n")
        body = text[: text.rfind("\n", 0, -1) + 1]
        return text == body + self._seal(body)


def _prune(document: JsonFile, path: JsonPath, earlier: JsonFile | None) -> None:
    """Remove the lists and objects on the way to an entry that are empty
    now, unless they were there before us.
    """
    while path and document.bare(*path) and not (earlier and earlier.has(*path)):
        document.remove(path)
        path = path[:-1]


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)
