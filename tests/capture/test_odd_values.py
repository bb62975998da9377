"""A record whose values are of another type than its agent ever wrote costs that record."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.capture.adapters import ProjectAdapter, get_adapter
from recollect.capture.logs.editors import file_path
from recollect.model.logs import Checkpoint, Event, Source
from tests.builders.homes import chat
from tests.capture.test_golden import CASES
from tests.golden_logs import laid_out

ODD: list[Any] = [[], ["a", {"b": [1]}], {}, {"a": 1}, 7, -1.5, True, "file://[x/y", 10**30, ""]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(case=st.sampled_from(CASES), dice=st.randoms(use_true_random=False))
def test_a_value_of_an_odd_type_never_stops_a_reading(
    case: Path, dice: random.Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In any place of any recorded log."""
    root = laid_out(case / "root", tmp_path_factory.mktemp("odd") / "root")
    logs = [path for path in sorted(root.rglob("*.json*")) if path.suffix in (".json", ".jsonl")]
    for path in logs:
        spoil(path, dice)
    adapter = get_adapter(case.parent.name)

    sources = list(adapter.sources(str(root)))
    if isinstance(adapter, ProjectAdapter):
        sources += adapter.in_project(str(root))

    for source in sources:
        assert isinstance(list(adapter.read(source, None))[-1], Checkpoint)


def spoil(path: Path, dice: random.Random) -> None:
    """Put odd values in a few places of a document, or of the lines of a log."""
    text = path.read_text()
    records = [text] if path.suffix == ".json" else text.split("\n")
    for _ in range(3):
        place = dice.randrange(len(records))
        try:
            record = json.loads(records[place])
        except ValueError:
            continue
        if where := list(places(record)):
            owner, key = dice.choice(where)
            owner[key] = dice.choice(ODD)
            records[place] = json.dumps(record)
    path.write_text("\n".join(records))


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Everything inside of a value, as its owner and its name in it."""
    inner = value.items() if isinstance(value, dict) else ()
    for key, one in enumerate(value) if isinstance(value, list) else list(inner):
        yield value, key
        yield from places(one)


@pytest.mark.parametrize("uri", ["file://[x/y", "vscode-remote://[", "file://[::1"])
def test_an_address_that_is_none_is_no_path(uri: str) -> None:
    """The library raises over a bracket in the place of a host."""
    assert file_path(uri) is None


def test_an_id_of_an_odd_type_beside_a_withdrawn_reply_stops_nothing(tmp_path: Path) -> None:
    """Ids are compared with those that were withdrawn, and a list has no hash."""
    talk = chat()
    talk.user("water the roses")
    talk.reply("No.")
    talk.reply("They are wet.")
    talk.system("model_refusal_fallback", content="Declined.", retractedMessageUuids=["x"])
    lines = [json.loads(line) for line in "".join(talk.lines).splitlines()]
    lines[2]["uuid"] = ["x"]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    found = list(get_adapter("claude-code").read(Source("claude-code", str(path)), None))

    assert "They are wet." in [item.text for item in found if isinstance(item, Event)]
