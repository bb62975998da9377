"""The catalogue of patterns: what people and rules decided about each of them.

Every state a pattern was in is a version, with who made it so, when and why;
`patterns.version` says which one counts. Rules may say a candidate anew as
often as they like. What a person accepted stays as it is: other words are
proposed, as a version after the one that counts, and wait for a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from recollect.errors import NotFound, UsageError
from recollect.model.patterns import PatternStatus, PatternVersion
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.old.sql import prepared
from recollect.system.clock import iso, now_ms

PREFIX = "pattern:"
# What a person rejected is brought up again when so many times as many sessions speak for it.
DOUBLED = 2
_LISTS = "See them: recollect patterns list --all"


class _State(NamedTuple):
    """The version of a pattern that counts."""

    pattern: str
    version: int
    status: PatternStatus
    sentence: str
    sessions: int


def propose(db: Database, pattern: str, sentence: str, sessions: int) -> PatternStatus:
    """Take in what the rules say now of a pattern whose row is there.

    Returns its status after that.

    Inside the transaction of whoever found it. The same words change nothing,
    however often and in whatever order they come. They should not depend on
    how often a thing was seen, because other words are another version.
    """
    state = _find(db, pattern)
    if state is None or state.status == "candidate":
        _say(db, pattern, state.version if state else 1, sentence, sessions)
        return "candidate"
    if state.status == "rejected" and sessions >= DOUBLED * max(state.sessions, 1):
        why = f"{sessions} sessions speak for it, and {state.sessions} did when it was rejected"
        _decide(db, pattern, "candidate", sentence, sessions, author="rules", why=why)
        return "candidate"
    if state.status in ("accepted", "published"):
        _offer_words(db, state, sentence, sessions)
    return state.status


def _offer_words(db: Database, state: _State, sentence: str, sessions: int) -> None:
    """Propose other words for something accepted, unless somebody has decided about them before."""
    waiting = _waiting(db, state)
    known = db.value(
        """
        select 1 from pattern_versions where pattern = ? and sentence = ? and version is not ?
           and not (status = 'rejected' and version > ? and sessions * ? <= ?)
        """,
        (state.pattern, sentence, waiting, state.version, DOUBLED, sessions),
    )
    if known is None:
        _say(db, state.pattern, waiting or _last(db, state.pattern) + 1, sentence, sessions)
    elif waiting is not None:
        # The rules have come back to what was decided about.
        db.execute(
            "delete from pattern_versions where pattern = ? and version = ?",
            (state.pattern, waiting),
        )


def _say(db: Database, pattern: str, version: int, sentence: str, sessions: int) -> None:
    """Write down a candidate in the rules' words, in the place of what they said before."""
    db.execute(
        """
        insert into pattern_versions (pattern, version, status, sentence, sessions, author, at)
        values (?, ?, 'candidate', ?, ?, 'rules', ?)
        on conflict (pattern, version) do update set sentence = excluded.sentence,
          sessions = excluded.sessions
        """,
        (pattern, version, sentence, sessions, now_ms()),
    )


# What people decide


def accept(db: Database, pattern: str, why: str) -> None:
    """A person says that a pattern is right, in the words that are
    proposed or else in those it has.
    """
    with db.transaction():
        state = _get(db, pattern)
        waiting = _waiting(db, state)
        if waiting is None and state.status in ("accepted", "published"):
            return
        sentence = _sentence(db, pattern, waiting) if waiting else state.sentence
        _decide(db, pattern, "accepted", sentence, _sessions(db, pattern), author="person", why=why)


