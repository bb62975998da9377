"""What the server itself refuses, to whoever sends it SQL of their own."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import sql

from recollect.errors import HubRefused
from recollect.model.team import TeamItem
from recollect.share.hub import TeamQuery
from recollect.share.postgres import PostgresHub
from tests.share.people import Person
from tests.share.servers import PASSWORD, Postgres

TABLES = ("teams", "members", "devices", "items", "turns")
Joins = Callable[..., Person]
ATTEMPTS = 1_000


def connected(person: Person, *, team: str | None = None, device: str = "") -> psycopg.Connection:
    """Somebody's own login, with any client."""
    joined = person.memory._shared.store().team.hub()
    assert joined is not None
    scope = joined.team if team is None else team
    return psycopg.connect(
        joined.url, password=person.link.secret, autocommit=True,
        options=f"-c recollect.team={scope} -c recollect.device={device or joined.device}",
    )  # fmt: skip


@pytest.fixture
def bo(ana: Person, joins: Joins) -> Person:
    """A member beside ana, who shares something."""
    ana.says("Use pnpm here, never npm")
    ana.shares().syncs()
    bo = joins("bo")
    bo.says("Deploys go out on Tuesdays only")
    return bo.shares().syncs()


@pytest.fixture
def mallory(person: Callable[..., Person], bo: Person, hub_url: str) -> Person:
    """An admin of another team in the same database."""
    return person("mallory").founds(hub_url, team="rivals").syncs()


def seen(connection: psycopg.Connection, table: str) -> list[tuple[object, ...]]:
    return connection.execute(
        sql.SQL("select * from recollect.{}").format(sql.Identifier(table))
    ).fetchall()


def test_every_table_forces_row_security_and_begins_its_key_with_the_team(
    ana: Person, postgres: Postgres, hub_url: str
) -> None:
    """One that was added without it would be open to everybody."""
    with postgres.connect(hub_url.rpartition("/")[2]) as owner:
        rows = owner.execute(
            """
            select relname, relrowsecurity and relforcerowsecurity,
                   (select attname from pg_attribute, pg_index
                     where indrelid = pg_class.oid and indisprimary and attrelid = pg_class.oid
                       and attnum = indkey[0])
              from pg_class where relnamespace = 'recollect'::regnamespace and relkind in ('r', 'p')
             order by 1
            """
        ).fetchall()

    tables = [table for table, *_ in rows if not table.startswith("turns_")]
    assert tables == sorted(TABLES)
    assert {tuple(rest) for _, *rest in rows} == {(True, "team_id")}


def test_another_team_sees_and_changes_nothing(mallory: Person, bo: Person) -> None:
    """In a thousand attempts over all tables, with whatever scope and predicate."""
    joined = bo.memory._shared.store().team.hub()
    assert joined is not None
    dice = random.Random(0)
    visible = 0
    teams = ["", joined.team, str(uuid.uuid4()), joined.team.upper()]
    for team in teams:
        with connected(mallory, team=team, device=joined.device) as connection:
            for _ in range(ATTEMPTS // len(teams)):
                table = dice.choice(TABLES)
                where = dice.choice([
                    "true", "team_id is not null", f"team_id = '{joined.team}'", "1 = 1 or true",
                    f"team_id::text like '{joined.team[:4]}%'", "team_id in (select team_id "
                    "from recollect.teams)", "not (team_id is null)", "random() >= 0",
                ])  # fmt: skip
                visible += len(connection.execute(
                    f"select 1 from recollect.{table} where {where}"  # type: ignore[arg-type]
                ).fetchall())  # fmt: skip

    assert visible == 0


def test_without_a_team_nobody_sees_anything(bo: Person) -> None:
    with connected(bo, team="") as connection:
        assert [seen(connection, table) for table in TABLES] == [[]] * len(TABLES)


def test_a_member_cannot_write_as_somebody_else(ana: Person, bo: Person) -> None:
    """The server says who wrote a row; what ana wrote only ana changes."""
    with connected(bo) as connection:
        changed = connection.execute("update recollect.items set body = '{}' where author = 'ana'")
        forged = connection.execute(
            """
            insert into recollect.items (team_id, author, id, kind, project, device, seq, body)
            select team_id, 'ana', md5('forged'), 'note', project, device, 1, body
              from recollect.items where author = 'ana' returning author, device
            """
        ).fetchall()
        for statement in (
            "delete from recollect.items", "update recollect.members set role = 'admin'",
            "insert into recollect.members select team_id, 'eve', 'admin', 'bo' "
            "from recollect.teams", "update recollect.devices set member = 'bo'",
            "delete from recollect.teams", "truncate recollect.items",
            "set role recollect_owner", "alter table recollect.items disable row level security",
            "select recollect.let_in(null, 'eve', 'admin', 'rc_eve', 'SCRAM-SHA-256$x')",
            "select recollect.invite('eve', 'admin', 'rc_eve', 'SCRAM-SHA-256$x')",
            "select recollect.revoke('ana')", "create table recollect.mine (x int)",
            "select recollect.worded(null, null, null, null, null, 1)",
        ):  # fmt: skip
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)  # type: ignore[arg-type]

    own = bo.memory._shared.store().team.hub()
    assert own is not None
    assert changed.rowcount == 0
    assert forged == [("bo", uuid.UUID(own.device))]


