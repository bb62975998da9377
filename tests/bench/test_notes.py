"""The notes of logs are printed for labelling, and labels are summed up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import notes
from tests.builders.homes import claude_log
from tests.builders.work import Work


def labelled(path: Path, *labels: str) -> Path:
    path.write_text(
        "".join(json.dumps({"label": label, "text": f"fact {label}"}) + "\n" for label in labels)
    )
    return path


def test_notes_of_short_sessions_are_printed_when_asked_for(home: Path) -> None:
    """Whoever labels them needs the text, and where it is from; the label is theirs."""
    work = Work().ask("Never push to main.").run("uv run pytest", "3 passed")
    log = claude_log(home, work.talk)

    rows = list(notes.found([log], short=True))

    assert list(notes.found([log], short=False)) == []
    assert [(row["label"], row["text"], row["trust"], row["turn"]) for row in rows] == [
        ("", "Never push to main", "user", f"{work.ref}#1"),
        ("", "To check work here, run `uv run pytest`", "tool-verified", f"{work.ref}#1"),
    ]


def test_labels_are_counted(tmp_path: Path) -> None:
    rows = notes.read(labelled(tmp_path / "a.jsonl", "useful", "useful", "useless", "duplicate"))

    assert notes.summed_up(rows) == {
        "notes": 4, "useful": 2, "useless": 1, "duplicate": 1, "secret": 0, "recalled": 0,
        "useful_share": 0.5,
        "duplicate_share": 0.25,
    }  # fmt: skip
    assert notes.summed_up([])["useful_share"] is None


def test_a_note_without_a_label_is_not_passed_over(tmp_path: Path) -> None:
    """Or the figure would be better than what it is about."""
    with pytest.raises(SystemExit, match=r"1 notes have no label.*fact fine"):
        notes.read(labelled(tmp_path / "a.jsonl", "useful", "fine"))
