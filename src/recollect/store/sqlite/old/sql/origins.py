"""Where notes were given: the agent's call, found again in its log.

An agent that remembers something does so through a server that knows nothing of
its session. The log does: the same call is in it, with the same text, in a turn
that ran at that time.
"""

from __future__ import annotations

from recollect.store.notes import Sought
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.old.sql import notes
from recollect.system.clock import now_ms

# The log's clock and ours are one; a turn whose end was not logged ends early.
SLACK_MS = 5 * 60_000
# Agents delete their logs after a month: what was not imported by then never will be.
PATIENCE_MS = 35 * 86_400_000
# Nobody remembers what was said longer ago in the same session.
MOST_TURNS = 300


def sought(db: Database) -> list[Sought]:
    """What is worth looking for, the oldest first."""
    rows = db.rows(
        """
        select note_origins.id, old_notes.id, old_notes.text, note_origins.at from note_origins
          join old_notes on old_notes.id = note
         where session is null and at > ? order by at, note_origins.id
        """,
        (now_ms() - PATIENCE_MS,),
    )
    return [Sought(*row) for row in rows]


def turns_remembering(db: Database, at: int) -> list[int]:
    """The turns that ran at a time and called a tool to remember something."""
    # Sessions first, of which there are few: only the turns of those that ran then are looked at.
    rows = db.rows(
        """
        select turns.id from sessions cross join turns on turns.session = sessions.id
         where coalesce(sessions.started_at <= :latest, 1)
           and coalesce(sessions.ended_at >= :earliest, 1) and not sessions.external
           and coalesce(turns.started_at <= :latest, 1) and coalesce(turns.ended_at >= :earliest, 1)
           and exists (select 1 from tool_calls where turn = turns.id and name like '%remember')
         order by turns.id
        """,
        {"earliest": at - SLACK_MS, "latest": at + SLACK_MS},
    )
    return [turn for (turn,) in rows]


def typed_turns(db: Database, turn: int) -> list[int]:
    """The turns of a session up to this one in which a person spoke, the newest first.

    None of a sub-agent's.
    """
    rows = db.rows(
        """
        select turns.id from turns join sessions on sessions.id = turns.session, turns here
         where here.id = ? and turns.session = here.session and turns.ordinal <= here.ordinal
           and turns.author = 'human' and turns.live and sessions.origin != 'subagent'
           and not sessions.external
         order by turns.ordinal desc limit ?
        """,
        (turn, MOST_TURNS),
    )
    return [one for (one,) in rows]


def save(db: Database, found: Sought, turn: int, *, said: bool) -> bool:
    """Keep where a note was given.

    True when a person `said` the same and the note counts from now on.
    """
    with db.transaction():
        db.execute(
            """
            update note_origins set (session, turn) = (
              select sessions.ref, turns.ordinal from turns join sessions
                on sessions.id = turns.session where turns.id = ?
            ) where id = ?
            """,
            (turn, found.origin),
        )
        return said and notes.believe(db, found.note)
