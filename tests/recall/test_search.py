"""Searching a real store by words, by meaning and by both."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.model.search import FILTERS
from recollect.recall import rank
from tests.builders.talks import DAY, SHOP, Said, Talks, names
from tests.builders.work import Remember, Work
from tests.store.conftest import START

MODES = ("text", "vector", "hybrid")
NOW = START + 30 * DAY


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talks]:
    """Some work on a shop and on an orchard, embedded; nothing here writes to it."""
    made = Talks(tmp_path_factory.mktemp("shop"))
    made.tell(
        "a",
        "the migration hits a lock timeout on the orders table",
        Said(
            "ok",
            reply="Two workers take the rows in another order.",
            command="psql -c 'select * from pg_locks'",
        ),
        "show the timeout of every lock",
        "rename the column price to amount",
    )
    made.tell(
        "b",
        "parseRolloutFile in src/capture/adapters/codex.py is slow",
        Said(
            "run the tests",
            command="pytest -q tests/capture",
            output="E   AssertionError: 503 != 200",
            ok=False,
        ),
        "make the login button blue",
        "数据库死锁了怎么办",
        day=3,
    )
    made.tell(
        "o",
        *[f"prune apple tree number {number}" for number in range(1, 13)],
        project="/home/kim/orchard",
        agent="grok",
    )
    yield made.embed()
    made.close()


# Words


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("migration lock", "a1"),
        ("ordered timeouts", "a1"),
        ('"timeout of"', "a3"),
        ("parse_rollout", "b1"),
        ("rollout", "b1"),
        ("RolloutFile", "b1"),
        ("adapters/codex.py", "b1"),
        ("capture/adapters/codex.py", "b1"),
        ("migrat*", "a1"),
        ("AssertionError: 503 != 200", "b2"),
        ("死锁", "b4"),
        ("数据库", "b4"),
        ("pg_locks", "a2"),
        ("how do we do it with the login", "b3"),
    ],
)
@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_what_a_person_remembers_of_it_finds_a_turn(
    shop: Talks, mode: str, text: str, first: str
) -> None:
    """A word, an identifier's part, a path's end, a stem, a beginning, an error line."""
    assert shop.find(text, mode=mode)[0] == first


NAMES = ("OpenGL", "GitHub", "macOS", "AudioWorklet", "GraphQL", "parseRolloutFile", "HTTPServer")


@pytest.mark.parametrize("name", NAMES)
def test_names_are_found_in_any_case(talks: Talks, name: str) -> None:
    """People type in small letters what a log writes with humps, and the other way round."""
    writings = [name, name.lower(), name.upper()]
    talks.tell("a", "prune the apple tree", *[f"look at {one} again" for one in writings])

    for asked in [*writings, name[:1].lower() + name[1:]]:
        found = talks.memory.search(asked, mode="text")

        assert (set(names(found)), found.relaxed) == ({"a2", "a3", "a4"}, False), asked
        assert names(talks.memory.search(f'"{asked} again"', mode="text")) != [], asked


@pytest.mark.parametrize(
    ("literal", "said", "others"),
    [
        (
            "端口占用表",
            "请更新端口占用表",
            ["这张表里的用户占了一个端口", "端午节的口号", "占用多少内存", "用表格写"],
        ),
        (
            "ポート番号",
            "ポート番号を変えて",
            ["番組のポーズ、信号とレポート", "ノートの番号", "サポートします"],
        ),
        (
            "포트충돌",
            "포트충돌을 고쳐 줘",
            ["충전 포도 돌", "포트를 열어 줘", "충돌이 났다"],
        ),
    ],
)
@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_a_literal_in_a_script_without_spaces_is_its_best_hit(
    talks: Talks, mode: str, literal: str, said: str, others: list[str]
) -> None:
    """Its characters are in every other turn; side by side they are in one."""
    talks.tell("a", *others, said, *[f"{other}。" for other in others]).embed()
    where = f"a{len(others) + 1}"

    assert talks.find(literal, mode=mode)[0] == where
    assert talks.find(f'"{literal}"', mode=mode) == [where]


@pytest.mark.parametrize("char", ["端", "口", "表", "を", "충"])
def test_a_single_character_is_found_wherever_it_stands(talks: Talks, char: str) -> None:
    """At the beginning, in the middle and at the end of what has no spaces."""
    talks.tell("a", f"{char}用占", f"占{char}用", f"用占{char}", f"go {char} now", "占用")

    assert set(talks.find(char, mode="text")) == {"a1", "a2", "a3", "a4"}
    assert set(talks.find(f'"{char}"', mode="text")) == {"a1", "a2", "a3", "a4"}
    assert talks.find(f"占用 -{char}", mode="text") == ["a5"]


def test_all_words_of_a_short_query_are_meant(talks: Talks) -> None:
    """Two words were chosen.

    Turns with one of them are shown when no turn has both, and the answer says so.
    """
    talks.tell("a", "lock " * 10, "lock", "a lock with a timeout", "timeout", "elsewhere")

    both = talks.memory.search("lock timeout", mode="text")
    either = talks.memory.search("lock carrot", mode="text")

    assert (names(both), both.relaxed) == (["a3"], False)
    assert (set(names(either)), either.relaxed) == ({"a1", "a2", "a3"}, True)


def test_of_a_question_all_words_come_first_and_then_any(talks: Talks) -> None:
    """Nobody answers in the very words of a question, so turns with some of them follow."""
    talks.tell(
        "a", "lock " * 10, "lock", "lock and timeout of orders migration", "timeout", "elsewhere"
    )

    found = talks.memory.search("lock timeout orders migration", mode="text")

    assert names(found)[0] == "a3"
    assert sorted(names(found)) == ["a1", "a2", "a3", "a4"]
    assert found.relaxed


def test_by_words_alone_no_merit_outweighs_a_missing_word(talks: Talks) -> None:
    """All of them in some output come before most of them in a prompt.

    The scores say how it would be otherwise.
    """
    talks.tell(
        "a",
        "lock timeout orders " * 10,
        Said("go", command="make", output="lock timeout orders migration"),
    )

    found = talks.memory.search("lock timeout orders migration", mode="text")

    assert names(found) == ["a2", "a1"]
    assert found.hits[0].score < found.hits[1].score


def test_with_enough_turns_that_hold_all_words_nothing_is_relaxed(talks: Talks) -> None:
    """The note is for those who wonder about the hits they see."""
    talks.tell("a", *["a lock with a timeout of orders in a migration"] * 12, *["a lock"] * 5)

    found = talks.memory.search("lock timeout orders migration", mode="text", limit=15)

    assert (len(found), found.relaxed) == (12, False)


def test_holding_all_words_beats_a_hundred_that_hold_one(talks: Talks) -> None:
    """However loud the others are, it must not fall off the list of candidates."""
    some = Said("go", command="make", output="lock timeout orders migration")
    talks.tell("a", *["lock timeout orders " * 20] * 150, some, *["migration"] * 150)

    assert talks.find("lock timeout orders migration", mode="text", limit=1) == ["a151"]


@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_a_phrase_is_required(shop: Talks, mode: str) -> None:
    """In every mode: who quotes means it."""
    found = shop.memory.search('"lock timeout"', mode=mode)

    assert (names(found), found.relaxed) == (["a1"], False)


@pytest.mark.parametrize("mode", MODES)
def test_a_phrase_that_nobody_said_is_searched_as_words(shop: Talks, mode: str) -> None:
    """And the answer says so."""
    found = shop.memory.search('"timeout lock"', mode=mode)

    assert {"a1", "a3"} <= set(names(found)[:3])
    assert found.relaxed


def test_after_the_last_hit_of_a_phrase_there_is_nothing(shop: Talks) -> None:
    """The page after the end must not show what a different search would."""
    assert shop.find('"lock timeout"', offset=1) == []
    assert shop.find('"lock timeout"', mode="text", offset=1) == []


@pytest.mark.parametrize("mode", MODES)
def test_what_is_not_wanted_is_not_found_by_meaning_either(shop: Talks, mode: str) -> None:
    """A minus is a promise."""
    assert "a1" in shop.find("lock timeout", mode=mode)

    assert "a1" not in shop.find("lock timeout -migration", mode=mode, limit=100)
    assert "a1" not in shop.find('lock timeout -"orders table"', mode=mode, limit=100)
    assert "a1" not in shop.find("lock timeout -migr*", mode=mode, limit=100)


def test_only_what_is_not_wanted_asks_for_the_newest(shop: Talks) -> None:
    """Like filters alone do."""
    newest = shop.find("agent:codex", limit=100)

    assert newest[:4] == ["b4", "b3", "b2", "b1"]
    assert shop.find("agent:codex -login", limit=100) == [name for name in newest if name != "b3"]


def test_words_that_say_nothing_are_searched_when_there_are_no_others(shop: Talks) -> None:
    """ "the" is in the index; nobody should hear otherwise."""
    assert shop.find("the", mode="text")
    assert shop.find("how to do it", mode="text") == shop.find("to", mode="text")


def test_signs_alone_find_nothing(shop: Talks) -> None:
    """An emoji is in no index; showing the newest turns would look like an answer."""
    assert shop.find("☃ 🙂", mode="text") == []


# Meaning


def test_a_question_without_a_shared_word_finds_by_meaning(shop: Talks) -> None:
    """What words alone cannot do."""
    assert shop.find("authentication form color", mode="text") == []

    found = shop.memory.search("authentication form color")

    assert names(found)[0] == "b3"
    assert found.hits[0].matched == "meaning"


def test_a_hit_says_what_spoke_for_it(shop: Talks) -> None:
    """Words, meaning or both; a search by words alone knows nothing else."""
    hybrid = {
        name: hit.matched
        for name, hit in zip(
            shop.find("lock timeout"), shop.memory.search("lock timeout"), strict=True
        )
    }
    everything = {hit.matched for hit in shop.memory.search("lock timeout", limit=100)}

    assert hybrid["a1"] == "both"
    assert everything <= {"text", "meaning", "both"}
    assert {hit.matched for hit in shop.memory.search("lock timeout", mode="text")} == {"text"}
    assert {hit.matched for hit in shop.memory.search("lock timeout", mode="vector")} == {"meaning"}


@pytest.mark.parametrize("mode", MODES)
def test_a_filter_applies_before_anything_is_scored(shop: Talks, mode: str) -> None:
    """Turns elsewhere, however good, cannot push out those that pass."""
    found = shop.memory.search(
        "lock timeout migration apple", mode=mode, limit=100, project="orchard"
    )

    assert sorted(names(found)) == sorted(f"o{number}" for number in range(1, 13))
    assert {hit.project for hit in found} == {"/home/kim/orchard"}


def test_a_filter_that_leaves_twelve_turns_scores_all_twelve(talks: Talks) -> None:
    """However far away they are, and however many nearer ones do not pass."""
    talks.tell("near", *[f"the lock timeout of migration {number}" for number in range(200)])
    talks.tell(
        "far",
        *["water the apple trees", "a blue button", "rename a column"] * 4,
        project="/home/kim/orchard",
    )
    talks.embed()

    found = talks.find("project:orchard lock timeout migration", mode="vector", limit=50)

    assert sorted(found) == sorted(f"far{number}" for number in range(1, 13))


# What changes a rank


def test_a_neighbour_lends_its_words(talks: Talks) -> None:
    """The question names it; the answer, one turn later, does not."""
    answer = Said("go on", reply="The headers are missing.")
    talks.tell(
        "a",
        "why does openssl fail to build?",
        answer,
        "now paint the fence",
        "and the door",
        "and the gate",
        answer,
    )
    talks.embed()

    found = talks.find("openssl build")

    assert found[0] == "a1"
    assert found.index("a2") < found.index("a6")


def test_by_words_alone_a_neighbour_is_no_answer(shop: Talks) -> None:
    """It holds none of them, and there is nothing else to go by."""
    assert shop.find("migration", mode="text") == ["a1"]


@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_a_sub_agents_turn_comes_after_an_equal_one(talks: Talks, mode: str) -> None:
    """Its session is a part of somebody else's work."""
    talks.tell("sub", "the webhook signature is wrong", origin="subagent")
    talks.tell("own", "the webhook signature is wrong")
    talks.embed()

    assert names(talks.at("webhook signature", now=NOW, mode=mode)) == ["own1", "sub1"]


