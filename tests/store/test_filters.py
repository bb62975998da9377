"""Filters and words against a real store: what passes, and that
nothing anybody types can break a query.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.logs import Event, Item, SessionFacts, ToolKind
from recollect.model.search import CHOICES, FILTERS, MOST_VALUES, Scope
from recollect.recall.asking import remarks
from recollect.recall.query import parse
from recollect.store.sqlite.search import filters
from recollect.store.sqlite.search.chosen import chosen_turns
from recollect.store.sqlite.usage import UsageSums
from tests.store.conftest import START, Filled, facts, turn

DOMAINS = {"work": ["/home/ada/*"], "empty": []}


def touched(session: str, key: str, *paths: str, kind: ToolKind = "edit") -> list[Item]:
    """Files that a turn read or changed."""
    return [
        Event(
            session=session, turn=key, kind="tool_call", at=START, call=f"{key}:{path}",
            name="apply_patch",
            tool_kind=kind, target=path, input={},
        )
        for path in paths
    ]  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """Three sessions of two agents; nothing here writes to it."""
    made = Filled(tmp_path_factory.mktemp("filters") / "recollect.db")
    made.keep(
        "a.jsonl",
        facts(
            "a",
            cwd="/home/ada/WebShop",
            git_branch="fix/cart",
            meta={"source": "cli", "tags": ["slow", "CI"], "dirty": True},
        ),
        *turn("a", "k1", "the deadlock in the migration", cwd="/home/ada/WebShop"),
        *touched(
            "a", "k1", "src/http_client.ts", "README.md, docs/My, file.txt, src/api/client.ts"
        ),
        *turn("a", "k2", "make it faster", cwd="/home/ada/WebShop", minute=60 * 24),
        *touched("a", "k2", "/home/ada/WebShop/secret.log", kind="search"),
    )
    made.keep(
        "b.jsonl",
        facts(
            "b",
            cwd="/srv/shop",
            origin="subagent",
            meta={"git.branch": "odd", "deep": {"er": {"n": 7}}},
        ),
        *turn("b", "k3", "the deadlock again", cwd="/srv/shop", minute=60 * 24 * 31),
        *touched("b", "k3", r"C:\work\src\api\Client.ts", kind="read"),
        agent="claude-code",
    )
    made.keep(
        "c.jsonl",
        SessionFacts(session="c"),
        Event(session="c", turn="k4", kind="prompt", text="nowhere, never"),
    )
    yield made
    made.close()


@pytest.fixture
def memory(store: Filled) -> Iterator[Memory]:
    """The front door to the same store."""
    with Memory.open(store.path) as mind:
        yield mind


def passing(store: Filled, text: str) -> str:
    """The turns that a text chooses, by their keys."""
    clause, values = chosen_turns(Scope(parse(text), DOMAINS))
    rows = store.db.rows(
        "select native_id || ordinal from turns join sessions on sessions.id = turns.session "
        f"where {clause} order by 1",
        values,
    )
    return " ".join(name for (name,) in rows)


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("agent:codex", "a1 a2 c1"),
        ("agent:CODEX", "a1 a2 c1"),
        ("agent:claude", "b1"),
        ("agent:c*", "a1 a2 b1 c1"),
        ("agent:code", ""),
        ("-agent:codex", "b1"),
        ("project:webshop", "a1 a2"),
        ("project:shop", "b1"),
        ("project:*shop", "a1 a2 b1"),
        ("project:/srv/shop/", "b1"),
        ("project:[w]ebshop", ""),
        ("-project:shop", "a1 a2 c1"),
        ("session:a", "a1 a2"),
        ("session:codex:a", "a1 a2"),
        ("session:codex:", "a1 a2 c1"),
        ("session:a session:c", "a1 a2 c1"),
        ("domain:work", "a1 a2"),
        ("-domain:work", "b1 c1"),
        ("domain:empty", ""),
        ("domain:nobody", ""),
        ("file:client.ts", "a1 b1"),
        (r"file:api\client.ts", "a1 b1"),
        ("file:./src/api/client.ts", "a1 b1"),
        ("file:lient.ts", ""),
        ("file:http_client.ts", "a1"),
        ("file:http?client.ts", "a1"),
        ("file:readme.md", "a1"),
        ('file:"docs/My, file.txt"', "a1"),
        ("file:src/api", ""),
        ("file:src/api/*", "a1 b1"),
        ("file:secret.log", ""),
        ("file:*", "a1 b1"),
        ("tool:shell", "a1 a2 b1"),
        ("tool:EDIT", "a1"),
        ("tool:apply_*", "a1 a2 b1"),
        ("model:GPT", "a1 a2 b1"),
        ("-model:gpt", "c1"),
        ("since:2026-01-02", "a2 b1"),
        ("since:2026-02", "b1"),
        ("until:2026-01", "a1 a2"),
        ("until:2026-01-01", "a1"),
        ("-since:2026-01-02", "a1 c1"),
        ("is:subagent", "b1"),
        ("-is:subagent -is:error", "a1 a2 c1"),
        ("is:human IS:Live", "a1 a2 b1 c1"),
        ("outcome:success", ""),
        ("-outcome:success", "a1 a2 b1 c1"),
        ("meta.source:CLI", "a1 a2"),
        ("meta.source:*", "a1 a2"),
        ("-meta.source:cli", "b1 c1"),
        ("meta.tags:slow", "a1 a2"),
        ("meta.tags:c?", "a1 a2"),
        ("meta.dirty:true", "a1 a2"),
        ("meta.git.branch:fix/*", "a1 a2"),
        ("meta.git.branch:odd", "b1"),
        ("meta.deep.er.n:7", "b1"),
        ("meta.deep.nothing:7", ""),
        ("meta.cwd:/srv/*", "b1"),
        ("agent:codex project:webshop since:2026-01-02", "a2"),
    ],
)
def test_a_filter_chooses_turns(store: Filled, text: str, turns: str) -> None:
    """Values of a name are alternatives, names add up, a minus leaves out.

    What is unknown passes only a minus.
    """
    assert passing(store, text) == turns


@pytest.mark.parametrize(
    ("text", "sessions"),
    [
        ("", ["b", "a", "c"]),
        ("deadlock", ["b", "a"]),
        ("deadlock migration", ["a"]),
        ("deadlock faster", []),
        ('"deadlock again"', ["b"]),
        ("deadl*", ["b", "a"]),
        ("deadlock -migration", ["b"]),
        ("-deadlock", ["a", "c"]),
        ("deadlock agent:codex", ["a"]),
        ("faster is:subagent", []),
        ("☃", []),
        ("☃ agent:codex", ["a", "c"]),
        ("-☃", ["b", "a", "c"]),
        ("☃ deadlock", ["b", "a"]),
    ],
)
def test_words_and_filters_choose_sessions_and_what_is_summed(
    store: Filled, text: str, sessions: list[str]
) -> None:
    """A session is listed, exported or counted because one of its turns
    has all of the query, newest first.
    """
    query = parse(text)

    listed = [
        session.native_id
        for session in store.store.sessions.search(Scope(query, DOMAINS), limit=None)
    ]
    exported = [
        session["native_id"] for session in store.store.sessions.export(Scope(query, DOMAINS))
    ]
    counted = sum(row.sessions for row in UsageSums(store.db).sums("all", Scope(query, DOMAINS)))

    assert listed == sessions
    assert sorted(exported) == sorted(sessions)
    assert counted == len(sessions)


def test_a_list_can_be_read_in_pages(store: Filled) -> None:
    """`--limit` and `--offset` cut the same list."""
    pages = [
        list(store.store.sessions.search(Scope(parse("is:human"), DOMAINS), limit=1, offset=page))
        for page in range(4)
    ]

    assert [[session.native_id for session in page] for page in pages] == [["b"], ["a"], ["c"], []]


def test_every_filter_of_the_language_is_one_of_the_store() -> None:
    """A name in the table that the store does not know would be an error in somebody's search."""
    values = {"since": "7d", "until": "7d"}
    every = {name: [*CHOICES.get(name, (values.get(name, "x"),))] for name in FILTERS}

    clause, bound = filters.conditions({**every, "meta.x": ["x"]}, DOMAINS)

    assert clause.count("?") == len(bound)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"agnet": ["x"]}, 'There is no filter "agnet".'),
        ({"meta.": ["x"]}, 'There is no filter "meta.".'),
        ({"-": ["x"]}, 'There is no filter "".'),
        ({"is": ["opne"]}, "There is no is:opne."),
        ({"outcome": ["great"]}, "There is no outcome:great."),
        ({"since": ["banana"]}, '"banana" is not a date.'),
        ({"project": [""]}, "project: has nothing to look for."),
        ({"project": ["x" * 1_001]}, "project: has 1001 characters to look for."),
        ({"file": ["x"] * (2 * MOST_VALUES + 1)}, "Too many filters."),
    ],
)
def test_a_named_filter_that_cannot_be_is_refused(
    given: dict[str, list[str]], message: str
) -> None:
    """An option is no text: who gives one means it, and hears what is wrong with it."""
    with pytest.raises(UsageError) as refused:
        filters.conditions(given, DOMAINS)

    assert str(refused.value) == message
    assert refused.value.hint


