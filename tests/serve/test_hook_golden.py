"""What a hook tells is what `recall` would: no more, in the same words and in the same order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from recollect.memory import Memory
from recollect.reading.tokens import tokens_of
from recollect.serve import hook
from tests.builders.hooks import SHOP, environment, passed, prepared, told, within_frame
from tests.builders.work import Work

ORCHARD = "/home/kim/orchard"


class Shop(NamedTuple):
    """A home, and the memory in it."""

    home: Path
    mind: Memory


def works() -> list[Work]:
    """A few days in a shop and one in an orchard."""
    return [
        Work(1)
        .ask("why does the webhook signature check fail in staging?")
        .run("pytest -q tests/hooks", "1 failed", code=1)
        .edit("/home/ada/shop/src/hooks/signature.py")
        .run("pytest -q tests/hooks", "3 passed")
        .ask("yes, do it")
        .run("git commit -am signature", "1 file changed"),
        Work(2)
        .ask("round the invoice totals half up instead of half even")
        .edit("/home/ada/shop/src/money/rounding.py")
        .run("pytest -q tests/money", "9 passed")
        .ask("rename the column price to amount in the orders table")
        .edit("/home/ada/shop/migrations/0007_amount.sql")
        .run("alembic upgrade head", "ok"),
        Work(3)
        .ask("the nightly export of customers to the warehouse runs out of memory")
        .run("python export.py --month 3", "Killed", code=137)
        .edit("/home/ada/shop/export.py")
        .run("python export.py --month 3", "done"),
        Work(4)
        .ask("make the checkout button green on hover")
        .edit("/home/ada/shop/web/checkout.css")
        .ask("translate the newsletter template into Portuguese")
        .edit("/home/ada/shop/mail/newsletter.pt.html")
        .ask("what does idempotent mean?")
        .done("The same result when it is done twice."),
        Work(5)
        .ask("retry the payment provider with exponential backoff when it answers 503")
        .edit("/home/ada/shop/src/payments/client.py")
        .run("pytest -q tests/payments", "12 passed")
        .ask("run the tests again, please, all of them")
        .run("pytest -q", "44 passed"),
        Work(6, cwd=ORCHARD)
        .ask("prune the apple trees in the south field before the frost")
        .run("./plan.sh prune", "planned")
        .ask("water the webhook signature trees")
        .run("./plan.sh water", "planned"),
    ]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Nothing here writes to it but the hooks' spool."""
    home = tmp_path_factory.mktemp("golden")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        with prepared(home, *works()) as mind:
            said = [
                mind.notes.add(
                    "tax is rounded per line item, never per invoice",
                    category="decision",
                    folder=SHOP,
                ),
                mind.notes.add(
                    "deploys to production need a changelog fragment",
                    category="constraint",
                    folder=SHOP,
                ),
                mind.notes.add("explain the rounding to nobody", folder=SHOP, by="agent"),
                mind.notes.add("answer in British English", category="preference", everywhere=True),
                mind.notes.add("the orchard is watered on Mondays", folder=ORCHARD),
            ]
            NOTES.update({note.ref: f"note:{number}" for number, note in enumerate(said, 1)})
            list(mind.make_ready())
            list(mind.store.embed())
            yield Shop(home, mind)


# What a hook says to each prompt in the shop: a turn as session and
# number, a note by its reference.
GOLDEN = {
    "the webhook signature check fails again": ["1#1"],
    "round the invoice totals half up, and run tests/money": ["2#1"],
    "why is tax rounded per line item and not per invoice?": ["note:1"],
    "rename the column amount back to price in the orders table": ["2#2"],
    "the customers export runs out of memory again": ["3#1"],
    "export customers to the warehouse nightly": ["3#1"],
    "make the checkout button blue on hover in checkout.css": ["4#1"],
    "retry the provider with exponential backoff": ["5#1"],
    "the payment provider answers 503": ["5#1"],
    "what do deploys to production need?": ["note:2"],
    "is the signature of the webhook trimmed before the check?": ["1#1"],
    "change signature.py so that it logs the header": ["1#1"],
    "what is in export.py?": ["3#1"],
    "rounding of tax on an invoice is off by a cent": ["note:1"],
    "translate the newsletter template into Danish": ["4#2"],
    "write the changelog fragment for this deploy": ["note:2"],
    "do you answer in British or American English?": ["note:4"],
    # Too little of it is known, or it says too little.
    "round the invoice totals": [],
    "webhook": [],
    "staging": [],
    "is our newsletter in Portuguese?": [],
    "run the tests again, please": [],
    # Said every day, or about nothing that was done here.
    "continue": [],
    "yes": [],
    "yes, do it": [],
    "fix it": [],
    "hello there": [],
    "git push": [],
    "write a poem about spring": [],
    "add a dark mode to the settings page": [],
    "upgrade to Python 3.13": [],
    "why is the build slow?": [],
    "who is on call this week?": [],
    "check whether the login page has a captcha": [],
    "☃ ☃ ☃": [],
    # Nothing was done, an agent noted it down, or it belongs elsewhere.
    "what does idempotent mean?": [],
    "explain the rounding": [],
    "prune the apple trees in the south field": [],
    "on which day is the orchard watered?": [],
}


