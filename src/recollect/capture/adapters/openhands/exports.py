"""Events of version 0 outside the agent's own folders: exported
trajectories and the output of benchmarks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec

from recollect.capture.adapters.openhands.old import OldTalk
from recollect.capture.adapters.openhands.records import OldEvent, Run
from recollect.capture.logs.appended import read_appended, resumed
from recollect.capture.logs.documents import Broken, contents, parsed
from recollect.capture.logs.lines import Unreadable
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.values import fields_of, list_of, moment_of, text_of, whole_of
from recollect.model.logs import Checkpoint, Item, Problem, SessionFacts, Source

_RUNS = msgspec.json.Decoder(Run)
_ACTION = re.compile(rb'"(?:action|observation)"\s*:\s*"')
_SOURCE = re.compile(rb'"source"\s*:\s*"(?:agent|user|environment)"')


def is_trajectory(head: bytes) -> bool:
    """Whether a document begins like a list of events."""
    start = head.lstrip()[:1]
    return (
        start == b"["
        and bool(_ACTION.search(head) and _SOURCE.search(head))
        and b'"args"' in head
        and b'"timestamp"' in head
    )


def is_run(head: bytes) -> bool:
    """Whether a line begins like a benchmark's; its events may be far behind."""
    return (
        head.startswith(b"{")
        and b'"instance_id"' in head[:4096]
        and (b'"history"' in head or b'"test_result"' in head[:65536])
    )


def read_trajectory(source: Source, session: str) -> Iterator[Item]:
    """A list of events."""
    try:
        data = contents(source.path)
    except Unreadable as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
        yield Checkpoint(0)
        return
    try:
        events = list_of(parsed(data))
    except Broken as reason:
        yield Problem(path=source.path, kind="bad_record", reason=str(reason))
        events = []
    if events:
        yield SessionFacts(session=session, started_at=_first_time(events))
        yield from _told(OldTalk(session, source.path), events)
    yield Checkpoint(len(data))


class Runs:
    """The conversations of a benchmark, one a line."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.items: list[Item] = []
        self.oddities = Oddities()

    def take(self, record: Run) -> None:
        """One conversation, whole."""
        name = text_of(record.instance_id)
        # The oldest ones list pairs of an action and its observation.
        events = list(
            chain.from_iterable(
                entry if isinstance(entry, list) else [entry] for entry in list_of(record.history)
            )
        )
        if name is None or not events:
            self.oddities.bad("a run without a name or a history")
            return
        metadata = fields_of(record.metadata)
        started = _first_time(events)
        # The same task is run again and again; the time tells which run this is.
        session = f"{name}-{started}" if started else name
        meta = {
            "instance": name, "benchmark": text_of(metadata.get("dataset")),
            "agent_class": text_of(metadata.get("agent_class")),
        }  # fmt: skip
        facts = SessionFacts(
            session=session,
            origin="headless",
            started_at=started,
            meta={key: value for key, value in meta.items() if value},
        )
        model = text_of(fields_of(metadata.get("llm_config")).get("model"))
        talk = OldTalk(session, self.path, model=model)
        self.items += [facts, *_told(talk, events)]
        if error := text_of(record.error):
            talk.dialogue.say("error", error)
            self.items += talk.drain()

    def drain(self) -> list[Item]:
        """What was made since the last time."""
        items, self.items = self.items, []
        return items

    def problems(self) -> list[Problem]:
        """What was odd."""
        return self.oddities.problems(self.path)

    def save(self) -> bytes:
        """Lines do not depend on each other."""
        return b"\0"


def read_runs(source: Source, since: Checkpoint | None) -> Iterator[Item]:
    """The conversations that were added to a benchmark's output."""
    position, _ = resumed(since, int)
    yield from read_appended(source, position, _RUNS, Runs(source))


def _told(talk: OldTalk, events: list[Any]) -> Iterator[Item]:
    for number, event in enumerate(events):
        if isinstance(event, dict):
            told = OldEvent(**{name: event.get(name) for name in OldEvent.__struct_fields__})
            own = whole_of(told.id)
            talk.say(told, number if own is None else own)
        else:
            talk.oddities.bad("an event that is no object")
    yield from talk.close()


def _first_time(events: list[Any]) -> int | None:
    return next(
        filter(None, (moment_of(fields_of(event).get("timestamp")) for event in events)), None
    )
