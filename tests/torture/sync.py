"""A sync with the hub of a team is killed at a random moment: nothing is lost, nothing comes twice.

The hub is a real PostgreSQL. Ana says and forgets things, her sync is killed, and so is bo's; an
hour later both exchange undisturbed, and bo has what ana says, each thing once.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from pathlib import Path

from tests.share.people import Person
from tests.share.servers import PASSWORD, Postgres, postgres_folder
from tests.torture import victim
from tests.torture.campaign import Round

SYNC = ("team", "sync")


def rounds(folder: Path, seed: int, count: int) -> Iterator[Round]:
    server = Postgres(postgres_folder())
    people: list[Person] = []
    try:
        ana = _sits(folder, "ana").founds(server.database()).shares()
        bo = _sits(folder, "bo").joins(ana.memory.team.invite("bo"))
        people += [ana, bo]
        for person in people:
            _keeps_password(person, server.port)
        ana.says("What was said before the first sync")
        for person in people:
            _exchanges(person)
        dice, said = random.Random(seed), ["What was said before the first sync"]
        for number in range(count):
            # Of now: the first commands took longer, as they start what the others are forked from.
            usual = max(_exchanges(person).seconds for person in people)
            yield _attempt(ana, bo, dice, said, number, usual)
    finally:
        for person in people:
            person.memory.close()
        server.stop()


def _attempt(
    ana: Person, bo: Person, dice: random.Random, said: list[str], number: int, usual: float
) -> Round:
    """Both are killed once; what bo does not have then, or has besides."""
    for part in range(dice.randint(1, 30)):
        said.append(f"Lesson {number} is that step {part} of {dice.randrange(10**9)} comes first")
        ana.says(said[-1])
    if len(said) > 3 and dice.random() < 0.4:
        gone = said.pop(dice.randrange(len(said)))
        [note] = [one for one in ana.memory.notes.search(limit=10_000) if one.text == gone]
        ana.memory.notes.forget(note.ref)
    faults, killed = [], 0
    for person in (ana, bo):
        ended = _exchanges(person, kill_after=dice.uniform(0, usual * 1.2))
        killed += ended.code == -signal.SIGKILL
        if ended.code not in (0, -signal.SIGKILL):
            faults.append(f"ended with {ended.code}: {ended.said[-300:]}")
    for person in (ana, bo):
        ended = _exchanges(person, hours_ahead=1)
        if ended.code:
            faults.append(f"the next sync ended with {ended.code}: {ended.said[-300:]}")
    known = sorted(note.text for note in bo.memory.notes.search(author="member", limit=10_000))
    faults += [f"lost: {text}" for text in sorted(set(said) - set(known))[:5]]
    faults += [f"too much: {text}" for text in sorted(set(known) - set(said))[:5]]
    if len(known) > len(set(known)):
        faults.append("something came twice")
    return Round(f"{killed} of 2 killed", faults)


def _sits(folder: Path, name: str) -> Person:
    """At a machine whose home is where the command line finds it."""
    return Person(name, folder / name / ".recollect", PASSWORD)


def _keeps_password(person: Person, port: int) -> None:
    """Where PostgreSQL's own tools look for it: a killed command gets no environment of ours."""
    file = person.folder.parent / ".pgpass"
    file.write_text(f"127.0.0.1:{port}:*:*:{person.link.secret}\n")
    file.chmod(0o600)


def _exchanges(
    person: Person, *, kill_after: float | None = None, hours_ahead: float = 0
) -> victim.Ended:
    home = person.folder.parent
    return victim.run(home, SYNC, kill_after=kill_after, hours_ahead=hours_ahead)
