"""What a prompt calls up: only what is of this project, what is sure, and mostly nothing."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.memory import Memory
from recollect.reading.tokens import tokens_of
from recollect.recall.hooks.frame import PROMPT_TOKENS, closing, fitting, framed, opening, unframed
from recollect.recall.hooks.prompts import (
    FORM_COPIES,
    MOST_LINES,
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


def mended(number: int, prompt: str = WEBHOOK, folder: str = SHOP) -> Work:
    """Work that failed first and then changed something."""
    return (
        Work(number, cwd=folder)
        .ask(prompt)
        .run("pytest -q hooks/signature", "1 failed", code=1)
        .edit(f"{folder}/hooks/signature.py")
        .run("pytest -q hooks/signature", "1 passed")
        .done("The signature was checked over the decoded body.")
    )


def test_the_words_of_a_prompt_call_up_the_turn_that_had_them(remember: Remember) -> None:
    """In whatever form: plural, past, upper case, camel case."""
    work = mended(1)
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
    here, there = mended(1), mended(2, folder=ORCHARD)
    mind = remember(here, there, filler(3), filler(4, ORCHARD), filler(5), filler(6, ORCHARD))
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


def test_a_turn_in_which_something_was_mended_comes_before_one_of_mere_talk(
    remember: Remember,
) -> None:
    """What changed files, and went wrong on the way, is what the next one can learn from."""
    talk = Work(1).ask(f"explain: {WEBHOOK}").done("Because of the clock.")
    work = mended(2)
    for number, one in enumerate((work, talk)):
        one.talk.lines = [
            line.replace("2026-01-01T", f"2026-01-{10 + number}T") for line in one.talk.lines
        ]
    mind = prepare(remember(talk, work, filler(3), filler(4)))

    assert told(mind, f"again: {WEBHOOK} it worked on the old cluster")[0] == f"{work.ref}#1"


def test_what_a_sub_agent_or_a_program_asked_is_not_told(remember: Remember) -> None:
    """Only people's words."""
    work = Work(1)
    work.talk.user(WEBHOOK, isMeta=True)
    work.run("ls").ask("yes").run("ls")
    mind = prepare(remember(work, filler(2)))

    assert told(mind, WEBHOOK) == []


def test_not_more_than_a_few_are_told(remember: Remember) -> None:
    """The likeliest first, and of those that are equally good the newest."""
    works = [
        mended(number, f"{topic}: the webhook signature breaks the staging cluster")
        for number, topic in enumerate(
            (
                "timestamps drift overnight",
                "retries hammer the gateway",
                "proxies strip headers",
                "quotas exhaust early",
            ),
            1,
        )
    ]
    for day, work in enumerate(works, 11):
        work.talk.lines = [line.replace("01-01T", f"01-{day}T") for line in work.talk.lines]
    mind = prepare(remember(*works, *[filler(number) for number in range(7, 30)]))
    prompt = "webhook signature on the staging cluster: pytest hooks"

    newest = told(mind, prompt)
    likeliest = told(mind, f"{prompt}; retries hammer the gateway")

    assert newest == [f"{work.ref}#1" for work in works[: -MOST_LINES - 1 : -1]]
    assert likeliest[0] == f"{works[1].ref}#1"
    assert len(likeliest) <= MOST_LINES


@pytest.mark.parametrize(
    "prompt",
    [
        "", " \n", "the", "yes", "do it", "why?", "☃", "\ud800\0", "a" * 100_000, "'\"*()%--;",
        "hello there", "おはよう", "ありがとう", "早上好", "continue",
    ],
)  # fmt: skip
def test_what_says_nothing_calls_up_nothing(remember: Remember, prompt: str) -> None:
    """Nor does it fail."""
    mind = prepare(
        remember(mended(1), mended(2, "おはようございます、ビルドを直して"), filler(3), filler(4))
    )

    assert told(mind, prompt) == []


@pytest.mark.parametrize("prompt", [f"/review {WEBHOOK}", f"!{WEBHOOK}"])
def test_a_command_to_the_agent_or_the_shell_calls_up_nothing(
    remember: Remember, prompt: str
) -> None:
    """It is not about work, whatever its arguments say."""
    mind = prepare(remember(mended(1), mended(2, f"/review {WEBHOOK}"), filler(3), filler(4)))

    assert told(mind, prompt) == []
    assert told(mind, WEBHOOK) == [f"{mended(1).ref}#1"]


