"""A model at a service that errs: what is asked is redacted, what is spent is
capped, and the key is given to nobody else.
"""

from __future__ import annotations

import logging
import threading
import time

import pytest

from recollect.errors import BadReply, EngineUnavailable, SettingsError, SpendingLimit
from recollect.llm import client, open_model
from recollect.llm.client import TRIES, ChatModel, Reply
from tests.llm import service as behaviour
from tests.llm.service import Service, running

KEY = "sk-test-1f0c9b77d2"


def opened(service: Service, **more: object) -> ChatModel:
    """A model at a service, which does not make tests wait."""
    model = open_model(service.settings(**more), lambda text: text.replace("hunter2", "[REDACTED]"))
    assert isinstance(model, ChatModel)
    model.backoff_seconds = 0.01
    return model


def test_a_question_is_two_messages_and_never_offers_tools(service: Service) -> None:
    """What a session says may ask for tools; there are none to be had."""
    service.usual = behaviour.saying("done", usage={"prompt_tokens": 40, "completion_tokens": 2})

    reply = opened(service).ask("Sum it up.", "a session")

    assert reply == Reply("done", 40, 2, None)
    assert service.questions == [
        {
            "model": "some-model",
            "messages": [
                {"role": "system", "content": "Sum it up."},
                {"role": "user", "content": "a session"},
            ],
            "max_tokens": 16_000,
        }
    ]
    assert service.paths == ["/v1/chat/completions"]


def test_the_limit_and_the_effort_are_sent_as_the_service_wants_them(service: Service) -> None:
    """Services disagree on the name of one and on whether there is the other."""
    model = opened(
        service, reply_tokens=50, reply_limit_field="max_completion_tokens", reasoning_effort="low"
    )

    model.ask("i", "t")
    opened(service, reply_limit_field="").ask("i", "t")

    first, second = service.questions
    assert (first["max_completion_tokens"], first["reasoning_effort"]) == (50, "low")
    assert set(second) == {"model", "messages"}


def test_every_text_is_redacted_on_its_way_out(service: Service) -> None:
    """Whoever composed it may have forgotten to."""
    opened(service).ask("never say hunter2", "the password is hunter2")

    assert "hunter2" not in str(service.questions)
    assert service.questions[0]["messages"][1]["content"] == "the password is [REDACTED]"


# Keys -------------------------------------------------------------------------


def test_the_key_is_read_from_the_environment_at_each_request(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in no file of ours, and follows the environment when it changes."""
    monkeypatch.setenv("SOME_KEY", f" {KEY}\n")
    model = opened(service, key_variable="SOME_KEY")

    model.ask("i", "t")
    monkeypatch.setenv("SOME_KEY", "another")
    model.ask("i", "t")

    assert [headers["authorization"] for headers in service.headers] == [
        f"Bearer {KEY}",
        "Bearer another",
    ]


def test_nothing_else_of_the_environment_is_sent(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package below would send another service's key, organisation and headers by itself."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: something")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    opened(service).ask("i", "t")

    (headers,) = service.headers
    assert set(headers) == {*client.HEADERS, "accept-encoding", "user-agent"}
    assert headers["user-agent"].startswith("recollect/")


@pytest.mark.parametrize("value", ["", "  ", "two\nlines", "ключ"])
def test_a_key_that_is_none_is_told_at_once(
    service: Service, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """Not after an hour of work, and without printing it."""
    monkeypatch.setenv("SOME_KEY", value)

    with pytest.raises(EngineUnavailable, match="SOME_KEY") as caught:
        opened(service, key_variable="SOME_KEY")

    assert caught.value.hint
    assert not value.strip() or value not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 500])
def test_a_key_is_in_no_error_and_in_no_log(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    """Services like to repeat the key that they did not like."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("SOME_KEY", KEY)
    model = opened(service, key_variable="SOME_KEY")
    service.usual = behaviour.refusing(
        status, f'{{"error": {{"message": "no such key: {KEY}"}}}}'.encode()
    )

    with pytest.raises(EngineUnavailable) as caught:
        model.ask("i", "t")

    assert KEY not in f"{caught.value} {caught.value.hint} {caught.value.__cause__!r} {caplog.text}"
    assert KEY not in repr(vars(model))


# Failures -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "failures",
    [
        [behaviour.refusing(429)],
        [behaviour.refusing(500), behaviour.refusing(503), behaviour.refusing(529)],
        [behaviour.hanging_up],
        [behaviour.silent(0)],
    ],
    ids=["too many", "down for a while", "hangs up half-way", "hangs up"],
)
def test_a_passing_failure_is_waited_out(
    service: Service, failures: list[behaviour.Behaviour]
) -> None:
    """A run asks for minutes; a service that hiccups once should not end it."""
    model = opened(service)
    service.script = list(failures)

    reply = model.ask("i", "t")

    assert reply.text == "well"
    assert len(service.questions) == len(failures) + 1


