"""Fault rounds: what is shared arrives once, whatever becomes of the connection and the server.

`python -m tests.share.faults 500` does as many of them, and one server that stalls for as long as
we wait for it; the suite does a few.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from recollect.errors import HubUnavailable
from tests.share.people import Person
from tests.share.proxy import Proxy
from tests.share.servers import PASSWORD, Postgres, postgres_folder


class Outcome:
    """What rounds came to."""

    def __init__(self) -> None:
        self.rounds = self.cut = self.lost = self.doubled = 0
        self.messages: set[str] = set()


def through(url: str, port: int, proxy: Proxy) -> str:
    return url.replace(f":{port}/", f":{proxy.port}/")


def rounds(
    count: int, dice: random.Random, ana: Person, bo: Person, fault: Callable[[], None],
    repair: Callable[[], None],
) -> Outcome:  # fmt: skip
    """Ana says, edits and forgets things; each sync may meet a fault, and is done again after."""
    found, said = Outcome(), dict[str, str]()
    for number in range(count):
        note = ana.says(f"Lesson number {number} is that step {number * 7} comes first")
        said[note.ref] = note.text
        if len(said) > 3 and dice.random() < 0.4:
            gone = dice.choice(list(said))
            ana.memory.notes.forget(gone)
            del said[gone]
        fault()
        for person in (ana, bo):
            try:
                person.syncs()
            except HubUnavailable as error:
                found.cut += 1
                found.messages.add(str(error)[:60])
        repair()
        ana.syncs()
        bo.syncs()
        known = [text for text, *_ in bo.knows()]
        found.rounds += 1
        found.lost += len(set(said.values()) - set(known))
        found.doubled += len(known) - len(set(known)) + len(set(known) - set(said.values()))
    return found


def cut_rounds(count: int, seed: int, folder: Path, server: Postgres, url: str) -> Outcome:
    """Connections that are cut anywhere: in the handshake, in a statement, before its answer."""
    dice, proxy = random.Random(seed), Proxy(server.port)
    ana = Person("ana", folder / "ana", PASSWORD).founds(through(url, server.port, proxy)).shares()
    bo = Person("bo", folder / "bo", PASSWORD).joins(ana.memory.team.invite("bo"))
    try:
        return rounds(
            count, dice, ana, bo,
            lambda: proxy.cut_after(int(dice.paretovariate(0.5) * 300)),
            lambda: proxy.cut_after(None),
        )  # fmt: skip
    finally:
        for person in (ana, bo):
            person.memory.close()
        proxy.close()


def stalled(folder: Path, server: Postgres, url: str) -> tuple[float, list[str]]:
    """A server that falls silent in a push: how long a sync waits, and what the next one shares."""
    proxy = Proxy(server.port)
    ana = Person("cy", folder / "cy", PASSWORD).founds(through(url, server.port, proxy)).shares()
    bo = Person("di", folder / "di", PASSWORD).joins(ana.memory.team.invite("di"))
    ana.says("Use pnpm here, never npm")
    proxy.last_words = b"insert into recollect.items"
    began = time.monotonic()
    try:
        ana.syncs()
        raise AssertionError("a silent server answered")
    except HubUnavailable:
        took = time.monotonic() - began
    proxy.is_silent = False
    ana.syncs()
    known = [text for text, *_ in bo.syncs().knows()]
    for person in (ana, bo):
        person.memory.close()
    proxy.close()
    return took, known


if __name__ == "__main__":
    server = Postgres(postgres_folder())
    with tempfile.TemporaryDirectory() as place:
        print(vars(cut_rounds(int(sys.argv[1]), 0, Path(place), server, server.database())))
        print(stalled(Path(place), server, server.database()))
    server.stop()
