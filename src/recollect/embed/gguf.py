"""Encoders in the GGUF format, run by llama.cpp.

llama.cpp comes in two Python packages. xllamacpp has wheels, so that is what
the extra installs; llama-cpp-python must be compiled, and is used where people
have it already. Both are asked for the same vectors, and neither may write
to the terminal, which llama.cpp likes to do.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

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

# llama.cpp's numbers for ways of pooling; -1 leaves it to what the file says.
POOLINGS = {"": -1, "mean": 1, "cls": 2, "last": 3}
# More layers than any model has: the meaning of -1 has changed between versions of llama.cpp.
ALL_LAYERS = 9999
# Texts are read side by side: four at once took half the time that one after the other
# did, and eight no less than four. But room for a long text may cost gigabytes, so
# there is room for this many tokens and no more.
TEXTS_AT_ONCE, TOKENS_AT_ONCE = 4, 2048


class GgufEncoder(BatchedEncoder):
    """Any GGUF text encoder that llama.cpp can load, from the disk."""

    def __init__(self, settings: Settings) -> None:
        path = local_path(settings, "gguf", "~/models/nomic-embed-text-v1.5.Q8_0.gguf")
        _check_gguf(path)
        super().__init__(settings, path)
        context = settings.number("embed.context")
        layers = settings.number("embed.gpu_layers")
        self._engine = _open_engine()(
            path,
            pooling=POOLINGS[self._reading.pooling],
            context=max(context, LEAST_CONTEXT),
            threads=thread_count(settings),
            layers=ALL_LAYERS if layers < 0 else layers,
        )
        self.dimensions = self._wanted_of(self._vectors(["dimensions"]).shape[1])
        model = f"{os.path.basename(path)}@{fingerprint(path)}"
        self.name = self._name(
            "gguf", model, pooling=settings.text("embed.pooling"), context=context
        )

    def _vectors(self, texts: list[str], *, urgent: bool = False) -> NDArray[np.float32]:
        return np.array(self._engine.vectors(texts), np.float32)


class Xllamacpp:
    """llama.cpp through the package xllamacpp."""

    # The only word for it that this error has; n_ctx is there when
    # the model, not we, set the limit.
    _TOO_LONG = re.compile(r"input \((\d+) tokens\)")

    def __init__(self, path: str, *, pooling: int, context: int, threads: int, layers: int) -> None:
        import secrets

        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = path
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type(pooling)
        params.n_parallel = max(min(TOKENS_AT_ONCE // context, TEXTS_AT_ONCE), 1)
        params.n_ctx = context * params.n_parallel
        params.n_batch = params.n_ubatch = context
        params.n_gpu_layers = layers
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.verbosity = -1
        params.warmup = False
        params.cache_ram_mib = 0
        # The package opens a port on this machine, whether or not anybody wants it. A key that
        # nobody knows closes it: web pages and other users could else ask it things.
        params.api_keys = [secrets.token_hex(32)]
        params.endpoint_slots = False
        self._context = context
        try:
            self._server: Any = xllamacpp.Server(params)
        except RuntimeError as error:
            raise _cannot_load(path) from error

    def vectors(self, texts: list[str]) -> list[list[float]]:
        answer = self._server.handle_embeddings({"input": texts})
        if "data" in answer:
            return [
                item["embedding"]
                for item in sorted(answer["data"], key=lambda item: int(item["index"]))
            ]
        # One text that is too long fails the whole batch.
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        """The vector of as much of a text's beginning as the model can read."""
        while "data" not in (answer := self._server.handle_embeddings({"input": [text]})):
            fault = answer["error"]
            tokens = self._TOO_LONG.match(fault["message"])
            if tokens is None:
                raise _cannot_read(fault["message"])
            # The rest of a text may have fewer letters to a token than its
            # beginning, so a little less.
            share = min(fault.get("n_ctx", self._context) / int(tokens[1]), 1)
            text = text[: int(len(text) * share * 0.95)]
        vector: list[float] = answer["data"][0]["embedding"]
        return vector


class LlamaCppPython:
    """llama.cpp through the package llama-cpp-python."""

    def __init__(self, path: str, *, pooling: int, context: int, threads: int, layers: int) -> None:
        import llama_cpp

        _silence(llama_cpp)
        try:
            # Reading past what a model was made for is a crash there and not an error.
            told = llama_cpp.Llama(path, vocab_only=True, verbose=False).metadata
            context = min(
                context,
                int(told.get(f"{told.get('general.architecture')}.context_length", context)),
            )
            self._llama = llama_cpp.Llama(
                path,
                embedding=True,
                pooling_type=pooling,
                n_ctx=context,
                n_batch=context,
                n_ubatch=context,
                n_threads=threads,
                n_threads_batch=threads,
                n_gpu_layers=layers,
                verbose=False,
            )
        except (ValueError, RuntimeError) as error:
            raise _cannot_load(path) from error

    def vectors(self, texts: list[str]) -> list[list[float]]:
        try:
            found: list[list[float]] = self._llama.embed(texts, truncate=True)
        except RuntimeError as error:
            raise _cannot_read(str(error)) from error
        if not isinstance(found[0][0], float):
            raise _cannot_read("Pooling type 'none': it makes a vector of each token")
        return found


def _open_engine() -> type[Xllamacpp] | type[LlamaCppPython]:
    """The package to use: the one that has wheels, or else the other."""
    from importlib.util import find_spec

    if find_spec("xllamacpp"):
        return Xllamacpp
    if find_spec("llama_cpp"):
        return LlamaCppPython
    raise EncoderUnavailable(
        "embed.provider is gguf, but xllamacpp is not installed.",
        hint="Try: pip install 'recollect[gguf]'",
    )


def _silence(llama_cpp: Any) -> None:
    """No word from llama-cpp-python, whose `verbose=False` lets warnings through."""
    import ctypes

    nothing = llama_cpp.llama_log_callback(lambda level, text, data: None)
    # llama.cpp calls it until the very end of the process, when our own names
    # are gone already: so it stays for ever.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(nothing))
    llama_cpp.llama_log_set(nothing, None)


def _check_gguf(path: str) -> None:
    """llama.cpp's own word on a file it cannot use is only that it cannot."""
    if os.path.isdir(path):
        raise EncoderUnavailable(
            f"embed.model: {path} is a folder.", hint="Set embed.model to one .gguf file in it."
        )
    with open(path, "rb") as file:
        if file.read(4) != b"GGUF":
            raise EncoderUnavailable(
                f"{path} is not a GGUF file.", hint="Set embed.model to a file that ends in .gguf."
            )


def _cannot_load(path: str) -> EncoderUnavailable:
    return EncoderUnavailable(
        f"llama.cpp cannot load {path}.",
        hint="The file may be damaged, too large for the memory, or newer than the "
        "library. Try: pip install -U xllamacpp",
    )


def _cannot_read(fault: str) -> EncoderUnavailable:
    if "Pooling type" in fault:
        return EncoderUnavailable(
            "The model does not say how its tokens become one vector.",
            hint="Set embed.pooling to mean, cls or last; the model's page says which.",
        )
    return EncoderUnavailable(
        f"llama.cpp cannot read this text: {fault}.",
        hint="Try a lower embed.context, or another model.",
    )
