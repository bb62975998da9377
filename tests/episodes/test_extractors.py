"""What each way of looking sees in one attempt."""

from __future__ import annotations

from recollect.episodes.extractors import extract
from recollect.model.episodes import Context, Episode, Step
from recollect.model.sessions import Outcome

Seen = tuple[str, str, int, bool | None]
NOT_FOUND = "bash: docker-compose: command not found"


def attempt(*steps: Step, outcome: Outcome = "success") -> Episode:
    return Episode(
        ref="episode:1", source="live", task="prices", context=Context(), outcome=outcome,
        steps=list(steps),
    )  # fmt: skip


def shown(*steps: Step, outcome: Outcome = "success") -> list[Seen]:
    """What is seen in an attempt of these steps, in the order of kinds and names."""
    found = extract(attempt(*steps, outcome=outcome))
    return sorted((one.kind, one.signature, one.step, one.went_well) for one in found)


def run(command: str, output: str = "", code: int = 0) -> Step:
    return Step("Bash", command, success=code == 0, observation=output)


def read(path: str) -> Step:
    return Step("Read", path, success=True)


def edit(path: str, output: str = "", *, ok: bool = True) -> Step:
    return Step("Edit", path, success=ok, observation=output)


def of_kind(kind: str, found: list[Seen]) -> list[tuple[str, bool | None]]:
    return [(signature, well) for known, signature, _, well in found if known == kind]


def test_steps_in_a_row_are_a_sequence_whatever_was_looked_at_between() -> None:
    """Reading and searching come between any two steps, and `git add` before
    any commit: neither is worth a word.
    """
    looks = read("a.py"), run("rg price")
    found = shown(
        run("alembic upgrade head"),
        *looks,
        run("flask seed"),
        run("git add -A"),
        run("celery purge"),
    )

    assert of_kind("tool_sequence", found) == [
        ("alembic upgrade > flask seed", True),
        ("alembic upgrade > flask seed > git add > celery purge", True),
        ("flask seed > git add > celery purge", True),
    ]


def test_a_failed_step_ends_a_sequence() -> None:
    """A sequence is what went well."""
    found = shown(
        run("alembic upgrade head"), run("flask seed", "KeyError: 'x'", code=1), run("celery purge")
    )

    assert of_kind("tool_sequence", found) == []


def test_how_the_task_ended_is_how_its_sequences_went() -> None:
    """Otherwise what led nowhere would be recommended."""
    steps = run("alembic upgrade head"), run("flask seed")

    ends = [
        of_kind("tool_sequence", shown(*steps, outcome=outcome))
        for outcome in ("success", "fail", "uncertain")
    ]

    assert ends == [[("alembic upgrade > flask seed", well)] for well in (True, False, None)]


def test_what_works_instead_is_a_decision() -> None:
    """The next agent need not try the first again."""
    found = shown(run("docker-compose up -d", NOT_FOUND, code=127), run("docker compose up -d"))

    assert of_kind("decision_point", found) == [("docker-compose up => docker compose up", True)]


def test_another_form_of_the_same_program_is_a_decision() -> None:
    """Only what launches it differs."""
    found = shown(
        run("pytest -q", "bash: pytest: command not found", code=127),
        run("uv run pytest -q", "3 passed"),
    )

    assert of_kind("decision_point", found) == [("pytest => uv run pytest", True)]


def test_a_command_that_works_in_the_end_was_no_wrong_decision() -> None:
    """The other one was tried in vain, and is the one to leave alone."""
    found = shown(
        run("npm run build", "boom", code=1),
        run("pnpm build", "boom", code=1),
        run("npm run build", "built in 3s"),
    )

    assert of_kind("decision_point", found) == [("pnpm build => npm run build", True)]


def test_what_was_done_before_a_command_passes_is_its_remedy() -> None:
    """The last thing that changed something is the likeliest."""
    missing = "Error: Cannot find module 'left-pad'"
    found = shown(
        run("npm test", missing, code=1),
        read("package.json"),
        run("npm install"),
        run("npm test", "3 passed"),
    )

    assert of_kind("error_recovery", found) == [
        ("npm test ! cannot find module left-pad => npm install", True)
    ]


