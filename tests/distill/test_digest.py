"""What a session came to, from its log to its digest."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recollect.distill.tasks.digest import make
from recollect.model.digests import Digest, Evidence, Run, Task, Trouble
from recollect.model.sessions import Tokens
from recollect.store.history import Passage
from tests.builders.homes import claude_log, memory
from tests.builders.passages import REF, edit, passage, prompt, reply, run, said
from tests.builders.work import Remember, Work

FAILURE = "AssertionError: 3 != 4"


def worker() -> Work:
    work = Work()
    work.ask("fix the checkout worker, it hangs on startup").run("pytest -q", FAILURE, code=1)
    work.edit("/home/ada/shop/worker.py").run("pytest -q", "2 passed").done(
        "All done, the worker is fixed."
    )
    return work


def digest_of(
    *passages: Passage, title: str | None = None, earlier: Digest | None = None
) -> Digest:
    return make(REF, passages, title=title, earlier=earlier)


def outcomes(digest: Digest) -> list[tuple[str, list[int]]]:
    return [(task.outcome, task.turns) for task in digest.tasks]


def test_a_digest_tells_a_session_from_what_was_asked_and_done(remember: Remember) -> None:
    """Nobody has to read it again; and nothing in it is the agent's own word."""
    mind = remember(
        worker().ask("works, thanks. From now on always run the tests with -q").done("Noted.")
    )
    first, second = (f"{worker().ref}#{number}" for number in (1, 2))

    digest = mind.digest(worker().ref)

    assert digest == Digest(
        session=worker().ref,
        project="/home/ada/shop",
        title="fix the checkout worker, it hangs on startup",
        outcome="success",
        summary="“fix the checkout worker, it hangs on startup”; changed worker.py; last check "
        "passed; 1 error overcome",
        tasks=[
            Task(
                title="fix the checkout worker, it hangs on startup",
                asked="fix the checkout worker, it hangs on startup",
                turns=[1, 2],
                outcome="success",
                p=0.97,
                evidence=[
                    Evidence(kind="check_fixed", ref=first, text="pytest -q"),
                    Evidence(kind="accepted", ref=second, text="works, thanks."),
                ],
                files=["worker.py"],
                runs=[
                    Run(ref=first, command="pytest -q", ok=False, exit_code=1, check=True),
                    Run(ref=first, command="pytest -q", ok=True, check=True),
                ],
                errors=[
                    Trouble(
                        ref=first,
                        error=FAILURE,
                        command="pytest -q",
                        steps=["edit worker.py"],
                        worked=first,
                    )
                ],
                tokens=Tokens(input=20, cache_read=10_000, cache_write=500, output=250),
                seconds=8,
            )
        ],
    )


def test_a_session_that_grew_is_digested_again(home: Path) -> None:
    """The verdict usually comes last."""
    work = worker()
    claude_log(home, work.talk)
    with memory(home) as mind:
        mind.import_logs()
        mind.jobs.work()
        before = mind.digest(work.ref)
        work.ask("still hangs for me, this is wrong").done("Sorry.")
        claude_log(home, work.talk)
        mind.import_logs()
        mind.jobs.work()

        after = mind.digest(work.ref)

        assert (outcomes(before), outcomes(after)) == ([("success", [1])], [("fail", [1, 2])])
        assert mind.session(work.ref).outcome == "fail"


def test_digesting_twice_changes_nothing(remember: Remember) -> None:
    """A job may be done twice."""
    mind = remember(worker())
    first = list(mind.digest_new())
    rows = mind._shared.store().db.rows(
        "select session, title, outcome, summary, digest from digests"
    )

    assert (first, list(mind.digest_new())) == ([worker().ref], [])
    assert (
        mind._shared.store().db.rows("select session, title, outcome, summary, digest from digests")
        == rows
    )


def test_sessions_are_found_by_their_outcome(remember: Remember) -> None:
    """`outcome:fail` is how one looks for what went wrong."""
    broken = (
        Work(2)
        .ask("fix the invoice totals of the shop")
        .edit("/home/ada/shop/total.py")
        .run("pytest -q", FAILURE, code=1)
        .ask("the totals are still wrong")
        .done("I see.")
    )
    mind = remember(worker(), broken)

    def found(outcome: str) -> list[str]:
        return [session.id for session in mind.sessions(outcome=outcome)]

    before = mind.remarks("outcome:fail")
    list(mind.digest_new())

    assert before == ["Sessions without an outcome: 2. Work it out now: recollect jobs run"]
    assert mind.remarks("outcome:fail") == []
    assert (found("fail"), found("success"), found("abandoned")) == (
        [broken.ref],
        [worker().ref],
        [],
    )
    assert {hit.ref for hit in mind.search("invoice outcome:fail")} == {f"{broken.ref}#1"}
    assert list(mind.search("totals outcome:success")) == []


def test_what_is_left_open_is_told(remember: Remember) -> None:
    """The next session begins where this one stopped."""
    mind = remember(
        Work()
        .ask("fix the invoice totals of the shop. TODO: the refunds too")
        .edit("/home/ada/shop/total.py")
        .run("pytest -q", FAILURE, code=1)
        .done("Shall I change the rounding?")
    )
    turn = f"{worker().ref}#1"

    assert mind.digest(worker().ref).open_ends == [
        f"`pytest -q` still ends with exit code 1 ({turn})",
        f"the agent's last question is unanswered ({turn})",
        f"“TODO: the refunds too” ({turn})",
    ]


def test_nothing_is_left_open_by_what_succeeded(remember: Remember) -> None:
    """Whoever is told of work that is done does it again."""
    mind = remember(worker())

    assert mind.digest(worker().ref).open_ends == []