def test_the_service_says_how_long_to_wait(service: Service) -> None:
    """Who comes back sooner is refused again, or shut out."""
    model = opened(service)
    service.script = [behaviour.refusing(429, Retry_After="1")]

    started = time.monotonic()
    model.ask("i", "t")

    assert time.monotonic() - started >= 0.9


def test_a_wait_that_is_too_long_is_not_waited(service: Service) -> None:
    """A daily allowance is used up: the run stops, says so, and goes on another time."""
    model = opened(service)
    service.script = [
        behaviour.refusing(429, b'{"error": {"message": "quota exceeded"}}', Retry_After="3600")
    ]

    with pytest.raises(EngineUnavailable, match=r"answered 429: .*quota exceeded") as caught:
        model.ask("i", "t")

    assert caught.value.passing
    assert len(service.questions) == 1


def test_a_service_that_stays_down_is_given_up(service: Service) -> None:
    """Four times is enough; the job is tried again later."""
    model = opened(service)
    service.usual = behaviour.refusing(503, b"<html>down for maintenance</html>")

    with pytest.raises(EngineUnavailable, match="answered 503") as caught:
        model.ask("i", "t")

    assert caught.value.passing
    assert len(service.questions) == TRIES


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_what_will_not_pass_is_asked_once(service: Service, status: int) -> None:
    """A wrong model name is wrong the second time too."""
    model = opened(service)
    service.usual = behaviour.refusing(status, b"no such model")

    with pytest.raises(EngineUnavailable) as caught:
        model.ask("i", "t")

    assert (caught.value.passing, len(service.questions)) == (False, 1)
    assert "llm." in caught.value.hint


def test_a_redirection_is_not_followed(service: Service) -> None:
    """A session would go to a host that nobody wrote into the settings."""
    with running() as elsewhere:
        service.usual = behaviour.refusing(307, Location=f"{elsewhere.url}/chat/completions")

        with pytest.raises(EngineUnavailable, match="we do not follow redirects"):
            opened(service).ask("i", "t")

        assert elsewhere.questions == []


@pytest.mark.parametrize(
    "slow", [behaviour.silent(3), behaviour.trickling(40, 0.1)], ids=["silent", "trickling"]
)
def test_a_slow_answer_is_given_up_after_the_timeout(
    service: Service, monkeypatch: pytest.MonkeyPatch, slow: behaviour.Behaviour
) -> None:
    """A byte now and then would keep us for ever: the time-out is for all of the answer."""
    monkeypatch.setattr(client, "TRIES", 1)
    model = opened(service, timeout_seconds=1)
    service.usual = slow

    started = time.monotonic()
    with pytest.raises(EngineUnavailable, match="did not answer within 1 seconds"):
        model.ask("i", "t")

    assert time.monotonic() - started < 2.5


