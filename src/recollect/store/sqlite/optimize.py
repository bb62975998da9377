"""Keeps searches fast: merges the text index and refreshes the planner's figures.

An import leaves the text index in many segments, each of which every search
has to visit. They are merged in steps, each in a short transaction of its own,
so that an agent's import never waits longer than one step takes.
"""

from __future__ import annotations

from recollect.model.reports import Optimized
from recollect.store.sqlite import scrub
from recollect.store.sqlite.database import Database

# About a tenth of a second of work.
STEP_PAGES = 1_000


def optimize(db: Database) -> Optimized:
    """One segment, fresh figures; also finishes a scrub that something was in the way of."""
    scrubbed = scrub.scrub(db) if scrub.is_pending(db) else None
    steps = merge_text(db)
    db.execute("pragma optimize")
    return Optimized(merge_steps=steps, segments=segments(db), scrubbed=scrubbed)


def merge_text(db: Database) -> int:
    """Merge the text index into one segment without deleted rows; says in how many steps."""
    steps = 0
    # A negative number starts such a merge, a positive one goes on with it.
    # https://sqlite.org/fts5.html#the_merge_command
    pages = -STEP_PAGES
    while pages > 0 or segments(db) > 1 or has_deleted_text(db):
        before = db.connection.total_changes()
        with db.transaction():
            db.execute("insert into turns_text (turns_text, rank) values ('merge', ?)", (pages,))
        if db.connection.total_changes() - before < 2:
            break
        steps, pages = steps + 1, STEP_PAGES
    return steps


def segments(db: Database) -> int:
    """How many segments a search has to visit."""
    return int(db.value("select count(distinct segid) from turns_text_idx"))


def has_deleted_text(db: Database) -> bool:
    """Whether a segment still holds words of deleted rows.

    A contentless index cannot look up what to take out of a segment: it
    notes deleted rowids on pages of their own, whose ids begin here, and
    drops the words when it next merges the segment.
    """
    return db.value("select 1 from turns_text_data where id >= 1 << 53 limit 1") is not None
