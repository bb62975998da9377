"""What finders find: lines that may be worth telling, each with the turns it rests on."""

from __future__ import annotations

from typing import Literal, NamedTuple

from recollect.model.notes import Category, Section, Trust

# Who says so, best first: a person, a proof, kept work, an agent. A note is none that was found
# but one that is kept: what people wrote or accepted, what engines and team mates gave.
CandidateKind = Literal[
    "person", "answer", "instruction", "remedy", "failure", "missing", "command",
    "commit", "conclusion", "plan", "standing", "note",
]  # fmt: skip


class Failing(NamedTuple):
    """A command that fails, as a reminder before it is run again: what is told then, and when.

    `match` says what another command has to share to be reminded: the same words in the same
    `folder`, the form with any arguments, or the program.
    """

    command: str
    line: str
    match: Literal["words", "form", "program"]
    folder: str = ""
    error: str = ""


class Candidate(NamedTuple):
    """One fact as it would be told, at most 220 characters.

    `key` is the same for the same fact in other words of the same finder, so that it is
    counted, not told, twice; a rejected note keeps it. `strength` says how much it looks
    like something worth telling, by its own words alone; `is_sure` that it may be told
    unasked on that alone. `form` is the command it is about: few lines of one command are told.
    `failing` are commands with a proven alternative.
    `everywhere` says that it holds for the whole machine, not for this project alone.
    """

    kind: CandidateKind
    section: Section
    category: Category
    text: str
    key: str
    trust: Trust
    strength: float
    at: str
    turn: str
    form: str = ""
    is_sure: bool = False
    failing: tuple[Failing, ...] = ()
    everywhere: bool = False


class Line(NamedTuple):
    """A candidate with what the whole project says for it."""

    candidate: Candidate
    value: float
    times: int
    sessions: int
    turns: tuple[str, ...]
    is_sure: bool
