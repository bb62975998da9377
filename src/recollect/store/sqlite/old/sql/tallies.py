"""What signals come to: tallies, the patterns that stand, and
the heuristics that follow from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from recollect.model.patterns import Heuristic, Pattern, Sighting
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.old.sql import catalogue
from recollect.store.sqlite.old.sql.signals import ALL_STALE
from recollect.store.tallies import EVERYTHING, Key, Rule, Selection, Tally, fading
from recollect.system.clock import iso, now_ms

# What the tallies were made by: they are all made again when that is another.
_RULES = "learn_rules"
_COLUMNS = ", ".join(Tally._fields)


def ensure_rules(db: Database, looking: int, least: int) -> None:
    """Have everything counted again if `least` is another number of sessions than
    before, and learned again if `looking` is.
    """
    before, rules = (
        db.value("select value from store_info where name = ?", (_RULES,)),
        f"{looking} {least}",
    )
    if before == rules:
        return
    with db.transaction():
        db.execute(ALL_STALE)
        if before is not None and before.split()[0] != str(looking):
            db.execute("insert or replace into unlearned select session, random() from digests")
            Jobs(db).mark("learning rules changed")
        db.execute("insert or replace into store_info values (?, ?)", (_RULES, rules))


def has_stale(db: Database) -> bool:
    """Whether any tally is to be made again."""
    return db.value("select 1 from stale_tallies limit 1") is not None


def name_stale(db: Database) -> None:
    """Where all tallies are meant, name them."""
    if db.value("select 1 from stale_tallies where kind = '' and signature = 'all'"):
        db.execute(
            "insert or ignore into stale_tallies select distinct kind, signature from signals"
        )
        db.execute("insert or ignore into stale_tallies select kind, signature from tallies")


def all_tallies(db: Database) -> list[Tally]:
    """Every tally there is."""
    return [
        _tally(row) for row in db.rows(f"select {_COLUMNS} from tallies order by kind, signature")
    ]


def standing(db: Database) -> list[Tally]:
    """The tallies that are patterns."""
    return [
        _tally(row)
        for row in db.rows(f"select {_COLUMNS} from tallies where stands order by kind, signature")
    ]


def _tally(row: Sequence[Any]) -> Tally:
    return Tally(*row)._replace(stands=bool(row[-1]))


def replace_stale(db: Database, made: Iterable[Tally]) -> None:
    """Put these in the place of all tallies that were to be made again.

    What has none of them any more is gone.
    """
    db.execute(
        "delete from tallies where (kind, signature) in (select kind, signature from stale_tallies)"
    )
    db.many(
        f"insert or replace into tallies ({_COLUMNS}) values "
        f"({', '.join('?' * len(Tally._fields))})",
        made,
    )
    db.execute("delete from stale_tallies")


def save_chances(db: Database, chances: Iterable[tuple[str, float]]) -> None:
    """Keep how likely each of these is, by the id of its pattern."""
    db.many("update tallies set chance = ?2 where pattern = ?1", chances)


def keep_standing(db: Database, chosen: Sequence[Tally]) -> None:
    """Have these be the patterns that stand, and no others.

    What a person decided about stays, with its history.
    """
    wanted = {tally.pattern for tally in chosen}
    before = {pattern for (pattern,) in db.rows("select pattern from tallies where stands")}
    db.many(
        "update tallies set stands = 0 where pattern = ?",
        [(pattern,) for pattern in sorted(before - wanted)],
    )
    db.many(
        "update tallies set stands = 1 where pattern = ?",
        [(pattern,) for pattern in sorted(wanted - before)],
    )
    known = {
        pattern: (status, version)
        for pattern, status, version in db.rows("select id, status, version from patterns")
    }
    said: dict[str, str] = dict(
        db.rows(
            "select pattern, sentence || char(0) || sessions from pattern_versions order by version"
        )
    )
    for tally in chosen:
        if tally.pattern not in known:
            db.execute(
                "insert into patterns (id, kind, signature, status, version, made_at) values (?, "
                "?, ?, 'candidate', 1, ?)",
                (tally.pattern, tally.kind, tally.signature, now_ms()),
            )
        if said.get(tally.pattern) != f"{tally.sentence}\0{tally.sessions}":
            catalogue.propose(db, tally.pattern, tally.sentence, tally.sessions)
    # One that has an earlier version was decided about once, and is a candidate again.
    gone = sorted(
        pattern
        for pattern, state in known.items()
        if state == ("candidate", 1) and pattern not in wanted
    )
    db.many("delete from patterns where id = ?", [(pattern,) for pattern in gone])


# What is read


def patterns(
    db: Database, tallies: Sequence[Tally], *, half_life_days: int, shown: int, selection: Selection
) -> list[Pattern]:
    """These tallies as patterns, in the order given, each with
    its newest sightings of a selection.
    """
    now = now_ms()
    states = {row[0]: row[1:] for row in db.rows(_STATES)}
    opinions = _opinions(db)
    found = []
    for tally in tallies:
        status, version, sentence = states.get(tally.pattern, ("candidate", 1, tally.sentence))
        helpful, harmful = opinions.get(catalogue.PREFIX + tally.pattern, (0, 0))
        found.append(
            Pattern(
                id=tally.pattern, kind=tally.kind, signature=tally.signature, sentence=sentence,
                status=status, version=version,
                sessions=tally.sessions, went_well=tally.went_well, went_wrong=tally.went_wrong,
                confidence=tally.confidence,
                strength=round(tally.confidence * fading(tally.last_at, now, half_life_days), 4),
                agents=tally.agents.split(), projects=_projects(db, tally.key, selection),
                cross_agent=tally.is_shared,
                trust=tally.trust, first_at=iso(tally.first_at), last_at=iso(tally.last_at),
                evidence=sightings(db, tally.key, selection, shown), helpful=helpful,
                harmful=harmful,
            )
        )  # fmt: skip
    return found


_STATES = """
    select id, patterns.status, patterns.version, sentence from patterns
      join pattern_versions one on one.pattern = patterns.id and one.version = patterns.version
