"""Vectors in the store: kept with their blocks, found by nearness, gone with their turns."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import StoreError, UsageError
from recollect.model.search import Query, Scope
from recollect.recall.embedding import embed
from recollect.redact import Redactor
from recollect.store import codes, open_store
from recollect.store.sqlite.salvage.repair import repair
from recollect.store.sqlite.vectors import nearest
from recollect.store.sqlite.vectors.resident import Resident, build_index
from recollect.store.sqlite.vectors.stored import TurnVectors
from tests.encoders import WordEncoder
from tests.store.conftest import Filled, facts, turn

WORDS = [
    "apple", "bridge", "copper", "dragon", "engine", "forest", "garden", "hammer", "island",
    "jungle", "kettle", "ladder",
    "magnet", "needle", "orange",
]  # fmt: skip

EVERYTHING = Scope(Query(), {})


def fill(
    filled: Filled, count: int = 30, *, session: str = "s1", cwd: str = "/home/0", first: int = 0
) -> None:
    """A session in which turn n asks about three words that no other turn asks about together."""
    items = [facts(session, cwd=cwd)]
    for number in range(first, first + count):
        said = f"{WORDS[number % 15]} {WORDS[(number * 7 + 3) % 15]} {WORDS[(number * 4 + 8) % 15]}"
        items += turn(
            session, f"{session}-{number}", said, "",
            minute=number, command="", output="", cwd=cwd,
        )  # fmt: skip
    filled.keep(f"{session}.jsonl", *items)


def embedded(filled: Filled, encoder: WordEncoder | None = None) -> WordEncoder:
    encoder = encoder or WordEncoder()
    list(embed(filled.store, encoder))
    return encoder


def embedded_turns(filled: Filled) -> list[int]:
    """The turns that can be compared with a question, which are those that have a vector."""
    return sorted(filled.store.nearest.compare([1.0] * 64, list(range(1, 100))))


def queued_turns(filled: Filled) -> list[int]:
    return sorted(queued.turn for queued in filled.store.vectors.next_waiting(100))


def cosines(filled: Filled, asked: Sequence[float], turns: list[int]) -> dict[int, float]:
    return {
        number: cosine for number, (cosine, _) in filled.store.nearest.compare(asked, turns).items()
    }


def ask(
    filled: Filled, encoder: WordEncoder, text: str, limit: int = 3, **filters: str
) -> list[int]:
    query = Query(filters={name: [value] for name, value in filters.items()})
    return [
        found
        for found, _ in filled.store.nearest.search(
            encoder.encode_query(text), Scope(query, {}), limit=limit
        )
    ]


def test_the_nearest_turn_is_found(filled: Filled) -> None:
    """By what it says, whatever its number."""
    fill(filled)
    encoder = embedded(filled)

    found = filled.store.nearest.search(
        encoder.encode_query("dragon bridge forest"), EVERYTHING, limit=2
    )

    nearest_turn = found[0][0]
    assert "dragon" in filled.store.turns.scenes([nearest_turn])[nearest_turn].prompt
    assert found == sorted(found, key=lambda item: -item[1])
    assert len(found) == 2


def test_a_search_finds_what_comparing_everything_finds(filled: Filled) -> None:
    """The 1-bit codes only choose whom to look at; nobody near may be missed."""
    fill(filled, 40)
    encoder = embedded(filled)
    scenes = filled.store.turns.scenes(list(range(1, 41)))
    asked = encoder.encode_query("copper hammer needle")
    exact = sorted(
        (
            (float(encoder._vector(scene.prompt) @ np.array(asked)), number)
            for number, scene in scenes.items()
        ),
        reverse=True,
    )

    found = filled.store.nearest.search(asked, EVERYTHING, limit=5)

    assert [cosine for _, cosine in found] == pytest.approx(
        [cosine for cosine, _ in exact[:5]], abs=0.02
    )
    assert cosines(filled, asked, list(scenes)) == pytest.approx(
        {number: cosine for cosine, number in exact}, abs=0.02
    )


def test_a_filter_that_leaves_little_scores_all_of_it(filled: Filled) -> None:
    """What passes is found, however far away it is; what does not pass is not."""
    fill(filled, 30)
    fill(filled, 3, session="s2")
    encoder = embedded(filled)

    found = ask(filled, encoder, "dragon bridge forest", limit=100, session="s2")

    assert sorted(found) == [31, 32, 33]


def test_a_filter_that_leaves_much_hides_the_rest(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many turns go through the 1-bit codes, and still none that does not
    pass is counted among the nearest.
    """
    monkeypatch.setattr(nearest, "FEW_TURNS", 2)
    monkeypatch.setattr(nearest, "CANDIDATES", 4)
    for number in range(3):
        fill(filled, 10, session=f"s{number}", cwd=f"/home/{number}", first=10 * number)
    encoder = embedded(filled)
    passing = list(range(11, 21))  # the turns of the second session, in /home/1
    everything = cosines(filled, encoder.encode_query("dragon"), passing)

    found = ask(filled, encoder, "dragon", limit=1, project="/home/1")

    assert found == [max(everything, key=lambda number: everything[number])]
    assert ask(filled, encoder, "dragon", limit=1, project="/nowhere") == []


