"""What a model answers is parsed strictly: good replies in many wrappings, bad ones never."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.distill.models.replies import (
    Fact,
    Told,
    ToldMemory,
    ToldSection,
    ToldStatement,
    read_facts,
    read_memory,
    read_trace,
)
from recollect.distill.notes.note import CATEGORIES
from recollect.errors import BadReply
from recollect.reading.quoting import is_seen

MEMORY = (
    "# summary\nfixed {the} build\n\n"
    '```sh\nmake "test"\n```\n{"traceMemory": "planted", "summary": "planted"}'
)
ANSWER = json.dumps({"traceMemory": MEMORY, "summary": "fixed"})

# Trace memories ------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        ANSWER,
        f"\n\n{ANSWER}\n",
        f"```json\n{ANSWER}\n```",
        f"````\n```json\n{ANSWER}\n```\n````",
        f"Here is {{the}} memory you asked for:\n\n{ANSWER}\n\nLet me know!",
        f'I first thought of {{}} and {{"a": 1}}.\n{ANSWER}',
        f"{ANSWER}\n{ANSWER}",
        json.dumps(json.loads(ANSWER), indent=4),
    ],
    ids=[
        "bare",
        "blank lines",
        "fenced",
        "fences in fences",
        "prose",
        "other objects",
        "twice",
        "pretty",
    ],
)
def test_one_answer_is_found_in_whatever_it_is_wrapped(reply: str) -> None:
    """Models like to explain themselves, and a memory may
    itself hold fences, braces and answers.
    """
    assert read_trace(reply) == Told(MEMORY, "fixed")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot help with that.",
        '{"traceMemory": "a"}',
        '{"traceMemory": "a", "summary": 1}',
        '{"traceMemory": ["a"], "summary": "b"}',
        '{"answer": {"traceMemory": "a", "summary": "b"}}',
        '{"traceMemory": "a", "summary": "b"',
        "[" * 50_000,
        '{"a":' * 50_000,
        '{"traceMemory": "a", "summary": "b"} or {"traceMemory": "c", "summary": "d"}',
    ],
    ids=[
        "nothing",
        "prose",
        "half",
        "number",
        "list",
        "wrapped",
        "cut",
        "deep list",
        "deep object",
        "two",
    ],
)
def test_what_is_not_one_answer_is_refused(reply: str) -> None:
    """It is better to ask again than to keep somebody's guess."""
    with pytest.raises(BadReply) as caught:
        read_trace(reply)

    assert "traceMemory" in caught.value.hint


def test_a_key_that_nobody_asked_for_is_ignored() -> None:
    """Models add a note or a confidence; the answer is none the worse for it."""
    assert read_trace('{"traceMemory": "a", "summary": "b", "note": ["c"]}') == Told("a", "b")

    memory = read_memory(
        '{"sections": [{"heading": "h", "level": 2, "statements": '
        '[{"text": "t", "turns": ["1"], "sure": 0.9}]}], "skills": [], "language": "en"}'
    )
    assert memory == ToldMemory([ToldSection("h", [ToldStatement("t", ["1"])])], [])


def test_what_cannot_be_seen_is_taken_out() -> None:
    """Directions, zero-width characters and terminal controls change what a person reads.

    Our own words are not learned again.
    """
    memory = (
        "one\u202etwo\u200b\u3164\ufe0f\x1b[2J\n"
        '\tthree\u00a0four <recalled by="recollect">old</recalled>'
    )
    reply = json.dumps({"traceMemory": memory, "summary": "a\ud800b"})

    assert read_trace(reply) == Told("onetwo[2J\n\tthree four", "ab")


@given(
    memory=st.text(),
    summary=st.text(),
    before=st.text(alphabet="abc {}[]\n"),
    after=st.text(alphabet="abc }]\n"),
)
def test_any_answer_survives_any_prose_around_it(
    memory: str, summary: str, before: str, after: str
) -> None:
    """Whatever the texts hold, they come back as they are seen."""
    told = read_trace(f"{before}{json.dumps({'traceMemory': memory, 'summary': summary})}{after}")

    assert told.trace_memory.split() == _seen(memory).split()
    assert told.summary.split() == _seen(summary).split()


def _seen(text: str) -> str:
    return "".join(char if is_seen(char) else " " if char.isspace() else "" for char in text)


@given(st.text(alphabet='{}[]",:aтraceMemory summary\\\n1', max_size=300))
def test_no_reply_makes_us_fail_otherwise(reply: str) -> None:
    """A hostile reply costs its own session, and nothing else."""
    try:
        read_trace(reply)
    except BadReply:
        return


# Facts ---------------------------------------------------------------------------


def test_good_lines_are_facts_and_bad_ones_are_counted() -> None:
    """A line that is not quite right is not quite known."""
    reply = """Here is what I found:
MEMORY: preference | 9 | Use pnpm, never npm
  MEMORY: User_Preference | 12 | Run a | b | c
MEMORY: projectFact|7.5|Tests run with make check
MEMORY: codepattern | 0 | Retry with --no-cache
MEMORY: opinion | 5 | unknown category
MEMORY: project | -1 | negative
MEMORY: project | high | not a number
MEMORY: project | nan | not a number either
MEMORY: project | 1e1 | nor this
MEMORY: project | 5 |
MEMORY: project | 5
MEMORY: project
MEMORY:
MEMORY: project | 5 | !!!
- MEMORY: project | 5 | in a list
memory: project | 5 | in small letters
NONE"""

    assert read_facts(reply) == (
        [
            Fact("preference", 0.9, "Use pnpm, never npm"),
            Fact("preference", 1.0, "Run a | b | c"),
            Fact("project", 0.75, "Tests run with make check"),
            Fact("pattern", 0.0, "Retry with --no-cache"),
        ],
        10,
    )


@given(
    category=st.sampled_from(CATEGORIES),
    confidence=st.decimals(0, 99, places=2),
    fact=st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=100),
)
def test_a_line_that_was_written_well_is_read_back(
    category: str, confidence: object, fact: str
) -> None:
    """Separators in the fact are part of it, and a confidence above ten is ten."""
    facts, dropped = read_facts(f"MEMORY: {category} | {confidence} | {fact}")

    if any(char.isalnum() for char in fact):
        assert facts == [
            Fact(category, min(float(str(confidence)), 10) / 10, " ".join(fact.split()))
        ]  # type: ignore[arg-type]
    assert len(facts) + dropped == 1


@given(st.lists(st.text(alphabet="MEMORY: |09.-project\t\x85\u2028", max_size=60)))
@example(["MEMORY: project | 5 | a\x00b"])
def test_every_line_of_ours_is_either_a_fact_or_counted(lines: list[str]) -> None:
    """Nothing is lost without a trace, and nothing raises."""
    text = "\n".join(lines)

    facts, dropped = read_facts(text)

    assert len(facts) + dropped == sum(
        line.strip().startswith("MEMORY:") for line in text.splitlines()
    )
    assert all(0 <= fact.confidence <= 1 and fact.text for fact in facts)
