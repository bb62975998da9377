"""What goes without saying between two people is told to the next agent."""

from __future__ import annotations

import pytest

from recollect.distill.finders import languages
from recollect.model.record import SessionRecord
from tests.builders.records import session, turn


def told(*replies: str, **more: bool) -> list[str]:
    turns = [turn("Sua ngan keo giup toi", reply=reply) for reply in replies]
    return [one.text for one in languages.find([session(*turns, **more)])]


@pytest.mark.parametrize(
    ("reply", "language"),
    [
        ("引き出しを閉じてからレジを開くようにしました。", "Japanese"),
        ("抽屉已经改好了，现在会先关上再打开。", "Chinese"),
        ("서랍을 먼저 닫도록 고쳤습니다. 이제 괜찮습니다.", "Korean"),
        ("Mình đã sửa để ngăn kéo được đóng trước khi mở quầy.", "Vietnamese"),
        ("Я исправил ящик: теперь он закрывается первым.", "Russian"),
    ],
)
def test_the_language_of_the_answers_is_told_whatever_the_prompts_are_typed_in(
    reply: str, language: str
) -> None:
    """People type without accents where a keyboard has none."""
    assert told(reply, reply, reply) == [
        f"Conversations here are in {language}: answer in {language}."
    ]


def test_one_answer_or_a_mixture_is_no_habit() -> None:
    japanese = "引き出しを閉じてからレジを開くようにしました。"

    assert told(japanese) == []
    assert told(japanese, "The drawer is shut.", japanese, "The till is open.") == []
    assert told(*["The drawer is shut first."] * 5) == []


def test_what_a_program_asks_for_is_no_conversation() -> None:
    reply = "引き出しを閉じてからレジを開くようにしました。"
    turns = [turn("Summarise", reply=reply) for _ in range(4)]
    record: SessionRecord = session(*turns, interactive=False)

    assert list(languages.find([record])) == []
