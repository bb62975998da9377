"""The encoder in the package: what its vectors are, what a new
process pays, what a bad file says.
"""

from __future__ import annotations

import importlib.util
import math
import re
import subprocess
import sys
import threading
from array import array
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.embed import sums, tokens
from recollect.embed.static import StaticEncoder
from recollect.errors import EncoderUnavailable, UsageError

MODEL = Path(tokens.__file__).with_name("recollect-static-256.bin")
SHARED = Path(__file__).parents[3] / "shared" / "models" / "static"
ENCODER = StaticEncoder()

# Any text at all, and texts that look like code, where the splitting has more to do.
TEXTS = st.one_of(
    st.text(),
    st.text(st.characters(exclude_categories=())),  # lone surrogates too
    st.text("aBc_1 .é漢²٣İ", max_size=80),
    st.lists(
        st.sampled_from(
            ["parse_rollout", "HTTPServer2", "the", "zxqvk", "Dataframe", "dataFrame", "漢字"]
        )
    ).map(" ".join),
)

# The first three numbers of each vector, from the encoder that the model was measured with.
GOLDEN = {
    "port already in use": [0.0172558, 0.1155204, -0.0418867],
    "OSError: [Errno 98] Address already in use": [-0.0619664, 0.0512273, 0.0897973],
    "parseRolloutFile": [-0.0343814, 0.1015911, -0.0569062],
    "how did we fix the flaky test, how?": [-0.2088151, -0.0418819, -0.0966304],
    "Caroline went hiking with her kids": [-0.1649015, -0.3575055, -0.1160864],
    "kuberntes zxqvk": [-0.0495448, 0.0598546, 0.0249913],
    "git rebase --onto main 3f2a91c": [-0.0319758, -0.0153918, -0.0465479],
    "数据库 连接 失败": [-0.0804256, 0.0858273, 0.0337548],
}


