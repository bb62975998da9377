"""GGUF encoders agree with the arithmetic of their model, and keep to themselves."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.embed import open_encoder
from recollect.embed.gguf import GgufEncoder
from recollect.errors import EncoderUnavailable
from tests.embed import bert
from tests.embed.samples import TEXTS, chosen, cosines


@pytest.mark.parametrize("kind", ["f16", "q8_0"])
def test_vectors_of_a_real_model_agree_with_the_reference(
    minilm_vectors: NDArray[np.float32], minilm_gguf: dict[str, Path], kind: str
) -> None:
    """Weights of 16 and of 8 bits lose a little, and only that."""
    encoder = open_encoder(chosen("gguf", minilm_gguf[kind]))

    found = encoder.encode_documents(TEXTS)

    assert encoder.dimensions == 384
    assert min(cosines(found, minilm_vectors)) > {"f16": 0.9999, "q8_0": 0.99}[kind]


@pytest.mark.parametrize("pooling", ["", "mean", "cls", "last"])
def test_tokens_become_one_vector_the_way_the_settings_say(
    tiny: Path, tiny_gguf: Path, pooling: str
) -> None:
    """The wrong pooling gives vectors that look fine and find nothing; this file says mean."""
    encoder = open_encoder(chosen("gguf", tiny_gguf, pooling=pooling))

    found = encoder.encode_documents(TEXTS)

    assert min(cosines(found, bert.vectors_of(tiny, TEXTS, pooling=pooling or "mean"))) > 0.999


def test_batches_keep_the_order_of_texts(tiny: Path, tiny_gguf: Path) -> None:
    """Texts are sorted by length for the model, and back for the caller."""
    encoder = open_encoder(chosen("gguf", tiny_gguf, batch=3))
    texts = [f"fix the {'error ' * (number * 7 % 5)}{number}" for number in range(20)]

    found = encoder.encode_documents(texts)

    assert min(cosines(found, bert.vectors_of(tiny, texts))) > 0.999


def test_a_question_and_texts_of_nothing(tiny_gguf: Path) -> None:
    """A question is an array of the same vector; nothing is a vector of zeros."""
    encoder = open_encoder(chosen("gguf", tiny_gguf))

    question = encoder.encode_query(TEXTS[0])
    found = encoder.encode_documents(["", TEXTS[0], " \n"])

    assert question.typecode == "f"
    np.testing.assert_allclose(np.array(question), found[1], atol=1e-4)
    assert [bool(row.any()) for row in found] == [False, True, False]
    assert list(encoder.encode_query("")) == [0.0] * 64


@pytest.mark.parametrize("context", [512, 40])
def test_a_text_that_is_too_long_is_read_from_its_beginning(
    tiny: Path, tiny_gguf: Path, context: int
) -> None:
    """llama.cpp refuses it, and with it everything else in the batch.

    The limit is the model's (64 tokens) or ours.
    """
    encoder = open_encoder(chosen("gguf", tiny_gguf, context=context))
    long = "the parser reads " * 400

    found = encoder.encode_documents([TEXTS[0], long, TEXTS[1]])

    short = found[[0, 2]]
    assert min(cosines(short, bert.vectors_of(tiny, TEXTS[:2]))) > 0.999
    assert min(cosines(found[1:2], bert.vectors_of(tiny, [long], context=min(context, 64)))) > 0.9


def test_shortened_vectors_are_units_again(tiny: Path, tiny_gguf: Path) -> None:
    """Models that allow it put the most important numbers first."""
    encoder = open_encoder(chosen("gguf", tiny_gguf, dimensions=16))
    expected = bert.vectors_of(tiny, TEXTS)[:, :16]

    found = encoder.encode_documents(TEXTS)

    assert min(cosines(found, expected / np.linalg.norm(expected, axis=1, keepdims=True))) > 0.999


def test_questions_and_documents_get_their_prefixes(
    tiny: Path, tiny_gguf: Path, tmp_path: Path
) -> None:
    """A model is known by the name of its file, and asked the way its makers say."""
    model = shutil.copy(tiny_gguf, tmp_path / "nomic-embed-text-v1.5.Q8_0.gguf")
    encoder = open_encoder(chosen("gguf", model))

    question = np.array([encoder.encode_query("fix")])
    document = encoder.encode_documents(["fix"])

    expected = bert.vectors_of(tiny, ["search_query: fix", "search_document: fix"])
    assert min(cosines(np.concatenate([question, document]), expected)) > 0.999


def test_the_name_tells_vectors_apart_that_cannot_be_compared(
    tiny_gguf: Path, tmp_path: Path
) -> None:
    """Stored vectors are used again only under the very same name."""
    other = bert.write_gguf(
        bert.write_tiny(tmp_path / "other", seed=8), tmp_path / "tiny.gguf", "f16"
    )
    ways: list[dict[str, object]] = [
        {},
        {"dimensions": 32},
        {"pooling": "cls"},
        {"document_prefix": "d: "},
        {"context": 100},
    ]

    names = [open_encoder(chosen("gguf", tiny_gguf, **way)).name for way in ways]
    names.append(open_encoder(chosen("gguf", other)).name)

    assert len(set(names)) == len(names)
    assert names[0].startswith("gguf:tiny.gguf@")
    assert (
        open_encoder(chosen("gguf", tiny_gguf, batch=7, threads=2, gpu_layers=-1)).name == names[0]
    )


def test_nothing_is_written_to_the_terminal(
    tiny_gguf: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """llama.cpp tells all it does on stderr, hundreds of lines of it."""
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(tiny_gguf.read_bytes()[:5000])

    open_encoder(chosen("gguf", tiny_gguf)).encode_documents([*TEXTS, "error " * 500])
    with pytest.raises(EncoderUnavailable, match="cannot load"):
        open_encoder(chosen("gguf", broken))

    assert capfd.readouterr() == ("", "")


def test_nobody_else_can_use_the_port_that_the_library_opens(tiny_gguf: Path) -> None:
    """It answers any page in any browser unless it has a key."""
    encoder = open_encoder(chosen("gguf", tiny_gguf))
    assert isinstance(encoder, GgufEncoder)
    engine = encoder._engine
    address = getattr(engine, "_server").listening_address  # noqa: B009

    for path in ("/v1/embeddings", "/tokenize", "/props"):
        request = Request(
            address + path,
            b'{"input": "hello"}',
            {"Content-Type": "application/json"},
            method="POST",
        )
        with pytest.raises(HTTPError) as caught:
            urlopen(request, timeout=10)
        with caught.value as refusal:
            assert refusal.code == 401


def test_a_person_can_still_interrupt(tiny_gguf: Path) -> None:
    """Earlier versions of the library took Ctrl-C for themselves,
    and a long job could not be stopped.
    """
    script = f"""
