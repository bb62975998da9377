"""One run of an engine: ask, look over the answer, ask once more about what is wrong, keep.

Whatever fails, the memory stays as it is: nothing is written before an answer was read and
checked, and how far the sessions were read is noted together with what was kept. What comes of
a run is one of four things. A memory is *kept*; there was *nothing* worth keeping; nobody could
answer now, so it is tried *later*; or the answer was no good, and the engine *gave up*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from recollect.distill.engines.answer import Answer, Told, read_answer
from recollect.distill.engines.check import Check
from recollect.distill.engines.keeping import Checked, check_of, checked, complaint, keep
from recollect.distill.engines.material import Material, instructions
from recollect.errors import BadReply, EngineUnavailable, SpendingLimit
from recollect.model.engines import EngineOutcome, EngineRun, Reply

if TYPE_CHECKING:
    from recollect.redact import Redactor
    from recollect.store import Store


class Engine(Protocol):
    """Somebody who can be asked one question.

    Raises EngineUnavailable when there is nobody, BadReply when the answer is none.
    """

    name: str
    model: str

    def ask(self, instructions: str, text: str) -> Reply:
        """The answer to a text, by our instructions."""


class Bill:
    """What the questions of one run took."""

    def __init__(self) -> None:
        self.tokens_in = self.tokens_out = 0
        self.cost_usd: float | None = None

    def add(self, reply: Reply) -> None:
        self.tokens_in += reply.tokens_in
        self.tokens_out += reply.tokens_out
        if reply.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + reply.cost_usd


def write(
    store: Store, material: Material, engine: Engine, redactor: Redactor, *, judged: bool = False
) -> EngineRun:
    """Have an engine write a project's memory, and keep what may be kept; notes what came of it.

    With `judged`, each line is shown to it once more with its turns and what was said next.
    """
    bill = Bill()
    lines, dropped = 0, 0
    try:
        found, check = _answered(material, engine, redactor, bill)
        answer = _judged(found, check, engine, bill) if judged else found.answer
        result = Checked(answer, found.faults)
        lines, left_out = keep(store, material, result.kept, answer.pack, check, engine.name)
        dropped = len({fault.line for fault in result.faults}) + len(left_out)
        outcome: EngineOutcome = "kept" if lines else "nothing"
        why = ""
    except SpendingLimit as error:
        outcome, why = "later", str(error)
    except EngineUnavailable as error:
        outcome, why = "later", str(error)
    except BadReply as error:
        outcome, why = "gave_up", str(error)
    run = EngineRun(
        project=material.project, engine=engine.name, model=engine.model, outcome=outcome,
        why=why, prompts=material.prompts, tokens_in=bill.tokens_in, tokens_out=bill.tokens_out,
        cost_usd=bill.cost_usd, lines=lines, dropped=dropped,
    )  # fmt: skip
    store.engine_runs.add(run, material.read if outcome in ("kept", "nothing") else {})
    return run


def take(store: Store, material: Material, text: str, redactor: Redactor, by: str) -> EngineRun:
    """Keep what may be kept of a memory that somebody wrote by hand; BadReply if it is none.

    The faults that better words could heal are in `why`, for whoever wants to mend them.
    """
    check = check_of(material, redactor)
    result = checked(read_answer(text), check)
    lines, left_out = keep(store, material, result.kept, result.answer.pack, check, by)
    faults = complaint(result.faults)
    run = EngineRun(
        project=material.project, engine=by, outcome="kept" if lines else "nothing",
        why="\n".join(filter(None, [faults, *left_out])), prompts=material.prompts, lines=lines,
        dropped=len({fault.line for fault in result.faults}) + len(left_out),
    )  # fmt: skip
    store.engine_runs.add(run, material.read)
    return run


def _answered(
    material: Material, engine: Engine, redactor: Redactor, bill: Bill
) -> tuple[Checked, Check]:
    """The answer with its faults, mended once where that could help."""
    question = material.question
    reply = engine.ask(instructions("memory"), question)
    bill.add(reply)
    check = check_of(material, redactor)
    found = checked(read_answer(reply.text), check)
    if not found.to_mend:
        return found, check
    back = (
        f"{question}\nYour answer was:\n\n{reply.text}\n\n{instructions('mend')}\n"
        f"{complaint(found.to_mend)}\n"
    )
    try:
        mended = engine.ask(instructions("memory"), back)
    except (BadReply, EngineUnavailable):
        return found, check
    bill.add(mended)
    try:
        again = checked(read_answer(mended.text), check)
    except BadReply:
        return found, check
    # A worse answer than the first is none: some send back only what they mended.
    return (again if len(again.kept) >= len(found.kept) else found), check


def _judged(found: Checked, check: Check, engine: Engine, bill: Bill) -> Answer:
    """The answer after each line was shown to the engine beside its turns, and what it said."""
    lines = found.kept
    shown = "\n\n".join(_shown(number, line, check) for number, line in enumerate(lines, 1))
    try:
        reply = engine.ask(instructions("judge"), shown)
    except (BadReply, EngineUnavailable):
        return found.answer
    bill.add(reply)
    verdicts = dict(_verdicts(reply.text))
    changed: dict[Told, Told | None] = {}
    for number, line in enumerate(lines, 1):
        verdict = verdicts.get(number, "stands")
        if verdict == "drop":
            changed[line] = None
        elif verdict != "stands":
            narrowed = line._replace(text=verdict)
            # What it made of the line is looked over like the line itself.
            changed[line] = None if check.faults(narrowed) else narrowed

    def apply(some: tuple[Told, ...]) -> tuple[Told, ...]:
        return tuple(new for line in some if (new := changed.get(line, line)) is not None)

    return Answer(apply(found.answer.memory), apply(found.answer.pack), found.answer.changes)


_VERDICT = re.compile(
    r"^\s*\(?(\d{1,3})[.):]*\s+`?(stands|drop|narrow)`?\s*:?\s*(.*)$", re.IGNORECASE
)


def _verdicts(text: str) -> Iterator[tuple[int, str]]:
    for line in text.splitlines():
        if found := _VERDICT.match(line):
            word, rest = found[2].casefold(), found[3].strip().removeprefix("- ")
            yield int(found[1]), rest if word == "narrow" and rest else word


def _shown(number: int, line: Told, check: Check) -> str:
    """A line with the turns that it cites and what the person said after them."""
    told = [f"{number}. {line.text}"]
    for turn in check.turns(line):
        told += [f"   [{turn.rpartition('#')[2]}] {part}" for part in check.excerpt(line, turn)]
    return "\n".join(told)
