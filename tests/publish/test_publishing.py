"""Publishing: what was accepted stands in the project's files, nothing else,
and nothing of the person's is touched.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from recollect.errors import FileRefused, FileUnwritable, NotFound, StoreBusy, UsageError
from recollect.model.publications import Decide, Publication
from recollect.publish import publishing
from recollect.publish.block import BEGIN, END
from recollect.serve.agents import publish_targets
from recollect.store import open_store
from tests.builders.lessons import SENTENCE, Shop

GUIDE = b"# Shop\r\n\r\nUse tabs.\r\n"

PROCEDURE = "To release: `npm run build` → `npm publish`"


def publish(
    shop: Shop,
    *targets: str,
    apply: bool = True,
    undo: bool = False,
    decide: Decide = publishing.refuse,
) -> list[Publication]:
    """What `recollect publish` does in the shop's folder, with nothing to redact."""
    store, folder = shop.filled.store, str(shop.folder)
    return publishing.publish(
        store, folder, folder, targets, str, apply=apply, undo=undo, decide=decide,
        agent_targets=publish_targets(),
    )  # fmt: skip


def states(rows: Sequence[Publication]) -> dict[str, str]:
    return {row.path: row.state for row in rows}


def text(shop: Shop, path: str = "AGENTS.md") -> str:
    return (shop.folder / path).read_bytes().decode()


def test_a_diff_is_shown_and_nothing_is_written_unless_asked(shop: Shop) -> None:
    """People want to see what would stand in their files."""
    ref = shop.accepted()

    (row,) = publish(shop, apply=False)

    assert (row.path, row.state, row.refs, row.written) == (
        "AGENTS.md",
        "new",
        [ref],
        False,
    )
    assert row.diff.splitlines()[:3] == ["--- /dev/null", "+++ b/AGENTS.md", "@@ -0,0 +1,9 @@"]
    assert f"+- {SENTENCE} ({ref})" in row.diff.splitlines()
    assert list(shop.folder.iterdir()) == []


def test_what_was_accepted_stands_between_our_markers(shop: Shop) -> None:
    """The rest of the file stays byte for byte, with its line ends and its mode."""
    ref = shop.accepted()
    (shop.folder / "AGENTS.md").write_bytes(GUIDE)
    (shop.folder / "AGENTS.md").chmod(0o640)

    (row,) = publish(shop)

    written = (shop.folder / "AGENTS.md").read_bytes()
    assert written.startswith(GUIDE + b"\r\n" + BEGIN.encode() + b"\r\n")
    assert written.endswith(f"- {SENTENCE} ({ref})\r\n{END}\r\n".encode())
    assert written.count(b"\n") == written.count(b"\r\n")
    assert stat.S_IMODE((shop.folder / "AGENTS.md").stat().st_mode) == 0o640
    assert (row.state, row.written) == ("new", True)
    assert [name.name for name in shop.folder.iterdir()] == ["AGENTS.md"]


def test_publishing_again_changes_nothing(shop: Shop) -> None:
    """No times, no counts, no other order: prompt caches and diffs stay quiet."""
    shop.accepted()
    shop.accepted("Build with `make`")
    publish(shop)
    before, written = text(shop), (shop.folder / "AGENTS.md").stat().st_mtime_ns
    shop.session("d", day=9)

    (row,) = publish(shop)

    assert (row.state, row.diff, row.written) == ("unchanged", "", False)
    assert (text(shop), (shop.folder / "AGENTS.md").stat().st_mtime_ns) == (before, written)


def test_only_what_a_person_typed_or_accepted_about_the_project_is_published(shop: Shop) -> None:
    """What rules overheard waits for the person, whatever its trust; what holds everywhere is the
    person's, not the project's.
    """
    add, project = shop.filled.store.notes.add, str(shop.folder)
    typed = shop.accepted("Use tabs here")
    add("Deploys go through staging", project=project, category="project", author="agent")
    add("Answer in German", project=None, category="preference", author="person")
    add("Never push to main", project=project, category="constraint", author="rules",
        trust="user", status="active")  # fmt: skip
    accepted = add("Prices are in cents", project=project, category="project", author="agent").ref
    shop.filled.store.notes.accept(accepted)

    (row,) = publish(shop)

    assert set(row.refs) == {typed, accepted}
    assert [line for line in text(shop).splitlines() if line.startswith("- ")] == [
        f"- Use tabs here ({typed})",
        f"- Prices are in cents ({accepted})",
    ]
    assert shop.filled.store.publications.notes_of(shop.number) == {typed, accepted}


