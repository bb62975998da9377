"""Turns become vectors: what of a turn is encoded, and that stopping anywhere loses nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from recollect.errors import EncoderUnavailable
from recollect.jobs import Job, run_due
from recollect.memory import Memory
from recollect.model.calls import Call, PlainEvent
from recollect.recall.embedding import (
    LARGEST_BATCH,
    MOST_PIECES,
    PIECE_CHARACTERS,
    _cut,
    embed,
    pieces,
)
from recollect.store import open_store
from recollect.store.sqlite.store import Store
from tests.builders.homes import claude_log, small_talk
from tests.encoders import WordEncoder


def call(target: str, output: str = "", *, ok: bool = True) -> Call:
    return Call(1, 0, "shell", "shell", target, ok, 0 if ok else 1, output=output)


def said(kind: str, text: str) -> PlainEvent:
    return PlainEvent(1, kind, text)


@pytest.fixture
def home_with_logs(home: Path) -> Path:
    for number in range(3):
        claude_log(home, small_talk(number + 1, 40, "lorem ipsum dolor " * 3))
    return home


@pytest.fixture
def store(home_with_logs: Path) -> Iterator[Store]:
    """A store with 120 turns that nobody has embedded."""
    path = home_with_logs / ".recollect" / "recollect.db"
    with Memory.open(path) as memory:
        memory.import_logs([home_with_logs])
    made = open_store(str(path))
    yield made
    made.close()


def test_a_short_turn_is_one_piece_about_what_was_asked_and_answered() -> None:
    """Most turns are, and one vector is cheaper than two."""
    events = [
        said("prompt", "why does it hang?"),
        said("reasoning", "hm"),
        said("reply", "a"),
        said("reply", "A lock is never let go."),
    ]

    assert pieces(events) == ["why does it hang?\nA lock is never let go."]


def test_commands_and_errors_are_a_piece_of_their_own() -> None:
    """What was run says something else than what was asked; output that went well says nothing."""
    events = [
        said("prompt", "run the tests"),
        call("pytest -q", "1 failed", ok=False),
        call("pytest -q", "1 passed"),
        call("git commit -m done", "ok"),
        said("error", "the service is overloaded"),
    ]

    assert pieces(events) == [
        "run the tests",
        "pytest -q\n1 failed\ngit commit -m done\nthe service is overloaded",
    ]


def test_the_number_of_a_tag_has_no_meaning() -> None:
    """It is another in every store, and the text is the same."""
    told = [
        pieces([said("prompt", f"rotate [REDACTED:github-pat:{number}] now")])
        for number in ("0a1b2c3d", "99887766")
    ]

    assert told[0] == told[1]


def test_a_long_turn_is_a_few_pieces_and_no_more() -> None:
    """A pasted log must not cost a hundred vectors."""
    events = [
        said("prompt", "a line of text\n" * 1000),
        *[call(f"command {number} " + "x" * 300) for number in range(50)],
    ]

    found = pieces(events)

    assert len(found) == MOST_PIECES
    assert found[0].startswith("a line of text")
    assert found[-1].startswith("command ")


def test_a_turn_without_words_has_no_piece() -> None:
    """An agent may be stopped before anything is said."""
    assert pieces([]) == []
    assert pieces([said("abort", ""), said("prompt", " \n ")]) == []


@given(st.text(alphabet="ab \n", max_size=400), st.integers(1, 60))
def test_cutting_loses_nothing_and_makes_nothing_too_long(text: str, size: int) -> None:
    """Cut at the ends of lines where that is possible."""
    cut = _cut(text, size)

    assert "".join("".join(cut).split()) == "".join(text.split())
    assert all(0 < len(piece) <= size for piece in cut)


def test_every_turn_is_embedded_once(store: Store) -> None:
    """And a second run finds nothing to do."""
    encoder = WordEncoder()

    *_, report = embed(store, encoder)
    *_, second = embed(store, encoder)

    assert (report.turns, report.remaining, report.encoder) == (120, 0, "words")
    assert report.pieces == len(encoder.texts) >= 120
    assert (second.turns, second.pieces) == (0, 0)
    assert store.vectors.disagreeing() == []


def test_a_limit_leaves_the_oldest_for_later(store: Store) -> None:
    """What somebody did today is looked for before what they did last year."""
    *_, report = embed(store, WordEncoder(), limit=50)

    assert (report.turns, report.remaining) == (50, 70)
    newest_waiting = store.vectors.next_waiting(1)[0].turn
    assert newest_waiting == 70


def test_a_run_that_is_left_goes_on_where_it_was(store: Store) -> None:
    """Each report follows a commit."""
    first = next(embed(store, WordEncoder()))
    done = first.turns

    *_, report = embed(store, WordEncoder())

    assert 0 < done < 120
    assert report.turns == 120 - done


def test_another_encoder_begins_again(store: Store) -> None:
    """Vectors of two encoders cannot be compared."""
    list(embed(store, WordEncoder()))

    *_, report = embed(store, WordEncoder("others", 32))

    assert (report.turns, report.encoder, store.vectors.encoder()) == (120, "others", "others")
    assert (store.vectors.count(), store.vectors.torn()) == (120, [])


def test_two_runs_at_once_do_no_harm(store: Store) -> None:
    """A person may start one while the background is at it."""
    other = open_store(store.path)
    runs = [embed(store, WordEncoder()), embed(other, WordEncoder())]

    while any([next(run, None) for run in runs]):  # noqa: C419
        pass
    other.close()

    assert store.vectors.waiting() == 0
    assert store.vectors.count() == 120
    assert store.vectors.disagreeing() == []


def test_a_body_that_cannot_be_read_costs_its_own_turn(store: Store) -> None:
    """The rest is embedded, and the queue comes to its end."""
    store.db.execute("update bodies set events = x'00' where turn = 7")

    *_, report = embed(store, WordEncoder())

    assert (report.turns, report.remaining) == (120, 0)
    assert store.vectors.count() == 119


def test_a_slow_encoder_gets_small_batches(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that each is over before a lease runs out, and a fast one gets large ones."""

    def sizes(**options: object) -> list[int]:
        done = [0, *[report.turns for report in embed(store, WordEncoder(), **options)]]  # type: ignore[arg-type]
        return [after - before for before, after in pairwise(done) if after > before]

    fast = sizes()
    monkeypatch.setattr("recollect.recall.embedding.BATCH_SECONDS", 0)
    slow = sizes(again=True, limit=60)

    assert fast == [32, 64, 24]
    assert slow == [32, 16, 8, 4]
    assert LARGEST_BATCH >= 64


