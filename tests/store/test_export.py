"""Exports are whole sessions, as plain values."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from recollect.model.search import Query, Scope
from recollect.model.sessions import SessionDetail
from tests.store.conftest import START, Filled, facts, turn


def fill(filled: Filled) -> None:
    second = facts("b", title="the second")
    second.started_at = START + 1
    filled.keep("b.jsonl", second, *turn("b", "k2", "two", cwd="/home/ada/barn"))
    first = facts("a", title="the first", meta={"kind": "exec"})
    filled.keep("a.jsonl", first, *turn("a", "k1", "one", output="pear\x00\U0001f350"))


def test_every_session_comes_out_whole_and_oldest_first(filled: Filled) -> None:
    """Another tool, or another store, must be able to make everything of it again."""
    fill(filled)

    lines = [json.dumps(session) for session in filled.store.sessions.export(Scope(Query(), {}))]

    back = [msgspec.json.decode(line, type=dict[str, Any]) for line in lines]
    expected = [filled.store.sessions.get(ref) for ref in ("codex:a", "codex:b")]
    assert back == [msgspec.to_builtins(session) for session in expected]
    assert [session["turn_list"][0]["events"][1].get("output") for session in back] == [
        "pear\x00\U0001f350",
        "output k2",
    ]
    assert set(SessionDetail.__struct_fields__) == set(back[0])


def test_filters_choose_sessions(filled: Filled) -> None:
    """The same filters as everywhere else."""
    fill(filled)

    chosen = [
        session["id"]
        for session in filled.store.sessions.export(Scope(Query(filters={"project": ["barn"]}), {}))
    ]

    assert chosen == ["codex:b"]


def test_sessions_are_read_one_at_a_time(filled: Filled) -> None:
    """A store can be larger than memory.

    And what is forgotten during an export does not come out any more.
    """
    fill(filled)

    going = filled.store.sessions.export(Scope(Query(), {}))
    first = next(going)["id"]
    filled.store.forgetting.session_or_turn("codex:b")

    assert first == "codex:a"
    assert list(going) == []