# The names of those notes, by their references.
NOTES: dict[str, str] = {}


def name(line: str) -> str:
    """The memory that a line is about."""
    ref = line.split()[2].rstrip(":")
    return NOTES.get(ref, ref) if ref.startswith("note:") else ref[-3:]


@pytest.mark.parametrize(("prompt", "expected"), GOLDEN.items())
def test_a_hook_tells_what_recall_would(shop: Shop, prompt: str, expected: list[str]) -> None:
    """Both ask the same question of the same rows."""
    told_by_hook = told(shop.home, "UserPromptSubmit", prompt=prompt, session_id=prompt)

    told_by_recall = [line.text for line in shop.mind.recall(prompt, folder=SHOP).lines]
    assert [name(line) for line in told_by_hook] == expected
    assert told_by_recall == told_by_hook


def test_a_session_starts_with_what_recall_says_without_a_prompt(shop: Shop) -> None:
    """One text, whoever asks; what people said comes first."""
    pack = shop.mind.recall(folder=SHOP)

    lines = told(shop.home, "SessionStart", source="startup")

    assert lines == within_frame(pack.text)
    for said in ("tax is rounded per line item, never per invoice", "answer in British English"):
        assert f"- {said}" in lines
    assert "explain the rounding" not in "".join(lines)


def test_each_project_is_told_its_own(shop: Shop) -> None:
    """At the start and at a prompt; what a person said everywhere holds everywhere."""
    start = told(shop.home, "SessionStart", cwd=ORCHARD)
    own = told(
        shop.home,
        "UserPromptSubmit",
        prompt="prune the apple trees in the south field",
        cwd=ORCHARD,
    )
    foreign = told(
        shop.home,
        "UserPromptSubmit",
        prompt="retry the provider with exponential backoff",
        cwd=ORCHARD,
    )

    assert "- the orchard is watered on Mondays" in start
    assert "- answer in British English" in start
    assert "pytest" not in "".join(start)
    assert [name(line) for line in own] == ["6#1"]
    assert foreign == []


def test_a_folder_that_nothing_is_stored_of_is_told_nothing(shop: Shop) -> None:
    """Not even a folder above a known one: what lies below that is part of it."""
    for folder in ("/home/ada", "/", "", "relative", "/home/ada/shop2"):
        assert told(shop.home, "SessionStart", cwd=folder) == []
    for folder in ("/home/ada/shop/src", "/home/ada/shop/src/../"):
        assert told(shop.home, "SessionStart", cwd=folder) != []


def test_what_is_told_is_never_too_much(home: Path) -> None:
    """Agents cut longer texts, or move them to a file that nobody reads."""
    long = (
        Work(1)
        .ask("asked " * 60)
        .run("wrong-program --flag " + "x/y " * 80, "command not found", code=127)
    )
    for number in range(40):
        animals = "giraffe, pelican, walrus, badger and ostrich" if number < 3 else "zebra"
        long.ask(
            f"{chr(97 + number % 26) * (4 + number // 26)}: the {animals} of question {number} "
            + "and so on " * 60
        )
        long.run(f"tool{number} go", "not found", code=127).run(
            f"uv run tool{number} go {'a/b ' * 40}", "ok"
        )
        for file in range(4):
            long.edit(
                f"/home/ada/shop/some/folder/with/a/long/name/{'deep/' * 15}{number}/{file}.py"
            )
    with prepared(home, long) as mind:
        for number in range(30):
            text = f"zebra {number} " + "is a word that goes on " * 20
            mind.notes.add(text[:210], folder=SHOP)
        list(mind.make_ready())

        start = hook.respond("codex", "SessionStart", passed("SessionStart"), environment(home))
        prompt = "giraffe, pelican, walrus, badger and ostrich"
        at_prompt = hook.respond(
            "codex",
            "UserPromptSubmit",
            passed("UserPromptSubmit", prompt=prompt),
            environment(home),
        )
        recalled, recalled_whole = (
            mind.recall(prompt, folder=SHOP),
            mind.recall(prompt, folder=SHOP, budget=10_000),
        )

    told_at_start, told_at_prompt = (
        json.loads(answer)["hookSpecificOutput"]["additionalContext"]
        for answer in (start, at_prompt)
    )
    assert 300 < len(told_at_start) <= 6_000
    assert tokens_of(told_at_start) <= 600
    assert 1_000 < len(told_at_prompt) <= 6_000
    assert tokens_of(told_at_prompt) <= 600
    # Three would help, and there is no room for all of them.
    assert (
        told_at_prompt.count("giraffe")
        < len([line for line in recalled_whole.lines if "giraffe" in line.text])
        == 3
    )
    assert recalled.text.startswith(told_at_prompt.rpartition("\n")[0])
