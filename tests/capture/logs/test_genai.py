"""Messages in the shape of Google's API, blocks in tags, and logs that are replayed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recollect.capture.logs.genai import (
    FunctionAnswer,
    FunctionCall,
    answers_in,
    calls_in,
    parts_of,
    said_in,
    thought_in,
    tokens,
)
from recollect.capture.logs.readers import replay_document, replay_lines
from recollect.capture.logs.tags import inside, without
from recollect.model.logs import Checkpoint, Item, Problem, Source, TurnFacts


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("hi", [{"text": "hi"}]),
        ({"text": "hi"}, [{"text": "hi"}]),
        ({"role": "user", "parts": [{"text": "hi"}]}, [{"text": "hi"}]),
        (["hi", {"text": "you"}, 5, None], [{"text": "hi"}, {"text": "you"}]),
        (None, []),
        (7, []),
    ],
)
def test_a_content_is_parts_however_it_is_written(
    content: Any, parts: list[dict[str, Any]]
) -> None:
    assert parts_of(content) == parts


def test_words_thoughts_and_pictures_are_told_apart() -> None:
    parts = parts_of(
        [
            {"text": "hm", "thought": True},
            {"text": "see "},
            {"inlineData": {"data": "AA"}},
            {"text": 5},
        ]
    )

    assert said_in(parts) == "see [image]"
    assert said_in(parts, "\n") == "see \n[image]"
    assert thought_in(parts) == "hm"


def test_calls_and_answers_are_found_among_parts() -> None:
    parts = parts_of(
        [
            {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}},
            {"functionCall": {}},
            {"text": "x"},
        ]
    )

    assert calls_in(parts) == [FunctionCall("c1", "f", {"a": 1})]


@pytest.mark.parametrize(
    ("response", "output", "ok"),
    [
        ({"output": "x"}, "x", None),
        ({"error": "bad"}, "bad", False),
        ({"result": {"n": 1}}, '{"n":1}', None),
        ({"content": [{"type": "text", "text": "from a server"}]}, "from a server", None),
        ({"other": 1}, '{"other":1}', None),
        ({}, None, None),
        (None, None, None),
    ],
)
def test_an_answer_is_text_and_whether_it_is_an_error(
    response: Any, output: str | None, ok: bool | None
) -> None:
    assert answers_in([{"functionResponse": {"id": "c1", "name": "f", "response": response}}]) == [
        FunctionAnswer("c1", "f", output, ok)
    ]


def test_the_total_tells_whether_thoughts_come_on_top() -> None:
    apart = tokens(prompt=100, cached=60, candidates=20, thoughts=5, tool=10, total=135)
    within = tokens(prompt=100, cached=60, candidates=20, thoughts=5, total=120)

    assert apart == {"input": 50, "cache_read": 60, "output": 25, "reasoning": 5}
    assert within == {"input": 40, "cache_read": 60, "output": 20, "reasoning": 5}
    assert tokens(prompt="x", cached=None, candidates=-1, thoughts=[]) == {
        "input": 0,
        "cache_read": 0,
        "output": 0,
        "reasoning": 0,
    }


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <x>b</x> c <x>d</x>", "a  c"),
        ("a <x>b</x> what is <x> for?", "a  what is <x> for?"),
        ("a <x>b <y> c</x> d", "a  d"),
        ("""a <x name="b" at='c'>d</x>""", "a"),
        ("a <xy>b</xy>", "a <xy>b</xy>"),
        ("a </x> b", "a </x> b"),
        ("<y>b</y> a", "a"),
    ],
)
def test_blocks_are_taken_out_of_a_text(text: str, left: str) -> None:
    assert without(text, "x", "y") == left


def test_what_is_inside_a_block_is_found() -> None:
    assert inside("a <x>\nb\n</x> <x>c</x>", "x") == "b"
    assert inside("<x>b", "x") is None
    assert inside("</x> b <x>", "x") is None


def test_ten_thousand_openings_take_no_time() -> None:
    """A hostile text must not make an import wait."""
    began = time.process_time()

    for text in ("<x>", "<x ", "<x></x>"):
        without(text * 100_000, "x")

    assert time.process_time() - began < 1


class Heard:
    """Keeps the keys it was given."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def take(self, record: dict[str, Any]) -> None:
        self.keys += record

    def items(self) -> list[Item]:
        return [TurnFacts(session="s", turn=key) for key in self.keys]


def test_lines_are_mended_and_read_from_the_start_each_time(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a":1}{"b":1}\n{oops}\n{"c":1}\n')
    source, decoder = Source("x", str(path), appended=False), msgspec.json.Decoder(dict[str, Any])

    found = list(
        replay_lines(
            source, Checkpoint(3), decoder, Heard(), mend=lambda data: data.replace(b"}{", b"}\n{")
        )
    )

    assert [item.turn for item in found if isinstance(item, TurnFacts)] == ["a", "b", "c"]
    assert [item.kind for item in found if isinstance(item, Problem)] == ["bad_line"]
    assert found[-1] == Checkpoint(path.stat().st_size)


def test_of_a_log_that_is_too_large_the_first_part_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it is held in memory at once."""
    monkeypatch.setattr("recollect.capture.logs.readers.MAX_DOCUMENT_BYTES", 5)
    monkeypatch.setattr("recollect.capture.logs.lines.BLOCK_BYTES", 8)
    path = tmp_path / "a.jsonl"
    path.write_text('{"a":1}\n{"b":1}\n')

    found = list(
        replay_lines(
            Source("x", str(path), appended=False),
            None,
            msgspec.json.Decoder(dict[str, Any]),
            Heard(),
        )
    )

    assert found == [
        Problem(path=str(path), kind="too_large", reason="only the first 8 bytes were read"),
        TurnFacts(session="s", turn="a"),
        Checkpoint(8),
    ]


def test_what_cannot_be_read_leaves_the_checkpoint_as_it_was(tmp_path: Path) -> None:
    source, before = Source("x", str(tmp_path / "gone"), appended=False), Checkpoint(3, b"x")

    for found in (
        list(replay_lines(source, before, msgspec.json.Decoder(dict[str, Any]), Heard())),
        list(replay_document(source, before, dict, Heard())),
    ):
        assert [type(item) for item in found] == [Problem, Checkpoint]
        assert found[-1] == before
