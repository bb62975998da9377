"""recollect retain, and what is said of turns whose events were let go."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from recollect.memory import Memory
from recollect.serve.background import leave_work
from recollect.serve.cli import main
from recollect.serve.mcp.pages import read
from recollect.system import platforms
from recollect.system.clock import now_ms
from tests.builders.homes import add_turn, chat, claude_log, claude_path

SESSION = "claude-code:5e551011-0000-4000-8000-000000000001"


def talk_of(turns: int) -> Any:
    """A conversation with long outputs that do not compress to nothing."""
    talk = chat(1)
    for number in range(turns):
        add_turn(talk, f"1-{number}", "about the migration")
        noise = Random(number).randbytes(1_500).hex()
        talk.call("Bash", {"command": f"dump {number}"}, f"toolu_dump_{number}")
        talk.result(
            f"toolu_dump_{number}", noise, {"stdout": noise, "stderr": "", "interrupted": False}
        )
        talk.reply(f"dumped {number}")
    return talk


@pytest.fixture
def mind(home: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """The memory of a home with one session of ten turns, imported and digested."""
    claude_log(home, talk_of(10))
    monkeypatch.setenv("RECOLLECT_HOME", str(home / ".recollect"))
    mind = Memory.open()
    mind.import_logs()
    list(mind.digest_new())
    return mind


def limited(mind: Memory, **limits: int) -> Memory:
    """The same memory with limits in its settings."""
    mind.close()
    path = Path(mind.settings.home) / "config.toml"
    path.write_text("[retain]\n" + "".join(f"{name} = {limit}\n" for name, limit in limits.items()))
    return Memory.open()


def evicted(mind: Memory) -> list[int]:
    detail: Any = mind.show(SESSION)
    return [turn.ordinal for turn in detail.turn_list if turn.evicted_at]


def test_without_limits_nothing_goes(mind: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody loses anything who has not asked for it."""
    assert main(["retain"]) == 0

    assert capsys.readouterr().out.startswith("Nothing to remove. Events take ")
    assert evicted(mind) == []


