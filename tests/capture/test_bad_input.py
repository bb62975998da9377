"""Logs as they should not be: torn, hostile, unreadable, and disks that are full.

Each costs a counted problem or a clear message and nothing else: the rest of
the same log, and every log beside it, is there, and a second import adds
nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
import zstandard

from recollect.errors import StoreUnwritable
from recollect.memory import Memory
from recollect.model.logs import Problem
from recollect.model.reports import SourceReport
from recollect.serve.cli import main
from tests.builders import codex
from tests.builders.homes import (
    add_turn,
    chat,
    claude_log,
    claude_path,
    codex_log,
    codex_talk,
    everything,
    memory,
    prompts,
    refs,
    small_talk,
)

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
unix = pytest.mark.skipif(sys.platform == "win32", reason="needs Unix")


def permissions_bind() -> bool:
    """Whether a file that nobody may read cannot be read: root reads it all the same."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "closed"
        path.touch(mode=0)
        return not os.access(path, os.R_OK)


bound = pytest.mark.skipif(
    sys.platform == "win32" or not permissions_bind(), reason="permissions do not bind this user"
)

BEFORE, BAD, AFTER = 1, 5, 9
REF = f"claude-code:{chat(BAD).session}"
BAD_THREAD = "019ca000-0000-7000-8000-000000000005"


def neighbours(home: Path) -> None:
    """Good logs of both agents, in the same folders, before and after where the bad one goes."""
    for number in (BEFORE, AFTER):
        claude_log(home, small_talk(number))
        codex_log(
            home,
            codex_talk(f"019ca000-0000-7000-8000-{number:012}"),
            f"019ca000-0000-7000-8000-{number:012}",
        )


def bad_path(home: Path) -> Path:
    """Where the bad transcript goes."""
    path = claude_path(home, chat(BAD).session)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def bad_archive(home: Path) -> Path:
    """Where the bad compressed rollout goes."""
    path = (
        home
        / ".codex"
        / "sessions"
        / "2026"
        / "03"
        / "01"
        / f"rollout-2026-03-01T09-00-00-{BAD_THREAD}.jsonl.zst"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def imported(mind: Memory, home: Path) -> list[SourceReport]:
    """The reports of an import over a bad log, after making sure that it cost nobody else anything.

    The neighbours are as they are when imported alone, importing again
    changes nothing, and no problem is on record twice.
    """
    neighbours(home)
    mind.import_logs()
    reports = [report for report in mind.source_reports if report.problems]
    known, complaints = everything(mind), stored_problems(mind)
    with memory(home, "alone.db") as alone:
        good = [
            path
            for path in sorted(home.rglob("*.jsonl"))
            if path.stem[-1] in "19" and path.is_file()
        ]
        alone.import_logs(good)
        expected = everything(alone)

    assert len(expected) == 4
    assert {ref: known[ref] for ref in expected} == expected
    mind.import_logs()
    assert (everything(mind), stored_problems(mind)) == (known, complaints)
    return reports


def stored_problems(mind: Memory) -> list[tuple[object, ...]]:
    found = [one for log in mind.agents.problems(limit=1_000) for one in log.problems]
    return sorted(((one.kind, one.line, one.reason, one.count) for one in found), key=repr)


def problems(reports: list[SourceReport]) -> list[tuple[str, int | None]]:
    """The kind and line of each problem."""
    return [(problem.kind, problem.line) for report in reports for problem in report.problems]


def with_line(line: bytes) -> bytes:
    """A transcript of two turns with something between them."""
    talk = small_talk(BAD)
    return "".join(talk.lines[:4]).encode() + line + b"\n" + "".join(talk.lines[4:]).encode()


def spoken(raw: bytes) -> bytes:
    """The record of a prompt whose text is these bytes, as they stand in the file."""
    talk = chat(BAD)
    talk.count = 100
    talk.user("SPOKEN", parent=None)
    return talk.lines[0].rstrip().encode().replace(b"SPOKEN", raw)


# Lines ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"caf\xe9 au lait", "caf\N{REPLACEMENT CHARACTER} au lait"),
        (b"nul \\u0000 escaped", "nul \0 escaped"),
        (b"nul \x00 raw", "nul \0 raw"),
        (b"tab \t raw", "tab \t raw"),
        (b"half \\ud83d pair", "half ? pair"),
        (b"\\ude00 other half", "? other half"),
        (b"\\ud83d\\ude00 whole", "\N{GRINNING FACE} whole"),
    ],
    ids=[
        "invalid UTF-8",
        "escaped NUL",
        "raw NUL",
        "raw tab",
        "lone high surrogate",
        "lone low surrogate",
        "pair",
    ],
)
def test_odd_text_is_kept_as_well_as_can_be(home: Path, raw: bytes, said: str) -> None:
    """Agents write what tools print, and tools print anything."""
    bad_path(home).write_bytes(with_line(spoken(raw)))

    with memory(home) as mind:
        reports = imported(mind, home)

        assert problems(reports) == []
        assert prompts(mind, REF) == ["question 5-1", said, "question 5-2"]
        assert refs(mind, said.split()[-1]) == [f"{REF}#2"]


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", str(2**80), "-0", "1" * 5000]
)
def test_a_number_that_is_none_costs_nothing(home: Path, number: str) -> None:
    line = spoken(b"numbers").replace(b'"userType"', b'"odd":' + number.encode() + b',"userType"')
    bad_path(home).write_bytes(with_line(line))

    with memory(home) as mind:
        reports = imported(mind, home)

        assert [problem for problem in problems(reports) if problem[0] != "bad_line"] == []
        assert prompts(mind, REF)[0::2][:1] == ["question 5-1"]
        assert prompts(mind, REF)[-1] == "question 5-2"


