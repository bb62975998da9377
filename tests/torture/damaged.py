"""Stores damaged in hundreds of ways, each known by its seed, and used all the same.

What has to hold, whatever was damaged: no question ends in anything but an answer or an
error of ours; what an answer leaves out, or a question that is refused, `doctor` has
noticed; where it noticed nothing, every answer is the right one; and what `repair` makes is
sound, answers everything, and has nearly all the rows that the damage left readable.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from recollect.errors import RecollectError
from recollect.memory import Memory
from recollect.model.reports import Health
from recollect.serve.hook import respond
from tests.torture.campaign import Round
from tests.torture.homes import State, TortureHome, make_homes, state_of

# What cannot be made again from other tables.
TABLES = ("sessions", "turns", "bodies", "tool_calls", "notes", "episodes")
LEAST_SALVAGED = 0.95
QUESTION = "deadlock timeout test import"
NAME = "recollect.db"


class Outcome(NamedTuple):
    """What one damage did: what was refused and what raised, by question, and what is wrong."""

    seed: int
    kind: str
    refused: dict[str, str]
    faults: list[str]
    health: str
    # Of so many rows on pages that were left as they were, so many were there after a repair.
    kept: int = 0
    expected: int = 0


def opened(path: Path) -> Memory:
    """The memory at a path, which knows no other place of this machine."""
    home = str(path.parent / "home")
    return Memory.open(path, environ={"HOME": home, "RECOLLECT_HOME": home})


# Damage


def flip(data: bytearray, chance: random.Random) -> None:
    """Other bits in 1 to 64 bytes next to each other."""
    start, count = chance.randrange(len(data)), chance.randint(1, 64)
    for at in range(start, min(len(data), start + count)):
        data[at] ^= chance.randint(1, 255)


def scatter(data: bytearray, chance: random.Random) -> None:
    """Other bits in 1 to 64 bytes anywhere."""
    for _ in range(chance.randint(1, 64)):
        data[chance.randrange(len(data))] ^= chance.randint(1, 255)


def cut(data: bytearray, chance: random.Random) -> None:
    """The file ends after some page."""
    size = page_size(data)
    del data[chance.randrange(1, len(data) // size) * size :]


def cut_anywhere(data: bytearray, chance: random.Random) -> None:
    """The file ends in the middle of a page."""
    del data[chance.randrange(1, len(data)) :]


def clear(data: bytearray, chance: random.Random) -> None:
    """Some pages are empty, as after a power cut."""
    size = page_size(data)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(data) // size) * size
        data[at : at + size] = bytes(size)


def swap(data: bytearray, chance: random.Random) -> None:
    """One page stands where another should."""
    size = page_size(data)
    one, other = (chance.randrange(len(data) // size) * size for _ in range(2))
    data[one : one + size] = data[other : other + size]


KINDS: tuple[Callable[[bytearray, random.Random], None], ...] = (
    flip, flip, flip, scatter, cut, cut_anywhere, clear, swap,
)  # fmt: skip


def page_size(data: bytes | bytearray) -> int:
    """The size of a page, as the header of a sound file says."""
    return int.from_bytes(data[16:18], "big")


def damage(sound: bytes, seed: int) -> tuple[str, bytes]:
    """A sound file with the damage of this seed, and what kind of damage that is."""
    chance = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    data = bytearray(sound)
    kind(data, chance)
    return kind.__name__, bytes(data)


# Use


def questions(memory: Memory, refs: list[str]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Everything that reads, by name."""
    yield "search", lambda: memory.search(QUESTION, limit=50)
    yield "search by word", lambda: memory.search(QUESTION, mode="text", limit=50)
    yield "sessions", lambda: list(memory.sessions(limit=None))
    yield "session page", memory.session_page
    yield "export", lambda: list(memory.store.export())
    for ref in refs:
        yield f"show {ref}", lambda ref=ref: memory.show(ref)  # type: ignore[misc]
    yield "stats", lambda: [memory.stats(by) for by in ("agent", "project", "tool", "day")]
    yield "summary", memory.summary
    yield "recall", lambda: memory.recall("run the tests", everywhere=True)
    yield "blame", lambda: memory.blame("parser.py")
    yield "fix", lambda: memory.fix("ModuleNotFoundError: No module named 'x'")
    yield "how", lambda: memory.how("pytest", everywhere=True)
    yield "friction", lambda: memory.friction(sessions=1)
    yield "projects", memory.projects.all
    yield "notes", lambda: list(memory.notes.search())
    yield "patterns", memory.episodes.patterns
    yield "heuristics", lambda: memory.episodes.heuristics(everything=True)
    yield "episodes", lambda: list(memory.episodes.all())
    yield "retrieve", lambda: memory.episodes.retrieve("mend the parser")
    yield "hook runs", memory.injections.hook_runs


