"""A project's memory is made by one at a time, survives whoever is
killed, and forgets what was forgotten.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.distill.memories import consolidate as stage
from recollect.distill.memories import files
from recollect.memory import Memory
from recollect.model.reports import Consolidated
from recollect.store.sqlite.leases import Leases
from recollect.store.sqlite.old.sql import traces
from tests.builders.talks import SHOP, Said, Talks

BLOG = "/home/ada/blog"


@pytest.fixture
def talks(tmp_path: Path) -> Iterator[Talks]:
    made = Talks(tmp_path)
    yield made
    made.close()


def fill(talks: Talks) -> None:
    """Two projects; one of them has a check that passed twice, and so a skill."""
    talks.tell(
        "a",
        "always use tabs in this project",
        Said("mend the cart", command="pytest -q", output="1 passed"),
    )
    talks.tell("b", Said("mend the invoice", command="pytest -q", output="2 passed"), day=1)
    talks.tell("c", Said("write a post", command="make lint", output="ok"), project=BLOG, day=2)


def found(memory: Memory) -> dict[str, str]:
    """Every file of every memory."""
    root = Path(memory.settings.home) / "memories"
    return {
        str(path.relative_to(root)): path.read_text()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def publications(talks: Talks) -> list[tuple[Any, ...]]:
    return talks.store.db.rows(
        "select name, gone_at is null, sessions from publications order by id"
    )


def test_a_project_gets_one_memory_of_its_sessions(talks: Talks) -> None:
    """And nothing of another project's."""
    fill(talks)

    talks.memory.old.distill()

    folder = Path(talks.memory.old.memory_folder(SHOP))
    memory = (folder / "MEMORY.md").read_text()
    assert '- "Always use tabs in this project" [codex:a#1]' in memory
    assert "- `pytest -q` is a check: passed in 2 sessions [codex:b#1, codex:a#2]" in memory
    assert (folder / "skills" / "shop-checks" / "SKILL.md").exists()
    assert "codex:c" not in "".join(path.read_text() for path in folder.rglob("*.md"))
    assert "codex:a" not in "".join(
        path.read_text() for path in Path(talks.memory.old.memory_folder(BLOG)).rglob("*.md")
    )


def test_consolidating_again_changes_nothing(talks: Talks) -> None:
    """Not a file, not a row."""
    fill(talks)
    talks.memory.old.distill()
    before = found(talks.memory), publications(talks)

    assert talks.memory.old.consolidate() == Consolidated()
    assert (found(talks.memory), publications(talks)) == before


def test_every_version_is_kept_with_the_sessions_behind_it(talks: Talks) -> None:
    """What an agent was told last week can be looked up."""
    talks.tell("a", "always use tabs in this project")
    talks.memory.old.distill()
    talks.tell("b", "never use tabs in this project", day=1)

    talks.memory.old.distill()

    assert publications(talks) == [
        ("MEMORY.md", 0, '["codex:a"]'),
        ("MEMORY.md", 1, '["codex:b","codex:a"]'),
    ]


def test_a_skill_that_lost_its_support_goes(talks: Talks) -> None:
    """An agent would go on loading it."""
    fill(talks)
    talks.memory.old.distill()

    talks.memory.store.forget("codex:b")

    folder = Path(talks.memory.old.memory_folder(SHOP))
    assert not (folder / "skills").exists()
    assert "passed in 1 session [codex:a#2]" in (folder / "MEMORY.md").read_text()


def test_a_rejected_note_leaves_the_memory_too(talks: Talks) -> None:
    """One correction retires a fact on every surface, at once."""
    fill(talks)
    talks.memory.old.distill()
    note = talks.memory.old.remember("Always use tabs in this project.", project=SHOP)

    talks.memory.old.reject_note(note.ref)

    assert talks.memory.old.consolidate() == Consolidated()
    assert "tabs" not in (Path(talks.memory.old.memory_folder(SHOP)) / "MEMORY.md").read_text()


def test_a_rejected_note_leaves_in_all_its_wordings(talks: Talks) -> None:
    """Two sessions said it in two ways, and it is one note."""
    more = [Said(f"go on, part {number}", reply="ok") for number in range(12)]
    talks.tell("a", "always run the tests before you commit", *more)
    talks.tell("b", "run the tests before every commit", "never push to main", *more, day=1)
    talks.memory.old.distill()
    (note,) = [note for note in talks.memory.old.notes() if "tests" in note.text]

    talks.memory.old.reject_note(note.ref)

    told = (Path(talks.memory.old.memory_folder(SHOP)) / "MEMORY.md").read_text()
    assert "commit" not in told
    assert '- "Never push to main" [codex:b#2]' in told


def test_what_the_rules_wrote_follows_while_an_agent_is_waited_for(talks: Talks) -> None:
    """A fact that a person rejected must not stay until somebody finds the time to ask an agent."""
    fill(talks)
    talks.memory.old.distill()
    note = talks.memory.old.remember("Always use tabs in this project.", project=SHOP)
    talks.store.old.reject_note(note.ref)

    *_, report = stage.consolidate(
        talks.store, talks.memory.settings.home, traces_kept=10, engine="agent"
    )

    assert report == Consolidated(projects=2)
    assert "tabs" not in (Path(talks.memory.old.memory_folder(SHOP)) / "MEMORY.md").read_text()


