"""The tokens in goose's logs, counted from what is known of the format and nothing else."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from recollect.model.sessions import Tokens

# Nothing is known of a session in which nothing was said.
SPOKEN = "exists (select 1 from messages where session_id = sessions.id)"
FIELDS = ("accumulated_input_tokens", "accumulated_output_tokens", "input_tokens", "output_tokens")


def tokens(folder: Path) -> Tokens:
    """The totals of every session; a file of lines tells of one that no database has."""
    totals: dict[str, tuple[int, int]] = {}
    for session, figures in [*_in_files(folder), *_in_databases(folder)]:
        totals[session] = figures
    return Tokens(
        input=sum(read for read, _ in totals.values()),
        output=sum(wrote for _, wrote in totals.values()),
    )


def _in_databases(folder: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    for path in sorted(folder.rglob("*.db")):
        with closing(sqlite3.connect(path)) as connection:
            for session, *row in connection.execute(
                f"select id, {', '.join(FIELDS)} from sessions where {SPOKEN}"
            ):
                yield session, _total(row)


def _in_files(folder: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    for path in sorted(folder.rglob("*.jsonl")):
        about = json.loads(path.read_text().split("\n")[0])
        yield path.stem, _total([about.get(name) for name in FIELDS])


def _total(row: list[Any]) -> tuple[int, int]:
    """The whole session's figures, or where there are none, those of its last call."""
    all_in, all_out, last_in, last_out = (figure or 0 for figure in row)
    return (all_in, all_out) if all_in or all_out else (last_in, last_out)
