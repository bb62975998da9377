"""An agent's note counts when the person's own words say it, and never otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.distill.corroborate import STOP_WORDS, TURNING_WORDS, corroborate, says
from recollect.memory import Memory
from recollect.model.logs import Event, Item, SessionFacts, TurnFacts
from recollect.model.notes import Note
from recollect.settings import Settings
from recollect.system.clock import iso, now_ms
from tests.builders import codex, homes
from tests.store.conftest import Filled

SHOP = "/home/ada/shop"
NOTE = "use tabs never spaces"

# What is said -------------------------------------------------------------


@pytest.mark.parametrize(
    ("note", "prompt"),
    [
        ("use tabs never spaces", "use tabs never spaces"),
        ("Use tabs, never spaces!", "Fix the build. In this repo we use tabs and never spaces, ok"),
        ("Use pnpm in this repository.", "please always use pnpm for the repository"),
        ("do not commit to main", "Don't commit to main."),
        ("Don't commit to main", "and do not ever commit to main"),
        ("Tests run with make check", "the tests are run with make check"),
        ("use tabs never spaces", "what is this?\n\nuse tabs,\nnever spaces"),
        ("Always use pnpm", "Always use pnpm. Never use npm."),
        ("Always use pnpm. Never use npm.", "Always use pnpm. Never use npm."),
        ("we write C++ without exceptions", "We write C++ without exceptions"),
    ],
)
def test_a_note_is_said_when_its_words_are_there_in_order(note: str, prompt: str) -> None:
    """Filler words, case and punctuation differ between what was said and what is noted down."""
    assert says(prompt, note)


@pytest.mark.parametrize(
    ("note", "prompt"),
    [
        ("use tabs never spaces", "never use tabs, use spaces"),
        ("use tabs", "do not use tabs"),
        ("use tabs", "don’t use tabs"),
        ("use tabs", "dont use tabs"),
        ("use tabs", "you cannot use tabs here"),
        ("use tabs", "Do not, under any circumstances, use tabs."),
        ("use tabs", "Do not, e.g. in tests, use tabs."),
        ("use tabs", "please do not ever\nuse tabs in this repo"),
        ("use tabs", "Don't:\n- use tabs\n- use npm"),
        ("use tabs", "Don't do any of this:\n\n- use npm\n\n- use tabs"),
        ("use tabs", "Never do these.\nNever:\n1. use npm\n2. use tabs"),
        ("use tabs", "use tabs? no."),
        ("use tabs", "should we use tabs?"),
        ("use tabs", "Use tabs. No, wait, use spaces."),
        ("use tabs", "use spaces instead of what people who use tabs do"),
        ("use tabs", "if you use tabs I will scream"),
        ("use tabs", "only use tabs in makefiles"),
        ("use tabs", "stop it when people use tabs"),
        ("use tabs", "the readme says to use tabs"),
        ("use tabs", "you needn't use tabs"),
        ("nutze Tabs", "nutze keine Tabs"),
        ("do not use tabs", "use tabs"),
        ("never use tabs", "do not use spaces, use tabs"),
        ("use tabs everywhere", "use tabs"),
        ("use tabs", "use whatever you like of all things, say tabs"),
        ("tabs", "tabs"),
        ("use tabs", "tabs use"),
        ("we write C without exceptions", "we write C++ without exceptions"),
    ],
)
def test_a_note_is_not_said_by_other_words(note: str, prompt: str) -> None:
    """The opposite of what a person said, believed in their name, is
    the worst thing a memory can do.
    """
    assert not says(prompt, note)


@pytest.mark.parametrize(
    "prompt",
    [
        "look at this:\n```\nuse tabs never spaces\n```\nwhat is it about",
        "look at this:\n```\nuse tabs never spaces",
        "he wrote\n> use tabs never spaces\nand left",
        '<recalled by="recollect" note="data">\nuse tabs never spaces\n</recalled>\ngo on',
        "<file path='README.md'>use tabs never spaces</file> go on",
        "use tabs never spaces. " + "and so on and on. " * 250,
    ],
)
def test_what_a_person_did_not_type_is_not_said(prompt: str) -> None:
    """Pasted pages, quotes, and what programs and we ourselves put into a
    prompt are somebody else's words.
    """
    assert not says(prompt, NOTE)


WORDS = st.lists(
    st.sampled_from(["use", "tabs", "spaces", "commit", "main", "tests", "pnpm", "build"]),
    min_size=2,
    max_size=8,
)
FILLERS = st.sampled_from(sorted(STOP_WORDS))


@given(WORDS, st.data())
def test_fillers_between_the_words_change_nothing(words: list[str], data: st.DataObject) -> None:
    """As long as they are not more than the words themselves."""
    fillers = data.draw(st.lists(FILLERS, max_size=len(words) - 1))
    said = [
        word for pair in zip(words, [*fillers, *[""] * len(words)], strict=False) for word in pair
    ]

    assert says(f"Hello there. {' '.join(said)}", " ".join(words))


@given(WORDS, st.sampled_from(sorted(TURNING_WORDS)), st.data())
def test_one_turning_word_anywhere_in_the_sentence_is_enough_to_doubt(
    words: list[str], turn: str, data: st.DataObject
) -> None:
    """On either side: what the note says and the person did not, and the other way round."""
    place = data.draw(st.integers(0, len(words)))
    turned = " ".join([*words[:place], turn, *words[place:]])

    assert not says(turned, " ".join(words))
    assert not says(" ".join(words), turned)


@given(WORDS)
def test_no_word_of_a_note_may_be_missing(words: list[str]) -> None:
    for place in range(len(words)):
        assert not says(
            " ".join([*words[:place], "something", *words[place + 1 :]]), " ".join(words)
        )


@given(
    st.lists(
        st.sampled_from(["use", "tabs", "spaces", "commit", "main", "tests"]),
        min_size=2,
        max_size=6,
        unique=True,
    )
)
def test_the_order_of_the_words_is_part_of_what_is_said(words: list[str]) -> None:
    """Use tabs for spaces, use spaces for tabs."""
    note = " ".join(words)
    for one, other in pairwise(range(len(words))):
        swapped = list(words)
        swapped[one], swapped[other] = swapped[other], swapped[one]

        assert not says(" ".join(swapped), note)


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_two_texts_can_be_compared(prompt: str, note: str) -> None:
    """Prompts hold everything, and nothing in them may stop the work on the others."""
    assert says(prompt, note) in (True, False)


# Where it is said -------------------------------------------------------------


class Desk:
    """A memory, and an agent that remembers through it while its log says so."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        self.filled = Filled(folder / "recollect.db")
        self.memory = Memory(
            Settings(str(folder), str(folder / "recollect.db"), {"redact.enabled": False})
        )

    def tell(
        self, session: str, *turns: list[Event] | tuple[TurnFacts, list[Event]], **known: Any
    ) -> None:
        """A session that is running now."""
        items: list[Item] = [
            SessionFacts(session=session, cwd=SHOP, started_at=now_ms() - 1000, **known)
        ]
        for number, one in enumerate(turns):
            facts, events = one if isinstance(one, tuple) else (TurnFacts(session="", turn=""), one)
            facts.session, facts.turn, facts.cwd, facts.at = (
                session,
                f"{session}-{number}",
                SHOP,
                now_ms() - 1000,
            )
            items.append(facts)
            for event in events:
                event.session, event.turn, event.at = session, facts.turn, now_ms()
                items.append(event)
        self.filled.keep(f"{session}.jsonl", *items, again=True)

    def close(self) -> None:
        self.memory.close()
        self.filled.close()


