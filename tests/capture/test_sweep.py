"""What one import after another makes of logs that grow, move, shrink and vanish."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from recollect.capture.adapters import Adapter, get_adapter
from recollect.memory import Memory
from recollect.model.logs import Checkpoint, Item, Source
from recollect.model.reports import ImportReport
from recollect.model.sessions import SessionDetail, ToolCall
from tests.builders import codex
from tests.builders.claude_code import Conversation, tokens
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

REF = f"claude-code:{chat(1).session}"


@pytest.fixture
def mind(home: Path) -> Iterator[Memory]:
    """A memory of the test's own home, with nothing in it yet."""
    with memory(home) as opened:
        yield opened


def outcome(report: ImportReport) -> tuple[int, int, int, int]:
    """New, grown or replaced, unchanged, problems."""
    return report.imported, report.updated, report.unchanged, report.problems


def at_once(home: Path) -> dict[str, SessionDetail]:
    """What a memory knows that has seen nothing but the logs as they are now."""
    with memory(home, "at-once.db") as fresh:
        fresh.import_logs()
        return everything(fresh)


def parts(mind: Memory) -> list[int]:
    """How many parts the body of each turn has, oldest turn first."""
    rows = mind._shared.store().db.rows(
        "select count(*) from turns join bodies on bodies.turn = turns.id group by turns.id"
    )
    return [count for (count,) in rows]


