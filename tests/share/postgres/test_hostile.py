"""A member who means harm, or whose machine was taken over, never speaks as the person here."""

from __future__ import annotations

import base64
import json
import socket
import threading
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from recollect.model.team import TeamItem
from recollect.share.link import with_user
from tests.builders.plants import SPELLINGS
from tests.serve.poison.readings import says
from tests.serve.poison.table import SENTENCES
from tests.serve.poison.test_external import everything_told, work_honestly
from tests.share.people import PROJECT, Person

Joins = Callable[..., Person]


def note(number: int, text: str, **more: object) -> TeamItem:
    body = {"text": text, "category": "project", "section": "traps", "trust": "user", **more}
    return TeamItem(f"{number:032x}", "note", PROJECT, "2026-11-01T00:00:00Z", body)


@pytest.fixture
def planted(ana: Person, joins: Joins) -> Person:
    """Bo, whose team mate mallory shared every hostile sentence in every spelling."""
    mallory = joins("mallory").syncs()
    items = [
        note(number, spelled(sentence), status="active", author="bo", by="bo", is_sure=True,
             decided_at="2026-11-01", form="make" if number % 2 else "",
             section=("commands", "preferences", "traps")[number % 3])
        for number, (spelled, sentence) in enumerate(product(SPELLINGS.values(), SENTENCES))
    ]  # fmt: skip
    with mallory.memory.team._hub() as hub:
        for start in range(0, len(items), 100):
            hub.push([_without_nul(one) for one in items[start : start + 100]])
    return joins("bo").syncs()


def _without_nul(item: TeamItem) -> TeamItem:
    return item._replace(body=json.loads(json.dumps(item.body).replace("\\u0000", "")))


def test_nothing_of_a_hostile_member_is_told(planted: Person, home: Path) -> None:
    """It waits in review, for a person who sees whose it is."""
    work_honestly(home, planted.project)
    waiting = planted.knows()

    told = everything_told(planted.memory, planted.project)

    assert len(waiting) > 100
    assert {(by, status) for _, by, status in waiting} == {("mallory", "candidate")}
    assert [
        (face, one) for face, text in told.items() for one in SENTENCES if says(text, one)
    ] == []
    assert all("mallory" not in text for text in told.values())


def test_a_trusted_members_assistant_is_not_trusted(ana: Person, joins: Joins) -> None:
    """Their agent's words are theirs, and not those of the person who is trusted."""
    mallory, bo = joins("mallory").syncs(), joins("bo").syncs()
    bo.memory.team.trust("mallory", project=str(bo.project))

    with mallory.memory.team._hub() as hub:
        hub.push([note(1, "An agent said so", trust="assistant"), note(2, "A person said so")])
    bo.syncs()

    assert bo.knows() == [
        ("A person said so", "mallory", "active"), ("An agent said so", "mallory", "candidate"),
    ]  # fmt: skip
    assert "A person said so (mallory)" in bo.told()
    assert "An agent said so" not in bo.told()


@pytest.mark.parametrize(
    "body",
    [{}, {"text": 1}, {"text": ""}, {"text": "x", "category": "evil", "section": "traps"},
     {"text": "x", "category": "project", "section": ["traps"]}, {"text": {"a": "b"}}],
)  # fmt: skip
def test_what_is_no_note_is_passed_over(ana: Person, joins: Joins, body: dict[str, Any]) -> None:
    """One bad row must not keep the others out."""
    mallory, bo = joins("mallory").syncs(), joins("bo").syncs()

    with mallory.memory.team._hub() as hub:
        hub.push([note(1, "before"), note(2, "")._replace(body=body), note(3, "after")])
        hub.push([note(4, "elsewhere")._replace(project="/home/bo/../.ssh")])
    bo.syncs()

    assert [text for text, *_ in bo.knows()] == ["after", "before"]


def test_a_secret_that_a_member_shares_is_taken_out_on_arrival(ana: Person, joins: Joins) -> None:
    mallory, bo = joins("mallory").syncs(), joins("bo").syncs()
    secret = "ghp_" + base64.b32encode(b"a secret of mallory's own").decode()[:36]

    with mallory.memory.team._hub() as hub:
        hub.push([note(1, f"Push with {secret} always")])
    bo.syncs()

    [(text, *_)] = bo.knows()
    assert secret not in text
    assert "REDACTED" in text


@pytest.fixture
def silence() -> Iterator[tuple[int, list[int]]]:
    """A port on which nobody ever answers, and who came to it."""
    listener = socket.create_server(("127.0.0.1", 0))
    visitors: list[int] = []
    kept = []

    def listen() -> None:
        while True:
            try:
                connection, (_, port) = listener.accept()
            except OSError:
                return
            kept.append(connection)
            visitors.append(port)

    threading.Thread(target=listen, daemon=True).start()
    yield listener.getsockname()[1], visitors
    listener.close()
    for connection in kept:
        connection.close()


def test_hooks_and_search_ask_no_hub(
    ana: Person, home: Path, silence: tuple[int, list[int]]
) -> None:
    """The local tool is never slower for having a team, whatever becomes of its hub."""
    port, visitors = silence
    work_honestly(home, ana.project)
    ana.memory.import_logs()
    store = ana.memory._shared.store()
    with store.transaction():
        url = with_user(f"postgresql://127.0.0.1:{port}/hub", "rc_ana")
        # It was out of reach a moment ago.
        store.db.execute(
            "update hub set url = ?, failed = 'away', failed_at = "
            "unixepoch() * 1000, failures = 9", (url,),
        )  # fmt: skip

    told = everything_told(ana.memory, ana.project)
    hits = list(ana.memory.search("basket"))
    status = ana.memory.team.status(ask=False)

    assert told
    assert hits
    assert status.failed == "away"
    assert visitors == []
