"""What failed is told with what worked instead, and only with proof."""

from __future__ import annotations

import pytest

from recollect.distill.finders import remedies
from recollect.model.record import CallRecord, SessionRecord
from tests.builders.records import ran, session, turn


def told(*sessions: SessionRecord) -> list[str]:
    return [one.text for one in remedies.find(sessions)]


def worked(*calls: CallRecord, number: int = 1) -> SessionRecord:
    return session(turn("Fix it", *calls), number=number)


UNKNOWN = "CACError: Unknown option `--runInBand`"


def test_a_command_that_passed_in_other_words_is_the_remedy() -> None:
    found = told(worked(ran("npm test -- --runInBand", UNKNOWN, code=1), ran("npm test")))

    assert found == [f"`npm test -- --runInBand` fails: {UNKNOWN} → `npm test` works"]


def test_the_same_command_in_another_folder_is_a_remedy_too() -> None:
    error = "fatal: not a git repository (or any of the parent directories): .git"
    found = told(
        worked(ran("git submodule update", error, code=128), ran("cd web && git submodule update"))
    )

    assert found == [f"`git submodule update` fails: {error} → works in web"]


@pytest.mark.parametrize(
    "later",
    [
        ran("npm -v", "10.2.4"),  # the same program does something else
        ran("npm test -- --help", "usage"),  # a look at how it is run
        ran("npm test", "1 failed", code=1),
        ran("npm test", code=None),
        ran("npm test | tail -3", "1 failed"),
    ],
)
def test_the_next_command_that_happened_to_pass_is_none(later: CallRecord) -> None:
    """It would send the next session the wrong way, with our word for it."""
    (found,) = told(worked(ran("npm test -- --runInBand", UNKNOWN, code=1), later))

    assert "works" not in found


def test_another_thing_that_worked_is_no_remedy() -> None:
    error = "Error: database is locked, out of sync"
    found = told(worked(ran("bd show a1", error, code=1), ran("bd show b2")))

    assert found == []


def test_errors_of_the_code_pass_with_the_code() -> None:
    calls = [ran("pytest -q", "E   AssertionError: 1 != 2\n1 failed", code=1), ran("pytest -q -x")]

    assert told(worked(*calls), worked(*calls, number=2)) == []


def test_a_failure_that_comes_back_is_told_without_a_remedy() -> None:
    failed = ran("gt daemon start", "Error: daemon failed to start", code=1)

    assert told(worked(failed)) == []
    assert told(worked(failed), worked(failed, number=2)) == [
        "`gt daemon start` fails: Error: daemon failed to start"
    ]


def test_a_failure_whose_command_passed_later_is_gone() -> None:
    failed = ran("gt daemon start", "Error: daemon failed to start", code=1)
    healed = worked(ran("gt daemon start"), number=3)

    assert told(worked(failed), worked(failed, number=2), healed) == []


def test_what_a_program_does_not_know_stands_in_one_line() -> None:
    calls = [
        ran("bd list --wisp", "Error: unknown flag: --wisp", code=1),
        ran("bd tree a1", 'Error: unknown command "tree" for "bd"', code=1),
    ]

    assert told(worked(*calls)) == ["`bd` does not know: `bd list` with `--wisp`; `bd tree`"]


def test_what_the_person_refused_did_not_fail() -> None:
    refused = ran("npm test -- --runInBand", "The user doesn't want to proceed", code=1)

    assert told(worked(refused, ran("npm test"))) == []


def test_a_remedy_that_is_too_long_for_a_line_is_not_cut() -> None:
    """A command with its middle left out cannot be run."""
    long = "npm test -- " + " ".join(f"--only=src/part{n}" for n in range(12))
    found = told(worked(ran("npm test -- --runInBand", UNKNOWN, code=1), ran(long)))

    assert all("…" not in line and "src/part" not in line for line in found)


def test_every_line_fits_and_names_its_turn() -> None:
    (found,) = remedies.find(
        [worked(ran("npm test -- --runInBand", UNKNOWN * 5, code=1), ran("npm test"))]
    )

    assert len(found.text) <= 220
    assert (found.turn, found.trust, found.kind) == ("claude-code:s1#1", "tool-verified", "remedy")


def test_a_failure_that_healed_in_the_same_turn_is_gone() -> None:
    """The port was free again a minute later."""
    busy = ran("make serve", "Error: listen EADDRINUSE: address already in use :::4000", code=1)
    sessions = [worked(busy, number=1), worked(busy, ran("make serve"), number=2)]

    assert told(sessions[0], worked(busy, number=2)) != []
    assert told(*sessions) == []


def test_a_failure_of_a_command_is_gone_when_its_form_passed_later() -> None:
    old = ran("npm run build", "error: this needs node, requires Node >= 20", code=1)

    assert told(worked(old)) != []
    assert told(worked(old), worked(ran("volta run npm run build"), number=2)) == []


def test_what_another_step_of_the_line_complained_of_is_not_this_ones() -> None:
    failed = ran("gt stop mayor; gt start mayor", 'Error: unknown command "stop" for "gt"', code=1)

    assert told(worked(failed)) == []


def test_to_leave_something_out_is_a_remedy_only_for_what_is_not_known() -> None:
    error = "Error: failed to compute the id: not a git repository"

    assert told(worked(ran("gt doctor --fix", error, code=1), ran("gt doctor"))) == []


def test_of_a_line_of_commands_the_one_failed_that_the_error_names() -> None:
    """`a && b` that failed says by itself only that one of both did."""
    error = "npm error: unknown option `--force-all`"
    named = ran("npm ci --force-all && git push", error, code=1)
    unnamed = ran("bd sync --wisp && gt start", "Error: unknown flag: --wisp", code=1)

    assert told(worked(named)) == [f"`npm ci --force-all` fails: {error}"]
    assert told(worked(unnamed)) == []


def test_a_program_that_wants_a_terminal_wants_it_in_the_next_session_too() -> None:
    error = "the input device is not a TTY"
    (found,) = told(worked(ran("docker exec -it web sh", error, code=1)))

    assert found == f"`docker exec -it web sh` fails: {error}"