def typed(text: str) -> Event:
    return Event(session="", turn="", kind="prompt", text=text)


def call(text: str = NOTE, name: str = "mcp__recollect__remember") -> Event:
    return Event(
        session="", turn="", kind="tool_call", call="c1", name=name, tool_kind="mcp", ok=True,
        output="kept",
        input={"text": text, "category": "preference"},
    )  # fmt: skip


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "desk")
    yield made
    made.close()


def given_by_an_agent(desk: Desk, text: str = NOTE) -> Note:
    return desk.memory.notes.add(text, category="preference", folder=SHOP, by="agent")


def trust(memory: Memory) -> tuple[str, str, list[str]]:
    (note,) = memory.notes.search()
    return note.status, note.trust, note.turns


@pytest.mark.parametrize(
    "name", ["mcp__recollect__remember", "recollect.remember", "recollect_remember"]
)
def test_a_note_counts_once_its_session_shows_that_a_person_said_it(desk: Desk, name: str) -> None:
    """The server that takes a note does not know who it is talking to.

    The log that comes later does.
    """
    given_by_an_agent(desk)
    too_early = corroborate(desk.filled.store)
    desk.tell("s1", [typed("hello")], [typed("please use tabs, never spaces"), call(name=name)])

    believed = corroborate(desk.filled.store)
    again = corroborate(desk.filled.store)

    assert (too_early, believed, again) == (0, 1, 0)
    assert trust(desk.memory) == ("active", "user", ["codex:s1#2"])


def test_a_note_that_nobody_said_stays_a_candidate_that_knows_its_session(desk: Desk) -> None:
    given_by_an_agent(desk)
    desk.tell("s1", [typed("tidy up the code"), call()])

    assert corroborate(desk.filled.store) == 0
    assert trust(desk.memory) == ("candidate", "assistant", ["codex:s1#1"])


def test_what_is_typed_after_the_call_is_too_late(desk: Desk) -> None:
    """A person who repeats what the agent announced may only be asking about it."""
    given_by_an_agent(desk)
    desk.tell(
        "s1",
        [typed("tidy up"), call(), typed("use tabs never spaces")],
        [typed("use tabs never spaces")],
    )

    assert corroborate(desk.filled.store) == 0