EMBEDDING = """
    import sys, time
    from recollect.recall.embedding import embed
    from recollect.store import open_store
    from tests.encoders import WordEncoder

    class Slow(WordEncoder):
        def encode_documents(self, texts):
            time.sleep(0.02)
            return super().encode_documents(texts)

    import recollect.recall.embedding as stage
    stage.FIRST_BATCH = stage.LARGEST_BATCH = 4
    store = open_store(sys.argv[1])
    print("ready", flush=True)
    for report in embed(store, Slow()):
        pass
"""


@pytest.mark.store
def test_killing_it_anywhere_loses_nothing(store: Store) -> None:
    """A laptop is closed in the middle; what was committed is kept, the rest is still queued."""
    killed = 0
    for round_number in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(EMBEDDING), store.path],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.01 + 0.017 * round_number)
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        assert store.vectors.count() + store.vectors.waiting() == 120
        assert store.vectors.disagreeing() == []

    *_, report = embed(store, WordEncoder())

    assert killed > 5
    assert report.remaining == 0
    disturbed = store.db.rows("select turn, codes from vectors order by turn")
    list(embed(store, WordEncoder(), again=True))
    assert store.db.rows("select turn, codes from vectors order by turn") == disturbed


def test_importing_leaves_the_job_and_work_does_it(home_with_logs: Path) -> None:
    """Nobody has to know that there are vectors."""
    with Memory.open(home_with_logs / "store.db", encoder=WordEncoder()) as memory:
        memory.import_logs([home_with_logs])
        waiting = [job.kind for job in memory.jobs.all()]

        memory.jobs.work()

        assert "embed" in waiting
        assert memory.jobs.all() == []
        found = {one.name: one.detail for one in memory.store.doctor().findings}
        assert found["vectors"] == "120 turns embedded, 0 not yet"


steps_done: list[int] = []


def slow_steps(store: Store) -> Iterator[int]:
    """A handler that takes longer than its lease, and loses its job in the middle."""
    for step in range(6):
        steps_done.append(step)
        time.sleep(0.12)
        assert step > 3 or store.jobs.take({"embed": 60_000}) is None
        if step == 4:
            time.sleep(0.7)
            assert store.jobs.take({"embed": 60_000}) is not None
        yield step


def test_a_job_that_takes_long_keeps_its_lease(store: Store) -> None:
    """Otherwise another worker would start the same; and who has lost the job stops."""
    steps_done.clear()
    job = Job("embed", run=(f"{__name__}:slow_steps",), lease_seconds=0.6)

    store.jobs.enqueue("embed", "turns")
    done = run_due(store, {}, table=(job,))

    assert (done, steps_done) == (0, [0, 1, 2, 3, 4])


def test_an_encoder_that_is_not_there_fails_the_job_and_nothing_else(home_with_logs: Path) -> None:
    """Text is searchable without it; the job is tried again later."""

    class Missing:
        name, dimensions = "missing", 8

        def encode_query(self, text: str) -> array[float]:
            raise EncoderUnavailable("no model")

        def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise EncoderUnavailable("no model", hint="fetch one")

    with Memory.open(home_with_logs / "store.db", encoder=Missing()) as memory:
        memory.import_logs([home_with_logs])

        memory.jobs.work()

        assert [(job.kind, job.state, job.error) for job in memory.jobs.all()] == [
            ("embed", "waiting", "EncoderUnavailable: no model")
        ]


def test_pieces_fit_the_encoder() -> None:
    """The static encoder reads 4,000 characters of a text; a piece is far below."""
    assert PIECE_CHARACTERS <= 4_000