def reject(db: Database, pattern: str, why: str) -> None:
    """A person says that a candidate is wrong, or that the words
    proposed for something accepted are.
    """
    with db.transaction():
        state = _get(db, pattern)
        waiting = _waiting(db, state)
        if waiting is not None:
            db.execute(
                """
                update pattern_versions set status = 'rejected', author = 'person', sessions = ?,
                  at = ?, why = ?
                 where pattern = ? and version = ?
                """,
                (_sessions(db, pattern), now_ms(), why, pattern, waiting),
            )
        elif state.status == "candidate":
            _decide(
                db,
                pattern,
                "rejected",
                state.sentence,
                _sessions(db, pattern),
                author="person",
                why=why,
            )
        elif state.status != "rejected":
            raise UsageError(
                f"{PREFIX}{pattern} is {state.status}, and there are no new words to accept.",
                hint=f"To stop using it: recollect patterns retire {pattern}",
            )


def edit(db: Database, pattern: str, sentence: str, why: str) -> None:
    """A person says it better, and with that accepts it."""
    with db.transaction():
        state = _get(db, pattern)
        if sentence == state.sentence and state.status in ("accepted", "published"):
            raise UsageError(f"{PREFIX}{pattern} says that already.", hint="Say it in other words.")
        _decide(db, pattern, "accepted", sentence, _sessions(db, pattern), author="person", why=why)


def retire(db: Database, pattern: str, why: str) -> None:
    """A person says that something accepted is of no use any more."""
    with db.transaction():
        state = _get(db, pattern)
        if state.status == "retired":
            return
        if state.status not in ("accepted", "published"):
            raise UsageError(
                f"{PREFIX}{pattern} is {state.status}; only an accepted pattern can be retired.",
                hint=f"If it is wrong: recollect patterns reject {pattern}"
                if state.status == "candidate"
                else _LISTS,
            )
        _decide(
            db, pattern, "retired", state.sentence, _sessions(db, pattern), author="person", why=why
        )


def mark_published(
    db: Database, published: Sequence[str], withdrawn: Sequence[str], where: str
) -> None:
    """Say which patterns stand in a file since just now, and which stand in none any more.

    Inside the transaction of whoever publishes. One that has been retired
    or said anew meanwhile is left as it is.
    """
    for pattern in published:
        state = _find(db, pattern)
        if state is not None and state.status == "accepted":
            why = f"published in {where}"
            _decide(
                db,
                pattern,
                "published",
                state.sentence,
                state.sessions,
                author="person",
                why=why,
                about_words=False,
            )
    for pattern in withdrawn:
        state = _find(db, pattern)
        if state is not None and state.status == "published":
            why = f"taken out of {where}"
            _decide(
                db,
                pattern,
                "accepted",
                state.sentence,
                state.sessions,
                author="person",
                why=why,
                about_words=False,
            )


def _decide(
    db: Database,
    pattern: str,
    status: PatternStatus,
    sentence: str,
    sessions: int,
    *,
    author: str,
    why: str,
    about_words: bool = True,
) -> None:
    """Make a new version the one that counts.

    Words that are proposed go on waiting if it is not `about_words`.
    """
    waiting = _waiting(db, _get(db, pattern))
    number = _last(db, pattern) + 1
    if waiting is not None and not about_words:
        db.execute(
            "update pattern_versions set version = ? where pattern = ? and version = ?",
            (number, pattern, waiting),
        )
        number = waiting
    db.execute(
        """
        insert into pattern_versions (pattern, version, status, sentence, sessions, author, at, why)
        values (?, ?, ?, ?, ?, ?, ?, ?)
        """,
        (pattern, number, status, sentence, sessions, author, now_ms(), why),
    )
    db.execute(
        "update patterns set status = ?, version = ? where id = ?", (status, number, pattern)
    )
    if status in ("rejected", "retired"):
        prepared.unsay(db, {PREFIX + pattern})
    if about_words:
        prepared.outdate(db)