def test_what_was_typed_in_an_earlier_turn_is_not(desk: Desk) -> None:
    given_by_an_agent(desk)
    desk.tell("s1", [typed("use tabs never spaces")], [typed("go on"), call()])

    assert corroborate(desk.filled.store) == 1


@pytest.mark.parametrize(
    "other",
    [
        [Event(session="", turn="", kind="reply", text=NOTE)],
        [
            Event(
                session="",
                turn="",
                kind="tool_call",
                call="c2",
                name="shell",
                tool_kind="shell",
                output=NOTE,
                ok=True,
            )
        ],
        (TurnFacts(session="", turn="", author="agent"), [typed(NOTE)]),
        (TurnFacts(session="", turn="", author="system"), [typed(NOTE)]),
    ],
)
def test_only_what_a_person_typed_counts(desk: Desk, other: Any) -> None:
    """An agent, a page it read, and what a program sent in a person's place prove nothing."""
    given_by_an_agent(desk)
    desk.tell("s1", other, [typed("go on"), call()])

    assert corroborate(desk.filled.store) == 0


def test_what_a_sub_agent_was_told_was_told_by_an_agent(desk: Desk) -> None:
    given_by_an_agent(desk)
    desk.tell("s1/x", [typed(NOTE), call()], origin="subagent", parent="s1")

    assert corroborate(desk.filled.store) == 0
    assert trust(desk.memory) == ("candidate", "assistant", ["codex:s1/x#1"])


def test_what_another_session_says_does_not_count(desk: Desk) -> None:
    given_by_an_agent(desk)
    desk.tell("s1", [typed(NOTE)])
    desk.tell("s2", [typed("go on"), call()])

    assert corroborate(desk.filled.store) == 0


def test_a_call_with_another_text_or_of_another_tool_is_not_the_one(desk: Desk) -> None:
    given_by_an_agent(desk)
    desk.tell("s1", [typed(NOTE), call("use tabs"), call(name="mcp__recollect__recall")])

    assert corroborate(desk.filled.store) == 0
    assert trust(desk.memory)[2] == []


def test_a_note_that_is_given_again_gets_another_chance(desk: Desk) -> None:
    """Its first session did not show that a person said it; a later one does."""
    given_by_an_agent(desk)
    desk.tell("s1", [typed("tidy up"), call()])
    corroborate(desk.filled.store)
    given_by_an_agent(desk)
    desk.filled.db.execute("update turns set ended_at = 1, started_at = 1")
    desk.tell("s2", [typed(NOTE), call()])

    assert corroborate(desk.filled.store) == 1
    assert trust(desk.memory) == ("active", "user", ["codex:s2#1", "codex:s1#1"])


def test_what_a_person_rejected_stays_rejected(desk: Desk) -> None:
    """Somebody looked at it and said no; an old log does not know better."""
    given_by_an_agent(desk)
    desk.memory.notes.reject(desk.memory.notes.search().rows[0].ref)
    desk.tell("s1", [typed(NOTE), call()])

    assert corroborate(desk.filled.store) == 0
    assert trust(desk.memory) == ("rejected", "assistant", ["codex:s1#1"])


def test_a_call_at_another_time_is_another_one(desk: Desk) -> None:
    """Sessions of last month are not gone through for a note of today."""
    given_by_an_agent(desk)
    desk.tell("s1", [typed(NOTE), call()])
    desk.filled.db.execute("update turns set started_at = 1000, ended_at = 2000")

    assert corroborate(desk.filled.store) == 0
    assert trust(desk.memory)[2] == []


# From the log of a real agent ---------------------------------------------------


def claude_code_log(home: Path, now: str) -> str:
    talk = homes.chat()
    talk.user("please use tabs, never spaces", timestamp=now)
    talk.call(
        "mcp__recollect__remember",
        {"text": NOTE, "category": "preference"},
        "toolu_1",
        timestamp=now,
    )
    talk.result("toolu_1", "kept", timestamp=now)
    homes.claude_log(home, talk)
    return f"claude-code:{talk.session}"


def codex_log(home: Path, now: str) -> str:
    records = [
        codex.meta(at=now),
        codex.context(at=now),
        codex.user("please use tabs, never spaces", at=now),
        codex.call("mcp__recollect__remember", at=now, text=NOTE, category="preference"),
        codex.output("kept", at=now),
    ]
    homes.codex_log(home, records)
    return f"codex:{codex.THREAD}"


@pytest.mark.parametrize("log", [claude_code_log, codex_log])
def test_the_call_is_found_in_what_an_agent_logs(home: Path, log: Any) -> None:
    """From the words that were typed to a note that counts, through the adapters."""
    with homes.memory(home) as memory:
        memory.notes.add(NOTE, category="preference", folder=SHOP, by="agent")
        session = log(home, str(iso(now_ms())))
        memory.import_logs()

        believed = corroborate(memory.notes.shared.store())

        assert believed == 1
        assert trust(memory) == ("active", "user", [f"{session}#1"])