import os, signal, time
from recollect.embed import open_encoder
from tests.embed.samples import chosen
encoder = open_encoder(chosen("gguf", {str(tiny_gguf)!r}))
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
except KeyboardInterrupt:
    print("stopped")
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[2],
    )

    assert (done.stdout, done.stderr, done.returncode) == ("stopped\n", "", 0)


def test_a_model_without_pooling_asks_for_it(tiny_gguf: Path, tmp_path: Path) -> None:
    """A model that was made to write has a vector for each token, and
    only its page says which to take.
    """
    key = b"bert.pooling_type" + (4).to_bytes(4, "little")
    silent = tmp_path / "silent.gguf"
    silent.write_bytes(
        tiny_gguf.read_bytes().replace(
            key + (1).to_bytes(4, "little"), key + (0).to_bytes(4, "little")
        )
    )

    with pytest.raises(
        EncoderUnavailable, match="does not say how its tokens become one vector"
    ) as caught:
        open_encoder(chosen("gguf", silent))
    encoder = open_encoder(chosen("gguf", silent, pooling="mean"))

    assert "embed.pooling" in caught.value.hint
    np.testing.assert_allclose(
        encoder.encode_documents(TEXTS),
        open_encoder(chosen("gguf", tiny_gguf)).encode_documents(TEXTS),
        atol=1e-4,
    )


def test_what_is_not_a_model_is_told_so(tmp_path: Path) -> None:
    """llama.cpp's own word on it is only that it failed."""
    page = tmp_path / "model.gguf"
    page.write_text("<html>404</html>")

    faults = {}
    for name, path in {
        "page": page,
        "folder": tmp_path,
        "missing": tmp_path / "none.gguf",
        "unset": "",
    }.items():
        with pytest.raises(EncoderUnavailable) as caught:
            open_encoder(chosen("gguf", path))
        assert caught.value.hint
        faults[name] = str(caught.value)

    assert faults == {
        "page": f"{page} is not a GGUF file.",
        "folder": f"embed.model: {tmp_path} is a folder.",
        "missing": f"embed.model: There is no {tmp_path / 'none.gguf'}.",
        "unset": "embed.provider is gguf, but embed.model is not set.",
    }


def test_without_the_library_the_extra_is_named(
    tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None in sys.modules is Python's own way to say that a module is not to be had."""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    monkeypatch.setitem(sys.modules, "llama_cpp", None)

    with pytest.raises(EncoderUnavailable, match="xllamacpp is not installed") as caught:
        open_encoder(chosen("gguf", tiny_gguf))

    assert caught.value.hint == "Try: pip install 'recollect[gguf]'"


@pytest.mark.skipif(
    importlib.util.find_spec("llama_cpp") is None,
    reason="llama-cpp-python must be compiled; it is not installed",
)
def test_the_other_package_gives_the_same_vectors(
    tiny: Path, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Who compiled llama-cpp-python for a graphics card need not install another llama.cpp."""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    encoder = open_encoder(chosen("gguf", tiny_gguf, pooling="cls"))
    long = "the parser reads " * 400

    found = encoder.encode_documents([*TEXTS, long])

    assert min(cosines(found[:-1], bert.vectors_of(tiny, TEXTS, pooling="cls"))) > 0.999
    assert min(cosines(found[-1:], bert.vectors_of(tiny, [long], pooling="cls", context=64))) > 0.9
    assert encoder.name == open_encoder(chosen("gguf", tiny_gguf, pooling="cls")).name
    assert capfd.readouterr() == ("", "")