@pytest.mark.parametrize(
    "line",
    [
        b"\0" * 4096,
        b"not json",
        b'{"type": "user"',
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'"a string"',
        b"[1, 2]",
        b"\xff\xfe\x00{\x00}\x00",
    ],
    ids=["NULs", "words", "cut", "deep lists", "deep objects", "string", "list", "UTF-16"],
)
def test_a_bad_line_costs_that_line(home: Path, line: bytes) -> None:
    """It is counted with its number, and the turns around it are whole."""
    bad_path(home).write_bytes(with_line(line))

    with memory(home) as mind:
        (report,) = imported(mind, home)

        assert report.outcome == "imported"
        assert [
            (problem.kind in ("bad_line", "bad_record"), problem.line)
            for problem in report.problems
        ] == [(True, 5)]
        assert prompts(mind, REF) == ["question 5-1", "question 5-2"]


@pytest.mark.parametrize("depth", [50, 300, 800, 990, 5_000])
def test_arguments_nested_deeply_harm_nobody(home: Path, depth: int) -> None:
    """Some depths are read and some refused; there is none at which we fall over."""
    talk = small_talk(BAD)
    nested = json.loads("[" * 40 + "]" * 40)
    talk.call("Tool", {"nested": nested}, "toolu_deep")
    talk.lines[-1] = talk.lines[-1].replace("[" * 40, "[" * depth).replace("]" * 40, "]" * depth)
    talk.result("toolu_deep", "fine")
    bad_path(home).write_text(talk.text)

    with memory(home) as mind:
        imported(mind, home)

        assert prompts(mind, REF) == ["question 5-1", "question 5-2"]


@pytest.mark.parametrize(
    "when",
    ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "yesterday", "", None, 17, -(2**70)],
)
def test_a_time_that_cannot_be_costs_nobody_else_anything(home: Path, when: object) -> None:
    talk = small_talk(BAD)
    talk.reply("when was that", timestamp=when)
    bad_path(home).write_text(talk.text)
    codex_log(
        home,
        [*codex_talk(BAD_THREAD), {**codex.assistant("then"), "timestamp": when or "?"}],
        BAD_THREAD,
    )

    with memory(home) as mind:
        imported(mind, home)


