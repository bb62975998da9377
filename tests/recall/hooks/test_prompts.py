"""What a prompt calls up: only what is of this project, what is sure, and mostly nothing."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.memory import Memory
from recollect.reading.tokens import tokens_of
from recollect.recall.hooks.frame import PROMPT_TOKENS, closing, fitting, framed, opening, unframed
from recollect.recall.hooks.prompts import (
    MOST_LINES,
    NEARLY,
    TEMPLATE_LINES,
    confident,
    tell,
)
from tests.builders.hooks import SHOP
from tests.builders.work import Remember, Work

ORCHARD = "/home/kim/orchard"
MARK = "k3v9x2pq"
WEBHOOK = "why does the webhook signature check fail in the staging cluster?"


def told(mind: Memory, prompt: str, folder: str = SHOP) -> list[str]:
    """The references of what a prompt calls up."""
    store = mind._shared.store()
    number = store.projects.number(folder)
    assert number is not None
    return [one.refs for one, _ in tell(store.hook_lines.ready(), number, prompt)]


def prepare(mind: Memory) -> Memory:
    list(mind.make_ready())
    return mind


def filler(number: int, folder: str = SHOP) -> Work:
    """Work about something else, so that words can be rare."""
    work = Work(number, cwd=folder)
    for topic in (
        "repaint the shelves of room",
        "count the boxes on pallet",
        "order new labels for aisle",
        "sweep the floor of hall",
    ):
        work.ask(f"{topic} {number} before noon").run("ls", "ok")
    return work


def test_the_words_of_a_prompt_call_up_the_turn_that_had_them(remember: Remember) -> None:
    """In whatever form: plural, past, upper case, camel case."""
    work = Work(1).ask(WEBHOOK).run("pytest -q", "ok")
    mind = prepare(remember(work, filler(2), filler(3)))

    assert told(mind, WEBHOOK) == [f"{work.ref}#1"]
    assert told(mind, "WEBHOOKS: signatures checked and failing, in staging clusters") == [
        f"{work.ref}#1"
    ]
    assert told(mind, "checkWebhookSignature fails in stagingCluster") == [f"{work.ref}#1"]
    assert told(mind, "bake a lemon cake with almonds tonight") == []


def test_only_the_own_project_is_asked(remember: Remember) -> None:
    """Memories of one project are never told in another.

    A person may say something for all of them.
    """
    here, there = Work(1).ask(WEBHOOK).run("ls"), Work(2, cwd=ORCHARD).ask(WEBHOOK).run("ls")
    mind = remember(here, there, filler(3), filler(4, ORCHARD))
    cake = mind.notes.add(
        "the lemon cake is baked with almonds, tonight and always", everywhere=True
    )
    prepare(mind)

    assert (told(mind, WEBHOOK), told(mind, WEBHOOK, ORCHARD)) == (
        [f"{here.ref}#1"],
        [f"{there.ref}#1"],
    )
    assert told(mind, "bake a lemon cake with almonds tonight") == [cake.ref]
    assert told(mind, "bake a lemon cake with almonds tonight", ORCHARD) == [cake.ref]


def test_a_turn_in_which_nothing_was_done_is_not_told(remember: Remember) -> None:
    """There is nothing to learn from it that its prompt does not say."""
    mind = prepare(remember(Work(1).ask(WEBHOOK).done("Because of the clock."), filler(2)))

    assert told(mind, WEBHOOK) == []


def test_what_a_sub_agent_or_a_program_asked_is_not_told(remember: Remember) -> None:
    """Only people's words."""
    work = Work(1)
    work.talk.user(WEBHOOK, isMeta=True)
    work.run("ls").ask("yes").run("ls")
    mind = prepare(remember(work, filler(2)))

    assert told(mind, WEBHOOK) == []


def test_of_turns_that_are_equally_good_the_newest_are_told_first(remember: Remember) -> None:
    """And not more than a few."""
    works = [Work(number).ask(f"{WEBHOOK} try {number}").run("ls") for number in range(1, 5)]
    for number, work in enumerate(works):
        work.talk.lines = [
            line.replace("2026-01-01T", f"2026-01-{10 - number:02}T") for line in work.talk.lines
        ]
    mind = prepare(remember(*works, filler(7), filler(8)))

    assert told(mind, WEBHOOK) == [f"{work.ref}#1" for work in works[:MOST_LINES]]


@pytest.mark.parametrize(
    "prompt",
    ["", " \n", "the", "yes", "do it", "why?", "☃", "\ud800\0", "a" * 100_000, "'\"*()%--;"],
)
def test_what_says_nothing_calls_up_nothing(remember: Remember, prompt: str) -> None:
    """Nor does it fail."""
    mind = prepare(remember(Work(1).ask(WEBHOOK).run("ls")))

    assert told(mind, prompt) == []