@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_a_recent_turn_comes_before_an_equal_older_one(talks: Talks, mode: str) -> None:
    """What is being worked on now is what is asked about."""
    talks.tell("old", "the webhook signature is wrong").tell(
        "new", "the webhook signature is wrong", day=29
    ).embed()

    assert names(talks.at("webhook signature", now=NOW, mode=mode)) == ["new1", "old1"]


@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_ones_own_project_comes_before_an_equal_other(talks: Talks, mode: str) -> None:
    """Mildly: it decides between equals and hides nothing."""
    talks.tell("other", "the webhook signature is wrong", project="/srv/other", day=20)
    talks.tell("own", "the webhook signature is wrong", day=20)
    talks.embed()

    assert names(talks.at("webhook signature", now=NOW, here=SHOP, mode=mode)) == ["own1", "other1"]
    assert names(talks.at("webhook signature", now=NOW, here="/srv/other", mode=mode)) == [
        "other1",
        "own1",
    ]
    assert names(talks.memory.search("webhook signature", mode=mode, here=f"{SHOP}/src/deep")) == [
        "own1",
        "other1",
    ]


@pytest.mark.parametrize(
    ("text", "lifted"),
    [
        ("the webhook in january", ""),
        ("the webhook in March", "march1"),
        ("the webhook on 3 May 2026", "may1"),
        ("webhook 2026-05-03", "may1"),
        ("webhook yesterday", "may1"),
        ("this may be the webhook", ""),
        ("march through the webhook", ""),
    ],
)
@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_a_named_time_lifts_the_turns_of_then(
    talks: Talks, mode: str, text: str, lifted: str
) -> None:
    """People remember when it was; `may` and `march` are also plain words."""
    may = 122.1  # 3 May, counted from the first of January
    talks.tell("jul", "the webhook", day=200).tell("march", "the webhook", day=70).tell(
        "may", "the webhook", day=may
    )
    talks.embed()

    found = talks.at(text, now=START + int((may + 1) * DAY), mode=mode)

    assert [name for name, hit in zip(names(found), found, strict=True) if hit.reason["when"]] == [
        lifted
    ] * bool(lifted)  # type: ignore[index]
    assert not lifted or names(found)[0] == lifted


