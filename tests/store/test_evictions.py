"""Letting go of events: what stays of a turn, and what must not notice."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.model.digests import Digest, Task, Trouble
from recollect.model.logs import Event, Item, ToolResult
from recollect.model.retention import WholeTurn
from recollect.model.search import Query, Scope
from recollect.recall.embedding import embed
from recollect.store.sqlite.salvage.repair import repair
from tests.encoders import WordEncoder
from tests.store.conftest import START, Filled, facts, turn

# Long even when it is compressed.
LONG = " ".join(f"{number * 2654435761 % 999_983}" for number in range(800))
QUIET = START + 365 * 86_400_000
DIGEST = Digest(
    session="codex:s1", project=None, title="Renovation of the shop", outcome="partial",
    summary="looked at",
    tasks=[
        Task(
            title="mend the door", asked="mend the door", turns=[1, 2, 3], outcome="partial",
            files=["src/varnish.py"],
            errors=[Trouble(ref="codex:s1#2", error="KeyError: 'lintel'", steps=["edit lintel.py"],
            worked="codex:s1#3")],
        )
    ],
    open_ends=["not the hinges (codex:s1#3)"],
)  # fmt: skip


def long_turn(session: str, key: str, prompt: str, *, minute: int = 0, **values: Any) -> list[Item]:
    """A turn with more in it than what is kept of one."""
    return turn(
        session,
        key,
        prompt,
        f"answer {key} " + LONG,
        minute=minute,
        output=f"printed{key.replace('-', '')} " + LONG,
        **values,
    )


def digested(filled: Filled) -> None:
    """Give every session that has changed a digest of what is stored now."""
    store = filled.store
    for number, ref, mark in store.digests.outdated():
        digest = Digest(
            session=ref, project=None, title="", outcome="uncertain", summary="looked at"
        )
        assert store.digests.save(number, mark, digest)


def whole(filled: Filled) -> list[int]:
    return [one.turn for one in filled.store.evictions.whole_turns(QUIET)]


def refs_found(filled: Filled, word: str) -> list[str]:
    rows = filled.db.rows(
        "select turn from bodies where id in (select rowid from turns_text where turns_text match "
        "?)",
        (word,),
    )
    return sorted(str(number) for (number,) in rows)


@pytest.fixture
def two(filled: Filled) -> Filled:
    """One session with two long turns, digested."""
    filled.keep(
        "s1.jsonl", facts("s1", title="the shop"), *long_turn("s1", "s1-1", "mend the door")
    )
    filled.keep("s1.jsonl", *long_turn("s1", "s1-2", "paint the wall", minute=9))
    digested(filled)
    return filled


def test_what_was_asked_and_done_stays_of_a_turn(two: Filled) -> None:
    """A person scrolling through an old session still sees what it was about."""
    before = two.store.turns.get("codex:s1", 1)

    (gone,) = two.store.evictions.evict([1])

    after = two.store.turns.get("codex:s1", 1)
    assert gone.freed_bytes > 0
    assert [(event.kind, event.text[:11]) for event in after.events] == [
        ("prompt", "mend the do"), ("tool_call", ""), ("reply", "answer s1-1"),
    ]  # fmt: skip
    assert after.reply == before.reply[:240].rpartition(" ")[0]
    assert (after.prompt, after.tokens, after.cost_usd, after.ended_at) == (
        before.prompt, before.tokens, before.cost_usd, before.ended_at,
    )  # fmt: skip
    call = after.events[1]
    assert (call.name, call.target, call.ok, call.input, call.output) == (
        "shell",
        "run s1-1",
        True,
        None,
        None,
    )  # type: ignore[union-attr]
    assert after.evicted_at is not None
    assert before.evicted_at is None


def test_a_turn_says_where_its_log_still_is(filled: Filled, tmp_path: Any) -> None:
    """The agent may keep its log for longer than we keep the events."""
    log = tmp_path / "s1.jsonl"
    log.touch()
    filled.keep(str(log), facts("s1"), *long_turn("s1", "s1-1", "mend the door"))
    digested(filled)
    filled.store.evictions.evict([1])

    there = filled.store.turns.get("codex:s1", 1).raw_log
    log.unlink()
    gone = filled.store.turns.get("codex:s1", 1).raw_log

    assert (there, gone) == (str(log), None)


def test_an_evicted_turn_is_found_by_what_stays(two: Filled) -> None:
    """The index follows the body: no hit without words to show for it."""
    two.store.evictions.evict([1])

    assert refs_found(two, "mend") == ["1"]
    assert refs_found(two, "run") == ["1", "2"]
    assert refs_found(two, "printeds11") == []
    assert refs_found(two, "printeds12") == ["2"]


def test_an_evicted_turn_is_found_by_its_errors(filled: Filled) -> None:
    """What failed, and what then worked, is what people come back for."""
    output = "starting up\n" + LONG + "\nKeyError: 'lintel'"
    failed = [
        Event(session="s1", turn="s1-1", kind="prompt", at=START, text="mend the door"),
        Event(
            session="s1", turn="s1-1", kind="tool_call", at=START + 1, name="shell",
            tool_kind="shell", target="make door",
            output=output, ok=False, exit_code=2,
        ),
    ]  # fmt: skip
    filled.keep("s1.jsonl", facts("s1"), *failed)
    digested(filled)

    filled.store.evictions.evict([1])
    filled.store.evictions.evict([1])

    assert refs_found(filled, "errors : lintel") == ["1"]
    call: Any = filled.store.turns.get("codex:s1", 1).events[1]
    assert (call.output[:11], call.output[-18:], len(call.output)) == (
        "starting up",
        "KeyError: 'lintel'",
        476,
    )


def test_vectors_and_digest_stay_what_they_are(two: Filled) -> None:
    """They were made of more than is left, so nothing is queued to be made again."""
    list(embed(two.store, WordEncoder()))

    two.store.evictions.evict([1])

    assert two.store.vectors.waiting() == 0
    assert two.store.digests.outdated() == []


def test_what_waited_to_be_embedded_or_digested_still_waits(two: Filled) -> None:
    """Marks that stand for real changes survive, unchanged, so that
    work in progress is not thrown away.
    """
    two.keep("s1.jsonl", *long_turn("s1", "s1-3", "mow the lawn", minute=20))

    def marks() -> list[object]:
        to_embed = [(one.turn, one.mark) for one in two.store.vectors.next_waiting(10)]
        return [two.store.digests.outdated(), to_embed]

    before = marks()

    two.store.evictions.evict([1, 2, 3], undistilled=True)

    assert marks() == before


def test_a_turn_without_a_digest_stays_whole(two: Filled) -> None:
    """The promise is checked under the lock: the log may have grown since the turn was chosen."""
    chosen = whole(two)
    two.keep("s1.jsonl", *long_turn("s1", "s1-3", "mow the lawn", minute=20))

    evicted = two.store.evictions.evict(chosen)

    assert evicted == []
    assert whole(two) == [1, 2, 3]


def test_letting_go_twice_lets_go_once(two: Filled) -> None:
    """A run that was stopped is simply run again."""
    two.store.evictions.evict([1])
    first = two.rows()

    again = two.store.evictions.evict([1])

    assert [gone.freed_bytes for gone in again] == [0]
    assert two.rows() == first
    assert whole(two) == [2]


def test_a_turn_that_is_small_already_keeps_everything(filled: Filled) -> None:
    """There is nothing to gain, so nothing is lost; it is not looked at again either."""
    filled.keep(
        "s1.jsonl", facts("s1"), Event(session="s1", turn="s1-1", kind="prompt", at=START,
        text="hello"),
        Event(session="s1", turn="s1-1", kind="reply", at=START + 1, text="hi"),
    )  # fmt: skip
    digested(filled)
    before = filled.store.turns.get("codex:s1", 1)

    (gone,) = filled.store.evictions.evict([1])

    assert gone.freed_bytes == 0
    assert filled.store.turns.get("codex:s1", 1) == before
    assert whole(filled) == []


def test_a_log_read_again_from_its_start_does_not_bring_events_back(two: Filled) -> None:
    """Agents rewrite their logs; that may not undo what the budget asked for."""
    two.store.evictions.evict([1])
    before = two.rows()["bodies"]

    two.keep(
        "s1.jsonl", facts("s1", title="the shop"), *long_turn("s1", "s1-1", "mend the door",
        telemetry={"window": 9}),
        *long_turn("s1", "s1-2", "paint the wall", minute=9), again=True,
    )  # fmt: skip

    after = {row[1]: row for row in two.rows()["bodies"]}
    assert after[1] == {row[1]: row for row in before}[1]
    assert whole(two) == [2]
    session = two.store.sessions.get("codex:s1")
    assert (session.errors, session.tool_calls) == (0, 2)
    assert session.turn_list[0].prompt == "mend the door"


def test_a_result_told_apart_from_its_call_does_not_come_back_either(filled: Filled) -> None:
    """A long log is read in batches, and a result may be in a later one than its call."""
    key = {"session": "s1", "turn": "s1-1"}
    call = Event(
        **key,
        kind="tool_call",
        at=START + 1,
        call="c1",
        name="shell",
        tool_kind="shell",
        target="make",
    )
    asked = Event(**key, kind="prompt", at=START, text="build it")
    printed = ToolResult(**key, call="c1", at=START + 9, output="printed " + LONG, ok=True)
    filled.keep("s1.jsonl", facts("s1"), asked, call)
    filled.keep("s1.jsonl", printed)
    digested(filled)
    filled.store.evictions.evict([1])
    before = filled.rows()["bodies"]

    filled.keep("s1.jsonl", facts("s1"), asked, call, again=True)
    filled.keep("s1.jsonl", printed)

    assert filled.rows()["bodies"] == before


def test_a_log_that_grows_adds_to_an_evicted_turn_what_is_new(two: Filled) -> None:
    """What was said after the events went has no digest yet: it is kept whole until it has."""
    two.store.evictions.evict([1, 2])
    said = Event(
        session="s1",
        turn="s1-2",
        kind="reply",
        at=START + 9 * 60_000 + 5000,
        text="one more thing " + LONG,
    )

    two.keep("s1.jsonl", said)
    grown = two.store.turns.get("codex:s1", 2)
    undigested = two.store.evictions.evict([2])
    digested(two)
    again = two.store.evictions.evict([2])

    assert [(event.kind, event.text[:9]) for event in grown.events] == [
        ("prompt", "paint the"), ("tool_call", ""), ("reply", "answer s1"), ("reply", "one more "),
    ]  # fmt: skip
    assert undigested == []
    assert [gone.freed_bytes > 0 for gone in again] == [True]
    assert [
        event.text[:9]
        for event in two.store.turns.get("codex:s1", 2).events
        if event.kind == "reply"
    ] == ["one more "]


def test_a_result_that_comes_late_finds_its_call(filled: Filled) -> None:
    """A call may be waiting when its turn is let go of, on the hard cap's way."""
    call = Event(
        session="s1", turn="s1-1", kind="tool_call", at=START + 1, call="c1", name="shell",
        tool_kind="shell", target="sleep",
        input={"command": "sleep", "note": LONG},
    )  # fmt: skip
    filled.keep(
        "s1.jsonl",
        facts("s1"),
        Event(session="s1", turn="s1-1", kind="prompt", at=START, text="wait"),
        call,
    )
    filled.store.evictions.evict([1], undistilled=True)

    filled.keep(
        "s1.jsonl",
        ToolResult(session="s1", turn="s1-1", call="c1", at=START + 2, output="woke up", ok=True),
    )

    shown = filled.store.turns.get("codex:s1", 1).events[1]
    assert (shown.ok, shown.output) == (True, "woke up")  # type: ignore[union-attr]