def test_a_member_cannot_use_the_device_of_another(ana: Person, bo: Person) -> None:
    """A row always names a device of its author."""
    theirs = ana.memory._shared.store().team.hub()
    assert theirs is not None
    with (
        connected(bo, device=theirs.device) as connection,
        pytest.raises(psycopg.errors.NotNullViolation),
    ):
        connection.execute(
            "insert into recollect.items (id, kind, project, body) "
            "values (md5('x'), 'note', 'p', '{}')"
        )


def test_a_reader_reads_and_writes_nothing(bo: Person, joins: Joins) -> None:
    reader = joins("rita", "reader").syncs()
    reader.says("Readers may not say this")
    reader.shares()

    with pytest.raises(HubRefused):
        reader.syncs()

    assert len(reader.knows()) == 2
    with connected(reader) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(
                "insert into recollect.items (id, kind, project, body) "
                "values (md5('x'), 'note', 'p', '{}')"
            )
        assert connection.execute("update recollect.items set body = '{}'").rowcount == 0


def test_who_was_revoked_sees_nothing_at_once(ana: Person, bo: Person) -> None:
    """Also on a connection that was open before, and after asking for it anew."""
    with connected(bo) as connection:
        before = len(seen(connection, "items"))
        ana.memory.team.revoke("bo")
        after = [len(seen(connection, table)) for table in TABLES]

    assert before == 2
    assert after == [0] * len(TABLES)
    with pytest.raises(HubRefused, match="does not let you in"):
        bo.syncs()
    assert [member.name for member in ana.memory.team.members() if member.revoked_at] == ["bo"]


@pytest.mark.parametrize(
    "hostile",
    ["'; drop table recollect.items; --", "' or '1'='1", "\\'; select 1; --", "$$", "a & b | !c",
     "') union select * from recollect.members --", "%s", "%(x)s", "{}", "\N{SNOWMAN}' OR 1=1"],
)  # fmt: skip
def test_no_filter_is_read_as_sql(bo: Person, mallory: Person, hostile: str) -> None:
    with bo.memory.team._hub() as hub:
        for query in (
            TeamQuery([hostile]), TeamQuery(["pnpm"], project=hostile),
            TeamQuery(["pnpm"], author=hostile), TeamQuery(["pnpm"], kind=hostile),  # type: ignore[arg-type]
        ):  # fmt: skip
            assert hub.search(query) == []
        assert hub.get(hostile, hostile) is None
        assert hub.confirmations([hostile])[0] > 0
        assert len(hub.search(TeamQuery(["pnpm"]))) == 1
    with mallory.memory.team._hub() as other:
        assert other.search(TeamQuery(["pnpm"])) == []


def late(url: str, person: Person, began: threading.Event) -> Iterator[None]:
    """A transaction that has its number already, and commits when it is gone on with."""
    with connected(person) as connection, connection.transaction():
        connection.execute(
            "insert into recollect.items (id, kind, project, at, body) values (md5('late'), "
            "'note', 'github.com/acme/shop', now(), "
            """'{"text": "Late", "category": "project", "section": "traps"}')"""
        )
        began.set()
        yield


def test_what_commits_late_is_not_passed_over(ana: Person, bo: Person, joins: Joins) -> None:
    """A watermark beyond a row that nobody could see yet would lose it for ever."""
    cy = joins("cy").syncs()
    began = threading.Event()
    transaction = late(ana.link.url, ana, began)
    next(transaction)
    bo.says("The later one")

    pushing = threading.Thread(target=PostgresHubPush(bo))
    pushing.start()
    time.sleep(0.3)
    during = cy.syncs().knows()
    with pytest.raises(StopIteration):
        next(transaction)
    pushing.join(20)
    after = cy.syncs().knows()

    assert {"Late", "The later one"} & {text for text, *_ in during} == set()
    assert {"Late", "The later one"} <= {text for text, *_ in after}


class PostgresHubPush:
    """Pushes from another thread, which a store of its own thread cannot."""

    def __init__(self, person: Person) -> None:
        joined = person.memory._shared.store().team.hub()
        assert joined is not None
        self.hub = PostgresHub(
            joined.url, person.link.secret, team=joined.team, device=joined.device
        )

    def __call__(self) -> None:
        body = {"text": "The later one", "category": "project", "section": "traps"}
        self.hub.push([TeamItem("0" * 32, "note", "github.com/acme/shop", None, body)])
        self.hub.close()


def test_tables_can_be_partitioned_by_team(
    ana: Person, bo: Person, postgres: Postgres, hub_url: str
) -> None:
    """So that a hub that outgrows one server can be distributed without a new schema."""
    with postgres.connect(hub_url.rpartition("/")[2]) as owner:
        for table in ("items", "turns"):
            owner.execute(f"create table spread_{table} (like recollect.{table} including all) "
                          "partition by hash (team_id)")  # type: ignore[arg-type]  # fmt: skip
            for part in range(4):
                owner.execute(f"create table spread_{table}_{part} partition of spread_{table} "
                              f"for values with (modulus 4, remainder {part})")  # type: ignore[arg-type]  # fmt: skip
            owner.execute(f"insert into spread_{table} select * from recollect.{table}")  # type: ignore[arg-type]
        [(spread, stored)] = owner.execute(
            "select (select count(*) from spread_items), (select count(*) from recollect.items)"
        ).fetchall()

    assert spread == stored == 2


def test_the_password_of_the_server_is_nowhere_in_a_store(ana: Person) -> None:
    """Neither is one's own: it is in the environment, or in the keyring."""
    ana.syncs()
    kept = b"".join(path.read_bytes() for path in ana.folder.glob("recollect.db*"))

    assert PASSWORD.encode() not in kept
    assert ana.link.secret.encode() not in kept