def test_a_path_may_be_named_from_anywhere(
    home: Path, mind: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is stored is looked for from other folders later."""
    path = claude_log(home, small_talk())
    monkeypatch.chdir(home)

    for named in (".", ".claude", path.relative_to(home)):
        found = [item.source.path for item in mind.agents.sources([named])]
        assert found == [str(path)]


def test_a_source_that_cannot_be_read_is_counted(home: Path, mind: Memory) -> None:
    """Whoever adds the counts up misses none."""
    claude_log(home, small_talk(1))
    claude_path(home, chat(2)).symlink_to("nowhere")

    report = mind.import_logs()

    assert (report.discovered, report.imported, report.failed) == (2, 1, 1)


# Unchanged, grown, replaced -------------------------------------------------


def test_an_unchanged_log_is_not_opened_again(home: Path, mind: Memory) -> None:
    """Most imports find nothing new in thousands of files, and must be over at once."""
    claude_log(home, small_talk())
    first = mind.import_logs()

    second = mind.import_logs()

    assert outcome(first) == (1, 0, 0, 0)
    assert outcome(second) == (0, 0, 1, 0)
    assert (second.bytes, second.turns, mind.source_reports) == (0, 0, [])


def test_of_a_grown_log_only_the_tail_is_read(home: Path, mind: Memory) -> None:
    talk = small_talk(turns=3)
    path = claude_log(home, talk)
    mind.import_logs()
    before = path.stat().st_size
    add_turn(talk, "1-4")
    claude_log(home, talk)

    report = mind.import_logs()

    assert outcome(report) == (0, 1, 0, 0)
    assert (report.bytes, report.turns) == (path.stat().st_size - before, 1)
    assert everything(mind) == at_once(home)


def test_a_half_written_line_waits_for_the_next_run(home: Path, mind: Memory) -> None:
    """The agent may be writing while we read; that is not a broken log."""
    talk = small_talk(turns=2)
    path = claude_log(home, talk)
    path.write_text(talk.text[:-30])

    first = mind.import_logs()
    path.write_text(talk.text)
    second = mind.import_logs()

    assert outcome(first) == (1, 0, 0, 0)
    assert outcome(second) == (0, 1, 0, 0)
    assert everything(mind) == at_once(home)


def test_a_replaced_log_is_read_from_its_start(home: Path, mind: Memory) -> None:
    claude_log(home, small_talk(1, turns=2))
    mind.import_logs()
    other = small_talk(1, turns=3, words="rewritten")

    path = claude_log(home, other)
    report = mind.import_logs()

    assert outcome(report) == (0, 1, 0, 0)
    assert report.bytes == path.stat().st_size
    assert refs(mind, "rewritten") == [f"{REF}#1", f"{REF}#2", f"{REF}#3"]
    assert everything(mind) == at_once(home)


def test_a_log_rewritten_in_place_with_the_same_size_is_read_again(
    home: Path, mind: Memory
) -> None:
    """Neither the size nor the first and last bytes tell; the time does."""
    talk = small_talk(turns=40)
    path = claude_log(home, talk)
    mind.import_logs()

    path.write_text(talk.text.replace("question 1-20", "QUESTION 1-20"))
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1_000_000))
    mind.import_logs()

    assert prompts(mind, REF)[19] == "QUESTION 1-20"
    assert everything(mind) == at_once(home)


def test_the_same_holds_while_its_last_line_is_unfinished(home: Path, mind: Memory) -> None:
    talk = small_talk(turns=40)
    path = claude_log(home, talk)
    path.write_text(talk.text[:-30])
    mind.import_logs()

    path.write_text(talk.text[:-30].replace("question 1-20", "QUESTION 1-20"))
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1_000_000))
    mind.import_logs()

    assert prompts(mind, REF)[19] == "QUESTION 1-20"
    assert everything(mind) == at_once(home)


def test_a_rotated_log_with_the_same_head_goes_on_where_it_was(home: Path, mind: Memory) -> None:
    """Editors and sync tools write a new file and rename it: another inode, the same log."""
    talk = small_talk(turns=20)
    path = claude_log(home, talk)
    mind.import_logs()
    before = path.stat()
    add_turn(talk, "1-21")
    new = path.with_suffix(".new")
    new.write_text(talk.text)
    new.replace(path)

    report = mind.import_logs()

    assert path.stat().st_ino != before.st_ino
    assert report.bytes == path.stat().st_size - before.st_size
    assert everything(mind) == at_once(home)


def test_another_inode_with_the_same_content_changes_nothing(home: Path, mind: Memory) -> None:
    path = claude_log(home, small_talk())
    mind.import_logs()
    known = everything(mind)

    shutil.copy2(path, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)
    report = mind.import_logs()

    assert (report.turns, report.problems) == (0, 0)
    assert everything(mind) == known
    assert outcome(mind.import_logs()) == (0, 0, 1, 0)


def test_a_truncated_log_takes_nothing_away(home: Path, mind: Memory) -> None:
    """The store outlives its sources: what a log no longer says was said all the same."""
    talk = small_talk(turns=4)
    path = claude_log(home, talk)
    mind.import_logs()
    known = everything(mind)

    path.write_text("".join(talk.lines[:8]))
    first = mind.import_logs()
    path.write_text("")
    second = mind.import_logs()

    assert (first.problems, second.problems) == (0, 0)
    assert everything(mind) == known


def test_a_log_that_was_cut_grows_again_from_there(home: Path, mind: Memory) -> None:
    talk = small_talk(turns=4)
    path = claude_log(home, talk)
    mind.import_logs()
    path.write_text("".join(talk.lines[:8]))
    mind.import_logs()

    add_turn(talk, "1-5")
    path.write_text(talk.text)
    mind.import_logs()

    assert everything(mind) == at_once(home)


def test_a_log_cut_in_the_middle_of_a_turn_takes_nothing_away(home: Path, mind: Memory) -> None:
    talk = small_talk(turns=2)
    path = claude_log(home, talk)
    mind.import_logs()
    known = everything(mind)

    path.write_text("".join(talk.lines[:5]))
    mind.import_logs()

    assert everything(mind) == known


def test_an_older_copy_of_a_session_takes_nothing_away(
    home: Path, tmp_path: Path, mind: Memory
) -> None:
    """People import backups; the live log said more."""
    talk = small_talk(turns=2)
    path = claude_log(home, talk)
    mind.import_logs()
    said = [turn.events for turn in everything(mind)[REF].turn_list]

    backup = tmp_path / "backup" / path.name
    backup.parent.mkdir()
    backup.write_text("".join(talk.lines[:5]))
    mind.import_logs([backup])

    assert [turn.events for turn in everything(mind)[REF].turn_list] == said


def test_a_clock_that_runs_backwards_hides_nothing(home: Path, mind: Memory) -> None:
    """A changed time is a changed time, whichever way it went."""
    talk = small_talk(turns=2)
    path = claude_log(home, talk)
    mind.import_logs()
    add_turn(talk, "1-3")
    claude_log(home, talk)
    os.utime(path, (1_000_000, 1_000_000))

    report = mind.import_logs()

    assert outcome(report) == (0, 1, 0, 0)
    assert everything(mind) == at_once(home)


def test_a_vanished_log_stays_remembered(home: Path, mind: Memory) -> None:
    """Agents delete their logs after some weeks; that is why we are here."""
    path = claude_log(home, small_talk())
    mind.import_logs()
    known = everything(mind)

    path.unlink()
    report = mind.import_logs()

    assert report.discovered == 0
    assert everything(mind) == known
    assert refs(mind, "question") == [f"{REF}#1", f"{REF}#2"]


def test_a_moved_log_is_the_same_session(home: Path, mind: Memory) -> None:
    path = claude_log(home, small_talk())
    mind.import_logs()
    (known,) = everything(mind).values()

    moved = claude_path(home, path.stem, "-home-ada-store")
    moved.parent.mkdir()
    path.rename(moved)
    report = mind.import_logs()

    known.source = str(moved)
    assert (report.turns, everything(mind)) == (0, {REF: known})


def test_a_copy_of_a_log_counts_once(home: Path, mind: Memory) -> None:
    path = claude_log(home, small_talk())
    mind.import_logs()
    before = mind.stats("all")

    copy = claude_path(home, path.stem, "-home-ada-backup")
    copy.parent.mkdir()
    shutil.copy(path, copy)
    mind.import_logs()

    assert mind.stats("all") == before
    assert len(refs(mind, "question")) == 2


# Turn numbers ---------------------------------------------------------------


def test_turn_numbers_never_change(home: Path, mind: Memory) -> None:
    """Notes and evidence cite them: a turn that is gone keeps
    its number, a new one gets the next.
    """
    talk = small_talk(turns=3)
    claude_log(home, talk)
    mind.import_logs()

    without_the_second = chat(1)
    without_the_second.lines = talk.lines[:4] + talk.lines[8:]
    without_the_second.count, without_the_second.second, without_the_second.tip = (
        talk.count,
        talk.second,
        talk.tip,
    )
    add_turn(without_the_second, "1-4")
    claude_log(home, without_the_second)
    mind.import_logs()

    assert prompts(mind, REF) == ["question 1-1", "question 1-2", "question 1-3", "question 1-4"]


def test_turns_are_found_again_by_their_own_ids_after_a_replacement(
    home: Path, mind: Memory
) -> None:
    """The same turns in another order are the same turns."""
    talk = small_talk(turns=2)
    claude_log(home, talk)
    mind.import_logs()

    turned = chat(1)
    turned.lines = talk.lines[4:] + talk.lines[:4]
    claude_log(home, turned)
    report = mind.import_logs()

    assert report.turns == 0
    assert prompts(mind, REF) == ["question 1-1", "question 1-2"]
    assert len(refs(mind, "question")) == 2


# Long open turns ------------------------------------------------------------


def test_a_long_open_turn_costs_what_it_grew(home: Path, mind: Memory) -> None:
    """An agent at work for an hour is imported every few seconds."""
    talk = chat(1)
    talk.user("a long task")
    path = claude_log(home, talk)
    mind.import_logs()
    sizes = []
    for step in range(5):
        before = path.stat().st_size
        talk.reply(f"word{step}")
        claude_log(home, talk)
        report = mind.import_logs()
        sizes.append((report.bytes, path.stat().st_size - before))

    assert [read for read, _ in sizes] == [grown for _, grown in sizes]
    assert parts(mind) == [6]
    assert [refs(mind, f"word{step}") for step in range(5)] == [[f"{REF}#1"]] * 5
    assert refs(mind, "task word4") == [f"{REF}#1"], (
        "the prompt and the newest answer find it together"
    )
    assert everything(mind) == at_once(home)


def test_the_parts_of_a_turn_become_one_when_it_closes(home: Path, mind: Memory) -> None:
    talk = chat(1)
    talk.user("a long task")
    for step in range(5):
        talk.reply(f"word{step}")
        claude_log(home, talk)
        mind.import_logs()
    grown = parts(mind)

    talk.user("the next one")
    claude_log(home, talk)
    mind.import_logs()

    assert (grown, parts(mind)) == ([5], [1, 1])
    assert [refs(mind, f"word{step}") for step in range(5)] == [[f"{REF}#1"]] * 5
    assert everything(mind) == at_once(home)


def test_a_turn_that_stays_open_for_days_is_merged_now_and_then(home: Path, mind: Memory) -> None:
    talk = chat(1)
    talk.user("a very long task")
    for step in range(40):
        talk.reply(f"word{step}")
        claude_log(home, talk)
        mind.import_logs()

    assert parts(mind)[0] < 32
    assert [refs(mind, f"word{step}") for step in (0, 31, 39)] == [[f"{REF}#1"]] * 3
    assert everything(mind) == at_once(home)


def test_a_result_that_comes_in_a_later_run_is_joined_to_its_call(home: Path, mind: Memory) -> None:
    talk = chat(1)
    talk.user("build it")
    talk.call("Bash", {"command": "make"}, "toolu_1")
    talk.call("Bash", {"command": "make test"}, "toolu_2")
    claude_log(home, talk)
    mind.import_logs()
    (waiting,) = everything(mind)[REF].turn_list

    talk.result("toolu_2", "segfault in parser", error=True)
    claude_log(home, talk)
    mind.import_logs()
    talk.result("toolu_1", "linked fine")
    claude_log(home, talk)
    mind.import_logs()
    (joined,) = everything(mind)[REF].turn_list

    assert [event.ok for event in waiting.events if isinstance(event, ToolCall)] == [None, None]
    assert [(event.output, event.ok) for event in joined.events if isinstance(event, ToolCall)] == [
        ("linked fine", True),
        ("segfault in parser", False),
    ]
    assert (
        refs(mind, "segfault")
        == refs(mind, "linked")
        == refs(mind, "build segfault")
        == [f"{REF}#1"]
    )
    assert everything(mind) == at_once(home)
    assert mind.stats("all")[0].failed_tool_calls == 1


# Forks and sub-agents -------------------------------------------------------


def fork_of(talk: Conversation, number: int) -> Conversation:
    """A session that begins with a copy of another's records, as resuming with a fork leaves it."""
    fork = chat(number, forkedFrom={"sessionId": talk.session, "messageUuid": talk.tip})
    fork.lines = [line.replace(talk.session, fork.session) for line in talk.lines]
    fork.tip, fork.second = talk.tip, talk.second
    add_turn(fork, f"{number}-own")
    return fork


def codex_family() -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """A thread, and one forked from it with its history copied in one go."""
    parent = codex_talk(codex.PARENT)
    copied = [{**record, "timestamp": codex.clock(60, 5)} for record in codex_talk(codex.PARENT)]
    own = [
        codex.context(codex.clock(90)),
        codex.user("prune them too", codex.clock(90)),
        codex.tokens(codex.usage(900, 100, 80), codex.usage(400, 0, 30), codex.clock(91)),
        codex.assistant("Pruned.", codex.clock(92)),
    ]
    return parent, [
        codex.meta(codex.THREAD, codex.clock(60), forked_from_id=codex.PARENT),
        *copied,
        *own,
    ]


@pytest.mark.parametrize("first", ["parent", "fork"])
def test_a_fork_counts_the_same_before_and_after_its_parent(
    home: Path, mind: Memory, first: str
) -> None:
    """What a fork copied was spent once, by its parent."""
    parent, fork = codex_family()
    talk = small_talk(1)
    writers = {
        "parent": lambda: (claude_log(home, talk), codex_log(home, parent, codex.PARENT)),
        "fork": lambda: (claude_log(home, fork_of(talk, 2)), codex_log(home, fork, codex.THREAD)),
    }
    second = "fork" if first == "parent" else "parent"

    writers[first]()
    mind.import_logs()
    writers[second]()
    mind.import_logs()

    assert everything(mind) == at_once(home)
    assert {row.name: (row.tokens.output, row.model_calls) for row in mind.stats("agent")} == {
        "claude-code": (300, 6),
        "codex": (80, 2),
    }


def test_the_figures_of_a_split_message_count_once(home: Path, mind: Memory) -> None:
    """One API message over several lines repeats its usage, also
    when an import falls between them.
    """
    talk = chat(1)
    talk.user("think")
    talk.reply("first half", message="msg_1", usage=tokens(output=10))
    claude_log(home, talk)
    mind.import_logs()

    talk.reply("second half", message="msg_1", usage=tokens(output=70))
    claude_log(home, talk)
    mind.import_logs()

    assert everything(mind) == at_once(home)
    assert mind.stats("all")[0].tokens.output == 70


# What is looked at ----------------------------------------------------------


def test_a_dry_run_reads_everything_and_creates_no_file(home: Path) -> None:
    claude_log(home, small_talk())
    codex_log(home, codex_talk())
    before = sorted(home.rglob("*"))

    with memory(home) as mind:
        report = mind.import_logs(dry_run=True)

    assert (report.imported, report.sessions, report.turns, report.tool_calls) == (2, 2, 3, 3)
    assert sorted(home.rglob("*")) == before


def test_a_dry_run_that_removes_secrets_creates_no_file_either(home: Path) -> None:
    claude_log(home, small_talk())
    before = sorted(home.rglob("*"))

    with memory(home, redact__enabled=True) as mind:
        mind.import_logs(dry_run=True)

    assert sorted(home.rglob("*")) == before


def test_a_dry_run_over_a_store_leaves_it_as_it_is(home: Path) -> None:
    """Not even the price of a model seen for the first time is noted down."""
    claude_log(home, small_talk(1))
    with memory(home) as mind:
        mind.import_logs()
        known = everything(mind)
    store = home / ".recollect" / "recollect.db"
    before = store.read_bytes()
    later = small_talk(2)
    later.lines = [line.replace("claude-opus-4-5", "claude-sonnet-4-5") for line in later.lines]
    claude_log(home, later)

    with memory(home) as mind:
        report = mind.import_logs(dry_run=True)
        after = everything(mind)

    assert (report.imported, report.turns) == (1, 2)
    assert (after, store.read_bytes()) == (known, before)


def test_excluded_paths_are_never_imported(home: Path) -> None:
    claude_log(home, small_talk(1), "-home-ada-shop")
    claude_log(home, small_talk(2), "-home-ada-diary")

    with memory(home, sources__excluded=["*/-home-ada-diary/*"]) as mind:
        report = mind.import_logs()

        assert report.discovered == 1
        assert list(everything(mind)) == [REF]


def test_extra_folders_are_imported_too(home: Path, tmp_path: Path) -> None:
    """A folder of logs, a home, or one that is not there today."""
    claude_log(tmp_path / "laptop", small_talk(1))
    (tmp_path / "loose").mkdir()
    small_talk(2).write(tmp_path / "loose" / f"{chat(2).session}.jsonl")
    codex_log(home, codex_talk())

    extra = [str(tmp_path / "laptop"), str(tmp_path / "loose"), str(tmp_path / "stick")]
    with memory(home, sources__extra=extra) as mind:
        mind.import_logs()

        assert sorted(everything(mind)) == [
            REF,
            f"claude-code:{chat(2).session}",
            f"codex:{codex.THREAD}",
        ]


def test_only_the_agents_that_are_wanted_are_imported(home: Path) -> None:
    claude_log(home, small_talk(1))
    codex_log(home, codex_talk())

    with memory(home, sources__agents=["codex"]) as mind:
        mind.import_logs()

        assert list(everything(mind)) == [f"codex:{codex.THREAD}"]


def test_the_folders_of_a_home_are_logs_only_where_agents_keep_them(
    home: Path, tmp_path: Path, mind: Memory
) -> None:
    """~/projects is full of JSON Lines that are somebody's data, not Claude Code's."""
    other = tmp_path / "other"
    claude_log(other, small_talk(1))
    data = other / "projects" / "model" / "train.jsonl"
    data.parent.mkdir(parents=True)
    data.write_text('{"type": "user", "message": {"role": "user", "content": "a sample"}}\n')

    mind.import_logs([other])

    assert list(everything(mind)) == [REF]


def test_a_folder_of_homes_gives_the_logs_of_all_of_them(tmp_path: Path, mind: Memory) -> None:
    claude_log(tmp_path / "backup" / "ada", small_talk(1))
    codex_log(tmp_path / "backup" / "kim", codex_talk())

    mind.import_logs([tmp_path / "backup"])

    assert sorted(everything(mind)) == [REF, f"codex:{codex.THREAD}"]


def test_a_foreign_home_says_nothing_about_the_folders_here(home: Path, tmp_path: Path) -> None:
    """Somebody else's /home/ada/shop may be a repository of ours."""
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / ".git" / "config").write_text(
        '[remote "origin"]\n\turl = git@github.com:ada/shop.git\n'
    )
    claude_log(home, small_talk(1, cwd=str(shop)))
    claude_log(tmp_path / "foreign", small_talk(1, cwd=str(shop)))

    projects = []
    for name, paths in (("ours.db", []), ("theirs.db", [tmp_path / "foreign"])):
        with memory(home, name) as mind:
            mind.import_logs(paths)
            projects.append([session.project for session in everything(mind).values()])

    assert projects == [["github.com/ada/shop"], [str(shop)]]