def test_what_is_rejected_goes_from_every_file_at_the_next_run(shop: Shop) -> None:
    """Whichever targets are named: a file that nobody thinks of would go on saying it."""
    stays, goes = shop.accepted(PROCEDURE), shop.accepted("To build: `make clean` → `make`")
    targets = ["AGENTS.md", "GEMINI.md", "cursor", "skills", "claude-skills", "MEMORY.md"]
    publish(shop, *targets)
    paths = [path for path in shop.folder.rglob("*") if path.is_file()]
    assert len(paths) == len(targets)
    assert all(goes in path.read_text() for path in paths)

    shop.rejected(goes)
    rows = publish(shop, "AGENTS.md")

    assert list(states(rows).values()) == ["changed"] * len(targets)
    assert not any(goes in path.read_text() for path in paths)
    assert all(stays in path.read_text() for path in paths)


def test_a_note_that_was_corrected_is_published_as_it_is_now(shop: Shop) -> None:
    """The old words go with the old note."""
    tabs, cents = shop.accepted("Use tabs here"), shop.accepted("Prices are in cents")
    publish(shop)

    new = shop.filled.store.notes.edit(tabs, "Use spaces here")
    shop.rejected(cents)
    publish(shop)

    assert [line for line in text(shop).splitlines() if line.startswith("- ")] == [
        f"- Use spaces here ({new.ref})"
    ]


def test_a_file_that_we_made_goes_with_the_last_thing_in_it(shop: Shop) -> None:
    """And so do the folders that were made for it; what the person has in them stays."""
    ref = shop.accepted()
    (shop.folder / ".agents").mkdir()
    (shop.folder / ".agents" / "mine.txt").write_text("mine")
    (shop.folder / "GEMINI.md").write_text("")
    publish(shop, "AGENTS.md", "GEMINI.md", "cursor", "skills")
    shop.rejected(ref)

    rows = publish(shop)

    assert set(states(rows).values()) == {"removed"}
    assert sorted(
        str(path.relative_to(shop.folder)) for path in shop.folder.rglob("*") if path.is_file()
    ) == [
        ".agents/mine.txt",
        "GEMINI.md",
    ]
    assert not (shop.folder / ".cursor").exists()
    assert publish(shop)[0].state == "unchanged"


def test_a_file_that_we_made_stays_when_somebody_wrote_into_it(shop: Shop) -> None:
    """Only our part goes."""
    shop.accepted()
    publish(shop)
    with open(shop.folder / "AGENTS.md", "a") as file:
        file.write("\nMine.\n")

    publish(shop, undo=True)

    assert text(shop) == "\nMine.\n"


@pytest.mark.parametrize(
    "before", [GUIDE, b"# Shop\n", b"# Shop", b"\xef\xbb\xbf# Shop\r\n\r\n", b"", b"\n"]
)
def test_undoing_leaves_every_file_as_it_was(shop: Shop, before: bytes) -> None:
    """Byte for byte, and without a trace of what we made."""
    shop.accepted()
    (shop.folder / "AGENTS.md").write_bytes(before)
    publish(shop, "AGENTS.md", "cursor", "skills", "GEMINI.md")

    rows = publish(shop, undo=True)

    assert set(states(rows).values()) == {"removed"}
    assert [str(path.relative_to(shop.folder)) for path in shop.folder.rglob("*")] == ["AGENTS.md"]
    assert (shop.folder / "AGENTS.md").read_bytes() == before


