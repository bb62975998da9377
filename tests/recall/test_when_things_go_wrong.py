"""Recall where nothing goes well: damaged vectors, full disks, killed processes,
odd locales, and queries nobody would type.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect.embed.static import MODEL
from recollect.errors import NotFound, UsageError
from recollect.memory import Memory
from recollect.serve.cli import main
from tests.builders.homes import claude_log, memory, small_talk

ASKED = "why does the migration deadlock"
# Vectors, blocks and what they have in common; versions and generations differ from run to run.
MADE = (
    "select turn, codes, words from vectors order by turn",
    "select number, turns, codes from vector_blocks order by number",
    "select value from store_info where name = 'mean_vector'",
)


@pytest.fixture
def stored(home: Path) -> Path:
    """A store with 120 embedded turns."""
    for number, words in enumerate(
        (
            "the migration deadlocks when two workers start",
            "a port is in use",
            "größe stimmt nicht",
        ),
        1,
    ):
        claude_log(home, small_talk(number, 40, words))
    with memory(home) as mind:
        mind.import_logs([home])
        list(mind.store.embed())
        return Path(mind.settings.store)


@pytest.fixture
def mind(stored: Path) -> Iterator[Memory]:
    with Memory.open(stored) as opened:
        yield opened


def change(path: Path, sql: str) -> None:
    """Do to a store what no recollect would."""
    db = apsw.Connection(str(path))
    db.execute(sql)
    db.close()


def made(path: Path) -> list[list[tuple[Any, ...]]]:
    db = apsw.Connection(str(path))
    found = [db.execute(sql).fetchall() for sql in MADE]
    db.close()
    return found


def recollect(
    path: Path, *words: str, prepare: Callable[[], None] | None = None, **more: Any
) -> subprocess.CompletedProcess[str]:
    """A process of its own, as somebody would start it."""
    command = [sys.executable, "-m", "recollect", *words, "--store", str(path)]
    return subprocess.run(
        command, capture_output=True, text=True, preexec_fn=prepare, timeout=60, **more
    )


def findings(mind: Memory) -> list[str]:
    return [one.detail for one in mind.store.doctor().findings if not one.ok]


# Vectors that are not what was written


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        (
            "update vectors set codes = x'' where turn % 3 = 0",
            "40 turns have broken vectors",
        ),
        (
            "update vectors set codes = substr(codes, 1, 255) where turn % 3 = 0",
            "40 turns have broken vectors",
        ),
        (
            "update vectors set codes = 'text' where turn % 3 = 0",
            "40 turns have broken vectors",
        ),
        (
            "update vectors set words = substr(words, 2) where turn % 3 = 0",
            "40 turns have broken vectors",
        ),
        (
            "update vector_blocks set codes = substr(codes, 1, 1001)",
            "1 blocks do not match the stored vectors",
        ),
        (
            "update vector_blocks set turns = substr(turns, 1, 101)",
            "1 blocks do not match the stored vectors",
        ),
        ("delete from vector_blocks", "1 blocks do not match the stored vectors"),
        (
            "update store_info set value = x'010203' where name = 'mean_vector'",
            "the settings of the vectors cannot be read",
        ),
        (
            "update store_info set value = 'text' where name = 'mean_vector'",
            "the settings of the vectors cannot be read",
        ),
        (
            "update store_info set value = 0 where name = 'vectors_dimensions'",
            "120 turns have broken vectors",
        ),
        (
            "delete from store_info where name = 'vectors_generation'",
            "120 turns have broken vectors",
        ),
    ],
)
def test_damaged_vectors_are_passed_over_named_and_mended(
    mind: Memory, stored: Path, damage: str, finding: str
) -> None:
    """A disk that forgets a byte must not take the search away, and the
    doctor says what brings everything back.
    """
    before = made(stored)

    change(stored, damage)

    assert [len(mind.search(ASKED, mode=mode).hits) for mode in ("hybrid", "text")] == [10, 10]
    # There is one block here: without it there is nothing to go by.
    assert len(mind.search(ASKED, mode="vector").hits) == (0 if "vector_blocks" in damage else 10)
    assert [detail.partition(":")[0] for detail in findings(mind)] == [finding]
    list(mind.store.embed(again=True))
    assert (findings(mind), made(stored)) == ([], before)


def test_words_that_the_table_does_not_list_are_passed_over(mind: Memory, stored: Path) -> None:
    """They may have been noted by a version of us with a longer table."""
    change(stored, "update vectors set words = x'ffff' || words where turn % 2 = 0")
    change(stored, "update vectors set words = cast(words as blob)")

    assert len(mind.search(ASKED).hits) == 10


def test_a_turn_is_forgotten_from_a_damaged_block(mind: Memory, stored: Path) -> None:
    """What somebody wants gone has to go, whatever state the store is in."""
    ref = mind.search(ASKED).hits[0].ref
    change(stored, "update vector_blocks set turns = substr(turns, 1, 101)")

    mind.store.forget(ref)

    with pytest.raises(NotFound):
        mind.show(ref)


def test_what_a_forgotten_turn_meant_is_in_no_file(home: Path) -> None:
    """A vector tells what was said.

    Where there is one turn, even what all vectors have in common is its vector.
    """
    claude_log(home, small_talk(1, 1, "the acquisition is called bluebird"))
    with memory(home) as mind:
        mind.import_logs([home])
        list(mind.store.embed())
        store = Path(mind.settings.store)
        (turn, codes, words), *_ = made(store)[0]
        bits, mean = made(store)[1][0][2], made(store)[2][0][0]
        store.with_name(store.name + "-vectors").write_bytes(codes)

        mind.store.forget(mind.search("bluebird").hits[0].ref)

        kept = {path.name: path.read_bytes() for path in store.parent.iterdir() if path.is_file()}
        assert (turn, len(codes) % 256, f"{store.name}-vectors" in kept) == (1, 0, False)
        assert [
            name
            for name, data in kept.items()
            for trace in (codes, words, bits, mean)
            if trace in data
        ] == []
        assert findings(mind) == []


# Stopped on the way


def test_a_run_that_died_after_its_last_batch_is_finished_by_the_next(
    mind: Memory, stored: Path
) -> None:
    """The mean comes last, and there is no turn left then that would ask for another run."""
    before = made(stored)
    change(stored, "delete from store_info where name = 'mean_vector'")

    list(mind.store.embed())

    assert made(stored) == before


@pytest.mark.store
def test_killing_the_command_again_and_again_gives_the_same_vectors(
    mind: Memory, stored: Path
) -> None:
    """A laptop is closed when it is closed."""
    before = made(stored)
    mind.close()

    for round_ in range(12):
        change(
            stored, "insert or replace into unembedded select id, random() from turns where id % 2"
        )
        command = [
            sys.executable,
            "-m",
            "recollect",
            "jobs",
            "run",
            "embed",
            "--store",
            str(stored),
        ]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(0.1 + 0.04 * round_)
            process.kill()

    assert recollect(stored, "jobs", "run", "embed").returncode == 0
    assert (made(stored), findings(mind)) == (before, [])


def test_an_interrupt_ends_embedding_with_one_line(home: Path) -> None:
    """Ctrl-C is no fault: no traceback, the usual exit code, and the next run goes on."""
    for number in range(1, 41):
        claude_log(home, small_talk(number, 100, "lorem ipsum dolor " * 40))
    with memory(home) as mind:
        mind.import_logs([home])
        store = mind.settings.store
    command = [sys.executable, "-m", "recollect", "jobs", "run", "embed", "--store", store]

    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with Memory.open(store) as mind:
        while mind._shared.store().vectors.waiting() == 4000:
            time.sleep(0.01)
    process.send_signal(signal.SIGINT)

    assert process.communicate() == (
        "",
        "Stopped. What is done so far is kept; run it again to go on.\n",
    )
    assert process.returncode == 130


def test_a_full_disk_stops_embedding_and_loses_nothing(mind: Memory, stored: Path) -> None:
    """It says so, and goes on when there is room again."""
    before = made(stored)
    change(stored, "insert or replace into unembedded select id, random() from turns")
    mind.close()

    full = recollect(
        stored,
        "jobs",
        "run",
        "embed",
        prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)),
    )

    assert full.returncode == 74
    assert "Free some disk space or fix the permissions" in full.stderr
    assert recollect(stored, "jobs", "run", "embed").returncode == 0
    assert (made(stored), findings(mind)) == (before, [])


def test_a_torn_model_leaves_the_search_by_words(stored: Path, tmp_path: Path) -> None:
    """An update that was cut off must not take the memory away."""
    package = Path(sys.modules["recollect"].__path__[0])
    copy = tmp_path / "torn" / "recollect"
    for path in package.rglob("*"):
        target = copy / path.relative_to(package)
        if path.is_file() and path.suffix in (".py", ".sql"):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path)
    (copy / "embed" / MODEL).write_bytes((package / "embed" / MODEL).read_bytes()[:100_000])

    found = recollect(
        stored, "search", ASKED, env={**os.environ, "PYTHONPATH": str(copy.parent)}, cwd=tmp_path
    )

    assert (found.returncode, "question 1-" in found.stdout) == (0, True)
    assert "Searched by word only. The static model" in found.stderr
    assert "has 100000 bytes; its header says" in found.stderr


# What nobody would type, and programs do


@pytest.mark.parametrize(
    "unit",
    ["file:", "a_", "a/", "a.", "aB", "漢字", '"', "*", "-", "(", "7", "\0", "a\u0301", "x "],
)
def test_a_query_without_end_is_answered_soon(mind: Memory, unit: str) -> None:
    """A row of 25,000 words took four seconds, and of 100,000 a minute: somebody pastes
    a minified file.
    """
    # A busy machine makes one run slow, even in CPU time; a slow algorithm makes every run slow.
    assert any(cpu_seconds(mind, unit * 25_000) < 2.5 for _ in range(3))


def cpu_seconds(mind: Memory, query: str) -> float:
    """What it costs this thread to ask one query in every way."""
    started = time.thread_time()
    for mode in ("hybrid", "text", "vector"):
        mind.search(query, mode=mode)
    mind.recall(query, everywhere=True)
    return time.thread_time() - started


def test_a_quote_longer_than_any_is_found_by_its_beginning(mind: Memory, home: Path) -> None:
    """Whoever quotes a whole page wants the turn that it is in."""
    page = " ".join(f"line{number}" for number in range(500))
    claude_log(home, small_talk(9, 1, page))
    mind.import_logs([home])

    assert [hit.session[-1] for hit in mind.search(f'"{page}"').hits] == ["9"]


@pytest.mark.parametrize(
    "query",
    [
        " ".join(f"word{number}" for number in range(10_000)),
        " ".join(f'"port {number}"' for number in range(5_000)),
        "port " + " ".join(f"-w{number}" for number in range(500)),
        " ".join(f"{letter}*" for letter in "abcdefghijklmnopqrstuvwxyz"),
        "in December 9999", "may 000123456789012345678901234567890", "the and of", "!!! ???", '"',
        "\udcff", "مرحبا שלום",
    ],
)  # fmt: skip
def test_every_query_is_valid(mind: Memory, query: str) -> None:
    """Whatever is typed or pasted gets an answer, if only that there is none."""
    for mode in ("hybrid", "text", "vector"):
        assert len(mind.search(query, mode=mode).hits) <= 10


@pytest.mark.parametrize(
    "ref", ["\udcff", "x" * 100_000, "claude-code:" + "[" * 5_000, "*" * 2_000]
)
def test_a_reference_that_cannot_be_one_is_not_found(mind: Memory, ref: str) -> None:
    """Not a traceback, and not a doctor's case either."""
    with pytest.raises(NotFound, match="There is no session"):
        mind.show(ref)


