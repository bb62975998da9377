"""The hub on libSQL, or Turso: for small teams that trust each other, because nobody else checks.

The server knows a token and no people: a row's author is whoever the client says. So it takes
notes and attempts only, and says so when somebody joins.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from recollect.errors import HubRefused, UsageError
from recollect.model.team import (
    HubIdentity,
    ItemKind,
    Pulled,
    Role,
    TeamHit,
    TeamItem,
    TeamMember,
    TeamTurn,
)
from recollect.share.hub import PULLED_AT_ONCE, TeamQuery
from recollect.share.libsql.pipeline import ANSWER_SECONDS, Pipeline, Statement

LIMITS = [
    "A hub on libSQL has no row security: whoever has its token can read and change everything, "
    "also in the name of others. It is for people who trust each other, and takes only notes and "
    "attempts. Who is revoked is shut out only when the token is changed, too."
]
_ITEM = "author, id, kind, project, device, seq, at, gone, body"


class LibsqlHub:
    """A team's tables on a libSQL server, as one member has them."""

    kinds: Sequence[ItemKind] = ("note", "episode")

    def __init__(
        self,
        url: str,
        token: str | None,
        *,
        team: str = "",
        member: str = "",
        device: str = "",
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self.url, self.team, self.member, self.device = url, team, member, device
        self._token = token
        self._server = Pipeline(url, token, answer_seconds)

    @property
    def round_trips(self) -> int:
        return self._server.round_trips

    # Who we are

    def migrate(self) -> None:
        script = files("recollect.share.libsql").joinpath("hub.sql").read_text("utf-8")
        self._server.script(script)

    def found(self, name: str, member: str) -> tuple[str, str, str]:
        """Found a team with its first member, an admin: its id, the address and the token."""
        self.team = str(uuid.uuid4())
        self._server.run(
            ("insert into recollect_teams values (?, ?, ?)", (self.team, name, _now())),
            ("insert into recollect_members values (?, ?, 'admin', ?, null)",
             (self.team, member, _now())),
        )  # fmt: skip
        return self.team, self.url, self._token or ""

    def identity(self) -> HubIdentity:
        [rows] = self._server.read(
            (
                "select recollect_teams.name, role, sqlite_version() from recollect_members "
                "join recollect_teams using (team_id) "
                "where team_id = ? and recollect_members.name = ? and revoked_at is null",
                (self.team, self.member),
            )
        )
        if not rows:
            raise HubRefused(
                "The hub does not know you as a member of this team.",
                hint="Ask an admin for a new link: recollect team invite NAME",
            )
        name, role, version = rows[0]
        return HubIdentity(
            team=self.team, name=name, member=self.member, role=role,
            server=f"libSQL ({version})", limits=LIMITS,
        )  # fmt: skip

    def register(self, device: str, name: str) -> None:
        self.identity()
        self._server.run(
            (
                "insert into recollect_devices (team_id, device, member, name, seen_at) "
                "values (?, ?, ?, ?, ?)",
                (self.team, device, self.member, name, _now()),
            )
        )
        self.device = device

    def health(self) -> list[str]:
        return self.identity().limits

    # What is shared

    def pull(self, since: int, *, limit: int = PULLED_AT_ONCE) -> Pulled:
        after = (self.team, since, self.device)
        fresh = f"select {_ITEM} from recollect_items where team_id = ? and seq > ? and device != ?"
        known, gone, live = self._server.read(
            (
                "select token from recollect_devices join recollect_members "
                "using (team_id) where team_id = ? and device = ? and member = "
                "recollect_members.name and revoked_at is null",
                (self.team, self.device),
            ),
            (f"{fresh} and gone is not null order by seq", after),
            (f"{fresh} and gone is null order by seq limit {int(limit)}", after),
        )
        if not known and self.device:
            self.identity()
        items = [_item(row) for row in [*gone, *live]]
        more = len(live) >= limit
        reached = live[-1][5] if more else max((item.seq for item in items), default=since)
        return Pulled(items, reached, more, known[0][0] if known else None)

    def push(self, items: Sequence[TeamItem]) -> int:
        statements: list[Statement] = []
        for one in items:
            body = json.dumps(one.body if one.gone is None else {}, sort_keys=True)
            key = (self.team, self.member, one.id)
            statements += [
                (_DROP_WORDS, key),
                (
                    _UPSERT,
                    (self.team, *key, one.kind, one.project, self.device, one.at, one.gone, body),
                ),
            ]
            if one.gone is None:
                statements.append((_ADD_WORDS, (_words(one), *key)))
        results = self._server.run(*statements)
        return sum(len(rows) for rows in results)

    def push_turns(self, sessions: Mapping[str, Sequence[TeamTurn]]) -> None:
        raise HubRefused("A hub on libSQL takes no sessions.", hint="Use one on PostgreSQL.")

    def agree(self, watermark: int, token: str) -> None:
        self._server.run(
            (
                "update recollect_devices set seen = max(seen, ?), token = ?, seen_at = ? "
                "where team_id = ? and device = ?",
                (watermark, token, _now(), self.team, self.device),
            )
        )

    def search(self, query: TeamQuery) -> list[TeamHit]:
        words = [f'"{word}"' for word in (one.replace('"', "") for one in query.words) if word]
        if not words:
            return []
        found: dict[tuple[str, str], TeamHit] = {}
        # Any of the words only where all of them find too little.
        for joined in (" AND ".join(words), " OR ".join(words)):
            [rows] = self._server.read(
                (
                    _SEARCH,
                    (joined, self.team, query.project, query.project, query.author, query.author,
                     query.kind, query.kind, query.limit),
                )
            )  # fmt: skip
            for author, id, kind, project, at, body, score in rows:
                hit = TeamHit(
                    ref=id, kind=kind, author=author, project=project, at=at, score=score,
                    text=_text(json.loads(body)),
                )  # fmt: skip
                found.setdefault((author, id), hit)
            if len(found) >= query.limit:
                break
        return list(found.values())[: query.limit]

    def get(self, author: str, id: str) -> TeamItem | None:
        [rows] = self._server.read(
            (
                f"select {_ITEM} from recollect_items where team_id = ? and author = ? and id = ?",
                (self.team, author, id),
            )
        )
        return _item(rows[0]) if rows else None

    def withdraw_all(self) -> int:
        [rows] = self._server.read(
            (
                f"select {_ITEM} from recollect_items where team_id = ? and author = ? "
                "and gone is null",
                (self.team, self.member),
            )
        )
        return self.push([_item(row)._replace(gone="withdrawn") for row in rows]) if rows else 0

    # Who is there

    def members(self) -> list[TeamMember]:
        [rows] = self._server.read(
            (
                """
                select name, role, joined_at, revoked_at,
                       (select count(*) from recollect_devices devices
                         where devices.team_id = members.team_id and member = members.name),
                       (select max(seen_at) from recollect_devices devices
                         where devices.team_id = members.team_id and member = members.name),
                       (select count(*) from recollect_items items
                         where items.team_id = members.team_id and author = members.name
                           and gone is null)
                  from recollect_members members where team_id = ? order by name
                """,
                (self.team,),
            )
        )
        return [
            TeamMember(
                name=name, role=role, joined_at=joined, revoked_at=revoked, devices=devices,
                seen_at=seen, items=items, is_me=name == self.member,
            )
            for name, role, joined, revoked, devices, seen, items in rows
        ]  # fmt: skip

    def confirmations(self, ids: Sequence[str]) -> tuple[int, int]:
        [rows] = self._server.read(
            (
                """
                select count(*), coalesce(sum(seen >= (
                         select coalesce(max(seq), 0) from recollect_items items
                          where items.team_id = ?1 and author = ?2
                            and id in (select value from json_each(?3))) or device = ?4), 0)
                  from recollect_devices devices join recollect_members members
                    on members.team_id = devices.team_id and members.name = member
                 where devices.team_id = ?1 and revoked_at is null
                """,
                (self.team, self.member, json.dumps(list(ids)), self.device),
            )
        )
        return rows[0][0], rows[0][1]

    def aggregates(self) -> dict[str, int]:
        [rows] = self._server.read(
            (
                "select kind, count(*) from recollect_items where team_id = ? and gone is null "
                "group by kind order by kind",
                (self.team,),
            )
        )
        return dict(rows)

    def invite(self, name: str, role: Role) -> tuple[str, str]:
        if self.identity().role != "admin":
            raise HubRefused("The hub does not allow that: only an admin invites.")
        self._server.run(
            (
                "insert into recollect_members values (?, ?, ?, ?, null)",
                (self.team, name, role, _now()),
            )
        )
        return self.url, self._token or ""

    def revoke(self, name: str) -> None:
        if self.identity().role != "admin":
            raise HubRefused("The hub does not allow that: only an admin revokes.")
        [rows] = self._server.run(
            (
                "update recollect_members set revoked_at = ? "
                "where team_id = ? and name = ? and revoked_at is null returning 1",
                (_now(), self.team, name),
            )
        )
        if not rows:
            raise UsageError(
                f'There is no member "{name[:50]}" to revoke.',
                hint="See them: recollect team members",
            )

    def close(self) -> None:
        self._server.close()


# The words of an item stand in a row of the same number.
_DROP_WORDS = """
    delete from recollect_words where rowid = (select rowid from recollect_items
      where team_id = ? and author = ? and id = ? and gone is not 'forgotten')
"""
_ADD_WORDS = """
    insert into recollect_words (rowid, words) select rowid, ? from recollect_items
     where team_id = ? and author = ? and id = ? and gone is null
"""
_UPSERT = """
    insert into recollect_items (team_id, author, id, kind, project, device, at, gone, body, seq)
    values (?, (select name from recollect_members where team_id = ? and name = ?
                 and revoked_at is null and role != 'reader'),
            ?, ?, ?, ?, ?, ?, ?, (select coalesce(max(seq), 0) + 1 from recollect_items))
    on conflict (team_id, author, id) do update
       set kind = excluded.kind, project = excluded.project, device = excluded.device,
           at = excluded.at, gone = excluded.gone, body = excluded.body, seq = excluded.seq
     where recollect_items.gone is not 'forgotten'
       and (recollect_items.gone is not excluded.gone or recollect_items.body != excluded.body
            or recollect_items.project != excluded.project)
    returning 1
"""
_SEARCH = """
    select author, id, kind, project, at, body, -bm25(recollect_words)
      from recollect_words join recollect_items items on items.rowid = recollect_words.rowid
     where recollect_words match ? and team_id = ? and gone is null
       and (? is null or project = ?) and (? is null or author = ?) and (? is null or kind = ?)
     order by bm25(recollect_words) limit ?
"""


def _item(row: tuple[Any, ...]) -> TeamItem:
    author, id, kind, project, device, seq, at, gone, body = row
    return TeamItem(id, kind, project, at, json.loads(body), gone, author, device, seq)


def _text(body: dict[str, Any]) -> str:
    said = (body.get(name) for name in ("text", "summary", "title", "task"))
    return next((one for one in said if isinstance(one, str)), "")


def _words(item: TeamItem) -> str:
    from recollect.share.names import words_of

    return " ".join(words_of(item.body))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