@pytest.mark.parametrize("prompt", ["webhook", "yes please, once more, thanks", "is it staging?"])
def test_one_word_is_never_enough(remember: Remember, prompt: str) -> None:
    """However rare: a turn that holds it may be about anything.

    What is said to go on does not count.
    """
    mind = prepare(remember(mended(1), filler(2), filler(3)))

    assert told(mind, prompt) == []


def test_the_answer_finds_a_turn_and_is_not_quoted(remember: Remember) -> None:
    """What a request came to is often said in other words than the request.

    An agent's own words are never told.
    """
    work = mended(1, "mend what Tomasz reported on Friday")
    work.done("The replica of the ledger lags behind its primary: the slot was dropped.")
    mind = prepare(remember(work, filler(2), filler(3)))
    prompt = "why does the ledger's replica lag behind the primary, was its slot dropped"

    (line,) = mind.recall(prompt, folder=SHOP).lines

    assert told(mind, prompt) == [line.ref] == [f"{work.ref}#1"]
    assert "mend what Tomasz reported" in line.text
    assert "replica" not in line.text


def test_a_turn_is_found_by_the_file_it_changed(remember: Remember) -> None:
    """A person names the file, with or without its folder."""
    work = mended(1, "mend what Tomasz reported on Friday")
    mind = prepare(remember(work, filler(2), filler(3)))

    prompt = "pytest fails on the decoded body in hooks/signature.py"

    assert told(mind, prompt) == [f"{work.ref}#1"]


@pytest.mark.parametrize("number", ["", " ticket 5000"])
def test_a_form_that_is_sent_again_and_again_calls_up_none_of_its_copies(
    remember: Remember, number: str
) -> None:
    """They say what the prompt says."""
    works = [mended(one, f"{WEBHOOK}{number and f' ticket {one}'}") for one in range(FORM_COPIES)]
    once, again = works[: FORM_COPIES - 1], works
    others = filler(90), filler(91)

    at_first = told(prepare(remember(*once, *others)), f"{WEBHOOK}{number}")
    later = told(prepare(remember(*again, *others)), f"{WEBHOOK}{number}")

    assert (at_first, later) == ([f"{works[0].ref}#1"], [])


def test_a_session_is_told_neither_its_own_turns_nor_anything_twice(remember: Remember) -> None:
    """That is in its context."""
    first, second = mended(1), mended(2, f"{WEBHOOK} it worked on the old cluster")
    mind = prepare(remember(first, second, filler(3), filler(4)))
    store = mind._shared.store()
    ready, number = store.hook_lines.ready(), store.projects.number(SHOP)
    assert number is not None
    refs = {f"{first.ref}#1", f"{second.ref}#1"}

    elsewhere = tell(ready, number, WEBHOOK)
    within = tell(ready, number, WEBHOOK, session=first.ref)
    once_more = tell(ready, number, WEBHOOK, told_before=lambda: refs)

    assert {line.refs for line, _ in elsewhere} == refs
    assert [line.refs for line, _ in within] == [f"{second.ref}#1"]
    assert once_more == []


@pytest.mark.parametrize("prompt", ["good morning", "paint a heron", "the webhook, and a heron"])
def test_what_was_told_before_is_only_looked_up_when_there_is_something_to_tell(
    remember: Remember, prompt: str
) -> None:
    """Mostly there is nothing, and a hook is waited for."""
    mind = prepare(remember(mended(1), filler(2), filler(3)))
    store = mind._shared.store()
    number = store.projects.number(SHOP)
    assert number is not None
    looked: list[str] = []

    def told_before() -> set[str]:
        looked.append("up")
        return set()

    silent = tell(store.hook_lines.ready(), number, prompt, told_before=told_before)
    before = list(looked)
    spoken = tell(store.hook_lines.ready(), number, WEBHOOK, told_before=told_before)

    assert (silent, before) == ([], [])
    assert ([line.refs for line, _ in spoken], looked) == ([f"{mended(1).ref}#1"], ["up"])


def test_hiragana_says_how_and_not_what(remember: Remember) -> None:
    """Nor do single characters; pairs of the others are nearly words."""
    work = mended(1, "検索の索引が壊れている原因を調べて修正してください")
    mind = prepare(remember(work, filler(2), filler(3)))

    assert told(mind, "してください、ください、ている") == []
    assert told(mind, "検索の索引がまた壊れた。原因を調べて修正して") == [f"{work.ref}#1"]


def test_a_store_with_nothing_ready_tells_nothing(remember: Remember) -> None:
    """Before the first job ran."""
    assert told(remember(mended(1)), WEBHOOK) == []


# Parts


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