@pytest.mark.parametrize("mode", ["text", "hybrid", "vector"])
def test_copies_of_a_turn_are_one_hit(talks: Talks, mode: str) -> None:
    """A fork begins with what its parent said.

    Whose it was, and what came after, is said once each.
    """
    shared = Said("the webhook signature is wrong", key="k1")
    talks.tell("parent", shared, "look into the webhook docs")
    talks.tell("fork", shared, "try the webhook again", parent="parent", day=1)
    talks.embed()

    found = talks.find("webhook", mode=mode, limit=100)

    assert sorted(found) in (["fork1", "fork2", "parent2"], ["fork2", "parent1", "parent2"])


def test_what_a_fork_copied_is_one_hit_in_a_real_log(remember: Remember) -> None:
    """The client writes the old records into the new file, with their ids."""
    first = Work(1).ask("the webhook signature is wrong").done()
    second = Work(2)
    second.talk.lines = [
        line.replace(first.talk.session, second.talk.session) for line in first.talk.lines
    ]
    second.talk.tip, second.talk.second = first.talk.tip, first.talk.second
    second.ask("try the webhook again").done()

    found = remember(first, second).search("webhook", mode="text")

    assert sorted(hit.turn for hit in found) == [1, 2]
    assert next(hit.session for hit in found if hit.turn == 2) == second.ref


