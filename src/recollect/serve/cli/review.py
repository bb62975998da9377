"""recollect review: accept or reject what was found, one key each.

recollect review                            what waits in this project
recollect review --all                      in every project
recollect review --json --min-frequency 3   list it; nothing is asked

Whoever found it (rules, patterns, an engine, an agent), it waits here until a person
decides. What you accept is told to agents, and `recollect publish` may write it into
files; what you reject does not come back.

  y accept · n reject · e edit · s later · o evidence · u undo · q quit
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from recollect.errors import RecollectError
from recollect.memory import Memory
from recollect.model.notes import Note
from recollect.serve.cli import count
from recollect.serve.cli.keys import read_key
from recollect.serve.cli.note_lines import list_notes
from recollect.serve.output import Output, counted, say, short_date

KEYS = "y accept · n reject · e edit · s later · o evidence · u undo · q quit  › "
# What people type who know other programs.
_MEANS = {"a": "y", "r": "n", "\r": "s", "\n": "s", " ": "s", "": "q", "\x1b": "q"}
SHOWN_TURNS, ALL_TURNS, PROMPT_CHARACTERS = 2, 12, 100


def arguments(parser: ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--project", metavar="NAME", help="this project (default: the one here)")
    where.add_argument("--all", action="store_true", help="every project")
    parser.add_argument(
        "--author", metavar="NAME", help="only what rules, pattern, engine or agent found"
    )
    parser.add_argument(
        "--min-frequency", type=count, metavar="N", help="only what N sessions or more show"
    )
    parser.add_argument("--limit", type=count, metavar="N", help="at most N")


def run(memory: Memory, args: Namespace) -> Output:
    waiting = waiting_notes(memory, args)
    empty = "Nothing to review." if args.all else "Nothing to review here. Everywhere: --all"
    if args.json or not waiting or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return Output(waiting, text, empty=empty, screen=lambda screen: list_notes(screen, waiting))
    review = _Review(memory, waiting)
    review.run()
    return Output([], note=review.summary())


def waiting_notes(memory: Memory, args: Namespace) -> list[Note]:
    """The candidates, those first that several agents or many sessions show."""
    found = memory.notes.search(
        project=args.project,
        folder=None if args.all or args.project is not None else os.getcwd(),
        status="candidate",
        author=args.author,
    )
    often = [note for note in found if note.sessions >= (args.min_frequency or 0)]
    often.sort(key=lambda note: (len(agents_of(note)) < 2, -note.sessions))
    return often[: args.limit]


class _Review:
    """A queue of notes that a person goes through."""

    def __init__(self, memory: Memory, waiting: Sequence[Note]) -> None:
        self.memory, self.waiting = memory, list(waiting)
        self.place = 0
        # What was decided, with where in the queue that was.
        self.decided: list[tuple[int, str, str]] = []

    def run(self) -> None:
        while self.place < len(self.waiting):
            note = self.waiting[self.place]
            say(f"\n{self.place + 1} of {len(self.waiting)}   {card(self.memory, note)}\n")
            if not self._ask(note):
                break

    def _ask(self, note: Note) -> bool:
        """Ask about one note until it is decided; False to stop."""
        while True:
            sys.stderr.write(f"  {KEYS}")
            sys.stderr.flush()
            pressed = read_key().lower()
            sys.stderr.write("\n")
            key = _MEANS.get(pressed, pressed)
            if key == "q":
                return False
            if key == "o":
                say(evidence(self.memory, note, ALL_TURNS))
                continue
            if key not in ("y", "n", "e", "s", "u"):
                continue
            try:
                self._do(key, note)
            except RecollectError as error:
                say(f"  {error}")
                continue
            return True

    def _do(self, key: str, note: Note) -> None:
        notes = self.memory.notes
        if key == "u":
            if not self.decided:
                say("  Nothing to undo.")
                return
            self.place, ref, _ = self.decided.pop()
            notes.undo(ref)
            say(f"  taken back: {ref}")
            return
        if key == "y":
            self._decide(notes.accept(note.ref).ref, "accepted")
        elif key == "n":
            self._decide(notes.reject(note.ref).ref, "rejected")
        elif key == "e":
            sys.stderr.write(f"  {note.text}\n  New text: ")
            sys.stderr.flush()
            words = sys.stdin.readline().strip()
            if not words:
                return
            self._decide(notes.edit(note.ref, words).ref, "edited")
        self.place += 1

    def _decide(self, ref: str, action: str) -> None:
        self.decided.append((self.place, ref, action))
        say(f"  {'✗' if action == 'rejected' else '✓'} {ref} {action}")

    def summary(self) -> str:
        done = [
            f"{number} {action}"
            for action in ("accepted", "edited", "rejected")
            if (number := sum(one == action for _, _, one in self.decided))
        ]
        left = len(self.waiting) - len(self.decided)
        said = f"Done. {', '.join(done) or 'Nothing decided'}."
        return f"{said} {left} left: recollect review" if left else said


def agents_of(note: Note) -> list[str]:
    """The agents in whose sessions it was seen."""
    return sorted({turn.partition(":")[0] for turn in note.turns})


def card(memory: Memory, note: Note) -> str:
    """A note as it is asked about: where it holds, what it says, and what speaks for it."""
    return f"{_head(note)}\n  {note.text}\n{evidence(memory, note, SHOWN_TURNS)}"


def text(note: Note) -> str:
    """A note in a list."""
    return f"{_head(note)}\n    {note.text}\n    {_sources(note)}"


def _head(note: Note) -> str:
    agents = agents_of(note)
    shared = f"[{' + '.join(agents)}]" if len(agents) > 1 else ""
    return "  ".join(filter(None, (note.project or "everywhere", note.category, shared, note.ref)))


def _sources(note: Note) -> str:
    last = f", last {short_date(note.at)}" if note.at else ""
    return f"{note.by or note.author}, seen in {counted(note.sessions, 'session')}{last}"


def evidence(memory: Memory, note: Note, most: int) -> str:
    """Where it comes from: the newest turns, each with what was asked there."""
    lines = [f"  {_sources(note)}"]
    if note.author == "member":
        lines += [f"    corrects: {one.text}" for one in memory.team.corrected(note.ref)]
    for turn in memory.notes.evidence(note, most):
        asked = " ".join(turn.prompt[: 4 * PROMPT_CHARACTERS].split())
        short = asked if len(asked) <= PROMPT_CHARACTERS else asked[:PROMPT_CHARACTERS] + "…"
        lines.append(f"    {short_date(turn.started_at)}  {turn.ref}  “{short}”")
    return "\n".join(lines)