def test_a_dry_run_leaves_the_file_as_it_is(
    mind: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    """To the byte; what it says is what the run then does."""
    mind = limited(mind, raw_max_age_days=1)
    mind.close()
    store = Path(mind.settings.store)
    before = store.read_bytes()

    assert main(["retain", "--dry-run", "--json"]) == 0
    planned = json.loads(capsys.readouterr().out)
    unchanged = store.read_bytes() == before
    assert main(["retain", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)

    assert unchanged
    assert done["evicted"] == {"age": 10, "soft": 0, "hard": 0}
    assert {**planned, "dry_run": False, "given_back": done["given_back"]} == done


def test_an_import_leaves_the_budget_to_a_job(mind: Memory, home: Path) -> None:
    """Whoever imports does not wait for it, and need not think of it."""
    mind = limited(mind, raw_max_age_days=1)
    claude_log(home, talk_of(11))

    mind.import_logs()
    waiting = {job.kind for job in mind.jobs.all()}
    mind.jobs.work()

    assert "retain" in waiting
    assert evicted(mind) == list(range(1, 12))
    assert mind.jobs.all() == []


def test_what_has_no_digest_gets_one_before_it_goes(mind: Memory, home: Path) -> None:
    """Even the hard cap finds everything distilled, so that nothing is lost."""
    claude_log(home, talk_of(12))
    mind = limited(mind, raw_hard_cap_bytes=1)
    mind.import_logs()

    (*_, report) = mind.store.retain()

    assert (report.evicted["hard"], report.data_loss) == (12, 0)


def test_a_session_is_listed_shown_and_found_afterwards(mind: Memory) -> None:
    """The archive still answers: what was asked, what it came to, and what was remembered."""
    mind.notes.add("the migration runs at night", everywhere=True)
    before = [
        (row.id, row.title, row.turns, row.tool_calls, row.tokens, row.summary)
        for row in mind.sessions()
    ]
    mind = limited(mind, raw_max_age_days=1)
    list(mind.store.retain())

    assert evicted(mind) == list(range(1, 11))
    assert [
        (row.id, row.title, row.turns, row.tool_calls, row.tokens, row.summary)
        for row in mind.sessions()
    ] == before
    assert {hit.session for hit in mind.search("question migration", mode="text")} == {SESSION}
    assert mind.digest(SESSION).tasks != []
    assert [note.text for note in mind.notes.search()] == ["the migration runs at night"]
    assert [finding for finding in mind.store.doctor(verify=True).findings if not finding.ok] == []


def test_every_verb_still_answers(mind: Memory, home: Path) -> None:
    """With less to tell, perhaps with nothing, but without a fault."""
    talk = chat(2)
    talk.user("why does the build fail")
    talk.call(
        "Edit",
        {"file_path": "/home/ada/shop/door.py", "old_string": "a", "new_string": "b" * 3_000},
        "toolu_e",
    )
    talk.result("toolu_e", "edited", {"filePath": "/home/ada/shop/door.py"})
    talk.call("Bash", {"command": "make door"}, "toolu_f")
    talk.result("toolu_f", "Exit code 2\nKeyError: 'lintel'", "Error: Exit code 2", error=True)
    talk.call("Bash", {"command": "make door"}, "toolu_g")
    talk.result(
        "toolu_g", "built " * 999, {"stdout": "built " * 999, "stderr": "", "interrupted": False}
    )
    talk.reply("mended")
    claude_log(home, talk)
    mind = limited(mind, raw_max_age_days=1)
    mind.import_logs()
    mind.jobs.work()

    (change,) = mind.blame("door.py", folder="/home/ada/shop")
    assert (change.prompt, change.ok) == ("why does the build fail", True)
    assert [found.failed for found in mind.fix("KeyError: 'lintel'")] == ["make door"]
    assert [way.ok for way in mind.how("make", everywhere=True)] == [1]
    assert list(mind.friction(sessions=1)) != []
    # A rule is told at a session's start, whatever became of the session it was learned in.
    mind.notes.add("make door wants a lintel", folder="/home/ada/shop")
    assert "make door wants a lintel" in mind.recall(folder="/home/ada/shop").text


def test_showing_says_what_is_kept_and_where_the_log_is(
    mind: Memory, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Agents delete their logs after a while; until then everything can still be read there."""
    mind = limited(mind, raw_max_age_days=1)
    list(mind.store.retain())
    log = claude_path(home, SESSION.partition(":")[2])

    main(["show", f"{SESSION}#1"])
    with_log = capsys.readouterr().out
    log.unlink()
    main(["show", f"{SESSION}#1"])
    without = capsys.readouterr().out

    assert f"the whole turn is still in the agent's log, {log})" in with_log
    assert "the agent's log is gone too)" in without
    assert "> question 1-0 about the migration" in without


def test_an_agent_is_told_that_there_was_more(mind: Memory) -> None:
    """It would take a call without output for one that said nothing."""
    mind = limited(mind, raw_max_age_days=1)
    list(mind.store.retain())

    page, following = read(mind, f"{SESSION}#1", None)

    assert following is None
    assert page.hits[-1]["text"] == (
        "(this turn was shortened to save space: inputs and outputs of its calls were removed;"
        " the agent's own log still has all of it, `recollect show` says where)"
    )


def test_alerts_go_to_the_person(mind: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    """Not into the answer, which a program may read."""
    limited(mind, distilled_cap_bytes=1).close()

    assert main(["retain", "--json"]) == 0

    told = capsys.readouterr()
    assert "more than retain.distilled_cap_bytes (1)" in told.err
    assert json.loads(told.out)["alerts"] == [told.err.strip()]


def test_no_process_is_started_for_work_that_is_not_due(
    mind: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that is too fresh to be distilled leaves a job for later, and every
    import would start a process for it.
    """
    started: list[list[str]] = []
    monkeypatch.setattr(
        platforms, "spawn_detached", lambda command, *, gently, environ: started.append(command)
    )
    mind.jobs.work()
    store = mind._shared.store()
    store.jobs.mark("session quiet", at=now_ms() + 3_600_000)

    leave_work(mind)
    in_vain = len(started)
    store.jobs.mark("imported much")
    leave_work(mind)

    assert (in_vain, [command[4] for command in started]) == (0, ["jobs"])
    assert [job.kind for job in mind.jobs.all()] == ["optimize", "engine"]


def test_room_is_said_when_there_are_limits(
    mind: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever set a limit wants to see how far off it is, without a command of its own."""
    main(["--json"])
    unlimited = json.loads(capsys.readouterr().out)
    limited(
        mind,
        raw_soft_cap_bytes=2_000_000,
        raw_hard_cap_bytes=3_000_000,
        raw_max_age_days=90,
        distilled_cap_bytes=10**6,
    )

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    main([])
    told = capsys.readouterr().out
    main(["--json"])
    room = json.loads(capsys.readouterr().out)["room"]

    assert unlimited["room"] is None
    assert "\nEvents take 0.0 MB (soft cap 2.0 MB, hard cap 3.0 MB, 90 days), digests, " in told
    assert (room["raw_soft_cap_bytes"], room["raw_max_age_days"]) == (2_000_000, 90)
    assert room["raw_bytes"] > 10_000


@pytest.mark.parametrize(
    ("limits", "hint"),
    [
        ({"raw_soft_cap_bytes": 1}, ""),
        ({"raw_hard_cap_bytes": 1}, "Try: recollect retain"),
        (
            {"distilled_cap_bytes": 1},
            "Forget what you do not need, or raise retain.distilled_cap_bytes.",
        ),
    ],
)
def test_doctor_looks_at_the_budget(mind: Memory, limits: dict[str, int], hint: str) -> None:
    """A hard cap that is not kept to, and a cap that is only said, want somebody's attention."""
    assert [
        finding.name for finding in mind.store.doctor().findings if finding.name == "budget"
    ] == []

    health = limited(mind, **limits).store.doctor()

    (found,) = [finding for finding in health.findings if finding.name == "budget"]
    assert (found.ok, found.hint, health.ok) == (not hint, hint, not hint)


_SLOWLY = """
import sys
from recollect.memory import Memory
from recollect.retain import budgets
budgets.BATCH_TURNS = 1
with Memory.open() as memory:
    for report in memory.store.retain():
        print(report.evicted["age"], flush=True)
        sys.stdin.readline()
"""


@pytest.mark.store
def test_killed_at_any_moment_the_next_run_goes_on(mind: Memory) -> None:
    """What is gone is gone once, what is not is whole, and the store is well."""
    mind = limited(mind, raw_max_age_days=1)
    mind.close()
    for wanted in (1, 2, 3):
        process = subprocess.Popen(
            [sys.executable, "-c", _SLOWLY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        # The next batch is on its way.
        process.stdin.write("\n")
        time.sleep(0.002 * wanted)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    mind = Memory.open()
    gone = len(evicted(mind))

    (*_, report) = mind.store.retain()

    assert 3 <= gone < 10
    assert report.evicted["age"] == 10 - gone
    assert [finding for finding in mind.store.doctor(verify=True).findings if not finding.ok] == []


def _beside(arguments: list[str], told: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "recollect", *arguments], input=told, capture_output=True, text=True
    )


def test_others_are_served_while_a_run_goes_on(mind: Memory, home: Path) -> None:
    """Agents work all the time: their hooks answer, and what they write
    comes in, whatever we tidy up meanwhile.
    """
    claude_log(home, talk_of(20))
    mind.import_logs()
    list(mind.digest_new())
    mind = limited(mind, raw_max_age_days=1)
    mind.close()
    fired = json.dumps(
        {
            "session_id": "x",
            "cwd": "/home/ada/shop",
            "prompt": "why is the migration slow",
            "transcript_path": "-",
        }
    )
    run = subprocess.Popen(
        [sys.executable, "-c", _SLOWLY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    assert run.stdin is not None
    assert run.stdout is not None
    run.stdout.readline()
    talk = chat(2)
    add_turn(talk, "2-1", "about the harvest")
    claude_log(home, talk)

    answers = []
    for words in (["hook", "claude-code", "UserPromptSubmit"], ["import"]) * 2:
        # So many of the 20 batches run beside this one.
        run.stdin.write("\n" * 4)
        run.stdin.flush()
        answers.append(_beside(words, fired))
    went_on = run.poll() is None
    run.communicate("\n" * 20)

    assert went_on
    assert [(answer.returncode, answer.stderr) for answer in answers] == [(0, "")] * 4
    assert run.returncode == 0
    mind = Memory.open()
    assert [hit.snippet for hit in mind.search("harvest", mode="text")] == [
        "question 2-1 about the harvest"
    ]
    assert evicted(mind) == list(range(1, 21))
    assert [finding for finding in mind.store.doctor(verify=True).findings if not finding.ok] == []


_ON_A_FULL_DISK = """
import resource, sys
from recollect.serve.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.exit(main(["retain"]))
"""


@pytest.mark.store
@pytest.mark.skipif(sys.platform == "win32", reason="no limits for the size of files")
def test_without_room_on_the_disk_nothing_is_lost(mind: Memory) -> None:
    """The disk may be full already when somebody thinks of a limit.

    Making room takes a little room first.
    """
    mind = limited(mind, raw_max_age_days=1)
    before = mind.show(f"{SESSION}#1")
    mind.close()

    full = subprocess.run(
        [sys.executable, "-c", _ON_A_FULL_DISK, "40000"], capture_output=True, text=True
    )
    mind = Memory.open()
    after = mind.show(f"{SESSION}#1")
    (*_, report) = mind.store.retain()

    assert full.returncode == 74
    assert "Nothing is lost. Free some disk space" in full.stderr
    assert after == before
    assert report.evicted["age"] == 10
