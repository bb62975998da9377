"""Tokens in Cursor's databases, from what is known of the format.

Only the editor tells tokens: `tokenCount` of a bubble. A bubble counts when its
composer lists it, or when it answers a prompt that was rewound: it then follows
that prompt, in the order of the rows, with nothing between that is still
listed. An id counts once.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from recollect.model.sessions import Tokens


def tokens(folder: Path) -> Tokens:
    """The tokens in all of Cursor's databases below a folder."""
    counted: dict[str, tuple[int, int]] = {}
    for path in sorted(folder.rglob("*.vscdb")):
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            for bubble in _counted(connection):
                count = bubble.get("tokenCount") or {}
                figures = _figure(count.get("inputTokens")), _figure(count.get("outputTokens"))
                counted[bubble.get("bubbleId", "")] = figures
    return Tokens(
        input=sum(given for given, _ in counted.values()),
        output=sum(made for _, made in counted.values()),
    )


def _counted(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    if not connection.execute("select 1 from sqlite_master where name = 'cursorDiskKV'").fetchone():
        return
    chats: dict[str, dict[str, Any]] = {}
    bubbles: dict[str, list[dict[str, Any]]] = {}
    for key, value in connection.execute("select key, value from cursorDiskKV order by rowid"):
        kind, _, rest = key.partition(":")
        record = _record(value)
        if kind == "composerData" and record is not None:
            chats[rest] = record
        elif kind == "bubbleId" and record is not None:
            chat, _, name = rest.partition(":")
            bubbles.setdefault(chat, []).append({"bubbleId": name, **record})
    for chat, about in chats.items():
        headers = about.get("fullConversationHeadersOnly") or about.get("conversation") or []
        listed = {header["bubbleId"] for header in headers if isinstance(header, dict)}
        follows_rewound = False
        for bubble in bubbles.get(chat, []):
            if bubble["bubbleId"] in listed:
                follows_rewound = False
                yield bubble
            elif bubble.get("type") == 1:
                follows_rewound = True
            elif follows_rewound:
                yield bubble


def _record(value: Any) -> dict[str, Any] | None:
    try:
        record = json.loads(value) if value is not None else None
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _figure(value: Any) -> int:
    return value if isinstance(value, int) else 0
