"""What hooks tell is made ready: for what changed and nothing else, and for
nothing that is not to be told any more.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.memory import Memory
from recollect.recall.hooks.frame import closing, opening
from recollect.redact import Redactor
from recollect.store.hook_lines import HookLine
from tests.builders.homes import claude_log, memory
from tests.builders.hooks import SHOP, passed_command, told, within_frame
from tests.builders.work import Remember, Work

ORCHARD = "/home/kim/orchard"
WEBHOOK = "why does the webhook signature check fail in staging?"


def shop(number: int = 1, **envelope: str) -> Work:
    """Work that leaves something in every table."""
    return (
        Work(number, **envelope)
        .ask(WEBHOOK)
        .run("pytest -q hooks", "bash: pytest: command not found", code=127)
        .run("uv run pytest -q hooks", "3 passed")
        .ask("load the customers into the warehouse")
        .run("python load.py", "ModuleNotFoundError: No module named 'duckdb'", code=1)
        .run("uv add duckdb", "added")
        .run("python load.py", "loaded")
    )


def orchard(number: int = 2) -> Work:
    return (
        Work(number, cwd=ORCHARD)
        .ask("prune the apple trees before the frost")
        .run("./plan.sh", "planned")
    )


def prepare(mind: Memory) -> list[str]:
    return list(mind.make_ready())


def ready(mind: Memory) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that is ready to be told, in any order, without the
    numbers and times of its making.
    """
    db = mind._shared.store().db
    queries = {
        "packs": "select key, text, refs from packs join projects on projects.id = packs.project "
        "where made_at > 0",
        "reminders": "select key, r.kind, word, shape, line, refs, at from reminders r join "
        "projects on projects.id = project",
        "lines": "select key, ref, line, at, place, facts from prompt_lines "
        "left join projects on projects.id = project",
        "counts": "select word, lines from prompt_word_counts",
    }
    found = {name: sorted(db.rows(sql), key=repr) for name, sql in queries.items()}
    places = db.rows("select coalesce(project, 0), place, ref from prompt_lines")
    refs = {(project, place): ref for project, place, ref in places}
    found["words"] = sorted(
        (refs[project, posting >> 16], word, posting & 0xFFFF)
        for project, word, lines in db.rows("select project, word, lines from prompt_words")
        for posting in memoryview(lines).cast("I")
    )
    return found


def from_scratch(mind: Memory) -> dict[str, list[tuple[Any, ...]]]:
    """What is ready when all of it is made anew, by nobody but us."""
    store = mind._shared.store()
    with store.transaction():
        store.hook_lines.clear()
        store.notes.outdate(None)
    prepare(mind)
    return ready(mind)


def everything_said(mind: Memory) -> str:
    return repr(ready(mind))


# Only what changed


def test_only_projects_with_news_are_prepared_again(home: Path, remember: Remember) -> None:
    """It runs after every session, and a year of projects may be stored."""
    mind = remember(shop(), orchard())
    first, second = prepare(mind), prepare(mind)
    claude_log(
        home,
        Work(3, cwd=ORCHARD).ask("water the apple trees every evening").run("ls").talk,
        project="-work-3",
    )
    mind.import_logs()
    third, fourth = prepare(mind), prepare(mind)

    assert (sorted(first), second, third, fourth) == ([SHOP, ORCHARD], [], [ORCHARD], [])
    assert "every evening" in everything_said(mind)


def test_an_import_asks_for_it_and_work_does_it(home: Path, remember: Remember) -> None:
    """Nobody has to know about it."""
    mind = remember(shop())

    mind.jobs.work()

    assert told(home, "SessionStart") == within_frame(mind.recall(folder=SHOP).text) != []
    assert [job.kind for job in mind.jobs.all() if job.kind == "remember"] == []


def test_it_can_be_left_in_between(remember: Remember) -> None:
    """A laptop closes; the next run does the rest, and what is done stays."""
    mind = remember(shop(), orchard())

    run = mind.make_ready()
    first = next(run)
    run.close()  # type: ignore[attr-defined]
    rest = prepare(mind)

    assert sorted([first, *rest]) == [SHOP, ORCHARD]
    assert ready(mind) == from_scratch(mind)


# Notes


