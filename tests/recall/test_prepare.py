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
from recollect.recall.telling import CLOSING, OPENING
from recollect.store.sqlite.old.sql.prepared import outdate
from recollect.store.sqlite.old.sql.unready import tell_nothing
from recollect.store.told import Told

from recollect.memory import Memory
from recollect.recall.pack import MOST_NOTES
from recollect.redact import Redactor
from tests.builders.homes import claude_log, memory
from tests.builders.hooks import SHOP, passed_command, told
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
        "tellings": "select key, ref, line, at from tellings left join projects on projects.id = "
        "project",
        "words": "select ref, word from telling_words join tellings on tellings.id = telling",
    }
    return {name: sorted(db.rows(sql), key=repr) for name, sql in queries.items()}


def from_scratch(mind: Memory) -> dict[str, list[tuple[Any, ...]]]:
    """What is ready when all of it is made anew, by nobody but us."""
    db = mind._shared.store().db
    with db.transaction():
        tell_nothing(db)
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

    assert (
        told(home, "SessionStart") == [line.text for line in mind.recall(folder=SHOP).lines] != []
    )
    assert [job.kind for job in mind.jobs.all() if job.kind == "prepare"] == []


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

    note = mind.old.remember("the staging secret is rotated on Mondays", folder=SHOP, by="person")

    assert prepare(mind) == []
    assert told(home, "SessionStart")[0].endswith(
        "note:1: project “the staging secret is rotated on Mondays”"
    )
    assert (
        told(home, "UserPromptSubmit", prompt="when is the staging secret rotated, on Mondays?")[
            0
        ].split()[2]
        == f"{note.ref}:"
    )


def test_a_note_for_every_project_is_told_in_every_one(home: Path, remember: Remember) -> None:
    """Also in those that nothing else happened in."""
    mind = remember(shop(), orchard())
    prepare(mind)

    mind.old.remember("answer in British English at all times", everywhere=True, by="person")

    assert prepare(mind) == []
    assert all("British" in told(home, "SessionStart", cwd=folder)[0] for folder in (SHOP, ORCHARD))


def test_a_project_that_has_notes_and_no_logs_is_told_them(home: Path, remember: Remember) -> None:
    """Somebody may begin with the rules of the house; the second one counts as well."""
    mind = remember()
    told_each_time = []
    for text in (
        "commit messages are written in the present tense",
        "the main branch is called trunk",
    ):
        mind.old.remember(text, folder="/srv/new", by="person")
        told_each_time.append(
            [line.split()[2] for line in told(home, "SessionStart", cwd="/srv/new")]
        )

    assert told_each_time == [["note:1:"], ["note:2:", "note:1:"]]
    assert prepare(mind) == []


def test_what_an_agent_noted_is_told_once_a_person_accepts_it(
    home: Path, remember: Remember
) -> None:
    """A candidate is never told unasked."""
    mind = remember(shop())
    note = mind.old.remember(
        "the warehouse sleeps at night, load it by day", folder=SHOP, by="agent"
    )
    prepare(mind)
    as_candidate = everything_said(mind)

    mind.old.accept_note(note.ref)
    prepare(mind)

    assert "sleeps" not in as_candidate
    assert "sleeps" in told(home, "SessionStart")[0]


