"""Sources that are not appended to: documents, what lies beside them,
and several places that tell the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.model.logs import Checkpoint
from recollect.model.reports import ImportReport
from recollect.settings import Settings
from tests.builders.notebook import Notebook, notebook


@pytest.fixture
def adapter() -> Notebook:
    return Notebook()


@pytest.fixture
def mind(home: Path, adapter: Notebook) -> Iterator[Memory]:
    settings = Settings.load({"HOME": str(home)}, store=str(home / "recollect.db"))
    with Memory(settings, adapters={"notebook": adapter, "diary": Notebook("diary")}) as memory:
        yield memory


def outcome(report: ImportReport) -> tuple[int, int, int, int]:
    return report.imported, report.updated, report.unchanged, report.failed


def talk(mind: Memory, ref: str) -> list[tuple[str, list[str], bool]]:
    """Each turn: what was asked, what was answered, and whether it is
    still part of the conversation.
    """
    return [
        (turn.prompt, [event.text for event in turn.events if event.kind == "reply"], turn.live)
        for turn in mind.show(ref).turn_list
    ]


def bodies(mind: Memory) -> list[int]:
    """Which rows the turns' events are in: a turn that is written anew gets another."""
    return [
        number
        for (number,) in mind._shared.store().db.rows("select id from bodies order by turn, part")
    ]


def test_a_document_that_changed_is_read_whole_and_only_what_changed_is_written(
    home: Path, mind: Memory
) -> None:
    """A long conversation grows by a turn at a time.

    The others are neither indexed nor digested again.
    """
    path = notebook(
        home / ".notebook" / "a.json",
        {"session": "a", "turns": [["1", "one", "yes"], ["2", "two"]]},
    )
    mind.import_logs()
    before = bodies(mind)

    notebook(
        path, {"session": "a", "turns": [["1", "one", "yes"], ["2", "two", "done"], ["3", "three"]]}
    )
    report = mind.import_logs()

    assert outcome(report) == (0, 1, 0, 0)
    assert report.turns == 1
    assert talk(mind, "notebook:a") == [
        ("one", ["yes"], True),
        ("two", ["done"], True),
        ("three", [], True),
    ]
    assert bodies(mind)[0] == before[0]
    assert before[1] not in bodies(mind)


def test_an_unchanged_document_is_not_opened(home: Path, mind: Memory, adapter: Notebook) -> None:
    notebook(home / ".notebook" / "a.json", {"session": "a", "turns": [["1", "one"]]})
    mind.import_logs()

    assert outcome(mind.import_logs()) == (0, 0, 1, 0)
    assert adapter.reads == [None]


def test_a_change_beside_a_document_is_noticed(home: Path, mind: Memory) -> None:
    """A session in several files is one source; any of them may be the one that changes."""
    path = notebook(home / ".notebook" / "a.json", {"session": "a", "turns": [["1", "one"]]})
    mind.import_logs()

    path.with_suffix(".title").write_text("roses")
    report = mind.import_logs()

    assert outcome(report) == (0, 1, 0, 0)
    assert mind.session("notebook:a").title == "roses"
    assert outcome(mind.import_logs()) == (0, 0, 1, 0)


def test_an_adapter_that_remembers_is_given_its_state_back(
    home: Path, mind: Memory, adapter: Notebook
) -> None:
    path = notebook(
        home / ".notebook" / "a.json", {"session": "a", "remembers": True, "turns": [["1", "one"]]}
    )
    mind.import_logs()
    size = path.stat().st_size

    notebook(path, {"session": "a", "turns": [["1", "one"], ["2", "two"]]})
    grown = path.stat().st_size
    mind.import_logs()
    notebook(path, {"session": "a", "turns": [["1", "one"], ["2", "two"], ["3", "three"]]})
    mind.import_logs()

    assert adapter.reads == [None, Checkpoint(size, bytes([144])), Checkpoint(grown, bytes([144]))]


def test_a_companion_that_changed_for_others_is_no_news(home: Path, mind: Memory) -> None:
    """An index of all sessions changes with each of them; only one has something to tell."""
    path = notebook(
        home / ".notebook" / "a.json", {"session": "a", "remembers": True, "turns": [["1", "one"]]}
    )
    mind.import_logs()

    path.with_suffix(".title").write_text("of another session")

    assert outcome(mind.import_logs()) == (0, 0, 1, 0)


def test_a_half_written_document_is_read_when_it_is_whole(home: Path, mind: Memory) -> None:
    path = notebook(home / ".notebook" / "a.json", {"session": "a", "turns": [["1", "one"]]})
    whole = path.read_text()
    path.write_text(whole[:-5])
    assert mind.import_logs().problems == 1

    path.write_text(whole)
    report = mind.import_logs()

    assert (report.updated, report.problems) == (1, 0)
    assert talk(mind, "notebook:a") == [("one", [], True)]


def test_an_undone_turn_is_told_again_when_it_comes_back(home: Path, mind: Memory) -> None:
    turns = [["1", "one"], ["2", "two"]]
    path = notebook(
        home / ".notebook" / "a.json", {"session": "a", "turns": turns, "undone": ["2"]}
    )
    mind.import_logs()
    assert [live for *_, live in talk(mind, "notebook:a")] == [True, False]

    notebook(path, {"session": "a", "turns": turns})
    mind.import_logs()

    assert [live for *_, live in talk(mind, "notebook:a")] == [True, True]


