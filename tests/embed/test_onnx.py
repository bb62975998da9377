"""ONNX encoders agree with the arithmetic of their model, whatever their file asks for."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto

from recollect.embed import open_encoder
from recollect.errors import EncoderUnavailable
from tests.embed import bert
from tests.embed.samples import TEXTS, chosen, cosines

if TYPE_CHECKING:
    from recollect.embed import Encoder


@pytest.fixture(scope="session")
def encoder(tiny: Path) -> Encoder:
    return open_encoder(chosen("onnx", tiny))


def test_vectors_of_a_real_model_agree_with_the_reference(
    minilm: Path, minilm_vectors: NDArray[np.float32]
) -> None:
    """The whole way, from tokens to unit vectors, with a model that people use."""
    encoder = open_encoder(chosen("onnx", minilm))

    found = encoder.encode_documents(TEXTS)

    assert encoder.dimensions == 384
    assert min(cosines(found, minilm_vectors)) > 0.9999


@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
def test_tokens_become_one_vector_the_way_the_settings_say(tiny: Path, pooling: str) -> None:
    """The wrong pooling gives vectors that look fine and find nothing."""
    encoder = open_encoder(chosen("onnx", tiny, pooling=pooling))

    found = encoder.encode_documents(TEXTS)

    assert min(cosines(found, bert.vectors_of(tiny, TEXTS, pooling=pooling))) > 0.9999


@settings(max_examples=25, deadline=None)
@given(texts=st.lists(st.text(max_size=80), max_size=9))
def test_a_text_has_the_same_vector_alone_and_among_others(
    encoder: Encoder, texts: list[str]
) -> None:
    """Padding, sorting and batching are nobody's business but ours."""
    together = encoder.encode_documents(texts)

    alone = [encoder.encode_documents([text])[0] for text in texts]
    np.testing.assert_allclose(together, np.array(alone).reshape(together.shape), atol=1e-5)


def test_a_question_is_an_array_of_the_same_vector(encoder: Encoder) -> None:
    """Without prefixes, asking for a text finds it."""
    question = encoder.encode_query(TEXTS[0])

    assert question.typecode == "f"
    np.testing.assert_allclose(
        np.array(question), encoder.encode_documents(TEXTS[:1])[0], atol=1e-6
    )


def test_a_text_of_nothing_is_a_vector_of_zeros(encoder: Encoder) -> None:
    """It is like no other text, and not like every other empty one."""
    found = encoder.encode_documents(["", TEXTS[0], " \n\t"])

    assert [bool(row.any()) for row in found] == [False, True, False]
    assert list(encoder.encode_query(" ")) == [0.0] * 64


def test_text_that_is_no_text_is_read_all_the_same(encoder: Encoder) -> None:
    """A shell hands over bytes that are not UTF-8 as lone surrogates."""
    assert any(encoder.encode_query("the build \udcff fails"))


def test_long_texts_are_read_as_far_as_the_context_goes(tiny: Path) -> None:
    """The end of a long text must neither fail nor count."""
    encoder = open_encoder(chosen("onnx", tiny, context=10))
    text = "the build fails when the parser reads unicode in file after file"

    found = encoder.encode_documents([text])

    assert min(cosines(found, bert.vectors_of(tiny, [text], context=10))) > 0.9999


def test_no_more_is_read_than_the_model_can(tiny: Path) -> None:
    """This model has 64 places: the default context would be past its end."""
    encoder = open_encoder(chosen("onnx", tiny))

    found = encoder.encode_documents(["error " * 500])

    assert min(cosines(found, bert.vectors_of(tiny, ["error " * 500], context=64))) > 0.9999


def test_a_context_past_the_model_is_an_error_with_a_way_out(tiny: Path, tmp_path: Path) -> None:
    """Where the files do not say how much the model can read, it says so itself, in its own way."""
    model = shutil.copytree(tiny, tmp_path / "model")
    (model / "tokenizer_config.json").unlink()
    encoder = open_encoder(chosen("onnx", model))

    with pytest.raises(EncoderUnavailable, match="cannot read this text") as caught:
        encoder.encode_documents(["error " * 500])

    assert "embed.context" in caught.value.hint


