"""Encoders in the ONNX format, run by onnxruntime.

A model is a folder as it is commonly published: model.onnx (or onnx/model.onnx)
and tokenizer.json, with sentence-transformers' small files beside them where
there are any. Exports differ in what they ask for and in what they give: the
inputs are matched by name, and a vector that the model has pooled by itself is
taken before the vectors of its tokens.
"""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from recollect.embed.batched import (
    LEAST_CONTEXT,
    BatchedEncoder,
    fingerprint,
    local_path,
    thread_count,
)
from recollect.errors import EncoderUnavailable

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from recollect.settings import Settings

_HINT = "A model is a folder with model.onnx and tokenizer.json."


class OnnxEncoder(BatchedEncoder):
    """Any ONNX text encoder with a tokenizer.json, from the disk."""

    def __init__(self, settings: Settings) -> None:
        path = local_path(settings, "onnx", "~/models/bge-small-en-v1.5")
        model = _find_model(path)
        tokenizer = _find_beside(model, "tokenizer.json")
        if tokenizer is None:
            raise EncoderUnavailable(f"There is no tokenizer.json beside {model}.", hint=_HINT)
        super().__init__(settings, model)
        self._session = _open_session(model, thread_count(settings))
        self._inputs = _inputs(self._session, model)
        self._tokenizer = _open_tokenizer(tokenizer, settings.number("embed.context"))
        chosen = settings.text("embed.pooling")
        self._output, pooled = _output(self._session, model, pooled=not chosen)
        self._pooling = (
            "" if pooled else chosen or _published_pooling(model) or self._reading.pooling or "mean"
        )
        self.dimensions = self._wanted_of(self._vectors(["dimensions"]).shape[1])
        # Weights above 2 GB are in files of their own, called model.onnx_data or model.onnx.data.
        files = [model, *sorted(glob.glob(glob.escape(model) + "[._]data*")), tokenizer]
        self.name = self._name(
            "onnx",
            f"{os.path.basename(path)}@{fingerprint(*files)}",
            pooling=chosen,
            context=settings.number("embed.context"),
        )

    def _vectors(self, texts: list[str], *, urgent: bool = False) -> NDArray[np.float32]:
        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([item.ids for item in encoded], np.int64)
        mask = np.array([item.attention_mask for item in encoded], np.int64)
        given = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.broadcast_to(np.arange(ids.shape[1]), ids.shape),
        }
        asked = {name: given[name].astype(kind) for name, kind in self._inputs.items()}
        try:
            (found,) = self._session.run([self._output], asked)
        except Exception as error:  # onnxruntime has many classes and no common one.
            raise EncoderUnavailable(
                f"The model cannot read this text: {str(error).splitlines()[0]}.",
                hint="Try a lower embed.context: the model may not take that many tokens.",
            ) from error
        rows = np.asarray(found, np.float32)
        return _pool(rows, mask, self._pooling) if rows.ndim == 3 else rows


def _find_model(path: str) -> str:
    """The .onnx file that a path means."""
    if os.path.isfile(path):
        return path
    for usual in ("model.onnx", os.path.join("onnx", "model.onnx")):
        if os.path.isfile(os.path.join(path, usual)):
            return os.path.join(path, usual)
    folders = [path, os.path.join(path, "onnx")]
    there = [
        one
        for folder in folders
        for one in sorted(glob.glob(os.path.join(glob.escape(folder), "*.onnx")))
    ]
    if len(there) == 1:
        return there[0]
    if there:
        names = ", ".join(os.path.relpath(one, path) for one in there)
        raise EncoderUnavailable(
            f"{path} contains several models: {names}.",
            hint="Set embed.model to one of these files.",
        )
    raise EncoderUnavailable(f"{path} contains no .onnx file.", hint=_HINT)


def _find_beside(model: str, name: str) -> str | None:
    """A file that belongs to a model: in its folder, or in the one above."""
    folder = os.path.dirname(model)
    for place in (folder, os.path.dirname(folder)):
        if os.path.isfile(os.path.join(place, name)):
            return os.path.join(place, name)
    return None


