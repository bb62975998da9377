"""An answer is read as far as it is certain, and refused where it is not."""

from __future__ import annotations

import pytest

from recollect.distill.engines.answer import MOST_CHARACTERS, Told, read_answer
from recollect.errors import BadReply

ANSWER = """```MEMORY
## Preferences
- settings only in .env: "配置一律放 .env" [7c1e#2]
## Traps
- `npm test` inside api fails: from the root run `npm test -w api` [9b0d#5, 7c1e#3]
- the proxy drops idle sockets after 60 seconds [9b0d#6]
```
```PACK
## Traps
- `npm test` inside api fails: from the root run `npm test -w api` [9b0d#5]
```
"""


def test_lines_come_with_their_section_and_their_turns() -> None:
    answer = read_answer(ANSWER)

    assert answer.memory[0] == Told(
        "preferences", 'settings only in .env: "配置一律放 .env"', ("7c1e#2",)
    )
    assert answer.memory[1].cited == ("9b0d#5", "7c1e#3")
    assert [line.section for line in answer.pack] == ["traps"]


def test_the_short_form_comes_first_and_is_not_said_twice() -> None:
    texts = [line.text for line in read_answer(ANSWER).lines()]

    assert texts[0].startswith("`npm test` inside api")
    assert len(texts) == 3


@pytest.mark.parametrize(
    "spoilt",
    [
        "Here is the memory you asked for:\n\n" + ANSWER + "\nI hope this helps!",
        ANSWER.replace("```MEMORY", "## MEMORY").replace("```PACK", "## PACK").replace("```", ""),
        ANSWER.replace("## ", "### ").replace("\n", "\r\n"),
        ANSWER.replace("```MEMORY", "``` memory").replace("- ", "* "),
        ANSWER.replace("## Traps", "**Traps:**"),
        ANSWER.removesuffix("```\n"),
    ],
)
def test_what_models_do_to_the_form_is_read_all_the_same(spoilt: str) -> None:
    """Small ones talk around it, forget a fence, stop before the end."""
    assert read_answer(spoilt)[:2] == read_answer(ANSWER)[:2]


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "I cannot help with that.",
        '{"memory": ["use pnpm"]}',
        "```MEMORY\n## Préférences\n- le paramètre est dans .env [7c1e#2]\n```",
        "```MEMORY\nThe project uses pnpm. It is a shop.\n```",
        "- x [a#1]\n" * MOST_CHARACTERS,
    ],
)
def test_what_is_no_memory_is_refused_as_a_whole(bad: str) -> None:
    with pytest.raises(BadReply):
        read_answer(bad)


def test_a_source_may_leave_out_the_session_it_shares() -> None:
    answer = read_answer("```MEMORY\n## Files\n- the app is in `web/` [a1b2#3, #5]\n```")

    assert answer.memory[0].cited == ("a1b2#3", "a1b2#5")


def test_what_cannot_be_seen_is_taken_out() -> None:
    answer = read_answer("```MEMORY\n## Files\n- use \u202etabs\u200b here [a1b2#3]\n```")

    assert answer.memory[0].text == "use tabs here"


def test_changes_are_read_and_no_lines_of_the_memory() -> None:
    answer = read_answer(ANSWER + "```CHANGES\n- dropped: port 3000, overtaken\n```")

    assert answer.changes == ("dropped: port 3000, overtaken",)
    assert len(answer.memory) == 3