def test_shortened_vectors_are_units_again(tiny: Path) -> None:
    """Models that allow it put the most important numbers first."""
    encoder = open_encoder(chosen("onnx", tiny, dimensions=16))
    expected = bert.vectors_of(tiny, TEXTS)[:, :16]

    found = encoder.encode_documents(TEXTS)

    assert found.shape == (len(TEXTS), 16)
    assert min(cosines(found, expected / np.linalg.norm(expected, axis=1, keepdims=True))) > 0.9999


def test_more_dimensions_than_the_model_has_are_refused(tiny: Path) -> None:
    """Nothing sensible could fill the rest."""
    with pytest.raises(
        EncoderUnavailable, match=r"embed\.dimensions is 65, but the model makes 64 numbers"
    ):
        open_encoder(chosen("onnx", tiny, dimensions=65))


def test_questions_and_documents_get_their_prefixes(tiny: Path, tmp_path: Path) -> None:
    """A model is known by the name of its folder, and asked the way its makers say."""
    model = shutil.copytree(tiny, tmp_path / "nomic-embed-text-v1.5")
    encoder = open_encoder(chosen("onnx", model))

    question = np.array([encoder.encode_query("fix")])
    document = encoder.encode_documents(["fix"])

    expected = bert.vectors_of(tiny, ["search_query: fix", "search_document: fix"])
    assert min(cosines(np.concatenate([question, document]), expected)) > 0.9999


@pytest.mark.parametrize(
    ("inputs", "integer"),
    [(bert.INPUTS, TensorProto.INT32), (("input_ids", "attention_mask"), TensorProto.INT64)],
    ids=["small integers", "no token types"],
)
def test_a_model_gets_the_inputs_it_asks_for(
    tiny: Path, tmp_path: Path, inputs: tuple[str, ...], integer: int
) -> None:
    """Exporters differ, and a missing or surplus input is an error in the library."""
    model = shutil.copytree(tiny, tmp_path / "model")
    bert.write_onnx(tiny, model / "model.onnx", inputs=inputs, integer=integer)

    found = open_encoder(chosen("onnx", model)).encode_documents(TEXTS)

    assert min(cosines(found, bert.vectors_of(tiny, TEXTS))) > 0.9999


def test_a_vector_that_the_model_pooled_itself_is_preferred(tiny: Path, tmp_path: Path) -> None:
    """There may be layers behind the pooling that the tokens have not seen.

    A user's own choice still wins.
    """
    model = shutil.copytree(tiny, tmp_path / "model")
    bert.write_onnx(tiny, model / "model.onnx", pooled=True)

    ready = open_encoder(chosen("onnx", model)).encode_documents(TEXTS)
    mean = open_encoder(chosen("onnx", model, pooling="mean")).encode_documents(TEXTS)

    assert min(cosines(ready, bert.vectors_of(tiny, TEXTS, pooling="cls"))) > 0.9999
    assert min(cosines(mean, bert.vectors_of(tiny, TEXTS, pooling="mean"))) > 0.9999


def test_the_pooling_is_read_from_the_files_beside_the_model(tiny: Path, tmp_path: Path) -> None:
    """What a model's own folder says is better than what its name suggests."""
    model = shutil.copytree(tiny, tmp_path / "all-MiniLM-L6-v2")
    (model / "1_Pooling").mkdir()
    told = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (model / "1_Pooling" / "config.json").write_text(json.dumps(told))

    found = open_encoder(chosen("onnx", model)).encode_documents(TEXTS)

    assert min(cosines(found, bert.vectors_of(tiny, TEXTS, pooling="cls"))) > 0.9999