def _open_session(model: str, threads: int) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise _not_installed("onnxruntime") from error
    onnxruntime.set_default_logger_severity(4)  # Only what is fatal: it would write to stderr.
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise EncoderUnavailable(
            f"{model} cannot be loaded: {str(error).splitlines()[0]}.",
            hint="Download it again, or choose another model.",
        ) from error


def _open_tokenizer(path: str, context: int) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise _not_installed("tokenizers") from error
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:
        raise EncoderUnavailable(
            f"{path} cannot be read: {error}.", hint="Download the model again."
        ) from error
    # What the file says of padding and cutting is how the model was trained,
    # often 128 tokens: it can read more.
    padding = tokenizer.padding or {}
    token = padding.get("pad_token") or next(
        (one for one in ("[PAD]", "<pad>") if tokenizer.token_to_id(one) is not None), None
    )
    tokenizer.enable_padding(
        pad_token=token or "[PAD]", pad_id=tokenizer.token_to_id(token) or 0 if token else 0
    )
    tokenizer.enable_truncation(max(min(context, _longest(path)), LEAST_CONTEXT))
    return tokenizer


def _longest(tokenizer: str) -> int:
    """The most tokens that the model can read, where its files say so."""
    told = _read_json(os.path.join(os.path.dirname(tokenizer), "tokenizer_config.json")).get(
        "model_max_length"
    )
    return int(told) if isinstance(told, int | float) and told > 0 else 1 << 30


def _published_pooling(model: str) -> str:
    """The pooling in sentence-transformers' own file, when there is one."""
    path = _find_beside(model, os.path.join("1_Pooling", "config.json"))
    told = _read_json(path) if path else {}
    names = {
        "pooling_mode_mean_tokens": "mean",
        "pooling_mode_cls_token": "cls",
        "pooling_mode_lasttoken": "last",
    }
    return next((pooling for key, pooling in names.items() if told.get(key) is True), "")


def _read_json(path: str) -> dict[str, object]:
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=dict[str, object])
    except (OSError, msgspec.MsgspecError):
        return {}  # These files only add to what we know.


def _inputs(session: Any, model: str) -> dict[str, type[np.signedinteger[Any]]]:
    """What the model asks for, with the kind of number it wants."""
    known = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
    asked = {
        one.name: np.int32 if one.type == "tensor(int32)" else np.int64
        for one in session.get_inputs()
    }
    strange = [name for name in asked if name not in known]
    if strange or "input_ids" not in asked:
        raise EncoderUnavailable(
            f"{model} asks for {', '.join(strange) or 'no input_ids'}, so it is not a plain "
            "text encoder.",
            hint="Choose an export for feature extraction.",
        )
    return asked


def _output(session: Any, model: str, *, pooled: bool) -> tuple[str, bool]:
    """Which output to read, and whether the model has pooled it.

    `pooled` says that we would like that.
    """
    ranks = {one.name: len(one.shape) for one in session.get_outputs()}
    tokens = next((name for name, rank in ranks.items() if rank == 3), None)
    ready = "sentence_embedding" if "sentence_embedding" in ranks else None
    if tokens is None:
        ready = ready or next((name for name, rank in ranks.items() if rank == 2), None)
    chosen = (ready or tokens) if pooled else (tokens or ready)
    if chosen is None:
        raise EncoderUnavailable(
            f"{model} gives {', '.join(ranks)}, none of which is a vector.",
            hint="Choose another model.",
        )
    return chosen, ranks[chosen] == 2


def _pool(
    tokens: NDArray[np.float32], mask: NDArray[np.int64], pooling: str
) -> NDArray[np.float32]:
    """One vector for each text from those of its tokens; texts are padded on the right."""
    if pooling == "mean":
        shares = mask / np.maximum(mask.sum(axis=1, keepdims=True), 1)
        return np.asarray(np.einsum("ntd,nt->nd", tokens, shares), np.float32)
    at = (
        np.maximum(mask.sum(axis=1), 1) - 1
        if pooling == "last"
        else np.zeros(len(tokens), np.int64)
    )
    return np.asarray(tokens[np.arange(len(tokens)), at])


def _not_installed(library: str) -> EncoderUnavailable:
    return EncoderUnavailable(
        f"embed.provider is onnx, but {library} is not installed.",
        hint="Try: pip install 'recollect[onnx]'",
    )