def forget_unseen(db: Database) -> None:
    """Remove what nothing stored speaks for any more, with its words.

    Inside the transaction of whoever forgets.

    The words are made of commands and errors of the sessions that are gone.
    """
    seen = "exists (select 1 from signals where signals.kind = {0}.kind and signals.signature = {0}.signature)"
    gone = {
        PREFIX + pattern
        for (pattern,) in db.rows(f"select id from patterns where not {seen.format('patterns')}")
    }
    for table in ("tallies", "stale_tallies"):
        db.execute(f"delete from {table} where kind != '' and not {seen.format(table)}")
    if gone:
        db.many(
            "delete from patterns where id = ?",
            [(ref.removeprefix(PREFIX),) for ref in sorted(gone)],
        )
        db.many("delete from feedback where ref = ?", [(ref,) for ref in sorted(gone)])
        prepared.unsay(db, gone)


# What was decided


def get_id(db: Database, ref: str) -> str:
    """The id of a pattern, by the id, with or without `pattern:` before it,
    or by as much of it as is enough.
    """
    name = ref.removeprefix(PREFIX)
    if not name or not name.isprintable() or len(name) > 100:
        raise UsageError(f'"{ref[:50]}" is not a pattern.', hint=_LISTS)
    # Not `like`: a percent sign is not meant.
    found = [
        row[0]
        for row in db.rows(
            "select id from patterns where substr(id, 1, ?) = ? limit 3", (len(name), name)
        )
    ]
    if name in found or len(found) == 1:
        return name if name in found else str(found[0])
    if found:
        raise UsageError(
            f"Several patterns begin with {name}.", hint=f"Type more of it: {', '.join(found)}…"
        )
    raise NotFound(f'There is no pattern "{name[:50]}".', hint=_LISTS)


def history(db: Database, pattern: str) -> list[PatternVersion]:
    """Every version, the first one first."""
    rows = db.rows(
        "select version, status, sentence, sessions, author, at, why from pattern_versions where "
        "pattern = ? order by version",
        (pattern,),
    )
    return [
        PatternVersion(
            version=version,
            status=status,
            sentence=sentence,
            sessions=sessions,
            author=author,
            at=iso(at) or "",
            why=why,
        )
        for version, status, sentence, sessions, author, at, why in rows
    ]


def proposed_words(db: Database) -> dict[str, str]:
    """The words that wait for a person to decide, by the pattern that they are proposed for."""
    rows = db.rows(
        """
        select patterns.id, sentence from pattern_versions one join patterns
          on patterns.id = one.pattern
         where one.status = 'candidate' and one.version > patterns.version
        """
    )
    return dict(rows)


def _find(db: Database, pattern: str) -> _State | None:
    row = db.row(
        """
        select id, patterns.version, patterns.status, sentence, sessions
          from patterns join pattern_versions one on one.pattern = patterns.id
            and one.version = patterns.version where id = ?
        """,
        (pattern,),
    )
    return _State(*row) if row else None


def _get(db: Database, pattern: str) -> _State:
    state = _find(db, pattern)
    if state is None:
        raise NotFound(f'There is no pattern "{pattern[:50]}".', hint=_LISTS)
    return state


def _waiting(db: Database, state: _State) -> int | None:
    """The number of the version that is proposed, if there is one."""
    found: int | None = db.value(
        "select max(version) from pattern_versions where pattern = ? and version > ? and status = "
        "'candidate'",
        (state.pattern, state.version),
    )
    return found


def _sessions(db: Database, pattern: str) -> int:
    """How many sessions speak for a pattern now."""
    sql = """
        select coalesce(
          (select sessions from tallies where pattern = patterns.id),
          (select count(distinct coalesce(session, -episode)) from signals
            where kind = patterns.kind and signature = patterns.signature))
          from patterns where id = ?
    """
    return int(db.value(sql, (pattern,)) or 0)


def _last(db: Database, pattern: str) -> int:
    return int(
        db.value(
            "select coalesce(max(version), 0) from pattern_versions where pattern = ?", (pattern,)
        )
    )


def _sentence(db: Database, pattern: str, version: int) -> str:
    return str(
        db.value(
            "select sentence from pattern_versions where pattern = ? and version = ?",
            (pattern, version),
        )
    )
