"""The hub on PostgreSQL: its server says whose a row is, and who may see it (`hub.sql`).

Every call is one statement, committed by itself: nothing of ours holds a lock while it waits for
a network. A server that does not answer in time is left, whatever the system thinks of it.
"""

from __future__ import annotations

import os
import re
import socket
import struct
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import numpy as np

from recollect.errors import HubRefused, HubUnavailable, UsageError
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
from recollect.share.hub import PROTOCOL, PULLED_AT_ONCE, TeamQuery
from recollect.share.link import is_near, new_secret, with_user
from recollect.share.names import words_of

try:
    import psycopg
    from psycopg import sql
except ImportError as error:
    raise UsageError(
        "A hub on PostgreSQL needs the package psycopg.",
        hint='Install it: pip install "recollect[postgres]"',
    ) from error

CONNECT_SECONDS = 5
# A server that says nothing for so long is left; what was begun there is done whole or not at all.
ANSWER_SECONDS = 30
OLDEST = 150000
_ITEM = "author, id, kind, project, device, seq, at, gone, body"


class PostgresHub:
    """A team's schema in a PostgreSQL database, as one login sees it."""

    kinds: Sequence[ItemKind] = ("note", "digest", "session", "episode")

    def __init__(
        self,
        url: str,
        password: str | None,
        *,
        team: str = "",
        device: str = "",
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self.url, self.team, self.device = url, team, device
        self.round_trips = 0
        self._password, self._answer_seconds = password, answer_seconds
        self._connection: psycopg.Connection[Any] | None = None

    # Who we are

    def identity(self) -> HubIdentity:
        rows = self._rows(
            """
            select teams.name, me.name, me.role, current_setting('server_version'),
                   recollect.schema_version(), recollect.oldest_protocol(),
                   exists (select 1 from pg_attribute where attname = 'meaning'
                     and attrelid = 'recollect.turns'::regclass)
              from recollect.caller() me join recollect.teams on teams.team_id = me.team_id
            """
        )
        if not rows:
            raise HubRefused(
                "The hub does not know you as a member of this team.",
                hint="Ask an admin for a new link: recollect team invite NAME",
            )
        name, member, role, version, _, oldest, has_vectors = rows[0]
        _check_protocol(oldest, name)
        return HubIdentity(
            team=self.team, name=name, member=member, role=role, server=f"PostgreSQL {version}",
            limits=[] if has_vectors else [_NO_VECTORS],
        )  # fmt: skip

    def register(self, device: str, name: str) -> None:
        self._rows("select recollect.register(%s, %s)", [device, name])
        self.device = device
        # A session says which device it is when it connects.
        self.close()

    def health(self) -> list[str]:
        return self.identity().limits

    # What is shared

    def pull(self, since: int, *, limit: int = PULLED_AT_ONCE) -> Pulled:
        rows = self._rows(
            f"""
            with me as (select recollect.device() as device),
                 fresh as (select {_ITEM} from recollect.items items
                            where team_id = (select recollect.team()) and seq > %(since)s
                              and device is distinct from (select me.device from me))
            select null, null, null, null, null, recollect.oldest_protocol()::bigint, null, null,
                   (select to_jsonb(token) from recollect.devices
                     where device = (select me.device from me))
            union all (select * from fresh where gone is not null order by seq)
            union all (select * from fresh where gone is null order by seq limit %(limit)s)
            """,
            {"since": since, "limit": limit},
        )
        [(oldest, token)] = [(row[5], row[8]) for row in rows if row[0] is None]
        _check_protocol(oldest, "The hub")
        items = [_item(row) for row in rows if row[0] is not None]
        live = [item.seq for item in items if item.gone is None]
        more = len(live) >= limit
        reached = live[-1] if more else max((item.seq for item in items), default=since)
        return Pulled(items, reached, more, token)

    def push(self, items: Sequence[TeamItem]) -> int:
        sent = [
            {"id": one.id, "kind": one.kind, "project": one.project, "at": one.at,
             "gone": one.gone, "body": one.body, "words": " ".join(words_of(one.body))}
            for one in items
        ]  # fmt: skip
        rows = self._rows(
            """
            insert into recollect.items as stored
                   (team_id, author, device, seq, id, kind, project, at, gone, body, words)
            select recollect.team(), '', null, 0, id, kind, project, at, gone, body,
                   to_tsvector('simple', words)
              from jsonb_to_recordset(%s::jsonb) as sent (id text, kind text, project text,
                   at timestamptz, gone text, body jsonb, words text)
             where not exists (select 1 from recollect.items old where old.id = sent.id
                     and old.author = recollect.member() and old.gone = 'forgotten')
             order by id
            on conflict (team_id, author, id) do update
               set kind = excluded.kind, project = excluded.project, at = excluded.at,
                   gone = excluded.gone, body = excluded.body, words = excluded.words
             where stored.gone is distinct from excluded.gone or stored.body != excluded.body
                or stored.project != excluded.project
            returning 1
            """,
            [_json(sent)],
        )
        return len(rows)

    def push_turns(self, sessions: Mapping[str, Sequence[TeamTurn]]) -> None:
        with self._asking() as connection, connection.transaction():
            # COPY goes into no table with row security; what follows from it does.
            types = ["text", "int4", "timestamptz", "text", "text"]
            vector = self._vector_type(connection)
            columns = "session text, ordinal int, at timestamptz, text text, words text"
            if vector:
                columns, types = f"{columns}, meaning {vector}", [*types, "bytea"]
            connection.execute(_literal(f"create temp table arriving ({columns}) on commit drop"))
            with connection.cursor().copy("copy arriving from stdin (format binary)") as copy:
                copy.set_types(types)
                for id, turns in sessions.items():
                    for one in turns:
                        row = [id, one.ordinal, _moment(one.at), one.text, one.words]
                        copy.write_row([*row, _halfvec(one.vector)] if vector else row)
            connection.execute(
                "delete from recollect.turns where team_id = recollect.team() "
                "and author = recollect.writer() and session = any(%s)",
                [list(sessions)],
            )
            more = ", meaning" if vector else ""
            connection.execute(
                _literal(
                    f"""
                    insert into recollect.turns
                           (team_id, author, session, ordinal, at, project, text, words{more})
                    select team_id, author, session, ordinal, arriving.at, project, text,
                           to_tsvector('simple', arriving.words){more}
                      from arriving join recollect.items on id = session
                     where team_id = recollect.team() and author = recollect.writer()
                       and gone is null
                    """
                )
            )
            self.round_trips += 4

    def _vector_type(self, connection: psycopg.Connection[Any]) -> str | None:
        row = connection.execute(
            "select format_type(atttypid, atttypmod) from pg_attribute "
            "where attrelid = 'recollect.turns'::regclass and attname = 'meaning'"
        ).fetchone()
        return None if row is None else str(row[0])

    def agree(self, watermark: int, token: str) -> None:
        self._rows("select recollect.agree(%s, %s)", [watermark, token])

    def search(self, query: TeamQuery) -> list[TeamHit]:
        vector = None if query.vector is None else f"[{','.join(map(str, query.vector))}]"
        rows = self._rows(
            "select * from recollect.find(%s, %s, %s, %s, %s, %s)",
            [list(query.words), vector, query.project, query.author, query.kind, query.limit],
        )
        return [
            TeamHit(
                ref=ref if ordinal is None else f"{ref}#{ordinal}", kind=kind, author=author,
                project=project, at=at.isoformat() if at else None, text=text, score=score,
            )
            for ref, ordinal, kind, author, project, at, text, score in rows
        ]  # fmt: skip

    def get(self, author: str, id: str) -> TeamItem | None:
        rows = self._rows(
            f"select {_ITEM} from recollect.items where author = %s and id = %s", [author, id]
        )
        return _item(rows[0]) if rows else None

    def withdraw_all(self) -> int:
        rows = self._rows(
            "update recollect.items set gone = 'withdrawn' where gone is null "
            "and author = recollect.member() returning 1"
        )
        return len(rows)

    # Who is there

    def members(self) -> list[TeamMember]:
        rows = self._rows(
            """
            select name, role, joined_at, revoked_at,
                   (select count(*) from recollect.devices
                     where devices.team_id = members.team_id and member = members.name),
                   (select max(seen_at) from recollect.devices
                     where devices.team_id = members.team_id and member = members.name),
                   (select count(*) from recollect.items
                     where items.team_id = members.team_id and author = members.name
                       and gone is null),
                   name = recollect.member()
              from recollect.members order by name
            """
        )
        return [
            TeamMember(
                name=name, role=role, joined_at=joined.isoformat(),
                revoked_at=revoked.isoformat() if revoked else None, devices=devices,
                seen_at=seen.isoformat() if seen else None, items=items, is_me=is_me,
            )
            for name, role, joined, revoked, devices, seen, items, is_me in rows
        ]  # fmt: skip

    def confirmations(self, ids: Sequence[str]) -> tuple[int, int]:
        rows = self._rows(
            """
            select count(*), count(*) filter (where seen >= (
                     select coalesce(max(seq), 0) from recollect.items
                      where author = recollect.member() and id = any(%s))
                   or device = recollect.device())
              from recollect.devices join recollect.members
                on members.team_id = devices.team_id and members.name = devices.member
             where revoked_at is null
            """,
            [list(ids)],
        )
        return rows[0][0], rows[0][1]

    def aggregates(self) -> dict[str, int]:
        return dict(
            self._rows(
                "select kind, count(*) from recollect.items where gone is null "
                "group by kind order by kind"
            )
        )

    def invite(self, name: str, role: Role) -> tuple[str, str]:
        login, secret = new_login(name), new_secret()
        self._rows(
            "select recollect.invite(%s, %s, %s, %s)",
            [name, role, login, self._as_kept(secret, login)],
        )
        return with_user(self.url, login), secret

    def revoke(self, name: str) -> None:
        if self._rows("select recollect.revoke(%s)", [name]) != [(True,)]:
            raise UsageError(
                f'There is no member "{name[:50]}" to revoke.',
                hint="See them: recollect team members",
            )

    # Setting up, with the rights of who runs the server

    def migrate(self) -> None:
        version = int(self._rows("select current_setting('server_version_num')::int")[0][0])
        if version < OLDEST:
            raise HubRefused(
                f"This server is PostgreSQL {version // 10000}.", hint="A hub needs 15 or newer."
            )
        with self._asking() as connection, connection.transaction():
            connection.execute("select pg_advisory_xact_lock(7365636)")
            for role, options in (("recollect_owner", "nologin createrole"),
                                  ("recollect_member", "nologin")):  # fmt: skip
                there = connection.execute("select 1 from pg_roles where rolname = %s", [role])
                if not there.fetchone():
                    if role == "recollect_member":
                        connection.execute("set local role recollect_owner")
                    connection.execute(_literal(f"create role {role} {options}"))
                    if role == "recollect_owner":
                        connection.execute("grant recollect_owner to current_user")
            connection.execute("reset role")
            with suppress(psycopg.Error), connection.transaction():
                # Who runs the server may have to allow it first; without it words still find.
                connection.execute("create extension if not exists vector")
            known = connection.execute("select to_regnamespace('recollect')").fetchone()
            if known is None or known[0] is None:
                connection.execute("create schema recollect authorization recollect_owner")
                connection.execute("set local role recollect_owner")
                connection.execute(_literal(_script("hub.sql")))
                if where := self._vectors(connection):
                    connection.execute(_literal(_script("meaning.sql").replace("{schema}", where)))

    def _vectors(self, connection: psycopg.Connection[Any]) -> str | None:
        """The schema that pgvector is in, if the server has a version of it with what we need."""
        row = connection.execute(
            """
            select quote_ident(nspname) from pg_extension
              join pg_namespace on pg_namespace.oid = extnamespace
              join pg_type on typnamespace = extnamespace and typname = 'halfvec'
             where extname = 'vector'
            """
        ).fetchone()
        return None if row is None else str(row[0])

    def found(self, name: str, member: str) -> tuple[str, str, str]:
        """Found a team with its first member, an admin: its id, their address and password."""
        team, login, secret = str(uuid.uuid4()), new_login(member), new_secret()
        kept = self._as_kept(secret, login)
        with self._asking() as connection, connection.transaction():
            connection.execute("set local role recollect_owner")
            connection.execute(
                "insert into recollect.teams (team_id, name) values (%s, %s)", [team, name]
            )
            own = sql.Identifier("recollect", f"turns_{team.replace('-', '')}")
            for statement in (
                "create table {} partition of recollect.turns for values in ({})",
                "alter table {} enable row level security",
                "alter table {} force row level security",
            ):
                connection.execute(sql.SQL(statement).format(own, sql.Literal(team)))
            connection.execute(
                "select recollect.let_in(%s, %s, 'admin', %s, %s)", [team, member, login, kept]
            )
        return team, with_user(self.url, login), secret

    def _as_kept(self, secret: str, login: str) -> str:
        with self._asking() as connection:
            return connection.pgconn.encrypt_password(
                secret.encode(), login.encode(), b"scram-sha-256"
            ).decode()

    # Asking

    def _rows(self, statement: str, values: Any = None) -> list[tuple[Any, ...]]:
        with self._asking() as connection:
            self.round_trips += 1
            cursor = connection.execute(_literal(statement), values)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def _asking(self) -> Iterator[psycopg.Connection[Any]]:
        """The connection, which is given up when the server says nothing for too long."""
        connection = self._connect()
        handle = socket.socket(fileno=os.dup(connection.fileno()))
        timer = threading.Timer(self._answer_seconds, _hang_up, [handle])
        timer.daemon = True
        timer.start()
        try:
            yield connection
        except psycopg.Error as error:
            self.close()
            raise _explained(error, self.url) from error
        finally:
            timer.cancel()
            handle.close()

    def _connect(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            options = f"-c recollect.team={self.team} -c recollect.device={self.device}"
            given: dict[str, Any] = {"password": self._password} if self._password else {}
            query = parse_qs(urlsplit(self.url).query)
            if not is_near(self.url) and "sslmode" not in query:
                # Bound to the channel, the password proves the server as a certificate would.
                given |= {"sslmode": "require", "channel_binding": "require"}
            try:
                self._connection = psycopg.connect(
                    self.url, autocommit=True, connect_timeout=CONNECT_SECONDS, options=options,
                    application_name="recollect", prepare_threshold=None, **given,
                )  # fmt: skip
            except psycopg.Error as error:
                raise _explained(error, self.url) from error
        return self._connection

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()


_NO_VECTORS = "This server has no pgvector: the team's things are found by word, not by meaning."


def new_login(name: str) -> str:
    """A name for a login that nobody has, and that shows whose it is."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower())[:30].strip("_") or "member"
    return f"rc_{plain}_{os.urandom(4).hex()}"


def _hang_up(handle: socket.socket) -> None:
    with suppress(OSError):
        handle.shutdown(socket.SHUT_RDWR)


def _explained(error: psycopg.Error, url: str) -> HubUnavailable | HubRefused:
    host = urlsplit(url).hostname or "this machine"
    said = " ".join(str(error).split())
    if error.sqlstate == "42501":
        return HubRefused(
            f"The hub does not allow that: {said[:200]}.",
            hint="See your role: recollect team members",
        )
    if error.sqlstate in ("28P01", "28000") or re.search(
        "password authentication failed|not permitted to log in|no password supplied", said
    ):
        return HubRefused(
            f"The hub at {host} does not let you in.",
            hint="Set RECOLLECT_TEAM_PASSWORD, or ask an admin whether you were revoked.",
        )
    if error.sqlstate in ("3F000", "42P01", "42883"):
        return HubRefused(
            "There is no team in that database.", hint="Make one: recollect team init URL"
        )
    return HubUnavailable(f"The hub at {host} cannot be used now: {said[:300]}.")


def _item(row: tuple[Any, ...]) -> TeamItem:
    author, id, kind, project, device, seq, at, gone, body = row
    return TeamItem(
        id, kind, project, at.isoformat() if at else None, body, gone, author, str(device), seq
    )


def _check_protocol(oldest: int, name: str) -> None:
    """Nothing is half read: a hub that others have brought further says what it needs."""
    if oldest > PROTOCOL:
        raise HubRefused(
            f"{name} needs a newer recollect (it speaks {oldest}, this one {PROTOCOL}).",
            hint="Upgrade recollect. What you shared stays as it is.",
        )


def _script(name: str) -> str:
    return files("recollect.share.postgres").joinpath(name).read_text("utf-8")


def _moment(at: str | None) -> datetime | None:
    return None if at is None else datetime.fromisoformat(at)


def _halfvec(vector: bytes | None) -> bytes | None:
    """A vector as the server takes it in a binary copy: its length, nothing, 16 bits a number."""
    if vector is None:
        return None
    numbers = np.frombuffer(vector, np.int8).astype(">f2")
    return struct.pack(">hh", len(numbers), 0) + numbers.tobytes()


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _literal(statement: str) -> sql.SQL:
    return sql.SQL(statement)
