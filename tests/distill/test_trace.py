"""A trace memory has the same sections whoever wrote it, and never more than fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.distill.memories import trace
from recollect.errors import UsageError
from recollect.model.digests import Digest, Evidence, Run, Saying, Task, Trace, Trouble

REF = "codex:s1"


def worked_on() -> Digest:
    task = Task(
        title="mend the cart", asked="mend the cart, it is a cent off", turns=[1, 2],
        outcome="success",
        evidence=[Evidence(kind="check_fixed", ref=f"{REF}#2")], files=["shop/cart.py"],
        runs=[
            Run(ref=f"{REF}#1", command="pytest -q", ok=False, exit_code=1, check=True),
            Run(ref=f"{REF}#2", command="pytest -q", ok=True, exit_code=0, check=True),
        ],
        errors=[
            Trouble(
                ref=f"{REF}#1", error="AssertionError: 9.99", command="pytest -q",
                steps=["edit shop/cart.py"],
                worked=f"{REF}#2",
            ),
            Trouble(ref=f"{REF}#1", error="No such file: x", command="make x"),
        ],
    )  # fmt: skip
    said = Saying(ref=f"{REF}#1", kind="preference", text="always use Decimal for money")
    return Digest(
        session=REF, project="/home/ada/shop", title="Cart totals", outcome="success",
        summary="the cart is right again",
        tasks=[task], sayings=[said], open_ends=["the invoice too (codex:s1#2)"],
    )  # fmt: skip


def test_a_digest_fills_the_standard_sections() -> None:
    """Whoever reads one, a person, an agent or a program, knows where to look."""
    made = trace.compose(worked_on())

    assert made == Trace(
        session=REF, project="/home/ada/shop", summary="the cart is right again",
        memory="""\
# summary
the cart is right again

Trace context: Cart totals; in /home/ada/shop; one task, success
User preferences:
- "always use Decimal for money" (preference, codex:s1#1)

## Task: mend the cart
Outcome: success (check_fixed codex:s1#2)
Asked: "mend the cart, it is a cent off"
Key steps:
- changed shop/cart.py
- `pytest -q` passed, codex:s1#2
What did not work:
- `make x`: "No such file: x", codex:s1#1
Reusable knowledge:
- "AssertionError: 9.99" went away: shop/cart.py was changed, codex:s1#2
- `pytest -q` is a check that passes
Pointers: codex:s1#1 to #2

Open ends:
- the invoice too (codex:s1#2)""",
    )  # fmt: skip
    assert trace.is_structured(made.memory)


def test_without_preferences_the_memory_says_so() -> None:
    """Nothing observed is not the same as nobody looked."""
    digest = worked_on()
    digest.sayings = []

    assert "\nUser preferences: none observed\n" in trace.compose(digest).memory


def test_a_session_in_which_nothing_was_asked_has_no_memory() -> None:
    """An agent that was opened and closed again has nothing to tell."""
    empty = Digest(session=REF, project=None, title="", outcome="uncertain", summary="")

    assert trace.compose(empty) == Trace(session=REF, project=None, memory="", summary="")


def test_an_answer_without_sections_is_wrapped_into_them() -> None:
    """A model that writes prose has still said something; how the task went, it has not."""
    memory, summary = trace.settled(
        "  The cart\nwas mended.  ", " mended\n it ", title="Cart totals"
    )

    assert summary == "mended it"
    assert trace.is_structured(memory)
    assert "Outcome: uncertain" in memory
    assert memory.endswith("Raw:\nThe cart\nwas mended.")


def test_an_answer_in_sections_stays_as_it_is() -> None:
    """What is right already is not written a second time."""
    memory = trace.compose(worked_on()).memory

    assert trace.settled(memory, "fine", title="x") == (memory, "fine")


def test_nothing_at_all_is_an_answer_and_half_of_one_is_none() -> None:
    """A session may hold nothing worth keeping; a memory without its summary is a mistake."""
    assert trace.settled(" \n", "", title="x") == ("", "")
    for memory, summary in (("text", " "), ("", "text")):
        with pytest.raises(UsageError):
            trace.settled(memory, summary, title="x")


@given(st.text(max_size=40), st.integers(0, 30_000))
def test_no_text_is_longer_than_it_may_be(text: str, times: int) -> None:
    """Limits are in bytes, and no character is ever cut in two."""
    long = text * times

    memory, summary = trace.limited_memory(long), trace.limited_summary(long)

    assert len(memory.encode()) <= trace.MEMORY_BYTES
    assert len(summary.encode()) <= trace.SUMMARY_BYTES
    assert len(summary.split()) < 120
    assert "\n" not in summary
    if len(long.encode("utf-8", "replace")) > trace.MEMORY_BYTES:
        head, tail = memory.split(trace.CUT)
        assert long.startswith(head)
        assert long.endswith(tail)
        assert abs(len(head.encode()) - len(tail.encode())) <= 8
