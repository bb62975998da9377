"""A BERT sentence encoder, in numpy and as files: what the encoders' answers are compared with.

`vectors_of` is the model written out in numpy, straight from its weights. The
same weights go into an ONNX file here, and into a GGUF file with the tool that
is kept beside the project, so that each library is judged by arithmetic it has
no part in. A model is a folder with config.json, vocab.txt, tokenizer.json and
model.safetensors; `write_tiny` makes one that is small enough for every test.
"""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import WordPiece

Matrix = NDArray[np.float32]

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_GGUF_TOOL = Path(__file__).parents[3] / "shared" / "tools" / "minilm_to_gguf.py"
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,:;!?-_/()'\""
_WORDS = [
    "the",
    "build",
    "fails",
    "when",
    "parser",
    "reads",
    "unicode",
    "search",
    "query",
    "document",
    "fix",
    "error",
    "file",
]


def write_tiny(folder: Path, *, seed: int = 7) -> Path:
    """A model of two layers with random weights and room for 64 tokens."""
    config = {
        "architectures": ["BertModel"],
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "max_position_embeddings": 64,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
    }
    vocabulary = [*_SPECIAL, *_WORDS, *_LETTERS, *(f"##{letter}" for letter in _LETTERS)]
    config["vocab_size"] = len(vocabulary)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64}))
    _write_tokenizer(folder / "tokenizer.json", vocabulary)
    save_file(_random_weights(config, np.random.default_rng(seed)), folder / "model.safetensors")
    return folder


def vectors_of(
    folder: Path, texts: list[str], *, pooling: str = "mean", context: int = 512
) -> Matrix:
    """The unit vectors of texts, one at a time and without padding, as
    the model's definition has them.
    """
    config, weights, tokenizer = _load(folder)
    tokenizer.enable_truncation(context)
    rows = []
    for text in texts:
        tokens = _forward(config, weights, tokenizer.encode(text).ids)
        row = {"mean": tokens.mean(axis=0), "cls": tokens[0], "last": tokens[-1]}[pooling]
        rows.append(row / np.linalg.norm(row))
    return np.array(rows, np.float32)


def write_gguf(folder: Path, out: Path, kind: str) -> Path:
    """The model as a GGUF file whose weights are f32, f16 or q8_0."""
    if not _GGUF_TOOL.is_file():
        pytest.skip("the tool that writes GGUF files is not beside the project")
    spec = importlib.util.spec_from_file_location("minilm_to_gguf", _GGUF_TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.main(["--model-dir", str(folder), "--out", str(out), "--type", kind]) == 0
    return out


def write_onnx(
    folder: Path,
    out: Path,
    *,
    inputs: tuple[str, ...] = INPUTS,
    integer: int = TensorProto.INT64,
    pooled: bool = False,
) -> Path:
    """The model as an ONNX file that asks for these inputs.

    `pooled` adds the vector of the first token as a ready one.
    """
    config, weights, _ = _load(folder)
    graph = _Graph(config, weights)
    hidden = config["hidden_size"]
    outputs = [
        helper.make_tensor_value_info(
            "last_hidden_state", TensorProto.FLOAT, ["batch", "length", hidden]
        )
    ]
    graph.bert(types="token_type_ids" in inputs)
    if pooled:
        graph.add(
            "Gather",
            ["last_hidden_state", graph.constant(np.int64(0))],
            "sentence_embedding",
            axis=1,
        )
        outputs.append(
            helper.make_tensor_value_info(
                "sentence_embedding", TensorProto.FLOAT, ["batch", hidden]
            )
        )
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "bert",
            [helper.make_tensor_value_info(name, integer, ["batch", "length"]) for name in inputs],
            outputs,
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", 20)],
        ir_version=10,
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, out)
    return out