def test_only_so_many_traces_are_kept_as_files(talks: Talks) -> None:
    """The newest ten; all of them still speak in MEMORY.md."""
    for day in range(12):
        talks.tell(f"s{day:02}", Said("go on", command="pytest -q"), day=day)

    talks.memory.old.distill()

    folder = Path(talks.memory.old.memory_folder(SHOP))
    assert len(list((folder / "trace_summaries").iterdir())) == 10
    lines = (folder / "memory_summary.md").read_text().splitlines()[2:]
    assert [line[-len("(trace: codex:s11)") :] for line in lines] == [
        f"(trace: codex:s{day:02})" for day in range(11, 1, -1)
    ]
    assert "passed in 12 sessions" in (folder / "MEMORY.md").read_text()


def test_merged_projects_have_one_memory_and_split_ones_two(talks: Talks) -> None:
    """The folder of a name that is not used any more is cleared."""
    fill(talks)
    talks.memory.old.distill()
    apart = found(talks.memory)

    talks.memory.projects.merge(BLOG, SHOP)
    talks.memory.old.consolidate()
    together = found(talks.memory)
    talks.memory.projects.split(BLOG)
    talks.memory.old.consolidate()

    assert {name.split("/")[0] for name in together} == {files.folder_name(SHOP)}
    assert "codex:c" in together[f"{files.folder_name(SHOP)}/memory/MEMORY.md"]
    assert found(talks.memory) == apart


def test_files_that_somebody_changed_or_removed_are_made_again(talks: Talks) -> None:
    """The rows are the truth."""
    fill(talks)
    talks.memory.old.distill()
    before = found(talks.memory)
    folder = Path(talks.memory.old.memory_folder(SHOP))
    (folder / "MEMORY.md").write_text("something else")
    (folder / "memory_summary.md").unlink()

    talks.memory.old.consolidate()

    assert found(talks.memory) == before


def test_of_two_consolidators_one_works(talks: Talks) -> None:
    """The other says that it found the project in somebody's hands."""
    fill(talks)
    talks.memory.old.distill()
    talks.tell("d", "never use tabs in this project", day=3)
    talks.memory.old.distill(limit=0)
    talks.store.db.execute("delete from consolidations")
    lease = Leases(talks.store.db).take(traces.lease_name(talks.store.projects.number(SHOP)))
    assert lease is not None

    assert talks.memory.old.consolidate() == Consolidated(projects=2, consolidated=1, locked=1)

    Leases(talks.store.db).release(lease)
    assert talks.memory.old.consolidate() == Consolidated(projects=1, consolidated=1)


def test_many_at_once_make_what_one_alone_makes(talks: Talks) -> None:
    """A timer, a person and an editor may all think of it at the same moment."""
    fill(talks)
    faults: list[BaseException] = []

    def run() -> None:
        try:
            with Memory.open(talks.filled.path) as memory:
                memory.old.distill()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    talks.memory.old.distill()

    assert faults == []
    together = found(talks.memory)
    talks.store.db.execute("delete from publications")
    talks.store.db.execute("delete from consolidations")
    talks.memory.old.consolidate()
    assert together == found(talks.memory)
    assert len(publications(talks)) == 3


def test_a_late_holder_cannot_write(talks: Talks, monkeypatch: pytest.MonkeyPatch) -> None:
    """It slept, another took over, and what it has is old."""
    fill(talks)
    original = stage.compose

    def slow(project: str, *rest: Any) -> Any:
        talks.store.db.execute("update leases set held_until = 1")
        assert (
            Leases(talks.store.db).take(traces.lease_name(talks.store.projects.number(project)))
            is not None
        )
        return original(project, *rest)

    monkeypatch.setattr(stage, "compose", slow)

    done = talks.memory.old.distill()

    assert (done.projects, done.consolidated, done.locked) == (2, 0, 2)
    assert publications(talks) == []


