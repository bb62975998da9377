"""What a machine lacks is told once, as long as it lacks it."""

from __future__ import annotations

from recollect.distill.finders import machine
from recollect.model.record import CallRecord
from tests.builders.records import ran, session, turn


def told(*calls: CallRecord) -> list[str]:
    return [one.text for one in machine.find([session(turn("Fix it", *calls))])]


def test_every_program_that_is_missing_is_a_fact_of_its_own_for_the_whole_machine() -> None:
    """Another project of the same machine misses it too, and may miss others."""
    calls = [
        ran("rg till", "zsh:1: command not found: rg", code=127),
        ran("just fmt", "bash: line 1: just: command not found", code=127),
    ]

    found = list(machine.find([session(turn("Fix it", *calls))]))

    assert [one.text for one in found] == [
        "`just` is not installed here (command not found)",
        "`rg` is not installed here (command not found)",
    ]
    assert all(one.everywhere for one in found)


def test_what_to_use_in_its_place_has_passed_here() -> None:
    """A guess would send the next session into the same wall."""
    missing = ran("python load.py", "bash: python: command not found", code=127)

    assert told(missing) == ["`python` is not installed here (command not found)"]
    assert told(missing, ran("python3 load.py")) == [
        "`python` is not installed here (command not found); use `python3`"
    ]


def test_a_program_that_passed_later_is_there() -> None:
    assert told(ran("rg a", "command not found: rg", code=127), ran("rg a", "till.py")) == []


def test_a_word_of_an_output_is_no_program() -> None:
    """`Route not found: checkout` is about a route."""
    assert told(ran("npm test", "checkout: not found", code=1)) == []


def test_a_program_that_fails_without_a_word_is_a_stub() -> None:
    """Windows has a `python3` that only opens its shop."""
    silent = [ran(f"python3 load{n}.py", "Exit code 49", code=49) for n in range(3)]

    assert told(*silent, ran("python load.py")) == [
        "`python3` fails here with exit code 49 and prints nothing: use `python`"
    ]
    assert told(*silent[:2]) == []


def test_a_shell_that_expands_brackets_is_known_by_what_it_says() -> None:
    calls = [ran("cat app/[id]/page.tsx", "zsh:1: no matches found: app/[id]/page.tsx", code=1)]

    assert told(*calls) == [
        "zsh expands brackets and stars: quote such paths (`no matches found: app/[id]/page.tsx`)"
    ]


def test_a_sandbox_is_known_although_the_command_passed() -> None:
    """A script that catches its error ends well."""
    call = ran("node probe.js", "ERR connect EPERM 127.0.0.1:4317 - Local", code=0)

    assert told(call) == ["The sandbox blocks local sockets: `connect EPERM 127.0.0.1:4317`"]


def test_what_a_file_says_of_errors_is_not_an_error() -> None:
    """Notes and logs are read all day."""
    assert told(ran("cat NOTES.md", "npm install failed with EAI_AGAIN")) == []
