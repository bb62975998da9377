"""Recall is judged by figures that mean what they say, over sets
that are read as they were published.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.judging import cosqa, locomo, longmemeval
from bench.judging.asking import agreement
from bench.judging.metrics import FIGURES, Injection, injection_summary, judged
from bench.judging.sets import PARTS, Question, part_by_hash
from bench.judging.stores import Encoder, Stores
from bench.retrieval import main
from recollect.errors import UsageError
from recollect.model.sessions import Turn

REFS = st.lists(st.integers(1, 30).map(lambda n: f"talk:{n % 7}#{n}"), unique=True)


def written(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def conversation(name: str, *questions: dict[str, Any]) -> dict[str, Any]:
    """A LoCoMo conversation of two sessions, about a kayak and a bakery."""
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ines",
            "speaker_b": "Otto",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ines", "dia_id": "D1:1", "text": "I bought a kayak yesterday."},
                {
                    "speaker": "Otto",
                    "dia_id": "D1:2",
                    "text": "Show me!",
                    "blip_caption": "a red boat on a roof",
                    "img_url": ["x"],
                },
            ],
            "session_2_date_time": "12:09 am on 13 September, 2023",
            "session_2": [{"speaker": "Otto", "dia_id": "D2:1", "text": "The bakery burned down."}],
            # Some conversations have dates for sessions that never took place.
            "session_3_date_time": "9:00 am on 1 October, 2023",
        },
        "qa": list(questions),
    }


def asked(text: str, *evidence: str, category: int = 4) -> dict[str, Any]:
    return {"question": text, "answer": "so", "evidence": list(evidence), "category": category}


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    """A file like LoCoMo's: four conversations, the last of them for the test part."""
    kayak, bakery = (
        asked("What did Ines buy, a kayak?", "D1:1"),
        asked("What burned down, the bakery?", "D2:1"),
    )
    return written(
        tmp_path / "locomo.json",
        [conversation(f"conv-{number}", kayak, bakery) for number in range(1, 5)],
    )


def test_the_figures_of_a_question_are_those_worked_out_by_hand() -> None:
    """Everything we claim about recall rests on these few lines of arithmetic."""
    found = ["s:1#1", "s:2#1", "s:1#2", "s:3#1", "s:3#2", "s:3#3"]

    figures = judged(
        found, frozenset({"s:2#1", "s:3#3", "s:4#9"}), frozenset({"s:2", "s:3", "s:4"})
    )

    gained, best = 1 / 1.584962500721156 + 1 / 2.807354922057604, 1 + 1 / 1.584962500721156 + 1 / 2
    assert figures == {
        "recall_at_1": 0.0,
        "recall_at_5": pytest.approx(1 / 3),
        "recall_at_10": pytest.approx(2 / 3),
        "hit_at_10": 1.0,
        "mrr": 0.5,
        "ndcg_at_10": pytest.approx(gained / best),
        "session_recall_at_10": pytest.approx(2 / 3),
        "session_hit_at_10": 1.0,
    }


def test_sessions_are_ranked_by_their_best_turn() -> None:
    """Many turns of one session must not push the other sessions out of its first ten."""
    found = [f"s:1#{turn}" for turn in range(1, 150)] + [
        f"s:{session}#1" for session in range(2, 12)
    ]

    tenth, eleventh = (
        judged(found, frozenset({f"s:{n}#1"}), frozenset({f"s:{n}"})) for n in (10, 11)
    )

    assert (tenth["session_recall_at_10"], tenth["recall_at_10"], tenth["mrr"]) == (
        1.0,
        0.0,
        1 / 158,
    )
    assert eleventh["session_hit_at_10"] == 0.0


@given(found=REFS, evidence=REFS.filter(bool))
def test_figures_are_shares_and_evidence_first_is_best(
    found: list[str], evidence: list[str]
) -> None:
    """Whatever was found: no figure leaves 0 to 1, more hits never find
    less, and no order beats evidence first.
    """
    wanted, sessions = frozenset(evidence), frozenset(ref.rpartition("#")[0] for ref in evidence)

    figures = judged(found, wanted, sessions)
    best = judged([*evidence, *(ref for ref in found if ref not in wanted)], wanted, sessions)

    assert set(figures) == set(FIGURES)
    assert all(0 <= figures[name] <= best[name] <= 1 + 1e-9 for name in FIGURES)
    assert (
        figures["recall_at_1"]
        <= figures["recall_at_5"]
        <= figures["recall_at_10"]
        <= figures["hit_at_10"]
    )


