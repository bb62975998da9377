"""What people answered: to a question of the agent's, to a plan, and to a tool they refused.

The question makes the answer readable, so both are told. A refusal's reason is a person's
word although it stands in a tool's output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from recollect.distill.finders.cleaning import cut, sentences, size, spoken, without_marks, words
from recollect.distill.finders.cues import cues
from recollect.distill.finders.people import is_secret
from recollect.model.candidates import Candidate, CandidateKind
from recollect.model.notes import Trust
from recollect.model.record import CallRecord, SessionRecord, TurnRecord

QUESTION_CHARACTERS, ANSWER_CHARACTERS = 110, 100
MOST_REASONS = 5

ASKED = ("AskUserQuestion", "request_user_input", "ask_user", "ask_followup_question")
PLANNED = ("ExitPlanMode", "exit_plan_mode")
_PAIR = re.compile(r"\"([^\"]{5,400})\"\s*=\s*\"([^\"]{1,300})\"")
REASON = re.compile(r"(?:the user said|reason for the rejection|user feedback):?\s*(.*)", re.DOTALL)
_REFUSAL = re.compile(
    r"(?:The )?user (?:doesn't want|rejected|denied|said|declined|refused)|Reason for the rejection"
    r"|User (?:rejected|denied|feedback)|The tool (?:call|use) was rejected"
    r"|Permission .*denied by (?:the )?user|The tool was rejected",
    re.IGNORECASE,
)
# What clients add after the person's words.
_ADDED = re.compile(r"\n\s*(?:Note:|\[|<).*", re.DOTALL)
_REFUSED = ("doesn't want", "rejected", "user said")


def find(session: SessionRecord) -> Iterator[Candidate]:
    """The answers, refusals and approved plans of a session."""
    for turn, call in session.calls():
        if turn.tainted and call.name in (*ASKED, *PLANNED):
            # Who wrote the question, the options or the plan had read what anybody
            # may have written.
            continue
        if call.name in ASKED:
            for question, answer in pairs(call):
                if answer and not is_secret(f"{question} {answer}"):
                    yield _answer(turn, question, answer)
        elif (
            call.name in PLANNED
            and call.passed
            and not any(word in call.output for word in _REFUSED)
        ):
            plan = call.given.get("plan") if isinstance(call.given, dict) else None
            if isinstance(plan, str):
                yield from _plan(turn, plan)
        elif reason := reason_of_refusal(call):
            yield from _reasons(turn, reason)


def reason_of_refusal(call: CallRecord) -> str:
    """What the person said when they refused a call; empty where they did not.

    A program and somebody's server can print the same words. So the client has to say before
    anything else that the call was refused: a command that ran has an exit code, and what a
    server says is not looked at.
    """
    said = call.output.lstrip().removeprefix("<tool_use_error>")
    if (
        not call.failed
        or call.exit_code is not None
        or call.kind in ("mcp", "web", "task")
        or not _REFUSAL.match(said)
    ):
        return ""
    found = REASON.search(said)
    return found[1] if found else ""


def pairs(call: CallRecord) -> Iterator[tuple[str, str]]:
    """Questions with what was answered, in the forms that agents write."""
    yield from _PAIR.findall(call.output)
    try:
        answered = json.loads(call.output).get("answers", {})
        asked = call.given.get("questions", []) if isinstance(call.given, dict) else []
    except (ValueError, AttributeError):
        return
    for question in asked:
        given: Any = answered.get(question.get("id"), {})
        given = given.get("answers", given) if isinstance(given, dict) else given
        yield (
            str(question.get("question", "")),
            ", ".join(map(str, given)) if isinstance(given, list) else str(given or ""),
        )


def _answer(turn: TurnRecord, question: str, answer: str) -> Candidate:
    asked = cut(without_marks(question), QUESTION_CHARACTERS)
    told = f"{asked} → {cut(without_marks(answer), ANSWER_CHARACTERS)}"
    return _candidate("answer", turn, told, 1.2, trust="user", is_sure=True)


def _reasons(turn: TurnRecord, reason: str) -> Iterator[Candidate]:
    """What a person said when refusing a tool."""
    said = without_marks(_ADDED.sub("", reason))
    for sentence in list(sentences(said))[:MOST_REASONS]:
        found = cues(sentence)
        if size(sentence) > 24 and not is_secret(sentence) and not sentence.endswith(("?", "？")):
            is_rule = bool(found & {"lasting", "strong", "complaint", "of the agent"})
            yield _candidate(
                "person", turn, f'"{cut(sentence)}"', 1.5 if is_rule else 0.9,
                trust="user", is_sure=is_rule,
            )  # fmt: skip


def _plan(turn: TurnRecord, plan: str) -> Iterator[Candidate]:
    """Sentences of a plan that the person approved."""
    for sentence in spoken(plan):
        found = cues(sentence.text)
        if (
            size(sentence.text) > 40
            and found & {"decision", "trap", "lasting"}
            and not is_secret(sentence.text)
        ):
            strength = -0.3 + 0.4 * len(found & {"decision", "trap", "lasting", "limit", "cause"})
            yield _candidate(
                "plan", turn, sentence.text, strength, trust="assistant", is_sure=False
            )


def _candidate(
    kind: CandidateKind,
    turn: TurnRecord,
    text: str,
    strength: float,
    *,
    trust: Trust,
    is_sure: bool,
) -> Candidate:
    return Candidate(
        kind=kind,
        section="decisions" if kind == "plan" else "preferences",
        category="decision",
        text=text,
        key="said " + " ".join(words(text)),
        trust=trust,
        strength=strength,
        at=turn.at,
        turn=turn.ref,
        is_sure=is_sure,
    )
