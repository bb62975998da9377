"""Encoders behind an OpenAI-compatible `/v1/embeddings`, here or elsewhere.

Nothing is sent unless the settings choose this provider and name a service.
What is stored was redacted before it was stored; **a question was not**: it is
as a person typed it, and whoever calls `encode_query` redacts it first.

The key is read from the environment at each request and is kept nowhere. No
redirection is followed, so that neither key nor text reaches a host that is
not in the settings.
"""

from __future__ import annotations

import os
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

import msgspec
import numpy as np

from recollect import __version__
from recollect.embed.batched import BatchedEncoder
from recollect.errors import EncoderUnavailable
from recollect.system.services import (
    PASSING,
    address_of,
    get_key,
    is_local,
    refusal,
    retry_after,
    wait_before,
)

if TYPE_CHECKING:
    from http.client import HTTPMessage
    from typing import IO

    from numpy.typing import NDArray

    from recollect.settings import Settings

# A job can wait for a service to recover; a person who searches is better served with words alone.
PATIENT_TRIES, URGENT_TRIES = 6, 2
LONGEST_WAIT_SECONDS, LONGEST_URGENT_WAIT_SECONDS = 60.0, 1.0


class Item(msgspec.Struct):
    """One vector of an answer, with its text's place in the question."""

    embedding: list[float]
    index: int | None = None


class EmbeddingAnswer(msgspec.Struct):
    """What a service says."""

    data: list[Item]


class RemoteEncoder(BatchedEncoder):
    """Any service that speaks the embeddings part of OpenAI's protocol."""

    # What the second try waits for; every further one waits twice as long.
    backoff_seconds = 0.5

    def __init__(self, settings: Settings) -> None:
        self._model = settings.text("embed.model")
        self._address = _address(settings)
        self._host = urlsplit(self._address).netloc
        self._timeout_seconds = max(settings.number("embed.timeout_seconds"), 1)
        self._settings = settings
        self._opener = _opener(self._address)
        self._headers()  # Says now, and not at the first text, that there is no key.
        super().__init__(settings, self._model)
        # A known model's dimensions save a request whenever a process starts; 0 takes what comes.
        self.dimensions = self._wanted or self._known.dimensions
        if not self.dimensions:
            self.dimensions = self._vectors(["dimensions"], urgent=True).shape[1]
        self.name = self._name("remote", self._model)

    def _vectors(self, texts: list[str], *, urgent: bool) -> NDArray[np.float32]:
        question: dict[str, object] = {"model": self._model, "input": texts}
        if self._wanted:
            question["dimensions"] = self._wanted
        items = self._decoded(self._ask(msgspec.json.encode(question), urgent=urgent))
        if len(items) != len(texts):
            raise self._wrong(f"returned {len(items)} vectors for {len(texts)} texts")
        lengths = {len(item.embedding) for item in items}
        if lengths != {self.dimensions or max(lengths)} or lengths == {0}:
            found = " and ".join(map(str, sorted(lengths)))
            raise self._wrong(
                f"returned vectors of {found} numbers, not of {self.dimensions or 'one length'}",
                dimensions=True,
            )
        return np.array([item.embedding for item in items], np.float32)

    def _decoded(self, body: bytes) -> list[Item]:
        """The vectors of an answer in the order of the texts, which
        need not be the order they come in.
        """
        try:
            items = msgspec.json.decode(body, type=EmbeddingAnswer).data
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._wrong(f"does not speak the embeddings protocol ({error})") from error
        places = [at if item.index is None else item.index for at, item in enumerate(items)]
        if sorted(places) != list(range(len(items))):
            raise self._wrong("numbered its vectors wrongly")
        return [
            item for _, item in sorted(zip(places, items, strict=True), key=lambda pair: pair[0])
        ]

    def _ask(self, body: bytes, *, urgent: bool) -> bytes:
        """The answer to one request, tried again for as long as the service may yet give one."""
        tries = URGENT_TRIES if urgent else PATIENT_TRIES
        longest = LONGEST_URGENT_WAIT_SECONDS if urgent else LONGEST_WAIT_SECONDS
        for tried in range(tries):
            request = Request(self._address, body, self._headers(), method="POST")
            try:
                with self._opener.open(request, timeout=self._timeout_seconds) as response:
                    answer: bytes = (
                        response.read()
                    )  # Whole, or an error: a read of so many bytes would not notice.
                    return answer
            except HTTPError as error:
                with error:
                    fault, wait = self._fault(error), retry_after(error.headers.get("Retry-After"))
                    if error.code not in PASSING:
                        raise fault from None
            except (OSError, HTTPException) as error:  # URLError and timeouts are OSErrors.
                fault, wait = self._unreachable(error), None
            if tried + 1 == tries or not wait_before(
                tried, wait, first_seconds=self.backoff_seconds, longest_seconds=longest
            ):
                raise fault
        raise AssertionError("the last try returns or raises")

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"recollect/{__version__}",
        }
        if key := get_key(self._settings, "embed", EncoderUnavailable):
            headers["Authorization"] = f"Bearer {key}"
        return headers

    def _fault(self, error: HTTPError) -> EncoderUnavailable:
        try:
            words = error.read(2000).decode("utf-8", "replace")
        except (OSError, HTTPException):
            words = ""
        location = error.headers.get("Location", "")
        what, hint = refusal(
            self._settings, "embed", self._host, error.code, location=location, words=words
        )
        return EncoderUnavailable(what, hint=hint)

    def _unreachable(self, error: Exception) -> EncoderUnavailable:
        reason = getattr(error, "reason", None) or error
        late = isinstance(reason, TimeoutError)
        what = (
            f"did not answer within {self._timeout_seconds} seconds"
            if late
            else f"cannot be reached: {reason}"
        )
        hint = (
            "Try again, or raise embed.timeout_seconds."
            if late
            else "Is the service running? Check embed.url."
        )
        return EncoderUnavailable(f"{self._host} {what}.", hint=hint)

    def _wrong(self, what: str, *, dimensions: bool = False) -> EncoderUnavailable:
        hint = "Check embed.url and embed.model."
        if dimensions:
            hint = (
                "The model cannot make such vectors. Set embed.dimensions to 0, or choose "
                "another model."
                if self._wanted
                else "Set embed.dimensions to what the service returns, or check embed.model."
            )
        return EncoderUnavailable(f"{self._host} {what}.", hint=hint)


class _NoRedirects(HTTPRedirectHandler):
    """Leaves a redirection as the refusal it is to us."""

    def http_error_302(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage
    ) -> None:
        return None

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _opener(address: str) -> OpenerDirector:
    return build_opener(_NoRedirects, *([ProxyHandler({})] if is_local(address) else []))


def _address(settings: Settings) -> str:
    """Where to send texts, from the base address in the settings."""
    for key in ("embed.url", "embed.model"):
        if not settings.text(key):
            raise EncoderUnavailable(
                f"embed.provider is remote, but {key} is not set.",
                hint=f"Set it in {os.path.join(settings.home, 'config.toml')}. Until then "
                "nothing is sent anywhere.",
            )
    address = address_of(settings, "embed")
    return address if address.endswith("/embeddings") else f"{address}/embeddings"
