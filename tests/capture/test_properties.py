"""What holds for any logs, in any order, stopped anywhere."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import StatsRow
from recollect.model.search import FILTERS
from recollect.model.sessions import SessionDetail
from recollect.recall.query import parse
from recollect.store import bodies, msgpack
from tests.builders import codex
from tests.builders.claude_code import Conversation, tokens
from tests.builders.homes import (
    add_turn,
    chat,
    claude_log,
    codex_log,
    codex_talk,
    everything,
    memory,
    small_talk,
)

few = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
some = settings(max_examples=150, deadline=None)

# Text as it stands in logs: words to be found, and what breaks parsers.
texts = st.text(st.sampled_from('abc é\U0001f600\n"\\\0'), min_size=1, max_size=12).map(
    lambda text: f"word {text}"
)


# Conversations ---------------------------------------------------------------


@st.composite
def claude_talks(draw: st.DrawFn, number: int = 1) -> Conversation:
    """A transcript in which prompts, answers, calls and their results come as they please."""
    talk = chat(number)
    talk.user(draw(texts))
    calls: list[str] = []
    earlier: list[str | None] = [talk.tip]
    for step in range(draw(st.integers(1, 10))):
        what = draw(
            st.sampled_from(
                ["user", "reply", "split", "call", "result", "title", "rewind", "move", "compact"]
            )
        )
        if what == "user":
            talk.user(draw(texts))
        elif what == "reply":
            talk.reply(draw(texts))
        elif what == "split":
            talk.reply("one half", message=f"msg_{number}_{step}", usage=tokens(output=5))
            talk.reply("other half", message=f"msg_{number}_{step}", usage=tokens(output=40))
        elif what == "call":
            calls.append(f"toolu_{number}_{step}")
            talk.call("Bash", {"command": draw(texts)}, calls[-1])
        elif what == "result" and calls:
            talk.result(
                calls.pop(draw(st.integers(0, len(calls) - 1))),
                draw(texts),
                error=draw(st.booleans()),
            )
        elif what == "title":
            talk.bare(
                {"type": "custom-title", "customTitle": draw(texts), "sessionId": talk.session}
            )
        elif what == "rewind":
            talk.user(draw(texts), parent=draw(st.sampled_from(earlier)))
        elif what == "move":
            talk.envelope["cwd"] = draw(st.sampled_from(["/home/ada/shop", "/home/ada/till"]))
        elif what == "compact":
            talk.system(
                "compact_boundary",
                content="Conversation compacted",
                compactMetadata={"trigger": "auto"},
            )
        earlier.append(talk.tip)
    return talk


@st.composite
def codex_threads(draw: st.DrawFn, thread: str = codex.THREAD) -> list[dict[str, Any]]:
    """A rollout in which the same happens, with running token totals."""
    records = [codex.meta(thread), codex.context(), codex.user(draw(texts))]
    calls: list[str] = []
    spent = 0
    for step in range(draw(st.integers(1, 10))):
        what = draw(
            st.sampled_from(["user", "reply", "reason", "call", "result", "tokens", "context"])
        )
        if what == "user":
            records += [codex.context(), codex.user(draw(texts))]
        elif what == "reply":
            said = draw(texts)
            records += [codex.assistant_item(said), codex.assistant(said)]
        elif what == "reason":
            records.append(codex.reasoning_item(draw(texts)))
        elif what == "call":
            calls.append(f"call_{step}")
            records.append(codex.call(call_id=calls[-1], command=["bash", "-lc", draw(texts)]))
        elif what == "result" and calls:
            records.append(codex.output(draw(texts), calls.pop()))
        elif what == "tokens":
            spent += 10
            records.append(codex.tokens(codex.usage(spent, 0, spent), codex.usage(10, 0, 10)))
        elif what == "context":
            records.append(codex.context(model=draw(st.sampled_from(["gpt-5", "gpt-5-codex"]))))
    return records


@st.composite
def families(draw: st.DrawFn) -> dict[str, str]:
    """Logs by path: a session with a fork and a sub-agent, of both
    agents, of which some may be missing.
    """
    parent = draw(claude_talks(1))
    fork = chat(2, forkedFrom={"sessionId": parent.session, "messageUuid": parent.tip})
    fork.lines = [line.replace(parent.session, fork.session) for line in parent.lines]
    fork.tip, fork.second = parent.tip, parent.second
    add_turn(fork, "own")
    helper = Conversation(parent.session, prefix="h", agent="a1b2c3")
    add_turn(helper, "helper")
    folder = ".claude/projects/-home-ada-shop"
    thread = draw(codex_threads(codex.PARENT))
    copied = [{**record, "timestamp": codex.clock(3600, 5)} for record in thread]
    spent = codex.tokens(codex.usage(900, 0, 80), codex.usage(40, 0, 30), codex.clock(3701))
    own = [codex.user("prune", codex.clock(3700)), spent]
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": codex.PARENT, "depth": 1}}}
    child = "019ca000-0000-7000-8000-00000000000c"
    logs = {
        f"{folder}/{parent.session}.jsonl": parent.text,
        f"{folder}/{fork.session}.jsonl": fork.text,
        f"{folder}/{parent.session}/subagents/agent-a1b2c3.jsonl": helper.text,
        _rollout(codex.PARENT): "".join(codex.lines(thread)),
        _rollout(codex.THREAD): "".join(
            codex.lines(
                [
                    codex.meta(codex.THREAD, codex.clock(3600), forked_from_id=codex.PARENT),
                    *copied,
                    *own,
                ]
            )
        ),
        _rollout(child): "".join(codex.lines(codex_talk(child, source=spawned))),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(logs)), min_size=2, unique=True))
    return {path: logs[path] for path in chosen}


def _rollout(thread: str) -> str:
    return f".codex/sessions/2026/03/01/rollout-2026-03-01T09-00-00-{thread}.jsonl"


def written(folder: Path, logs: dict[str, str]) -> list[Path]:
    """These logs below a folder, in the order they are given."""
    for name, text in logs.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [folder / name for name in logs]


def known(mind: Memory) -> tuple[dict[str, SessionDetail], list[list[StatsRow]]]:
    """All that is told about what was imported, and the sums over it."""
    return everything(mind), [mind.stats(by) for by in ("all", "agent", "model", "day", "tool")]


def in_order(
    folder: Path, name: str, paths: list[Path]
) -> tuple[dict[str, SessionDetail], list[list[StatsRow]]]:
    """What is known after importing these logs one by one."""
    with memory(folder, name) as mind:
        for path in paths:
            mind.import_logs([path])
        return known(mind)


# Importing -------------------------------------------------------------------


@few
@given(logs=families())
def test_capturing_twice_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, logs: dict[str, str]
) -> None:
    """Neither an import that finds nothing new, nor one that reads everything again."""
    folder = tmp_path_factory.mktemp("twice")
    paths = written(folder, logs)

    with memory(folder) as mind:
        mind.import_logs(paths)
        once = known(mind)
        again = mind.import_logs(paths)
        for path in paths:
            path.touch()
        mind.import_logs(paths)

        assert (again.imported, again.updated) == (0, 0)
        assert known(mind) == once


@few
@given(logs=families(), data=st.data())
def test_any_order_of_sources_gives_the_same_totals(
    tmp_path_factory: pytest.TempPathFactory, logs: dict[str, str], data: st.DataObject
) -> None:
    """Forks before their parents, sub-agents before who started them: each call
    is counted once, by whoever made it.
    """
    folder = tmp_path_factory.mktemp("order")
    paths = written(folder, logs)

    one = in_order(folder, "one.db", sorted(paths))
    other = in_order(folder, "other.db", data.draw(st.permutations(paths)))

    assert other == one


def stopped(folder: Path, path: Path, text: bytes, cuts: list[int]) -> None:
    """Import a log at several lengths, and compare with importing it at once."""
    with memory(folder) as mind, memory(folder, "at-once.db") as at_once:
        for cut in [*cuts, len(text)]:
            path.write_bytes(text[:cut])
            mind.import_logs([path])
        at_once.import_logs([path])

        assert known(mind) == known(at_once)


def cut_places(size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(200, size), min_size=1, max_size=4, unique=True).map(sorted)


@few
@given(talk=claude_talks(), data=st.data())
def test_stopping_anywhere_in_a_transcript_loses_nothing(
    tmp_path_factory: pytest.TempPathFactory, talk: Conversation, data: st.DataObject
) -> None:
    """A log is imported while it is written, at whatever byte the agent has come to."""
    folder = tmp_path_factory.mktemp("stop")
    text = talk.text.encode()

    stopped(folder, claude_log(folder, talk), text, data.draw(cut_places(len(text))))


@few
@given(records=codex_threads(), data=st.data())
def test_stopping_anywhere_in_a_rollout_loses_nothing(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("stop")
    text = "".join(codex.lines(records)).encode()

    stopped(folder, codex_log(folder, records), text, data.draw(cut_places(len(text))))


@pytest.mark.store
@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_stopping_after_every_line_loses_nothing(home: Path, agent: str) -> None:
    """The slowest agent, watched by the fastest of us."""
    if agent == "claude-code":
        path = claude_log(home, small_talk(turns=6))
    else:
        path = codex_log(home, [record for _ in range(6) for record in codex_talk()[1:]])
        path.write_text("".join(codex.lines([codex.meta()])) + path.read_text())
    text = path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(text) if byte == 10]

    stopped(home, path, text, ends[:-1])

    assert all(first < second for first, second in pairwise(ends))


# Writing and reading -----------------------------------------------------------

characters = st.characters(exclude_categories=["Cs"])
words = st.text(characters, max_size=30)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | words
    | st.text(st.sampled_from("ab"), min_size=200, max_size=300)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(words, inner, max_size=20),
    max_leaves=40,
)
times = st.none() | st.integers(0, 2**45)
plain_rows = st.tuples(
    st.sampled_from(["prompt", "reply", "reasoning", "error"]), times, words
).map(list)


@st.composite
def turns(draw: st.DrawFn) -> tuple[list[list[Any]], list[list[list[Any]]]]:
    """Rows with every result joined, and the same as parts in which some results come late."""
    whole: list[list[Any]] = []
    parts: list[list[list[Any]]] = [[]]
    late: list[list[Any]] = []
    for number in range(draw(st.integers(0, 8))):
        if draw(st.booleans()):
            row = draw(plain_rows)
            whole.append(row)
            parts[-1].append(list(row))
        else:
            head = [
                "tool_call",
                draw(times),
                "",
                f"call_{number}",
                draw(words),
                "shell",
                draw(words),
                draw(values),
            ]
            result = [
                draw(words),
                draw(st.booleans()),
                draw(st.none() | st.integers(0, 255)),
                draw(times),
            ]
            folder = draw(st.none() | words)
            whole.append([*head, *result, folder])
            if draw(st.booleans()):
                parts[-1].append([*head, *result, folder])
            else:
                parts[-1].append([*head, None, None, None, None, folder])
                late.append([bodies.RESULT, None, "", f"call_{number}", *[None] * 4, *result, None])
        if draw(st.booleans()):
            parts.append([])
        if late and draw(st.booleans()):
            parts[-1].append(late.pop(0))
    parts.append(late)
    return whole, parts


@some
@given(rows=st.lists(plain_rows, max_size=10))
def test_packing_a_body_and_unpacking_it_is_identity(rows: list[list[Any]]) -> None:
    assert bodies.unpack(bodies.pack(rows)) == rows


@some
@given(turn=turns())
def test_a_turn_is_the_same_in_one_part_and_in_many(
    turn: tuple[list[list[Any]], list[list[list[Any]]]],
) -> None:
    """However late its results came."""
    whole, parts = turn

    assert bodies.joined([bodies.pack(part) for part in parts]) == whole
    assert bodies.joined([bodies.pack(whole)]) == whole


@some
@given(value=values)
@example(
    value=[
        2**64 - 1,
        -(2**63),
        -33,
        -32,
        127,
        128,
        65535,
        65536,
        2**32,
        "x" * 70_000,
        ["y"] * 70_000,
    ]
)
@example(value={str(number): number for number in range(70_000)})
@example(value=b"bytes" * 20_000)
def test_the_light_reader_reads_what_the_fast_one_does(value: Any) -> None:
    """A cold search reads bodies without importing msgspec."""
    data = msgspec.msgpack.encode(value)

    assert msgpack.decode(data) == msgspec.msgpack.decode(data) == value


@given(number=st.integers(), text=st.text())
def test_what_msgpack_cannot_hold_is_tamed(number: int, text: str) -> None:
    """Integers beyond 64 bits and lone surrogates are rare.

    A turn that has them is kept all the same.
    """
    call = ["tool_call", 1, text, "c", "Bash", "shell", "", None, "", True, number, 9, None]

    (row,) = bodies.unpack(bodies.pack([call]))

    assert row[:2] == ["tool_call", 1]
    assert row[bodies.TEXT] == text.encode("utf-8", "replace").decode()
    assert str(row[bodies.EXIT_CODE]) == str(number)


def test_a_body_is_read_without_msgspec() -> None:
    script = """
