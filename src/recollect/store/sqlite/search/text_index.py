"""Makes the text index from the bodies, as capture would have made it.

The index is never the truth: whatever happens to it, it can be told again from
what is stored, by turn or as a whole.
"""

from __future__ import annotations

from typing import Any

from recollect.errors import StoreDamaged
from recollect.store import bodies
from recollect.store.sqlite.capture.content import INSERT_TEXT, LEAD_CHARACTERS, text_row
from recollect.store.sqlite.database import Database
from recollect.store.text import packed_lengths

# About a tenth of a second of work.
STEP_PAGES = 1_000


def text_rows(parts: list[tuple[int, list[bodies.Row]]]) -> list[tuple[Any, ...]]:
    """The index rows of one turn, from its body ids and rows, part by part.

    Later parts repeat the lead of the prompt that came before them.
    """
    made, prompt = [], ""
    for body, rows in parts:
        made.append(text_row(body, rows, prompt))
        prompt = prompt or prompt_lead(rows)
    return made


def prompt_lead(rows: list[bodies.Row]) -> str:
    """What the turn's own row says of the prompt among these events."""
    prompts = (row[bodies.TEXT] for row in rows if row[bodies.KIND] == "prompt")
    return next((text[:LEAD_CHARACTERS] for text in prompts if text), "")


def reply_lead(rows: list[bodies.Row]) -> str:
    """What the turn's own row says of the last reply among these events."""
    replies = (row[bodies.TEXT] for row in reversed(rows) if row[bodies.KIND] == "reply")
    return next((text[:LEAD_CHARACTERS] for text in replies if text), "")


class TextIndex:
    """Keeps the text index in few pieces, and makes it again."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def rebuild(self) -> int:
        """Make the whole text index anew; says how many rows it has.

        In one transaction: searches see the old index until the new one is there.
        Bodies that cannot be read are left out, and `doctor --verify` names them.
        """
        with self.db.transaction():
            try:
                self.db.execute("insert into turns_text (turns_text) values ('delete-all')")
            except StoreDamaged:
                self._make_again()
            count = 0
            for (turn,) in self.db.rows("select distinct turn from bodies order by turn"):
                rows = text_rows(self._readable_parts(turn))
                self.db.many(
                    "update bodies set lengths = ?1 where id = ?2 and lengths <> ?1",
                    [(packed_lengths(columns), body) for body, *columns in rows],
                )
                self.db.many(INSERT_TEXT, rows)
                count += len(rows)
        return count

    def _readable_parts(self, turn: int) -> list[tuple[int, list[bodies.Row]]]:
        parts = []
        for body, events in self.db.rows(
            "select id, events from bodies where turn = ? order by part", (turn,)
        ):
            rows = bodies.find_rows(events)
            if rows is not None:
                parts.append((body, rows))
        return parts

    def _make_again(self) -> None:
        """The index is too damaged even to be emptied; as a table it can be dropped."""
        made_by = self.db.value("select sql from sqlite_schema where name = 'turns_text'")
        options = self.db.rows("select k, v from turns_text_config where k <> 'version'")
        self.db.execute("drop table turns_text")
        self.db.execute(made_by)
        self.db.many("insert into turns_text (turns_text, rank) values (?, ?)", options)

    def merge(self) -> int:
        """Merge the text index into one segment without deleted rows; says in how many steps."""
        steps = 0
        # A negative number starts such a merge, a positive one goes on with it.
        # https://sqlite.org/fts5.html#the_merge_command
        pages = -STEP_PAGES
        while pages > 0 or self.segments() > 1 or self.has_deleted_text():
            before = self.db.connection.total_changes()
            with self.db.transaction():
                self.db.execute(
                    "insert into turns_text (turns_text, rank) values ('merge', ?)", (pages,)
                )
            if self.db.connection.total_changes() - before < 2:
                break
            steps, pages = steps + 1, STEP_PAGES
        return steps

    def segments(self) -> int:
        """How many segments a search has to visit."""
        return int(self.db.value("select count(distinct segid) from turns_text_idx"))

    def has_deleted_text(self) -> bool:
        """Whether a segment still holds words of deleted rows.

        A contentless index cannot look up what to take out of a segment: it
        notes deleted rowids on pages of their own, whose ids begin here, and
        drops the words when it next merges the segment.
        """
        return (
            self.db.value("select 1 from turns_text_data where id >= 1 << 53 limit 1") is not None
        )
