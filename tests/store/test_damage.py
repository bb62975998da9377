"""One damaged body costs its turn: whoever asks for that is told, everybody else gets the rest."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from recollect.errors import StoreDamaged, TurnDamaged
from recollect.memory import Memory
from recollect.model.sessions import SessionDetail
from recollect.serve.cli import main
from recollect.store import bodies
from recollect.store.sqlite.salvage.repair import repair
from recollect.store.sqlite.sources import path_text, path_value
from tests.store.conftest import Filled, facts, turn
from tests.torture import damaged

# Chosen because each was wrong once, and some of every kind; the campaign tries others.
SEEDS = (3, 9, 11, 12, 21, 30)


def fill(filled: Filled) -> None:
    filled.keep(
        "a.jsonl",
        facts("a", title="two turns"),
        *turn("a", "k1", "about the lighthouse"),
        *turn("a", "k2", "about the harbour", minute=1),
    )


def spoil(filled: Filled, body: int = 1) -> None:
    """Another byte in the middle of a body, as a failing disk leaves it."""
    events = bytearray(filled.db.value("select events from bodies where id = ?", (body,)))
    events[len(events) // 2] ^= 0xFF
    filled.db.execute("update bodies set events = ? where id = ?", (bytes(events), body))


def test_any_changed_byte_of_a_body_is_noticed_when_it_is_read() -> None:
    """Compressed text can change and still be decompressed, to something that nobody wrote."""
    body = bodies.pack([["prompt", 1, "the harbour master said no"], ["reply", 2, "so be it"]])
    chance = random.Random(7)
    for at in range(4, len(body)):
        changed = bytearray(body)
        changed[at] ^= chance.randint(1, 255)
        assert bodies.find_rows(bytes(changed)) in (None, bodies.unpack(body))


def test_a_damaged_turn_is_named_with_the_way_to_mend_it(filled: Filled) -> None:
    """A traceback tells nobody which turn it was, nor what to do."""
    fill(filled)
    spoil(filled)

    with pytest.raises(TurnDamaged, match="codex:a#1") as caught:
        filled.store.turns.get("codex:a", 1)

    assert "recollect doctor --repair" in caught.value.hint
    assert filled.store.turns.get("codex:a", 2).prompt == "about the harbour"


def test_lists_leave_a_damaged_turn_out_and_say_so(filled: Filled) -> None:
    """One bad turn in a thousand is no reason to have nothing of the others."""
    fill(filled)
    spoil(filled)
    filled.close()

    with Memory.open(filled.path) as memory:
        found = memory.search("about the")
        assert [hit.ref for hit in found] == ["codex:a#2"]
        assert any("codex:a#1" in remark and "repair" in remark for remark in found.remarks)

        (session,) = memory.store.export()
        assert [one["damaged"] for one in session["turn_list"]] == [True, False]
        assert session["turn_list"][0]["prompt"] == "about the lighthouse"
        assert memory.take_left_out() == ["codex:a#1"]
        assert memory.take_left_out() == []

        shown = memory.show("codex:a")
        assert isinstance(shown, SessionDetail)
        assert [len(one.events) for one in shown.turn_list] == [0, 3]


def test_commands_say_what_is_left_out(
    filled: Filled, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On stderr, so that whoever keeps the export does not keep the remark."""
    fill(filled)
    spoil(filled)
    filled.close()
    monkeypatch.setenv("RECOLLECT_STORE", str(filled.path))

    assert main(["export"]) == 0
    told = capsys.readouterr()
    assert "codex:a#2" in told.out
    assert told.err == (
        "codex:a#1 is damaged and was left out, in whole or in part. "
        "To save what can be saved: recollect doctor --repair\n"
    )
    assert main(["show", "codex:a#1"]) == 65
    assert "the stored text of codex:a#1 cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("damaged", [None, 7, 0.5])