def test_a_vector_of_another_length_is_refused(filled: Filled) -> None:
    """Cosines between vectors of two encoders would look like an answer."""
    fill(filled, 3)
    embedded(filled)

    with pytest.raises(UsageError, match="The vector has 3 numbers; the stored ones have 64"):
        filled.store.nearest.search([1.0, 0.0, 0.0], EVERYTHING, limit=1)


def test_nothing_embedded_and_nothing_asked_find_nothing(filled: Filled) -> None:
    """A new store, or a question of which the encoder knows no word, is no error."""
    assert filled.store.nearest.search([1.0], EVERYTHING, limit=1) == []
    fill(filled, 3)
    encoder = embedded(filled)

    assert ask(filled, encoder, "123") == []
    assert filled.store.nearest.compare(encoder.encode_query("apple"), [1, 999]).keys() == {1}


def test_importing_queues_what_is_new_and_what_has_grown(filled: Filled) -> None:
    """Capture does not know of vectors; the store does."""
    fill(filled, 3)
    assert filled.store.vectors.waiting() == 3
    embedded(filled)
    assert filled.store.vectors.waiting() == 0

    filled.keep(
        "s1.jsonl", *turn("s1", "s1-2", "and more of it"), *turn("s1", "s1-9", "something new")
    )

    assert queued_turns(filled) == [3, 4]


def test_a_turn_embedded_again_leaves_its_old_place(filled: Filled) -> None:
    """Otherwise it would be found by what it no longer says."""
    fill(filled, 5)
    encoder = embedded(filled)
    filled.keep("s1.jsonl", facts("s1"), *turn("s1", "s1-1", "zebra xylophone"), again=True)

    embedded(filled, encoder)

    assert ask(filled, encoder, "zebra xylophone", limit=1) == [2]
    assert filled.store.vectors.disagreeing() == []
    assert filled.store.vectors.count() == 5


def test_a_turn_that_changed_while_it_was_encoded_waits_for_the_next_round(filled: Filled) -> None:
    """The vector of a text that is no longer there must not be kept as current."""
    fill(filled, 2)
    filled.store.vectors.use_encoder("words", 64)
    read = filled.store.vectors.next_waiting(10)
    filled.keep("s1.jsonl", *turn("s1", "s1-1", "grown"))

    kept = filled.store.vectors.save(
        "words", [TurnVectors(queued.turn, queued.mark, [b"\x01" * 64], b"") for queued in read]
    )

    assert kept == 1
    assert embedded_turns(filled) == [1]
    assert queued_turns(filled) == [2]


def test_another_encoder_takes_over_everything(filled: Filled) -> None:
    """Vectors of two encoders never meet: the old ones are gone
    the moment the new name is there.
    """
    fill(filled, 4)
    embedded(filled)

    filled.store.vectors.use_encoder("others", 32)

    assert filled.store.vectors.encoder() == "others"
    assert filled.store.vectors.count() == 0
    assert filled.store.vectors.disagreeing() == []
    assert filled.store.vectors.waiting() == 4
    with pytest.raises(StoreError, match="now belong to others, not to words"):
        filled.store.vectors.save("words", [])