def test_what_nothing_can_pass_is_remarked_on(store: Filled) -> None:
    """An empty answer alone would say that there is nothing; the remark says why."""
    asked = Scope(parse("is:opne -outcome:fail domain:work domain:nobody x"), DOMAINS)

    assert remarks(store.store, asked) == [
        "is:opne was searched as text, because is: takes error, human, live, "
        "subagent, headless, external.",
        "Sessions without an outcome: 3. Work it out now: recollect jobs run",
        'There is no domain "nobody". Domains: work, empty',
    ]
    assert remarks(store.store, Scope(parse("deadlock agent:codex domain:work"), DOMAINS)) == []


# Whole words of the language, and text that is special to SQLite, FTS5, JSON paths or globs.
PIECES = st.sampled_from(
    [*(f"{name}:" for name in FILTERS), "meta.a.b:", "meta.a..b:", "meta.-:", "is:error",
    "since:9999-12-31", "until:9999-12",
     "deadlock", " ", " ", " ", "-", '"', "*", "?", "[", "]", "^", "(", ")", "{", "}", ":", "AND",
     "OR", "NOT", "NEAR(a b, 3)",
     "prompt:", "+", "'", "\\", "%", "$.", "#", "\0", "\ud800", "☃", "界", "é", "\n", "0", "7d"]
)  # fmt: skip
TYPED = st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(TYPED)
def test_whatever_a_person_types_is_answered(memory: Memory, text: str) -> None:
    """Never an error: not ours, and not one of SQLite's about a syntax that nobody promised."""
    hits, sessions = list(memory.search(text, limit=5)), list(memory.sessions(text))

    assert {hit.session for hit in hits} <= {"codex:a", "claude-code:b", "codex:c"}
    assert {session.id for session in sessions} <= {"codex:a", "claude-code:b", "codex:c"}
    assert len(memory.remarks(text)) <= 3 + len(parse(text).filters) + text.count("domain:")


@pytest.mark.parametrize(
    "text",
    [
        "deadlock " * 11_000, '"' * 100_000, "(" * 100_000, "a" * 100_000, "/a" * 50_000,
        ':"' * 50_000, "-x " * 33_000,
        " ".join(f"w{number}" for number in range(15_000)),
        " ".join(f"file:{number}" for number in range(9_000)),
        " ".join(f"-meta.k{number}:v" for number in range(6_000)), "file:" + "x" * 100_000,
        "is:error " * 11_000,
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_a_hundred_thousand_characters_are_a_query(memory: Memory, text: str) -> None:
    """Somebody will paste a whole log."""
    hits, sessions = list(memory.search(text, limit=2)), list(memory.sessions(text, limit=2))

    assert len(hits) <= 2
    assert len(sessions) <= 2
