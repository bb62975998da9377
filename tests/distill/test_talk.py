"""What people say about the work before their prompt."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.distill.outcomes import talk
from recollect.distill.outcomes.leaning import leaning
from recollect.distill.outcomes.talk import Heard, hear, kind_of


@pytest.mark.parametrize(
    "prompt",
    [
        "works, thanks!",
        "perfect",
        "that did the trick",
        "CI is green. thank you",
        "lgtm, ship it",
        "commit and push",
        "the error is gone",
        "it doesn't crash anymore",
        "ah that explains it, thanks",
        "super, funktioniert jetzt!",
        "parfait, ça marche merci",
        "ahora funciona perfecto, gracias",
        "agora sim, funcionou!",
        "теперь работает, спасибо",
        "可以了，谢谢",
        "直りました、ありがとうございます",
    ],
)
def test_acceptance_is_heard_in_many_words(prompt: str) -> None:
    """It is the best proof that there is of a task that went well."""
    assert hear(prompt) == Heard(accepted=hear(prompt).accepted)
    assert hear(prompt).accepted


@pytest.mark.parametrize(
    "prompt",
    [
        "nope, still garbage characters when I open it",
        "same error",
        "that's not what I asked for",
        "you broke the login",
        "I didn't see the new fields in the window...",
        "we still seem to be missing the icons?",
        "no, I said one object per line",
        "geht immer noch nicht, Ä kommt nach Z",
        "ça ne marche toujours pas",
        "sigue sin funcionar, la lista está vacía",
        "continua sem funcionar",
        "не работает, последняя строка всё ещё обрезана",
        "不行，还是乱码",
        "まだエラーが出ます",
    ],
)
def test_a_complaint_is_heard_in_many_words(prompt: str) -> None:
    """Work that is complained about was not done, whatever the agent says."""
    assert hear(prompt) == Heard(corrected=prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "ok",
        "yes",
        "yes please",
        "go ahead",
        "sounds good",
        "continue",
        "yes to all",
        "2",
        "ja bitte",
        "继续",
    ],
)
def test_letting_the_agent_go_on_judges_nothing(prompt: str) -> None:
    """Otherwise every answer to a question of the agent would accept what it asked about."""
    assert hear(prompt) == Heard(goes_on=True)


@pytest.mark.parametrize(
    "prompt",
    [
        "thanks",
        "what happens when the user is deleted?",
        "does it work on Windows?",
        "would it work with a cache?",
        "great idea",
        "we use yup everywhere else",
        "make it work on phones too",
        "add a test that it looks good in dark mode",
        "let me know when it works",
        "I'm still thinking about it",
        "/clear",
        "",
    ],
)
def test_what_is_no_verdict_is_heard_as_none(prompt: str) -> None:
    """We would rather hear nothing than hear wrong."""
    heard = hear(prompt)

    assert not heard.is_judging


def test_praise_beside_a_complaint_is_irony() -> None:
    """ "Great, now nobody can log in" is no praise."""
    heard = hear("great, now nobody can set up a fresh database. wonderful work")

    assert (heard.accepted, heard.corrected) == (
        "",
        "great, now nobody can set up a fresh database.",
    )


@pytest.mark.parametrize(
    ("prompt", "good"),
    [
        (
            "logo looks great now, but the footer still overlaps",
            "logo looks great now, but the footer still overlaps",
        ),
        ("dragging works. on touch the page scrolls at the same time though", "dragging works."),
        (
            "headers are fine, dates still come out as 03/04/2026",
            "headers are fine, dates still come out as 03/04/2026",
        ),
        ("love the quick start! the screenshots are way too big though", "love the quick start!"),
    ],
)
def test_a_part_may_be_right_and_another_wrong(prompt: str, good: str) -> None:
    """Both count: such a task is half done."""
    heard = hear(prompt)

    assert heard.accepted == good
    assert heard.corrected


def test_what_the_person_did_alone_is_no_praise_for_the_agent() -> None:
    """ "Fixed it myself" says that the work was of no use."""
    heard = hear("I did it myself, works now")

    assert (heard.accepted, heard.refused) == ("", "I did it myself, works now")


def test_a_refusal_that_wants_another_way_is_a_correction() -> None:
    """The task goes on; only this way is not wanted."""
    assert hear("revert that, use a queue instead") == Heard(
        corrected="revert that, use a queue instead"
    )
    assert hear("revert that") == Heard(refused="revert that")


@pytest.mark.parametrize(
    "prompt",
    [
        "stop the docker containers before the tests",
        "cancel the timer when the page is left",
        "pause the queue",
    ],
)
def test_an_order_that_begins_like_a_refusal_is_none(prompt: str) -> None:
    """ "Stop" refuses; "stop the server" is work."""
    assert not hear(prompt).refused


def test_capitals_are_anger() -> None:
    """A person who shouts is not content, whatever the words are."""
    assert hear("IT DOES NOTHING AT ALL").annoyed == "IT DOES NOTHING AT ALL"
    assert hear("use JSON and XML").annoyed == ""


@pytest.mark.parametrize(
    "pasted",
    [
        "```\nall tests pass, it works now\n```",
        "> it works now, thanks",
        "<log>it works now</log>",
        "2026-05-04 12:00:01 INFO works now, perfect",
        "$ ./check.sh says it works",
        "user\nsearch the web\n\ncodex\nno, that is still wrong",
    ],
)
def test_what_was_pasted_is_not_said(pasted: str) -> None:
    """A log that says "error" is no complaint, and one that says "works" no praise."""
    assert not hear(f"what does this mean?\n{pasted}").is_judging


def test_an_error_that_was_pasted_is_shown_and_not_said() -> None:
    """It tells that something fails, though in nobody's words."""
    prompt = (
        'Traceback (most recent call last):\n  File "worker/run.py", line 12\n'
        "NameError: name 'sleep' is not defined"
    )

    assert hear(prompt) == Heard(shown="NameError: name 'sleep' is not defined")