def test_what_was_undone_does_not_count() -> None:
    """The person went back to before it; what it changed is not there any more."""
    kept = passage(
        1, prompt("fix the checkout worker, it hangs"), edit("a.py"), reply("Done."), output=5
    )
    undone = passage(
        2,
        prompt("and rename everything"),
        edit("b.py"),
        run("pytest", FAILURE, code=1),
        live=False,
        output=7,
    )

    [task] = digest_of(kept, undone).tasks

    assert (task.turns, task.files, task.runs, task.errors, task.tokens) == (
        [1],
        ["a.py"],
        [],
        [],
        Tokens(output=5),
    )


def test_what_was_said_of_turns_that_are_not_whole_any_more_stays() -> None:
    """Their events were let go because the digest has what matters."""
    first = passage(
        1,
        prompt("fix the checkout worker, it hangs"),
        run("pytest -q", FAILURE, code=1),
        reply("Hm."),
    )
    second = passage(
        2,
        prompt("write release notes for the mobile customers of spring"),
        edit("NOTES.md"),
        reply("Done."),
    )
    before = digest_of(first)

    after = digest_of(passage(1, prompt("fix the"), whole=False), second, earlier=before)

    assert after.tasks[0] == before.tasks[0]
    assert [task.turns for task in after.tasks] == [[1], [2]]


def test_the_tasks_of_a_session_make_its_outcome() -> None:
    """One word for a list of sessions; who wants more looks at the tasks."""
    good = [
        prompt("fix the checkout worker, it hangs"),
        edit("a.py"),
        run("pytest -q", "40 passed"),
    ]
    bad = [
        prompt("next task: make the invoice totals round up"),
        edit("b.py"),
        run("pytest", FAILURE, code=1),
        run("git checkout -- b.py"),
    ]
    unknown = [prompt("one more thing: explain the release process to me"), reply("It is easy.")]

    def overall(*tasks: list[list[object]]) -> str:
        return digest_of(*(passage(number, *rows) for number, rows in enumerate(tasks, 1))).outcome

    assert [overall(good), overall(bad), overall(unknown), overall()] == [
        "success",
        "fail",
        "uncertain",
        "uncertain",
    ]
    assert [overall(good, unknown), overall(good, bad), overall(bad, unknown)] == [
        "success",
        "partial",
        "fail",
    ]


def test_sub_agents_get_digests_too() -> None:
    """Most of the work may be theirs."""
    told = passage(
        1,
        prompt("Find all callers of pay()"),
        run("pytest -q", "2 passed"),
        reply("Three."),
        author="agent",
    )

    digest = digest_of(told, title="Find callers")

    assert (digest.title, [task.title for task in digest.tasks]) == (
        "Find callers",
        ["Find all callers of pay()"],
    )


def test_a_session_of_several_tasks_is_summed_up_with_how_each_went() -> None:
    """And one of a single task without it: the outcome of the session stands beside it."""
    first = passage(
        1,
        prompt("fix the checkout worker, it hangs"),
        edit("a.py"),
        run("pytest -q", "40 passed"),
    )
    second = passage(
        2, prompt("next task: explain the release process to me"), reply("It is easy.")
    )
    own = passage(1, run("pytest -q", "2 passed"), author="agent")

    assert digest_of(first, second).summary == (
        "“fix the checkout worker, it hangs” success; “next task: explain the release process to "
        "me” uncertain; changed a.py; last check passed"
    )
    assert digest_of(own).summary == "work that nobody asked for; last check passed"


def test_a_patch_given_to_the_shell_is_an_edit() -> None:
    """Some agents have no other tool for it; as a command it would be a page of code."""
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@\n-x > y\n+y\n*** Add File: b.py\n+z\n"
        "*** End Patch"
    )

    [task] = digest_of(passage(1, prompt("fix the checkout worker, it hangs"), run(patch))).tasks

    assert (task.files, task.runs) == (["a.py", "b.py"], [])


def test_a_title_that_a_program_framed_is_none() -> None:
    """What was asked tells more than the tag around it."""
    told = passage(
        1, prompt('<teammate-message id="lead">\nFind all callers of pay()\n</teammate-message>')
    )

    assert (
        digest_of(told, title='<teammate-message id="lead">').title == "Find all callers of pay()"
    )


_texts = st.text(max_size=60)
_commands = st.sampled_from(["pytest -q", "ls", "git commit -m x", "uv add x", "", "'"]) | _texts
_rows = st.one_of(
    st.builds(prompt, _texts), st.builds(reply, _texts), st.builds(edit, _texts),
    st.builds(run, _commands, _texts, code=st.integers(0, 2)),
    st.builds(said, st.sampled_from(["abort", "error", "reasoning", "compaction"]), _texts),
)  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.lists(_rows, max_size=5),
            st.booleans(),
            st.sampled_from(["human", "agent", "system"]),
        ),
        max_size=6,
    )
)
def test_whatever_happened_has_a_digest(turns: list[tuple[list[list[object]], bool, str]]) -> None:
    """One odd session may not keep all others from theirs.

    And each live turn is in one task at most.
    """
    passages = [
        passage(n, *rows, live=live, author=author)
        for n, (rows, live, author) in enumerate(turns, 1)
    ]  # type: ignore[arg-type]

    digest = digest_of(*passages)

    told = [turn for task in digest.tasks for turn in task.turns]
    assert told == sorted(set(told))
    assert set(told) <= {one.ordinal for one in passages if one.live}
    assert "\n" not in digest.summary + digest.title


def test_a_session_nobody_spoke_in_has_an_empty_digest(home: Path) -> None:
    """A log may hold a heading and nothing else."""
    with memory(home) as mind:
        work = Work()
        work.talk.user("/clear")
        claude_log(home, work.talk)
        mind.import_logs()

        assert mind.digest(work.ref).tasks == []