@pytest.mark.store
@pytest.mark.parametrize("at_the_end", [False, True], ids=["in between", "last"])
def test_a_line_of_100_MB_is_passed_over(home: Path, at_the_end: bool) -> None:
    """It is a picture or an attack; holding it would cost more memory than we promise."""
    long = spoken(b"x" * (100 << 20))
    path = bad_path(home)
    path.write_bytes(
        small_talk(BAD).text.encode() + long + b"\n" if at_the_end else with_line(long)
    )

    with memory(home) as mind:
        (report,) = imported(mind, home)
        talk = small_talk(BAD)
        add_turn(talk, "5-3")
        with path.open("a") as file:
            file.writelines(talk.lines[8:])
        mind.import_logs()

        assert report.problems == [
            Problem(
                path=str(path),
                kind="too_large",
                line=9 if at_the_end else 5,
                reason=f"a line of {len(long) + 1} bytes",
            )
        ]
        assert prompts(mind, REF) == ["question 5-1", "question 5-2", "question 5-3"]
        assert [row[0] for row in stored_problems(mind)] == ["too_large"]


# Files ----------------------------------------------------------------------


def test_an_empty_file_is_no_problem(home: Path) -> None:
    """A session that has just begun."""
    bad_path(home).touch()
    codex_log(home, [], BAD_THREAD)

    with memory(home) as mind:
        assert imported(mind, home) == []
        assert len(everything(mind)) == 4


def test_a_binary_file_with_the_name_of_a_log_is_counted(home: Path) -> None:
    """A picture saved over a log floods us with bad lines; a hundred of them say enough."""
    noise = bytes(range(256)) * 400
    bad_path(home).write_bytes(noise)
    codex_log(home, [], BAD_THREAD).write_bytes(noise)

    with memory(home) as mind:
        reports = imported(mind, home)

        assert {kind for kind, _ in problems(reports)} <= {"bad_line", "bad_record", "unknown"}
        assert len(reports) == 2
        assert len(everything(mind)) == 4
        assert len(stored_problems(mind)) <= 200


def test_an_archive_that_is_none_is_counted(home: Path) -> None:
    bad_archive(home).write_bytes(b"\x28\xb5\x2f\xfd" + b"rubbish" * 100)

    with memory(home) as mind:
        (report,) = imported(mind, home)

        assert (report.outcome, problems([report])) == ("failed", [("unreadable", None)])
        assert "not a sound zstd file" in report.reason


@pytest.mark.parametrize("kept", [0.999, 0.5, 0.02])
def test_an_archive_that_was_cut_off_gives_what_it_has_and_says_so(home: Path, kept: float) -> None:
    records = codex_talk(BAD_THREAD)
    for number in range(400):
        records += [codex.user(f"plot {number} {number**9:x}"), codex.assistant(f"{number**11:x}")]
    whole = zstandard.ZstdCompressor(write_checksum=True).compress(
        "".join(codex.lines(records)).encode()
    )
    path = bad_archive(home)
    path.write_bytes(whole[: int(len(whole) * kept)])

    with memory(home) as mind:
        (report,) = imported(mind, home)
        path.write_bytes(whole)
        mind.import_logs()

        assert [problem.kind for problem in report.problems][-1] == "torn"
        assert len(prompts(mind, f"codex:{BAD_THREAD}")) == 401, (
            "the whole archive takes the place of the torn one"
        )
        assert stored_problems(mind) == []


def test_a_sound_archive_is_read_whole(home: Path) -> None:
    """Of any make: with and without checksum and size, in several
    frames, with a frame to be skipped.
    """
    text = "".join(codex.lines(codex_talk(BAD_THREAD))).encode()
    skipped = b"\x50\x2a\x4d\x18" + (1000).to_bytes(4, "little") + b"-" * 1000
    plain = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False)
    bad_archive(home).write_bytes(
        skipped + plain.compress(text[:300]) + zstandard.compress(text[300:]) + skipped
    )

    with memory(home) as mind:
        assert imported(mind, home) == []
        assert prompts(mind, f"codex:{BAD_THREAD}") == ["water the trees"]


def test_a_bomb_that_expands_too_much_is_given_up(home: Path) -> None:
    """Two hundred times its size is more than any log comes to."""
    bad_archive(home).write_bytes(
        zstandard.compress((b'{"type":"x"}' + b" " * 4000 + b"\n") * 5_000)
    )

    with memory(home) as mind:
        (report,) = imported(mind, home)

        assert (report.outcome, report.problems[-1].kind) == ("failed", "unreadable")
        assert "expands to more than" in report.reason


