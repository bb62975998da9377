"""Our own retrieval set: the labels point at what they say, and the
questions are what their kind promises.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from bench.sets.own import make
from recollect.memory import Memory
from recollect.model.reports import ImportReport
from recollect.model.sessions import SessionDetail, ToolCall, Turn
from recollect.store.text import prepare
from tests.builders import homes

QUESTIONS = make.questions()
STOP_WORDS = (make.HERE / "stopwords.txt").read_text("utf-8").split()
# How many the set promises of each kind; more is welcome.
PROMISED = dict.fromkeys(make.KINDS, 25) | {"paraphrase": 45, "silent": 70, "speak": 70}
# The index's own stemmer, so that "no shared word" means that the index sees none.
_porter = apsw.Connection(":memory:").fts5_tokenizer(
    "porter", ["unicode61", "remove_diacritics", "2"]
)


def stems(text: str) -> set[str]:
    """The words of a text as the index has them."""
    tokens = _porter(
        prepare(text).encode(),
        apsw.FTS5_TOKENIZE_DOCUMENT,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return {str(token) for token in tokens}


def content_stems(text: str) -> set[str]:
    """The words that say what a text is about."""
    return stems(text) - stems(" ".join(STOP_WORDS))


def said(turn: Turn) -> str:
    """Everything that was typed, answered, thought, run and printed in a turn."""
    texts = [turn.prompt]
    for event in turn.events:
        texts.append(event.text)
        if isinstance(event, ToolCall):
            texts += [
                event.name or "",
                event.target or "",
                json.dumps(event.input, ensure_ascii=False),
                event.output or "",
            ]
    return "\n".join(texts)


def session_of(ref: str) -> str:
    """The session of a turn; what a sub-agent did belongs to the session that sent it."""
    return ref.partition("#")[0].partition("/")[0]


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, ImportReport]]:
    """A store with the whole set in it, which these tests only read."""
    home = make.build(tmp_path_factory.mktemp("own"))
    with homes.memory(home) as memory:
        yield memory, memory.import_logs([home])


@pytest.fixture
def memory(imported: tuple[Memory, ImportReport]) -> Memory:
    return imported[0]


@pytest.fixture(scope="module")
def turns(imported: tuple[Memory, ImportReport]) -> dict[str, Turn]:
    """Every turn of the set by its reference."""
    memory, _ = imported
    details = [memory.show(session.id) for session in memory.sessions(limit=None, subagents=True)]
    return {
        turn.ref: turn
        for detail in details
        if isinstance(detail, SessionDetail)
        for turn in detail.turn_list
    }


def test_the_logs_are_read_without_a_problem(imported: tuple[Memory, ImportReport]) -> None:
    """A set whose logs are half read would measure the adapters, not the search."""
    memory, report = imported

    projects = [project.key for project in memory.projects.all()]

    assert (report.failed, report.problems) == (0, 0)
    assert report.sessions >= 60
    assert report.turns >= 500
    assert len(projects) >= 12


def test_the_logs_are_the_same_in_every_run(tmp_path: Path) -> None:
    """The answers name sessions by ids that are made: another id would make every label wrong."""
    first, second = (make.build(tmp_path / name) for name in ("first", "second"))

    made = [
        {path.relative_to(home): path.read_bytes() for path in home.rglob("*.json*")}
        for home in (first, second)
    ]

    assert made[0] == made[1]


def test_every_answer_is_a_turn_that_counts(turns: dict[str, Turn]) -> None:
    """An answer that is not there, or that was undone, can never be found."""
    answers = {ref for question in QUESTIONS for ref in question.answers}

    live = {ref for ref, turn in turns.items() if turn.live}

    assert sorted(answers - live) == []


def test_only_silent_questions_have_no_answer() -> None:
    """Silence is judged on these and nothing else."""
    assert [q.id for q in QUESTIONS if bool(q.answers) == (q.kind == "silent")] == []
    assert [q.id for q in QUESTIONS if len(set(q.answers)) != len(q.answers)] == []


def test_what_is_typed_to_an_agent_says_where(memory: Memory) -> None:
    """Injection looks at the project first; a prompt that helps has its answer there."""
    projects = {
        session.id: Path(session.cwd or "").name
        for session in memory.sessions(limit=None, subagents=True)
    }

    typed = [q for q in QUESTIONS if q.kind in ("silent", "speak")]
    elsewhere = {
        q.id: q.answers
        for q in typed
        for ref in q.answers
        if projects[ref.partition("#")[0]] != q.project
    }

    assert [q.id for q in typed if not q.project] == []
    assert elsewhere == {}


def test_there_are_as_many_of_each_kind_as_promised() -> None:
    """A figure over a handful of questions is noise."""
    counts = Counter(q.kind for q in QUESTIONS)

    short = {kind: counts[kind] for kind in make.KINDS if counts[kind] < PROMISED[kind]}

    assert short == {}
    assert set(counts) == set(make.KINDS)
    assert sum(counts[kind] for kind in make.KINDS if kind not in ("silent", "speak")) >= 220


def test_at_least_half_of_the_silent_ones_look_as_if_something_could_be_known() -> None:
    """Keeping quiet after "thanks" is easy.

    Their ids begin with s, those of the hard ones with n.
    """
    first_letters = Counter(q.id[0] for q in QUESTIONS if q.kind == "silent")

    assert set(first_letters) == {"n", "s"}
    assert first_letters["n"] >= first_letters["s"]


def test_every_project_is_asked_about(memory: Memory) -> None:
    """The set is about many technologies, so that no single vocabulary decides."""
    names = {
        session.id: Path(session.cwd or "").name
        for session in memory.sessions(limit=None, subagents=True)
    }
    asked = Counter(names[ref.partition("#")[0]] for q in QUESTIONS for ref in q.answers[:1])

    assert set(asked) == set(names.values())
    assert min(asked.values()) >= 8


def test_ids_and_texts_are_distinct() -> None:
    """A question asked twice counts twice."""
    ids, texts = Counter(q.id for q in QUESTIONS), Counter(q.text.casefold() for q in QUESTIONS)

    assert [name for name, count in (ids + texts).items() if count > 1] == []


def test_no_session_answers_in_both_parts(memory: Memory) -> None:
    """Weights chosen on one part must not have seen the other.

    A fork is its parent's session told on.
    """
    parents = {
        session.id: session.parent
        for session in memory.sessions(limit=None, subagents=True)
        if session.parent
    }
    parts = defaultdict(set)
    for question in QUESTIONS:
        for session in map(session_of, question.answers):
            parts[parents.get(session) or session].add(question.part)

    assert [session for session, found in parts.items() if len(found) > 1] == []


def test_about_two_fifths_of_each_kind_are_for_development() -> None:
    """Enough to choose weights on, and the larger part to report."""
    for kind in make.KINDS:
        parts = Counter(q.part for q in QUESTIONS if q.kind == kind)

        assert set(parts) == {"dev", "test"}
        assert 0.35 <= parts["dev"] / parts.total() <= 0.45, kind


def test_a_paraphrase_shares_no_content_word_with_its_answers(turns: dict[str, Turn]) -> None:
    """This is what makes meaning necessary: by its words such a question finds nothing."""
    shared = {
        (question.id, ref): words
        for question in QUESTIONS
        for ref in question.answers
        if question.kind == "paraphrase"
        and (words := content_stems(question.text) & stems(said(turns[ref])))
    }

    assert shared == {}


def test_a_paraphrase_has_words_to_go_by() -> None:
    """Without a few content words even a person could not tell what is meant."""
    assert [
        q.id for q in QUESTIONS if q.kind == "paraphrase" and len(content_stems(q.text)) < 3
    ] == []


def test_a_shared_word_is_noticed_in_any_form() -> None:
    """The check above would pass for ever if it only compared letters."""
    assert content_stems("why did migrations deadlock") == {"migrat", "deadlock"}
    assert content_stems("the deadlocking") & stems("two DEADLOCKS in runMigration") == {"deadlock"}
    assert content_stems("a migrated store") & stems("runMigration_0042") == {"migrat"}
    assert content_stems("what did we do about that") == set()


def test_the_page_says_how_many_there_are(imported: tuple[Memory, ImportReport]) -> None:
    """Whoever reads a figure looks there for what it was measured on."""
    _, report = imported
    page = (make.HERE / "README.md").read_text("utf-8")
    counts = Counter((q.kind, q.part) for q in QUESTIONS)

    rows = [
        f"| `{kind}` | {counts[kind, 'dev']} | {counts[kind, 'test']} | " for kind in make.KINDS
    ]

    assert [row for row in rows if row not in page] == []
    assert f"{len(list(make.SCRIPTS.glob('*.txt')))} sessions told as scripts" in page
    assert f"{report.sessions} sessions" in page
    assert f"{report.turns} turns in" in page
