"""What is told is measured against facts that stand beside the project, on logs that do too."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bench import worth
from bench.judging.verbatim import RawLogs, Span, spans_in
from tests.builders.homes import claude_log
from tests.builders.work import Work

RECOLLECT = Path(sys.executable).with_name("recollect")

# The measures of the judgement, as small as they can be: a fact is captured by a line with its
# words.
MEASURE = """
import json, pathlib

def load_gold(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]

def tokens_of(text):
    return len(text) / 3.6

def score(facts, folder):
    tokens = {"pack": 0, "memory": 0}
    for fact in facts:
        fact["hit"] = {}
        for surface in tokens:
            text = pathlib.Path(folder, fact["project"], surface + ".txt").read_text()
            tokens[surface] += tokens_of(text)
            fact["hit"][surface] = fact["key"] in text
    return list(tokens), tokens

def share(facts, surface):
    got = sum(fact["hit"][surface] for fact in facts)
    return got, len(facts), got / len(facts), got, len(facts)
"""


def judgement(folder: Path, *facts: tuple[str, str]) -> Path:
    """A judgement of one project, `shop`, with a fact of each kind and its key."""
    folder.mkdir()
    project = {"repo": "ada/shop", "agent": "claude", "folders": ["/home/ada/shop"], "files": []}
    (folder / "projects.json").write_text(json.dumps({"shop": project}))
    (folder / "score.py").write_text(MEASURE)
    (folder / "replay.py").write_text("")
    rows = [{"project": "shop", "kind": kind, "key": key} for kind, key in facts]
    (folder / "gold-open.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def laid_out(folder: Path, work: Work) -> Path:
    log = folder / "shop" / "claude" / "projects" / "-home-ada-shop" / "one.jsonl"
    log.parent.mkdir(parents=True)
    work.talk.write(log)
    return folder


def test_told_lines_are_measured_end_to_end(tmp_path: Path) -> None:
    """The command, from logs to figures, is what every change of memory is judged by."""
    work = Work().ask("Fix the till").run("uv run pytest -q", "1 failed", code=1)
    work.edit("/home/ada/shop/till.py").run("uv run pytest -q", "3 passed").done()
    judged = judgement(tmp_path / "worth", ("command", "uv run pytest"), ("trap", "never in a log"))
    out, history = tmp_path / "out", tmp_path / "history.jsonl"
    said = [str(laid_out(tmp_path / "logs", work)), "--worth", str(judged), "--no-replay"]

    done = worth.main([*said, "--out", str(out), "--history", str(history)])

    figures = json.loads((out / "worth.json").read_text())
    assert done == 0
    assert figures["captured"]["memory"]["kinds"] == {"command": 1.0, "trap": 0.0}
    assert figures["captured"]["memory"]["by_project"] == {"shop": 0.5}
    assert figures["captured"]["memory"]["too_long"] == 0
    assert figures["lines"]["memory"] >= 1
    assert "pytest" in (out / "worth-texts" / "shop" / "memory.txt").read_text()
    # A run without the replay is not a whole one.
    assert not history.exists()


def test_a_kept_store_is_used_again(tmp_path: Path) -> None:
    """Importing takes most of the time of a run, and a change of the rules changes no store."""
    work = Work().ask("Fix the till").run("uv run pytest -q", "3 passed").done()
    judged = judgement(tmp_path / "worth", ("command", "uv run pytest"))
    stores, logs = tmp_path / "stores", laid_out(tmp_path / "logs", work)
    said = [str(logs), "--worth", str(judged), "--no-replay", "--stores", str(stores)]

    assert worth.main([*said, "--out", str(tmp_path / "one")]) == 0
    for log in logs.rglob("*.jsonl"):
        log.write_text("")
    assert worth.main([*said, "--out", str(tmp_path / "two")]) == 0

    assert [path.name for path in stores.iterdir()] == ["ada+shop"]
    assert "pytest" in (tmp_path / "two" / "worth-texts" / "shop" / "memory.txt").read_text()


def test_where_the_judgement_is_missing_it_says_so(tmp_path: Path) -> None:
    """It is not part of the project, so a clone is without it."""
    with pytest.raises(SystemExit, match=r"does not hold the judgement .* --worth"):
        worth.main([str(tmp_path), "--worth", str(tmp_path / "nowhere")])


def test_logs_that_are_not_laid_out_are_asked_for(tmp_path: Path) -> None:
    judged = judgement(tmp_path / "worth")

    with pytest.raises(SystemExit, match=r"Lay them out: .*lay_out\.py"):
        worth.main([str(tmp_path / "nothing"), "--worth", str(judged)])


@pytest.mark.parametrize(
    ("line", "spans"),
    [
        ("- run `npm test` in web/app", [Span("command", "npm test")]),
        ('"never use `pip`" was said', [Span("command", "pip"), Span("quote", "never use `pip`")]),
        ("look at src/till/main.py first", [Span("path", "src/till/main.py")]),
        ("there is no --fast [claude-code:5e551011-0000#2]", [Span("option", "--fast")]),
        ("nothing is quoted here", []),
    ],
)  # fmt: skip
def test_what_a_line_quotes_is_found(line: str, spans: list[Span]) -> None:
    assert spans_in(line) == spans


def test_a_command_stands_in_the_log_whole_or_not_at_all(home: Path) -> None:
    """One with its middle left out cannot be run, and may mean something else."""
    work = Work().ask("Please “never” touch the till").run("pytest -q --lf tests/till.py", "ok")
    logs = RawLogs([claude_log(home, work.talk)])

    assert logs.has(Span("command", "pytest -q --lf tests/till.py"))
    assert not logs.has(Span("command", "pytest … tests/till.py"))
    assert not logs.has(Span("command", "pytest -q tests/till.py"))
    assert logs.has(Span("quote", 'Please "never"… the till'))
    assert "lf tests/till.py" in logs.around(Span("command", "pytest -q"))


def test_slashes_and_homes_are_written_as_people_like(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"arguments": json.dumps({"path": "C:\\Users\\ada\\shop\\Till.py"})}))
    logs = RawLogs([log])

    assert logs.has(Span("path", "~/shop/till.py"))
    assert not logs.has(Span("path", "~/shop/test.py"))


def test_a_line_from_another_project_is_a_stray(tmp_path: Path) -> None:
    """What holds in one project may be wrong in the next."""
    projects = []
    for name, session in (("shop", "5e551011-0001"), ("bank", "5e551011-0002")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{session}.jsonl").write_text("")
        projects.append(worth.Project(name, "ada/both", (), tmp_path / name))
    own = worth.Told("shop", "pack", "- use tabs claude-code:5e551011-0001#1")
    other = worth.Told("shop", "pack", "- use spaces claude-code:5e551011-0002#1")

    assert worth._strays([own, other], projects) == [other]


def test_the_history_names_no_project(tmp_path: Path) -> None:
    """The logs are other people's, and the history is ours and public."""
    kinds = {"all": 0.5, "kinds": {"trap": 0.5}, "by_project": {"shop": 0.5}}

    worth.keep(tmp_path / "history.jsonl", {"captured": {"pack": kinds}, "lines": {"pack": 3}})
    worth.keep(tmp_path / "history.jsonl", {"captured": {}, "lines": {"pack": 4}})

    first, second = map(json.loads, (tmp_path / "history.jsonl").read_text().splitlines())
    assert first["captured"] == {"pack": {"all": 0.5, "kinds": {"trap": 0.5}}}
    assert second["lines"] == {"pack": 4}


def test_labels_are_summed_up(tmp_path: Path) -> None:
    rows = [{"label": label, "text": "x"} for label in ("useful", "useful", "noise", "wrong")]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    assert worth.summed_up(worth.read(path)) == {
        "lines": 4, "useful": 0.5, "noise": 0.25, "wrong": 0.25, "harmful": 0.0,
    }  # fmt: skip


def test_a_line_without_a_label_is_not_passed_over(tmp_path: Path) -> None:
    """Or the figure would be better than what it is about."""
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({"label": "", "text": "x"}) + "\n")

    with pytest.raises(SystemExit, match="1 lines have no label"):
        worth.main(["--labels", str(path)])
