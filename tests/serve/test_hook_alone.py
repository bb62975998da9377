"""Hooks as agents run them, each in a process of its own: quick, quiet, and
with 0 at the end, whatever is wrong.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from recollect.memory import Memory
from recollect.serve.cli import main
from recollect.serve.install.command import program
from recollect.settings import Settings
from recollect.store import spool
from tests.builders.homes import claude_log, memory, small_talk
from tests.builders.hooks import (
    SESSION,
    SHOP,
    environment,
    lines_of,
    passed,
    passed_command,
    prepared,
    run,
    start,
)
from tests.builders.work import Work

pytestmark = pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="looks at what hooks start by way of /proc"
)

PROMPT = "are the tests of the shop green?"
MOMENTS = {
    "SessionStart": passed("SessionStart", source="startup"),
    "UserPromptSubmit": passed("UserPromptSubmit", prompt=PROMPT),
    "PreToolUse": passed_command("pytest -q"),
}
MEBIBYTE = 1 << 20


def work() -> Work:
    """Something to tell at each of those moments."""
    return (
        Work(1)
        .ask(PROMPT)
        .run("pytest -q tests/a.py", "bash: pytest: command not found", code=127)
        .run("uv run pytest -q tests/a.py", "3 passed")
    )


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store that has something to tell, and no job that waits."""
    home = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        with prepared(home, work()) as mind:
            mind.jobs.work()
    return home / ".recollect" / "recollect.db"


@pytest.fixture
def store(home: Path, template: Path) -> Iterator[Path]:
    """A copy of it in the home of the test.

    Whatever hooks start there has ended before the next test.
    """
    path = home / ".recollect" / "recollect.db"
    path.parent.mkdir(mode=0o700)
    shutil.copy(template, path)
    (home / ".recollect" / "config.toml").write_text(
        "[redact]\nenabled = false\n[jobs]\nquiet_seconds = 0\n"
    )
    yield path
    wait_until(lambda: not left_running(path))


def wait_until(happened: Callable[[], object], seconds: float = 30) -> None:
    """Wait for what other processes do."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def left_running(store: Path) -> list[int]:
    """The processes that work on a store because a hook started them."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"--store" in words and str(store).encode() in words:
            found.append(int(entry.parent.name))
    return found