def test_a_service_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commonest fault: it was not started. Nothing was spent."""
    monkeypatch.setattr(client, "TRIES", 1)
    with running() as service:
        model = opened(service)

    with pytest.raises(EngineUnavailable, match="cannot be reached") as caught:
        model.ask("i", "t")

    assert caught.value.hint == "Is the service running? Check llm.url."
    assert model.spending.tokens == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>hello</html>",
        b"\xff\xfe",
        b"[]",
        b'{"choices": []}',
        b'{"choices": [{"message": {"content": ["a", "b"]}}]}',
        b'{"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": -5}}',
        b'{"choices": ' + b"[" * 100_000,
    ],
    ids=["nothing", "page", "bytes", "list", "no choice", "parts", "negative", "deep"],
)
def test_an_answer_that_is_not_of_the_protocol_is_an_error(service: Service, body: bytes) -> None:
    """Something else is listening at that address; asking again would change nothing."""
    model = opened(service)
    service.usual = behaviour.giving(body)

    with pytest.raises(
        EngineUnavailable, match=r"does not speak the chat protocol|without a choice"
    ):
        model.ask("i", "t")

    assert len(service.questions) == 1


def test_a_flood_is_cut_off(service: Service) -> None:
    """A memory is short; a hundred megabytes are a fault, or an attack."""
    service.usual = behaviour.saying("a" * 5_000_000)

    with pytest.raises(BadReply, match="more than 4000000 bytes"):
        opened(service).ask("i", "t")


@pytest.mark.parametrize(
    ("way", "message"),
    [
        (behaviour.saying(None, refusal="I cannot help with that."), "refused to answer"),
        (behaviour.saying("", finish="content_filter"), "refused to answer"),
        (
            behaviour.saying('{"traceMemory": "half of', finish="length"),
            "cut off after 16000 tokens",
        ),
    ],
    ids=["refusal", "filter", "length"],
)
def test_an_answer_that_says_nothing_is_not_taken_for_one(
    service: Service, way: behaviour.Behaviour, message: str
) -> None:
    """Half a memory would be kept as a whole one."""
    service.usual = way

    with pytest.raises(BadReply, match=message):
        opened(service).ask("i", "t")


def test_a_call_of_a_tool_is_an_empty_answer(service: Service) -> None:
    """We offered none, so it calls nothing, whatever a session talked the model into."""
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "run", "arguments": '{"command": "rm -rf /"}'},
    }
    service.usual = behaviour.saying(None, finish="tool_calls", tool_calls=[call])

    assert opened(service).ask("i", "t").text == ""


# Spending -------------------------------------------------------------------------


def test_what_is_spent_is_what_the_service_says(service: Service) -> None:
    """The bill counts its tokens, not our guess."""
    model = opened(service, input_usd=2.0, output_usd=10)
    service.usual = behaviour.saying(
        "done", usage={"prompt_tokens": 1000, "completion_tokens": 100}
    )

    reply = model.ask("i", "t")

    assert reply == Reply("done", 1000, 100, 0.003)
    assert (model.spending.tokens, model.spending.cost_usd) == (1100, 0.003)


def test_a_price_nobody_knows_is_no_price(service: Service) -> None:
    """Unknown is not free."""
    model = opened(service)
    model.ask("i", "t")

    assert model.spending.cost_usd is None
    assert model.spending.tokens > 0


def test_a_run_stops_before_it_takes_more_tokens_than_allowed(service: Service) -> None:
    """Before and not after: the request that would be too much is not sent."""
    model = opened(service, reply_tokens=10, max_tokens_per_run=100)
    service.usual = behaviour.saying("done", usage={"prompt_tokens": 60, "completion_tokens": 10})

    model.ask("i", "t")
    with pytest.raises(SpendingLimit, match="max_tokens_per_run is 100") as caught:
        model.ask("i", "t" * 90)

    assert len(service.questions) == 1
    assert "Run it again" in caught.value.hint


def test_a_run_stops_before_it_costs_more_than_allowed(service: Service) -> None:
    """The same for money."""
    model = opened(service, reply_tokens=1000, input_usd=1.0, output_usd=1.0, max_cost_usd=0.0015)
    service.usual = behaviour.saying("done", usage={"prompt_tokens": 500, "completion_tokens": 400})

    model.ask("i", "t")
    with pytest.raises(SpendingLimit, match=r"over 0\.0015 dollars"):
        model.ask("i", "t")

    assert len(service.questions) == 1


def test_requests_at_the_same_time_share_the_limit(service: Service) -> None:
    """Eight at a time may not each take what is left for one."""
    model = opened(service, reply_tokens=10, max_tokens_per_run=30)
    refused: list[SpendingLimit] = []
    answers = threading.Event()
    service.usual = behaviour.waiting(answers)

    def ask() -> None:
        try:
            model.ask("i", "t")
        except SpendingLimit as error:
            refused.append(error)
            if len(refused) == 2:
                answers.set()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(refused), len(service.questions)) == (2, 2)


def test_tries_that_were_cut_off_count(service: Service) -> None:
    """The service may bill what it never finished, up to the longest answer that was allowed."""
    model = opened(service, reply_tokens=50)
    service.script = [behaviour.hanging_up]
    service.usual = behaviour.saying("done", usage={"prompt_tokens": 5, "completion_tokens": 1})

    model.ask("i", "t" * 300)

    assert model.spending.tokens == 6 + (301 // 3 + 1) + 50


def test_a_cap_on_an_unknown_price_is_refused(service: Service) -> None:
    """It would look like a cap and hold nothing."""
    with pytest.raises(EngineUnavailable, match="the price of some-model at") as caught:
        opened(service, max_cost_usd=1.0)

    assert "llm.input_usd" in caught.value.hint


# Settings -------------------------------------------------------------------------


@pytest.mark.parametrize("unset", ["url", "model"])
def test_nothing_is_sent_until_a_service_is_named(service: Service, unset: str) -> None:
    """Installing the package alone sends nothing anywhere."""
    with pytest.raises(EngineUnavailable, match=rf"llm\.{unset} is not set.") as caught:
        opened(service, **{unset: ""})

    assert "config.toml" in caught.value.hint


@pytest.mark.parametrize(
    "url", ["localhost:11434", "ftp://host/v1", "http://", "http://host:port/v1", "http://h/v1?k=1"]
)
def test_what_is_not_an_address_is_refused(service: Service, url: str) -> None:
    """Rather than guessed."""
    with pytest.raises(SettingsError, match=r"llm\.url is not an address."):
        opened(service, url=url)


def test_a_limit_field_that_nobody_knows_is_refused(service: Service) -> None:
    """It would replace any other field of the question."""
    with pytest.raises(EngineUnavailable, match=r"llm\.reply_limit_field cannot be messages"):
        opened(service, reply_limit_field="messages")


def test_without_the_package_the_error_names_the_extra(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an extra that most installations do without."""
    monkeypatch.setitem(__import__("sys").modules, "openai", None)

    with pytest.raises(EngineUnavailable, match="needs the package openai") as caught:
        opened(service)

    assert "recollect[llm]" in caught.value.hint
