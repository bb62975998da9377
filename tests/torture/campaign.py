"""The parts of the campaign, what one of them comes to, and the page that says so."""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
RESULTS = re.compile(r"(<!-- torture: begin -->\n).*?(<!-- torture: end -->)", re.DOTALL)
# A part that finds so many faults has been heard.
MOST_FAULTS = 200


class Round(NamedTuple):
    """One attempt to break something: what it was about, and what did not hold.

    `count` is how many reads, copies or commands it stands for.
    """

    what: str
    faults: list[str]
    count: int = 1


class CannotRun(Exception):
    """This machine lacks what a part needs; it is skipped by name."""


# Rounds about a folder of their own, from a seed on: as many as are asked for.
Rounds = Callable[[Path, int, int], Iterator[Round]]


class Part(NamedTuple):
    """A kind of mistreatment: what is done, how often in full and in the sample of the tests."""

    name: str
    what: str
    unit: str
    full: int
    sample: int
    # The share of a whole campaign's time that it may take.
    share: int

    def rounds(self, folder: Path, seed: int, count: int) -> Iterator[Round]:
        made: Rounds = import_module(f"tests.torture.{self.name}").rounds
        return made(folder, seed, count)


PARTS = (
    Part(
        "kill",
        "`kill -9` at a random moment or change of a file, in every command that writes, every "
        "job, every migration, the MCP server and the web page; afterwards the store is sound, "
        "nothing that was there is lost or doubled, and the next run ends where an "
        "undisturbed one does",
        "rounds",
        full=500,
        sample=8,
        share=8,
    ),
    Part(
        "servers",
        "`kill -9` of the MCP server and of the web page while they write: what was confirmed is "
        "there, nothing is there twice, and the next one answers",
        "rounds",
        full=40,
        sample=2,
        share=2,
    ),
    Part(
        "sync",
        "`kill -9` of a sync with the hub of a team on either side, at a random moment: an hour "
        "later both have what they say, each thing once, and what was forgotten is gone",
        "rounds",
        full=100,
        sample=2,
        share=2,
    ),
    Part(
        "write_faults",
        "the n-th change of a file fails, or every one from the n-th on, n = 1 to 500 in turn, in "
        "every command that writes: it ends with 74 and a message that says what to do, or does "
        "all of its work all the same; the store is sound, and a second run completes it",
        "commands",
        full=1000,
        sample=8,
        share=5,
    ),
    Part(
        "full_disk",
        "every command that writes on a disk of 8, 16 or 32 MB on which a little room is left: "
        "the same holds, and reading goes on",
        "commands",
        full=200,
        sample=4,
        share=2,
    ),
    Part(
        "power",
        "the power fails at a random change of a file, and of what was not synced by then any "
        "part is lost, sector by sector: what is left is sound, has what was committed, and "
        "the next run completes it",
        "cuts",
        full=200,
        sample=4,
        share=3,
    ),
    Part(
        "damaged",
        "stores with 1 to 64 other bytes, cut after a page or in one, with pages emptied or "
        "exchanged: `doctor` notices or every answer is right, no question raises, and what "
        "`doctor --repair` makes is sound and has at least 95 % of the rows on untouched pages",
        "stores",
        full=300,
        sample=3,
        share=4,
    ),
    Part(
        "crowd",
        "16 importers, 16 hooks, 8 readers and one who forgets and retains, for 20 s, while "
        "logs grow: no error, no hook that keeps an agent waiting, no lost row",
        "crowds",
        full=3,
        sample=1,
        share=2,
    ),
    Part(
        "clocks",
        "the clock jumps between commands, from 30 years back to 10 ahead: what is told of logs "
        "is the same, and no work is left undone",
        "rounds",
        full=60,
        sample=2,
        share=1,
    ),
    Part(
        "changing_logs",
        "logs are cut, emptied, exchanged, spoilt, deleted and written again while they are "
        "imported: once they are whole again, the next import knows them whole",
        "rounds",
        full=100,
        sample=3,
        share=1,
    ),
    Part(
        "growth",
        "each reader, redaction rule, query and snippet at 1, 2, 4 and 8 times of an input that "
        "is hard for it: twice as much takes at most three times as long, in CPU time",
        "inputs",
        full=1_200,
        sample=40,
        share=2,
    ),
    Part(
        "fuzz",
        "every adapter reads logs in which records are dropped, doubled, swapped and cut and "
        "values are of another kind, huge, deep or no UTF-8: no exception, no reading over 2 s of "
        "CPU, no growth over 300 MB, and a checkpoint at the end; some are imported too",
        "reads",
        full=1_000_000,
        sample=6_000,
        share=10,
    ),
)


class Result(NamedTuple):
    """What a part came to."""

    part: Part
    done: Counter[str]
    faults: list[str]
    seconds: float
    skipped: str = ""

    @property
    def count(self) -> int:
        return sum(self.done.values())


def run(part: Part, *, seed: int, count: int, seconds: float = float("inf")) -> Result:
    """Do a part until it has its count or its time is over; at least one round."""
    began = time.monotonic()
    done: Counter[str] = Counter()
    faults: list[str] = []
    skipped = ""
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        try:
            for round_ in part.rounds(Path(folder), seed, count):
                done[round_.what] += round_.count
                faults += [f"{round_.what}: {fault}" for fault in round_.faults]
                if (
                    sum(done.values()) >= count
                    or time.monotonic() - began > seconds
                    or len(faults) >= MOST_FAULTS
                ):
                    break
        except CannotRun as reason:
            skipped = str(reason)
    return Result(part, done, faults, time.monotonic() - began, skipped)


def write_page(results: list[Result], command: str) -> None:
    """Put what was counted into the page; parts that were not run keep their line."""
    text = PAGE.read_text(encoding="utf-8")
    lines = {name: line for line in text.splitlines() for name in [_part_of(line)] if name}
    lines |= {result.part.name: _line(result, command) for result in results}
    rows = [lines.get(part.name, f"| {part.name} | not run yet | | | |") for part in PARTS]
    table = "\n".join(["| part | done | faults | took | by |", "|---|---|---|---|---|", *rows])
    PAGE.write_text(
        RESULTS.sub(lambda found: f"{found[1]}{table}\n{found[2]}", text), encoding="utf-8"
    )


def _part_of(line: str) -> str | None:
    names = {part.name for part in PARTS}
    name = line.strip("| ").partition(" |")[0]
    return name if line.startswith("| ") and name in names and "`" in line else None


def _line(result: Result, command: str) -> str:
    part = result.part
    if result.skipped:
        return f"| {part.name} | skipped: {result.skipped} | | | `{command}` |"
    about = f"{result.count:,} {part.unit}; in full {part.full:,}"
    return (
        f"| {part.name} | {about} | {len(result.faults)} | {result.seconds:,.0f} s | `{command}` |"
    )