def test_undoing_one_file_leaves_the_others(shop: Shop) -> None:
    """By its name."""
    shop.accepted()
    publish(shop, "AGENTS.md", "GEMINI.md")

    assert states(publish(shop, "GEMINI.md", undo=True)) == {"GEMINI.md": "removed"}

    assert [path.name for path in shop.folder.iterdir()] == ["AGENTS.md"]
    assert states(publish(shop)) == {"AGENTS.md": "unchanged"}


def test_a_skill_moves_with_the_name_of_its_project(shop: Shop) -> None:
    """The old one would stay in the way of the new one, saying what is not true any more."""
    shop.accepted(PROCEDURE)
    publish(shop, "skills")
    shop.db.execute("update projects set key = 'github.com/ada/store' where id = ?", (shop.number,))
    store, folder = shop.filled.store, str(shop.folder)

    rows = publishing.publish(store, folder, "github.com/ada/store", [], str, apply=True)

    assert states(rows) == {
        ".agents/skills/store-procedures/SKILL.md": "new",
        ".agents/skills/shop-procedures/SKILL.md": "removed",
    }
    assert [path.name for path in (shop.folder / ".agents" / "skills").iterdir()] == [
        "store-procedures"
    ]


def test_a_file_of_an_agent_that_was_not_passed_in_stays_until_it_is_undone(shop: Shop) -> None:
    """A script that knows only the files of all agents must not empty those of one."""
    shop.accepted()
    publish(shop, "AGENTS.md", "CLAUDE.md")
    store, folder = shop.filled.store, str(shop.folder)

    again = publishing.publish(store, folder, folder, [], str, apply=True)
    assert states(again) == {"AGENTS.md": "unchanged"}
    assert "@AGENTS.md" in text(shop, "CLAUDE.md")

    undone = publishing.publish(store, folder, folder, [], str, apply=True, undo=True)
    assert states(undone) == {"AGENTS.md": "removed", "CLAUDE.md": "removed"}


def test_a_change_by_hand_inside_the_block_is_asked_about(shop: Shop) -> None:
    """Somebody said something there.

    It is not ours to throw away. Without a person, nothing is written.
    """
    shop.accepted()
    publish(shop, "AGENTS.md", "GEMINI.md")
    edited = text(shop).replace(SENTENCE, "Mine now")
    (shop.folder / "AGENTS.md").write_text(edited)
    shop.accepted("Build with `make`")

    assert states(publish(shop, apply=False)) == {"AGENTS.md": "edited", "GEMINI.md": "changed"}
    with pytest.raises(
        FileRefused, match=r"AGENTS\.md was changed by hand between the markers."
    ) as refused:
        publish(shop)

    assert refused.value.hint.startswith(
        "Add --overwrite to replace it, or --keep to leave the file alone."
    )
    assert text(shop) == edited
    assert "make" not in text(shop, "GEMINI.md")


def test_a_person_may_keep_or_overwrite_what_was_changed_by_hand(shop: Shop) -> None:
    """And is asked about that file alone."""
    shop.accepted()
    publish(shop, "AGENTS.md", "GEMINI.md")
    before, asked = text(shop), list[str]()
    edited = before.replace(SENTENCE, "Mine now")
    (shop.folder / "AGENTS.md").write_text(edited)

    def keep(row: Publication) -> publishing.Decision:
        asked.append(row.path)
        return "keep"

    assert states(publish(shop, decide=keep)) == {"AGENTS.md": "kept", "GEMINI.md": "unchanged"}
    assert (asked, text(shop)) == (["AGENTS.md"], edited)
    assert states(publish(shop, decide=lambda row: "overwrite")) == {
        "AGENTS.md": "changed",
        "GEMINI.md": "unchanged",
    }
    assert text(shop) == before


def test_an_older_block_of_ours_is_no_change_by_hand(shop: Shop) -> None:
    """Whoever checks out an old commit, or moves the project, has blocks that we wrote once."""
    shop.accepted()
    publish(shop)
    old = text(shop)
    shop.accepted("Build with `make`")
    publish(shop)
    new = text(shop)
    (shop.folder / "AGENTS.md").write_text(old)

    assert states(publish(shop)) == {"AGENTS.md": "changed"}
    assert text(shop) == new


