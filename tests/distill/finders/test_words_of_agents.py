"""What agents conclude, commit and are answered: what holds tomorrow, and nothing else."""

from __future__ import annotations

import json

import pytest

from recollect.distill.finders import answers, conclusions, kept_work, standing
from tests.builders.records import edited, ran, session, turn, used


def concluded(reply: str, *calls: object) -> list[str]:
    return [one.text for one in conclusions.find(session(turn("Why?", *calls, reply=reply)))]  # type: ignore[arg-type]


def test_a_cause_with_its_names_is_kept() -> None:
    said = "Root cause: `till.py` must be imported before `drawer.py`, otherwise the port is taken."

    assert concluded(f"I looked into it.\n\n{said}\n") == [said]


@pytest.mark.parametrize(
    "reply",
    [
        "Let me look at how the drawer of the till is opened first.",
        "If you want, I can also add a test for the drawer of the till.",
        "Updated `src/till.py` and `src/drawer.py` so the drawer closes by itself now.",
        "Should I open a pull request for the drawer of the till now?",
        "The drawer should now work when the till is opened the next time.",
        "The drawer is currently not covered by the tests of the till.",
        "`npm test` passed with 31 tests in the folder of the till and the drawer.",
        "A — Use the drawer of the till by default and fall back to the cash box.",
    ],
)
def test_what_narrates_offers_reports_or_passes_is_not(reply: str) -> None:
    """It was true for a minute, or nobody asked for it."""
    assert concluded(reply) == []


def test_a_sentence_keeps_the_commands_that_follow_it() -> None:
    reply = "To test the drawer by hand:\n\n```bash\ncd web\nnpm run drawer\n```\n"

    assert "To test the drawer by hand: `cd web` ; `npm run drawer`" in concluded(reply)


def test_what_names_a_command_that_was_run_is_believed_more() -> None:
    said = "Run `npm run drawer` before the till is opened, it needs the drawer."
    proven, unproven = (
        next(iter(conclusions.find(session(turn("Why?", *calls, reply=said))))).strength
        for calls in ((ran("npm run drawer"),), ())
    )

    assert proven > unproven


def test_agents_words_have_an_agents_trust() -> None:
    said = "The drawer only accepts coins because the scanner is on another port."
    (found,) = conclusions.find(session(turn("Why?", reply=said)))

    assert (found.trust, found.kind) == ("assistant", "conclusion")


def test_an_answer_is_told_with_its_question() -> None:
    call = used("AskUserQuestion", {}, 'User has answered: "Which drawer?"="The left one".')
    other = used(
        "request_user_input",
        {"questions": [{"id": "q1", "question": "Which till?"}]},
        json.dumps({"answers": {"q1": {"answers": ["The new one"]}}}),
    )

    found = [one.text for one in answers.find(session(turn("Fix it", call, other)))]

    assert found == ["Which drawer? → The left one", "Which till? → The new one"]


def test_the_reason_for_a_refusal_is_the_persons_word() -> None:
    call = used(
        "Bash",
        {},
        "The tool was rejected. the user said:\nNever restart the till during the day",
        ok=False,
    )

    (found,) = answers.find(session(turn("Fix it", call)))

    assert (found.text, found.trust) == ('"Never restart the till during the day"', "user")


def test_a_commit_tells_why() -> None:
    message = (
        "Open the drawer later\n\nThe scanner needs the port first.\n\nCo-Authored-By: an agent"
    )
    call = ran(f'git commit -m "{message}"')

    found = [one.text for one in kept_work.find(session(turn("Fix it", call)))]

    assert found == ["Open the drawer later", "The scanner needs the port first."]
    assert list(kept_work.find(session(turn("Fix it", call._replace(ok=False, exit_code=1))))) == []


def test_it_stands_where_the_last_work_was_left() -> None:
    """A word of thanks after it is not what was asked last."""
    work = turn(
        "Make the drawer open twice as fast",
        ran("npm test"), edited("/w/till.py"), ran("npm test"),
        reply="The drawer opens in half the time now, because the scanner is asked first.",
    )  # fmt: skip
    todo = used(
        "TodoWrite", {"todos": [{"content": "Measure it on the old till", "status": "pending"}]}
    )
    asked = [
        turn("Look at the till and the drawer first"),
        work,
        turn("thanks, what is the id of this session?", todo),
    ]

    found = [one.text for one in standing.find([session(*asked, branch="faster-drawer")])]

    assert found == [
        "Last asked: Make the drawer open twice as fast → "
        "The drawer opens in half the time now, because the scanner is asked first.",
        "Open: Measure it on the old till",
        "Branch of the last session: `faster-drawer`",
    ]


def sure(reply: str, *calls: object, after: str = "") -> list[str]:
    turns = [turn("Why?", *calls, reply=reply), *([turn(after)] if after else [])]  # type: ignore[arg-type]
    return [one.text for one in conclusions.find(session(*turns)) if one.is_sure]


CAUSE = (
    "The root cause is that `drawer.service` only accepts coins, so the till fails with `EDRAWER`."
)
FAILED = ran("make till", "drawer.service: EDRAWER: the drawer is shut", code=1)


def test_a_cause_that_a_command_printed_is_sure() -> None:
    """An agent's word alone is not; what it quotes was really there."""
    assert sure(CAUSE, FAILED) == [CAUSE]
    assert sure(CAUSE) == []


def test_a_cause_that_the_person_refused_is_not() -> None:
    assert sure(CAUSE, FAILED, after="No, that's still wrong, it is not working") == []


@pytest.mark.parametrize(
    "said",
    [
        "High: `drawer.service` only accepts coins, so the till fails with `EDRAWER` here.",
        "T012 made `drawer.service` only accept coins because the till fails with `EDRAWER`.",
        "The root cause might be that `drawer.service` only accepts coins (`EDRAWER`) here.",
    ],
)
def test_a_review_a_report_and_a_guess_are_not(said: str) -> None:
    assert sure(said, FAILED) == []


def test_a_commit_that_gives_a_reason_is_sure() -> None:
    reason = "Use coins instead of notes, because the scanner only takes those."
    message = f"Add a second drawer\n\n{reason}"
    found = list(kept_work.find(session(turn("Fix it", ran(f'git commit -m "{message}"')))))

    assert [one.is_sure for one in found] == [False, True]


def test_a_line_of_a_commit_that_was_broken_at_a_column_is_whole() -> None:
    message = (
        "Add a second drawer\n\nUse coins instead of notes in all of the drawers of the\n"
        "tills, because the scanner only takes those."
    )
    found = [
        one.text for one in kept_work.find(session(turn("x", ran(f'git commit -m "{message}"'))))
    ]

    assert found[1].endswith(
        "in all of the drawers of the tills, because the scanner only takes those."
    )


def test_work_that_is_done_and_what_is_asked_each_day_are_not_where_it_stands() -> None:
    """The next session gains nothing from them."""
    done = turn(
        "Make the drawer open twice as fast", ran("npm test"), reply="Done, it is faster now."
    )
    daily = [session(turn("Count the coins in the till, please"), number=n) for n in (1, 2, 3)]

    assert not any(one.is_sure for one in standing.find([session(done)]))
    assert not any(one.is_sure for one in standing.find(daily))


def test_a_check_that_failed_at_the_end_is_where_it_stands() -> None:
    calls = [ran("npm test"), ran("cd web && npm run lint", "2 errors", code=1)]
    found = [
        one.text for one in standing.find([session(turn("Check the till and fix it", *calls))])
    ]

    assert "`npm run lint` (in web) failed when it was last run" in found
    assert not any("npm test` failed" in text for text in found)