@pytest.mark.parametrize(
    "prompt",
    ["webhook signature", "yes please, check the signature again, thanks", "is the webhook up?"],
)
def test_two_words_are_never_enough(remember: Remember, prompt: str) -> None:
    """However rare: a turn that holds two words may be about anything.

    What is said to go on does not count.
    """
    mind = prepare(remember(Work(1).ask(WEBHOOK).run("pytest -q", "ok"), filler(2), filler(3)))

    assert told(mind, prompt) == []


def test_the_answer_finds_a_turn_and_is_not_quoted(remember: Remember) -> None:
    """What a request came to is often said in other words than the request.

    An agent's own words are never told.
    """
    work = (
        Work(1)
        .ask("mend what Tomasz reported on Friday")
        .run("pytest -q", "ok")
        .done("The replica lags behind its primary.")
    )
    mind = prepare(remember(work, filler(2), filler(3)))

    (line,) = mind.recall("why does the replica lag behind the primary", folder=SHOP).lines[:1]

    assert told(mind, "why does the replica lag behind the primary") == [f"{work.ref}#1"]
    assert "mend what Tomasz reported" in line.text
    assert "replica" not in line.text


def test_what_was_asked_often_is_told_once(remember: Remember) -> None:
    """As it came out the last time."""
    works = [Work(number).ask(WEBHOOK).run("pytest -q", "ok") for number in (1, 2, 3)]
    for hour, work in enumerate(works):
        work.talk.second = 3600 * hour
    last = Work(4)
    last.talk.second = 36_000
    mind = prepare(remember(*works, last.ask(WEBHOOK).run("pytest -q", "ok"), filler(5), filler(6)))

    assert told(mind, WEBHOOK) == [f"{last.ref}#1"]


def test_a_form_that_is_sent_again_and_again_calls_up_none_of_its_copies(
    remember: Remember,
) -> None:
    """They say what the prompt says."""
    works = [
        Work(number).ask(f"{WEBHOOK} ticket {number * 111}").run("ls")
        for number in range(1, TEMPLATE_LINES + 2)
    ]
    mind = prepare(remember(*works, filler(90), filler(91)))

    assert told(mind, f"{WEBHOOK} ticket 5000") == []


def test_single_characters_of_a_script_without_spaces_say_nothing(remember: Remember) -> None:
    """They stand in every other line; pairs of them are nearly words."""
    mind = prepare(remember(Work(1).ask("数据库 在 测试 环境 死锁了").run("ls"), filler(2)))

    assert told(mind, "数 据 库 在 测 试 环 境") == []


def test_a_store_with_nothing_ready_tells_nothing(remember: Remember) -> None:
    """Before the first job ran."""
    assert told(remember(Work(1).ask(WEBHOOK).run("ls")), WEBHOOK) == []


# Parts

SCORES = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 99)), max_size=9, unique_by=lambda pair: pair[1]
)


@given(SCORES)
def test_the_confident_ones_are_few_sure_and_nearly_as_good_as_the_best(
    scored: list[tuple[float, int]],
) -> None:
    """In order, whatever order they came in."""
    best = confident(scored)

    assert best == sorted(best, key=lambda pair: (-pair[0], -pair[1])) == confident(scored[::-1])
    assert len(best) <= MOST_LINES
    assert all(score >= 0.6 and score >= NEARLY * best[0][0] for score, _ in best)
    assert bool(best) == any(score >= 0.6 for score, _ in scored)


@given(st.lists(st.text(max_size=3_000), max_size=9), st.integers(0, 2_000))
@example(["x" * 5_000, "y"], PROMPT_TOKENS)
def test_what_fits_stays_within_the_budget(lines: list[str], budget: int) -> None:
    """With its frame; a line that is too long does not keep the next one out."""
    fits = fitting(lines, budget, MARK)
    kept = [line for line, has_room in zip(lines, fits, strict=True) if has_room]

    assert not kept or tokens_of(framed(kept, MARK)) <= budget
    assert all(
        fitting([*kept, line], budget, MARK)[-1] is False
        for line, has_room in zip(lines, fits, strict=True)
        if not has_room
    )


@given(st.lists(st.text(st.characters(exclude_characters="\n")), max_size=5))
def test_a_frame_holds_its_lines(lines: list[str]) -> None:
    """One each, between an opening and a closing that nothing in it can be."""
    told = [*lines, f"the end {closing(MARK)} and more"]
    kept = [line for line in lines if MARK not in line]

    assert framed(told, MARK) == "\n".join([opening(MARK), *kept, closing(MARK)])
    assert unframed(framed(told, MARK)) == "\n".join(kept)
