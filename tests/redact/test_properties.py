"""What holds for every text: redacting twice is redacting once, and both engines agree."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.redact import Redactor
from recollect.redact.contexts import CONTEXTS
from recollect.redact.shapes import INFIXES, SHAPES

# Random tokens of every row of the table, also a little too short or too long.
tokens = st.one_of(
    [
        st.from_regex(
            re.compile(
                f"{re.escape(row.prefix)}[{row.alphabet}]"
                f"{{{max(1, row.low - 1)},{(row.high or row.low) + 2}}}{row.tail}",
                re.A,
            ),
            fullmatch=True,
        )
        for row in SHAPES
    ]
    + [
        st.from_regex(
            re.compile(
                f"[{row.alphabet}]{{{row.low},{row.high + 1}}}{re.escape(row.mark)}{row.tail}", re.A
            ),
            fullmatch=True,
        )
        for row in INFIXES
    ]
    + [st.from_regex(re.compile(row.pattern(), re.A), fullmatch=True) for row in CONTEXTS]
)
NAMES = """
    token TOKEN apiKey api_key SECRET_KEY password db_password Authorization cookie client_id
    sumologic_accessid key auth max_tokens public_key
    kind Bearer login --password -u pass <accessToken
"""
names = st.sampled_from(NAMES.split())
joins = st.sampled_from(
    [
        ": ",
        "=",
        " = ",
        '": "',
        '\\": \\"',
        " := ",
        ">",
        " ",
        "://u:",
        ": Bearer ",
        ": Basic ",
        '", "',
        "",
        ":",
        "\n  value: ",
    ]
)
noise = st.text(
    st.sampled_from("ab9_-.=+/:;,@%&?#\"'`\\<>(){}[] \n\r\tné…\x0b\x00\ud800"), max_size=12
)
marks = st.sampled_from(
    [
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "kind: Secret\ndata:\n  a: ",
        "[REDACTED:jwt:0a1b2c3d]",
        "***",
        "\\n",
        "@host",
        "\x1b[31m",
    ]
)
texts = st.lists(st.one_of(tokens, names, joins, noise, marks), max_size=9).map("".join)

relaxed = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@relaxed
@given(texts)
def test_redacting_twice_changes_nothing_more(redactors: dict[str, Redactor], text: str) -> None:
    once = redactors["auto"].redact(text)

    assert redactors["auto"].redact(once) == once


@pytest.mark.store
@relaxed
@given(st.lists(texts, max_size=3))
def test_both_engines_give_the_same_answer(
    redactors: dict[str, Redactor], several: list[str]
) -> None:
    """Which wheels a machine has must not decide what it stores."""
    assert redactors["hyperscan"].redact_all(several) == redactors["python"].redact_all(several)


@pytest.mark.store
@relaxed
@given(st.lists(texts, max_size=4))
def test_strings_in_one_batch_do_not_see_each_other(
    redactors: dict[str, Redactor], several: list[str]
) -> None:
    together = redactors["auto"].redact_all(several)

    assert together == [redactors["auto"].redact(text) for text in several]


@relaxed
@given(texts)
def test_findings_are_apart_and_in_order(redactors: dict[str, Redactor], text: str) -> None:
    findings = redactors["auto"].findings(text)

    edges = [edge for finding in findings for edge in (finding.start, finding.end)]
    assert edges == sorted(edges)
    assert all(finding.start < finding.end <= len(text) for finding in findings)


@relaxed
@given(st.text())
def test_any_text_at_all_can_be_redacted(redactors: dict[str, Redactor], text: str) -> None:
    """Lone surrogates and control characters included."""
    assert redactors["auto"].redact(text) == redactors["python"].redact(text)
