"""What every hub promises, as tests: each kind of server runs them all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from recollect import Memory
from recollect.errors import UsageError
from recollect.model.episodes import Step
from tests.share.people import PROJECT, Person

Joins = Callable[..., Person]


class HubContract:
    """One team on a real server; its people talk to their own stores, and sync."""

    def test_nothing_is_shared_before_somebody_says_so(self, ana: Person, joins: Joins) -> None:
        """A memory that leaves by itself would be a leak."""
        ana.says("Use pnpm here, never npm")
        bo = joins("bo")

        ana.syncs()
        bo.syncs()

        assert bo.knows() == []

    def test_a_lesson_of_one_waits_for_the_other_to_decide(self, ana: Person, joins: Joins) -> None:
        """What a team mate says is not what the person here said."""
        ana.says("Use pnpm here, never npm")
        bo = joins("bo")

        ana.shares().syncs()
        bo.syncs()

        assert bo.knows() == [("Use pnpm here, never npm", "ana", "candidate")]
        [note] = bo.memory.notes.search(project=PROJECT)
        assert (note.author, note.trust, note.is_sure) == ("member", "team", False)
        assert bo.told() == ""

    def test_what_would_leave_is_what_leaves(self, ana: Person, joins: Joins) -> None:
        """Who looks before sharing has to see all of it."""
        ana.says("Use pnpm here, never npm")
        ana.says("The key is sk-ant-api03-" + "q7Wd9" * 18 + "-AAAAAAAA, in /home/ana/secret.txt")
        bo = joins("bo")

        plans = ana.memory.team.plan("notes", project=PROJECT)
        ana.syncs()
        nothing = bo.syncs().knows()
        ana.shares().syncs()
        bo.syncs()

        assert nothing == []
        assert sorted(plan.body["text"] for plan in plans) == [text for text, *_ in bo.knows()]
        assert "q7Wd9" not in str(plans)
        assert "/home/ana" not in str(plans)

    def test_syncing_again_changes_nothing_and_asks_once(self, ana: Person, joins: Joins) -> None:
        """Most exchanges have nothing to say."""
        ana.says("Use pnpm here, never npm")
        bo = joins("bo")
        ana.shares().syncs()
        bo.syncs()

        again = [person.memory.team.sync() for person in (ana, bo, ana, bo)]

        assert [(one.pushed, one.pulled, one.round_trips) for one in again] == [(0, 0, 1)] * 4
        assert len(bo.knows()) == 1

    def test_what_is_forgotten_goes_everywhere(self, ana: Person, joins: Joins) -> None:
        """Also where somebody had accepted it."""
        note = ana.says("Use pnpm here, never npm")
        bo = joins("bo")
        ana.shares().syncs()
        bo.syncs().accepts("pnpm")

        ana.memory.notes.forget(note.ref)
        ana.syncs()
        before = ana.memory.team.status()
        bo.syncs()

        assert bo.knows() == []
        assert b"pnpm" not in (bo.folder / "recollect.db").read_bytes()
        assert (before.devices, before.confirmed) == (2, 1)
        assert ana.memory.team.status().confirmed == 2

    def test_a_device_that_was_away_brings_nothing_back(self, ana: Person, joins: Joins) -> None:
        """It has the same note of its own, and was offline while it was forgotten."""
        note = ana.says("Use pnpm here, never npm")
        workstation = joins("ana", device="workstation")
        workstation.says("Use pnpm here, never npm")
        workstation.shares()
        bo = joins("bo")
        ana.shares().syncs()
        bo.syncs()

        ana.memory.notes.forget(note.ref)
        ana.syncs()
        workstation.syncs()
        bo.syncs()

        assert bo.knows() == []
        assert list(workstation.memory.notes.search()) == []

    def test_what_is_taken_back_may_be_shared_again(self, ana: Person, joins: Joins) -> None:
        ana.says("Use pnpm here, never npm")
        bo = joins("bo")
        ana.shares().syncs()
        bo.syncs()

        ana.memory.team.stop(project=PROJECT)
        gone = bo.syncs().knows()
        ana.shares().syncs()
        bo.syncs()

        assert gone == []
        assert [text for text, *_ in bo.knows()] == ["Use pnpm here, never npm"]

    def test_a_correction_takes_the_place_of_what_it_corrects(
        self, ana: Person, joins: Joins
    ) -> None:
        note = ana.says("Use npm here")
        bo = joins("bo")
        ana.shares().syncs()
        bo.syncs()

        ana.memory.notes.edit(note.ref, "Use pnpm here, never npm")
        ana.syncs()
        bo.syncs()

        assert bo.knows("candidate") == [("Use pnpm here, never npm", "ana", "candidate")]

    def test_who_accepts_a_correction_is_told_no_more_what_it_corrects(
        self, ana: Person, joins: Joins
    ) -> None:
        """Until then what was accepted is told: a team mate alone takes nothing from a pack."""
        note = ana.says("Use npm here")
        bo = joins("bo")
        ana.shares().syncs()
        bo.syncs().accepts("npm")

        ana.memory.notes.edit(note.ref, "Prefer pnpm everywhere")
        ana.syncs()
        before = bo.syncs().knows()
        bo.accepts("pnpm")

        assert before == [
            ("Prefer pnpm everywhere", "ana", "candidate"), ("Use npm here", "ana", "active"),
        ]  # fmt: skip
        assert bo.knows("active") == [("Prefer pnpm everywhere", "ana", "active")]

    def test_two_corrections_of_one_note_stay_until_a_person_decides(
        self, ana: Person, joins: Joins
    ) -> None:
        """Nobody but a person can know which of the two is right."""
        ana.says("Use npm here")
        bo, cy = joins("bo"), joins("cy")
        ana.shares().syncs()
        bo.syncs()
        cy.syncs()
        for one, text in ((bo, "Use pnpm here"), (cy, "Use yarn here")):
            [theirs] = one.memory.notes.search(project=PROJECT)
            one.memory.notes.edit(theirs.ref, text)
            one.shares().syncs()

        ana.syncs()
        dee = joins("dee").syncs()

        both = [("Use pnpm here", "bo", "candidate"), ("Use yarn here", "cy", "candidate")]
        assert ana.knows("candidate") == both
        assert dee.knows("candidate") == both
        ana.accepts("pnpm")
        own = ana.memory.notes.search(author="person", project=PROJECT)
        assert [(note.text, note.status) for note in own] == [("Use npm here", "retired")]
        dee.accepts("pnpm")
        dee.rejects("yarn")
        assert dee.syncs().knows("active") == [("Use pnpm here", "bo", "active")]

    def test_what_is_accepted_is_told_with_the_name(self, ana: Person, joins: Joins) -> None:
        ana.says("Use pnpm here, never npm")
        bo = joins("bo")
        ana.shares().syncs()

        bo.syncs().accepts("pnpm")

        assert "Use pnpm here, never npm (ana)" in bo.told()

    def test_a_trusted_author_is_told_with_the_name(self, ana: Person, joins: Joins) -> None:
        """Before and after: what was there already, and what comes."""
        ana.says("Use pnpm here, never npm")
        bo = joins("bo")
        ana.shares().syncs()
        bo.syncs()

        bo.memory.team.trust("ana", project=PROJECT)
        ana.says("Deploys go out on Tuesdays only")
        ana.syncs()
        bo.syncs()

        assert [status for *_, status in bo.knows()] == ["active", "active"]
        assert "Deploys go out on Tuesdays only (ana)" in bo.told()
        bo.memory.team.distrust("ana", project=PROJECT)
        assert bo.told() == ""

    def test_a_muted_member_is_not_heard(self, ana: Person, joins: Joins) -> None:
        ana.says("Use pnpm here, never npm")
        bo = joins("bo")
        ana.shares().syncs()
        bo.syncs()

        gone = bo.memory.team.mute("ana")
        ana.says("Deploys go out on Tuesdays only")
        ana.syncs()
        muted = bo.syncs().knows()
        bo.memory.team.mute("ana", muted=False)
        bo.syncs()

        assert (gone, muted) == (1, [])
        assert len(bo.knows()) == 2

    def test_a_rejected_note_stays_rejected(self, ana: Person, joins: Joins) -> None:
        """However often its author shares it."""
        ana.says("Use pnpm here, never npm")
        bo = joins("bo")
        ana.shares().syncs()
        bo.syncs().rejects("pnpm")

        ana.memory.team.stop(project=PROJECT)
        bo.syncs()
        ana.shares().syncs()
        bo.syncs()

        assert bo.knows("candidate") == []
        assert bo.knows("active") == []

    def test_own_words_stay_own_words(self, ana: Person, joins: Joins) -> None:
        """What both say is not lost when one of them takes it back."""
        note = ana.says("Use pnpm here, never npm")
        bo = joins("bo")
        bo.says("Use pnpm here, never npm")
        ana.shares().syncs()
        bo.syncs()

        ana.memory.notes.forget(note.ref)
        ana.syncs()
        bo.syncs()

        [own] = bo.memory.notes.search(project=PROJECT)
        assert (own.author, own.trust) == ("person", "user")

    def test_a_store_from_a_backup_becomes_another_device(
        self, ana: Person, joins: Joins, tmp_path: Path
    ) -> None:
        """Neither what it had not seen yet is lost, nor what it pushed after the backup."""
        bo = joins("bo")
        bo.says("Use pnpm here, never npm")
        bo.shares().syncs()
        bo.memory.store.backup(tmp_path / "copy.db")
        bo.says("Deploys go out on Tuesdays only")
        bo.syncs()
        bo.memory.close()
        for beside in bo.folder.glob("recollect.db*"):
            beside.unlink()
        shutil.copy(tmp_path / "copy.db", bo.folder / "recollect.db")
        bo.memory = Memory.open(bo.folder / "recollect.db", environ=bo.environ)

        report = bo.memory.team.sync()
        ana.syncs()

        assert "compared anew" in " ".join(report.remarks)
        assert [text for text, *_ in ana.knows()] == [
            "Deploys go out on Tuesdays only", "Use pnpm here, never npm",
        ]  # fmt: skip
        assert bo.knows() == [("Deploys go out on Tuesdays only", "bo", "candidate")]

    def test_the_team_is_searched_at_the_hub(self, ana: Person, joins: Joins) -> None:
        ana.says("Use pnpm here, never npm")
        ana.says("Deploys go out on Tuesdays only")
        bo = joins("bo")
        ana.shares().syncs()

        hits = bo.memory.team.search("when are deploys").hits

        assert [(hit.text, hit.author, hit.trust) for hit in hits] == [
            ("Deploys go out on Tuesdays only", "ana", "team")
        ]
        assert bo.memory.team.search("Tuesdays", author="bo").hits == []
        assert bo.memory.team.search("nothing-like-that").hits == []

    def test_who_leaves_keeps_what_they_accepted(self, ana: Person, joins: Joins) -> None:
        ana.says("Use pnpm here, never npm")
        ana.says("Deploys go out on Tuesdays only")
        bo = joins("bo")
        ana.shares().syncs()
        bo.syncs().accepts("pnpm")

        gone = bo.memory.team.leave()

        assert gone == 1
        assert bo.knows() == [("Use pnpm here, never npm", "ana", "active")]
        with pytest.raises(UsageError, match="no team"):
            bo.memory.team.sync()

    def test_a_program_finds_what_another_one_tried(
        self, ana: Person, joins: Joins, person: Joins, tmp_path: Path
    ) -> None:
        """The quick start of attempts, with a team behind it: nothing else is different."""
        link = joins("bo").link.text()

        with Memory.open(tmp_path / "one.db", hub=link) as memory:
            episode = memory.episodes.start("Deploy the shop to staging")
            memory.episodes.log(episode, Step("bash", "kubectl apply -f shop.yaml", success=True))
            memory.episodes.complete(episode, "success")
        with Memory.open(tmp_path / "other.db", hub=link) as memory:
            hits = memory.episodes.retrieve("deploy the shop")
            again = memory.team.sync()
            shared = memory.team.plan("episodes")

        assert [hit.episode.task for hit in hits] == ["Deploy the shop to staging"]
        assert [step.action for step in hits[0].episode.steps] == ["kubectl apply -f shop.yaml"]
        assert (again.pushed, again.round_trips) == (0, 1)
        assert shared == []