def deeds(memory: Memory) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What writes, by name."""
    yield "import", lambda: memory.import_logs([memory.agents.sample_logs()])
    yield "digest", lambda: list(memory.digest_new())
    yield "make ready", lambda: list(memory.make_ready())
    yield "embed", lambda: list(memory.store.embed(again=True))
    yield "rescan", memory.store.rescan
    yield "retain", lambda: list(memory.store.retain())
    yield "optimize", memory.store.optimize
    yield "work", memory.jobs.work


def tried(
    asked: Iterator[tuple[str, Callable[[], Any]]], refused: dict[str, str], faults: list[str]
) -> None:
    """Ask everything; an error that is not ours is a fault."""
    for name, ask in asked:
        try:
            ask()
        except RecollectError as error:
            refused[name] = f"{type(error).__name__}: {error}"
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            faults.append(
                f"{name} raised {type(error).__name__}: {str(error)[:80]} "
                f"({Path(place.filename).name}:{place.lineno})"
            )


def use(path: Path, refs: list[str], refused: dict[str, str], faults: list[str]) -> list[str]:
    """Ask a store everything; says which turns were left out of answers."""
    try:
        memory = opened(path)
    except RecollectError as error:
        refused["open"] = str(error)
        return []
    with memory:
        tried(questions(memory, refs), refused, faults)
        left_out = memory.take_left_out()
    event = {"session_id": "s", "cwd": "/home/ada/shop", "prompt": "run the tests"}
    environ = {"HOME": str(path.parent / "home"), "RECOLLECT_STORE": str(path)}
    asked = [("hook", lambda: respond("claude-code", "UserPromptSubmit",
              json.dumps(event).encode(), environ))]  # fmt: skip
    tried(iter(asked), refused, faults)
    return left_out


def examined(path: Path, faults: list[str], *, verify: bool) -> Health | None:
    """What doctor says; None when the store is too damaged for that."""
    try:
        with opened(path) as memory:
            return memory.store.doctor(verify=verify)
    except RecollectError:
        return None
    except Exception as error:
        faults.append(f"doctor raised {type(error).__name__}: {str(error)[:80]}")
        return None


class Sound(NamedTuple):
    """A store that nothing is wrong with: its bytes, its sessions, what it tells, and its rows
    by the page that they are on.
    """

    data: bytes
    refs: list[str]
    state: State
    pages: list[tuple[str, int, int]]


def make_sound(folder: Path) -> Sound:
    """A small store with rows in every table, closed."""
    home = TortureHome(folder)
    make_homes(home)
    home.restore("settled")
    connection = apsw.Connection(str(home.store))
    connection.execute("pragma journal_mode = delete").fetchall()
    connection.execute("pragma journal_mode = wal").fetchall()
    pages = connection.execute(
        "select name, pageno, ncell from dbstat where pagetype = 'leaf' "
        "and name in (select name from sqlite_schema where type = 'table')"
    ).fetchall()
    connection.close()
    rows = [(str(name), int(page), int(cells)) for name, page, cells in pages if name in TABLES]
    return Sound(home.store.read_bytes(), all_refs(home.store), home.state(), rows)


def rounds(folder: Path, seed: int, count: int) -> Iterator[Round]:
    (folder / "sound").mkdir()
    sound = make_sound(folder / "sound")
    for number in range(count):
        place = folder / str(number)
        place.mkdir(mode=0o700)
        outcome = attempt(sound, seed * 1_000 + number, place)
        shutil.rmtree(place)
        faults = [f"seed {outcome.seed}: {fault}" for fault in dict.fromkeys(outcome.faults)]
        if outcome.kept < LEAST_SALVAGED * outcome.expected:
            faults.append(f"only {outcome.kept} of {outcome.expected} rows were saved")
        yield Round(f"{outcome.kind}: doctor says {outcome.health}", faults)


def left_of(sound: Sound, data: bytes) -> int:
    """How many rows of the tables that count are on pages that the damage left as they were."""
    size = page_size(sound.data)
    return sum(
        cells
        for _, page, cells in sound.pages
        if data[(page - 1) * size : page * size] == sound.data[(page - 1) * size : page * size]
    )


def rows_in(path: Path) -> int:
    """How many rows there are in the same tables."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        counts = [connection.execute(f"select count(*) from {table}") for table in TABLES]
        return sum(int(next(iter(one))[0]) for one in counts)
    finally:
        connection.close()


