"""What people type, and the query it stands for."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model.search import FILTERS, LONGEST_VALUE, MOST_VALUES, Query, Term
from recollect.recall.query import parse
from recollect.system.clock import find_moment


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", Query()),
        ("lock  timeout\n", Query([Term("lock"), Term("timeout")])),
        ("lock lock", Query([Term("lock")])),
        ('"lock timeout" now', Query([Term("lock timeout", quoted=True), Term("now")])),
        ("migrat*", Query([Term("migrat", prefix=True)])),
        ("-staging", Query([Term("staging", negated=True)])),
        ('-"on staging"', Query([Term("on staging", negated=True, quoted=True)])),
        ("git push -f", Query([Term("git"), Term("push"), Term("-f")])),
        ("rm -rf dist", Query([Term("rm"), Term("-rf"), Term("dist")])),
        ('maps -"go"', Query([Term("maps"), Term("go", negated=True, quoted=True)])),
        ("agent:codex", Query(filters={"agent": ["codex"]})),
        ("Agent:codex x", Query([Term("x")], {"agent": ["codex"]})),
        ("agent:codex agent:grok agent:grok", Query(filters={"agent": ["codex", "grok"]})),
        ("agent:a -agent:b", Query(filters={"agent": ["a"], "-agent": ["b"]})),
        ('project:"my shop" x', Query([Term("x")], {"project": ["my shop"]})),
        ("meta.git.branch:main", Query(filters={"meta.git.branch": ["main"]})),
        (r"file:src\api\client.ts", Query(filters={"file": [r"src\api\client.ts"]})),
        ("since:2026-10 until:7d", Query(filters={"since": ["2026-10"], "until": ["7d"]})),
        ("is:error outcome:Fail", Query(filters={"is": ["error"], "outcome": ["Fail"]})),
    ],
)
def test_a_text_means_terms_and_filters(text: str, query: Query) -> None:
    """The whole language, by example."""
    assert parse(text) == query


@pytest.mark.parametrize(
    "text",
    [
        "std::vector", "File::open", "http://x.org/a", "file:///etc/hosts", "TypeError:", "a:b:c",
        "agent:", 'agent:""', "-",
        "--no-verify", "AND", "NEAR(a", "^x", "{", '"lock', "☃", "\ud800", "\0", "meta.:x",
        'meta.a"b:x', "file:" + "x" * 1_001,
    ],
)  # fmt: skip
def test_what_only_looks_like_a_query_is_text(text: str) -> None:
    """People paste errors, code and command lines, and want to find them."""
    assert parse(text) == Query([Term(text)])


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        (
            "is:opne",
            "is:opne was searched as text, because is: takes error, human, live, subagent, "
            "headless, external.",
        ),
        (
            "outcome:great",
            "outcome:great was searched as text, because outcome: takes success, partial, fail, "
            "uncertain, abandoned.",
        ),
        (
            "until:forever",
            "until:forever was searched as text, because"
            " until: takes a date such as 2026-11-18, "
            "yesterday or 3d.",
        ),
    ],
)
def test_a_slip_is_searched_as_text_and_remarked_on(text: str, remark: str) -> None:
    """It may be a typing mistake or part of a log; only the person knows."""
    assert parse(text) == Query([Term(text)], remarks=[remark])


def test_a_pasted_page_does_not_become_a_hundred_remarks() -> None:
    """The answer would scroll away."""
    query = parse(" ".join(f"is:{number}" for number in range(20)))

    assert len(query.terms) == 20
    assert len(query.remarks) == 3


ISSUE = """`spawn` fails with "bad file descriptor": -x is ignored

