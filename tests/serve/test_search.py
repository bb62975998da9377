"""recollect search, as typed: what is printed, what is said besides, and the exit codes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.model.search import Hit
from recollect.serve.cli import main
from tests.builders.claude_code import Conversation
from tests.builders.homes import claude_log, memory
from tests.builders.talks import SHOP, Said, Talks


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talks]:
    """Twelve turns about locks and one about a button, of which all
    but the last session are embedded.
    """
    made = Talks(tmp_path_factory.mktemp("told"))
    made.tell(
        "a",
        *[f"the lock timeout of worker {number}" for number in range(12)],
        "make the login button blue",
    )
    made.embed()
    made.tell("b", Said("a lock without a key", reply="It is open."), project="/srv/b", day=1)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def stored(told: Talks, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line finds that store."""
    monkeypatch.setenv("RECOLLECT_STORE", str(told.filled.path))


def search(
    capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, list[dict[str, Any]], list[str]]:
    """The exit code, the hits and what was said besides."""
    code = main(["search", "--json", *words])
    out, err = capsys.readouterr()
    return code, [json.loads(line) for line in out.splitlines()], err.splitlines()


@pytest.mark.parametrize("mode", ["text", "vector", "hybrid"])
def test_a_hit_has_these_fields_in_this_order(
    mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Programs read them."""
    _, hits, _ = search(capsys, "lock", "--mode", mode)

    assert {tuple(hit) for hit in hits} == {
        (
            "ref",
            "session",
            "turn",
            "agent",
            "project",
            "at",
            "score",
            "matched",
            "snippet",
            "external",
        )
    }
    assert tuple(hits[0]) == Hit.FIELDS


def test_a_hit_is_what_was_stored(capsys: pytest.CaptureFixture[str]) -> None:
    """Every field, once."""
    code, hits, said = search(capsys, '"without a key"', "--mode", "text")

    assert code == 0
    assert [{**hit, "score": 0} for hit in hits] == [
        {
            "ref": "codex:b#1", "session": "codex:b", "turn": 1, "agent": "codex",
            "project": "/srv/b",
            "at": "2026-01-02T09:00:00.000Z", "score": 0, "matched": "text",
            "snippet": "a lock without a key", "external": False,
        }
    ]  # fmt: skip
    assert said == []


def test_the_reason_comes_last_and_adds_up(capsys: pytest.CaptureFixture[str]) -> None:
    """Only when asked for."""
    _, hits, _ = search(capsys, "lock", "timeout", "--explain")

    assert {tuple(hit) for hit in hits} == {(*Hit.FIELDS, "reason")}
    for hit in hits:
        reason = hit["reason"]
        assert list(reason) == [
            "words", "phrase", "meaning", "closeness", "nearby", "session", "when", "lift",
        ]  # fmt: skip
        assert sum(reason.values()) == pytest.approx(hit["score"], abs=0.005)


def test_a_person_sees_where_and_what(capsys: pytest.CaptureFixture[str]) -> None:
    """The reference first, to be copied; the reason below, when asked for."""
    assert main(["search", '"without a key"', "--mode", "text", "--explain"]) == 0

    where, snippet, reason = capsys.readouterr().out.splitlines()
    assert where == "codex:b#1  2026-01-02 09:00  /srv/b"
    assert snippet == "    a lock without a key"
    assert " by text: words 1." in reason
    assert "  phrase 0.0  meaning 0.0  " in reason


def test_pages_are_asked_for_by_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    """The note says how, and the last page has none."""
    code, first, said = search(capsys, "lock", "--limit", "8")
    cursor = said[-1].removeprefix("More hits: add --cursor ")
    next_code, second, rest = search(capsys, "lock", "--limit", "8", "--cursor", cursor)
    _, by_offset, _ = search(capsys, "lock", "--limit", "8", "--offset", "8")

    assert (code, next_code, len(first), len(second)) == (0, 0, 8, 6)
    assert second == by_offset
    assert not {hit["ref"] for hit in first} & {hit["ref"] for hit in second}
    assert not any("--cursor" in line for line in rest)


@pytest.mark.parametrize(
    "cursor",
    ["garbage", "", "8", "8.13", "8.13.00000000", "-8.13.00000000", "\ud800", "8.13." + "0" * 99],
)
def test_a_cursor_that_is_none_of_this_search_is_a_wrong_request(
    cursor: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, one sentence, and the next step."""
    assert main(["search", "lock", f"--cursor={cursor}"]) == 2

    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 2)


def test_turns_that_are_not_embedded_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """So that nobody takes meaning for complete; a search by words does not care."""
    _, _, said = search(capsys, "lock", "--limit", "100")
    _, _, by_words = search(capsys, "lock", "--limit", "100", "--mode", "text")

    assert said == ["1 turn is found by word only so far. Embed them now: recollect jobs run embed"]
    assert by_words == []


def test_a_phrase_that_nobody_said_is_remarked_on(capsys: pytest.CaptureFixture[str]) -> None:
    """Its words are searched instead."""
    code, hits, said = search(capsys, '"timeout lock"', "--mode", "text")

    assert (code, len(hits)) == (0, 10)
    assert said[0] == "No turn has the phrase in quotes. Its words were searched one by one."


def test_nothing_found_by_filter_is_exit_code_one(capsys: pytest.CaptureFixture[str]) -> None:
    """In every mode: meaning finds nothing where nothing passes."""
    assert main(["search", "lock", "project:nowhere"]) == 1
    assert main(["search", "lock", "project:nowhere", "--mode", "vector"]) == 1

    assert capsys.readouterr().out == ""


def test_a_mode_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is opened."""
    with pytest.raises(SystemExit) as stopped:
        main(["search", "lock", "--mode", "fuzzy"])

    assert stopped.value.code == 2
    assert '--mode takes hybrid, text or vector, not "fuzzy".' in capsys.readouterr().err


def test_the_project_of_the_current_folder_is_lifted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who asks is somewhere, and mostly asks about that."""
    here = tmp_path / "shop" / "src"
    here.mkdir(parents=True)
    talks = (
        Talks(tmp_path)
        .tell("far", "a webhook")
        .tell("own", "a webhook", project=str(tmp_path / "shop"))
    )
    talks.close()
    monkeypatch.chdir(here)

    _, hits, _ = search(capsys, "webhook", "--store", str(talks.filled.path))

    assert [hit["session"] for hit in hits] == ["codex:own", "codex:far"]
    assert hits[1]["project"] == SHOP


@pytest.mark.parametrize("text", ["\ud800", "🙂 lock", "\0", "lock\x1b[31m", "数据", "x" * 100_000])
def test_any_text_can_be_printed_back(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Half characters and escape codes come from a clipboard."""
    assert main(["search", "--mode", "text", "--", text]) in (0, 1)

    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize("query", ["rename my shop", "clear", "2026-01-01", "the till"])
def test_what_was_said_to_the_client_alone_is_no_answer(home: Path, query: str) -> None:
    """`/clear` before a prompt, and `/rename` behind one: neither was said to the agent."""
    talk = Conversation()
    talk.user("<command-name>/clear</command-name>")
    talk.user("fix the till")
    talk.reply("It counts again.")
    talk.user("<command-name>/rename</command-name><command-args>my shop</command-args>")
    claude_log(home, talk)
    with memory(home) as mind:
        mind.import_logs()
        list(mind.store.embed())
        found = [hit for mode in ("text", "hybrid") for hit in mind.search(query, mode=mode)]

    assert not [hit.snippet for hit in found if "/" in hit.snippet or hit.turn == 1]
