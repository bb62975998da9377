"""Logs are cut, emptied, exchanged, deleted and written anew while they are imported.

Whatever an import has seen of them, the next one after they are whole again knows them whole, and
nothing besides.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from tests.torture.campaign import Round
from tests.torture.homes import State, TortureHome, make_homes
from tests.torture.kill import differences

IMPORTS = 4


def rounds(folder: Path, seed: int, count: int) -> Iterator[Round]:
    home = TortureHome(folder)
    make_homes(home)
    home.restore("new")
    logs = {path: path.read_bytes() for path in sorted(home.path.glob(".c*/**/*.jsonl"))}
    home.do("import")
    expected = _told(home)
    for number in range(count):
        home.restore("new")
        yield Round("import", attempt(home, logs, expected, random.Random(f"{seed} {number}")))


def attempt(
    home: TortureHome, logs: dict[Path, bytes], expected: State, chance: random.Random
) -> list[str]:
    """Import a few times while somebody plays with the logs, and once when they are whole."""
    done = threading.Event()
    changer = threading.Thread(target=_play, args=(logs, chance, done))
    changer.start()
    faults = []
    for _ in range(IMPORTS):
        ended = home.run("import")
        if ended.code not in (0, 1) or "Traceback" in ended.said:
            faults.append(f"ended with {ended.code}: {ended.said[-300:]}")
    done.set()
    changer.join()
    for path, data in logs.items():
        path.unlink(missing_ok=True)
        path.write_bytes(data)
    ended = home.run("import")
    if ended.code:
        faults.append(f"in the end: {ended.code}: {ended.said[-300:]}")
    return [*faults, *home.unwell(), *differences(expected, _told(home))]


def _told(home: TortureHome) -> State:
    """Sessions and turns, without the numbers, which turns get in the order they were seen in."""
    told: State = {}
    for name, said in home.state().items():
        if name.startswith("session "):
            told[name] = said
        if name.startswith("turn "):
            turn = msgspec.json.decode(said)
            session = turn.pop("ref").partition("#")[0]
            turn.pop("ordinal", None)
            told[f"turn of {session} at {turn['started_at']}"] = msgspec.json.encode(turn)
    return told


def _play(logs: dict[Path, bytes], chance: random.Random, done: threading.Event) -> None:
    while not done.is_set():
        path = chance.choice(list(logs))
        chance.choice(_WAYS)(path, logs[path], chance)
        time.sleep(chance.uniform(0, 0.01))


def _cut(path: Path, data: bytes, chance: random.Random) -> None:
    path.write_bytes(data[: chance.randint(0, len(data))])


def _cut_in_place(path: Path, data: bytes, chance: random.Random) -> None:
    if path.exists():
        with path.open("r+b") as file:
            file.truncate(chance.randint(0, len(data)))


def _append(path: Path, data: bytes, chance: random.Random) -> None:
    """Go on writing; what was spoilt before is mended, because no agent writes behind rubbish."""
    now = path.read_bytes() if path.exists() else b""
    if not data.startswith(now):
        now = b""
        path.write_bytes(now)
    with path.open("ab") as file:
        file.write(data[len(now) : len(now) + chance.randint(1, 5_000)])


def _spoil(path: Path, data: bytes, chance: random.Random) -> None:
    with path.open("ab") as file:
        file.write(chance.choice((b"\0" * 4096, b"{", b"not a line\n", b"\xff\xfe\n", b"{}\n")))


def _exchange(path: Path, data: bytes, chance: random.Random) -> None:
    other = path.with_name(f".{path.name}.new")
    other.write_bytes(data[: chance.randint(0, len(data))])
    other.replace(path)


def _delete(path: Path, data: bytes, chance: random.Random) -> None:
    path.unlink(missing_ok=True)


def _write_again(path: Path, data: bytes, chance: random.Random) -> None:
    path.write_bytes(data)


_WAYS: tuple[Callable[[Path, bytes, random.Random], None], ...] = (
    _cut, _cut_in_place, _append, _append, _spoil, _exchange, _delete, _write_again,
)  # fmt: skip