@pytest.mark.store
def test_a_bomb_of_more_than_2_GiB_is_given_up(home: Path) -> None:
    """Padded so that the ratio looks harmless."""
    padding = b"\x50\x2a\x4d\x18" + (12 << 20).to_bytes(4, "little") + bytes(12 << 20)
    bad_archive(home).write_bytes(padding + zstandard.compress(bytes(256 << 20)) * 9)

    with memory(home) as mind:
        (report,) = imported(mind, home)

        assert report.outcome == "failed"
        assert f"expands to more than {2 << 30} bytes" in report.reason


def no_pipe(path: Path) -> None:
    os.mkfifo(path)


def no_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def no_folder(path: Path) -> None:
    path.mkdir()
    (path / "inside.txt").touch()


def no_target(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def no_end(path: Path) -> None:
    path.symlink_to(path.parent / "other")
    (path.parent / "other").symlink_to(path)


def no_disk(path: Path) -> None:
    """A regular file whose first byte cannot be read: an I/O error, as a failing disk gives it."""
    path.symlink_to("/proc/self/mem")


@unix
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (no_pipe, "not a regular file"),
        (no_device, "not a regular file"),
        (no_target, "No such file"),
        (no_end, "symbolic links"),
        pytest.param(no_disk, "Input/output error", marks=linux),
    ],
)
@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_what_is_no_file_is_named_and_left_alone(
    home: Path, agent: str, make: Callable[[Path], None], reason: str
) -> None:
    """We neither wait on a pipe, nor read a device without end, nor walk in circles."""
    neighbours(home)
    path = bad_path(home) if agent == "claude-code" else codex_log(home, [], BAD_THREAD)
    path.unlink(missing_ok=True)
    make(path)

    with memory(home) as mind:
        reports = imported(mind, home)

        assert [(report.path, report.outcome, problems([report])) for report in reports] == [
            (str(path), "failed", [("unreadable", None)])
        ]
        assert reason in reports[0].reason


@unix
def test_a_folder_with_the_name_of_a_log_is_no_log(home: Path) -> None:
    no_folder(bad_path(home))

    with memory(home) as mind:
        assert imported(mind, home) == []


@bound
def test_what_may_not_be_read_is_counted_and_tried_again(home: Path) -> None:
    path = bad_path(home)
    path.write_text(small_talk(BAD).text)
    path.chmod(0)

    with memory(home) as mind:
        (report,) = imported(mind, home)
        path.chmod(0o600)
        mind.import_logs()

        assert (report.outcome, report.reason) == ("failed", "Permission denied")
        assert prompts(mind, REF) == ["question 5-1", "question 5-2"]


@bound
def test_a_folder_that_may_not_be_entered_costs_nobody_else_anything(home: Path) -> None:
    hidden = claude_log(home, small_talk(BAD), "-home-ada-hidden").parent
    hidden.chmod(0)

    with memory(home) as mind:
        imported(mind, home)
    hidden.chmod(0o700)


def test_a_failure_is_tried_again_and_forgotten_when_it_is_over(home: Path) -> None:
    path = bad_path(home)
    path.symlink_to("/dev/null")
    with memory(home) as mind:
        (report,) = imported(mind, home)
        path.unlink()
        path.write_text(small_talk(BAD).text)
        mind.import_logs()

        assert report.outcome == "failed"
        assert prompts(mind, REF) == ["question 5-1", "question 5-2"]
        assert stored_problems(mind) == []


# Names ----------------------------------------------------------------------


