"""One order, two lengths: what is sure is told first, and a pack may be short."""

from __future__ import annotations

from itertools import pairwise

from recollect.distill import finders, ranking
from recollect.distill.ranking import MemoryLines, tokens_of
from recollect.model.record import SessionRecord
from tests.builders.records import edited, ran, session, turn


def remembered(*sessions: SessionRecord) -> MemoryLines:
    return ranking.remember(finders.find(sessions), sessions)


def word(number: int) -> str:
    """A word that no other number has."""
    return "".join(
        "bdfgklmnprstvz"[number // 14**place % 14] + "aeiou"[(number + place) % 5]
        for place in range(4)
    )


def busy(number: int) -> SessionRecord:
    """A session that says a lot, most of it once."""
    names = [word(number * 100 + place) for place in range(60)]
    reply = "\n".join(
        f"- `{one}.py` must be closed before `{other}.py`, "
        f"because {one} only works with {other} of {one}{other}."
        for one, other in pairwise(names)
    )
    prompt = f"From now on, close {' and '.join(names[:4])} before {', '.join(names[4:8])}."
    calls = [ran("npm test"), ran(f"make {names[0]}"), edited(f"/w/{names[0]}.py")]
    return session(turn(prompt, *calls, reply=reply), number=number)


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- ")]


def test_the_pack_is_the_beginning_of_the_long_form() -> None:
    """Whoever reads the file finds what the agent was told."""
    memory = remembered(*map(busy, range(1, 9)))

    told = [line for line in lines(memory.pack()) if not line.startswith(("- Files", "- Also run"))]

    assert len(told) > 5
    assert set(told) <= set(lines(memory.long()))


def test_both_keep_within_their_tokens() -> None:
    memory = remembered(*map(busy, range(1, 25)))

    assert tokens_of(memory.pack()) <= 600
    assert 1_000 < tokens_of(memory.long()) <= 2_500
    assert all(len(line) <= 222 for line in lines(memory.long()))


def test_a_project_that_said_little_is_told_little() -> None:
    """Half of a pack that is always full is noise."""
    memory = remembered(session(turn("Have a look at the till, please", reply="It looks fine.")))

    assert lines(memory.pack()) == ["- Last asked: Have a look at the till, please"]


def test_what_was_said_twice_is_told_once() -> None:
    wish = "Never restart the till during the day."
    memory = remembered(*(session(turn(wish), number=number) for number in (1, 2, 3)))

    assert memory.pack().count("Never restart") == 1
    assert memory.lines[0].sessions == 3
    assert memory.lines[0].turns[0] == "claude-code:s3#1"


def test_what_says_nearly_the_same_is_told_once() -> None:
    """People ask for one thing with a typing error in it each time."""
    memory = remembered(
        session(turn("DO NOT CHANGE OTHER MODES."), number=1),
        session(turn("DO NOT CHANDE OTHER MODES."), number=2),
    )

    assert len(lines(memory.pack())) == 1


def test_a_persons_word_goes_before_an_agents() -> None:
    said = "The drawer must be closed because the scanner only works with port 4000."
    memory = remembered(session(turn("From now on, always close the drawer first.", reply=said)))

    assert [line.candidate.trust for line in memory.lines] == ["user", "assistant"]


def test_what_nobody_ran_for_long_is_taken_for_given_up() -> None:
    old = session(turn("Fix it", *[ran("docker compose up -d")] * 3), number=1)
    new = [session(turn("Fix it", ran("make serve")), number=number) for number in range(2, 20)]
    then, now = remembered(old), remembered(old, *new)

    assert "- Deploy: `docker compose up -d`" in lines(then.pack())
    assert "- Deploy: `docker compose up -d`" not in lines(now.pack())


def test_the_same_sessions_tell_the_same() -> None:
    """Sets have no order, and a memory that changes by itself is not trusted."""
    sessions = list(map(busy, range(1, 6)))
    candidates = list(finders.find(sessions))

    one = ranking.remember(candidates, sessions)
    other = ranking.remember(reversed(candidates), sessions)

    assert (one.pack(), one.long()) == (other.pack(), other.long())


def test_the_newer_statement_of_a_person_wins() -> None:
    """Both in the pack would send the next session both ways."""
    yes = turn("From now on, use the drawer for receipts.")
    no = turn("Never use the drawer for receipts.")

    then_no = remembered(session(yes, number=1), session(no, number=2))
    then_yes = remembered(session(no, number=1), session(yes, number=2))

    assert "From now on" not in then_no.long()
    assert "Never use the drawer" in then_no.pack()
    assert "Never use the drawer" not in then_yes.long()
    assert "From now on" in then_yes.pack()


def test_two_statements_about_different_things_stand_beside_each_other() -> None:
    """That one of them forbids, and both say "use" and "here", is no contradiction."""
    uv = turn("no, we use uv here, never pip.")
    tabs = turn("From now on, always use tabs here.")

    memory = remembered(session(uv, number=1), session(tabs, number=2))

    assert "never pip" in memory.pack()
    assert "use tabs here" in memory.pack()


def test_of_nearly_the_same_statement_the_newest_is_told() -> None:
    """The port changed; whoever said the old one has said the new one too."""
    said = "From now on use port {} for the till's development server, everywhere."
    memory = remembered(
        session(turn(said.format(3000)), number=1), session(turn(said.format(5050)), number=2)
    )

    assert "5050" in memory.pack()
    assert "3000" not in memory.long()


def test_only_what_is_sure_is_in_the_pack() -> None:
    """A button that somebody wanted is in the code; a rule is nowhere else."""
    wish = "I'd like to have a button on the till page for the clerk, instead of the link."
    memory = remembered(session(turn(wish), turn("And now look at the drawer, will you?")))

    assert "button" not in memory.pack()
    assert f'"{wish}"' in memory.long()