def test_a_work_tree_with_other_line_ends_is_no_change_by_hand(shop: Shop) -> None:
    """git may check files out with CRLF that were committed with LF."""
    shop.accepted()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    run = {"cwd": shop.folder, "check": True, "capture_output": True}
    subprocess.run([*git, "init", "-q"], **run)  # type: ignore[call-overload]
    (shop.folder / "AGENTS.md").write_text("# Shop\n")
    publish(shop)
    subprocess.run([*git, "add", "-A"], **run)  # type: ignore[call-overload]
    subprocess.run([*git, "commit", "-qm", "guide"], **run)  # type: ignore[call-overload]
    subprocess.run([*git, "config", "core.autocrlf", "true"], **run)  # type: ignore[call-overload]
    (shop.folder / "AGENTS.md").unlink()
    subprocess.run([*git, "checkout", "-q", "AGENTS.md"], **run)  # type: ignore[call-overload]
    assert "\r\n" in text(shop)

    assert states(publish(shop)) == {"AGENTS.md": "unchanged"}
    shop.accepted("Build with `make`")
    assert states(publish(shop)) == {"AGENTS.md": "changed"}

    assert text(shop).count("\n") == text(shop).count("\r\n")
    difference = subprocess.run([*git, "diff", "--numstat"], **run).stdout.decode().split()  # type: ignore[call-overload]
    assert difference[1:] == ["0", "AGENTS.md"]


def test_one_file_has_the_other_read_where_an_agent_can_do_that(shop: Shop) -> None:
    """The same lines in two files would be read, and paid for, twice."""
    shop.accepted()
    (shop.folder / "AGENTS.md").write_text("# Shop\n")

    rows = publish(shop, "CLAUDE.md")

    assert states(rows) == {"AGENTS.md": "new", "CLAUDE.md": "new"}
    assert SENTENCE in text(shop)
    assert text(shop, "CLAUDE.md") == f"{BEGIN}\n@AGENTS.md\n{END}\n"


def test_a_file_that_has_the_other_read_already_is_left_alone(shop: Shop) -> None:
    """By a line of the person's own, or by being a link to it."""
    shop.accepted()
    (shop.folder / "CLAUDE.md").write_text("# Shop\n\n@AGENTS.md\n")
    assert states(publish(shop, "AGENTS.md", "CLAUDE.md")) == {
        "AGENTS.md": "new",
        "CLAUDE.md": "covered",
    }
    assert text(shop, "CLAUDE.md") == "# Shop\n\n@AGENTS.md\n"

    (shop.folder / "CLAUDE.md").unlink()
    (shop.folder / "CLAUDE.md").symlink_to("AGENTS.md")
    assert states(publish(shop, "AGENTS.md", "CLAUDE.md")) == {
        "AGENTS.md": "unchanged",
        "CLAUDE.md": "covered",
    }


def test_a_link_the_other_way_round_is_no_reason_to_say_nothing(shop: Shop) -> None:
    """AGENTS.md may be a link to CLAUDE.md; that one cannot have itself read."""
    shop.accepted()
    (shop.folder / "CLAUDE.md").write_text("# Shop\n")
    (shop.folder / "AGENTS.md").symlink_to("CLAUDE.md")

    with pytest.raises(FileRefused, match=r"AGENTS\.md is a link, to CLAUDE\.md"):
        publish(shop)
    assert states(publish(shop, "AGENTS.md", "CLAUDE.md")) == {
        "AGENTS.md": "covered",
        "CLAUDE.md": "new",
    }

    assert SENTENCE in text(shop, "CLAUDE.md")
    assert states(publish(shop, "CLAUDE.md")) == {"CLAUDE.md": "unchanged"}


def test_without_the_other_file_the_block_stands_in_the_one_that_was_named(shop: Shop) -> None:
    """Nobody asked for a second file."""
    shop.accepted()

    assert states(publish(shop, "CLAUDE.md")) == {"CLAUDE.md": "new"}
    assert SENTENCE in text(shop, "CLAUDE.md")