def test_what_is_gone_from_a_session_that_is_told_whole_was_undone(
    home: Path, mind: Memory
) -> None:
    """Editing an earlier prompt drops what came after it.

    We keep it, and know that it does not count.
    """
    path = notebook(
        home / ".notebook" / "a.json",
        {"session": "a", "whole": True, "turns": [["1", "one"], ["2", "two"]]},
    )
    mind.import_logs()

    notebook(path, {"session": "a", "whole": True, "turns": [["1", "one"], ["3", "better"]]})
    mind.import_logs()

    assert talk(mind, "notebook:a") == [("one", [], True), ("two", [], False), ("better", [], True)]


@pytest.mark.parametrize("first", ["better", "lesser"])
def test_of_two_places_that_tell_a_session_the_better_one_is_believed(
    home: Path, mind: Memory, first: str
) -> None:
    """An editor keeps a chat in its database, and a poorer copy of it in a file."""
    folder = home / ".notebook"
    better = {"session": "a", "turns": [["1", "one", "yes, and here is how"], ["2", "two"]]}
    lesser = {"session": "a", "turns": [["1", "one", "yes"], ["x", "two, written differently"]]}
    places = [(folder / "a.json", better), (folder / "a.lesser.json", lesser)]

    for path, session in places if first == "better" else reversed(places):
        notebook(path, session)
        mind.import_logs()

    told = [turn for turn in talk(mind, "notebook:a") if turn[2]]
    assert told == [("one", ["yes, and here is how"], True), ("two", [], True)]

    notebook(folder / "a.lesser.json", {**lesser, "turns": [*lesser["turns"], ["3", "three"]]})  # type: ignore[misc]
    mind.import_logs()

    assert [turn for turn in talk(mind, "notebook:a") if turn[2]] == told


def test_what_only_the_lesser_place_has_is_kept(home: Path, mind: Memory) -> None:
    notebook(home / ".notebook" / "a.json", {"session": "a", "turns": [["1", "one"]]})
    notebook(home / ".notebook" / "b.lesser.json", {"session": "b", "turns": [["1", "alone"]]})

    mind.import_logs()

    assert talk(mind, "notebook:b") == [("alone", [], True)]


@pytest.mark.parametrize("first", ["original", "copy"])
def test_a_copy_of_another_agents_session_gives_way_to_the_original(
    home: Path, mind: Memory, first: str
) -> None:
    """People commit exports of their chats.

    Where the agent's own log is stored too, it is the one that counts.
    """
    original = home / ".diary" / "a.json", {"session": "a", "turns": [["1", "one", "yes"]]}
    copy = (
        home / ".notebook" / "a.json",
        {"session": "a", "copy_of": "diary:a", "turns": [["p", "one"]]},
    )

    for path, session in [original, copy] if first == "original" else [copy, original]:
        notebook(path, session)
        mind.import_logs()

    assert talk(mind, "diary:a") == [("one", ["yes"], True)]
    live = [
        (session.id, live) for session in mind.sessions() for *_, live in talk(mind, session.id)
    ]
    assert sorted(live) == [
        ("diary:a", True),
        *([("notebook:a", False)] if first == "copy" else []),
    ]


def test_a_copy_of_what_was_forgotten_does_not_bring_it_back(home: Path, mind: Memory) -> None:
    notebook(home / ".diary" / "a.json", {"session": "a", "turns": [["1", "one"]]})
    mind.import_logs()
    mind.store.forget("diary:a")

    notebook(
        home / ".notebook" / "a.json",
        {"session": "a", "copy_of": "diary:a", "turns": [["p", "one"]]},
    )
    mind.import_logs()

    assert list(mind.sessions()) == []


def test_what_the_log_says_it_cost_counts(home: Path, mind: Memory) -> None:
    """The vendor's own figure is better than a table of prices.

    Where it says nothing the price stays unknown.
    """
    notebook(
        home / ".notebook" / "a.json",
        {"session": "a", "turns": [["1", "one"]], "costs": [0.25, 0.5]},
    )
    notebook(
        home / ".notebook" / "b.json", {"session": "b", "turns": [["1", "one"]], "costs": [None]}
    )

    mind.import_logs()

    assert (mind.session("notebook:a").cost_usd, mind.session("notebook:b").cost_usd) == (0.5, None)


def test_logs_in_the_folders_of_known_projects_are_found(
    home: Path, mind: Memory, tmp_path: Path
) -> None:
    """Some agents keep their logs where they work and nowhere else.

    Other agents' sessions tell where that is.
    """
    shop = tmp_path / "shop"
    notebook(
        home / ".diary" / "a.json", {"session": "a", "cwd": str(shop), "turns": [["1", "one"]]}
    )
    notebook(shop / "notebook.json", {"session": "b", "turns": [["1", "in the shop"]]})

    assert outcome(mind.import_logs()) == (2, 0, 0, 0)

    assert talk(mind, "notebook:b") == [("in the shop", [], True)]
    assert outcome(mind.import_logs()) == (0, 0, 2, 0)


def test_the_log_of_the_project_that_we_are_called_from_is_found(
    mind: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who uses such an agent and no other has no sessions yet
    that could tell where its logs are.
    """
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / "src").mkdir()
    notebook(shop / "notebook.json", {"session": "b", "turns": [["1", "in the shop"]]})
    monkeypatch.chdir(shop / "src")

    assert outcome(mind.import_logs()) == (1, 0, 0, 0)


def test_a_log_that_is_pointed_at_is_found_by_what_is_in_it(mind: Memory, tmp_path: Path) -> None:
    path = notebook(tmp_path / "elsewhere" / "a.json", {"session": "a", "turns": [["1", "one"]]})

    assert outcome(mind.import_logs([path])) == (1, 0, 0, 0)
    assert outcome(mind.import_logs([tmp_path / "elsewhere"])) == (0, 0, 1, 0)