def test_what_is_forgotten_while_somebody_consolidates_is_not_written(
    talks: Talks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The holder has read it already; forgetting takes the pen out of its hand."""
    fill(talks)
    original = stage.compose

    def forgetting(project: str, *rest: Any) -> Any:
        made = original(project, *rest)
        if project == SHOP:
            monkeypatch.setattr(stage, "compose", original)
            with Memory.open(talks.filled.path) as other:
                other.store.forget("codex:a")
        return made

    monkeypatch.setattr(stage, "compose", forgetting)

    talks.memory.old.distill()

    assert "tabs" not in "".join(found(talks.memory).values())
    assert "codex:a" not in repr(publications(talks))


def test_a_forgotten_session_leaves_nothing_in_rows_versions_or_files(
    talks: Talks, tmp_path: Path
) -> None:
    """Not a byte of it, in whichever form it was kept."""
    talks.tell(
        "a",
        Said(
            "always use zebratabs in this project",
            command="pytest -q tests/zebracommand",
            output="1 passed",
        ),
    )
    talks.tell("b", Said("go on", command="pytest -q", output="1 passed"), day=1)
    talks.memory.old.distill()
    talks.tell("d", Said("go on with the cart", command="pytest -q", output="1 passed"), day=4)
    talks.memory.old.distill()
    places = [tmp_path, Path(talks.memory.settings.home)]

    def traces_left() -> list[str]:
        every = [path for place in places for path in place.rglob("*") if path.is_file()]
        return [
            path.name
            for path in every
            if b"zebra" in path.read_bytes() or b"zebra" in path.name.encode()
        ]

    assert traces_left()

    talks.memory.store.forget("codex:a")

    assert traces_left() == []
    assert "codex:a" not in "".join(found(talks.memory).values())
    assert publications(talks)[-1] == ("MEMORY.md", 1, '["codex:d","codex:b"]')


def test_a_forgotten_project_leaves_no_folder(talks: Talks) -> None:
    """Its name is a hash, but even that says that there was something."""
    fill(talks)
    talks.memory.old.distill()

    talks.memory.store.forget("codex:c")

    assert {name.split("/")[0] for name in found(talks.memory)} == {files.folder_name(SHOP)}
    assert [path.name for path in (Path(talks.memory.settings.home) / "memories").iterdir()] == [
        files.folder_name(SHOP)
    ]


def test_a_forgotten_turn_is_taken_out_of_the_memory(talks: Talks) -> None:
    """The rest of its session is distilled again."""
    fill(talks)
    talks.memory.old.distill()

    talks.memory.store.forget("codex:a#1")

    assert "tabs" not in "".join(found(talks.memory).values())
    talks.memory.old.distill()
    assert "codex:a#2" in (Path(talks.memory.old.memory_folder(SHOP)) / "MEMORY.md").read_text()


# Distils, and kills itself at the given call of the given function.
KILLED = """
import os, signal, sys
from importlib import import_module
from recollect.memory import Memory

path, module, name, number = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
*owners, name = name.split(".")
owner = import_module(module)
for one in owners:
    owner = getattr(owner, one)
original, calls = getattr(owner, name), []

def deadly(*args, **options):
    calls.append(name)
    if len(calls) == number:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*args, **options)

setattr(owner, name, deadly)
with Memory.open(path) as memory:
    memory.old.distill()
"""


@pytest.mark.store
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(
    ("module", "name", "number"),
    [
        ("recollect.store.sqlite.old.sql.digests", "save", 2),
        ("recollect.store.sqlite.old.sql.traces", "save", 1),
        ("recollect.store.sqlite.old.sql.traces", "save", 3),
        ("recollect.distill.memories.consolidate", "compose", 1),
        ("recollect.store.sqlite.old.sql.traces", "publish", 2),
        ("recollect.distill.memories.files", "write", 1),
        ("recollect.distill.memories.files", "write", 2),
        ("os", "replace", 1),
        ("os", "replace", 4),
        ("recollect.store.sqlite.leases", "Leases.release", 1),
    ],
)
def test_killed_in_any_phase_the_next_run_finishes_it(
    talks: Talks, module: str, name: str, number: int
) -> None:
    """Power fails. The memory is in the end what it would have been, with
    no half file and no row too many.
    """
    fill(talks)
    script = [sys.executable, "-c", KILLED, str(talks.filled.path), module, name, str(number)]
    process = subprocess.run(script, capture_output=True, check=False, env=os.environ)
    assert process.returncode == -signal.SIGKILL, process.stderr.decode()

    talks.memory.old.distill()
    # Ten minutes later.
    talks.store.db.execute("update leases set held_until = 1")
    talks.memory.old.distill()

    after, rows = found(talks.memory), publications(talks)
    assert talks.memory.old.distill().candidates == 0
    for table in ("traces", "publications", "consolidations"):
        talks.store.db.execute(f"delete from {table}")
    talks.memory.old.distill()
    assert after == found(talks.memory)
    assert sorted(rows) == sorted(publications(talks))


def test_a_salvaged_store_keeps_its_memories(talks: Talks, tmp_path: Path) -> None:
    """What a model was paid for, and every published version, is in no log."""
    fill(talks)
    talks.memory.old.distill()
    before, rows = found(talks.memory), publications(talks)
    kept = talks.memory.old.trace("codex:a")
    talks.close()
    path = talks.filled.path
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    with Memory.open(path) as memory:
        root = memory._shared.store().db.value(
            "select rootpage from sqlite_schema where name = 'jobs_due'"
        )
    data[(root - 1) * size : root * size] = bytes(size)
    path.write_bytes(data)

    with Memory.open(path) as memory:
        report = memory.store.repair()
        memory.jobs.work()

        assert not report.sound
        assert memory.old.trace("codex:a") == kept
        assert found(memory) == before
        assert (
            memory._shared.store().db.rows(
                "select name, gone_at is null, sessions from publications order by id"
            )
            == rows
        )