def test_injection_is_judged_by_what_it_says_and_by_when_it_is_silent() -> None:
    """A memory that always speaks and one that never does must both look as bad as they are."""
    helpful = frozenset({"a#1", "a#2"})
    prompts = [
        Injection(["a#1", "b#1"], helpful),
        Injection(["b#1"], helpful),
        Injection([], helpful),
        Injection(["b#1"], frozenset()),
        Injection([], frozenset()),
    ]

    assert injection_summary(prompts) == {
        "precision": pytest.approx(1 / 3, abs=1e-4),
        "line_precision": 0.25,
        "silence": 0.5,
        "spoke": pytest.approx(2 / 3, abs=1e-4),
        "prompts": 5,
    }
    assert injection_summary([Injection([], helpful)])["precision"] is None


def test_agreement_is_the_share_of_a_hooks_lines_that_recall_tells_too() -> None:
    """A hook that says something of its own could not be checked with `recollect recall`."""
    prompt = Question(
        id="q", part="dev", kind="speak", text="", evidence=frozenset(), sessions=frozenset()
    )

    def said(*lines: list[str]) -> list[tuple[Question, Injection]]:
        return [(prompt, Injection(refs, frozenset())) for refs in lines]

    assert agreement(said(["a#1"], []), said(["a#1", "b#1"], ["c#1"])) == 1
    assert agreement(said(["a#1", "d#1"], ["b#1", "c#1"]), said(["a#1"], ["c#1"])) == 0.5
    assert agreement(said([]), said(["a#1"])) is None


def test_locomo_labels_are_cleaned() -> None:
    """The published file has typing errors.

    A label that cannot be read would count as never found.
    """
    refs = {"D8:6": "a", "D9:17": "b", "D11:26": "c", "D30:5": "d"}

    assert locomo.clean(["D8:6; D9:17"], refs) == {"a", "b"}
    assert locomo.clean(["D:11:26", "D30:05"], refs) == {"c", "d"}
    assert locomo.clean(["D", "D4:36"], refs) == frozenset()


def test_locomo_conversations_become_dated_sessions_with_speakers_and_pictures(
    tmp_path: Path,
) -> None:
    """What was said is searched as it was said.

    What is left out is counted, so that figures can be compared.
    """
    data = written(
        tmp_path / "locomo.json",
        [
            conversation(
                "conv-9",
                asked("Which boat?", "D1:2", "D1:99"),
                asked("Never?", "D2:1", category=5),
                asked("Where?", "D7:1"),
            )
        ],
    )
    labelled = locomo.load(data)

    (collection,) = labelled.collections
    log = collection.write_logs(tmp_path).read_text().splitlines()

    assert [json.loads(line) for line in log] == [
        {
            "id": "conv-9-1",
            "at": 1683554160000,
            "turns": [
                {"prompt": "Ines: I bought a kayak yesterday.", "reply": ""},
                {"prompt": "Otto: Show me! [a red boat on a roof]", "reply": ""},
            ],
        },
        {
            "id": "conv-9-2",
            "at": 1694563740000,
            "turns": [{"prompt": "Otto: The bakery burned down.", "reply": ""}],
        },
    ]
    assert collection.questions == [
        Question(
            id="conv-9/0",
            part="dev",
            kind="4",
            text="Which boat?",
            evidence=frozenset({"talk:conv-9-1#2"}),
            sessions=frozenset({"talk:conv-9-1"}),
        )
    ]
    assert labelled.left_out == {
        "questions of category 5": 1,
        "questions without evidence that names a turn": 1,
        "labels that name no turn": 1,
    }


def test_locomo_is_developed_on_three_conversations_and_reported_on_the_rest(talks: Path) -> None:
    """Weights that have seen the questions say nothing about the next ones."""
    parts = [
        {question.part for question in collection.questions}
        for collection in locomo.load(talks).collections
    ]

    assert parts == [{"dev"}, {"dev"}, {"dev"}, {"test"}]


