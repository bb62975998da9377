"""What happened before and after a pattern or a note was told: rows to
count, without any judgement of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from recollect.errors import UsageError
from recollect.store import bodies
from recollect.store.measured import OPENING, UNWANTED, Done, Held, Offer, Seen, Subject
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.digests import find_readable_digest
from recollect.store.sqlite.old.sql import catalogue, notes
from recollect.store.text import row_of_words

# How long after it was offered something counts as having come back, or helped, all the same.
RIGHT_AFTER_MS = 30 * 60 * 1000
# A sighting has the time that its turn began. What is offered with a prompt comes a
# moment after that, and before any command.
WITH_PROMPT_MS = 5_000

_PROJECT = "coalesce(projects.merged_into, projects.id)"


def subjects(db: Database, ref: str | None) -> list[Subject]:
    """What can be measured: one pattern or note, or all that are or were told, patterns first."""
    if ref is None:
        told = "select pattern from pattern_versions where status = 'accepted'"
        found = [
            _pattern(db, one)
            for (one,) in db.rows(f"select id from patterns where id in ({told}) order by id")
        ]
        kept = "status = 'active' and accepted_at is not null"
        return found + [
            _note(db, one)
            for (one,) in db.rows(f"select id from old_notes where {kept} order by id")
        ]
    if ref.startswith("note:"):
        return [_note(db, notes.number_of(ref))]
    if "#" in ref:
        raise UsageError(f"{ref[:50]} is a turn.", hint="Only patterns and notes are measured.")
    return [_pattern(db, catalogue.get_id(db, ref))]


def _pattern(db: Database, pattern: str) -> Subject:
    row = db.row(
        """
        select patterns.kind, sentence, patterns.status, signature,
               (select min(at) from pattern_versions where pattern = patterns.id
                 and status = 'published'),
               (select min(at) from pattern_versions where pattern = patterns.id
                 and status = 'accepted')
          from patterns join pattern_versions one on one.pattern = patterns.id
            and one.version = patterns.version
         where patterns.id = ?
        """,
        (pattern,),
    )
    assert row is not None
    kind, sentence, status, signature, published, accepted = row
    places = db.rows(
        f"""
        select distinct {_PROJECT} from signals join sessions on sessions.id = signals.session
          join projects on projects.id = sessions.project where signals.kind = ?
            and signature = ? order by 1
        """,
        (kind, signature),
    )
    since = accepted if published is None else published
    return Subject(
        catalogue.PREFIX + pattern,
        kind,
        sentence,
        status,
        since,
        signature,
        tuple(place for (place,) in places),
    )


def _note(db: Database, number: int) -> Subject:
    note = notes.get_note(db, number)
    place, since = db.rows(
        f"select {_PROJECT}, accepted_at from old_notes left join projects on projects.id = "
        "old_notes.project where old_notes.id = ?",
        (number,),
    )[0]
    return Subject(
        note.ref,
        note.category,
        note.text,
        note.status,
        since,
        None,
        () if place is None else (place,),
    )


def offers(db: Database, *, of_patterns: bool = False) -> list[Offer]:
    """Everything that was offered or opened and names a pattern, or a
    pattern or a note, the oldest first.
    """
    rows = db.rows(
        """
        select at, event, agent || ':' || session, refs from recalls
         where instr(refs, 'pattern:') or (not ? and instr(refs, 'note:')) order by at, id
        """,
        (of_patterns,),
    )
    return [Offer(at, event, session, frozenset(refs.split())) for at, event, session, refs in rows]


def sightings(db: Database, kind: str, signature: str) -> list[Seen]:
    """Where a pattern was seen, the oldest sighting first."""
    rows = db.rows(
        """
        select session, turn, at, went_well from signals
         where kind = ? and signature = ? and session is not null order by at, session, turn
        """,
        (kind, signature),
    )
    return [
        Seen(session, turn, at, None if well is None else bool(well))
        for session, turn, at, well in rows
    ]


def sessions_in(db: Database, projects: Sequence[int]) -> list[Held]:
    """The sessions with a person in these projects that have a time, the oldest first."""
    rows = db.rows(
        f"""
        select sessions.id, sessions.ref, sessions.started_at from sessions join projects
          on projects.id = sessions.project
         where sessions.started_at is not null and sessions.origin != 'subagent'
           and not sessions.external
           and {_PROJECT} in ({", ".join("?" * len(projects))})
         order by sessions.started_at, sessions.id
        """,
        projects,
    )
    return [Held(*row) for row in rows]


def tasks_of(db: Database, sessions: Iterable[int]) -> list[Done]:
    """The tasks of these sessions that have a digest."""
    found = []
    for session in sessions:
        packed = db.value("select digest from digests where session = ?", (session,))
        digest = find_readable_digest(packed) if packed is not None else None
        for task in digest.tasks if digest else []:
            spent = (
                task.tokens.input
                + task.tokens.cache_read
                + task.tokens.cache_write
                + task.tokens.output
            )
            found.append(Done(session, frozenset(task.turns), task.outcome, spent, task.seconds))
    return found


def naming(db: Database, ref: str) -> list[tuple[str, int | None]]:
    """The sessions in which an agent named a reference, in an
    answer or a command, each with when.
    """
    asked, whole = " ".join(row_of_words(ref)), re.compile(rf"(?<!\w){re.escape(ref)}(?!\w)")
    rows = db.rows(
        """
        select sessions.ref, coalesce(turns.ended_at, turns.started_at), bodies.events
          from turns_text join bodies on bodies.id = turns_text.rowid join turns
            on turns.id = bodies.turn
          join sessions on sessions.id = turns.session
         where turns_text match ? and not sessions.external order by turns.id
        """,
        (f'{{reply tools}} : "{asked}"',),
    )
    return [
        (session, at)
        for session, at, events in rows
        if any(_names(row, whole) for row in bodies.find_rows(events) or ())
    ]


def _names(row: bodies.Row, whole: re.Pattern[str]) -> bool:
    """Whether what an agent wrote, an answer or a command, has a reference in it."""
    said = (
        row[bodies.TEXT]
        if row[bodies.KIND] == "reply"
        else row[bodies.TARGET]
        if row[bodies.KIND] == "tool_call"
        else None
    )
    return whole.search(str(said or "")) is not None


def standing(db: Database, *, of_patterns: bool = True) -> dict[str, tuple[int, int]]:
    """How often each note and pattern helped and harmed.

    Who only asks about notes need not wait for the rest.

    What people and agents said of it counts each time. A session in which it
    was offered counts once: as harm when what it is about went wrong right
    after that, as help when it came up and went well.
    """
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    rows = db.rows(
        """
        select ref, sum(helpful), sum(not helpful) from feedback
         where ref like 'note:%' or ref like 'pattern:%' group by ref
        """
    )
    for ref, helpful, harmful in rows:
        counts[ref][0] += helpful
        counts[ref][1] += harmful
    came_up_in = came_up_after(db, offers(db, of_patterns=True)) if of_patterns else {}
    for ref, came_up in came_up_in.items():
        counts[ref][0] += sum(came_up.values())
        counts[ref][1] += sum(not well for well in came_up.values())
    return {ref: (helpful, harmful) for ref, (helpful, harmful) in counts.items()}


def came_up_after(db: Database, offered: Iterable[Offer]) -> dict[str, dict[str, bool]]:
    """In which sessions a pattern came up right after it was offered there, and
    whether that went well, by pattern.
    """
    told: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for offer in offered:
        if offer.session is not None and offer.event not in OPENING:
            for ref in offer.refs:
                if ref.startswith(catalogue.PREFIX):
                    told[ref][offer.session].append(offer.at)
    found: dict[str, dict[str, bool]] = {}
    for ref, by_session in told.items():
        row = db.row(
            "select kind, signature from patterns where id = ?",
            (ref.removeprefix(catalogue.PREFIX),),
        )
        if row is None or row[0] not in UNWANTED:
            continue
        after: dict[str, bool] = {}
        seen = db.rows(
            """
            select sessions.ref, signals.at, went_well from signals join sessions
              on sessions.id = signals.session
             where signals.kind = ? and signature = ? and signals.at is not null
            """,
            row,
        )
        for session, at, well in seen:
            if any(
                -WITH_PROMPT_MS <= at - time <= RIGHT_AFTER_MS
                for time in by_session.get(session, ())
            ):
                after[session] = after.get(session, True) and bool(well)
        found[ref] = after
    return found
