"""The rows that are kept ready: read without waiting, and never
saved over what was changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable

import apsw
import pytest

from recollect.store.hook_lines import PromptLine, Reminder
from recollect.store.sqlite.database import APPLICATION_ID, SCHEMA, Database
from recollect.store.sqlite.hook_lines import HookLines
from recollect.store.sqlite.ready import APPLICATION_ID as SAME_APPLICATION_ID
from recollect.store.sqlite.ready import SCHEMA as SAME_SCHEMA
from recollect.store.sqlite.ready import Ready
from tests.store.conftest import Filled, facts, turn

SHOP = "/home/ada/shop"


def shop(filled: Filled) -> int:
    """A project with a turn in it."""
    filled.keep("a.jsonl", facts("a", cwd=SHOP), *turn("a", "1", "water the trees"))
    return int(filled.db.value("select id from projects where key = ?", (SHOP,)))


def fill(db: Database, project: int, begun: int, word: str = "webhook") -> None:
    """Everything that is kept ready about a project."""
    lines = HookLines(db)
    line = PromptLine("codex:a#1", f"- the {word}", 5, {word: 3, "about": 1}, facts=7, session=1)
    lines.save_prompt_lines(project, begun, [line])
    lines.save_pack(
        project, begun, f"pack of {word}", ["codex:a#1"],
        compact="- use tabs", compact_refs=["note:1"], long="long",
    )  # fmt: skip


def contents(db: Database) -> list[object]:
    return [
        db.rows("select project, text, refs from packs where text != ''"),
        db.rows("select project, ref, line, at from prompt_lines"),
        db.rows("select word from prompt_words order by word"),
        db.rows("select * from prompt_word_counts order by word"),
    ]


def test_the_hook_knows_the_same_versions_as_the_store(filled: Filled) -> None:
    """It does not load the module that says so."""
    assert (SAME_SCHEMA, APPLICATION_ID) == (SCHEMA, SAME_APPLICATION_ID)
    assert Ready.open(str(filled.path)) is not None


def test_what_is_saved_is_what_is_read(filled: Filled) -> None:
    """By whom hooks and `recall` ask."""
    project = shop(filled)
    fill(filled.db, project, HookLines(filled.db).begin(project))
    webhook = Reminder("webhook *", "/srv", "note:1", "- webhook failed", 5)
    HookLines(filled.db).save_reminders(SHOP, [("command", "webhook", webhook)])

    ready = Ready.open(str(filled.path))

    assert ready is not None
    assert ready.project(["nowhere", SHOP]) == project
    assert ready.pack(project) == ("pack of webhook", "codex:a#1")
    (reminder,) = ready.reminders(project, "command", "run the WEBHOOK now")
    assert (reminder.shape, reminder.folder, reminder.refs, reminder.line) == (
        "webhook *", "/srv", "note:1", "- webhook failed",
    )  # fmt: skip
    assert ready.after_compaction(project) == ("- use tabs", "note:1")
    assert ready.facts(project) == [(0, 7, 1)]
    assert ready.postings(project, ["webhook", "x"]) == {"webhook": [3]}
    assert {
        place: (told.refs, told.line, told.at)
        for place, told in ready.prompt_lines(project, [0]).items()
    } == {0: ("codex:a#1", "- the webhook", 5)}
    assert (ready.counts(["webhook", "about", "x"]), ready.total()) == (
        {"webhook": 1, "about": 1},
        1,
    )


def test_what_is_told_everywhere_stands_beside_the_lines_of_every_project(filled: Filled) -> None:
    """With places of its own."""
    project = shop(filled)
    lines = HookLines(filled.db)
    fill(filled.db, project, lines.begin(project))
    tabs = [
        PromptLine(f"note:{number}", "- use tabs", None, {"tab": 1, "webhook": 2}, facts=0)
        for number in (1, 2)
    ]

    lines.save_common_lines(tabs)

    ready = lines.ready()
    assert ready.facts(project) == [(0, 7, 1), (-1, 0, None), (-2, 0, None)]
    found = ready.postings(project, ["webhook"])["webhook"]
    assert sorted((posting >> 16, posting & 0xFFFF) for posting in found) == [
        (-2, 2), (-1, 2), (0, 3),
    ]  # fmt: skip
    assert {place: told.refs for place, told in ready.prompt_lines(project, [0, -2]).items()} == {
        0: "codex:a#1",
        -2: "note:2",
    }
    assert ready.counts(["webhook"]) == {"webhook": 3}


def test_the_words_of_a_line_go_with_it_and_the_others_are_found_again(filled: Filled) -> None:
    """Who forgets a turn wants none of its words kept; the job makes those of the other turns."""
    project = shop(filled)
    lines = HookLines(filled.db)
    begun = lines.begin(project)
    fill(filled.db, project, begun)

    with filled.db.transaction():
        lines.drop({"codex:a#1"})

    assert contents(filled.db)[1:] == [[], [], []]
    assert lines.outdated() == [(project, SHOP)]


def test_others_are_told_nothing_of_it(filled: Filled) -> None:
    """Each question names its project."""
    project = shop(filled)
    fill(filled.db, project, HookLines(filled.db).begin(project))
    ready = Ready(filled.db.connection)

    assert ready.pack(project + 1) is None
    assert ready.reminders(project + 1, "command", "webhook") == []
    assert ready.facts(project + 1) == []
    assert ready.postings(project + 1, ["webhook"]) == {}
    assert ready.prompt_lines(project + 1, [0]) == {}
    assert ready.reminders(project, "error", "webhook") == []


def test_it_never_writes(filled: Filled) -> None:
    """Whoever reads for an agent may not change what is remembered."""
    shop(filled)
    ready = Ready.open(str(filled.path))
    assert ready is not None

    with pytest.raises(apsw.ReadOnlyError):
        ready.connection.execute("delete from turns")


# Changes while something is prepared


@pytest.mark.parametrize(
    "change",
    [
        lambda db, project: HookLines(db).outdate(project),
        lambda db, project: HookLines(db).outdate(),
    ],
    ids=["of a project", "of all"],
)
def test_what_was_changed_meanwhile_is_prepared_again(
    filled: Filled, change: Callable[[Database, int], None]
) -> None:
    """The note that came while the pack was made is not in it; the job has to come back."""
    project = shop(filled)
    fill(filled.db, project, HookLines(filled.db).begin(project), "webhook")
    before = contents(filled.db)
    begun = HookLines(filled.db).begin(project)
    with filled.db.transaction():
        change(filled.db, project)

    fill(filled.db, project, begun, "deadlock")

    assert contents(filled.db) == before
    assert HookLines(filled.db).outdated() == [(project, SHOP)]


def test_what_was_forgotten_meanwhile_is_not_saved(filled: Filled) -> None:
    """It was read before it was forgotten, and would be written after."""
    project = shop(filled)
    begun = HookLines(filled.db).begin(project)
    with filled.db.transaction():
        HookLines(filled.db).clear([project])

    fill(filled.db, project, begun)

    assert contents(filled.db) == [[], [], [], []]
    assert HookLines(filled.db).outdated() == [(project, SHOP)]


def gone(db: Database, project: int) -> None:
    for table in ("bodies", "tool_calls", "usage", "turns", "sessions", "projects"):
        db.execute(f"delete from {table}")


def merged(db: Database, project: int) -> None:
    db.execute("insert into projects (key, kind) values ('/srv/all', 'directory')")
    db.execute("update projects set merged_into = last_insert_rowid() where id = ?", (project,))
    HookLines(db).clear([project])


@pytest.mark.parametrize("change", [gone, merged])
@pytest.mark.parametrize("early", [True, False], ids=["before it began", "after it began"])
def test_a_project_that_is_there_no_more_is_not_prepared(
    filled: Filled, change: Callable[[Database, int], None], early: bool
) -> None:
    """The job has a list of projects, and it takes its time."""
    project = shop(filled)
    begun = 0 if early else HookLines(filled.db).begin(project)
    with filled.db.transaction():
        change(filled.db, project)

    fill(filled.db, project, HookLines(filled.db).begin(project) if early else begun)

    assert contents(filled.db) == [[], [], [], []]
    assert filled.db.rows("select * from packs") == []


def test_of_two_that_prepare_the_same_the_later_one_counts(filled: Filled) -> None:
    """It has read more."""
    project = shop(filled)
    first = HookLines(filled.db).begin(project)
    filled.db.execute("update packs set made_at = made_at + 5")
    second = first - 5

    fill(filled.db, project, first, "webhook")
    fill(filled.db, project, second, "deadlock")

    assert filled.db.rows("select text from packs") == [("pack of deadlock",)]


def test_a_log_that_is_read_meanwhile_outdates(filled: Filled) -> None:
    """Also when both happen within a millisecond."""
    project = shop(filled)
    begun = HookLines(filled.db).begin(project)
    filled.keep("b.jsonl", facts("b", cwd=SHOP), *turn("b", "2", "prune the trees"))

    fill(filled.db, project, begun)

    assert HookLines(filled.db).outdated() == [(project, SHOP)]


def test_a_project_that_is_gone_takes_what_was_ready_with_it(filled: Filled) -> None:
    """Down to the words."""
    project = shop(filled)
    fill(filled.db, project, HookLines(filled.db).begin(project))

    with filled.db.transaction():
        gone(filled.db, project)

    assert contents(filled.db) == [[], [], [], []]


def test_the_mark_of_a_store_stays_and_is_its_own(filled: Filled) -> None:
    """A block that comes back in a log next year has to be known."""
    first = HookLines(filled.db).mark()

    ready = Ready.open(str(filled.path))

    assert ready is not None
    assert len(first) == 8
    assert HookLines(filled.db).mark() == ready.mark() == first