def test_a_path_that_is_no_path_any_more_names_no_file(damaged: object) -> None:
    """An import of everything asks for each; it went down with the first of these."""
    assert path_text(damaged) == ""
    assert path_text(path_value("/logs/\udcff.jsonl")) == "/logs/\udcff.jsonl"


def test_a_log_that_is_read_again_mends_its_turn(filled: Filled) -> None:
    """Import must not stop at what it could put right."""
    fill(filled)
    spoil(filled)

    filled.keep(
        "a.jsonl",
        facts("a", title="two turns"),
        *turn("a", "k1", "about the lighthouse"),
        *turn("a", "k2", "about the harbour", minute=1),
        again=True,
    )

    assert filled.store.turns.get("codex:a", 1).prompt == "about the lighthouse"


def test_a_stored_text_that_is_not_utf_8_is_noticed_and_mended(filled: Filled) -> None:
    """SQLite does not look into texts: its own checks pass, and every question
    for the row fails. What a person wrote is kept with a gap in it.
    """
    fill(filled)
    filled.db.execute("update sessions set title = cast(x'74776fff' as text)")
    unwell = [one.name for one in filled.store.doctor.examine().findings if not one.ok]
    with pytest.raises(StoreDamaged, match="not UTF-8"):
        filled.sessions()
    filled.close()

    assert "stored values" in unwell
    assert not repair(str(filled.path)).sound
    filled.reopen()
    assert [session.title for session in filled.sessions()] == ["two\N{REPLACEMENT CHARACTER}"]
    assert repair(str(filled.path)).sound


def test_vectors_that_do_not_match_are_made_again(filled: Filled) -> None:
    """SQLite does not check them; a store that was repaired is sound in all its parts."""
    fill(filled)
    filled.store.jobs.mark("turns to embed")
    filled.close()
    with Memory.open(filled.path) as memory:
        assert sum(report.turns for report in memory.store.embed()) > 0
    filled.reopen()
    filled.db.execute("update vector_blocks set codes = zeroblob(length(codes))")
    filled.close()

    report = repair(str(filled.path))
    filled.reopen()

    assert report.sound
    assert any("made again" in note for note in report.notes)
    assert [one for one in filled.store.doctor.examine(verify=True).findings if not one.ok] == []
    assert filled.store.vectors.waiting() == 2


def test_a_damaged_name_beside_the_state_of_the_vectors_stops_nothing(filled: Filled) -> None:
    """It stays in the table when everything else is made again."""
    fill(filled)
    filled.db.execute("insert into store_info values ('vectors_enc0der', 'nobody')")
    filled.store.jobs.mark("turns to embed")
    filled.close()

    with Memory.open(filled.path) as memory:
        *_, report = memory.store.embed()
        assert report.remaining == 0
        assert memory.search("lighthouse", mode="vector").mode == "vector"


def test_plain_doctor_reads_a_sample_of_the_bodies(filled: Filled) -> None:
    """Who has a damaged store runs `doctor` first, and without options."""
    fill(filled)
    spoil(filled, body=2)

    unwell = {one.name: one.detail for one in filled.store.doctor.examine().findings if not one.ok}

    assert unwell == {"bodies": "1 of 2 have changed since they were written: 2"}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> damaged.Sound:
    return damaged.make_sound(tmp_path_factory.mktemp("sound"))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_damaged_store_answers_or_says_why_not(
    sound: damaged.Sound, seed: int, tmp_path: Path
) -> None:
    """No question raises anything but an error of ours, doctor notices what answers lack,
    and what repair makes is sound.
    """
    tmp_path.chmod(0o700)

    assert damaged.attempt(sound, seed, tmp_path).faults == []


def test_the_generator_makes_every_kind_of_damage(sound: damaged.Sound) -> None:
    """A sample that only flips bytes says nothing about files that were cut."""
    kinds = {damaged.damage(sound.data, seed)[0] for seed in range(8)}

    assert kinds == {kind.__name__ for kind in damaged.KINDS}