"""


def _opinions(db: Database) -> dict[str, tuple[int, int]]:
    from recollect.store.sqlite.old.sql import measured

    return measured.standing(db)


def decided(db: Database) -> list[Key]:
    """What a person has decided about."""
    rows = db.rows(
        "select kind, signature from patterns where status != 'candidate' or version > 1 order by "
        "1, 2"
    )
    return [(kind, signature) for kind, signature in rows]


def kept(db: Database) -> list[tuple[str, Tally]]:
    """Every pattern there is, with its status.

    Of one that a person decided about, the evidence may be gone.
    """
    names = ", ".join(f"tallies.{name}" for name in Tally._fields)
    sql = f"""
        select patterns.id, patterns.kind, patterns.signature, patterns.status, one.sentence,
          {names}
          from patterns join pattern_versions one on one.pattern = patterns.id
            and one.version = patterns.version
          left join tallies on tallies.kind = patterns.kind
            and tallies.signature = patterns.signature order by patterns.id
    """
    found = []
    for pattern, kind, signature, status, sentence, *row in db.rows(sql):
        nothing = Tally(
            kind,
            signature,
            pattern,
            "",
            sentence,
            0,
            0,
            0,
            None,
            0.0,
            "",
            "tool-verified",
            None,
            None,
        )
        found.append((status, nothing if row[0] is None else _tally(row)._replace(pattern=pattern)))
    return found


_SEEN = """
    signals left join sessions on sessions.id = signals.session left join episodes on episodes.id = signals.episode
    left join turns on turns.session = signals.session and turns.ordinal = signals.turn
    left join projects one on one.id = coalesce(sessions.project, episodes.project)
    left join projects whole on whole.id = one.merged_into
"""
_WITHIN = """
    signals.kind = :kind and signals.signature = :signature
    and (:agent is null or coalesce(sessions.agent, episodes.agent) = :agent)
    and (:project is null or coalesce(sessions.project, episodes.project) in
         (select id from projects where key = :project or merged_into = (select id
           from projects where key = :project)))
    and (:since is null or coalesce(sessions.ended_at, sessions.started_at,
      episodes.started_at) >= :since)
"""


def sightings(db: Database, key: Key, selection: Selection, limit: int) -> list[Sighting]:
    """Where something was seen: the newest sightings first, then by name."""
    rows = db.rows(
        f"""
        select coalesce(sessions.ref || '#' || signals.turn, episodes.ref),
          coalesce(sessions.agent, episodes.agent, ''),
               coalesce(whole.key, one.key), signals.at, signals.went_well, coalesce(turns.live, 1)
          from {_SEEN} where {_WITHIN} order by signals.at is null, signals.at desc, 1 limit :limit
        """,
        {**_named(key, selection), "limit": limit},
    )
    return [
        Sighting(
            ref=ref,
            agent=agent,
            project=project,
            at=iso(at),
            went_well=None if well is None else bool(well),
            live=bool(live),
        )
        for ref, agent, project, at, well, live in rows
    ]


def _projects(db: Database, key: Key, selection: Selection) -> list[str]:
    sql = f"select distinct coalesce(whole.key, one.key) from {_SEEN} where {_WITHIN} order by 1"
    rows = db.rows(sql, _named(key, selection))
    return [project for (project,) in rows if project is not None]


def _named(key: Key, selection: Selection) -> dict[str, object]:
    return {"kind": key[0], "signature": key[1], **selection._asdict()}


# Heuristics


def keep_rules(db: Database, rules: Sequence[Rule]) -> None:
    """Have these be the heuristics, and no others."""
    before = {
        row[0]: row[1:]
        for row in db.rows(
            "select id, pattern, condition, action, held, failed, status from heuristics"
        )
    }
    for rule in rules:
        row = (
            rule.pattern,
            rule.condition,
            rule.action,
            rule.held,
            rule.failed,
            "retired" if rule.retired else "active",
        )
        if before.get(rule.id) != row:
            db.execute(
                """
                insert into heuristics (id, pattern, condition, action, held, failed, status,
                  made_at)
                values (?, ?, ?, ?, ?, ?, ?, ?)
                on conflict (id) do update set condition = excluded.condition,
                  action = excluded.action, held = excluded.held,
                  failed = excluded.failed, status = excluded.status
                """,
                (rule.id, *row, now_ms()),
            )
    gone = sorted(before.keys() - {rule.id for rule in rules})
    db.many("delete from heuristics where id = ?", [(name,) for name in gone])


def heuristics(db: Database, shown: int) -> list[Heuristic]:
    """Every heuristic with its newest evidence."""
    rows = db.rows(
        """
        select heuristics.id, condition, action, held, failed, heuristics.status, pattern, kind,
          signature
          from heuristics join patterns on patterns.id = heuristics.pattern order by heuristics.id
        """
    )
    return [
        Heuristic(
            id=name, condition=condition, action=action, confidence=0.0, held=held, failed=failed,
            status=status,
            patterns=[pattern], evidence=sightings(db, (kind, signature), EVERYTHING, shown),
        )
        for name, condition, action, held, failed, status, pattern, kind, signature in rows
    ]  # fmt: skip
