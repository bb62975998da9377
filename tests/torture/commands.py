"""Every command that writes, with the home that it begins in."""

from __future__ import annotations

import random
from typing import NamedTuple

import apsw

from recollect.store.sqlite.migrate import migrations
from tests.torture.homes import TortureHome, make_homes

# Doctor says so on purpose while deleted text waits to be wiped.
WIPING = ("freed space wiped",)
MOST_JOBS = 12
# The migration that brings the text index.
_INDEXED = 2


class Command(NamedTuple):
    """Something that writes, and what may be so while it is not done."""

    name: str
    saved: str
    words: tuple[str, ...]
    # It takes something away, so that less than before is no loss.
    removes: bool = False
    # What doctor may find until the command has been run to its end.
    between: tuple[str, ...] = ()
    # What doctor finds even then.
    lacks: tuple[str, ...] = ()


def commands(home: TortureHome) -> list[Command]:
    """Save the homes, and list what is done in them. A new writing command is a row here."""
    make_homes(home)
    home.restore("settled")
    with home.memory() as memory:
        session = next(iter(memory.sessions(limit=1))).id
    _make_over_budget(home)
    _make_damaged(home)
    return [
        Command("import of new logs", "new", ("import",)),
        Command("import of logs that grew", "begun", ("import",)),
        Command("import and its jobs", "begun", ("import", "--wait")),
        *_jobs(home),
        Command("embed again", "settled", ("jobs", "run", "embed", "--again")),
        Command("retain", "over", ("retain",), removes=True, between=WIPING),
        Command("forget a session", "settled", ("forget", session, "--yes"), removes=True,
                between=WIPING),
        Command("forget a turn", "settled", ("forget", f"{session}#1", "--yes"), removes=True,
                between=WIPING),
        Command("rescan", "settled", ("redact", "--rescan", "--yes"), removes=True,
                between=WIPING),
        Command("repair", "damaged", ("doctor", "--repair"), removes=True, between=("*",)),
        Command("rebuild the text index", "settled", ("doctor", "--rebuild-text"),
                between=("text index", "text index rows")),
        Command("backup", "settled", ("backup", "copy.db", "--force")),
        Command("a note", "settled", ("memory", "add", "Lint before tests.", "--everywhere")),
        *_migrations(home),
    ]  # fmt: skip


def _jobs(home: TortureHome) -> list[Command]:
    """Every job that follows from an import, each in a home in which it is the next."""
    made: list[Command] = []
    home.restore("imported")
    for number in range(MOST_JOBS):
        with home.memory() as memory:
            memory._shared.store().jobs.mark("imported much")
            waiting = [job.kind for job in memory.jobs.all() if job.state == "waiting"]
        if not waiting or waiting[0] in {command.name.removeprefix("job ") for command in made}:
            break
        saved = f"job {number}"
        home.save(saved)
        made.append(Command(f"job {waiting[0]}", saved, ("jobs", "run", "--limit", "1")))
        home.do("jobs", "run", "--limit", "1")
    return made


def _make_over_budget(home: TortureHome) -> None:
    home.restore("settled")
    config = home.folder / "config.toml"
    config.write_text(config.read_text() + "[retain]\nraw_soft_cap_bytes = 20000\n")
    home.save("over")


def _make_damaged(home: TortureHome) -> None:
    home.restore("settled")
    data = bytearray(home.store.read_bytes())
    chance = random.Random(1)
    for _ in range(6):
        at = chance.randrange(8192, len(data) - 64)
        data[at : at + 64] = chance.randbytes(64)
    home.store.write_bytes(data)
    home.save("damaged")


def _migrations(home: TortureHome) -> list[Command]:
    """A store of each earlier schema, with all the rows that it can have, brought up to date."""
    steps = migrations()
    made = []
    for number, name, _ in steps[1:]:
        home.restore("settled")
        _take_back(str(home.store), steps[: number - 1])
        home.save(f"schema {number - 1}")
        # No store this old had rows for an index that came later.
        missing = ("text index rows",) if number <= _INDEXED else ()
        made.append(
            Command(f"migration {number:04d} {name}", f"schema {number - 1}", ("sessions",),
                    between=(*missing, "schema"), lacks=missing)
        )  # fmt: skip
    return made


def _take_back(store: str, steps: list[tuple[int, str, str]]) -> None:
    """Make a store what it was when there were no more migrations than these."""
    earlier, connection = apsw.Connection(":memory:"), apsw.Connection(store)
    for _, _, sql in steps:
        earlier.execute(sql)
    known = {name for (name,) in earlier.execute("select name from sqlite_schema")}
    earlier.close()
    connection.execute("pragma foreign_keys = off; begin")
    rows = "select type, name from sqlite_schema where type in (?, ?) and name not like 'sqlite_%'"
    for kind, name in connection.execute(rows, ("table", "view")).fetchall():
        shadow = name.startswith("turns_text_") and "turns_text" not in known
        if name not in known and name != "migrations" and not shadow:
            connection.execute(f'drop {kind} if exists "{name}"')
    for kind, name in connection.execute(rows, ("index", "trigger")).fetchall():
        if name not in known:
            connection.execute(f'drop {kind} if exists "{name}"')
    connection.execute("delete from migrations where number > ?", (len(steps),))
    connection.execute(f"pragma user_version = {len(steps)}; commit")
    connection.close()