def test_a_note_is_told_at_once(home: Path, remember: Remember) -> None:
    """Whoever writes one down tries it in the next session; no job has to run before."""
    mind = remember(shop(), orchard())
    prepare(mind)

    note = mind.notes.add("the staging secret is rotated on Mondays", folder=SHOP)

    asked = told(home, "UserPromptSubmit", prompt="when is the staging secret rotated, on Mondays?")
    assert "- the staging secret is rotated on Mondays" in told(home, "SessionStart")
    assert asked[0].split()[2] == f"{note.ref}:"


def test_a_note_for_every_project_is_told_in_every_one(home: Path, remember: Remember) -> None:
    """Also in those that nothing else happened in."""
    mind = remember(shop(), orchard())
    prepare(mind)

    mind.notes.add("answer in British English at all times", everywhere=True)
    prepare(mind)

    for folder in (SHOP, ORCHARD):
        assert "British" in "".join(told(home, "SessionStart", cwd=folder))


def test_what_an_agent_noted_is_told_once_a_person_accepts_it(
    home: Path, remember: Remember
) -> None:
    """A candidate is never told unasked."""
    mind = remember(shop())
    note = mind.notes.add("the warehouse sleeps at night", folder=SHOP, by="agent")
    prepare(mind)
    as_candidate = everything_said(mind)

    mind.notes.accept(note.ref)

    assert "sleeps" not in as_candidate
    assert "- the warehouse sleeps at night" in told(home, "SessionStart")


def test_what_did_more_harm_than_good_is_not_told(home: Path, remember: Remember) -> None:
    """By what people and agents say of it; it stays a note."""
    mind = remember(shop())
    note = mind.notes.add("the warehouse sleeps at night", folder=SHOP)
    for _ in range(3):
        mind.injections.give_feedback(note.ref, False)
    prepare(mind)

    assert "sleeps" not in "".join(told(home, "SessionStart"))
    assert mind.notes.get(note.ref).status == "active"


taken_back = pytest.mark.parametrize(
    "change",
    [
        lambda mind, ref: mind.notes.reject(ref),
        lambda mind, ref: mind.notes.edit(ref, "the warehouse never rests"),
        lambda mind, ref: mind.notes.forget(ref),
    ],
    ids=["rejected", "edited", "forgotten"],
)


@pytest.mark.parametrize("folder", [SHOP, None], ids=["of a project", "for every project"])
@taken_back
def test_a_note_that_no_longer_holds_is_not_told_from_that_moment_on(
    home: Path, remember: Remember, change: Callable[[Memory, str], Any], folder: str | None
) -> None:
    """Not only after the next job."""
    mind = remember(shop())
    note = mind.notes.add(
        "the warehouse sleeps at night, load it by day", folder=folder, everywhere=folder is None
    )
    prepare(mind)
    assert "sleeps" in everything_said(mind)

    change(mind, note.ref)
    at_once = everything_said(mind), told(home, "SessionStart")
    prepare(mind)

    assert "sleeps" not in repr(at_once)
    assert "sleeps" not in everything_said(mind)
    assert told(home, "SessionStart") != []


@taken_back
def test_a_note_that_is_taken_back_while_it_is_prepared_is_not_told(
    remember: Remember, change: Callable[[Memory, str], Any]
) -> None:
    """The job has read it already, and saves what it made of it after that."""
    mind = remember(shop())
    prepare(mind)
    note = mind.notes.add("the warehouse sleeps at night, load it by day", folder=SHOP)
    store = mind._shared.store()
    number = store.projects.number(SHOP)
    assert number is not None
    begun = store.hook_lines.begin(number)

    change(mind, note.ref)
    lines = [(HookLine(note.ref, "the warehouse sleeps", 1), "sleeps")]
    store.hook_lines.save_prompt_lines(number, begun, lines)
    store.hook_lines.save_pack(
        number, begun, "the warehouse sleeps", [note.ref], compact="", compact_refs=[], long=""
    )

    assert "sleeps" not in everything_said(mind)