def test_a_digest_made_again_still_knows_the_turns_that_went(two: Filled) -> None:
    """Distilling sees no events for them, and keeps what was said before."""
    two.store.evictions.evict([1])

    passages = two.store.digests.passages(1)

    assert [(passage.ordinal, bool(passage.events)) for passage in passages] == [
        (1, False),
        (2, True),
    ]


def test_whoever_reads_a_session_anew_gets_what_is_kept(two: Filled) -> None:
    """A model that is asked about it later has nothing else to go by."""
    two.store.evictions.evict([1, 2])

    passages = two.store.digests.passages(1, short=True)

    assert [[event.kind for event in passage.events] for passage in passages] == [
        ["prompt", "shell", "reply"]
    ] * 2


def test_a_turn_that_went_undigested_is_digested_from_what_is_left(two: Filled) -> None:
    """Little is better than nothing, as nothing was said of it before."""
    two.keep("s1.jsonl", *long_turn("s1", "s1-3", "mow the lawn", minute=20))

    two.store.evictions.evict([3], undistilled=True)

    (*_, last) = two.store.digests.passages(1)
    assert [event.kind for event in last.events] == ["prompt", "shell", "reply"]


def test_the_store_is_well_afterwards(two: Filled) -> None:
    """Checksums, text index and references are those of what is there now."""
    two.store.evictions.evict([1])

    health = two.store.doctor.examine(verify=True)
    plain = list(two.store.sessions.export(Scope(Query(), {})))
    index = two.text_index()
    two.store.text_index.rebuild()

    assert [finding for finding in health.findings if not finding.ok] == []
    assert [
        finding.detail for finding in health.findings if finding.name == "old events removed"
    ] == ["of 1 of 2 turns, 0 of them without a digest"]
    assert [len(session["turn_list"]) for session in plain] == [2]
    assert two.text_index() == index