def test_longmemeval_pairs_messages_with_their_replies(tmp_path: Path) -> None:
    """A turn is a question and its answer there as here, and either of
    them may be what was asked for.
    """
    history = [
        [{"role": "assistant", "content": "Welcome."}, {"role": "user", "content": "Hello."}],
        [
            {"role": "user", "content": "Any plans?", "has_answer": False},
            {"role": "assistant", "content": "None."},
            {"role": "user", "content": "I adopted a beagle.", "has_answer": True},
            {"role": "assistant", "content": "Lovely."},
        ],
        [{"role": "user", "content": "Again."}],
    ]
    instance = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Which breed is my dog?",
        "answer": 1,
        "question_date": "2023/06/15 (Thu) 09:12",
        "haystack_session_ids": ["filler", "answer_1", "filler"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/22", "some day"],
        "haystack_sessions": history,
        "answer_session_ids": ["answer_1"],
    }
    unmarked = {
        **instance,
        "question_id": "q2",
        "haystack_sessions": [history[0], history[0], history[2]],
    }
    data = written(
        tmp_path / "longmemeval_s.json", [instance, {**instance, "question_id": "q1_abs"}, unmarked]
    )
    labelled = longmemeval.load(data)

    (collection,) = labelled.collections
    log = collection.write_logs(tmp_path).read_text().splitlines()

    assert [json.loads(line) for line in log] == [
        {
            "id": "filler",
            "at": 1684549260000,
            "turns": [{"prompt": "", "reply": "Welcome."}, {"prompt": "Hello.", "reply": ""}],
        },
        {
            "id": "answer_1",
            "at": 1684713600000,
            "turns": [
                {"prompt": "Any plans?", "reply": "None."},
                {"prompt": "I adopted a beagle.", "reply": "Lovely."},
            ],
        },
        {"id": "filler~2", "at": None, "turns": [{"prompt": "Again.", "reply": ""}]},
    ]
    assert collection.questions == [
        Question(
            id="q1",
            part=part_by_hash("q1"),
            kind="single-session-user",
            text="Which breed is my dog?",
            evidence=frozenset({"talk:answer_1#2"}),
            sessions=frozenset({"talk:answer_1"}),
        )
    ]
    assert labelled.left_out == {
        "questions about what was never said": 1,
        "questions without a marked turn": 1,
    }


def test_a_third_of_the_questions_is_for_development() -> None:
    """The split depends on nothing but the name, so it is the same on
    every machine and in every version.
    """
    parts = [part_by_hash(f"question {number}") for number in range(3000)]

    assert 900 < parts.count("dev") < 1100
    assert set(parts) == set(PARTS)
    assert [part_by_hash(name) for name in ("a", "b", "c", "e")] == ["test", "dev", "test", "test"]


ROWS: list[dict[str, Any]] = [
    {"idx": "t-0", "doc": "sort a list", "code": "xs.sort()", "label": 1, "retrieval_idx": 0},
    {"idx": "t-1", "doc": "sort a list", "code": "sorted(xs)", "label": 1, "retrieval_idx": 1},
    {"idx": "t-2", "doc": "read a file", "code": "xs.sort()", "label": 0, "retrieval_idx": 0},
    {"idx": "t-3", "doc": "open a file", "code": "open(path)", "label": 1, "retrieval_idx": 2},
]


