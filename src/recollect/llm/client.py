"""The client: one question, one answer, from a service that errs.

Nothing is sent unless the settings name a service and a model. Every text is
redacted once more on its way out, whoever wrote it. No tool is ever offered,
no redirection followed, and of the environment only the key that the settings
name is sent: the `openai` package would add others' keys and headers by itself.

An answer is read piece by piece, so that neither a flood nor a trickle can
hold us: it has a most size, and one time-out for the whole of it.
"""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import msgspec

from recollect import __version__
from recollect.errors import BadReply, EngineUnavailable
from recollect.llm.spending import Reservation, Spending
from recollect.model.engines import Reply
from recollect.system.services import (
    PASSING,
    address_of,
    get_key,
    is_local,
    refusal,
    retry_after,
    shown,
    wait_before,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx2
    import openai

    from recollect.settings import Settings

TRIES = 4
LONGEST_WAIT_SECONDS = 60.0
# Thirteen times the longest memory that we would keep.
MOST_ANSWER_BYTES = 4_000_000
# What is left of the headers that the package sends; everything else may have
# come from the environment. By the last one it knows again that we asked for
# the bytes and not for its own reading of them.
HEADERS = frozenset(
    {"host", "content-length", "content-type", "accept", "connection", "x-stainless-raw-response"}
)
LIMIT_FIELDS = ("max_tokens", "max_completion_tokens", "")

Count = Annotated[int, msgspec.Meta(ge=0)]


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: Count = 0
    completion_tokens: Count = 0


class _Answer(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


class ChatModel:
    """Any service that speaks the chat part of OpenAI's protocol."""

    # What the second try waits for; every further one waits twice as long.
    backoff_seconds = 1.0

    def __init__(self, settings: Settings, redact: Callable[[str], str]) -> None:
        self._settings, self._redact, self._redacting = settings, redact, Lock()
        self.name = _required(settings, "llm.model")
        _required(settings, "llm.url")
        address = address_of(settings, "llm").removesuffix("/chat/completions")
        self._host = urlsplit(address).netloc
        self._timeout_seconds = max(settings.number("llm.timeout_seconds"), 1)
        self._reply_tokens = max(settings.number("llm.reply_tokens"), 1)
        self._limit_field = settings.text("llm.reply_limit_field")
        if self._limit_field not in LIMIT_FIELDS:
            hint = "Use max_tokens, max_completion_tokens, or leave it empty."
            raise EngineUnavailable(
                f"llm.reply_limit_field cannot be {shown(self._limit_field)}.", hint=hint
            )
        get_key(
            settings, "llm", EngineUnavailable
        )  # Says now, and not at the first text, that there is no key.
        self._client = self._opened(address)
        self.spending = Spending(settings, address)

    def ask(self, instructions: str, text: str) -> Reply:
        """What the model says to a text, by our instructions.

        Asked again for as long as it may yet answer.
        """
        with self._redacting:  # A redactor belongs to one thread at a time.
            said = [self._redact(part) for part in (instructions, text)]
        question: dict[str, Any] = {
            "model": self.name,
            "messages": [
                {"role": role, "content": part}
                for role, part in zip(("system", "user"), said, strict=True)
            ],
        }
        if effort := self._settings.text("llm.reasoning_effort"):
            question["reasoning_effort"] = effort
        if self._limit_field:
            question[self._limit_field] = self._reply_tokens
        size = sum(len(part.encode("utf-8", "replace")) for part in said)
        for tried in range(TRIES):
            held = self.spending.hold(size, self._reply_tokens)
            try:
                return self._read(self._send(question, held), held)
            except _NotNow as fault:
                if tried + 1 == TRIES or not wait_before(
                    tried,
                    fault.wait_seconds,
                    first_seconds=self.backoff_seconds,
                    longest_seconds=LONGEST_WAIT_SECONDS,
                ):
                    raise fault.error from None
        raise AssertionError("the last try returns or raises")

    def _send(self, question: dict[str, Any], held: Reservation) -> bytes:
        """The bytes of one answer. What was refused took nothing; what was cut off may have."""
        import openai

        try:
            with self._client.chat.completions.with_streaming_response.create(
                **question
            ) as response:
                return self._body(response.http_response)
        except openai.APIStatusError as error:
            self.spending.release(held)
            fault = self._fault(error)
            if error.status_code in PASSING:
                raise _NotNow(
                    fault, retry_after(error.response.headers.get("Retry-After"))
                ) from None
            raise fault from None
        except (openai.APIConnectionError, _Broken) as error:
            unreachable = _never_reached(error)
            self.spending.release(held) if unreachable else self.spending.settle(held)
            raise _NotNow(self._lost(error)) from None

    def _body(self, response: httpx2.Response) -> bytes:
        import httpx2

        until = time.monotonic() + self._timeout_seconds
        body = bytearray()
        try:
            for piece in response.iter_bytes():
                body += piece
                if len(body) > MOST_ANSWER_BYTES:
                    raise BadReply(
                        f"{self._host} answered more than {MOST_ANSWER_BYTES} bytes.",
                        hint="Check llm.model. A memory is far shorter.",
                    )
                if time.monotonic() > until:
                    raise _Broken("late")
        except httpx2.TimeoutException:
            raise _Broken("late") from None
        except httpx2.HTTPError as error:
            raise _Broken(type(error).__name__) from None
        return bytes(body)

    def _read(self, body: bytes, held: Reservation) -> Reply:
        """An answer as far as it says something, counted in any case."""
        try:
            answer = msgspec.json.decode(body, type=_Answer)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            self.spending.settle(held)
            raise self._wrong(f"does not speak the chat protocol ({shown(str(error))})") from None
        used = answer.usage or _Usage()
        text = (answer.choices[0].message.content or "") if answer.choices else ""
        tokens_in = used.prompt_tokens or held.input_tokens
        tokens_out = used.completion_tokens or len(text.encode("utf-8", "replace")) // 3 + 1
        _, usd = self.spending.settle(held, tokens_in, tokens_out)
        if not answer.choices:
            raise self._wrong("returned an answer without a choice in it")
        choice = answer.choices[0]
        if choice.message.refusal or choice.finish_reason == "content_filter":
            raise BadReply(
                f"{self.name} refused to answer.",
                hint="Try another model. The rules take this session too.",
            )
        if choice.finish_reason == "length":
            raise BadReply(
                f"{self.name} was cut off after {self._reply_tokens} tokens.",
                hint="Raise llm.reply_tokens.",
            )
        return Reply(text, tokens_in, tokens_out, usd)

    def _opened(self, address: str) -> openai.OpenAI:
        try:
            import openai
        except ImportError as error:
            raise EngineUnavailable(
                "A language model needs the package openai, which is not installed.",
                hint="Try: pip install 'recollect[llm]'. Without it, the rules do everything.",
            ) from error
        import httpx2

        http = openai.DefaultHttpxClient(
            # A request takes minutes, so that a connection kept for the
            # next one would save nothing.
            limits=httpx2.Limits(max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=not is_local(address),
            timeout=self._timeout_seconds,
            event_hooks={"request": [self._only_ours]},
        )
        # The key is not given to it: `_only_ours` puts the one of this moment into each request.
        return openai.OpenAI(
            api_key="-",
            base_url=address,
            http_client=http,
            max_retries=0,
            timeout=self._timeout_seconds,
        )

    def _only_ours(self, request: httpx2.Request) -> None:
        for name in list(request.headers):
            if name.lower() not in HEADERS:
                del request.headers[name]
        request.headers["User-Agent"] = f"recollect/{__version__}"
        request.headers["Accept-Encoding"] = "identity"
        if key := get_key(self._settings, "llm", EngineUnavailable):
            request.headers["Authorization"] = f"Bearer {key}"

    def _fault(self, error: openai.APIStatusError) -> EngineUnavailable:
        code, response = error.status_code, error.response
        location, words = response.headers.get("Location", ""), response.text[:2000]
        what, hint = refusal(
            self._settings, "llm", self._host, code, location=location, words=words
        )
        return EngineUnavailable(what, hint=hint, passing=code in PASSING)

    def _lost(self, error: Exception) -> EngineUnavailable:
        if _is_late(error):
            what, hint = (
                f"did not answer within {self._timeout_seconds} seconds",
                "Try again, or raise llm.timeout_seconds.",
            )
        elif _never_reached(error):
            what, hint = "cannot be reached", "Is the service running? Check llm.url."
        else:
            what, hint = "hung up before it answered", "Try again later."
        return EngineUnavailable(f"{self._host} {what}.", hint=hint, passing=True)

    def _wrong(self, what: str) -> EngineUnavailable:
        return EngineUnavailable(f"{self._host} {what}.", hint="Check llm.url and llm.model.")


class _NotNow(Exception):
    """A failure that may pass, and how long the service wants us to wait, if it said so."""

    def __init__(self, error: EngineUnavailable, wait_seconds: float | None = None) -> None:
        super().__init__()
        self.error, self.wait_seconds = error, wait_seconds


class _Broken(Exception):
    """An answer that began and did not end."""


def _is_late(error: Exception) -> bool:
    import openai

    return isinstance(error, openai.APITimeoutError) or str(error) == "late"


def _never_reached(error: Exception) -> bool:
    import httpx2

    return isinstance(error.__cause__, (httpx2.ConnectError, httpx2.ConnectTimeout))


def _required(settings: Settings, key: str) -> str:
    value = settings.text(key)
    if not value:
        raise EngineUnavailable(
            f"{key} is not set.",
            hint=f"Set it in {settings.home}/config.toml. Until then nothing is sent "
            "anywhere, and the rules do everything.",
        )
    return value