def digested_as(filled: Filled, digest: Digest) -> None:
    """Give the one session that has changed this digest."""
    ((number, _, mark),) = filled.store.digests.outdated()
    assert filled.store.digests.save(number, mark, digest)


def test_a_session_is_found_by_the_words_of_its_digest(two: Filled) -> None:
    """An agent names its sessions in words that nobody said, and an error may
    stand in the middle of a long output.
    """
    two.keep("s1.jsonl", *long_turn("s1", "s1-3", "mow the lawn", minute=20))
    digested_as(two, DIGEST)

    two.store.evictions.evict([1, 2, 3])

    assert {word: refs_found(two, word) for word in ("renovation", "lintel", "hinges",
    "varnish")} == {
        "renovation": ["1"], "lintel": ["2"], "hinges": ["1"], "varnish": ["1"],
    }  # fmt: skip
    assert "renovation" not in str(two.store.sessions.get("codex:s1").turn_list)


def test_a_small_turn_is_found_by_its_digest_too(filled: Filled) -> None:
    """The title of a session is with its first turn, which may be a greeting."""
    filled.keep(
        "s1.jsonl",
        facts("s1"),
        Event(session="s1", turn="s1-1", kind="prompt", at=START, text="hello"),
    )
    digested_as(
        filled,
        Digest(
            session="codex:s1", project=None, title="Renovation", outcome="uncertain", summary=""
        ),
    )
    before = filled.store.turns.get("codex:s1", 1)

    (gone,) = filled.store.evictions.evict([1])
    again = filled.store.evictions.evict([1])

    assert refs_found(filled, "renovation") == ["1"]
    assert filled.store.turns.get("codex:s1", 1) == before
    assert (gone.freed_bytes < 0, whole(filled), filled.store.evictions.raw_bytes()) == (
        True,
        [],
        0,
    )
    assert [one.freed_bytes for one in again] == [0]


