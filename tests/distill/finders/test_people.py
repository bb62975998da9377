"""What people say about how to work is told in their own words, in any language."""

from __future__ import annotations

import pytest

from recollect.distill.finders import people
from recollect.model.record import SessionRecord
from tests.builders.records import session, turn


def told(*prompts: str, **more: bool) -> list[str]:
    return [one.text for one in people.find([session(*map(turn, prompts), **more)])]


def strength(prompt: str) -> float:
    return max(one.strength for one in people.find([session(turn(prompt))]))


@pytest.mark.parametrize(
    "wish",
    [
        "From now on, never push to main without asking me.",
        "remember: we use pnpm, never npm",
        "今後、コミットメッセージは必ず英語で書いてください。",
        "以后每次改完都要更新 changelog，不要忘记。",
        "đừng tự ý sửa file migration, luôn hỏi tôi trước",
        "앞으로는 항상 테스트를 먼저 작성해 주세요",
        "Никогда не меняй публичный интерфейс без моего согласия.",
    ],
)
def test_a_wish_that_lasts_is_told_the_first_time_it_is_said(wish: str) -> None:
    """Nobody should have to say it twice, in whatever language they say it."""
    assert told(wish) == [f'"{wish}"']
    assert strength(wish) > strength("Please add a button to the till page for the clerk.")


@pytest.mark.parametrize(
    "prompt",
    [
        "What does the till do when the drawer is open?",
        "/review src/till.py and never mind the tests",
        "the password is hunter2, never show it to anybody",
        "Error: cannot open /home/runner/work/shop/till.py, never seen before",
        "src/till/main.py:12: you must not use assert here",
        "https://example.com/never/do/this",
        "ok",
        "I don't know whether we should always do that",
    ],
)
def test_what_is_asked_pasted_or_secret_is_no_wish(prompt: str) -> None:
    """A line of a log has strong words too, and nobody meant them."""
    assert told(prompt) == []


def test_what_a_client_adds_is_not_said_by_the_person() -> None:
    """Reminders and editor context are full of "always" and "never"."""
    prompt = (
        "<system-reminder>You must never mention this reminder.</system-reminder>"
        "Always run the linter before you commit."
    )

    assert told(prompt) == ['"Always run the linter before you commit."']


def test_a_template_says_nothing_but_what_was_given_to_it() -> None:
    """Its rules come with it each time; the argument is the person's own."""
    template = (
        "## User Input\n\n```text\nNever touch the till.\n```\n\n"
        "You must consider the input before proceeding.\n\n## Outline\n\nAlways write a plan."
    )

    assert told(template) == ['"Never touch the till."']
    assert told("# Plan\n\nAlways test.\n\n## Steps\n\nNever push.\n\n## Notes\n\nBe kind.") == []


def test_sessions_without_a_person_say_nothing() -> None:
    """A headless run's prompt is written by a program."""
    assert told("Always answer in JSON and never explain.", interactive=False) == []


def test_a_wish_after_a_stop_is_meant_more(tmp_path: object) -> None:
    """Somebody who stops the agent and says why corrects it."""
    stopped = session(turn("Build the till.", aborted=True), turn("Do not use a new library."))
    plain = session(turn("Build the till."), turn("Do not use a new library."))

    assert _last(stopped) > _last(plain)


def _last(record: SessionRecord) -> float:
    return list(people.find([record]))[-1].strength


def test_the_same_words_have_the_same_key() -> None:
    """So that what was said in three sessions is counted, not told three times."""
    first, second = people.find(
        [session(turn("Always run the linter first!"), turn("always run the linter first"))]
    )

    assert first.key == second.key


def test_every_wish_names_its_turn_and_is_the_persons() -> None:
    found = list(people.find([session(turn("Hello there"), turn("Always run the linter first."))]))

    assert [(one.turn, one.trust) for one in found] == [("claude-code:s1#2", "user")]


def sure(*prompts: str, sessions: int = 1) -> list[str]:
    records = [session(*map(turn, prompts), number=number + 1) for number in range(sessions)]
    return sorted({one.text for one in people.find(records) if one.is_sure})


@pytest.mark.parametrize(
    "rule",
    [
        "From now on, the till is closed before the drawer.",
        "we explicitly don't want hardcoded prices in the till",
        "フォールバックは不要、エラーにしてください。",
        "只登记收据号码，其他的不要写进表里。",
        "You never told me that the drawer was open all night.",
        "DO NOT touch the drawer of the other till.",
        "answer in Japanese, please, I read it faster",
    ],
)
def test_a_rule_and_a_correction_are_sure_whatever_the_task_is(rule: str) -> None:
    assert sure(rule) == [f'"{rule}"']


@pytest.mark.parametrize(
    "task",
    [
        "I always forget",
        "I'd like to support a second drawer as well, please add it",
        "help me refactor the till so that the drawer is hidden instead of the clerk",
        "Thêm cho tôi nút mở ngăn kéo, không cần hỏi lại",
        "帮我把抽屉的代码移到新的文件里，不要漏掉测试",
        "You MUST fix all of the points below in the till.",
        "and do not await the call of the drawer —",
        "don't change this, please",
        "ドロワーを先に開き、その後で必ずレジを閉じる処理を追加します。",
    ],
)
def test_a_task_a_fragment_and_a_plan_are_not(task: str) -> None:
    """They may be worth reading, and are not told unasked: the code has what came of them."""
    assert sure(task) == []


def test_what_is_typed_in_three_sessions_is_sure_in_any_language() -> None:
    habit = "Laat de lade van de kassa dicht tot de klant betaald heeft"
    prompts = [
        f"{habit}.\nWijzig nu {what} van de kassa" for what in ("het menu", "de kleur", "de knop")
    ]
    records = [session(turn(prompt), number=place) for place, prompt in enumerate(prompts, 1)]

    assert sure(prompts[0]) == []
    assert {one.text for one in people.find(records) if one.is_sure} == {f'"{habit}."'}


def test_a_template_comes_again_by_itself() -> None:
    """Whoever pastes it next time pastes its rules too."""
    template = "Never invent steps.\nNever ask twice.\nAlways keep the order of the list."

    assert len(sure(template)) == 3
    assert sure(template, sessions=3) == []


def test_what_the_agent_said_before_is_not_said_by_the_person() -> None:
    """People paste a reply back and ask about it."""
    said = "The drawer must never be open while the till is counted."
    record = session(turn("Why is it shut?", reply=said), turn(f"{said}\nWhere does that stand?"))

    assert list(people.find([record])) == []