def test_a_turn_number_beyond_all_turns_is_refused(mind: Memory) -> None:
    """SQLite counts in 64 bits."""
    with pytest.raises(UsageError, match="is not a reference"):
        mind.show("claude-code:5e551011#" + "9" * 30)


def test_a_tool_that_is_no_text_was_never_used(mind: Memory) -> None:
    """A file name from an old disk, given by a shell's completion."""
    assert mind.how("\udcff\udcfe", everywhere=True).rows == []


def test_the_largest_page_is_no_error(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An offset and a limit are added, and SQLite counts in 64 bits."""
    largest = str((1 << 62) - 1)

    assert (
        main(
            [
                "search",
                "agent:claude",
                "--limit",
                largest,
                "--offset",
                largest,
                "--store",
                str(stored),
            ]
        )
        == 1
    )
    with pytest.raises(SystemExit, match="2"):
        main(["search", "agent:claude", "--limit", str(1 << 62), "--store", str(stored)])
    assert "--limit needs a number from 0 to" in capsys.readouterr().err


# Where the answer goes


def test_an_answer_that_the_locale_cannot_write_is_still_an_answer(stored: Path) -> None:
    """Cron jobs and containers have no locale; JSON is UTF-8 everywhere."""
    plain = {**os.environ, "PYTHONIOENCODING": "ascii"}

    text = recollect(stored, "search", "größe", env=plain)
    rows = recollect(stored, "search", "größe", "--json", env=plain, encoding="utf-8")

    assert (text.returncode, "gr\\xf6\\xdfe" in text.stdout) == (0, True)
    assert (rows.returncode, "größe" in json.loads(rows.stdout.splitlines()[0])["snippet"]) == (
        0,
        True,
    )


def test_a_prompt_that_is_no_text_is_read_all_the_same(stored: Path) -> None:
    """A hook passes on what an editor gave it."""
    command = [
        sys.executable,
        "-m",
        "recollect",
        "recall",
        "-",
        "--everywhere",
        "--store",
        str(stored),
    ]

    told = subprocess.run(
        command,
        input=b"\xff\xfe\x00\x80" * 100,
        capture_output=True,
        env={**os.environ, "PYTHONUTF8": "1"},
    )

    assert (told.returncode, told.stderr) == (
        1,
        b"Nothing relevant found. The agent is told nothing.\n",
    )


@pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="there is no device that is always full here"
)
def test_an_answer_that_cannot_be_written_is_said_in_one_line(stored: Path) -> None:
    """The disk that the answer was to go to is full."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "recollect", "search", "port", "--store", str(stored)]
        told = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)

    assert (told.returncode, told.stderr.splitlines()[-1]) == (
        74,
        "error: Cannot write the answer: [Errno 28] No space left on device.",
    )


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
def test_closed_streams_are_no_fault(stored: Path, closed: str) -> None:
    """Some supervisors start their children without any."""
    told = subprocess.run(
        ["sh", "-c", f'exec "$0" -m recollect search port --store "$1" {closed}', sys.executable,
        str(stored)],
        capture_output=True, text=True,
    )  # fmt: skip

    assert (told.returncode, "Traceback" in told.stderr) == (0, False)