def test_an_archive_that_was_written_anew_is_not_added_twice(
    home: Path, tmp_path: Path, mind: Memory
) -> None:
    """A compressed log is read whole each time, also when a person points at the file itself."""
    text = "".join(codex.lines(codex_talk()))
    more = "".join(codex.lines([codex.assistant("And raked.", codex.clock(60))]))
    path = tmp_path / f"rollout-2026-03-01T09-00-00-{codex.THREAD}.jsonl.zst"
    path.write_bytes(zstandard.compress(text.encode()))
    mind.import_logs([path])

    path.write_bytes(zstandard.compress(text.encode()) + zstandard.compress(more.encode()))
    mind.import_logs([path])

    with memory(home, "at-once.db") as fresh:
        fresh.import_logs([path])
        assert everything(mind) == everything(fresh)


# Adapters -------------------------------------------------------------------


class Reading:
    """Claude Code's adapter at another version, or one that fails on the
    first session after so many bytes.
    """

    agent, name = "claude-code", "Claude Code"

    def __init__(
        self, version: int = 1, *, stop_at: int = 0, fault: BaseException | None = None
    ) -> None:
        self.version, self.stop_at, self.fault = version, stop_at, fault
        self.inner: Adapter = get_adapter("claude-code")
        self.roots, self.sources, self.find_source = (
            self.inner.roots,
            self.inner.sources,
            self.inner.find_source,
        )
        self.endings = self.inner.endings

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        for item in self.inner.read(source, since):
            yield item
            if (
                self.fault
                and source.path.endswith("1.jsonl")
                and isinstance(item, Checkpoint)
                and item.position > self.stop_at
            ):
                raise self.fault