@pytest.mark.parametrize("text", GOLDEN)
def test_vectors_stay_the_same(text: str) -> None:
    """Vectors outlive the code that made them: a store full of them must stay comparable."""
    assert list(ENCODER.encode_plainly(text))[:3] == pytest.approx(GOLDEN[text], abs=1e-6)


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    source = SHARED / "static_encoder.py"
    if not source.exists():
        pytest.skip("the encoder that the model was measured with is not beside the project")
    spec = importlib.util.spec_from_file_location("reference_encoder", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_vectors_are_those_the_figures_were_measured_with(reference: ModuleType) -> None:
    """The figures in train/README.md hold for this encoder only if its vectors are the same."""
    measured = reference.StaticEncoder(str(SHARED / MODEL.name))
    texts = [path.read_text(encoding="utf-8") for path in sorted(MODEL.parent.glob("*.py"))]
    texts += [
        *GOLDEN,
        "naïve Ünïcode 漢字 dataFrame dataframe DATAFRAME",
        "",
        "x" * 30,
        "a_b__c _d_ 3.14 ２",
    ]

    assert np.abs(ENCODER.encode_documents(texts) - measured.encode(texts)).max() < 1e-6


@given(st.lists(TEXTS, max_size=6))
def test_a_question_and_a_document_of_the_same_words_are_the_same_vector(texts: list[str]) -> None:
    """Plain Python answers the questions and numpy reads the documents.

    They must not drift apart.
    """
    batch = ENCODER.encode_documents(texts)

    assert batch.shape == (len(texts), 256)
    for text, row in zip(texts, batch, strict=True):
        assert np.abs(np.array(ENCODER.encode_plainly(text)) - row).max() < 1e-5


@given(TEXTS)
def test_a_vector_is_one_long_or_all_zeros(text: str) -> None:
    """Nothing that a person can type may raise, or give a vector that scores wrongly."""
    vector = ENCODER.encode_plainly(text)

    assert isinstance(vector, array)
    assert vector.typecode == "f"
    length = math.sqrt(sum(number * number for number in vector))
    assert length == pytest.approx(1, abs=1e-5) if any(vector) else length == 0


@given(TEXTS)
def test_tokens_are_what_the_two_expressions_of_training_say(text: str) -> None:
    """The model was trained on tokens cut by these expressions.

    Ours avoid them for the sake of a cold start.
    """
    part = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")

    found = tokens.identifiers(text)

    assert found == sums.IDENTIFIERS.findall(text)
    assert [tokens.split(identifier) for identifier in found] == [
        part.findall(identifier) for identifier in found
    ]


@pytest.mark.parametrize("text", ["", " \n", "___", "!?…", "🙂🚀", "\ud800\udfff", "x" * 25])
def test_a_text_without_tokens_is_all_zeros(text: str) -> None:
    """Zeros are near nothing, so such a text is neither found nor finds anything."""
    assert list(ENCODER.encode_plainly(text)) == [0.0] * 256
    assert not ENCODER.encode_documents([text]).any()


def test_an_identifier_is_near_its_own_words() -> None:
    """Someone who remembers the words finds the function, however it was spelled."""
    query = ENCODER.encode_query("parseRollout")
    same, snake, other = ENCODER.encode_documents(["PARSE ROLLOUT", "parse_rollout", "apple pie"])

    assert similarity(query, snake) > 0.99
    assert similarity(query, same) > 0.99
    assert similarity(query, other) < 0.3


def test_what_means_the_same_is_nearer_than_what_does_not() -> None:
    """The reason to have the encoder at all: no word is shared, and the right text is first."""
    query = ENCODER.encode_query("free up disk space")
    texts = [
        "prune unused docker images and volumes",
        "rename the branch",
        "add a unit test for the parser",
    ]

    scores = [similarity(query, row) for row in ENCODER.encode_documents(texts)]

    assert scores.index(max(scores)) == 0


def test_a_misspelt_word_is_near_the_right_one() -> None:
    """An unlisted word is spelled by its letters, so it is not lost."""
    query = ENCODER.encode_query("kuberntes")
    near, far = ENCODER.encode_documents(["kubernetes", "breakfast"])

    assert similarity(query, near) > similarity(query, far) + 0.2


def test_only_the_beginning_of_a_huge_text_is_read() -> None:
    """A megabyte of tool output costs no more than a page."""
    beginning = ("port in use " * 400)[: tokens.MAX_CHARS]

    assert ENCODER.encode_plainly(beginning + " kubernetes" * 100_000) == ENCODER.encode_plainly(
        beginning
    )


def test_order_and_size_of_a_batch_do_not_matter() -> None:
    """Groups are cut by size; a text must not notice who its neighbours are."""
    texts = [
        f"commit {number} fixes parseRollout{number} " * (number % 60) for number in range(300)
    ]

    batch = ENCODER.encode_documents(texts)

    alone = np.concatenate([ENCODER.encode_documents([text]) for text in texts])
    assert np.abs(batch - alone).max() < 1e-6
    assert ENCODER.encode_documents([]).shape == (0, 256)


def test_forgetting_identifiers_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept between batches is bounded, and only ever saves time."""
    texts = [f"zq{number}xv rollout w{number}" * 40 for number in range(200)]
    expected = ENCODER.encode_documents(texts)
    monkeypatch.setattr(sums, "MAX_KEPT", 10)

    assert np.array_equal(StaticEncoder().encode_documents(texts), expected)


def test_threads_may_share_an_encoder() -> None:
    """The web page and the embedding job live in one process."""
    encoder = StaticEncoder()
    texts = [f"zq{number % 97}xv rollout w{number}" for number in range(2000)]
    expected = StaticEncoder().encode_documents(texts)
    answers: list[bool] = []

    def encode() -> None:
        answers.append(bool(np.abs(encoder.encode_documents(texts) - expected).max() < 1e-6))

    threads = [threading.Thread(target=encode) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [True] * 4


@pytest.mark.parametrize("dimensions", [128, 64])
def test_the_beginning_of_a_vector_is_a_vector(dimensions: int) -> None:
    """Who needs smaller vectors gets them from the same file, under a name of their own."""
    encoder = StaticEncoder(dimensions=dimensions)
    whole = np.array(ENCODER.encode_plainly("address already in use"))[:dimensions]

    vector = encoder.encode_plainly("address already in use")

    assert (encoder.name, encoder.dimensions) == (
        f"static:recollect-static-256:{dimensions}",
        dimensions,
    )
    assert np.array(vector) == pytest.approx(whole / np.linalg.norm(whole), abs=1e-6)
    assert encoder.encode_documents(["address already in use"])[0] == pytest.approx(
        np.array(vector), abs=1e-6
    )


def test_the_name_says_what_the_vectors_depend_on() -> None:
    """It is stored with every vector."""
    assert (ENCODER.name, ENCODER.dimensions) == ("static:recollect-static-256", 256)


def test_a_length_that_was_not_trained_is_refused() -> None:
    """The first hundred numbers mean nothing by themselves."""
    with pytest.raises(UsageError) as caught:
        StaticEncoder(dimensions=100)

    assert caught.value.hint == "Choose 64, 128, 256."


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda data: b"", "is empty"),
        (lambda data: data[:10], "does not begin with RCSTAT02"),
        (lambda data: b"RCSTAT01" + data[8:], "does not begin with RCSTAT02"),
        (lambda data: data[:-1000], "bytes; its header says"),
        (lambda data: data + b"more", "bytes; its header says"),
        (lambda data: data[:8] + bytes(16) + data[24:], "bytes; its header says"),
        (lambda data: data[:8] + data[8:24][::-1] + data[24:], "bytes; its header says"),
        (
            lambda data: data[:64] + bytes(4 * 40_001) + data[64 + 4 * 40_001 :],
            "a word list that does not end where",
        ),
    ],
)
def test_a_file_that_cannot_be_right_is_refused(
    damage: Callable[[bytes], bytes], says: str, tmp_path: Path
) -> None:
    """A torn download or an old file must not become silent nonsense in the store."""
    path = tmp_path / "model.bin"
    path.write_bytes(damage(MODEL.read_bytes()))

    with pytest.raises(EncoderUnavailable, match=says) as caught:
        StaticEncoder(str(path))

    assert "--mode text" in caught.value.hint


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    """The search goes on with words alone and says why."""
    with pytest.raises(EncoderUnavailable, match=r"cannot be read: No such file"):
        StaticEncoder(str(tmp_path / "nowhere.bin"))


def test_a_new_process_encodes_a_question_without_numpy_or_the_word_list() -> None:
    """Importing numpy costs ten times the search itself, and the list is forty thousand strings."""
    code = """
import sys
before = set(sys.modules)
from recollect.embed.static import StaticEncoder
encoder = StaticEncoder()
assert any(encoder.encode_query("why did the rollout parser drop the lastest lines"))
slow = {"numpy", "re", "json", "typing", "dataclasses", "logging", "pathlib"}
slow.add("recollect.embed.sums")
print(sorted((set(sys.modules) - before) & slow))
"""
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert answer.stdout.strip() == "[]"


def similarity(one: array[float], other: object) -> float:
    return float(np.dot(np.array(one), np.array(other)))
