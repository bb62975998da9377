"""Attempts at tasks: recorded ones are added, derived ones are
replaced with what their session came to.

One row is one attempt with all its steps, so there is never half of one. Those
who keep attempts in memory ask what is new by the largest id they have seen,
and by two counters whether some went or were reworded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from recollect.errors import NotFound, StoreDamaged
from recollect.model.answers import Listing
from recollect.model.batch import ProjectIdentity
from recollect.model.episodes import Context, Episode, EpisodeSource, Reward, Step
from recollect.redact.values_in import RedactsMany, Slots
from recollect.store.episodes import DigestedSession, EpisodeState, StoredEpisode
from recollect.store.sqlite import listing
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.projects import Projects
from recollect.system.clock import find_moment, iso

# SQLite takes 32,766 values a statement.
_MOST_VALUES = 30_000
REDACTED_AT_ONCE = 256

_COLUMNS = (
    "id", "ref", "session", "task_number", "turns", "agent", "project", "task", "language",
    "domain", "tags", "outcome", "result",
    "error", "reward", "reward_parts", "started_at", "duration_ms", "tokens", "steps",
)  # fmt: skip
_INSERT = f"""
insert into episodes ({", ".join(_COLUMNS)}) values ({", ".join("?" * len(_COLUMNS))})
  on conflict (ref) do nothing
"""
_SELECT = """
select episodes.id, episodes.ref, sessions.ref as session, turns,
       coalesce(episodes.agent, sessions.agent) as agent, coalesce(b.key, a.key) as project,
       task, language, domain, tags, outcome, result, error, reward_parts,
       episodes.started_at, duration_ms, tokens, steps
"""
_FROM = """
  from episodes
  left join sessions on sessions.id = episodes.session
  left join projects a on a.id = episodes.project
  left join projects b on b.id = a.merged_into