def reading(home: Path, adapter: Reading, name: str = "recollect.db") -> Memory:
    with memory(home, name) as plain:
        return Memory(plain.settings, adapters={"claude-code": adapter})


def test_a_newer_reading_of_a_format_reads_its_logs_again(home: Path) -> None:
    claude_log(home, small_talk(1))
    with reading(home, Reading(1)) as mind:
        mind.import_logs()
        known = everything(mind)

    with reading(home, Reading(2)) as mind:
        reports = [mind.import_logs(), mind.import_logs()]

        assert [outcome(report) for report in reports] == [(0, 1, 0, 0), (0, 0, 1, 0)]
        assert everything(mind) == known


def test_a_fault_in_an_adapter_costs_one_source(home: Path) -> None:
    """It is counted and said, the neighbours are complete, and the source is tried again."""
    claude_log(home, small_talk(1))
    claude_log(home, small_talk(2))
    with reading(home, Reading(fault=ZeroDivisionError("by nought"))) as mind:
        report = mind.import_logs()
        failed = [(one.outcome, one.reason) for one in mind.source_reports]

        assert outcome(report) == (1, 0, 0, 1)
        assert failed == [("failed", "ZeroDivisionError: by nought"), ("imported", "")]
        assert prompts(mind, f"claude-code:{chat(2).session}") == ["question 2-1", "question 2-2"]

    with memory(home) as mind:
        mind.import_logs()

        assert everything(mind) == at_once(home)