def test_forgetting_a_turn_takes_what_the_digest_told_out_of_the_others(two: Filled) -> None:
    """An error of one turn was overcome in another: what is told of the first quotes the second."""
    two.keep("s1.jsonl", *long_turn("s1", "s1-3", "mow the lawn", minute=20))
    digested_as(two, DIGEST)
    two.store.evictions.evict([1, 2, 3])
    list(embed(two.store, WordEncoder()))

    two.store.forgetting.session_or_turn("codex:s1", 3)

    assert {"renovation", "lintel", "hinges", "varnish"} & two.vocabulary() == set()
    assert (two.store.vectors.waiting(), two.store.evictions.raw_bytes()) == (0, 0)
    assert [
        finding for finding in two.store.doctor.examine(verify=True).findings if not finding.ok
    ] == []


def test_an_evicted_turn_can_be_forgotten(two: Filled) -> None:
    """What a person asks for goes before what a budget keeps."""
    two.store.evictions.evict([1])

    two.store.forgetting.session_or_turn("codex:s1", 1)

    assert two.store.evictions.at(1) is None
    assert refs_found(two, "mend") == []


def test_what_may_quote_an_evicted_turn_is_forgotten_with_it(filled: Filled) -> None:
    """The words to compare with are gone, so a doubt is settled for the person who asked."""
    quote = f"so it was said: {LONG[500:600]}"
    filled.keep(
        "s1.jsonl",
        facts("s1", title="the door", meta={"recap": quote, "kind": "chat"}),
        *long_turn("s1", "s1-1", "ask"),
    )
    filled.keep("s1.jsonl", *long_turn("s1", "s1-2", "mend the door", minute=9))
    digested(filled)
    filled.store.evictions.evict([2])

    filled.store.forgetting.session_or_turn("codex:s1", 2)

    session = filled.store.sessions.get("codex:s1")
    assert (session.title, session.meta) == ("ask", {"kind": "chat"})