def test_a_report_may_be_about_something_else() -> None:
    """It is the work that is wrong when nothing more is asked, or when the same thing is spoken of.

    Else it is a new task.
    """
    done = "add a copy button to the code blocks"

    assert kind_of("the buttons are missing in the footer", done) == "correction"
    assert kind_of("The invoice page is broken since Monday, can you find out why?", done) == "task"


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("works, thanks", "acceptance"),
        ("no, that's wrong", "correction"),
        ("never mind", "refusal"),
        ("yes please", "going_on"),
        ("and for the other page", "follow_up"),
        ("you can use the library's own function for that, which is less work", "follow_up"),
        ("great, that's fixed. Now let's add pagination to the users table", "task"),
        ("write release notes for the mobile customers of spring", "task"),
        ("$ ./run.sh\nerror: no such image", "follow_up"),
    ],
)
def test_a_prompt_is_something_to_the_one_before_it(prompt: str, kind: str) -> None:
    """That is where tasks begin and end."""
    assert kind_of(prompt, "fix the checkout worker, it hangs on startup") == kind
    assert kind_of(prompt) == "task"


@pytest.mark.parametrize(
    ("text", "leans"),
    [
        ("pipeline failed: manifest unknown", -2),
        ("35ms here 🚀", 1),
        ("not visible", -1),
        ("no errors", 1),
        ("there's no export button in the menu", -1),
        ("there's no need for it", 0),
        ("the buttons are still square", -1),
        ("it still works", 0),
        ("i'm still reading", 0),
        ("make it nicer", 0),
        ("the corners should be nice", 0),
        ("group.visible is a setting", 0),
    ],
)
def test_a_short_statement_leans_by_its_words(text: str, leans: int) -> None:
    """People say in countless ways that something is right or wrong."""
    assert leaning(text) == leans


@given(st.text(max_size=400))
def test_any_text_can_be_heard(text: str) -> None:
    """Prompts hold whatever people paste."""
    heard = hear(text)

    assert kind_of(text, "fix the build") in (
        "task",
        "follow_up",
        "acceptance",
        "correction",
        "refusal",
        "going_on",
    )
    assert not (heard.goes_on and heard.is_judging)


@given(
    st.lists(
        st.sampled_from(
            ["works now, thanks", "still broken", "revert that", "never mind", "wtf is this"]
        ),
        min_size=1,
    )
)
def test_what_is_fenced_is_never_talk(lines: list[str]) -> None:
    """A log or a file that is quoted says nothing about the work."""
    fenced = "\n".join(["```", *lines, "```"])

    assert hear(fenced) == Heard()


@pytest.mark.parametrize(
    "text",
    [
        "AA " * 79 + "a",
        "a" * 240,
        "ok, " * 60,
        "no " * 80,
        "/x" * 120,
        "Error" * 48,
        "still " * 40,
        "a." * 120,
    ],
)
def test_no_text_takes_long(text: str) -> None:
    """A digest goes over every prompt of every session: no pattern may run wild on one."""
    talk.hear.cache_clear()

    begun = time.process_time()
    hear(text)

    assert time.process_time() - begun < 0.2