class _Graph:
    """The nodes and weights of a BERT model as ONNX has them."""

    def __init__(self, config: dict[str, int], weights: dict[str, Matrix]) -> None:
        self.config, self.weights = config, weights
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, operation: str, inputs: list[str], output: str = "", **attributes: object) -> str:
        output = output or f"{operation}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, inputs, [output], **attributes))
        return output

    def constant(self, value: object) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def bert(self, *, types: bool) -> None:
        ids = "input_ids"
        words = self.add("Gather", [self._weight("embeddings.word_embeddings"), ids])
        length = self.add(
            "Squeeze", [self.add("Shape", [ids], start=1, end=2), self.constant(np.array([0]))]
        )
        places = self.add("Range", [self.constant(np.int64(0)), length, self.constant(np.int64(1))])
        at = self.add("Gather", [self._weight("embeddings.position_embeddings"), places])
        table = self._weight("embeddings.token_type_embeddings")
        kinds = self.add(
            "Gather", [table, "token_type_ids" if types else self.constant(np.int64(0))]
        )
        x = self._norm(
            self.add("Add", [self.add("Add", [words, at]), kinds]), "embeddings.LayerNorm"
        )
        mask = self.add("Cast", ["attention_mask"], to=TensorProto.FLOAT)
        hidden = self.add("Sub", [mask, self.constant(np.float32(1))])
        bias = self.add(
            "Unsqueeze",
            [
                self.add("Mul", [hidden, self.constant(np.float32(1e9))]),
                self.constant(np.array([1, 2])),
            ],
        )
        for layer in range(self.config["num_hidden_layers"]):
            x = self._layer(x, bias, f"encoder.layer.{layer}")
        self.add("Identity", [x], "last_hidden_state")

    def _layer(self, x: str, bias: str, name: str) -> str:
        heads = self.config["num_attention_heads"]
        size = self.config["hidden_size"] // heads
        split = self.constant(np.array([0, 0, heads, size]))
        query, key, value = (
            self.add(
                "Transpose",
                [self.add("Reshape", [self._linear(x, f"{name}.attention.self.{part}"), split])],
                perm=[0, 2, 3, 1] if part == "key" else [0, 2, 1, 3],
            )
            for part in ("query", "key", "value")
        )
        scores = self.add(
            "Div", [self.add("MatMul", [query, key]), self.constant(np.float32(math.sqrt(size)))]
        )
        shares = self.add("Softmax", [self.add("Add", [scores, bias])], axis=-1)
        mixed = self.add("Transpose", [self.add("MatMul", [shares, value])], perm=[0, 2, 1, 3])
        joined = self.add("Reshape", [mixed, self.constant(np.array([0, 0, heads * size]))])
        attended = self._linear(joined, f"{name}.attention.output.dense")
        x = self._norm(self.add("Add", [x, attended]), f"{name}.attention.output.LayerNorm")
        inner = self.add("Gelu", [self._linear(x, f"{name}.intermediate.dense")])
        return self._norm(
            self.add("Add", [x, self._linear(inner, f"{name}.output.dense")]),
            f"{name}.output.LayerNorm",
        )

    def _linear(self, x: str, name: str) -> str:
        turned = self.constant(self.weights[f"{name}.weight"].T.copy())
        return self.add(
            "Add", [self.add("MatMul", [x, turned]), self.constant(self.weights[f"{name}.bias"])]
        )

    def _norm(self, x: str, name: str) -> str:
        inputs = [x, self._weight(name), self.constant(self.weights[f"{name}.bias"])]
        return self.add(
            "LayerNormalization", inputs, axis=-1, epsilon=self.config["layer_norm_eps"]
        )

    def _weight(self, name: str) -> str:
        return self.constant(self.weights[f"{name}.weight"])


def _forward(config: dict[str, int], weights: dict[str, Matrix], ids: list[int]) -> Matrix:
    """The vectors of one text's tokens."""

    def linear(x: Matrix, name: str) -> Matrix:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x: Matrix, name: str) -> Matrix:
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + config["layer_norm_eps"])
        return centred / scale * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    heads = config["num_attention_heads"]
    words = weights["embeddings.word_embeddings.weight"][ids]
    places = weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(
        words + places + weights["embeddings.token_type_embeddings.weight"][0],
        "embeddings.LayerNorm",
    )
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            linear(x, f"{name}.attention.self.{part}")
            .reshape(len(ids), heads, -1)
            .transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed = (shares @ value).transpose(1, 0, 2).reshape(len(ids), -1)
        x = norm(
            x + linear(mixed, f"{name}.attention.output.dense"),
            f"{name}.attention.output.LayerNorm",
        )
        inner = linear(x, f"{name}.intermediate.dense")
        inner = inner * (1 + _erf(inner / math.sqrt(2))) / 2
        x = norm(x + linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    return x


def _erf(x: Matrix) -> Matrix:
    """The error function to seven digits (Abramowitz and Stegun 7.1.26).

    Numpy has none, and math's takes one number.
    """
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    )
    return np.sign(x) * (1 - series * np.exp(-(x**2)))


def _load(folder: Path) -> tuple[dict[str, int], dict[str, Matrix], Tokenizer]:
    weights = {
        name.removeprefix("bert."): value.astype(np.float32)
        for name, value in load_file(folder / "model.safetensors").items()
    }
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    return json.loads((folder / "config.json").read_text()), weights, tokenizer


def _write_tokenizer(path: Path, vocabulary: list[str]) -> None:
    ids = {token: number for number, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])]
    )
    # Published files often ask for padding to a fixed length, which must not reach the vectors.
    tokenizer.enable_padding(length=16, pad_id=ids["[PAD]"], pad_token="[PAD]")
    tokenizer.enable_truncation(16)
    tokenizer.save(str(path))


def _random_weights(config: dict[str, int], random: np.random.Generator) -> dict[str, Matrix]:
    width, inner = config["hidden_size"], config["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings": (config["vocab_size"], width),
        "embeddings.position_embeddings": (config["max_position_embeddings"], width),
        "embeddings.token_type_embeddings": (config["type_vocab_size"], width),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        shapes |= {
            f"{name}.attention.self.{part}": (width, width) for part in ("query", "key", "value")
        }
        shapes |= {
            f"{name}.attention.output.dense": (width, width),
            f"{name}.intermediate.dense": (inner, width),
            f"{name}.output.dense": (width, inner),
        }
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
    weights = {
        f"{name}.weight": random.normal(0, 0.2, shape).astype(np.float32)
        for name, shape in shapes.items()
    }
    weights |= {
        f"{name}.bias": random.normal(0, 0.1, shape[0]).astype(np.float32)
        for name, shape in shapes.items()
        if not name.startswith("embeddings")
    }
    weights |= {f"{name}.weight": random.normal(1, 0.1, width).astype(np.float32) for name in norms}
    weights |= {f"{name}.bias": random.normal(0, 0.1, width).astype(np.float32) for name in norms}
    return weights