@pytest.mark.parametrize("whole", [True, False], ids=["session", "turn"])
def test_forgetting_takes_the_vectors_along(filled: Filled, whole: bool) -> None:
    """They are made of what is to be forgotten: none is left in a
    table, a block, a page or a file.
    """
    fill(filled, 6)
    fill(filled, 3, session="s2")
    encoder = embedded(filled)
    code, common = (
        filled.db.value("select codes from vectors where turn = 5"),
        filled.store.vectors.mean(),
    )
    Path(f"{filled.path}-vectors").write_bytes(code)
    filled.db.execute("pragma wal_checkpoint(truncate)")
    assert code in filled.path.read_bytes()

    report = filled.store.forgetting.session_or_turn(
        "codex:s1", None if whole else 5, dry_run=False
    )

    assert report.scrubbed is not None
    assert report.scrubbed.complete
    assert report.files == [f"{filled.path}-vectors"]
    # What they had in common was made of it too.
    assert filled.store.vectors.mean() not in (None, common)
    left = set(embedded_turns(filled))
    assert left == ({7, 8, 9} if whole else {1, 2, 3, 4, 6, 7, 8, 9})
    assert filled.store.vectors.disagreeing() == []
    assert set(ask(filled, encoder, "apple dragon", limit=20)) == left
    assert [path.name for path in filled.path.parent.iterdir() if code in path.read_bytes()] == []


def test_a_secret_found_later_leaves_the_vectors_at_once(filled: Filled) -> None:
    """Not only when the next embedding comes along."""
    secret = "DB_PASSWORD=walrus-umbrella-77"
    filled.keep(
        "s.jsonl",
        facts("s"),
        *turn("s", "k1", f"export {secret}"),
        *turn("s", "k2", "nothing to hide", minute=1),
    )
    embedded(filled)

    report = filled.store.rescan.run(Redactor(b"k" * 32))

    assert report.turns_changed == 1
    assert embedded_turns(filled) == [2]
    assert queued_turns(filled) == [1]
    assert filled.store.vectors.disagreeing() == []


def test_the_doctor_sees_blocks_that_are_not_made_of_the_vectors(filled: Filled) -> None:
    """A search would miss turns and nobody would know why; making them again helps."""
    fill(filled, 4)
    encoder = embedded(filled)
    assert finding(filled) == (True, "4 turns embedded, 0 not yet", "")

    filled.db.execute("update vector_blocks set codes = zeroblob(length(codes))")

    assert finding(filled) == (
        False, "1 blocks do not match the stored vectors: 0",
        "Try: recollect jobs run embed --again",
    )  # fmt: skip
    list(embed(filled.store, encoder, again=True))
    assert finding(filled) == (True, "4 turns embedded, 0 not yet", "")


def finding(filled: Filled) -> tuple[bool, str, str]:
    return next(
        (one.ok, one.detail, one.hint)
        for one in filled.store.doctor.examine().findings
        if one.name == "vectors"
    )


def test_a_repaired_store_embeds_everything_again(filled: Filled) -> None:
    """Vectors can be made again, so a salvage does not trust them."""
    fill(filled, 4)
    encoder = embedded(filled)
    filled.db.execute("pragma wal_checkpoint(truncate)")
    filled.db.execute("update bodies set checksum = 0 where id = 2")

    report = repair(str(filled.path))
    filled.reopen()

    assert report.sound is False
    assert filled.store.vectors.encoder() is None
    assert queued_turns(filled) == [1, 3, 4]
    embedded(filled, encoder)
    assert finding(filled) == (True, "3 turns embedded, 0 not yet", "")


# A process that stays


def stay(filled: Filled, *, smallest_index: int = 1) -> Resident:
    """The store's resident part, with an index however few vectors there are."""
    resident = Resident(str(filled.path), smallest_index=smallest_index)
    filled.store.nearest.resident = resident
    return resident


def test_a_resident_process_finds_what_a_cold_one_finds(filled: Filled) -> None:
    """Before its index is there, with it, with turns newer than it, and after they are in it."""
    fill(filled, 60)
    encoder = embedded(filled)
    asked = ["dragon bridge forest", "apple", "needle orange magnet"]
    cold = [ask(filled, encoder, text, 5) for text in asked]
    resident = stay(filled)

    assert [ask(filled, encoder, text, 5) for text in asked] == cold
    resident.wait()
    assert resident.index is not None
    assert [ask(filled, encoder, text, 5) for text in asked] == cold
    long = [7 * number for number in encoder.encode_query(asked[0])]
    assert [found for found, _ in filled.store.nearest.search(long, EVERYTHING, limit=5)] == cold[0]

    fill(filled, 1, session="new")
    filled.keep("new.jsonl", *turn("new", "n2", "zebra xylophone", minute=5))
    embedded(filled, encoder)
    assert ask(filled, encoder, "zebra xylophone", 1) == [62]