@contextmanager
def locked(store: Path, *statements: str) -> Iterator[None]:
    """Another process holds a lock on a store."""
    code = (
        f"import apsw; c = apsw.Connection({str(store)!r}); "
        f"[c.execute(s) for s in {statements!r}]; print(1, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield
        holder.communicate(b"\n")


# What it loads

MODULES = """
import sys
from recollect.serve.cli import main
main(["hook", "codex", sys.argv[1], "--debug"])
print(*sorted(sys.modules), file=sys.stderr)
"""
# apsw loads collections, and that the rest.
WITH_APSW = {
    "__future__", "_collections", "_operator", "apsw", "collections", "collections.abc",
    "itertools", "keyword", "operator",
    "reprlib",
}  # fmt: skip
OWN = {
    "serve", "serve.agents", "serve.agents.codex", "serve.cli", "serve.hook", "settings", "store",
    "store.spool", "store.sqlite", "store.sqlite.opening", "store.sqlite.ready", "store.text",
    "store.hook_lines", "reading", "reading.tokens", "system", "system.git", "system.places",
    "system.platforms",
}  # fmt: skip
WITH_A_PROMPT = {
    "math", "recall", "recall.hooks", "recall.hooks.chances", "recall.hooks.facts",
    "recall.hooks.frame", "recall.hooks.prompts", "recall.hooks.words", "recall.stop_words",
}  # fmt: skip


def loaded(home: Path, event: str, data: bytes) -> set[str]:
    """The modules that a hook loads besides those of a Python that does nothing.

    Ours by their names within the package.
    """
    environ = environment(home)
    Settings.load(environ)  # The first one after a change reads config.toml for the others.
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    command = [sys.executable, "-c", MODULES, event]
    done = subprocess.run(
        command, input=data, capture_output=True, check=True, env={**os.environ, **environ}
    )
    assert lines_of(done.stdout.decode(), event) or b"ls" in data
    found = set(done.stderr.decode().split()) - set(bare.stdout.split()) - {"recollect"}
    return {name.removeprefix("recollect.") for name in found}


def test_a_start_loads_apsw_and_little_else(home: Path, store: Path) -> None:
    """Half of what a hook costs is what it loads; json alone would be as much again."""
    assert loaded(home, "SessionStart", MOMENTS["SessionStart"]) <= WITH_APSW | OWN


def test_a_prompt_loads_what_weighs_words_besides(home: Path, store: Path) -> None:
    """No search, no patterns, no numbers."""
    assert (
        loaded(home, "UserPromptSubmit", MOMENTS["UserPromptSubmit"])
        <= WITH_APSW | OWN | WITH_A_PROMPT
    )


def test_a_command_loads_patterns_only_when_there_may_be_a_reminder(
    home: Path, store: Path
) -> None:
    """Most commands never failed."""
    without = loaded(home, "PreToolUse", passed_command("ls -l"))
    with_one = loaded(home, "PreToolUse", MOMENTS["PreToolUse"])

    assert without <= WITH_APSW | OWN
    assert "re" in with_one
    assert not with_one & {
        "json", "dataclasses", "typing", "subprocess", "pathlib", "logging", "msgspec",
        "argparse", "inspect",
    }  # fmt: skip
    assert not any(name == "memory" or name.startswith("store.sqlite.store") for name in with_one)


# What it is passed


def test_it_tells_what_there_is_to_tell(home: Path, store: Path) -> None:
    """Otherwise none of the silences below would mean anything."""
    ended = {event: run(home, event, data) for event, data in MOMENTS.items()}

    assert {event: (one.code, one.err) for event, one in ended.items()} == dict.fromkeys(
        MOMENTS, (0, b"")
    )
    assert all(lines_of(one.out.decode(), event) for event, one in ended.items())


GARBAGE = {
    "nothing": b"",
    "words": b"hello there",
    "a list": b"[1, 2]",
    "a text": b'"SessionStart"',
    "half": MOMENTS["SessionStart"][:-5],
    "two": MOMENTS["SessionStart"] * 2,
    "bytes": bytes(range(256)),
    "zeros": bytes(1000),
    "no UTF-8": passed("SessionStart").replace(b"shop", b"sh\xff\xfep"),
    "half a character": passed("SessionStart", cwd="\ud800"),
    "deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep lists": b"[" * MEBIBYTE,
    "8 MB": passed("SessionStart", cwd="x" * 8 * MEBIBYTE)[: 8 * MEBIBYTE - 2] + b'"}',
    "more than 8 MB": passed("SessionStart", padding="x" * 12 * MEBIBYTE),
    "another type": passed(
        "SessionStart", cwd=["/home/ada/shop"], session_id=7, transcript_path={}
    ),
    "no folder": passed("SessionStart", cwd=None),
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_answered_with_nothing(home: Path, store: Path, data: bytes) -> None:
    """The agent goes on as if we were not there."""
    assert run(home, "UserPromptSubmit", data).is_silent
    assert run(home, "PreToolUse", data, agent="codex").is_silent


@pytest.mark.parametrize(
    "words",
    [[], ["codex"], ["codex", "Lunch"], ["emacs", "Stop"], ["codex", "Stop", "now"], ["--", "x"]],
)
def test_a_call_that_means_nothing_is_answered_with_nothing(home: Path, words: list[str]) -> None:
    """Settings of an older version may still call us so."""
    done = subprocess.run(
        [*program(), "hook", *words], input=b"{}", capture_output=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_no_streams_at_all_are_no_reason_to_fail(home: Path, store: Path) -> None:
    """A host may close what it does not need."""
    code = "import os, sys; os.closerange(0, 3); os.execv(sys.argv[1], sys.argv[1:])"

    done = subprocess.run(
        [sys.executable, "-c", code, *program(), "hook", "codex", "Stop"], check=False
    )

    assert done.returncode == 0


def test_a_reader_that_is_gone_is_no_reason_to_fail(home: Path, store: Path) -> None:
    """Some hosts do not wait for an answer."""
    process = start(home, "SessionStart")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None

    assert process.communicate(MOMENTS["SessionStart"]) == (None, b"")
    assert process.returncode == 0


def test_input_that_never_ends_is_given_up_on(home: Path, store: Path) -> None:
    """Before the agent does."""
    began = time.monotonic()
    process = start(home, "UserPromptSubmit")
    process.wait(10)
    took_seconds = time.monotonic() - began

    assert (process.communicate(), process.returncode) == ((b"", b""), 0)
    assert 0.8 < took_seconds < 3


def test_an_interrupt_ends_it_quietly(home: Path, store: Path) -> None:
    """Who stops an agent in a terminal stops its hooks too, and wants to see no stack trace."""
    process = start(home, "UserPromptSubmit")
    # By now it waits for its input.
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)

    assert (process.communicate(), process.returncode) == ((b"", b""), 0)


def test_what_went_wrong_is_said_when_somebody_asks(home: Path, store: Path) -> None:
    """With --debug, on stderr, and still with 0."""
    (home / ".recollect" / "config.toml").write_text("no toml at all")

    done = subprocess.run(
        [*program(), "hook", "codex", "SessionStart", "--debug"], input=MOMENTS["SessionStart"],
        capture_output=True, check=False,
        env={**os.environ, **environment(home)},
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"recollect hook: SettingsError: ")


# What it finds


def missing(store: Path) -> None:
    store.unlink()


def empty(store: Path) -> None:
    store.write_bytes(b"")


def no_database(store: Path) -> None:
    store.write_text("a shopping list\n" * 1000)


def of_another_program(store: Path) -> None:
    store.unlink()
    db = apsw.Connection(str(store))
    db.execute(
        "create table packs (project, text, refs); create table projects (id, key, merged_into)"
    )
    db.close()


def damaged_header(store: Path) -> None:
    with store.open("r+b") as file:
        file.write(b"\xa5" * 64)


def damaged_pages(store: Path) -> None:
    with store.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xa5" * (store.stat().st_size - 8192))


def cut(store: Path) -> None:
    os.truncate(store, store.stat().st_size // 3)


def of_version(version: int) -> Callable[[Path], None]:
    def set_version(store: Path) -> None:
        db = apsw.Connection(str(store))
        db.execute(f"pragma user_version = {version}")
        db.close()

    return set_version


def a_folder(store: Path) -> None:
    store.unlink()
    store.mkdir()


def a_pipe(store: Path) -> None:
    store.unlink()
    os.mkfifo(store)


def bad_settings(store: Path) -> None:
    (store.parent / "config.toml").write_text('store = ["a", 7]\n[[')


FAULTS: list[Callable[[Path], None]] = [
    missing, empty, no_database, of_another_program, damaged_header, damaged_pages, cut, a_folder,
    a_pipe, bad_settings,
]  # fmt: skip


@pytest.mark.parametrize("event", MOMENTS)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_store_that_is_no_good_means_silence(
    home: Path, store: Path, fault: Callable[[Path], None], event: str
) -> None:
    """A memory must never be what stops an agent."""
    fault(store)

    assert run(home, event, MOMENTS[event]).is_silent


@pytest.mark.parametrize("event", MOMENTS)
@pytest.mark.parametrize("version", [3, 999])
def test_a_store_of_another_version_means_silence(
    home: Path, store: Path, version: int, event: str
) -> None:
    """A newer one has tables that we cannot know, an older one none of these."""
    of_version(version)(store)

    assert run(home, event, MOMENTS[event]).is_silent


@pytest.mark.parametrize("event", MOMENTS)
def test_a_store_that_is_locked_means_silence(home: Path, store: Path, event: str) -> None:
    """Nobody is waited for."""
    with locked(store, "pragma locking_mode = exclusive", "begin exclusive"):
        assert run(home, event, MOMENTS[event]).is_silent


@pytest.mark.parametrize("event", MOMENTS)
def test_a_writer_is_not_waited_for(home: Path, store: Path, event: str) -> None:
    """An import that holds its lock for long changes nothing about what is ready."""
    with locked(store, "begin immediate", "insert into store_info values ('x', 1)"):
        ended = run(home, event, MOMENTS[event])

    assert lines_of(ended.out.decode(), event)
    assert ended.seconds < 1


@pytest.mark.parametrize("event", MOMENTS)
def test_a_folder_that_may_not_be_entered_means_silence(
    home: Path, store: Path, event: str
) -> None:
    """The agent may run as somebody else."""
    # Everything is loaded first, since root, who runs some tests, has
    # to become somebody to be kept out.
    code = f"""
import os
from recollect.serve import hook
from recollect.serve.agents import claude_code
if os.getuid() == 0:
    os.setuid(65534)
hook.main(["claude-code", {event!r}])
"""
    os.chmod(store.parent, 0)
    began = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], input=MOMENTS[event], capture_output=True, check=False,
            env={**os.environ, **environment(home)},
        )  # fmt: skip
    finally:
        os.chmod(store.parent, 0o700)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert time.monotonic() - began < 2


def test_doctor_tells_how_a_hook_last_ended(
    home: Path, store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook cannot complain; this is where its faults are seen, until it runs well again."""
    monkeypatch.setenv("RECOLLECT_HOME", str(home / ".recollect"))
    (home / ".claude").mkdir()
    assert main(["install", "claude-code"]) == 0
    with locked(store, "pragma locking_mode = exclusive", "begin exclusive"):
        run(home, "PreToolUse", MOMENTS["PreToolUse"])

    main(["doctor"])
    at_first = capsys.readouterr().out
    run(home, "PreToolUse", MOMENTS["PreToolUse"])
    main(["doctor"])
    later = capsys.readouterr().out

    assert "PreToolUse last ran" in at_first
    assert "and failed (BusyError)" in at_first
    assert "PreToolUse last ran" in later
    assert "failed" not in later


# What it starts


def sessions(home: Path) -> list[str]:
    with memory(home) as mind:
        return [session.id for session in mind.sessions()]


def test_a_stop_has_its_log_imported_by_a_process_of_its_own(home: Path, store: Path) -> None:
    """The hook is over at once.

    The import goes on even when the agent ends, and holds nothing that the agent waits for.
    """
    log = claude_log(home, small_talk(7))
    reading, writing = os.pipe()
    with locked(store, "begin immediate"):
        began = time.monotonic()
        process = start(home, "Stop", pass_fds=[writing])
        os.close(writing)
        out, err = process.communicate(passed("Stop", transcript_path=str(log)))
        # A pipe ends when nobody has it any more.
        ended = select.select([reading], [], [], 5)[0] == [reading]
        took_seconds = time.monotonic() - began
        wait_until(lambda: left_running(store))
        (child,) = left_running(store)
        streams = {os.readlink(f"/proc/{child}/fd/{number}") for number in range(3)}
        own_session = os.getsid(child)
    os.close(reading)

    assert (process.returncode, out, err, ended) == (0, b"", b"", True)
    assert took_seconds < 1
    assert own_session == child
    assert streams == {os.devnull}
    wait_until(lambda: f"claude-code:{small_talk(7).session}" in sessions(home))


def test_a_stop_without_its_log_starts_nothing(home: Path, store: Path) -> None:
    """There is nothing to import."""
    assert run(home, "Stop", passed("Stop", transcript_path=str(home / "gone.jsonl"))).is_silent
    assert left_running(store) == []


def test_the_folder_of_the_agent_is_not_trusted(home: Path, store: Path, tmp_path: Path) -> None:
    """A repository may hold modules with our names.

    Neither the hook nor what it starts loads them.
    """
    evil, mark = tmp_path / "evil", tmp_path / "loaded"
    for name in (
        "recollect/__init__.py",
        "apsw.py",
        "json.py",
        "re.py",
        "sitecustomize.py",
        "msgspec.py",
        "usercustomize.py",
    ):
        path = evil / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"open({str(mark)!r}, 'a').write({name!r})\n")
    log = claude_log(home, small_talk(7))

    for event in ("SessionStart", "PreToolUse", "Stop"):
        data = {**json.loads(MOMENTS.get(event) or passed(event)), "transcript_path": str(log)}
        ended = run(home, event, json.dumps(data).encode(), cwd=evil)
        assert (ended.code, ended.err) == (0, b"")

    wait_until(lambda: f"claude-code:{small_talk(7).session}" in sessions(home))
    wait_until(lambda: not left_running(store))
    assert not mark.exists()


# Many at once


def test_many_hooks_at_once_lose_no_line(home: Path, store: Path) -> None:
    """Agents run tools side by side, and each has its hook."""
    processes = []
    for number in range(20):
        processes.append(start(home, "PreToolUse"))
        stdin = processes[-1].stdin
        assert stdin is not None
        stdin.write(passed_command("pytest -q", session_id=f"s{number}"))
        stdin.close()
        processes[-1].stdin = None
    for process in processes:
        process.communicate()
    path = Path(spool.path_of(str(store)))
    mode = path.stat().st_mode & 0o777

    with memory(home) as mind:
        list(mind.injections.hook_runs())
        offered = mind._shared.store().db.rows("select session from injections order by session")

    assert [process.returncode for process in processes] == [0] * 20
    assert offered == sorted((f"claude-code:s{number}",) for number in range(20))
    assert mode == 0o600
    assert not path.exists()


WRITER = """
import sys
from pathlib import Path
from recollect.memory import Memory
from recollect.settings import Settings
from tests.builders.homes import claude_log, small_talk

home, store = Path(sys.argv[1]), sys.argv[2]
with Memory(Settings(str(home / ".recollect"), store, {"redact.enabled": False})) as mind:
    for number in range(100, 100_000):
        mind.import_logs([claude_log(home, small_talk(number, 30, "lorem ipsum " * 50))])
        if number % 5 == 0:
            list(mind.make_ready())
        print(number, flush=True)
"""


def test_hooks_neither_fail_nor_wait_while_logs_are_imported(home: Path, store: Path) -> None:
    """A first import takes a minute, and the agent is used meanwhile."""
    seconds, told = [], 0
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(home), str(store)], stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        for number in range(100):
            event = list(MOMENTS)[number % 3]
            data = {**json.loads(MOMENTS[event]), "session_id": f"{SESSION}{number}"}
            ended = run(home, event, json.dumps(data).encode())
            assert (ended.code, ended.err) == (0, b"")
            told += bool(lines_of(ended.out.decode(), event))
            seconds.append(ended.seconds)
        still_writing = writer.poll() is None
        writer.kill()

    assert still_writing
    assert told > 60
    assert max(seconds) < 1
    with Memory.open(store) as mind:
        assert mind.projects.of(SHOP) == SHOP
