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

from recollect.capture.adapters.grok.bills import Bill, bills_in, included, take_off
from recollect.capture.adapters.grok.chat import Chat
from recollect.capture.adapters.grok.events import Events, Run
from recollect.capture.adapters.grok.records import CHAT, EVENTS, UPDATES, Lines
from recollect.capture.adapters.grok.story import Spawn, Story, Turn
from recollect.capture.adapters.grok.summary import LINK, Summary
from recollect.capture.adapters.grok.tools import Calls
from recollect.capture.logs.documents import BrokenDocument, read_json
from recollect.capture.logs.folders import files_in, name_in_text
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import Fields, fields_of
from recollect.model.logs import Checkpoint, Event, Item, Liveness, Problem, Source, TurnFacts

SUMMARY_FILE, SIGNALS_FILE = "summary.json", "signals.json"
UPDATES_FILE, CHAT_FILE, EVENTS_FILE = "updates.jsonl", "chat_history.jsonl", "events.jsonl"
PROMPTS_FOLDER = "prompts"
_PROMPT_FILE = re.compile(r"prompt_(\d{1,9})\.txt")
_LARGEST_DOCUMENT_BYTES = 16 << 20
# The oldest updates tell their time in whole seconds.
_COARSE_MS = 1_000


class SessionFolder:
    """The files of one session, and what they come to together."""

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
        self._lines = Lines()
        self.problems = ProblemCounter(source.path)
        self._problems: list[Problem] = []

    def read(self) -> Iterator[Item]:
        """Everything there is to tell, and a checkpoint."""
        if not os.path.isdir(self.folder):
            yield Problem(path=self.folder, kind="unreadable", reason="not a session's folder")
            yield Checkpoint(0)
            return
        told = self._document(self._files.get(SUMMARY_FILE))
        # A chat alone does not say whose it is, and a summary that is
        # half written will soon be whole.
        if (
            told is not None
            or SUMMARY_FILE not in self._files
            or UPDATES_FILE in self._files
            or self._links
        ):
            yield from self._told(Summary(told or {}, self._links, self.folder))
        yield from self._problems
        yield from self._lines.problems
        yield from self.problems.drain()
        yield Checkpoint(self._lines.read_bytes)

    def _told(self, summary: Summary) -> Iterator[Item]:
        chat, events = self._chat(summary), self._events()
        title = None
        if UPDATES_FILE in self._files:
            story = Story(summary.session, self.problems, subagent=summary.is_subagent)
            for line in self._lines.of(self._files[UPDATES_FILE], UPDATES):
                story.take(line)
            story.finish()
            self._settle_bills(story, summary)
            _add_answers(story.calls, chat.calls)
            _add_interjections(story, chat)
            _measure_by_time(story.turns, events.runs)
            turns, calls, title = story.turns, story.calls, story.title
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
            self._problems.append(Problem(path=path, kind="unreadable", reason=str(reason)))
        except BrokenDocument as reason:
            self._problems.append(Problem(path=path, kind="bad_record", reason=str(reason)))
        return None

    def _chat(self, summary: Summary) -> Chat:
        beside = (
            files_in(self._files[PROMPTS_FOLDER], ".txt") if PROMPTS_FOLDER in self._files else ()
        )
        named = ((_PROMPT_FILE.fullmatch(os.path.basename(path)), path) for path in beside)
        prompts = {int(name[1]): path for name, path in named if name}
        chat = Chat(
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

    def _events(self) -> Events:
        events = Events(self.problems)
        if EVENTS_FILE in self._files:
            for line in self._lines.of(self._files[EVENTS_FILE], EVENTS):
                events.take(line)
        return events

    def _settle_bills(self, story: Story, summary: Summary) -> None:
        """Leave to each prompt what it alone tells of its cost."""
        told = {
            child: bills_in(self._children[child])
            for child in story.children & self._children.keys()
        }
        for turn in story.turns:
            for prompt, bill in list(turn.bills.items()):
                spawns = story.spawned_by(prompt, turn.key if prompt == turn.prompt_id else prompt)
                if not (_is_own(bill, summary.forked_at) and _is_settled(bill, spawns, told)):
                    del turn.bills[prompt]


# Putting it together -----------------------------------------------------------


def _is_own(bill: Bill, forked_at: int | None) -> bool:
    """Whether a bill is this session's, not a copy of its parent's."""
    return bill.at is None or forked_at is None or bill.at >= forked_at


def _is_settled(bill: Bill, spawns: list[Spawn], told: dict[str, list[Bill]]) -> bool:
    """Take off a bill what sub-agents tell of it; False while one of these has not told yet.

    What is counted once is not taken back, so such a bill waits.
    """
    settled = True
    for spawn in spawns:
        parts = included(bill, spawn.at, told.get(spawn.child, []))
        for part in parts:
            take_off(bill, part)
        is_over = (
            bill.at is not None and spawn.finished_at is not None and spawn.finished_at <= bill.at
        )
        settled = settled and not (is_over and spawn.child in told and not parts)
    return settled


def _add_answers(calls: Calls, told: Calls) -> None:
    """What the model wrote and was given back, in full; the updates may have shortened both."""
    for call in told:
        known = calls.find(call.event.call or "")
        if known is not None:
            known.asked(call.event.name, call.event.input)
            known.event.output = call.event.output or known.event.output


def _add_interjections(story: Story, chat: Chat) -> None:
    """What a person said in the middle of a turn and only the chat has: it follows that turn."""
    said = {turn.prompt for turn in story.turns}
    places = {turn.prompt: turn.key for turn in story.turns if turn.live}
    added: dict[str, list[Turn]] = {}
    for host, turn in chat.interjections:
        if turn.prompt not in said and story.turns:
            place = places.get(host.prompt if host else "", story.turns[-1].key)
            places[turn.prompt] = place
            added.setdefault(place, []).append(Turn(turn.session, turn.key, words=turn.words))
    story.turns = [one for turn in story.turns for one in (turn, *added.get(turn.key, ()))]


def _measure_by_time(turns: list[Turn], runs: list[Run]) -> None:
    """A turn is measured from just before its prompt is written down."""
    timed = sorted((turn for turn in turns if turn.at is not None), key=lambda turn: turn.at or 0)
    times = [turn.at or 0 for turn in timed]
    for number, run in enumerate(runs, 1):
        place = bisect_left(times, run.at - _COARSE_MS)
        if place < len(timed) and (number == len(runs) or times[place] < runs[number].at):
            _measure(timed[place], run)


def _measure_by_number(chat: Chat, runs: list[Run]) -> None:
    """A chat knows no times, but the numbers of its prompts."""
    for run in runs:
        turn = chat.numbers.get(run.number) if run.number is not None else None
        if turn is not None:
            turn.at = run.at
            _measure(turn, run)


def _measure(turn: Turn, run: Run) -> None:
    turn.telemetry = {**run.telemetry, **turn.telemetry}
    if run.telemetry.get("outcome") == "cancelled" and not any(
        event.kind == "abort" for event in turn.events
    ):
        turn.add("abort", run.ended_at)


def _add_outcomes(calls: Calls, events: Events) -> None:
    for call in calls:
        outcome = events.outcomes.get(call.event.call or "")
        if outcome is not None:
            event = call.event
            event.duration_ms = outcome.duration_ms
            # A command that could be run may still have failed.
            event.ok = outcome.ok if not event.exit_code else False
            if event.output is None and outcome.ok is False:
                event.output = outcome.told


def _items(turn: Turn) -> Iterator[Item]:
    bills, prompt = list(turn.bills.values()), turn.prompt
    if not prompt and not turn.events and not bills:
        return
    session, key, telemetry = turn.session, turn.key, dict(turn.telemetry)
    counts = {
        "model_calls": sum(bill.calls for bill in bills),
        "api_duration_ms": sum(bill.api_ms for bill in bills),
    }
    telemetry |= {name: count for name, count in counts.items() if count}
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