def bulky_talk() -> Conversation:
    """A log of more than one transaction: its lines are long, and few."""
    talk = chat(1)
    for turn in range(24):
        talk.user(f"question {turn}")
        talk.reply(f"answer {turn} " + "lorem ipsum " * 270_000)
    return talk


@pytest.mark.store
@pytest.mark.parametrize("known_before", [False, True], ids=["first reading", "second reading"])
def test_a_reading_stopped_between_two_transactions_goes_on(home: Path, known_before: bool) -> None:
    """Large logs are committed on the way.

    Being read for the second time must not add what is there.
    """
    claude_log(home, bulky_talk())
    if known_before:
        with reading(home, Reading(1)) as mind:
            mind.import_logs()

    with (
        reading(home, Reading(2, stop_at=66 << 20, fault=KeyboardInterrupt())) as mind,
        pytest.raises(KeyboardInterrupt),
    ):
        mind.import_logs()
    with reading(home, Reading(2)) as mind:
        mind.import_logs()
        turns = everything(mind)[REF].turn_list

    assert [len(turn.events) for turn in turns] == [2] * 24
    assert [turn.reply.split()[1] for turn in turns] == [str(turn) for turn in range(24)]


def test_a_fault_that_quotes_the_log_gives_no_secret_away(home: Path) -> None:
    """An exception may say what it could not read.

    That is stored too, so it is cleaned like the rest.
    """
    secret = "correct-horse-battery-staple-42"
    claude_log(home, small_talk(1))
    with memory(home, redact__enabled=True) as plain:
        settings = plain.settings

    with Memory(
        settings, adapters={"claude-code": Reading(fault=ValueError("DB_" + f"PASSWORD={secret}"))}
    ) as mind:
        mind.import_logs()

        assert [secret in one.reason for one in mind.source_reports] == [False]
    assert secret.encode() not in Path(settings.store).read_bytes()


def test_two_sessions_without_times_are_not_copies_of_each_other(home: Path) -> None:
    """People ask the same twice; only a time would tell a copy of a fork from that."""
    for number in "12":
        asked = {"type": "message", "role": "user", "content": [{"text": "prune the roses"}]}
        codex_log(home, [{"id": number * 8, "instructions": None}, asked], number * 8)
        record = {"type": "user", "message": {"role": "user", "content": "prune the roses"}}
        path = claude_path(home, f"5e551011-0000-4000-8000-00000000000{number}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record) + "\n")

    with memory(home) as mind:
        mind.import_logs()
        found = mind.search("prune roses", mode="text")

    assert len({hit.session for hit in found}) == 4