def test_copies_beyond_the_candidates_are_folded_too(talks: Talks) -> None:
    """A long answer is one answer."""
    for session in range(30):
        talks.tell(
            f"s{session}", *[Said(f"webhook number{turn}", key=f"k{turn}") for turn in range(10)]
        )

    found = talks.memory.search("webhook", mode="text", limit=1000)

    assert len(found) == 10


# Silence


def test_a_question_about_something_else_is_answered_with_silence(
    talks: Talks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten turns about other things are worse than none; a hint says what came nearest."""
    # A store this small is never silent of itself.
    monkeypatch.setattr(rank, "RELEVANT_FROM", 70)
    talks.tell("a", *[Said(f"the lock timeout of worker {n}", command="ls") for n in range(200)])
    talks.embed()

    found = talks.memory.search("why did cassandra win over cockroachdb")

    assert found.hits == []
    assert found.nearest is not None
    assert found.remarks == [f"Nothing relevant found. Nearest: {found.nearest.ref}"]
    assert talks.memory.search("why a lock timeout of worker 12").hits
    assert talks.memory.search("why did cassandra win over cockroachdb", mode="vector").hits


def test_a_store_without_an_agent_at_work_is_never_silent(
    talks: Talks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Conversations are asked about in other words than were said."""
    monkeypatch.setattr(rank, "RELEVANT_FROM", 70)
    talks.tell("a", *[f"the lock timeout of worker {number}" for number in range(200)]).embed()

    assert talks.memory.search("why did cassandra win over cockroachdb").hits


# What a store is made of


def test_a_store_knows_which_share_of_it_an_agent_worked_in_and_which_stands_alone(
    talks: Talks,
) -> None:
    """A tool call, or another turn in the session, is company."""
    talks.tell("a", "a note").tell("b", "a question", "another").tell("c", Said("w", command="ls"))

    turns = talks.store.turns

    assert (turns.share_at_work(), turns.share_alone()) == (0.25, 0.25)


def test_among_pieces_that_stand_alone_meaning_counts_more(
    talks: Talks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As soon as most of a store is talk, it counts what it always did."""

    def meaning() -> float:
        found = talks.memory.search("close the connection", limit=1, explain=True)
        assert names(found) == ["z1"]
        return float(str((found.hits[0].reason or {})["meaning"]))

    def usual() -> float:
        with monkeypatch.context() as patched:
            patched.setattr(rank, "ALONE", 0.0)
            return meaning()

    for number in range(12):
        talks.tell(f"s{number}", f"def sort_rows_{number}(rows): return sorted(rows)")
    talks.tell("z", "def close_connection(socket): socket.shutdown()").embed()

    assert meaning() == pytest.approx((1 + rank.ALONE) * usual(), abs=0.005)

    talks.tell("t", *[f"we talked about lunch on day {number}" for number in range(40)]).embed()

    assert meaning() == usual() > 0


# Explaining


@pytest.mark.parametrize("mode", MODES)
def test_the_reason_adds_up_to_the_score(shop: Talks, mode: str) -> None:
    """Every hit, also those far down."""
    found = shop.memory.search(
        "why is there a lock timeout in the migration in january",
        mode=mode,
        limit=100,
        explain=True,
    )

    assert len(found) > 2
    for hit in found:
        assert hit.reason is not None
        parts = {name: float(str(part)) for name, part in hit.reason.items()}
        assert sum(parts.values()) == pytest.approx(hit.score, abs=0.005)


def test_nobody_hears_reasons_unasked(shop: Talks) -> None:
    """And filters alone have some too, when asked."""
    assert [hit.reason for hit in shop.memory.search("lock timeout", limit=1)] == [None]
    assert [
        hit.reason is None for hit in shop.memory.search("agent:grok", limit=1, explain=True)
    ] == [False]


def test_scores_do_not_rise_on_a_page(shop: Talks) -> None:
    """Best first."""
    for mode in ("hybrid", "vector"):
        scores = [hit.score for hit in shop.memory.search("prune the lock", mode=mode)]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("mode", MODES)
def test_the_same_question_has_the_same_answer(shop: Talks, mode: str) -> None:
    """To the last digit, from this memory and from one that was opened anew."""
    first = shop.memory.search("lock timeout of an apple tree", mode=mode, limit=100, explain=True)
    shop.memory.close()
    second = shop.memory.search("lock timeout of an apple tree", mode=mode, limit=100, explain=True)

    assert first.hits == second.hits
    assert [hit.reason for hit in first] == [hit.reason for hit in second]


# Pages


WORDS = [
    "lock", "timeout", "migration", "worker", "queue", "index", "cache", "login", "button", "crash",
    "memory", "leak", "docker",
    "build", "test", "flaky", "deploy", "server", "port", "chart", "color", "css", "font",
    "database", "table", "column",
    "rename", "parse", "token", "stream", "socket", "retry",
]  # fmt: skip


@pytest.fixture(scope="module")
def chatter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talks]:
    """Many turns of a few words each, so that answers are long."""
    made = Talks(tmp_path_factory.mktemp("chatter"))
    dice = random.Random(4)
    for session in range(20):
        made.tell(
            f"s{session}-",
            *[" ".join(dice.choices(WORDS, k=dice.randint(2, 9))) for _ in range(15)],
            day=session,
        )
    yield made.embed()
    made.close()


def pages(talks: Talks, text: str, mode: str, limit: int) -> list[str]:
    """Everything an answer has, page after page."""
    found: list[str] = []
    cursor = None
    while True:
        page = talks.memory.search(text, mode=mode, limit=limit, cursor=cursor)
        assert len(page) == limit or page.cursor is None
        found += names(page)
        cursor = page.cursor
        if cursor is None:
            return found


@pytest.mark.parametrize("limit", [7, 30])
@pytest.mark.parametrize(
    "text",
    ["deploy", "lock timeout", "crash memory leak docker", "database table column rename index"],
)
@pytest.mark.parametrize("mode", MODES)
def test_pages_are_one_answer_in_pieces(chatter: Talks, mode: str, text: str, limit: int) -> None:
    """Nothing twice, nothing left out, however long the pages are."""
    whole = chatter.find(text, mode=mode, limit=1_000)

    assert pages(chatter, text, mode, limit) == whole
    assert len(set(whole)) == len(whole)
    assert mode == "text" or len(whole) == 300
    assert chatter.find(text, mode=mode, limit=20, offset=95) == whole[95:115]


@pytest.mark.parametrize("mode", MODES)
def test_pages_fit_together_while_an_agent_writes(talks: Talks, mode: str) -> None:
    """What was stored after the first page is no part of the answer, and shifts nothing."""
    dice = random.Random(7)
    for session in range(6):
        talks.tell(f"s{session}-", *[" ".join(dice.choices(WORDS, k=6)) for _ in range(10)])
    talks.embed()
    whole = talks.find("lock timeout database", mode=mode, limit=1_000)

    found: list[str] = []
    cursor = None
    for number in range(100):
        page = talks.memory.search("lock timeout database", mode=mode, limit=4, cursor=cursor)
        found += names(page)
        cursor = page.cursor
        if cursor is None:
            break
        if number < 4:
            talks.tell(f"new{number}-", "lock timeout database", "a database lock timeout")

    assert sorted(found) == sorted(whole)


def test_filters_alone_are_read_in_pages_too(chatter: Talks) -> None:
    """The newest first, all of them once."""
    found = pages(chatter, "agent:codex", "hybrid", 70)

    assert len(found) == len(set(found)) == 300
    assert found[0] == "s19-15"


# Whatever is typed


PIECES = st.sampled_from(
    [*(f"{name}:" for name in FILTERS), "lock", "timeout", "the", " ", " ", " ", "-", '"', "*", "(",
    ")", "{", "}", "^", "AND",
     "NOT", "NEAR(", "\0", "\ud800", "\udfff", "🙂", "👩‍👩‍👧", "死", "é", "\n", "parseRolloutFile",
     "in march", "2026-05",
     "yesterday", "december 9999"]
)  # fmt: skip
TYPED = st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(TYPED, st.sampled_from(MODES))
def test_no_text_is_an_error(shop: Talks, text: str, mode: str) -> None:
    """Not ours, not SQLite's, not the encoder's; and a second look shows the same."""
    first = shop.memory.search(text, mode=mode, limit=5)

    assert len(first) <= 5
    assert first.hits == shop.memory.search(text, mode=mode, limit=5).hits


@pytest.mark.parametrize(
    "text",
    ["lock timeout " * 8_000, "x" * 100_000, "🙂" * 50_000, "a\0b " * 25_000, "\ud800" * 100_000],
)
def test_a_hundred_kilobytes_are_a_question(shop: Talks, text: str) -> None:
    """Somebody pastes a log into a hybrid search."""
    assert len(shop.memory.search(text, limit=3)) <= 3