def test_a_digest_that_is_lost_is_made_of_what_stays(two: Filled) -> None:
    """Forgetting one turn drops its session's digest; the other turns are still worth a word."""
    two.store.evictions.evict([1, 2])

    two.store.forgetting.session_or_turn("codex:s1", 1)

    assert [len(passage.events) for passage in two.store.digests.passages(1)] == [3]


def test_a_repaired_store_remembers_what_was_let_go(two: Filled) -> None:
    """Else the next import would bring it all back; except for a turn of which nothing is left."""
    two.store.evictions.evict([1, 2])
    two.db.execute("update bodies set checksum = 0 where turn = 2")
    kept = two.db.rows("select * from evictions where turn = 1")
    two.close()

    repair(str(two.path))

    two.reopen()
    assert two.db.rows("select * from evictions") == kept


def test_the_oldest_come_first_and_say_whether_they_may_go(two: Filled) -> None:
    """This is all that a policy is decided on."""
    two.keep("s2.jsonl", facts("s2"), *long_turn("s2", "s2-1", "an older one", minute=-60))

    rows = two.store.evictions.whole_turns(START)

    raw_bytes = two.store.evictions.raw_bytes()
    gone = two.store.evictions.evict([1, 2, 3], undistilled=True)
    sizes = {one.turn: one.raw_bytes for one in gone}
    assert rows == [
        WholeTurn(3, sizes[3], START - 3_597_000, False, True),
        WholeTurn(1, sizes[1], START + 3000, True, False),
        WholeTurn(2, sizes[2], START + 543_000, True, False),
    ]
    assert raw_bytes == sum(sizes.values())


def test_space_is_given_back_when_there_is_much_of_it(filled: Filled) -> None:
    """A cap is there for the disk, which sees the file and not what is in it."""
    noise = [str(number * 2654435761 % 999_999_937) for number in range(4_000)]
    for number in range(20):
        text = " ".join(noise[number * 100 :])
        filled.keep(
            "s1.jsonl", *turn("s1", f"s1-{number}", f"ask {number}", output=text, minute=number)
        )
    digested(filled)
    filled.store.evictions.evict(whole(filled))
    filled.db.execute("pragma wal_checkpoint(truncate)")
    size = filled.path.stat().st_size

    given_back = filled.store.evictions.give_back()
    again = filled.store.evictions.give_back()

    assert given_back > size // 4
    assert filled.path.stat().st_size == size - given_back
    assert again == 0
