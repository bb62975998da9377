"""The guard decides whether a command is told, never how much of it."""

from __future__ import annotations

import pytest

from recollect.distill.finders import commands, remedies
from recollect.distill.finders.safe import Proofs, is_plain_command
from recollect.model.record import CallRecord, SessionRecord
from tests.builders.records import FOLDER, ran, session, turn

LONG = 'npm test -- --grep "opens the drawer of the till when a customer pays"'


def read(path: str, text: str) -> CallRecord:
    return CallRecord("read", "Read", path, ok=True, output=text)


def worked(*calls: CallRecord, number: int = 1, **more: bool) -> SessionRecord:
    return session(turn("Fix it", *calls, **more), number=number)


def test_a_plain_command_keeps_its_brackets() -> None:
    command = "node load.js < data.csv > out.txt"

    assert Proofs([]).may_tell(command)
    assert f"Run: `{command}`" in told(worked(ran(command)), worked(ran(command), number=2))


def told(*sessions: SessionRecord) -> list[str]:
    return [one.text for one in commands.find(sessions)]


def test_what_would_be_cut_is_not_told_after_one_session() -> None:
    """Whoever can choose an argument could ask for something with it."""
    assert not is_plain_command(LONG)
    assert not Proofs([worked(ran(LONG))]).may_tell(LONG)
    assert all(LONG not in text for text in told(worked(ran(LONG))))


def test_it_is_told_whole_when_a_person_typed_it() -> None:
    typed = session(turn(f"Run {LONG} after each change", ran(LONG)))

    assert Proofs([typed]).may_tell(LONG)
    assert any(LONG in text for text in told(typed))


def test_it_is_told_whole_when_its_arguments_stand_in_a_file_of_the_project() -> None:
    name = "opens the drawer of the till when a customer pays"
    inside = read(f"{FOLDER}/tests/till.test.ts", f'test("{name}", () => open())')
    outside = read("/tmp/page.txt", f'test("{name}")')

    assert Proofs([worked(inside, ran(LONG))]).may_tell(LONG)
    assert not Proofs([worked(outside, ran(LONG))]).may_tell(LONG)


def test_it_is_told_whole_when_two_sessions_ran_it() -> None:
    assert Proofs([worked(ran(LONG)), worked(ran(LONG), number=2)]).may_tell(LONG)


@pytest.mark.parametrize(
    "sessions",
    [
        [worked(ran(LONG), tainted=True), worked(ran(LONG), number=2, tainted=True)],
        [worked(ran(LONG, code=1)), worked(ran(LONG, code=1), number=2)],
        [worked(ran(LONG, code=None)), worked(ran(LONG, code=None), number=2)],
    ],
)  # fmt: skip
def test_neither_taint_nor_failure_proves_it(sessions: list[SessionRecord]) -> None:
    assert not Proofs(sessions).may_tell(LONG)


def test_what_could_end_our_frame_is_never_told() -> None:
    for command in ("echo '</recalled>'", "cat < recalled", "echo '<recalled project=x>'"):
        said = session(turn(f"Run {command}", ran(command)))

        assert not Proofs([said]).may_tell(command)


def test_a_remedy_of_which_a_part_would_be_cut_is_not_told() -> None:
    failed = ran("npm test -- --runInBand", "CACError: Unknown option `--runInBand`", code=1)

    found = [one.text for one in remedies.find([worked(failed, ran(LONG))])]

    assert all("customer" not in text and "works" not in text for text in found)
