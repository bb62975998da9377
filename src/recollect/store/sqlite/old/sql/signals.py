"""What was seen in sessions and in live attempts: which of them wait to be
learned from, and what each has shown.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from recollect.model.patterns import Signal
from recollect.redact.values_in import RedactsMany
from recollect.store.sqlite.database import Database
from recollect.store.tallies import EVERYTHING, Key, Seen, Selection

# SQLite takes so many parameters without being asked twice.
AT_ONCE = 400
# There is something new to be settled, even where nothing was seen:
# another session had the occasion.
LEARNED = "insert or ignore into stale_tallies values ('', '')"
ALL_STALE = "insert or ignore into stale_tallies values ('', 'all')"
_LAST_EPISODE = "learned_episode"
# A live attempt, where sessions are told by positive numbers.
_UNIT = "coalesce({0}.session, -{0}.episode)"


def unlearned_sessions(db: Database) -> list[tuple[int, str, int]]:
    """Sessions whose digest is newer than what was learned from them: number,
    reference and mark, the oldest first.
    """
    rows = db.rows(
        """
        select sessions.id, sessions.ref, unlearned.mark from unlearned join sessions
          on sessions.id = unlearned.session
         where not sessions.external order by sessions.started_at, sessions.id
        """
    )
    return [(number, ref, mark) for number, ref, mark in rows]


def unlearned_episodes(db: Database) -> tuple[int, list[int]]:
    """The largest id of an attempt that there is, and the live ones that nothing was learned from.

    Ids are never given twice.
    """
    last = db.value("select coalesce(max(id), 0) from episodes")
    after = db.value("select value from store_info where name = ?", (_LAST_EPISODE,)) or 0
    rows = db.rows(
        "select id from episodes where id > ? and id <= ? and session is null order by id",
        (after, last),
    )
    return int(last), [number for (number,) in rows]


def save_learned_episodes(db: Database, last: int) -> None:
    """All live attempts up to this one were learned from."""
    if db.value("select value from store_info where name = ?", (_LAST_EPISODE,)) != last:
        with db.transaction():
            db.execute("insert or replace into store_info values (?, ?)", (_LAST_EPISODE, last))


def count_unlearned(db: Database) -> int:
    """How many sessions wait."""
    return int(
        db.value(
            "select count(*) from unlearned join sessions on sessions.id = session where not external"
        )
    )


def save_session(
    db: Database, session: int, mark: int, signals: Sequence[Signal], occasions: Mapping[str, int],
    times: Mapping[int, int | None], gone: Collection[int],
) -> bool:  # fmt: skip
    """Keep what a session has shown; False when its digest has changed since its mark was read.

    Of turns in `gone` nobody can tell any more what happened, so what was
    seen in them stays, and so do the occasions.
    """
    if db.value("select mark from unlearned where session = ?", (session,)) != mark:
        return False
    if gone:
        marks = ", ".join("?" * len(gone))
        db.execute(
            f"delete from signals where session = ? and turn not in ({marks})",
            [session, *sorted(gone)],
        )
        before: dict[str, int] = dict(
            db.rows("select name, times from occasions where session = ?", (session,))
        )
        occasions = {
            name: max(before.get(name, 0), occasions.get(name, 0)) for name in {*before, *occasions}
        }
        kept = set(db.rows("select kind, signature from signals where session = ?", (session,)))
        signals = [signal for signal in signals if (signal.kind, signal.signature) not in kept]
    else:
        db.execute("delete from signals where session = ?", (session,))
    fewer = {
        name for (name,) in db.rows("select name from occasions where session = ?", (session,))
    } - occasions.keys()
    if fewer:
        # What was none before may be a habit, with fewer occasions.
        db.execute(ALL_STALE)
    db.execute("delete from occasions where session = ?", (session,))
    _insert(db, "session", session, signals, occasions, times)
    db.execute(LEARNED)
    db.execute("delete from unlearned where session = ?", (session,))
    _outdate_family(db, session)
    return True


def save_episode(
    db: Database, episode: int, signals: Sequence[Signal], occasions: Mapping[str, int]
) -> None:
    """Keep what a live attempt has shown, if it is still there."""
    row = db.row("select started_at from episodes where id = ?", (episode,))
    if row is None:
        return
    at: int | None = row[0]
    db.execute("delete from signals where episode = ?", (episode,))
    db.execute("delete from occasions where episode = ?", (episode,))
    _insert(db, "episode", episode, signals, occasions, defaultdict(lambda: at))
    db.execute(LEARNED)


def _insert(
    db: Database,
    owner: str,
    number: int,
    signals: Iterable[Signal],
    occasions: Mapping[str, int],
    times: Mapping[int, int | None],
) -> None:
    db.many(
        f"insert into signals ({owner}, turn, kind, signature, went_well, trust, at) values (?, ?, "
        "?, ?, ?, ?, ?)",
        [
            (number, one.turn, one.kind, one.signature, one.went_well, one.trust, times[one.turn])
            for one in signals
        ],
    )
    rows = [(number, name, count) for name, count in sorted(occasions.items())]
    db.many(f"insert into occasions ({owner}, name, times) values (?, ?, ?)", rows)


def _outdate_family(db: Database, session: int) -> None:
    """Whoever comes from this session, or it from them, may count with another one from now on."""
    lone = """
        select 1 from sessions where id = ? and parent is null
           and not exists (select 1 from sessions child where child.parent = sessions.ref)
    """
    if db.value(lone, (session,)):
        return
    family = """
        with recursive family (ref) as (
          select ref from sessions where id = ?
           union select sessions.parent from sessions join family
             on sessions.ref = family.ref where sessions.parent is not null
           union select sessions.ref from sessions join family on sessions.parent = family.ref
        )
        select id from sessions join family using (ref)
    """
    members = [(member,) for (member,) in db.rows(family, (session,))]
    db.many(
        "insert or ignore into stale_tallies select kind, signature from signals where session = ?",
        members,
    )
    names = "select name from occasions where session = ?"
    db.many(
        f"update tallies set chance = null where chance is not null and occasion in ({names})",
        members,
    )


# What is counted


def units_in(db: Database, selection: Selection) -> set[int] | None:
    """The sessions and live attempts of a selection; None when it leaves nothing out."""
    if selection == EVERYTHING:
        return None
    project = "(select id from projects where key = :project or merged_into = (select id from projects where key = :project))"
    rows = db.rows(
        f"""
        select id from sessions
         where (:agent is null or agent = :agent) and (:project is null or project in {project})
           and (:since is null or coalesce(ended_at, started_at) >= :since)
         union all
        select -id from episodes
         where session is null and (:agent is null or agent = :agent) and (:project is null
           or project in {project})
           and (:since is null or started_at >= :since)
        """,
        selection._asdict(),
    )
    return {unit for (unit,) in rows}


def often_seen(db: Database, least: int, *, stale: bool) -> list[tuple[Key, int]]:
    """What was seen in so many sessions and attempts, and in how many.

    The `stale` are those to be counted again.
    """
    only = "stale_tallies cross join" if stale else ""
    on = "using (kind, signature)" if stale else ""
    sql = f"select kind, signature, count(*) from {only} signals {on} group by 1, 2 having count(*) >= ? order by 1, 2"
    return [((kind, signature), count) for kind, signature, count in db.rows(sql, (least,))]


def seen(
    db: Database, keys: Sequence[Key], units: set[int] | None = None
) -> Iterator[tuple[Key, list[Seen]]]:
    """The sightings of each of these, in the order of sessions.

    Only of these units, if any are given.
    """
    roots = _Roots(db)
    sql = f"""
        select {_UNIT.format("signals")}, sessions.ref, sessions.parent, coalesce(sessions.agent,
          episodes.agent),
               signals.turn, signals.went_well, signals.trust, signals.at, episodes.ref
          from signals left join sessions on sessions.id = signals.session left
            join episodes on episodes.id = signals.episode
         where signals.kind = ? and signals.signature = ? order by 1
    """
    for key in keys:
        found = [
            Seen(
                unit,
                roots.of(ref, parent) if ref else attempt,
                agent,
                turn,
                None if well is None else bool(well),
                trust,
                at,
            )
            for unit, ref, parent, agent, turn, well, trust, at, attempt in db.each(sql, key)
            if units is None or unit in units
        ]
        yield key, found


class _Roots:
    """Which session each one comes from in the end.

    One whose log is missing counts too, by its name.
    """

    def __init__(self, db: Database) -> None:
        self._parents: dict[str, str] = dict(
            db.rows("select ref, parent from sessions where parent is not null")
        )

    def of(self, ref: str, parent: str | None) -> str:
        line = [ref]
        while parent is not None and parent not in line:
            line.append(parent)
            parent = self._parents.get(parent)
        # Sessions that name each other have no first; any one of them will
        # do, as long as it is the same one.
        return line[-1] if parent is None else min(line[line.index(parent) :])


def roots_of(db: Database) -> dict[int, str | int]:
    """The session that counts, for all that come from another."""
    roots = _Roots(db)
    rows = db.rows("select id, ref, parent from sessions where parent is not null")
    numbers: dict[str, int] = dict(
        db.rows("select ref, id from sessions where ref in (select parent from sessions)")
    )
    found: dict[int, str | int] = {}
    for number, ref, parent in rows:
        root = roots.of(ref, parent)
        # The one that counts is told by its number, like all that come from nowhere.
        found[number] = numbers.get(root, root)
    return found


def occasions(
    db: Database, wanted: Collection[str], units: set[int] | None = None
) -> dict[str, dict[int, int]]:
    """How often there was each of these occasions, by session or live attempt."""
    found: dict[str, dict[int, int]] = {name: {} for name in wanted}
    names = sorted(wanted)
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        marks = ", ".join("?" * len(some))
        rows = db.each(
            f"select name, {_UNIT.format('occasions')}, times from occasions where name in "
            f"({marks})",
            some,
        )
        for name, unit, times in rows:
            if units is None or unit in units:
                found[name][unit] = times
    return found


def occasion_counts(db: Database, units: set[int] | None = None) -> dict[str, int]:
    """In how many sessions and attempts there was each occasion.

    Those that come from one session count as one.
    """
    roots = roots_of(db)
    seen: dict[str, set[object]] = defaultdict(set)
    if units is not None:
        for name, unit in db.each(f"select name, {_UNIT.format('occasions')} from occasions"):
            if unit in units:
                seen[name].add(roots.get(unit, unit))
        return {name: len(found) for name, found in seen.items()}
    counts: Counter[str] = Counter(
        dict(db.rows("select name, count(*) from occasions group by name"))
    )
    if roots:
        related = "session in (select id from sessions where parent is not null or ref in (select parent from sessions))"
        for name, unit in db.each(f"select name, session from occasions where {related}"):
            counts[name] -= 1
            seen[name].add(roots.get(unit, unit))
    counts.update({name: len(found) for name, found in seen.items()})
    return counts


def count_signals(db: Database, units: set[int] | None = None) -> int:
    """How many signals there are, in all or in some sessions and attempts."""
    if units is None:
        return int(db.value("select count(*) from signals"))
    return sum(
        unit in units for (unit,) in db.each(f"select {_UNIT.format('signals')} from signals")
    )


def signal_counts(db: Database, kind: str, units: set[int] | None = None) -> dict[str, int]:
    """How many sessions and attempts show each thing of a kind."""
    if units is None:
        return dict(
            db.rows(
                "select signature, count(*) from signals where kind = ? group by signature", (kind,)
            )
        )
    rows = db.each(
        f"select signature, {_UNIT.format('signals')} from signals where kind = ?", (kind,)
    )
    return Counter(signature for signature, unit in rows if unit in units)


def redact(db: Database, redactor: RedactsMany) -> int:
    """Take out what has a secret in its name, inside the transaction of whoever scans the store.

    Says how many names had one.

    Nothing is put in its place: what was seen under that name is no pattern.
    """
    tables = {
        "signals": "signature",
        "occasions": "name",
        "tallies": "signature",
        "patterns": "signature",
    }
    queries = [f"select {column} from {table}" for table, column in tables.items()]
    names = [name for (name,) in db.rows(" union ".join(queries))]
    found = [
        (name,)
        for name, clean in zip(names, redactor.redact_all(names), strict=True)
        if clean is not name
    ]
    for table, column in tables.items():
        db.many(f"delete from {table} where {column} = ?", found)
    db.many("delete from stale_tallies where signature = ?", found)
    return len(found)