def test_the_budget_of_a_setting_is_kept_and_the_first_lines_stay(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the frame; a shorter pack is a better one."""
    claude_log(home, shop().talk, project="-work-1")
    with memory(home, recall__pack_tokens=120) as mind:
        mind.import_logs()
        for number in range(12):
            mind.notes.add(f"shelf {number} holds {'abcdefghijkl'[number] * 30} boxes", folder=SHOP)
        prepare(mind)
        pack = mind.recall(folder=SHOP)
        whole = mind.remember(folder=SHOP)

    assert whole is not None
    assert 60 < pack.tokens <= 120
    assert within_frame(pack.text) == whole.pack.split("\n")
    assert 0 < len(pack.lines) < 12


# What is not to be told any more


def test_nothing_of_a_forgotten_session_is_ready_any_more(home: Path, remember: Remember) -> None:
    """Not in a table, not in the bytes of a file, and not after the next preparation."""
    mind = remember(shop(), Work(3).ask("round the totals of an invoice half up").run("ls"))
    prepare(mind)
    words = ("webhook", "warehouse", "uv run pytest")
    assert all(word in everything_said(mind) for word in words)

    mind.store.forget(shop().ref)

    at_once = everything_said(mind)
    in_files = [
        path.name
        for path in (home / ".recollect").iterdir()
        for word in words
        if word.encode() in path.read_bytes()
    ]
    prepare(mind)
    assert not any(word in at_once + everything_said(mind) for word in words)
    assert in_files == []
    assert told(home, "PreToolUse", passed_command("pytest -q")) == []


def test_a_secret_that_is_found_later_is_not_told_any_more(home: Path, remember: Remember) -> None:
    """The table of shapes grows; what was made ready before that still had it."""
    token = "ghp_" + "a8Kd0Zq2Lw9Xv4Bn6Mt1Rc3Ye5Uj7Hs0Pf2G"
    work = (
        Work()
        .ask(f"log in to the package index with {token} please")
        .run(f"ghx login {token}", "command not found", code=127)
    )
    mind = remember(work.run(f"gh login {token}", "ok"))
    prepare(mind)
    assert token in everything_said(mind)

    store = mind._shared.store()
    store.rescan.run(Redactor(store.upkeep.redaction_key()))

    at_once = everything_said(mind)
    prepare(mind)
    assert token not in at_once + everything_said(mind)
    assert all(token.encode() not in path.read_bytes() for path in (home / ".recollect").iterdir())
    assert told(home, "SessionStart") != []


def test_merged_projects_are_told_together_and_split_ones_apart(
    home: Path, remember: Remember
) -> None:
    """Memories of one project are never told in another."""
    mind = remember(shop(), orchard())
    prepare(mind)
    apart = ready(mind)

    mind.projects.merge(ORCHARD, SHOP)
    prepare(mind)
    merged = told(home, "SessionStart", cwd=ORCHARD)
    mind.projects.split(ORCHARD)
    at_once = told(home, "SessionStart", cwd=SHOP), told(home, "SessionStart", cwd=ORCHARD)
    prepare(mind)

    assert "plan.sh" in "".join(merged)
    assert "uv run pytest" in "".join(merged)
    assert at_once == ([], [])
    assert ready(mind) == apart


def test_a_folder_that_turns_out_to_be_a_repository_keeps_its_memories(
    home: Path, remember: Remember, tmp_path: Path
) -> None:
    """`git init` after the first session: what was learned before
    is told under the new name, once.
    """
    folder = tmp_path / "garden"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git").rename(tmp_path / "git")
    mind = remember(Work(1, cwd=str(folder)).ask("plant the tulips along the fence").run("ls"))
    prepare(mind)
    (tmp_path / "git").rename(folder / ".git")
    (folder / ".git" / "config").write_text(
        '[remote "origin"]\nurl = git@github.com:ada/garden.git\n'
    )
    claude_log(
        home,
        Work(2, cwd=str(folder)).ask("water the tulips along the fence").run("ls").talk,
        project="-work-2",
    )
    with memory(home) as later:
        later.import_logs()
        prepare(later)

        lines = told(home, "SessionStart", cwd=str(folder))

        assert lines
        assert {row[0] for row in ready(later)["lines"]} == {"github.com/ada/garden"}


def test_a_project_whose_logs_nobody_knows_any_more_is_prepared(remember: Remember) -> None:
    """A repair may have lost which file a session came from; the session is there."""
    mind = remember(shop())
    db = mind._shared.store().db
    db.execute("update sessions set source = null")

    assert prepare(mind) == [SHOP]
    assert prepare(mind) == []


def test_what_came_back_with_a_prompt_does_not_call_it_up(remember: Remember) -> None:
    """Hosts write what we told them into the prompt.

    The mark that is left of it is nobody's words.
    """
    block = "\n".join([opening("mal23ory"), "- codex:cafe01#1: asked “what”", closing("mal23ory")])
    mind = remember(Work(1).ask(f"{block}\n{WEBHOOK}").run("ls").ask(f"{block}\ngo on").run("make"))

    prepare(mind)

    words = {(ref, word) for ref, word, _ in ready(mind)["words"] if "#" in ref}
    assert {ref for ref, _ in words} == {f"{Work(1).ref}#1", f"{Work(1).ref}#2"}
    assert {"recal", "cafe01"}.isdisjoint(word for _, word in words)


def test_a_repaired_store_is_prepared_again(home: Path, remember: Remember) -> None:
    """What can be made again is not salvaged; what was offered to whom cannot, and is."""
    mind = remember(shop(), orchard())
    mind.jobs.work()
    told(home, "PreToolUse", passed_command("pytest -q"))
    fired = mind.injections.hook_runs()
    db = mind._shared.store().db
    before, offered = ready(mind), db.rows("select * from injections")
    size, page = (
        db.value("pragma page_size"),
        db.value("select rootpage from sqlite_schema where name = 'packs'"),
    )
    mind.close()
    with open(mind.settings.store, "r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)

    mind.store.repair()
    mind.jobs.work()

    assert ready(mind) == before
    assert (
        mind.injections.hook_runs(),
        mind._shared.store().db.rows("select * from injections"),
    ) == (
        fired,
        offered,
    )
    assert len(offered) == 1


def test_what_was_offered_does_not_keep_a_project_from_being_forgotten(
    home: Path, remember: Remember
) -> None:
    """The record stays, without a place."""
    mind = remember(shop())
    prepare(mind)
    told(home, "PreToolUse", passed_command("pytest -q"))
    mind.injections.hook_runs()

    mind.store.forget(shop().ref)

    assert mind.projects.all() == []
    ((project, refs),) = mind._shared.store().db.rows("select project, refs from injections")
    assert project is None
    assert refs.startswith("note:")


# Disturbances

PREPARER = """
import sys
from recollect.memory import Memory
from recollect.settings import Settings
import recollect.recall.hooks.lines, recollect.distill.remember

print("ready", flush=True)
with Memory(Settings(sys.argv[1], sys.argv[2], {})) as memory:
    print(*memory.make_ready())
"""


def preparer(mind: Memory) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", PREPARER, mind.settings.home, mind.settings.store]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def many(sessions: int = 24) -> list[Work]:
    return [shop(number, cwd=f"/home/ada/shop{number % 6}") for number in range(1, sessions + 1)]


@pytest.mark.store
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_killed_at_any_moment_the_next_run_makes_the_same(remember: Remember) -> None:
    """Power fails, and jobs are started by hooks of agents that are closed."""
    mind = remember(*many())
    prepare(mind)
    undisturbed = ready(mind)

    killed, store = 0, mind._shared.store()
    with store.transaction():
        store.hook_lines.outdate()
    process, begun = preparer(mind), time.monotonic()
    process.communicate()
    whole = time.monotonic() - begun
    for round in range(20):
        with store.transaction():
            store.hook_lines.outdate()
        process = preparer(mind)
        time.sleep(whole * round / 20)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
    prepare(mind)

    assert killed > 5
    assert ready(mind) == undisturbed
    assert prepare(mind) == []


def test_two_at_once_make_what_one_makes(remember: Remember) -> None:
    """Two agents stop at the same moment, and each starts the jobs."""
    mind = remember(*many(12))
    processes = [preparer(mind), preparer(mind)]
    ended = [process.communicate() for process in processes]
    at_first = ready(mind)

    assert [
        (process.returncode, err) for process, (_, err) in zip(processes, ended, strict=True)
    ] == [(0, b"")] * 2
    assert prepare(mind) == []
    assert from_scratch(mind) == at_first