def test_a_model_in_its_own_subfolder_finds_the_tokenizer_above(tiny: Path, tmp_path: Path) -> None:
    """That is how hubs lay models out; the file may be named too."""
    model = tmp_path / "model"
    (model / "onnx").mkdir(parents=True)
    shutil.copy(tiny / "model.onnx", model / "onnx" / "model.onnx")
    shutil.copy(tiny / "tokenizer.json", model)

    by_folder = open_encoder(chosen("onnx", model)).encode_documents(TEXTS)
    by_file = open_encoder(chosen("onnx", model / "onnx" / "model.onnx")).encode_documents(TEXTS)

    np.testing.assert_array_equal(by_folder, by_file)


def test_the_name_tells_vectors_apart_that_cannot_be_compared(tiny: Path, tmp_path: Path) -> None:
    """Stored vectors are used again only under the very same name."""
    other = shutil.copytree(tiny, tmp_path / "tiny")
    bert.write_onnx(bert.write_tiny(other, seed=8), other / "model.onnx")
    ways: list[dict[str, object]] = [
        {},
        {"dimensions": 32},
        {"pooling": "cls"},
        {"query_prefix": "q: "},
        {"context": 100},
    ]

    names = [open_encoder(chosen("onnx", tiny, **way)).name for way in ways]
    names.append(open_encoder(chosen("onnx", other)).name)

    assert len(set(names)) == len(names)
    assert names[0].startswith("onnx:tiny@")
    assert open_encoder(chosen("onnx", tiny, batch=7, threads=2)).name == names[0]


def test_nothing_is_written_to_the_terminal(
    tiny: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Answers go to stdout, and a library's chatter must not be
    among them, not even when it fails.
    """
    broken = shutil.copytree(tiny, tmp_path / "broken")
    (broken / "model.onnx").write_bytes(b"\x08\x0a\x12not a model")

    open_encoder(chosen("onnx", tiny)).encode_documents(TEXTS)
    with pytest.raises(EncoderUnavailable):
        open_encoder(chosen("onnx", broken))

    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("no model", "contains no .onnx file"),
        ("two models", "contains several models: one.onnx, two.onnx"),
        ("no tokenizer", "There is no tokenizer.json beside"),
        ("broken model", "cannot be loaded"),
        ("broken tokenizer", "cannot be read"),
        ("strange input", "asks for task_id"),
        ("nothing there", "There is no"),
    ],
)
def test_a_folder_that_is_not_a_model_is_told_what_it_lacks(
    tiny: Path, tmp_path: Path, wrong: str, message: str
) -> None:
    """Somebody has just downloaded something, and wants to know what is missing."""
    model = shutil.copytree(tiny, tmp_path / "model")
    if wrong in ("no model", "two models"):
        (model / "model.onnx").unlink()
    if wrong == "two models":
        (model / "one.onnx").touch()
        (model / "two.onnx").touch()
    if wrong == "no tokenizer":
        (model / "tokenizer.json").unlink()
    if wrong == "broken model":
        (model / "model.onnx").write_bytes(b"nonsense")
    if wrong == "broken tokenizer":
        (model / "tokenizer.json").write_text("{")
    if wrong == "strange input":
        bert.write_onnx(tiny, model / "model.onnx", inputs=(*bert.INPUTS, "task_id"))
    if wrong == "nothing there":
        shutil.rmtree(model)

    with pytest.raises(EncoderUnavailable, match=message) as caught:
        open_encoder(chosen("onnx", model))

    assert caught.value.hint


def test_without_a_model_the_next_step_is_named() -> None:
    """Choosing a provider is only half of it."""
    with pytest.raises(EncoderUnavailable, match=r"embed\.model is not set.") as caught:
        open_encoder(chosen("onnx", ""))

    assert 'config.toml, under [embed]: model = "' in caught.value.hint


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_without_the_library_the_extra_is_named(
    tiny: Path, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None in sys.modules is Python's own way to say that a module is not to be had."""
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(EncoderUnavailable, match=f"{library} is not installed") as caught:
        open_encoder(chosen("onnx", tiny))

    assert caught.value.hint == "Try: pip install 'recollect[onnx]'"