def attempt(sound: Sound, seed: int, folder: Path) -> Outcome:
    """Damage a store, use it, repair it, and use what came of that."""
    kind, data = damage(sound.data, seed)
    refs = sound.refs
    path = folder / NAME
    path.write_bytes(data)
    os.chmod(path, 0o600)
    refused: dict[str, str] = {}
    faults: list[str] = []
    plain = examined(path, faults, verify=False)
    whole = examined(path, faults, verify=True)
    left_out = use(path, refs, refused, faults)
    noticed = [one for one, health in (("plain", plain), ("verify", whole)) if not _well(health)]
    if (refused or left_out) and "plain" not in noticed:
        faults.append(f"doctor missed what {list(refused) or left_out} met with")
    if (refused or left_out) and "verify" not in noticed:
        faults.append(f"doctor --verify missed what {list(refused) or left_out} met with")
    if not noticed:
        told = state_of(path)
        wrong = [name for name in sound.state if told.get(name) != sound.state[name]]
        faults += [f"doctor is content, but this is wrong: {', '.join(wrong[:5])}"] if wrong else []
    written = folder / "written"
    written.mkdir(mode=0o700)
    shutil.copy(path, written / NAME)
    try:
        with opened(written / NAME) as memory:
            tried(deeds(memory), {}, faults)
    except RecollectError:
        pass
    sound_again = _repaired(path, faults, was_well=_well(whole))
    kept, expected = (rows_in(path), left_of(sound, data)) if sound_again else (0, 0)
    return Outcome(
        seed, kind, refused, faults, ", ".join(noticed) or "all is well", min(kept, expected),
        expected,
    )  # fmt: skip


def _well(health: Health | None) -> bool:
    return health is not None and not _unwell(health)


def _unwell(health: Health) -> list[str]:
    """What is not as it should be; that logs are gone or permissions open is no damage."""
    return [f"{one.name}: {one.detail}" for one in health.findings if not one.ok]


def _repaired(path: Path, faults: list[str], *, was_well: bool) -> bool:
    """Repair a store and use it; False when nothing could be saved."""
    try:
        with opened(path) as memory:
            report = memory.store.repair()
    except RecollectError as error:
        if was_well:
            faults.append(f"repair refused a sound store: {error}")
        elif "Nothing in" not in str(error) and "another program" not in str(error):
            faults.append(f"repair refused: {error}")
        return False
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        faults.append(
            f"repair raised {type(error).__name__}: {error} ({place.filename}:{place.lineno})"
        )
        return False
    copy = path.with_name("used.db")
    shutil.copy(path, copy)
    health = examined(path, faults, verify=True)
    if not _well(health):
        unwell = _unwell(health) if health else "it cannot be opened"
        faults.append(f"unsound after repair (sound before: {report.sound}): {unwell}")
    refused: dict[str, str] = {}
    after: list[str] = []
    left_out = use(copy, [], refused, after)
    if refused or left_out:
        faults.append(f"after repair: {refused or left_out}")
    faults += [f"after repair: {fault}" for fault in after]
    try:
        with opened(copy) as memory:
            gone: dict[str, str] = {}
            tried(deeds(memory), gone, faults)
            faults += [f"after repair: {name}: {why}" for name, why in gone.items()]
    except RecollectError as error:
        faults.append(f"after repair: {error}")
    return True


def all_refs(path: Path) -> list[str]:
    """Every session of a store, and the first turn of each."""
    with opened(path) as memory:
        refs = [session.id for session in memory.sessions(limit=None)]
    return [*refs, *(f"{ref}#1" for ref in refs)]