import sys
from recollect.store import bodies
body = bytes.fromhex(sys.argv[1])
print(bodies.unpack(body), "msgspec" in sys.modules)
"""
    given = {"a": [1.5, -2]}
    call = ["tool_call", None, "", "c", "Bash", "shell", None, given, "é", True, 0, 9, "/srv"]
    body = bodies.pack([["prompt", 17, "hello"], call])

    told = subprocess.run(
        [sys.executable, "-c", script, body.hex()], capture_output=True, text=True, check=True
    ).stdout

    assert told == f"{bodies.unpack(body)} False\n"


# Searching ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """A memory with something in it."""
    folder = tmp_path_factory.mktemp("filled")
    claude_log(
        folder,
        small_talk(turns=3, words="NULL near(x) caf\N{LATIN SMALL LETTER E WITH ACUTE} 日本語"),
    )
    mind = memory(folder)
    mind.import_logs([folder])
    return mind


OPERATORS = [
    '"', "*", "-", "^", "(", ")", "AND", "OR", "NOT", "NEAR(", "prompt:", ":", "日本", "question",
    "a*", '-"', "'", ";", "{", "+", "\x00",
]  # fmt: skip
queries = st.text() | st.lists(st.sampled_from(OPERATORS), max_size=8).map(" ".join)
NAMES = [*FILTERS, "meta.git.branch"]
filters = st.tuples(st.sampled_from(["", "-"]), st.sampled_from(NAMES), st.just(":"), words).map(
    "".join
)


def is_answered(mind: Memory, text: str) -> bool:
    """Whether a search is answered, or refused with a word on what to do: since:x is no time."""
    try:
        mind.search(text)
    except UsageError as error:
        return bool(error.hint)
    return True


@some
@given(text=queries | filters)
def test_the_parser_accepts_any_text(text: str) -> None:
    """Whatever a person types means something; it is never a syntax error."""
    query = parse(text)

    assert {name.removeprefix("-") for name in query.filters} <= set(NAMES)
    assert all(term.text for term in query.terms)


@some
@given(text=queries)
def test_search_never_raises_on_any_words(filled: Memory, text: str) -> None:
    assert is_answered(filled, text)


@some
@given(text=filters)
def test_a_filter_is_applied_or_refused_in_words(filled: Memory, text: str) -> None:
    assert is_answered(filled, f"question {text}")


@pytest.mark.parametrize(
    "page",
    [
        "word " * 3000,
        " ".join(f"w{number}" for number in range(3000)),
        "-a " * 3000 + "question",
        "x" * 100_000,
    ],
    ids=["one word", "many words", "unwanted words", "a long word"],
)
def test_a_whole_page_may_be_searched_for(filled: Memory, page: str) -> None:
    """People paste stack traces."""
    filled.search(page)


@pytest.mark.parametrize(
    "text", ["since:²d", "since:99999999999999999d", "until:9999-12-31", "agent:\udcff"]
)
def test_an_odd_filter_is_refused_in_words(filled: Memory, text: str) -> None:
    assert is_answered(filled, text)