def test_a_remedy_that_does_not_help_is_counted_against_it() -> None:
    """Advice must be able to lose."""
    missing = "Error: Cannot find module 'left-pad'"
    found = shown(
        run("npm test", missing, code=1), run("npm install"), run("npm test", missing, code=1)
    )

    assert of_kind("error_recovery", found) == [
        ("npm test ! cannot find module left-pad => npm install", False)
    ]


def test_that_an_edit_of_the_source_helps_is_no_news() -> None:
    """Every failing test is mended that way; a change of one known file is another matter."""
    source = shown(
        run("pytest", "KeyError: 'x'", code=1), edit("src/a.py"), run("pytest", "1 passed")
    )
    settings = shown(
        run("pytest", "KeyError: 'x'", code=1), edit("pyproject.toml"), run("pytest", "1 passed")
    )

    assert of_kind("error_recovery", source) == []
    assert of_kind("error_recovery", settings) == [
        ("pytest ! KeyError => edit pyproject.toml", True)
    ]


def test_a_failure_says_what_failed_how_and_whether_it_was_overcome() -> None:
    """That tests fail is no failure worth counting; that a lock is held is."""
    lock = "Error acquiring the state lock"
    never = shown(run("terraform plan", lock, code=1), run("pytest", "1 failed", code=1))
    later = shown(run("terraform plan", lock, code=1), run("terraform plan", "ok"))

    assert of_kind("failure", never) == [("terraform plan ! locked by another process", False)]
    assert of_kind("failure", later) == [("terraform plan ! locked by another process", True)]


def test_a_tool_of_the_agent_fails_whatever_the_file() -> None:
    """How an edit fails has nothing to do with the ending of the file's name."""
    refused = edit("a.py", "String to replace not found in file.", ok=False)

    assert of_kind("failure", shown(refused)) == [("edit ! the text to change is not there", False)]


def test_what_a_pipe_hides_is_still_a_failure() -> None:
    """`pytest | tail` ends well whatever pytest does."""
    missing = "ModuleNotFoundError: No module named 'yaml'\n1 error in 0.1s"

    assert of_kind("failure", shown(run("pytest 2>&1 | tail -5", missing))) == [
        ("pytest ! no module named yaml", False)
    ]


def test_a_search_that_finds_nothing_fails_nobody() -> None:
    """`grep` ends with 1 when there is nothing to find."""
    assert shown(run("grep -r price src", "", code=1)) == []


def test_the_check_right_after_a_change_belongs_to_the_sort_of_file() -> None:
    """What comes after something else was done may be about that."""
    found = shown(
        edit("main.tf"),
        read("main.tf"),
        run("terraform validate", "Success"),
        run("shellcheck x.sh"),
    )

    assert of_kind("context", found) == [(".tf => terraform validate", True)]


def test_what_this_program_told_is_not_learned_again() -> None:
    """Otherwise a memory would be its own evidence."""
    own = Step("mcp__recollect__search", "query", success=True)

    assert shown(run("recollect search price"), own, run("recollect fix KeyError")) == []


def test_what_a_person_declined_was_not_done() -> None:
    """It failed for no reason that is worth knowing."""
    declined = run("heroku restart", "The user doesn't want to proceed", code=1)

    assert shown(declined, run("heroku restart")) == []


def test_what_comes_from_a_tool_server_is_external() -> None:
    """Whoever runs the server writes what it answers."""
    server = Step("mcp__tracker__get_issue", "7", success=False, observation="connection refused")

    found = extract(attempt(server, run("terraform plan", "state lock", code=1)))

    assert sorted((one.signature, one.trust) for one in found) == [
        ("mcp tracker__get_issue ! connection refused", "external"),
        ("terraform plan ! locked by another process", "assistant"),
    ]


def test_the_same_steps_are_the_same_thing_whoever_recorded_them() -> None:
    """Agents call their tools by names of their own."""
    one = shown(Step("terminal", "alembic upgrade head", success=True), run("flask seed"))
    other = shown(run("alembic upgrade head"), Step("execute", "flask seed", success=True))

    assert one == other == [("tool_sequence", "alembic upgrade > flask seed", 1, True)]
