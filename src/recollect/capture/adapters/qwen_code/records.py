"""The records of a Qwen Code session, and which of them are the conversation as it is now."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from recollect.capture.logs.values import text_of

# Kept beside the conversation: the newest of them is not where it goes on.
_ASIDE = ("session_artifact_event", "session_artifact_snapshot")


class QwenRecord(Struct):
    """One line. Several with the same `uuid` are parts of one message."""

    uuid: Any = None
    parentUuid: Any = None
    sessionId: Any = None
    timestamp: Any = None
    type: Any = None
    subtype: Any = None
    provenance: Any = None
    cwd: Any = None
    version: Any = None
    gitBranch: Any = None
    message: Any = None
    model: Any = None
    usageMetadata: Any = None
    toolCallResult: Any = None
    systemPayload: Any = None
    agentId: Any = None
    agentName: Any = None
    forkedFrom: Any = None


def glued_apart(data: bytes) -> bytes:
    """Lines that were written without an end between them, each on its own again.

    An append that was interrupted leaves that. Inside a text the quote would
    be escaped, so these bytes stand nowhere but between two records.
    """
    return data.replace(b'}{"uuid":', b'}\n{"uuid":')


class QwenBranches:
    """The tree of a session's records: going back in it makes a new branch."""

    def __init__(self, records: list[QwenRecord]) -> None:
        parents: dict[str, str | None] = {}
        for record in records:
            parents.setdefault(record.uuid, text_of(record.parentUuid))
        ids = (record.uuid for record in reversed(records) if record.subtype not in _ASIDE)
        leaf = next(ids, None)
        self._live: set[str] = set()
        while leaf in parents and leaf not in self._live:
            self._live.add(leaf)
            leaf = parents[leaf]
        # The way up may end at a record that is lost. What comes before in the
        # file was not left, for all we know.
        self._from = 0
        if leaf is not None and leaf not in parents:
            live = (place for place, one in enumerate(records) if one.uuid in self._live)
            self._from = next(live, 0)

    def is_live(self, place: int, record: QwenRecord) -> bool:
        """Whether a record is on the branch that the conversation goes on from."""
        return place < self._from or record.uuid in self._live

    def names(self, place: int, record: QwenRecord) -> bool:
        """Whether a title belongs to that branch.

        One that is only repeated is on none, but comes after a record that is.
        """
        return self.is_live(place, record) or text_of(record.parentUuid) in self._live
