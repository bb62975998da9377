"""Three devices of two people say, edit, forget and sync in any order, and crash."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.errors import HubUnavailable, UsageError
from recollect.share.sync import synchronise
from tests.share.people import Person
from tests.share.servers import PASSWORD, Postgres

DEVICES = ("ana-laptop", "ana-workstation", "bo-laptop")
TEXTS = ("Use pnpm here", "Deploy on Tuesdays", "Tests need Redis", "Never rebase main")
device, text = st.sampled_from(range(3)), st.sampled_from(TEXTS)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("says"), device, text), st.tuples(st.just("edits"), device, text),
        st.tuples(st.just("forgets"), device, text), st.tuples(st.just("syncs"), device),
        st.tuples(st.just("crashes"), device, st.integers(1, 4), st.booleans()),
    ),
    min_size=4, max_size=24,
)  # fmt: skip


class CrashingHub:
    """A hub whose connection ends at one of the calls, before it is carried out or just after."""

    def __init__(self, hub: Any, calls: int, *, after: bool) -> None:
        self._hub, self._calls, self._after = hub, calls, after

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._hub, name)
        if not callable(found):
            return found

        def call(*given: Any, **named: Any) -> Any:
            self._calls -= 1
            if self._calls == 0 and not self._after:
                raise HubUnavailable("crashed")
            answer = found(*given, **named)
            if self._calls == 0:
                raise HubUnavailable("crashed")
            return answer

        return call


def do(person: Person, step: Sequence[Any]) -> None:
    memory = person.memory
    if step[0] == "says":
        person.says(step[2])
    elif step[0] == "syncs":
        person.syncs()
    elif step[0] == "crashes":
        with memory.team._hub() as hub:
            store, crashing = memory._shared.store(), CrashingHub(hub, step[2], after=step[3])
            with suppress(HubUnavailable):
                synchronise(
                    store, crashing, leaving=memory.team._leaving(),  # type: ignore[arg-type]
                    arriving=memory.team._arriving(), name="x",
                )  # fmt: skip
    else:
        for note in memory.notes.search(step[2], author="person", status="active"):
            if step[0] == "forgets":
                memory.notes.forget(note.ref)
            else:
                memory.notes.edit(note.ref, f"{note.text}, really")
            break


def known(person: Person) -> set[tuple[str, str]]:
    """What a device knows of what is shared: its own, and that of others, as author and id."""
    store = person.memory._shared.store()
    own = {(person.name, id) for id, one in store.team.shared().items()
           if one.pushed and not one.gone}  # fmt: skip
    return own | set(store.db.rows("select author, id from team_notes"))


@settings(
    max_examples=8, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(steps)
def test_devices_converge_whatever_happens_in_which_order(
    postgres: Postgres, steps: list[Any]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        people = [Person(name.partition("-")[0], Path(place) / name, PASSWORD) for name in DEVICES]
        ana, workstation, bo = people
        ana.founds(postgres.database())
        workstation.joins(ana.memory.team.invite("ana"))
        bo.joins(ana.memory.team.invite("bo"))
        for person in people:
            person.says("We all say this")
            person.shares()

        for step in steps:
            # To say it better in words that are there already is refused.
            with suppress(UsageError):
                do(people[step[1]], step)
        for _ in range(3):
            for person in people:
                person.syncs()

        with ana.memory.team._hub() as hub:
            live = {(item.author, item.id) for item in hub.pull(0).items if item.gone is None}
        live |= {one for one in known(ana) if one[0] == "ana"}
        assert [known(person) for person in people] == [live] * 3
        assert [person.memory.team.sync().round_trips for person in people] == [1] * 3
        for person in people:
            texts = [note.text for note in person.memory.notes.search() if note.status == "active"]
            assert len(texts) == len(set(texts))
            person.memory.close()
