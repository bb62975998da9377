"""What Cursor keeps in `ItemTable`, beside settings and login tokens that are none of our business.

Only the keys named here are ever asked for. The chats of 2023 and 2024 are in
them, whole; later, which chats belong to a workspace.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from recollect.capture.adapters.cursor.bubbles import Composer
from recollect.capture.logs.documents import BrokenDocument, parse_json
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.sqlite import SqliteFile
from recollect.capture.logs.values import Fields, fields_of, list_of, moment_of, objects_of, text_of

COMPOSERS = "composer.composerData"
CHATS = "workbench.panel.aichat.view.aichat.chatdata"
GENERATIONS = "aiService.generations"
KEYS = (COMPOSERS, CHATS, GENERATIONS)

# Larger values are no chats; a whole one is held in memory.
MAX_VALUE_BYTES = 128 << 20
_TYPES = {"user": 1, "ai": 2}

# A key's row and size: a value that is replaced gets another row.
Stamps = dict[str, tuple[int, int]]


def has_items(rows: SqliteFile) -> bool:
    """Whether there is a table of items at all."""
    return {"key", "value"} <= set(rows.columns("ItemTable"))


def stamps(rows: SqliteFile, keys: tuple[str, ...] = KEYS) -> Stamps:
    """Which of the values there are, without looking at them."""
    asked = ", ".join("?" * len(keys))
    found = rows.all(
        f"select key, rowid, octet_length(value) from ItemTable where key in ({asked}) order by "
        "key",
        keys,
    )
    return {key: (rowid, size) for key, rowid, size in found if size and size <= MAX_VALUE_BYTES}


def value(rows: SqliteFile, key: str) -> Any:
    """The value of one of our keys, decoded; `BrokenDocument` when it is no JSON."""
    if key not in KEYS:
        raise ValueError(f"{key} is not ours to read")
    row = rows.one("select cast(value as blob) from ItemTable where key = ?", (key,))
    return parse_json(row[0]) if row and row[0] else None


def composers_named(noted: Any) -> Iterator[str]:
    """The chats that a workspace names as its own; since 2026 only those with an open tab."""
    for one in objects_of(fields_of(noted).get("allComposers")):
        if name := text_of(one.get("composerId")):
            yield name
    yield from filter(None, map(text_of, list_of(fields_of(noted).get("selectedComposerIds"))))


def chats(rows: SqliteFile, found: Stamps, problems: ProblemCounter) -> Iterator[Composer]:
    """The chats that a workspace's items hold whole."""
    values: Fields = {}
    for key in found:
        try:
            values[key] = value(rows, key)
        except BrokenDocument as reason:
            problems.bad(f"{key}: {reason}")
    times = _Times(values.get(GENERATIONS))
    for tab in objects_of(fields_of(values.get(CHATS)).get("tabs")):
        yield _composer_of(tab, times)
    for fields in objects_of(fields_of(values.get(COMPOSERS)).get("allComposers")):
        composer = msgspec.convert(fields, Composer)
        for bubble in objects_of(composer.conversation):
            if bubble.get("type") == _TYPES["user"]:
                bubble.setdefault("createdAt", times.of(bubble.get("text")))
        yield composer


def _composer_of(tab: Fields, times: _Times) -> Composer:
    """A tab of the chat panel, as later versions would have kept it."""
    bubbles = [
        {
            "bubbleId": text_of(one.get("id")) or f"#{number}",
            "type": _TYPES.get(one.get("type", ""), one.get("type"))
            if isinstance(one.get("type"), str)
            else one.get("type"),
            "text": one.get("text") or one.get("rawText"),
            "richText": one.get("richText"),
            "images": one.get("selectedImages"),
            "modelInfo": {"modelName": one.get("modelType")},
            "createdAt": times.of(one.get("text")) if one.get("type") == "user" else None,
        }
        for number, one in enumerate(objects_of(tab.get("bubbles")))
    ]
    asked = [bubble for bubble in bubbles if bubble["type"] == _TYPES["user"] and bubble["text"]]
    if asked and asked[-1]["createdAt"] is None:
        asked[-1]["createdAt"] = moment_of(tab.get("lastSendTime"))
    return Composer(
        composerId=tab.get("tabId"),
        name=tab.get("chatTitle"),
        unifiedMode="chat",
        conversation=bubbles,
    )


class _Times:
    """When prompts were sent, from the list of generations: old chats do not tell."""

    def __init__(self, generations: Any) -> None:
        self._times: dict[str, list[int]] = {}
        for one in objects_of(generations):
            text, at = text_of(one.get("textDescription")), moment_of(one.get("unixMs"))
            if text and at:
                self._times.setdefault(text, []).append(at)

    def of(self, text: Any) -> int | None:
        """The time of these words; said again, that of the next time."""
        times = self._times.get(text) if isinstance(text, str) else None
        return times.pop(0) if times else None
