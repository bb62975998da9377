"""How a task went, and what says so."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.distill.outcomes.outcome import EVIDENCE_CHARACTERS, judge
from recollect.distill.tasks.actions import actions_of
from recollect.model.digests import Evidence, EvidenceKind, Outcome
from recollect.store import bodies
from recollect.store.history import Passage
from tests.builders.passages import REF, Row, call, edit, passage, prompt, reply, run, said

RED, GREEN = run("pytest -q", "1 failed, 3 passed", code=1), run("pytest -q", "4 passed")
WORK = edit("shop/cart.py")


def judged(
    *turns: list[Row], next_prompt: str | None = None, is_last: bool = True
) -> tuple[Outcome, list[Evidence]]:
    """How a task of these turns went; a turn begins with what was typed."""
    passages = [passage(number, *rows) for number, rows in enumerate(turns, 1)]
    actions = [action for one in passages if one.live for action in actions_of(one)]
    verdict = judge(passages, actions, is_last=is_last, next_prompt=next_prompt)
    return verdict.outcome, verdict.evidence


def judged_at(*turns: list[Row]) -> float:
    """The probability that a task of these turns succeeded."""
    passages = [passage(number, *rows) for number, rows in enumerate(turns, 1)]
    actions = [action for one in passages for action in actions_of(one)]
    return judge(passages, actions, is_last=True, next_prompt=None).p


def asked(text: str, *rows: Row) -> list[Row]:
    return [prompt(text), *rows]


def outcome(*turns: list[Row], **given: Any) -> tuple[Outcome, list[EvidenceKind]]:
    """How it went, and the kinds of what says so."""
    verdict, evidence = judged(*turns, **given)
    return verdict, [one.kind for one in evidence]


# What proves success


def test_a_person_who_accepts_settles_it() -> None:
    """Nobody knows better whether it is what was wanted."""
    found = judged(
        asked("the filter is off by one day", WORK, reply("Fixed.")), asked("works, thanks!")
    )

    assert found == ("success", [Evidence(kind="accepted", ref=f"{REF}#2", text="works, thanks!")])


def test_acceptance_is_heard_in_the_prompt_that_begins_the_next_task() -> None:
    """People thank and ask for the next thing in one breath."""
    found = judged(
        asked("the tooltips flicker", WORK, reply("Fixed.")),
        next_prompt="great, that's fixed. Now let's add pagination to the users table",
        is_last=False,
    )

    assert found == (
        "success",
        [Evidence(kind="accepted", ref=f"{REF}#1", text="great, that's fixed.")],
    )


def test_a_check_that_failed_before_and_passes_after_the_work_proves_it() -> None:
    """It was red for the reason that the task is about."""
    found = judged(asked("the cart test fails", RED, WORK, GREEN, reply("Fixed.")))

    assert found == ("success", [Evidence(kind="check_fixed", ref=f"{REF}#1", text="pytest -q")])


def test_a_test_that_was_written_first_proves_it_too() -> None:
    """Written, red, made to work, green: that is how it should be done."""
    assert outcome(asked("keep digits", edit("tests/test_slug.py"), RED, WORK, GREEN)) == (
        "success",
        ["check_fixed"],
    )


def test_a_new_test_that_had_to_be_changed_itself_is_no_check_that_was_fixed() -> None:
    """It was the test that was wrong, and nobody had asked for more than tests."""
    tests = edit("tests/test_cache.py")

    _, kinds = outcome(asked("add tests for the cache", tests, RED, tests, GREEN))

    assert kinds == ["check_passed"]


def test_the_command_that_was_to_be_mended_is_as_good_as_a_check() -> None:
    """ "`make docs` fails" is done when it does not any more."""
    before, after = run("make docs", "Error 1", code=1), run("make docs", "build succeeded.")

    assert outcome(asked("`make docs` fails", before, WORK, after)) == ("success", ["check_fixed"])
    assert "check_fixed" not in outcome(asked("set up the docs", before, WORK, after))[1]


@pytest.mark.parametrize(
    "command",
    [
        "git commit -qam cart",
        "git add -A && git commit -m cart && git push",
        "gh pr create --fill",
        "gh pr merge 12",
        "git merge feature",
    ],
)
def test_work_that_is_kept_speaks_for_itself_a_little(command: str) -> None:
    """A commit, a merge or a pull request is more than a claim."""
    assert outcome(asked("make the cart faster", WORK, run(command, "done"))) == (
        "uncertain",
        ["kept"],
    )


def test_a_commit_of_nothing_keeps_nothing() -> None:
    """Neither does one that fails, nor one before anything was done."""
    assert outcome(
        asked("x", WORK, run("git commit -am x", "nothing to commit, working tree clean"))
    ) == ("uncertain", [])
    assert outcome(asked("x", WORK, run("git commit -am x", "hook declined", code=1)))[1] == [
        "command_failed"
    ]
    assert outcome(asked("x", run("git commit -am x", "[main 1a2b3c4] x"))) == ("uncertain", [])


def test_a_commit_whose_end_is_hidden_counts_when_git_says_so() -> None:
    """An unknown end is no success by itself."""
    silent = run("git commit -am x | tail -1")
    telling = run("git commit -am x | tail -1", "[main 1a2b3c4] x")
    silent[bodies.OK] = telling[bodies.OK] = None

    assert outcome(asked("x", WORK, silent)) == ("uncertain", [])
    assert outcome(asked("x", WORK, telling)) == ("uncertain", ["kept"])


def test_a_commit_that_was_asked_for_proves_nothing() -> None:
    """Who was asked to commit commits, whether the work is right or not."""
    squash = run(
        "git reset --soft HEAD~4 && git commit -m wizard && git push --force-with-lease",
        "forced update",
    )
    commit = run("git commit -am x", "[main 1a2b3c4] x")

    assert outcome(asked("squash my last 4 commits and push", squash)) == ("uncertain", [])
    assert outcome(asked("tidy the cart up and commit it", WORK, commit)) == ("uncertain", [])


def test_an_answer_to_a_question_of_the_agent_is_no_verdict() -> None:
    """ "Yes, that's correct" says it of what was asked, before or after the work."""
    asks = reply("You want the totals rounded up. Is that correct?")

    assert outcome(asked("fix the totals", asks), asked("Yes, that's correct.", WORK))[1] == []
    assert outcome(asked("fix the totals", WORK, asks), asked("Yes, that's correct."))[1] == []
    assert outcome(asked("fix the totals", WORK, asks), asked("yes, works now"))[1] == ["accepted"]


@pytest.mark.parametrize(
    "said", ["No, that's all, thanks", "I don't have access to the server right now", "ok thanks"]
)
def test_what_is_said_of_something_else_is_no_verdict(said: str) -> None:
    """A farewell is no correction, and what people say of themselves no acceptance."""
    verdict, kinds = outcome(asked("fix the totals", WORK, reply("Done.")), asked(said))

    assert verdict == "uncertain"
    assert "accepted" not in kinds
    assert "corrected" not in kinds


def test_thanks_for_talk_are_courtesy() -> None:
    """Where nothing was run or changed, nobody can have tried it."""
    found = outcome(asked("book me a flight", reply("It is booked.")), asked("perfect, it works"))

    assert found == ("uncertain", ["praised"])


# What proves little


def test_a_check_that_was_never_red_is_evidence_as_far_as_it_goes() -> None:
    """It may have passed before; but where many tests pass last, most work is right."""
    few = judged_at(asked("make the cart faster", WORK, run("make lint", "ok")))
    many = judged_at(asked("make the cart faster", WORK, run("pytest -q", "120 passed")))

    assert few < many


def test_a_check_before_the_last_change_says_nothing_of_it() -> None:
    """What passed was another state of the files."""
    before = judged_at(asked("make the cart faster", GREEN, WORK))
    after = judged_at(asked("make the cart faster", WORK, GREEN))

    assert before < after


def test_the_agents_word_and_a_clean_end_prove_little() -> None:
    """Agents say that it is done whether it is or not."""
    assert outcome(asked("make the cart faster", WORK, reply("Done. All tests pass."))) == (
        "uncertain",
        [],
    )


def test_a_task_that_was_left_for_another_topic_is_uncertain() -> None:
    """Silence may mean either."""
    found = outcome(
        asked("shorten the texts", WORK), next_prompt="how do I read a heap dump?", is_last=False
    )

    assert found == ("uncertain", ["left"])


def test_what_was_liked_before_anything_was_done_was_the_plan() -> None:
    """ "Love it, go" asks for the work."""
    planned = asked("how would you do it?", reply("In three layers."))

    assert outcome(planned, asked("love it. perfect", WORK, reply("Written.")))[0] == "uncertain"
    assert outcome(planned, asked("love it. perfect")) == ("uncertain", ["praised"])


def test_the_first_prompt_judges_nothing() -> None:
    """There is nothing yet that it could judge."""
    assert outcome(asked("the old one works great, still it is wrong. please redo it", WORK)) == (
        "uncertain",
        [],
    )


# What speaks against it


def test_a_complaint_that_stands_is_a_failure() -> None:
    """The work is not what was wanted."""
    found = judged(
        asked("the export has the umlauts wrong", WORK, reply("Fixed.")),
        asked("nope, still garbage"),
    )

    assert found == (
        "fail",
        [Evidence(kind="corrected", ref=f"{REF}#2", text="nope, still garbage")],
    )


def test_a_complaint_takes_down_the_proofs_before_it() -> None:
    """Green tests and a commit are worth nothing when it does not work."""
    work = asked(
        "the total is off", RED, WORK, GREEN, run("git commit -qam total", "[main 1a2b3c4]")
    )

    assert outcome(work, asked("total is still off")) == ("fail", ["corrected"])


def test_a_complaint_that_was_worked_on_leaves_it_open() -> None:
    """It may be right now; nobody has said so."""
    first = asked("the list should be sorted", WORK)

    assert outcome(first, asked("that's wrong, newest first", WORK, reply("Done."))) == (
        "uncertain",
        [],
    )
    assert outcome(first, asked("that's wrong, newest first", WORK), asked("perfect")) == (
        "success",
        ["accepted"],
    )


def test_a_commit_after_a_complaint_is_no_proof() -> None:
    """Whether the second try is better, a commit does not tell."""
    again = asked("that's wrong", WORK, run("git commit -qam again", "[main 1a2b3c4]"))

    assert outcome(asked("sort the list", WORK), again) == ("uncertain", [])


def test_who_complains_three_times_in_a_row_has_not_got_it() -> None:
    """Even if something was done about the last one."""
    turns = [
        asked("make the sidebar sticky", WORK),
        *[asked("still not sticky", WORK) for _ in range(3)],
    ]

    assert outcome(*turns) == ("fail", ["corrected"] * 3)
    assert outcome(*turns[:3], asked("use the theme's colours", WORK), turns[3])[0] == "uncertain"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("revert that, we don't have redis", "refused"),
        ("I'll do it myself", "refused"),
    ],
)
def test_a_refusal_is_a_failure(text: str, kind: str) -> None:
    """There are many ways of not being content."""
    assert outcome(asked("move the sessions to redis", WORK), asked(text)) == ("fail", [kind])


def test_anger_alone_speaks_against_it_and_settles_nothing() -> None:
    """People are angry about many things."""
    assert outcome(asked("move it to redis", WORK), asked("wtf is this")) == (
        "uncertain",
        ["annoyed"],
    )


def test_an_error_that_is_pasted_after_the_work_speaks_against_it() -> None:
    """It says nothing in words, and shows that it does not run."""
    shown = "Traceback (most recent call last):\nNameError: name 'sleep' is not defined"

    assert outcome(asked("restart the worker", WORK), asked(shown)) == ("uncertain", ["shown"])
    assert (
        outcome(asked("restart the worker", reply("What does the log say?")), asked(shown))[0]
        == "uncertain"
    )


def test_a_report_in_the_next_task_is_not_held_against_this_one() -> None:
    """The next thing to be mended is usually another one."""
    found = outcome(
        asked("round the corners", WORK),
        next_prompt="the checkout page is broken for guests",
        is_last=False,
    )

    assert found == ("uncertain", ["left"])


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -- shop",
        "git restore shop/cart.py",
        "git reset --hard",
        "git stash",
        "git revert HEAD",
    ],
)
def test_work_that_was_taken_back_failed(command: str) -> None:
    """The agent gave it up itself."""
    assert outcome(asked("get rid of lodash", WORK, run(command))) == ("fail", ["reverted"])


def test_work_that_is_taken_back_as_asked_did_not_fail() -> None:
    """A trial ends that way; and what is stashed may be taken out again."""
    assert (
        outcome(asked("try the allocator, then undo it", WORK, run("git checkout -- .")))[0]
        == "uncertain"
    )
    assert outcome(asked("get rid of lodash", WORK, run("git stash"), run("git stash pop"))) == (
        "uncertain",
        [],
    )


def test_an_undone_turn_took_its_edits_with_it() -> None:
    """The person went back to before it."""
    passages = [
        passage(1, *asked("draw the chart")),
        passage(2, *asked("use svg", WORK), live=False),
    ]

    found = judge(passages, [], is_last=True, next_prompt=None)

    assert (found.outcome, found.evidence) == ("fail", [Evidence(kind="reverted", ref=f"{REF}#2")])


def test_what_is_red_at_the_end_speaks_against_it() -> None:
    """Whether it was a check, the last command, or the same one again and again."""
    failing = run("npm publish", "403 Forbidden", code=1)
    nothing = judged_at(asked("speed up the parser", WORK))

    assert outcome(asked("speed up the parser", WORK, RED)) == ("uncertain", ["check_failed"])
    assert outcome(asked("publish it", failing)) == ("uncertain", ["command_failed"])
    assert outcome(asked("publish it", *[failing] * 4))[1] == ["loop"]
    assert judged_at(asked("speed up the parser", WORK, RED)) < nothing
    assert judged_at(asked("publish it", *[failing] * 4)) < judged_at(asked("publish it", failing))


def test_a_check_that_was_as_red_before_has_nothing_to_do_with_it() -> None:
    """Unless it was to be mended."""
    assert outcome(asked("add a dark mode switch", RED, WORK, RED)) == ("uncertain", [])
    assert outcome(asked("the cart test fails", RED, WORK, RED))[1] == ["check_failed"]


@pytest.mark.parametrize(
    "row",
    [
        run("cargo test", "bash: cargo: command not found", code=127),
        run("pytest -q", "This command requires approval", code=1),
        run("rg -n legacyAuth src", code=1),
        run("npm run dev", "Local: http://localhost:5173\nCommand timed out after 2m", code=124),
    ],
)
def test_a_command_that_could_not_fail_the_work_does_not(row: Row) -> None:
    """It was not there, not allowed, found nothing, or is meant to run on."""
    assert outcome(asked("add a flag", WORK, row)) == ("uncertain", [])


def test_a_time_out_and_an_admission_speak_against_it() -> None:
    """What takes too long was not done; and an agent has no reason to say that it failed."""
    slow = run("python migrate.py", "Command timed out after 30m", code=124)

    assert outcome(asked("migrate the copy", WORK, slow))[1] == ["timeout"]
    assert outcome(asked("get it to build", WORK, reply("I couldn't get it to build.")))[1] == [
        "admitted"
    ]


# Between them


def test_part_accepted_and_part_wrong_is_partial() -> None:
    """Both are told."""
    found = outcome(
        asked("fix logo and footer", WORK),
        asked("logo looks great now, but the footer still overlaps"),
    )

    assert found == ("partial", ["accepted", "corrected"])


def test_some_checks_green_and_some_red_is_partial() -> None:
    """As is most of what failed at first passing."""
    types = run("mypy shop", "Found 1 error", code=1)
    worse, better = run("pytest -q", "17 failed", code=1), run("pytest -q", "1 failed", code=1)

    assert outcome(asked("port it", WORK, GREEN, types)) == ("partial", ["check_failed"])
    assert outcome(asked("make it pass", worse, WORK, better)) == ("partial", ["check_failed"])


def test_work_that_was_kept_with_something_red_is_partial() -> None:
    """The commit is there, and so is the failure."""
    assert outcome(asked("use tabs", WORK, run("git commit -am x", "[main 1a2b3c4] x"), RED)) == (
        "partial",
        ["kept", "check_failed"],
    )


def test_an_interrupted_task_that_nobody_takes_up_is_abandoned() -> None:
    """It neither succeeded nor failed."""
    assert outcome(asked("rewrite the page", WORK, said("abort", ""))) == ("abandoned", ["aborted"])
    assert outcome(asked("rewrite the page", WORK, said("abort", "")), asked("go on", WORK, GREEN))[
        1
    ] == ["check_passed"]


@pytest.mark.parametrize(
    "text",
    ["never mind, too much for this week", "no thanks, let's keep it as it is", "hold off on this"],
)
def test_a_task_that_was_refused_before_anything_was_done_is_abandoned(text: str) -> None:
    """There is no work that could be bad."""
    assert outcome(asked("move to Bazel", reply("Shall I?")), asked(text)) == (
        "abandoned",
        ["refused"],
    )


# Everything


def test_evidence_is_short_and_has_no_tags() -> None:
    """It is shown in lists and told to agents, where a long line or a tag would do harm."""
    _, evidence = judged(
        asked("fix it", WORK),
        asked(f"still broken <system>{'x' * 180}</system>"),
        asked("same error " + "y" * 200),
    )

    assert evidence
    assert all(len(one.text) <= EVIDENCE_CHARACTERS and "<" not in one.text for one in evidence)


ROWS = st.one_of(
    st.builds(
        prompt,
        st.text(max_size=80)
        | st.sampled_from(["works, thanks", "still broken", "revert that", "yes"]),
    ),
    st.builds(reply, st.text(max_size=80) | st.sampled_from(["Done.", "I give up."])),
    st.builds(
        call,
        st.text(max_size=40) | st.sampled_from(["pytest", "git commit -m x", "git stash"]),
        st.text(max_size=40),
        ok=st.booleans(),
    ),
    st.builds(edit, st.sampled_from(["a.py", "tests/test_a.py"]), ok=st.booleans()),
    st.builds(said, st.sampled_from(["abort", "error", "compaction"]), st.text(max_size=20)),
)


@given(
    st.lists(
        st.tuples(st.lists(ROWS, max_size=6), st.booleans(), st.sampled_from(["human", "agent"])),
        max_size=5,
    ),
    st.text(max_size=40),
)
def test_any_session_can_be_judged(
    turns: list[tuple[list[Row], bool, Any]], next_prompt: str
) -> None:
    """Logs hold anything in any order; and an outcome other than uncertain says why."""
    passages = [
        passage(number, *rows, live=live, author=author)
        for number, (rows, live, author) in enumerate(turns, 1)
    ]
    actions = [action for one in passages if one.live for action in actions_of(one)]

    verdict, p, evidence = judge(
        passages, actions, is_last=not next_prompt, next_prompt=next_prompt or None
    )

    assert 0 < p < 1
    assert verdict in ("uncertain", "success") or evidence
    assert {one.ref for one in evidence} <= {one.ref for one in passages}


def test_nothing_is_uncertain() -> None:
    """A session may have no turn that is left."""
    nothing: list[Passage] = []

    assert judge(nothing, [], is_last=True, next_prompt=None).outcome == "uncertain"


def test_a_long_task_with_many_checks_is_judged_quickly() -> None:
    """Agents run the same few commands hundreds of times; each is compared with those before it."""
    checks = [run(f"pytest -q tests/test_{number}.py", "1 failed", code=1) for number in range(12)]
    rounds = [row for number in range(600) for row in (WORK, checks[number % 12], GREEN)]
    one = passage(1, *asked("make it pass", *rounds))
    calls = actions_of(one)

    begun = time.process_time()
    judge([one], calls, is_last=True, next_prompt=None)

    assert time.process_time() - begun < 2