def test_a_skill_has_procedures_step_by_step_and_nothing_else(shop: Shop) -> None:
    """Its name and description fit the specification; a copy stands where each agent looks."""
    shop.accepted()
    ref = shop.accepted(PROCEDURE)

    publish(shop, "skills", ".claude/skills")

    copies = [
        shop.folder / place / "shop-procedures" / "SKILL.md"
        for place in (".agents/skills", ".claude/skills")
    ]
    assert sorted(path for path in shop.folder.rglob("*") if path.is_file()) == copies
    for path in copies:
        begins = path.read_text().splitlines()[:4]
        assert begins[:2] == ["---", "name: shop-procedures"]
        assert re.fullmatch(r"description: .{20,1000}", begins[2])
        assert (
            f"### To release ({ref})\n\n1. `npm run build`\n2. `npm publish`\n" in path.read_text()
        )
        assert SENTENCE not in path.read_text()
        assert not path.stat().st_mode & 0o111


def test_rules_are_always_applied(shop: Shop) -> None:
    """Their front matter says so; it stands before our markers and is not touched again."""
    shop.accepted()

    publish(shop, "cursor")

    assert text(shop, ".cursor/rules/recollect.mdc").startswith(
        "---\ndescription: What earlier sessions in this project taught\nalwaysApply: "
        f"true\n---\n\n{BEGIN}\n"
    )


def test_a_link_is_refused(shop: Shop, tmp_path: Path) -> None:
    """It may lead to the person's own settings, or to anywhere: whoever
    wrote the project put it there.
    """
    shop.accepted()
    outside = tmp_path / "outside.md"
    outside.write_text("mine\n")
    (shop.folder / "AGENTS.md").symlink_to(outside)

    with pytest.raises(FileRefused, match=r"AGENTS\.md is a link, to .*outside\.md"):
        publish(shop)

    assert outside.read_text() == "mine\n"


def test_a_folder_that_is_a_link_is_refused(shop: Shop, tmp_path: Path) -> None:
    """The file would be written somewhere else."""
    shop.accepted()
    (tmp_path / "elsewhere").mkdir()
    (shop.folder / ".cursor").symlink_to(tmp_path / "elsewhere", target_is_directory=True)

    with pytest.raises(FileRefused, match=r"\.cursor is a link"):
        publish(shop, "cursor")

    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("content", [b"caf\xe9\n", b"\xff\xfe#\x00"])
def test_what_is_not_utf8_is_refused(shop: Shop, content: bytes) -> None:
    """Decoding it wrongly would change every line of it."""
    shop.accepted()
    (shop.folder / "AGENTS.md").write_bytes(content)

    with pytest.raises(FileRefused, match="is not UTF-8 text"):
        publish(shop)

    assert (shop.folder / "AGENTS.md").read_bytes() == content


def test_a_read_only_file_is_not_replaced(shop: Shop) -> None:
    """A rename would not mind, but whoever made it so does.

    What was published before is still known to be.
    """
    shop.accepted()
    publish(shop)
    shop.accepted("Build with `make`")
    before = text(shop)
    (shop.folder / "AGENTS.md").chmod(0o444)

    with pytest.raises(FileUnwritable, match=r"Cannot write .*AGENTS\.md: the file is read-only"):
        publish(shop)

    assert text(shop) == before
    (shop.folder / "AGENTS.md").chmod(0o644)
    assert states(publish(shop)) == {"AGENTS.md": "changed"}


def test_markers_that_are_no_pair_are_refused_before_anything_is_written(shop: Shop) -> None:
    """One file that is refused means that none is touched."""
    shop.accepted()
    (shop.folder / "GEMINI.md").write_text(f"{BEGIN}\n- one\n")

    with pytest.raises(FileRefused, match=r"GEMINI\.md has our markers torn"):
        publish(shop, "AGENTS.md", "GEMINI.md")

    assert not (shop.folder / "AGENTS.md").exists()


def test_a_folder_that_nothing_is_known_of_says_so(shop: Shop, tmp_path: Path) -> None:
    """Most likely nothing of it was imported yet."""
    (tmp_path / "new").mkdir()
    shop.folder = tmp_path / "new"

    with pytest.raises(NotFound, match="Nothing is known about this folder yet"):
        publish(shop)
    with pytest.raises(UsageError, match="There is no folder"):
        publishing.publish(shop.filled.store, str(tmp_path / "none"), None, [], str)