"""
_SELECT += _FROM
_STARTED = 14
_SESSION = {"live": "null", "derived": "not null"}


def _row(
    episode: Episode, project: int | None, session: int | None, number: int | None
) -> tuple[Any, ...]:
    context, reward = episode.context, episode.reward
    return (
        episode.ref, session, number, _json(episode.turns) if episode.turns else None,
        episode.agent, project, episode.task,
        context.language, context.domain, _json(context.tags) if context.tags else None,
        episode.outcome, episode.result, episode.error,
        None if reward is None else reward.total, None if reward is None else _json(reward),
        None if episode.started_at is None else find_moment(episode.started_at),
        episode.duration_ms, episode.tokens,
        msgspec.msgpack.encode([msgspec.structs.astuple(step) for step in episode.steps]),
    )  # fmt: skip


def _episode(row: tuple[Any, ...]) -> Episode:
    _, ref, session, turns, agent, project, task, language, domain, tags, *rest = row
    outcome, result, error, reward, at, duration, tokens, steps = rest
    return Episode(
        ref=ref, source="live" if session is None else "derived", task=task,
        context=Context(language=language, domain=domain, tags=_tags(tags), project=project),
        outcome=outcome, result=result, error=error, started_at=iso(at), duration_ms=duration,
        tokens=tokens, steps=[Step(*row) for row in msgspec.msgpack.decode(steps)],
        reward=None if reward is None else msgspec.json.decode(reward, type=Reward),
        session=session, turns=msgspec.json.decode(turns) if turns else [], agent=agent,
        trust="assistant" if session is None else "tool-verified",
    )  # fmt: skip


def _tags(stored: str | None) -> tuple[str, ...]:
    return tuple(msgspec.json.decode(stored)) if stored else ()


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text, type=list[str])
    except msgspec.MsgspecError:
        return False
    return True


# What a decoder says of bytes that are not what was written.
_UNREADABLE = (msgspec.MsgspecError, TypeError, ValueError)


class Episodes:
    """Attempts at tasks, recorded live or derived from sessions."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def keep(self, episodes: Sequence[Episode]) -> None:
        """Add attempts that were recorded live, all or none.

        One that is there already stays as it is.
        """
        with self.db.transaction():
            self._insert(episodes, None)

    def underived(self) -> list[DigestedSession]:
        """The sessions with a digest of whose tasks no attempts were made yet.

        Those that may be anybody's have none.
        """
        rows = self.db.rows(
            """
            select session, sessions.ref, made_at from digests
              join sessions on sessions.id = digests.session
             where not derived and not sessions.external order by session
            """
        )
        return [DigestedSession(*row) for row in rows]

    def replace(self, session: DigestedSession, episodes: Sequence[Episode]) -> bool:
        """Have a session come to these attempts and no others; False when it was digested anew."""
        with self.db.transaction():
            current = "select 1 from digests where session = ? and made_at = ? and not derived"
            if not self.db.value(current, (session.number, session.made_at)):
                return False
            self.db.execute("update digests set derived = 1 where session = ?", (session.number,))
            self.db.execute("delete from episodes where session = ?", (session.number,))
            self._insert(episodes, session.number)
        return True

    def _insert(self, episodes: Sequence[Episode], session: int | None) -> None:
        last = self.db.value(
            """
            select max(coalesce((select max(id) from episodes), 0),
                       coalesce((select value from store_info where name = 'episodes_last'), 0))
            """
        )
        projects: dict[str, int] = {}
        rows = []
        for number, episode in enumerate(episodes):
            name = episode.context.project
            if name is not None and name not in projects:
                projects[name] = Projects(self.db).ensure(
                    ProjectIdentity(name, "directory" if os.path.isabs(name) else "remote")
                )
            project = None if name is None else projects[name]
            rows.append(
                (
                    last + 1 + number,
                    *_row(episode, project, session, None if session is None else number),
                )
            )
        self.db.many(_INSERT, rows)

    def find(self, numbers: Sequence[int]) -> dict[int, Episode]:
        """The attempts of these ids that are there, by id."""
        found: dict[int, Episode] = {}
        for start in range(0, len(numbers), _MOST_VALUES):
            some = list(numbers[start : start + _MOST_VALUES])
            for row in self.db.rows(
                f"{_SELECT} where episodes.id in ({', '.join('?' * len(some))})", some
            ):
                if episode := self._readable(row):
                    found[row[0]] = episode
        return found

    def get(self, ref: str) -> Episode:
        """One attempt, by its reference."""
        row = self.db.row(f"{_SELECT} where episodes.ref = ?", (ref,))
        if row is None:
            raise NotFound(
                f'There is no attempt "{ref[:100]}".',
                hint="Find attempts by what they were about: retrieve_relevant",
            )
        try:
            return _episode(row)
        except _UNREADABLE as error:
            raise StoreDamaged(self.db.path, f"the attempt {ref} cannot be read") from error

    def _readable(self, row: tuple[Any, ...]) -> Episode | None:
        """An attempt as it is listed; one that is damaged is left out, which is noted."""
        try:
            return _episode(row)
        except _UNREADABLE:
            self.db.left_out[str(row[1])] = None
            return None

    def page(
        self,
        *,
        limit: int,
        cursor: str | None = None,
        source: EpisodeSource | None = None,
        project: str | None = None,
    ) -> Listing[Episode]:
        """The attempts of a source and a project, or all of them, the newest first."""
        wanted = "1" if source is None else f"episodes.session is {_SESSION[source]}"
        if project is not None:
            wanted += " and coalesce(b.key, a.key) = ?"
        values = [] if project is None else [project]
        total = self.db.value(f"select count(*) {_FROM} where {wanted}", values)
        after, shown = listing.beyond(cursor, "episodes.started_at", "episodes.id")
        rows = self.db.rows(
            f"{_SELECT} where {wanted} and {after} "
            f"order by {listing.order('episodes.started_at', 'episodes.id')} limit ?",
            [*values, *shown, limit + 1],
        )
        last = rows[limit - 1] if len(rows) > limit else None
        return Listing(
            [episode for row in rows[:limit] if (episode := self._readable(row))],
            total=total,
            cursor=None if last is None else listing.cursor_of(last[_STARTED], last[0]),
        )

    def each(
        self, *, project: str | None = None, agent: str | None = None, since: int | None = None
    ) -> Iterator[tuple[str, Episode]]:
        """Every attempt in the order of ids, with the name of what it counts for.

        That is itself for one recorded live; for a derived one its session, or the
        one that this was forked or started from.
        """
        rows = self.db.each(
            f"""
            select coalesce(main.ref, sessions.ref, episodes.ref), shown.* from ({_SELECT}) shown
              join episodes on episodes.id = shown.id
              left join sessions on sessions.id = episodes.session
              left join sessions main on main.ref = sessions.parent
             where (?1 is null or shown.project = ?1) and (?2 is null or shown.agent = ?2)
               and (?3 is null or shown.started_at >= ?3)
             order by shown.id
            """,
            (project, agent, since),
        )
        for root, *row in rows:
            if episode := self._readable(tuple(row)):
                yield root, episode

    def state(self) -> EpisodeState:
        """What tells whether attempts that somebody keeps in memory are still those here."""
        row = self.db.row(
            """
            select coalesce((select value from store_info where name = 'episodes_changed'), 0),
                   coalesce((select value from store_info where name = 'episodes_gone'), 0),
                   coalesce(max(id), 0)
              from episodes
            """
        )
        return EpisodeState(*row) if row else EpisodeState(0, 0, 0)

    def kept_after(self, number: int) -> Iterator[StoredEpisode]:
        """What there is to compare of the attempts with larger ids, in order."""
        rows = self.db.each(
            """
            select id, task, language, domain, project, tags, reward, started_at,
                   session is not null
              from episodes where id > ? order by id
            """,
            (number,),
        )
        for one, task, language, domain, project, tags, worth, at, derived in rows:
            if not isinstance(task, str):
                continue
            try:
                known = _tags(tags)
            except _UNREADABLE:
                # Whoever asks for the attempt is told that it is damaged.
                known = ()
            yield StoredEpisode(
                one, task, language, domain, project, known, worth, at, bool(derived)
            )

    def numbers(self) -> list[int]:
        """The ids of all attempts."""
        return [number for (number,) in self.db.rows("select id from episodes order by id")]

    def is_sound(self, number: int) -> bool:
        """Whether a stored attempt can be read."""
        row = self.db.row(f"{_SELECT} where episodes.id = ?", (number,))
        try:
            return row is not None and bool(_episode(row))
        except _UNREADABLE:
            return False

    def redact(self, redactor: RedactsMany) -> int:
        """Take secrets out of all attempts, inside the transaction of whoever scans the store.

        Says how many had one.
        """
        changed, everything = 0, self.numbers()
        for start in range(0, len(everything), REDACTED_AT_ONCE):
            some = everything[start : start + REDACTED_AT_ONCE]
            marks = ", ".join("?" * len(some))
            rows = self.db.rows(
                f"""
                select task, language, domain, tags, result, error, id, steps from episodes
                 where id in ({marks})
                """,
                some,
            )
            for *texts, packed in rows:
                if self.is_sound(texts[-1]):
                    steps = msgspec.msgpack.decode(packed)
                    changed += self._redact_row([*texts, steps], redactor)
        return changed

    def _redact_row(self, row: list[Any], redactor: RedactsMany) -> bool:
        slots = Slots()
        for column in range(6):
            if row[column] is not None:
                slots.add(row, column, row[column])
        for step in row[7]:
            for column, value in enumerate(step):
                if isinstance(value, str):
                    slots.add(step, column, value)
        if not slots.replace(redactor):
            return False
        if row[3] is not None and not _is_json(row[3]):
            row[3] = None
        self.db.execute(
            """
            update episodes
               set task = ?, language = ?, domain = ?, tags = ?, result = ?, error = ?, steps = ?
             where id = ?
            """,
            (*row[:6], msgspec.msgpack.encode(row[7]), row[6]),
        )
        return True