@pytest.mark.parametrize("dimensions", [61, 62, 64, 384])
def test_the_index_finds_the_nearest_vectors_of_any_length(
    filled: Filled, monkeypatch: pytest.MonkeyPatch, dimensions: int
) -> None:
    """Another encoder's vectors have other lengths, and its codes are four dimensions each."""
    monkeypatch.setattr("recollect.store.sqlite.vectors.resident.LOOKED_AT", 40)
    fill(filled, 60)
    filled.store.vectors.use_encoder("random", dimensions)
    chance = np.random.default_rng(dimensions)
    stored = chance.normal(size=(60, dimensions)).astype(np.float32)
    waiting = filled.store.vectors.next_waiting(60)
    kept = {
        queued.turn: codes.int8_code(vector)
        for queued, vector in zip(waiting, stored.tolist(), strict=True)
    }
    filled.store.vectors.save(
        "random",
        [TurnVectors(one.turn, one.mark, [kept[one.turn]], b"") for one in waiting],
    )
    state = filled.store.vectors.state()
    assert state is not None
    asked = (stored[7] + 0.3 * stored[21]).tolist()

    index = build_index(filled.db, state, threading.Event())

    assert index is not None
    told = dict(
        zip(kept, codes.cosines(codes.int8_code(asked), b"".join(kept.values())), strict=True)
    )
    assert set(index.nearest(asked, 2)) == set(sorted(told, key=told.__getitem__)[-2:])


