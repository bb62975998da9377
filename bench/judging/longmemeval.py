"""LongMemEval: questions a chat assistant is asked, each with a history of its own.

The files are `longmemeval_oracle.json` and `longmemeval_s.json` (also in their
cleaned versions) of xiaowu0162/LongMemEval. Each question has a store; a turn
is a user's message with the replies that follow it. Evidence are the turns
that hold a message marked `has_answer`, and the sessions are the file's
`answer_session_ids`. As in the authors' own evaluation, questions about things
that were never said (`..._abs`) and questions without a marked turn do not
count. A third of the questions, by the hash of their id, is for development.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection as Group
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.judging.sets import (
    Collection,
    LabelledSet,
    Question,
    Said,
    TalkSession,
    digest_of,
    part_by_hash,
    read_time,
    session_id,
    talk,
    turn_ref,
)
from recollect.errors import UsageError

# "2023/05/20 (Sat) 02:21", without the name of the day.
_DATES = ("%Y/%m/%d %H:%M", "%Y/%m/%d")
_DAY = re.compile(r"\s*\(\w+\)")


class _Message(msgspec.Struct):
    role: str
    content: str
    has_answer: bool | None = None


class _Instance(msgspec.Struct):
    question_id: str
    question_type: str
    question: str
    haystack_session_ids: list[str]
    haystack_dates: list[str]
    haystack_sessions: list[list[_Message]]
    answer_session_ids: list[str]

    def __post_init__(self) -> None:
        if (
            not len(self.haystack_session_ids)
            == len(self.haystack_dates)
            == len(self.haystack_sessions)
        ):
            raise ValueError(f"{self.question_id} has not one id and one date for each session")


def load(data: Path, categories: Group[str] = ()) -> LabelledSet:
    """The set in this file, with the questions of these types; of all types when none is named."""
    try:
        instances = msgspec.json.decode(data.read_bytes(), type=list[_Instance])
    except msgspec.MsgspecError as error:
        raise UsageError(
            f"{data} is not LongMemEval's JSON: {error}",
            hint="give longmemeval_s.json or _oracle.json",
        ) from error
    left_out: Counter[str] = Counter()
    return LabelledSet(
        "longmemeval", digest_of([data]), _collections(instances, categories, left_out), left_out
    )


def _collections(
    instances: list[_Instance], categories: Group[str], left_out: Counter[str]
) -> Iterator[Collection]:
    for one in instances:
        sessions, evidence = _sessions(one)
        if one.question_id.endswith("_abs"):
            left_out["questions about what was never said"] += 1
        elif categories and one.question_type not in categories:
            left_out[f"questions of category {one.question_type}"] += 1
        elif not evidence:
            left_out["questions without a marked turn"] += 1
        else:
            question = Question(
                id=one.question_id,
                part=part_by_hash(one.question_id),
                kind=one.question_type,
                text=one.question,
                evidence=frozenset(evidence),
                sessions=frozenset(map(session_id, one.answer_session_ids)),
            )
            yield Collection(one.question_id, [question], talk(sessions))


def _sessions(one: _Instance) -> tuple[list[TalkSession], list[str]]:
    """The sessions of a history, and the references of the turns that answer."""
    sessions: list[TalkSession] = []
    evidence: list[str] = []
    seen: Counter[str] = Counter()
    for name, date, messages in zip(
        one.haystack_session_ids, one.haystack_dates, one.haystack_sessions, strict=True
    ):
        seen[name] += 1
        # A filler may have been drawn twice; a session of that name is there already.
        session = name if seen[name] == 1 else f"{name}~{seen[name]}"
        turns: list[Said] = []
        for message in messages:
            if message.role == "user" or not turns:
                turns.append(Said(prompt=""))
            _add(turns[-1], message)
            if message.has_answer:
                evidence.append(turn_ref(session, len(turns)))
        sessions.append(TalkSession(session, read_time(_DAY.sub("", date), *_DATES), turns))
    return sessions, evidence


def _add(turn: Said, message: _Message) -> None:
    if message.role == "user":
        turn.prompt = message.content
    else:
        turn.reply = f"{turn.reply}\n\n{message.content}".lstrip()
