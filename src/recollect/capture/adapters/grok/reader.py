"""A session of Grok Build: a folder with several files, told as one.

It is read whole each time. Rewinds and compactions write the chat anew, the
outcome of a call stands in three files, and turns that come out as they were
cost the store nothing: what could be saved is the decoding, which for a
session of 20 MB takes an eighth of a second.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from recollect.capture.adapters.grok.chat import GrokChat
from recollect.capture.adapters.grok.records import (
    CHAT,
    CHAT_FILE,
    EVENTS,
    EVENTS_FILE,
    PROMPTS_FOLDER,
    SIGNALS_FILE,
    SUMMARY_FILE,
    UPDATES,
    UPDATES_FILE,
    GrokEventLine,
    GrokLines,
)
from recollect.capture.adapters.grok.session import LINK, GrokSession
from recollect.capture.adapters.grok.tokens import GrokBill, bills_in, included, take_off
from recollect.capture.adapters.grok.tools import GrokCalls
from recollect.capture.adapters.grok.updates import GrokSubagent, GrokTurn, GrokUpdates
from recollect.capture.logs.documents import BrokenDocument, read_json
from recollect.capture.logs.folders import files_in, name_in_text
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import (
    Fields,
    count_of,
    fields_of,
    moment_of,
    non_empty,
    text_of,
    whole_of,
)
from recollect.model.logs import Checkpoint, Event, Item, Liveness, Problem, Source, TurnFacts

_PROMPT_FILE = re.compile(r"prompt_(\d{1,9})\.txt")
_LARGEST_DOCUMENT_BYTES = 16 << 20
# The oldest updates tell their time in whole seconds.
_COARSE_MS = 1_000
_PASSED_OVER = {
    "phase_changed", "loop_started", "tool_started", "permission_requested", "interjected",
    "yolo_toggled", "todo_gate_fired", "todo_gate_exhausted",
}  # fmt: skip
_FAMILIES = ("goal_", "mcp_", "laziness_")


class GrokReader:
    """Makes one session of the files of its folder."""

    def __init__(self, source: Source) -> None:
        self.folder = source.path
        own = [path for path in source.companions if os.path.dirname(path) == source.path]
        others = [path for path in source.companions if os.path.dirname(path) != source.path]
        self._files = {os.path.basename(path): path for path in own}
        # Where its parent tells of it, the nearest first, and the updates
        # of the sub-agents that it started.
        self._links = [path for path in others if os.path.basename(path) == LINK]
        self._children = {
            name_in_text(os.path.dirname(path)): path for path in others if path not in self._links
        }
        self._lines = GrokLines()
        self.problems = ProblemCounter(source.path)

    def read(self) -> Iterator[Item]:
        """Everything there is to tell, and a checkpoint."""
        if not os.path.isdir(self.folder):
            yield Problem(path=self.folder, kind="unreadable", reason="not a session's folder")
            yield Checkpoint(0)
            return
        told = self._document(self._files.get(SUMMARY_FILE))
        # A chat alone does not say whose it is, and a summary that is
        # half written will soon be whole.
        is_cut = SUMMARY_FILE in self._files and told is None
        if not is_cut or UPDATES_FILE in self._files or self._links:
            yield from self._told(GrokSession(told or {}, self._links, self.folder))
        for problem in self._lines.problems:
            self.problems.keep(problem)
        yield from self.problems.drain()
        yield Checkpoint(self._lines.read_bytes)

    def _told(self, summary: GrokSession) -> Iterator[Item]:
        chat, events = self._chat(summary), self._events()
        title = None
        if UPDATES_FILE in self._files:
            updates = GrokUpdates(summary.session, self.problems, subagent=summary.is_subagent)
            for line in self._lines.of(self._files[UPDATES_FILE], UPDATES):
                updates.take(line)
            updates.finish()
            self._settle_bills(updates, summary)
            _add_answers(updates.calls, chat.calls)
            _add_interjections(updates, chat)
            _measure_by_time(updates.turns, events.runs)
            turns, calls, title = updates.turns, updates.calls, updates.title
        else:
            turns, calls = chat.turns, chat.calls
            _measure_by_number(chat, events.runs)
        _add_outcomes(calls, events)
        calls.settle()
        link = self._document(self._links[0]) if self._links else None
        signals = self._document(self._files.get(SIGNALS_FILE))
        items = [item for turn in turns for item in _items(turn)]
        # Opening the program is enough to leave a folder; a session is
        # one in which something was said.
        if items:
            yield summary.facts(title, link or {}, signals or {})
            yield from items

    # The files

    def _document(self, path: str | None) -> Fields | None:
        """A JSON object; None when there is none, or none that can be read."""
        if path is None:
            return None
        try:
            return fields_of(read_json(path, limit=_LARGEST_DOCUMENT_BYTES))
        except UnreadableSource as reason:
            self.problems.keep(Problem(path=path, kind="unreadable", reason=str(reason)))
        except BrokenDocument as reason:
            self.problems.keep(Problem(path=path, kind="bad_record", reason=str(reason)))
        return None

    def _chat(self, summary: GrokSession) -> GrokChat:
        prompts = {}
        folder = self._files.get(PROMPTS_FOLDER)
        for path in files_in(folder, ".txt") if folder else ():
            if name := _PROMPT_FILE.fullmatch(os.path.basename(path)):
                prompts[int(name[1])] = path
        chat = GrokChat(
            summary.session,
            self.problems,
            subagent=summary.is_subagent,
            prompts=prompts,
            inherited=summary.inherited,
        )
        if CHAT_FILE in self._files:
            for line in self._lines.of(self._files[CHAT_FILE], CHAT):
                chat.take(line)
        return chat

    def _events(self) -> _TurnMeasures:
        events = _TurnMeasures(self.problems)
        if EVENTS_FILE in self._files:
            for line in self._lines.of(self._files[EVENTS_FILE], EVENTS):
                events.take(line)
        return events

    def _settle_bills(self, updates: GrokUpdates, summary: GrokSession) -> None:
        """Leave to each prompt what it alone tells of its cost."""
        known = updates.children & self._children.keys()
        told = {child: bills_in(self._children[child]) for child in known}
        for turn in updates.turns:
            for prompt, bill in list(turn.bills.items()):
                starts = updates.started_by(
                    prompt, turn.key if prompt == turn.prompt_id else prompt
                )
                if not (_is_own(bill, summary.forked_at) and _is_settled(bill, starts, told)):
                    del turn.bills[prompt]


# Putting it together -----------------------------------------------------------


def _is_own(bill: GrokBill, forked_at: int | None) -> bool:
    """Whether a bill is this session's, not a copy of its parent's."""
    return bill.at is None or forked_at is None or bill.at >= forked_at


def _is_settled(
    bill: GrokBill, starts: list[GrokSubagent], told: dict[str, list[GrokBill]]
) -> bool:
    """Take off a bill what sub-agents tell of it; False while one of these has not told yet.

    What is counted once is not taken back, so such a bill waits.
    """
    settled = True
    for start in starts:
        parts = included(bill, start.at, told.get(start.child, []))
        for part in parts:
            take_off(bill, part)
        ended_at = start.finished_at
        is_over = bill.at is not None and ended_at is not None and ended_at <= bill.at
        settled = settled and not (is_over and start.child in told and not parts)
    return settled


def _add_answers(calls: GrokCalls, told: GrokCalls) -> None:
    """What the model wrote and was given back, in full; the updates may have shortened both."""
    for call in told:
        known = calls.find(call.event.call or "")
        if known is not None:
            known.asked(call.event.name, call.event.input)
            known.event.output = call.event.output or known.event.output


def _add_interjections(updates: GrokUpdates, chat: GrokChat) -> None:
    """What a person said in the middle of a turn and only the chat has: it follows that turn."""
    said = {turn.prompt for turn in updates.turns}
    places = {turn.prompt: turn.key for turn in updates.turns if turn.live}
    added: dict[str, list[GrokTurn]] = {}
    for host, turn in chat.interjections:
        if turn.prompt not in said and updates.turns:
            place = places.get(host.prompt if host else "", updates.turns[-1].key)
            places[turn.prompt] = place
            added.setdefault(place, []).append(GrokTurn(turn.session, turn.key, words=turn.words))
    updates.turns = [one for turn in updates.turns for one in (turn, *added.get(turn.key, ()))]


def _measure_by_time(turns: list[GrokTurn], runs: list[_MeasuredTurn]) -> None:
    """A turn is measured from just before its prompt is written down."""
    timed = sorted((turn for turn in turns if turn.at is not None), key=lambda turn: turn.at or 0)
    times = [turn.at or 0 for turn in timed]
    for number, run in enumerate(runs, 1):
        place = bisect_left(times, run.at - _COARSE_MS)
        if place < len(timed) and (number == len(runs) or times[place] < runs[number].at):
            _measure(timed[place], run)


def _measure_by_number(chat: GrokChat, runs: list[_MeasuredTurn]) -> None:
    """A chat knows no times, but the numbers of its prompts."""
    for run in runs:
        turn = chat.numbers.get(run.number) if run.number is not None else None
        if turn is not None:
            turn.at = run.at
            _measure(turn, run)


def _measure(turn: GrokTurn, run: _MeasuredTurn) -> None:
    turn.telemetry = {**run.telemetry, **turn.telemetry}
    aborted = any(event.kind == "abort" for event in turn.events)
    if run.telemetry.get("outcome") == "cancelled" and not aborted:
        turn.add("abort", run.ended_at)


def _add_outcomes(calls: GrokCalls, events: _TurnMeasures) -> None:
    for call in calls:
        outcome = events.outcomes.get(call.event.call or "")
        if outcome is not None:
            event = call.event
            event.duration_ms = outcome.duration_ms
            # A command that could be run may still have failed.
            event.ok = outcome.ok if not event.exit_code else False
            if event.output is None and outcome.ok is False:
                event.output = outcome.told


def _items(turn: GrokTurn) -> Iterator[Item]:
    bills, prompt = list(turn.bills.values()), turn.prompt
    if not prompt and not turn.events and not bills:
        return
    session, key, telemetry = turn.session, turn.key, dict(turn.telemetry)
    counts = {
        "model_calls": sum(bill.calls for bill in bills),
        "api_duration_ms": sum(bill.api_ms for bill in bills),
    }
    telemetry |= non_empty(counts)
    yield TurnFacts(
        session=session, turn=key, at=turn.at, author=turn.author, telemetry=telemetry or None
    )
    if prompt:
        yield Event(session=session, turn=key, kind="prompt", at=turn.at, text=prompt)
    yield from turn.events
    for bill in bills:
        yield from bill.usages(session, key)
    if not turn.live:
        yield Liveness(session=session, turn=key, live=False)


# What Grok Build measures of its turns -----------------------------------------


class _CallMeasure(Struct, gc=False):
    """How a tool call went."""

    ok: bool | None
    duration_ms: int | None
    told: str | None


class _MeasuredTurn(Struct):
    """One turn as it was measured."""

    at: int
    number: int | None
    ended_at: int | None = None
    telemetry: dict[str, Any] = field(default_factory=dict)


class _TurnMeasures:
    """The outcomes of tool calls by their id, and the turns in order."""

    def __init__(self, problems: ProblemCounter) -> None:
        self.outcomes: dict[str, _CallMeasure] = {}
        self.runs: list[_MeasuredTurn] = []
        self.problems = problems

    def take(self, line: GrokEventLine) -> None:
        """One more line."""
        kind, at = text_of(line.type), moment_of(line.ts)
        run = self.runs[-1] if self.runs and self.runs[-1].ended_at is None else None
        if kind == "tool_completed":
            self._tool(line)
        elif kind == "turn_started":
            if at is not None:
                known = {"model": text_of(line.model_id), "yolo_mode": line.yolo_mode is True}
                number = whole_of(line.turn_number)
                self.runs.append(_MeasuredTurn(at, number, None, non_empty(known)))
        elif kind == "first_token":
            if run and at is not None:
                run.telemetry.setdefault("first_token_ms", max(0, at - run.at))
        elif kind == "permission_resolved":
            if run and (waited := count_of(line.wait_ms)):
                run.telemetry["permission_wait_ms"] = (
                    run.telemetry.get("permission_wait_ms", 0) + waited
                )
        elif kind == "turn_ended":
            if run:
                self._ended(run, line, at)
        elif kind is None or not (kind in _PASSED_OVER or kind.startswith(_FAMILIES)):
            self.problems.unknown("event", line.type)

    def _tool(self, line: GrokEventLine) -> None:
        # The workspace measures the same call a second time, from further away.
        call = text_of(line.tool_call_id)
        if call and line.source != "workspace":
            told = text_of(line.outcome)
            self.outcomes[call] = _CallMeasure(
                told == "success" if told else None, whole_of(line.duration_ms), told
            )

    def _ended(self, run: _MeasuredTurn, line: GrokEventLine, at: int | None) -> None:
        run.ended_at = at if at is not None else run.at
        run.telemetry["duration_ms"] = max(0, run.ended_at - run.at)
        if outcome := text_of(line.outcome):
            run.telemetry["outcome"] = outcome
        if category := text_of(line.cancellation_category):
            run.telemetry["cancellation"] = category