taken_back = pytest.mark.parametrize(
    "change",
    [
        lambda mind, ref: mind.old.reject_note(ref),
        lambda mind, ref: mind.old.edit_note(ref, "the warehouse never rests"),
        lambda mind, ref: mind.old.forget_note(ref),
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
    note = mind.old.remember(
        "the warehouse sleeps at night, load it by day",
        folder=folder,
        everywhere=folder is None,
        by="person",
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
    note = mind.old.remember(
        "the warehouse sleeps at night, load it by day", folder=SHOP, by="person"
    )
    store = mind._shared.store()
    number = store.projects.number(SHOP)
    assert number is not None
    begun = store.old.begin_preparing(number)

    change(mind, note.ref)
    store.old.save_tellings(number, begun, [(Told(note.ref, "the warehouse sleeps", 1), "sleeps")])
    store.old.save_pack(number, begun, "the warehouse sleeps", note.ref)

    assert "sleeps" not in everything_said(mind)
    assert prepare(mind) == []


def test_the_newest_notes_are_told_at_the_start_and_the_others_when_they_are_called_up(
    home: Path, remember: Remember
) -> None:
    """A start has room for a few."""
    mind = remember(shop())
    for number in range(MOST_NOTES + 2):
        mind.old.remember(
            f"shelf number {number} holds the {'abcdefghijklm'[number] * 7} and the zebra boxes",
            folder=SHOP,
            by="person",
        )
    prepare(mind)

    start = [line for line in told(home, "SessionStart") if " note:" in line]
    called = told(
        home, "UserPromptSubmit", prompt="which shelf holds the aaaaaaa and the zebra boxes?"
    )

    assert [line.split()[2] for line in start] == [
        f"note:{number}:" for number in range(MOST_NOTES + 2, 2, -1)
    ]
    assert called[0].split()[2] == "note:1:"


# What is not to be told any more


def test_nothing_of_a_forgotten_session_is_ready_any_more(home: Path, remember: Remember) -> None:
    """Not in a table, not in the bytes of a file, and not after the next preparation."""
    mind = remember(shop(), Work(3).ask("round the totals of an invoice half up").run("ls"))
    prepare(mind)
    words = ("webhook", "warehouse", "duckdb", "uv run pytest")
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
    assert [line.split("“")[1].split("”")[0] for line in told(home, "SessionStart")] == [
        "round the totals of an invoice half up"
    ]


def test_a_forgotten_turn_is_not_quoted_by_others(home: Path, remember: Remember) -> None:
    """A reminder names what was done between a failure and a success,
    which may be in a turn of its own.
    """
    work = (
        Work()
        .ask("run the loader of the warehouse")
        .run("python load.py", "KeyError: no such setting 'canary'", code=1)
    )
    work.ask("set it in canary settings, then").edit("/home/ada/shop/canary-settings.toml").done()
    work.ask("and run the loader once more").run("python load.py", "loaded")
    mind = remember(work)
    prepare(mind)
    assert "canary-settings.toml was changed" in everything_said(mind)

    mind.store.forget(f"{work.ref}#2")

    at_once = everything_said(mind)
    prepare(mind)
    assert "canary-settings" not in at_once + everything_said(mind)
    assert b"canary-settings" not in Path(mind.settings.store).read_bytes()


def test_a_secret_that_is_found_later_is_not_told_any_more(home: Path, remember: Remember) -> None:
    """The table of shapes grows; what was made ready before that still had it."""
    token = "ghp_" + "a8Kd0Zq2Lw9Xv4Bn6Mt1Rc3Ye5Uj7Hs0Pf2G"
    work = (
        Work()
        .ask(f"log in to the package index with {token} please")
        .run(f"ghx login {token}", "command not found", code=127)
    )
    mind = remember(work.run(f"gh login {token}", "ok"))
    mind.old.remember(f"the index is opened by {token}", folder=SHOP, by="person")
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

    assert merged == told(home, "SessionStart", cwd=SHOP) + told(home, "SessionStart", cwd=ORCHARD)
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

        assert [line.split("“")[1].split()[0] for line in lines] == ["water", "plant"]
        assert {row[0] for row in ready(later)["tellings"]} == {"github.com/ada/garden"}


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
    block = f"{OPENING}\n- codex:cafe01#1: asked “what”\n{CLOSING}"
    mind = remember(Work(1).ask(f"{block}\n{WEBHOOK}").run("ls").ask(f"{block}\ngo on").run("make"))

    prepare(mind)

    assert [row[1] for row in ready(mind)["tellings"]] == [f"{Work(1).ref}#1"]
    assert {"recal", "cafe01"}.isdisjoint(word for _, word in ready(mind)["words"])


def test_a_repaired_store_is_prepared_again(home: Path, remember: Remember) -> None:
    """What can be made again is not salvaged; what was offered to whom cannot, and is."""
    mind = remember(shop(), orchard())
    mind.jobs.work()
    told(home, "PreToolUse", passed_command("pytest -q"))
    fired = mind.injections.hook_runs()
    db = mind._shared.store().db
    before, offered = ready(mind), db.rows("select * from recalls")
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
    assert (mind.injections.hook_runs(), mind._shared.store().db.rows("select * from recalls")) == (
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
    assert mind._shared.store().db.rows("select project, refs from recalls") == [
        (None, f"{shop().ref}#1")
    ]


# Disturbances

PREPARER = """
import sys
from recollect.memory import Memory
from recollect.settings import Settings
import recollect.recall.prepare, recollect.distill.notes.corroborate

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

    killed, db = 0, mind._shared.store().db
    with db.transaction():
        outdate(db)
    process, begun = preparer(mind), time.monotonic()
    process.communicate()
    whole = time.monotonic() - begun
    for round in range(20):
        with db.transaction():
            outdate(db)
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
