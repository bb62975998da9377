"""Facts about models are found by name, and the user's word wins."""

from __future__ import annotations

import pytest

from recollect.embed.known import MODELS, POOLINGS, Known, Reading, find_known, reading
from recollect.errors import SettingsError
from tests.embed.samples import chosen


@pytest.mark.parametrize("name", MODELS)
def test_each_model_is_found_by_its_own_name(name: str) -> None:
    """The first match counts, so a broad name must not stand before a narrow one."""
    assert find_known(name) is MODELS[name]
    assert MODELS[name].pooling in ("", *POOLINGS)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/models/nomic-embed-text-v1.5.Q8_0.gguf", "nomic-embed-text"),
        ("nomic-embed-text:latest", "nomic-embed-text"),
        ("intfloat/multilingual-e5-small", "e5-small"),
        ("C:\\models\\bge_small_en_v1.5\\onnx\\model_quantized.onnx", "bge-small-en"),
        ("/models/BAAI/bge-m3/model.onnx", "bge-m3"),
        ("Alibaba-NLP/gte-base-en-v1.5", "gte-base-en-v1.5"),
        ("thenlper/gte-base", "gte-base"),
        ("mxbai-embed-large-v1-f16.gguf", "mxbai-embed-large"),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "arctic-embed-l-v2.0"),
        ("Snowflake/snowflake-arctic-embed-m-v1.5", "arctic-embed-m"),
        ("sentence-transformers/all-MiniLM-L6-v2/", "all-minilm"),
        ("qwen3-embedding:0.6b", "qwen3-embedding-0.6b"),
        ("Qwen3-Embedding-8B-Q4_K_M.gguf", "qwen3-embedding-8b"),
        ("embeddinggemma-300M-qat-Q8_0.gguf", "embeddinggemma"),
        ("text-embedding-3-large", "text-embedding-3-large"),
    ],
)
def test_a_model_is_found_by_the_names_it_goes_by(path: str, name: str) -> None:
    """Files, folders, hubs and services spell the same model differently."""
    assert find_known(path) is MODELS[name]


@pytest.mark.parametrize(
    "path", ["", "model.onnx", "/home/gte/models/mine.gguf", "code5-base", "my-embedder", "bge-m3x"]
)
def test_a_model_nobody_knows_has_no_facts(path: str) -> None:
    """A prefix for the wrong model would make every vector worse, silently."""
    assert find_known(path) == Known()


def test_what_the_user_says_wins_even_when_it_is_empty() -> None:
    """Somebody may have trained a known model again, without the prefixes."""
    nomic = MODELS["nomic-embed-text"]

    filled_in = reading(chosen("gguf", "x"), nomic)
    emptied = reading(
        chosen("gguf", "x", query_prefix="", document_prefix="text: ", pooling="cls"), nomic
    )

    assert filled_in == Reading("search_query: ", "search_document: ", "mean")
    assert emptied == Reading("", "text: ", "cls")


def test_a_pooling_that_does_not_exist_is_refused_by_name() -> None:
    """A misspelled word must not silently mean the default."""
    with pytest.raises(SettingsError, match=r'There is no embed\.pooling "maen"') as caught:
        reading(chosen("onnx", "x", pooling="maen"), Known())

    assert caught.value.hint == "Choose mean, cls, last."
