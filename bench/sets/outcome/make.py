"""Reads the labelled episodes, and writes them as the logs of both agents.

    python -m bench.sets.outcome.make OUT     # a home folder with every log

An episode is told in lines; README.md says what their first characters mean.
tools/make_samples.py plays it, so that it reaches the store the way a real
session does.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from bench.sets.player import player
from recollect.model.digests import Outcome

HERE = Path(__file__).resolve().parent
FIRST_DAY = datetime(2026, 5, 4, 9)
PROJECT = "webshop"
# Rules were made with a look at these; the others were written when the rules were done.
LAST_FOR_RULES = 580
MODELS = {"claude-code": "claude-opus-4-5", "codex": "gpt-5-codex"}
VERSIONS = {"claude-code": "2.1.232", "codex": "0.146.0"}

Part = Literal["dev", "test"]
_HEAD = re.compile(r"# (?P<number>\d+) (?P<agent>[\w-]+) (?P<outcome>\w+): (?P<about>.+)")
_LINE = re.compile(r"(?P<mark>>>|[>$!~+.x<])(?P<code>\d*)(?: (?P<text>.*))?")


class Step(NamedTuple):
    """One line of an episode, with what is indented below it."""

    mark: str
    code: str
    text: str
    below: str


class Episode(NamedTuple):
    """A task attempt. Turns from `task_turns` on are about something else."""

    number: int
    agent: str
    outcome: Outcome
    about: str
    steps: list[Step]

    @property
    def part(self) -> Part:
        """Whether the rules could be made to fit it, or what we claim is measured on it."""
        return "dev" if self.number <= LAST_FOR_RULES else "test"

    @property
    def task_turns(self) -> int:
        """How many turns belong to the task; what comes after them is another one."""
        marks = [step.mark for step in self.steps]
        return marks[: marks.index(">>") if ">>" in marks else None].count(">")


def episodes() -> list[Episode]:
    """Every episode, in the order of their numbers."""
    texts = [path.read_text("utf-8") for path in sorted(HERE.glob("episodes-*.txt"))]
    return [
        _episode(text)
        for whole in texts
        for text in re.split(r"^(?=# \d)", whole, flags=re.MULTILINE)
        if text.strip()
    ]


def _episode(text: str) -> Episode:
    first, *rest = text.strip("\n").split("\n")
    head = _HEAD.fullmatch(first)
    if head is None:
        raise ValueError(f"not the head of an episode: {first}")
    return Episode(
        int(head["number"]),
        head["agent"],
        cast(Outcome, head["outcome"]),
        head["about"],
        list(_steps(rest)),
    )


def _steps(lines: list[str]) -> Iterator[Step]:
    place = 0
    while place < len(lines):
        line = _LINE.fullmatch(lines[place])
        if line is None:
            raise ValueError(f"not a line of an episode: {lines[place]}")
        end = place + 1
        while end < len(lines) and lines[end].startswith("  "):
            end += 1
        yield Step(
            line["mark"],
            line["code"],
            line["text"] or "",
            "\n".join(one[2:] for one in lines[place + 1 : end]),
        )
        place = end


def build(folder: Path) -> dict[str, Episode]:
    """Write every episode as a log below a folder, which then looks like somebody's home.

    Which session is which.
    """
    play = player()
    found = {}
    for episode in episodes():
        start = FIRST_DAY + timedelta(hours=episode.number)
        header = {
            "agent": episode.agent, "project": PROJECT, "start": start.isoformat(),
            "branch": "main",
            "model": MODELS[episode.agent], "version": VERSIONS[episode.agent],
            "title": episode.about,
        }  # fmt: skip
        blocks = [_block(play, step) for step in episode.steps]
        script = play.Script(f"outcome-{episode.number}", header, blocks)
        writer = play.Claude(script) if episode.agent == "claude-code" else play.Codex(script)
        writer.open()
        writer.play(blocks)
        writer.close()
        for name, text in writer.files():
            path = folder / f".{name}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        native = writer.session if episode.agent == "claude-code" else writer.thread
        found[f"{episode.agent}:{native}"] = episode
    return found


def _block(play: Any, step: Step) -> Any:
    said = f"{step.text}\n{step.below}" if step.below else step.text
    match step.mark:
        case ">" | ">>":
            return play.Block("user", "", {}, [said])
        case ".":
            return play.Block("reply", "", {}, [said])
        case "$" | "!":
            code = step.code or ("1" if step.mark == "!" else "0")
            return play.Block("run", "", {"exit": code}, [step.text, step.below])
        case "~":
            return play.Block("edit", step.text, {}, ["before", "after"])
        case "+":
            return play.Block("write", step.text, {}, ["new"])
        case "x":
            return play.Block("abort", "", {}, [""])
    return play.Block("rollback", "1", {}, [""])


if __name__ == "__main__":
    print(len(build(Path(sys.argv[1]))))
