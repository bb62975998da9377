"""What people answered and refused, and what was committed: each a line of its turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from recollect.distill.condense import sense
from recollect.distill.condense.runs import below, said_instead
from recollect.distill.condense.typed import shortened
from recollect.distill.finders import answers as asked
from recollect.distill.finders import kept_work
from recollect.distill.finders.cleaning import spoken, without_marks
from recollect.distill.finders.steps import unwrapped
from recollect.model.record import CallRecord, SessionRecord

QUESTION_CHARACTERS, ANSWER_CHARACTERS, REASON_CHARACTERS, PLAN_LINES = 180, 220, 400, 6
SUBJECT_CHARACTERS, BODY_CHARACTERS, BODY_LINES = 160, 140, 6


class TurnLine(NamedTuple):
    """Something that happened in a turn, as the record tells it."""

    session: str
    turn: str
    text: str


def answers(sessions: Sequence[SessionRecord]) -> Iterator[TurnLine]:
    """Answers to questions, plans that were approved, and refusals with their reasons."""
    for session in sessions:
        for turn, call in session.calls():
            for text in _answered(call, session):
                yield TurnLine(session.ref, turn.ref, f"A {text}")


def _answered(call: CallRecord, session: SessionRecord) -> Iterator[str]:
    if call.name in asked.ASKED:
        for question, answer in asked.pairs(call):
            if answer:
                short = _short(question, QUESTION_CHARACTERS)
                yield f"asked: {short} → {_short(answer, ANSWER_CHARACTERS)}"
    elif call.name in asked.PLANNED and call.passed and isinstance(call.given, dict):
        plan: Any = call.given.get("plan")
        if isinstance(plan, str):
            said = sorted((one.text for one in spoken(plan)), key=lambda one: -sense.of_agent(one))
            shown = " / ".join(shortened(one, 150) for one in said[:PLAN_LINES])
            yield f"plan approved: {shown}"
    if not call.failed:
        return
    what = f"{call.name} `{_short(below(call.target, session.folder), 80)}`"
    if reason := asked.reason_of_refusal(call).strip():
        yield f"refused {what}: {_short(reason, REASON_CHARACTERS)}"
    elif instead := said_instead(call):
        yield f'stopped {what}: "{_short(instead, REASON_CHARACTERS)}"'
    elif "doesn't want to proceed" in call.output:
        yield f"refused {what}"


def commits(sessions: Sequence[SessionRecord]) -> Iterator[TurnLine]:
    """Messages of commits and pull requests, each subject once; not those that failed."""
    seen: set[str] = set()
    for session in sessions:
        for turn, call in session.calls():
            if call.kind != "shell" or call.failed or not kept_work.may_commit(call.target):
                continue
            for lines in kept_work.messages(unwrapped(call.target)):
                if lines[0] in seen:
                    continue
                seen.add(lines[0])
                text = f"C {shortened(lines[0], SUBJECT_CHARACTERS)}"
                body = [shortened(line, BODY_CHARACTERS) for line in lines[1 : BODY_LINES + 1]]
                text += f" — {' / '.join(body)}" if body else ""
                if not call.passed:
                    text += " (result not logged)"
                yield TurnLine(session.ref, turn.ref, text)


def _short(text: str, most: int) -> str:
    return shortened(without_marks(" ".join(text.split())), most)
