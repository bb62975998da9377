"""A session is called by what a person would recognise it by."""

from __future__ import annotations

import pytest

from recollect.model.titles import TITLE_CHARACTERS, title_of

LONG = "please look at the checkout page and tell me why the totals are off by one cent each time"


@pytest.mark.parametrize(
    ("prompts", "title"),
    [
        (["fix the build\nit fails since friday"], "fix the build"),
        (["/clear", "fix the build"], "fix the build"),
        (["/plan fix the build"], "fix the build"),
        (["/model opus"], "/model opus"),
        (["/exit"], "/exit"),
        (["/review 151"], "/review 151"),
        (["/review 151", "fix the build"], "fix the build"),
        (["$browser fix the build"], "fix the build"),
        (["Warmup", "fix the build"], "fix the build"),
        (["Warmup"], None),
        (["hello", "fix the build"], "fix the build"),
        (["hello"], "hello"),
        (["/"], None),
        (["?", "fix the build"], "fix the build"),
        (["<note>\n</note>"], None),
        (["<ide_selection>x</ide_selection>\nfix the build"], "fix the build"),
        (["## User Input\n\n```text\nfix the build\n```\n\nYou **MUST** obey"], "fix the build"),
        (["## User Input\n\n```text\n\n```\n\n## Outline\n\n1. Run", "build it"], "build it"),
        (["## Error Type\nConsole ParseError"], "Console ParseError"),
        (["## Rebuild of the shop\n- one page"], "Rebuild of the shop"),
        (["/home/ada/shop/src/cart.py", "fix the cart"], "fix the cart"),
        (["look at /home/ada/shop/src/cart.py, it is slow"], "look at cart.py, it is slow"),
        (["move all files of e:\\work\\My\\reports\\."], "move all files of reports."),
        (["look at https://shop.example/a/b/c"], "look at https://shop.example/a/b/c"),
        (["[image image/png 24021 bytes 591d0001]\nwhat is this?"], "what is this?"),
        (["[image]\nwhat is this?"], "what is this?"),
        (["[Image #1] what is this?"], "what is this?"),
        (["[Pasted text #1 +30 lines] explain it"], "explain it"),
        (["1. fix the build\n2. ship it"], "fix the build"),
        ([LONG], LONG.removesuffix(" each time") + "…"),
        (["直してください" * 20], ("直してください" * 20)[:79] + "…"),
        ([], None),
    ],
)  # fmt: skip
def test_a_session_is_called_by_its_first_real_request(
    prompts: list[str], title: str | None
) -> None:
    """No command, no frame, no heading of a form, no pasted path; it ends at a word."""
    assert title_of(None, prompts) == title


@pytest.mark.parametrize(
    ("own", "title"),
    [
        ("Mend the totals", "Mend the totals"),
        ("New session - 2026-03-01T10:00:00.000Z", "fix the build"),
        ("New Chat", "fix the build"),
        ("Untitled", "fix the build"),
        ("Warmup", "fix the build"),
        ("<ide_selection>x</ide_selection>", "fix the build"),
        ("hi", "fix the build"),
        ("New chat window for the shop", "New chat window for the shop"),
        ("", "fix the build"),
    ],
)
def test_the_agents_own_title_comes_first(own: str, title: str) -> None:
    """Unless it is only what the agent calls a session that has no name yet."""
    assert title_of(own, ["fix the build"]) == title


def test_no_title_is_longer_than_a_line() -> None:
    """Whoever wrote it."""
    own = title_of("word " * 100, [])

    assert own is not None
    assert len(own) <= TITLE_CHARACTERS
    assert own.endswith("word…")