def test_the_index_is_brought_up_to_date_when_much_is_new(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New turns are added to it; only when much was replaced it is made from the start."""
    monkeypatch.setattr("recollect.store.sqlite.vectors.resident.MOST_NEWER", 3)
    fill(filled, 60)
    encoder = embedded(filled)
    resident = stay(filled)
    ask(filled, encoder, "apple")
    resident.wait()
    first = resident.index
    assert first is not None

    fill(filled, 10, session="s2")
    embedded(filled, encoder)
    assert set(ask(filled, encoder, "dragon bridge forest", limit=70)) == set(range(1, 71))
    resident.wait()

    assert resident.index is not None
    assert resident.index is not first
    assert len(resident.index.turns) == 70
    assert resident.index.state.version == filled.store.vectors.state().version  # type: ignore[union-attr]


def test_what_is_forgotten_is_never_found_in_a_resident_process(filled: Filled) -> None:
    """Nor does it come back through the file that the process had written."""
    fill(filled, 40)
    fill(filled, 40, session="s2")
    encoder = embedded(filled)
    resident = stay(filled)
    ask(filled, encoder, "apple")
    resident.wait()
    assert os.path.exists(resident.file)

    filled.store.forgetting.session_or_turn("codex:s1", None, dry_run=False)

    assert not os.path.exists(resident.file)
    assert set(ask(filled, encoder, "apple", limit=80)) == set(range(41, 81))
    resident.wait()
    assert resident.index is not None
    assert set(resident.index.turns.tolist()) == set(range(41, 81))


def test_the_file_of_the_index_is_private_and_saves_making_it(filled: Filled) -> None:
    """The next process reads it instead of linking every vector again."""
    fill(filled, 60)
    encoder = embedded(filled)
    first = stay(filled)
    found = ask(filled, encoder, "dragon bridge")
    first.wait()
    written = os.stat(first.file)

    second = stay(filled)
    ask(filled, encoder, "dragon bridge")
    second.wait()

    assert stat.S_IMODE(written.st_mode) == 0o600
    assert second.index is not None
    assert ask(filled, encoder, "dragon bridge") == found
    assert os.stat(first.file).st_mtime_ns == written.st_mtime_ns


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
        lambda data: data[:8] + bytes(8) + data[16:],
    ],
    ids=["empty", "cut", "a bit", "another store's"],
)
def test_a_file_that_cannot_be_believed_is_made_again(filled: Filled, damage: object) -> None:
    """faiss believes what it reads, so we look first."""
    fill(filled, 60)
    encoder = embedded(filled)
    first = stay(filled)
    found = ask(filled, encoder, "dragon bridge")
    first.wait()
    sound = Path(first.file).read_bytes()
    Path(first.file).write_bytes(damage(sound))  # type: ignore[operator]

    second = stay(filled)
    ask(filled, encoder, "dragon bridge")
    second.wait()

    assert ask(filled, encoder, "dragon bridge") == found
    assert len(Path(first.file).read_bytes()) == len(sound)


def test_without_faiss_the_blocks_answer(filled: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    """A platform without its wheel searches a little slower, and finds the same."""
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    fill(filled, 60)
    encoder = embedded(filled)
    cold = ask(filled, encoder, "dragon bridge")
    resident = stay(filled)

    assert ask(filled, encoder, "dragon bridge") == cold
    resident.wait()
    assert resident.index is None
    assert ask(filled, encoder, "dragon bridge") == cold


def test_closing_does_not_wait_for_an_index(filled: Filled) -> None:
    """Whoever stops a server does not want to wait for a cache."""
    fill(filled, 60)
    encoder = embedded(filled)
    store = open_store(str(filled.path), resident=True)

    store.nearest.search(encoder.encode_query("apple"), EVERYTHING, limit=1)
    started = time.monotonic()
    store.close()

    assert time.monotonic() - started < 5


# The codes

numbers = st.floats(-1, 1, width=32, allow_nan=False)


@given(
    st.integers(1, 300).flatmap(
        lambda size: st.lists(
            st.lists(numbers, min_size=size, max_size=size), min_size=2, max_size=6
        )
    )
)
def test_int8_codes_keep_the_angle(rows: list[list[float]]) -> None:
    """One vector or many, with simsimd or without: the same cosine, close to the true one."""
    first, *others = [codes.int8_code(row) for row in rows]
    matrix = np.array(rows, np.float32)
    both = np.linalg.norm(matrix[0]) * np.linalg.norm(matrix[1:], axis=1)
    told = [(cosine, size) for cosine, size in zip(matrix[1:] @ matrix[0], both, strict=True)]

    found = codes.cosines(first, b"".join(others))
    plain = codes._cosines(first, b"".join(others))

    assert [len(code) for code in others] == [len(rows[0])] * len(others)
    assert (
        np.abs(
            codes.int8_codes(matrix).astype(int)
            - [np.frombuffer(one, np.int8) for one in (first, *others)]
        ).max()
        <= 1
    )
    for (cosine, size), one, other, code in zip(told, found, plain, others, strict=True):
        if size > 1e-6 and any(first) and any(code):
            assert one == pytest.approx(other, abs=1e-3)
            assert one == pytest.approx(cosine / size, abs=0.02 + 0.1 / len(rows[0]))


@given(st.sampled_from([1, 2, 8, 32, 48, 96, 128]), st.integers(0, 40), st.randoms())
def test_bit_distances_are_the_same_without_simsimd(width: int, count: int, random: object) -> None:
    """A platform without its wheel finds the same turns."""
    one, many = random.randbytes(width), random.randbytes(width * count)  # type: ignore[attr-defined]
    exact = [
        sum((a ^ b).bit_count() for a, b in zip(one, many[at : at + width], strict=True))
        for at in range(0, len(many), width)
    ]
    digits_left_out = max(0, (8 * width).bit_length() - 9)

    with_it = codes.bit_distances(one, many)
    simsimd, codes.simsimd = codes.simsimd, None
    try:
        without_it = codes.bit_distances(one, many)
    finally:
        codes.simsimd = simsimd

    assert (
        with_it == without_it == bytes([(distance >> digits_left_out) & 255 for distance in exact])
    )


@given(st.binary(max_size=300), st.integers(1, 50))
def test_the_nearest_are_those_with_the_smallest_distances(distances: bytes, count: int) -> None:
    """All of them, and ties with the last one."""
    last = sorted(distances)[:count][-1] if distances else 0

    assert codes.nearest(distances, count) == [
        place for place, distance in enumerate(distances) if distance <= last
    ]


def test_bits_are_packed_as_numpy_packs_them() -> None:
    """Whoever reads the table with numpy gets the same bits.

    Lengths that are no multiple of eight are filled up.
    """
    rows = np.random.default_rng(1).integers(-128, 128, (5, 61)).astype(np.int8)

    assert [codes.bit_code(row.tobytes()) for row in rows] == [
        np.packbits(row > 0).tobytes() for row in rows
    ]