@pytest.mark.parametrize("shape", ["json", "lines", "folder"])
def test_code_sets_are_read_in_each_shape_they_are_published_in(tmp_path: Path, shape: str) -> None:
    """The same questions and codes give the same set, whoever packed them."""
    data = tmp_path / "set"
    if shape == "json":
        written(data, ROWS)
    elif shape == "lines":
        rows = ({"query": row["doc"], "code": row["code"], "label": row["label"]} for row in ROWS)
        data.write_text("\n".join(map(json.dumps, rows)))
    else:
        (data / "qrels").mkdir(parents=True)
        codes, texts = (
            dict.fromkeys(row["code"] for row in ROWS),
            dict.fromkeys(row["doc"] for row in ROWS),
        )
        (data / "corpus.jsonl").write_text(
            "".join(json.dumps({"_id": code[:5], "text": code}) + "\n" for code in codes)
        )
        (data / "queries.jsonl").write_text(
            "".join(json.dumps({"_id": text[:5], "text": text}) + "\n" for text in texts)
        )
        links = (f"{row['doc'][:5]}\t{row['code'][:5]}\t{row['label']}\n" for row in ROWS)
        (data / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(links))
    labelled = cosqa.load(data)

    (collection,) = labelled.collections
    log = collection.write_logs(tmp_path).read_text().splitlines()

    assert [json.loads(line)["turns"] for line in log] == [
        [{"prompt": code, "reply": ""}] for code in ("xs.sort()", "sorted(xs)", "open(path)")
    ]
    assert {question.text: question.evidence for question in collection.questions} == {
        "sort a list": {"talk:code-1#1", "talk:code-2#1"},
        "open a file": {"talk:code-3#1"},
    }
    assert labelled.left_out == {"questions that no code answers": 1}


def test_codes_that_nobody_asks_for_are_searched_too(tmp_path: Path) -> None:
    """CoSQA's tests are searched in all of its codes.

    Finding one among the asked ones alone is too easy.
    """
    data = written(tmp_path / "cosqa-retrieval-test-500.json", ROWS)
    written(tmp_path / "code_idx_map.txt", {"xs.sort()": 0, "exit()": 77})

    (collection,) = cosqa.load(data).collections
    log = collection.write_logs(tmp_path).read_text()

    assert [json.loads(line)["turns"][0]["prompt"] for line in log.splitlines()] == [
        "xs.sort()", "sorted(xs)", "open(path)", "exit()",
    ]  # fmt: skip


@pytest.mark.parametrize("load", [locomo.load, longmemeval.load, cosqa.load])
def test_another_file_is_refused_by_name(load: Any, tmp_path: Path) -> None:
    """A wrong path must not look like a set that nothing is found in."""
    data = written(tmp_path / "package.json", [{"name": "left-pad"}])

    with pytest.raises(UsageError, match=r"package\.json"):
        list(load(data).collections)


def test_a_talk_is_captured_like_a_log(talks: Path, tmp_path: Path) -> None:
    """What is measured is the store that people have, made by the same code."""
    labelled = locomo.load(talks)
    collection = next(iter(labelled.collections))
    stores = Stores(tmp_path / "stores", encoder=Encoder(), keep=False)

    with stores.opened(labelled.digest, collection, embed=False) as memory:
        turn = memory.show("talk:conv-1-1#2")
        sessions = [
            (session.id, session.started_at, session.turns) for session in memory.sessions()
        ]

    assert isinstance(turn, Turn)
    assert (turn.prompt, turn.author, turn.started_at) == (
        "Otto: Show me! [a red boat on a roof]", "human", "2023-05-08T13:56:00.000Z",
    )  # fmt: skip
    assert sessions == [
        ("talk:conv-1-2", "2023-09-13T00:09:00.000Z", 1),
        ("talk:conv-1-1", "2023-05-08T13:56:00.000Z", 2),
    ]
    assert list((tmp_path / "stores").iterdir()) == []


def test_a_kept_store_is_used_again_until_the_set_or_the_encoder_changes(
    talks: Path, tmp_path: Path
) -> None:
    """Embedding with a large model takes hours.

    A store of other text would give figures of nothing.
    """
    labelled = locomo.load(talks)
    collection = next(iter(labelled.collections))

    def imported(digest: str, encoder: Encoder) -> list[int]:
        with Stores(tmp_path / "kept", encoder=encoder, keep=True).opened(
            digest, collection, embed=False
        ):
            return sorted(
                path.stat().st_mtime_ns for path in (tmp_path / "kept").glob("*/imported")
            )

    first = imported(labelled.digest, Encoder())

    assert imported(labelled.digest, Encoder()) == first
    assert len(imported("another set", Encoder())) == 2
    assert len(imported(labelled.digest, Encoder("onnx", "model.onnx"))) == 3


