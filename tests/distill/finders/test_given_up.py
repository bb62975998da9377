"""What people gave up is not told, although it worked before."""

from __future__ import annotations

import pytest

from recollect.distill import finders, ranking
from recollect.model.record import SessionRecord
from tests.builders.records import ran, session, turn


def pack(*sessions: SessionRecord) -> str:
    return ranking.remember(finders.find(sessions), sessions).pack()


def worked(command: str, number: int) -> SessionRecord:
    return session(turn("Fix the till, please", *[ran(command)] * 3), number=number)


@pytest.mark.parametrize(
    "said",
    [
        "remember: we use pnpm, never npm",
        "From now on use pnpm instead of npm.",
        "npm は廃止。今後は pnpm だけ使って。",
        "以后都用 pnpm，不要用 npm",
    ],
)
def test_commands_of_a_program_that_was_given_up_are_gone(said: str) -> None:
    """A pack that says "never npm" and then `npm test` sends the next session both ways."""
    before = [worked("npm test", 1), worked("npm test", 2)]

    assert "npm test" in pack(*before)
    assert "npm test" not in pack(*before, session(turn(said), number=3))


def test_one_forbidden_subcommand_leaves_the_others() -> None:
    found = pack(
        worked("npm install && npm test", 1),
        worked("npm test", 2),
        session(turn("Never run npm install yourself."), number=3),
    )

    assert "`npm test`" in found


def test_who_goes_back_to_it_has_changed_their_mind() -> None:
    said = session(turn("We use pnpm from now on, never npm."), number=2)
    later = [worked("npm test", number) for number in (3, 4)]

    assert "npm test" in pack(worked("npm test", 1), said, *later)


def test_the_block_does_not_name_it_either() -> None:
    said = session(turn("server は docker を廃止。"), number=2)

    assert "docker" not in pack(worked("docker compose up -d", 1), said).replace("docker を", "")