def test_a_target_that_nobody_knows_is_named_with_those_there_are(shop: Shop) -> None:
    """Nothing is written then."""
    shop.accepted()

    with pytest.raises(UsageError, match='There is no target "NOTES"') as refused:
        publish(shop, "AGENTS.md", "NOTES")

    assert (
        refused.value.hint
        == "Choose AGENTS.md, CLAUDE.md, claude-skills, GEMINI.md, cursor, skills, MEMORY.md, all."
    )
    assert list(shop.folder.iterdir()) == []


def test_a_project_that_was_forgotten_leaves_no_file_behind(shop: Shop) -> None:
    """The files outlive the store's knowledge of the project; the next run takes them away."""
    note = shop.accepted()
    (shop.folder / "GEMINI.md").write_text("# Shop\n")
    publish(shop, "AGENTS.md", "GEMINI.md")
    for ref in shop.sessions.values():
        shop.filled.store.forgetting.session_or_turn(ref, None, dry_run=False)
    shop.rejected(note)
    store, folder = shop.filled.store, str(shop.folder)

    project = store.projects.find([folder])
    rows = publishing.publish(
        store, folder, project, [], str, apply=True, agent_targets=publish_targets()
    )

    assert states(rows) == {"AGENTS.md": "removed", "GEMINI.md": "removed"}
    assert [path.name for path in shop.folder.iterdir()] == ["GEMINI.md"]
    assert text(shop, "GEMINI.md") == "# Shop\n"


def test_what_did_more_harm_than_good_is_not_published_any_more(shop: Shop) -> None:
    """It is left to the person to retire it for good."""
    harmful, other = shop.accepted(), shop.accepted("Build with `make`")
    publish(shop)
    for _ in range(3):
        shop.db.execute(
            "insert into feedback (at, ref, helpful, author) values (0, ?, 0, 'person')", (harmful,)
        )

    (row,) = publish(shop)

    assert row.refs == [other]


def test_two_publishes_at_once_leave_one_whole_block(shop: Shop) -> None:
    """A hook of the editor and a person may run it in the same moment; each waits for the other."""
    shop.accepted()
    (shop.folder / "AGENTS.md").write_text("# Shop\n")
    path, folder = str(shop.filled.path), str(shop.folder)
    failures: list[BaseException] = []
    ready = threading.Barrier(4)

    def run() -> None:
        store = open_store(path)
        try:
            ready.wait()
            for target in ("AGENTS.md", "GEMINI.md"):
                publishing.publish(
                    store, folder, folder, [target], str, apply=True,
                    agent_targets=publish_targets(),
                )  # fmt: skip
        except BaseException as error:
            failures.append(error)
        finally:
            store.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert text(shop).count(BEGIN) == text(shop).count(SENTENCE) == 1
    assert states(publish(shop)) == {"AGENTS.md": "unchanged", "GEMINI.md": "unchanged"}
    assert shop.db.value("select count(*) from publications where gone_at is null") == 2


def test_who_waits_too_long_is_told_so(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written then."""
    shop.accepted()
    monkeypatch.setattr(publishing, "PATIENCE_SECONDS", 0.1)
    assert shop.filled.store.publications.take(os.path.realpath(shop.folder)) is not None

    with pytest.raises(StoreBusy):
        publish(shop)

    assert list(shop.folder.iterdir()) == []


def test_a_file_that_changes_under_our_hands_is_not_overwritten(shop: Shop) -> None:
    """An editor saved it between our reading and our writing."""
    shop.accepted()
    publish(shop)
    edited = text(shop).replace(SENTENCE, "Mine now")
    (shop.folder / "AGENTS.md").write_text(edited)

    def overwrite(row: Publication) -> publishing.Decision:
        (shop.folder / "AGENTS.md").write_text("# All mine\n")
        return "overwrite"

    with pytest.raises(FileRefused, match=r"Another program changed .* just now"):
        publish(shop, decide=overwrite)

    assert text(shop) == "# All mine\n"