def test_the_command_prints_the_figures_of_each_part_and_mode(
    talks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one command that docs/performance.md and everybody's scripts rely on."""
    code = main(["--set", "locomo", "--data", str(talks), "--json", "--by", "kind"])

    report = json.loads(capsys.readouterr().out)
    assert code == 0
    assert {part: list(modes) for part, modes in report.items()} == {
        "dev": ["text", "vector", "hybrid"],
        "test": ["text", "vector", "hybrid"],
    }
    for part, questions in (("dev", 6), ("test", 2)):
        text = report[part]["text"]
        assert text.pop("by") == {"4": text}
        assert text.pop("p50_ms") > 0
        assert text == {**dict.fromkeys(FIGURES, 1.0), "questions": questions}


def test_a_quick_look_takes_the_first_questions_of_each_part(
    talks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One may want to know whether it works before knowing how well."""
    code = main(["--set", "locomo", "--data", str(talks), "--mode", "text", "--limit", "1"])

    out, err = capsys.readouterr()
    assert code == 0
    assert [line.split()[:2] + line.split()[-1:] for line in out.splitlines()[1:]] == [
        ["dev", "text", "1"],
        ["test", "text", "1"],
    ]
    assert "conv-2" not in err


def test_misses_are_shown_for_development_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever reads the test questions tunes to them, willingly or not."""
    lost = asked("What did Ines buy, a kayak?", "D2:1")
    data = written(
        tmp_path / "locomo.json", [conversation(f"conv-{number}", lost) for number in range(1, 5)]
    )
    wanted = ["--set", "locomo", "--data", str(data), "--mode", "text", "--misses", "9"]

    assert main(wanted) == 0
    shown = capsys.readouterr().out
    assert main([*wanted, "--part", "test"]) == UsageError.exit_code
    refused = capsys.readouterr().err

    assert shown.count("What did Ines buy, a kayak?") == 3
    assert "wanted  talk:conv-1-2#1  not found: Otto: The bakery burned down." in shown
    assert "found   talk:conv-1-1#1" in shown
    assert "conv-4" not in shown
    assert "not for reading" in refused


def test_a_set_that_is_not_ours_needs_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Published sets are never shipped; the hint says what to do instead."""
    assert main(["--set", "locomo"]) == UsageError.exit_code
    assert (
        main(["--set", "locomo", "--data", str(tmp_path / "nowhere.json")]) == UsageError.exit_code
    )

    err = capsys.readouterr().err
    assert "--data" in err
    assert "nowhere.json is not there" in err


def test_our_own_set_is_asked_of_its_own_logs(capsys: pytest.CaptureFixture[str]) -> None:
    """Every answer must be a turn of a store made from the logs, or the set measures nothing."""
    assert (
        main(
            [
                "--mode",
                "text",
                "--part",
                "dev",
                "--categories",
                "error,file",
                "--by",
                "kind",
                "--json",
            ]
        )
        == 0
    )

    text = json.loads(capsys.readouterr().out)["dev"]["text"]
    assert set(text["by"]) == {"error", "file"}
    assert text["questions"] == sum(kind["questions"] for kind in text["by"].values())
    # An error or a path, typed as it was logged, is what words are best at.
    assert text["hit_at_10"] > 0.9


def test_injection_is_measured_on_our_own_prompts(capsys: pytest.CaptureFixture[str]) -> None:
    """Speaking at the wrong moment is what makes people switch a memory off."""
    assert main(["--part", "dev", "--categories", "silent,speak", "--json"]) == 0

    report = json.loads(capsys.readouterr().out)
    assert list(report) == ["dev"]
    assert list(report["dev"]) == ["injection", "hook"]
    injection, hook = report["dev"]["injection"], report["dev"]["hook"]
    assert set(injection) == {"precision", "line_precision", "silence", "spoke", "prompts"}
    assert injection["prompts"] == hook["prompts"] > 60
    assert all(0 <= injection[name] <= 1 for name in ("silence", "spoke"))
    # Both ask one question of the same rows, and answer it cautiously for turns as short as these.
    assert 0.15 < hook["spoke"] == injection["spoke"]
    assert hook["silence"] > 0.9
    assert hook["agreed"] == 1