tool:Bash says: file:src/app.ts (line 3) since:2026 [E0308] "quoted
"""


@pytest.mark.parametrize(
    "text", [ISSUE, " ".join(f"word{number}" for number in range(30)) + ' tool:Bash -x "a b" c*']
)
def test_what_is_pasted_is_text_whatever_signs_it_has(text: str) -> None:
    """Nobody types filters into a page; a phrase in one would leave out the answer."""
    query = parse(text)

    assert query.terms == [Term(word) for word in dict.fromkeys(text.split())]
    assert query.filters == {}
    assert query.remarks[0] == (
        "This is long, so tool:Bash in it was searched as text. "
        "To filter, write fewer words or use an option."
    )


def test_a_short_query_with_a_known_filter_is_typed() -> None:
    """However many filters it has, and with the newline that a pipe adds."""
    filters = " ".join(f"file:{number}.py" for number in range(40))

    query = parse(f'why "lock timeout" -staging {filters}\n')

    assert len(query.filters["file"]) == 40
    assert query.terms == [
        Term("why"), Term("lock timeout", quoted=True), Term("staging", negated=True)
    ]  # fmt: skip


def test_more_filters_than_a_store_can_take_are_text() -> None:
    """SQLite refuses expressions that are too deep; a person never types so many."""
    query = parse(" ".join(f"file:{number}.py" for number in range(MOST_VALUES + 5)))

    assert query.filters == {"file": [f"{number}.py" for number in range(MOST_VALUES)]}
    assert query.terms == [
        Term(f"file:{number}.py") for number in range(MOST_VALUES, MOST_VALUES + 5)
    ]


def test_named_filters_join_those_of_the_text() -> None:
    """`search x agent:codex --agent grok` asks for either; the first query stays as it was."""
    query = parse("x agent:codex is:opne")

    more = query.having(agent=["grok", "amp"], project="shop", tool=None, model=[])

    assert more == Query(
        query.terms, {"agent": ["codex", "grok", "amp"], "project": ["shop"]}, query.remarks
    )
    assert query.filters == {"agent": ["codex"]}


@given(
    st.text()
    | st.lists(st.sampled_from(['"', "-", ":", "*", " ", "is", "since", "meta.", "a", "//"])).map(
        "".join
    )
)
def test_every_text_is_a_query(text: str) -> None:
    """There is no syntax, so there is no syntax error.

    Nothing is lost but signs and white space.
    """
    query = parse(text)

    kept = [term.text for term in query.terms] + [
        f"{name}{values}" for name, values in query.filters.items()
    ]
    assert {char for char in text.casefold() if char.isalnum()} <= set("".join(kept).casefold())
    assert all(term.text for term in query.terms)
    assert all(
        value and len(value) <= LONGEST_VALUE
        for values in query.filters.values()
        for value in values
    )


@given(
    st.sampled_from(sorted(set(FILTERS) - {"is", "outcome", "since", "until"})),
    st.text("ab c/\\.*?[", min_size=1),
)
def test_any_value_can_be_given_in_quotes(name: str, value: str) -> None:
    """What a list prints can be filtered by, with blanks in it too."""
    wanted = value.strip()
    taken = bool(wanted) and not wanted.startswith("//")

    assert (parse(f'{name}:"{value}"') == Query(filters={name: [wanted]})) == taken


@given(
    st.text(max_size=12)
    | st.from_regex(r"\A\d{4}(-\d\d(-\d\d(T\d\d:\d\d)?)?)?\Z|\A\d{1,12}[mhdw]\Z"),
    st.booleans(),
)
def test_whatever_is_a_time_fits_into_the_store(text: str, end: bool) -> None:
    """Neither the year 9999 nor a billion weeks may break a filter."""
    found = find_moment(text, end=end)

    assert found is None or -(1 << 62) < found < 1 << 62


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ("2026", "2026-01-01", "2027-01-01"),
        ("2026-12", "2026-12-01", "2027-01-01"),
        ("2028-02", "2028-02-01", "2028-03-01"),
        ("2026-10-31", "2026-10-31", "2026-11-01"),
        ("2026-10-31T12:00", "2026-10-31T12:00", "2026-10-31T12:00"),
        ("2026-10-31T12:00+02:00", "2026-10-31T10:00", "2026-10-31T10:00"),
    ],
)
def test_a_period_begins_and_ends(text: str, begin: str, end: str) -> None:
    """`until:2026-10` includes all of October."""

    def at(day: str) -> int:
        return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)

    assert (find_moment(text), find_moment(text, end=True)) == (at(begin), at(end))


def test_an_age_counts_back_from_now() -> None:
    """`since:7d` is what people type most."""
    now = time.time() * 1000

    assert find_moment("7d") == pytest.approx(now - 7 * 86_400_000, abs=60_000)
    assert find_moment("90m") == pytest.approx(now - 90 * 60_000, abs=60_000)
    assert find_moment("today") == find_moment("yesterday", end=True)
