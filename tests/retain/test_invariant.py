"""Whatever happens in whatever order, events never go before their digest
exists, except where the report says so.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from recollect.model.calls import Call
from recollect.model.logs import Event, Item
from recollect.retain.budgets import Budget, retain
from recollect.system.clock import now_ms
from tests.store.conftest import START, Filled, facts, turn
from tests.store.test_evictions import digested

pytestmark = pytest.mark.store

SESSIONS = ("old", "young", "running")
# Minutes since START at which each session begins.
BEGAN = {"old": 0, "young": -3 * 24 * 60, "running": -30}
CAPS = st.sampled_from([0, 1, 3_000, 9_000, 30_000])


class Retention(RuleBasedStateMachine):
    """Logs grow and are read again, digests are made, budgets are applied.

    A model remembers what was ever said.
    """

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.filled = Filled(Path(self.folder.name) / "recollect.db")
        # What the log says of each turn, part by part.
        self.told: dict[tuple[str, int], list[list[Item]]] = {}
        self.lost: set[str] = set()
        self.now_minute = (now_ms() - START) // 60_000

    def teardown(self) -> None:
        if hasattr(self, "filled"):
            health = self.filled.store.doctor.examine(verify=True)
            self.filled.close()
            self.folder.cleanup()
            assert [finding for finding in health.findings if not finding.ok] == []

    # What happens

    @rule(session=st.sampled_from(SESSIONS), size=st.integers(0, 4_000))
    def a_turn_is_said(self, session: str, size: int) -> None:
        number = self._turns(session)
        key = f"{session}-{number}"
        minute = BEGAN[session] + number + (0 if session == "old" else self.now_minute)
        items = turn(session, key, f"ask {key}", output=self._noise(key, 0, size), minute=minute)
        self.told[session, number] = [items]
        self.filled.keep(f"{session}.jsonl", *([facts(session)] if not number else []), *items)

    @precondition(lambda self: self.told)
    @rule(data=st.data(), size=st.integers(0, 2_000))
    def the_last_turn_goes_on(self, data: st.DataObject, size: int) -> None:
        session, number = data.draw(st.sampled_from(sorted(self.told)))
        number = self._turns(session) - 1
        parts = self.told[session, number]
        key = f"{session}-{number}"
        last = max(item.at for item in parts[0] if isinstance(item, Event) and item.at is not None)
        text = self._noise(key, len(parts), size)
        parts.append(
            [Event(session=session, turn=key, kind="reply", at=last + len(parts) * 10, text=text)]
        )
        self.filled.keep(f"{session}.jsonl", *parts[-1])

    @precondition(lambda self: self.told)
    @rule(data=st.data())
    def a_log_is_read_from_its_start(self, data: st.DataObject) -> None:
        session = data.draw(st.sampled_from(sorted({name for name, _ in self.told})))
        items = [
            item
            for (name, _), parts in self.told.items()
            if name == session
            for part in parts
            for item in part
        ]
        whole_before = self._whole()

        self.filled.keep(f"{session}.jsonl", facts(session), *items, again=True)

        assert self._whole() == whole_before

    @rule()
    def digests_are_made(self) -> None:
        digested(self.filled)

    @rule(soft=CAPS, hard=CAPS, days=st.sampled_from([0, 1, 30]))
    def a_budget_is_applied(self, soft: int, hard: int, days: int) -> None:
        before, safe, size = self._whole(), self._distilled(), self._size()

        (*_, report) = retain(
            self.filled.store, Budget(soft_bytes=soft, hard_bytes=hard, max_age_days=days)
        )

        gone = before - self._whole()
        unsafe = {_turn_of(text) for text in gone} - safe
        assert not unsafe or hard
        assert self.filled.store.evictions.raw_bytes() == report.final_usage
        assert self._size() == size - report.freed
        assert not hard or report.final_usage <= hard
        assert report.data_loss == len(unsafe)
        assert sum(report.evicted.values()) == len({_turn_of(text) for text in gone})
        self.lost |= gone

    # What always holds

    @invariant()
    def every_turn_is_there_and_found_by_what_was_asked(self) -> None:
        if not hasattr(self, "filled"):
            return
        for session, number in self.told:
            shown = self.filled.store.turns.get(f"codex:{session}", number + 1)
            assert shown.prompt == f"ask {session}-{number}"

    @invariant()
    def what_did_not_go_is_whole(self) -> None:
        if hasattr(self, "filled"):
            assert self._every() - self._whole() == self.lost

    # What the machine knows

    def _turns(self, session: str) -> int:
        return sum(name == session for name, _ in self.told)

    def _noise(self, key: str, part: int, size: int) -> str:
        """A text that names its turn, and is so long that it does not stay when the turn goes."""
        return f"{key} part {part} " + Random(f"{key} {part}").randbytes(400 + size).hex()

    def _whole(self) -> set[str]:
        """The texts that are stored as they were told."""
        turns = self.filled.store.turns
        happened = turns.events_of(list(range(1, turns.last() + 1))).values()
        stored = {
            event.output if isinstance(event, Call) else event.text
            for events in happened
            for event in events
        }
        return stored & self._every()

    def _size(self) -> int:
        return int(self.filled.db.value("select coalesce(sum(length(events)), 0) from bodies"))

    def _every(self) -> set[str]:
        return {text for parts in self.told.values() for part in parts for text in _texts(part)}

    def _distilled(self) -> set[str]:
        """The turns whose session has not changed since its digest."""
        changed = {ref.removeprefix("codex:") for _, ref, _ in self.filled.store.digests.outdated()}
        return {f"{name}-{number}" for name, number in self.told if name not in changed}


def _texts(items: list[Item]) -> list[str]:
    """The long texts among some items."""
    texts = [getattr(item, name, None) for item in items for name in ("output", "text")]
    return [text for text in texts if isinstance(text, str) and " part " in text]


def _turn_of(text: str) -> str:
    return text.split()[0]


Retention.TestCase.settings = settings(
    max_examples=100, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
test_events_never_go_before_their_digest = Retention.TestCase