@unix
def test_file_names_may_hold_newlines(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claude_log(home, small_talk(BAD), "-home-ada\nshop\x1b[2J")
    bad_path(home).with_name("two\nlines.jsonl").write_text(small_talk(6).text)

    with memory(home) as mind:
        assert imported(mind, home) == []
        assert prompts(mind, REF) == ["question 5-1", "question 5-2"]
        assert prompts(mind, "claude-code:two\nlines") == ["question 6-1", "question 6-2"]


@linux
def test_folder_names_need_not_be_text(home: Path) -> None:
    """A Latin-1 folder from an old disk."""
    folder = os.fsencode(home) + b"/.claude/projects/-home-ada-caf\xe9"
    os.makedirs(folder)
    with open(folder + b"/" + chat(BAD).session.encode() + b".jsonl", "w") as file:
        file.write(small_talk(BAD).text)

    with memory(home) as mind:
        assert imported(mind, home) == []
        assert prompts(mind, REF) == ["question 5-1", "question 5-2"]
        assert (
            os.fsencode(everything(mind)[REF].source or "")
            == folder + b"/" + chat(BAD).session.encode() + b".jsonl"
        )


@linux
def test_file_names_need_not_be_text(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever becomes of such a log, it is said in words that can be
    printed, and the others are complete.
    """
    path = os.fsencode(bad_path(home).parent) + b"/caf\xe9.jsonl"
    with open(path, "w") as file:
        file.write(small_talk(BAD).text)

    with memory(home) as mind:
        imported(mind, home)

    assert main(["import", "--report"]) == 0
    assert "caf\N{REPLACEMENT CHARACTER}.jsonl" in capsys.readouterr().out


@linux
def test_the_report_about_such_a_name_is_json_all_the_same(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = os.fsencode(bad_path(home).parent) + b"/caf\xe9.jsonl"
    with open(path, "w") as file:
        file.write("rubbish\n")

    assert main(["import", "--report", "--json"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()]


# Disks ----------------------------------------------------------------------


@unix
def test_a_home_that_cannot_be_written_is_said_with_what_to_do(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    claude_log(home, small_talk())
    monkeypatch.setenv("RECOLLECT_HOME", "/dev/null/recollect")

    code = main(["import"])

    assert (code, capsys.readouterr().err) == (
        74,
        "error: Cannot write /dev/null/recollect/recollect.db: Not a directory.\n"
        "  Nothing is lost. Free some disk space or fix the permissions, then run the same command "
        "again.\n",
    )


@bound
def test_a_read_only_home_is_said_with_what_to_do(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude_log(home, small_talk())
    folder = home / "read-only"
    folder.mkdir(mode=0o500)
    monkeypatch.setenv("RECOLLECT_HOME", str(folder / "recollect"))

    assert main(["import"]) == 74


def bulk(home: Path, sources: int) -> None:
    for number in range(1, sources + 1):
        words = " ".join(sha256(f"{number} {word}".encode()).hexdigest() for word in range(80))
        claude_log(home, small_talk(number, turns=12, words=f"lorem {words}"))


@pytest.mark.parametrize("sources", [6, 12], ids=["a transaction each", "one transaction"])
def test_a_full_store_loses_nothing_and_is_completed_later(home: Path, sources: int) -> None:
    """SQLite itself says that there is no room.

    What was committed stays, and the next import goes on.
    """
    bulk(home, sources)
    with memory(home) as mind:
        mind.import_logs([claude_path(home, chat(1).session)])
        known = everything(mind)
        db = mind._shared.store().db
        db.execute(f"pragma max_page_count = {db.value('pragma page_count') + 40}")

        with pytest.raises(StoreUnwritable) as failure:
            mind.import_logs()
        kept = everything(mind)
        db.execute("pragma max_page_count = 1000000")
        mind.import_logs()

        assert failure.value.exit_code == 74
        assert known.items() <= kept.items()
        assert all(detail.turns == 12 for detail in kept.values())
        assert db.value("pragma integrity_check") == "ok"
        with memory(home, "in-peace.db") as peace:
            peace.import_logs()
            assert everything(mind) == everything(peace)
            assert refs(mind, "lorem") == refs(peace, "lorem")


@unix
def test_a_full_disk_ends_the_command_with_74_and_nothing_lost(home: Path) -> None:
    """The limit on file sizes makes the kernel refuse to write, as a full disk does."""
    bulk(home, 6)
    folder = home / ".recollect"
    folder.mkdir()
    (folder / "config.toml").write_text("[redact]\nenabled = false\n")
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000));"
    command = "from recollect.serve.cli import main; sys.exit(main(['import']))"
    environ = {**os.environ, "RECOLLECT_HOME": str(folder)}

    ended = subprocess.run(
        [sys.executable, "-c", limited + command],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
    )
    with memory(home) as mind:
        kept = everything(mind)
        mind.import_logs()
        with memory(home, "in-peace.db") as peace:
            peace.import_logs()

            assert ended.returncode == 74, ended.stderr
            assert "Cannot write" in ended.stderr
            assert "Traceback" not in ended.stderr
            assert len(kept) < 6
            assert everything(mind) == everything(peace)
