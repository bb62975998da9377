"""Where it stands: what was asked last and what came of it, what is open, on which branch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recollect.distill.finders.cleaning import (
    clauses,
    cut,
    size,
    spoken,
    without_marks,
    words,
)
from recollect.distill.finders.commands import CHECKS, purpose_of
from recollect.distill.finders.conclusions import CHANGED
from recollect.distill.finders.cues import cues
from recollect.distill.finders.people import is_secret
from recollect.distill.finders.safe import is_plain_name
from recollect.distill.finders.steps import CommandStep, passed, steps
from recollect.model.candidates import Candidate
from recollect.model.notes import Trust
from recollect.model.record import SessionRecord, TurnRecord
from recollect.reading.quoting import is_plain_command

FEWEST_ASKED, FEWEST_CALLS = 20, 3
ASKED_CHARACTERS, ANSWER_CHARACTERS, OPEN_CHARACTERS = 110, 100, 160
MOST_OPEN, LAST_SESSIONS, ROUTINE_SESSIONS = 4, 3, 3
_PLANS = ("TodoWrite", "update_plan", "write_todos", "todo_write")
_MAIN = frozenset(("main", "master", "develop", "dev", "HEAD", "trunk"))
_COMMAND = re.compile(r"^[/!<]")
# Who the agent is to be says nothing of what is asked.
_ROLE = re.compile(
    r"^(?:you(?:'re| are) (?:a|an|the|my|going to|really|good)\b|act as\b|your (?:job|role"
    r"|task) is\b)",
    re.IGNORECASE,
)


def find(sessions: Sequence[SessionRecord]) -> Iterator[Candidate]:
    """Where the newest session of a project with a person in it was left."""
    worked = [
        session for session in sessions if any(map(_asked, session.turns)) and session.interactive
    ]
    if not worked:
        return
    last = next(
        (
            session
            for session in reversed(worked[-LAST_SESSIONS:])
            if any(_asked(turn) and len(turn.calls) >= FEWEST_CALLS for turn in session.turns)
        ),
        worked[-1],
    )
    asked = [turn for turn in last.turns if _asked(turn)]
    # What was worked on says more than what was asked in passing.
    worked_on = [turn for turn in asked if len(turn.calls) >= FEWEST_CALLS]
    for turn in (worked_on or asked)[-1:]:
        yield _candidate(
            _last_asked(turn), turn, "last asked", 1.4 if worked_on else 0.8,
            is_sure=not (_is_finished(turn) or _is_routine(turn, worked) or _is_answered(turn)),
        )  # fmt: skip
    yield from _todos(last)
    yield from _failing(worked[-1])
    yield from _open_ends(asked[-1])
    branches = [session.branch for session in worked[-LAST_SESSIONS:] if session.branch]
    if branches and branches[-1] not in _MAIN and is_plain_name(branches[-1]):
        yield _candidate(f"Branch of the last session: `{branches[-1]}`", asked[-1], "branch", 0.4)


def _asked(turn: TurnRecord) -> str:
    """What a person asked in a turn, if it is more than a word of consent."""
    if not turn.by_person or not turn.prompts:
        return ""
    said = [one.text for one in clauses(turn.prompts[0]) if size(one.text) > FEWEST_ASKED]
    text = next((one for one in said if not _ROLE.match(one) and not _is_rule(one)), "")
    return text if text and not _COMMAND.match(text) and not is_secret(text) else ""


def _is_rule(clause: str) -> bool:
    """How to work is no task."""
    found = cues(clause)
    return bool(found & {"strong", "lasting"}) and not found & {"request", "question", "complaint"}


def _last_asked(turn: TurnRecord) -> str:
    text = f"Last asked: {cut(without_marks(_asked(turn)), ASKED_CHARACTERS)}"
    # What was said after reading something from outside is not told.
    reply = turn.replies[-1] if turn.replies and not turn.tainted else ""
    answer = next(
        (
            one.text
            for one in spoken(reply)
            if size(one.text) > 20
            and "narration" not in cues(one.text)
            and not one.text.endswith((":", "："))
        ),
        "",
    )
    return f"{text} → {cut(answer, ANSWER_CHARACTERS)}" if answer else text


def _todos(session: SessionRecord) -> Iterator[Candidate]:
    """The items of the last plan that were not done."""
    plans = [
        (turn, call)
        for turn, call in session.calls()
        if call.name in _PLANS and isinstance(call.given, dict) and not turn.tainted
    ]
    if not plans:
        return
    turn, call = plans[-1]
    items = call.given.get("todos") or call.given.get("plan") or []
    left = [
        str(item.get("content") or item.get("step") or "")
        for item in items
        if isinstance(item, dict) and item.get("status") in ("pending", "in_progress")
    ]
    for text in left[:MOST_OPEN]:
        if text and not is_secret(text):
            yield _candidate(
                f"Open: {cut(without_marks(text), OPEN_CHARACTERS)}",
                turn,
                "said " + " ".join(words(text)),
                1.0,
            )


def _failing(session: SessionRecord) -> Iterator[Candidate]:
    """The checks that did not pass when they were last run."""
    last: dict[tuple[str, str | None], tuple[TurnRecord, CommandStep, bool]] = {}
    for turn, call in session.calls():
        if call.kind != "shell":
            continue
        line = steps(call.target, call.folder, session.folder)
        for place, step in enumerate(line):
            ended = passed(call, line, place)
            if ended is not None and step.form and purpose_of(step.text) in CHECKS:
                last[step.form, step.folder] = (turn, step, ended)
    for turn, step, ended in last.values():
        if not ended and len(step.text) <= OPEN_CHARACTERS and is_plain_command(step.text):
            where = f" (in {step.folder})" if step.folder else ""
            text = f"`{step.text}`{where} failed when it was last run"
            yield _candidate(text, turn, f"failing {step.form}", 1.2, trust="tool-verified")


def _open_ends(turn: TurnRecord) -> Iterator[Candidate]:
    """What the last reply says is still to do."""
    reply = turn.replies[-1] if turn.replies and not turn.tainted else ""
    found = [
        one.text
        for one in spoken(reply)
        if size(one.text) > 40
        and "open" in cues(one.text)
        and not cues(one.text) & {"offer", "narration", "social"}
        and not one.text.endswith(("?", "？", ":", "："))
        and not is_secret(one.text)
    ]
    for text in found[-2:]:
        yield _candidate(text, turn, "said " + " ".join(words(text)), 0.6)


def _is_routine(turn: TurnRecord, sessions: Sequence[SessionRecord]) -> bool:
    """Whether the same is asked again and again, so that it says nothing of where it stands."""
    prompt = turn.prompts[0]
    asked = [any(prompt in one.prompts for one in session.turns) for session in sessions]
    return sum(asked) >= ROUTINE_SESSIONS


def _is_answered(turn: TurnRecord) -> bool:
    """Whether somebody only wanted to know something, and was told."""
    asked = "question" in cues(_asked(turn)) and bool(turn.replies) and not turn.aborted
    return asked and not any(call.kind == "edit" and call.passed for call in turn.calls)


def _is_finished(turn: TurnRecord) -> bool:
    """Whether the last reply says that it is done: at its start, or without anything left open."""
    if not turn.replies or turn.aborted:
        return False
    found = cues(turn.replies[-1])
    first = next((one.text for one in spoken(turn.replies[-1]) if size(one.text) > 20), "")
    return CHANGED.search(first) is not None or ("done" in found and "open" not in found)


def _candidate(
    text: str, turn: TurnRecord, key: str, strength: float,
    *, is_sure: bool = True, trust: Trust = "assistant",
) -> Candidate:  # fmt: skip
    return Candidate(
        kind="standing",
        section="left_off",
        category="project",
        text=cut(text),
        key=key,
        trust=trust,
        strength=strength,
        at=turn.at,
        turn=turn.ref,
        is_sure=is_sure,
    )
