"""A remote encoder gets the right vectors from a service that errs,
and gives its key to nobody else.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from recollect.embed import open_encoder
from recollect.embed.remote import PATIENT_TRIES, URGENT_TRIES, RemoteEncoder
from recollect.errors import EncoderUnavailable, SettingsError
from tests.embed import service as behaviour
from tests.embed.samples import TEXTS, chosen
from tests.embed.service import Service, running

KEY = "sk-test-1f0c9b77d2"


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as service:
        yield service


def opened(service: Service, model: str = "some-model", **more: object) -> RemoteEncoder:
    """An encoder of a service, which does not make tests wait."""
    encoder = open_encoder(chosen("remote", model, **{"url": service.url, **more}))
    assert isinstance(encoder, RemoteEncoder)
    encoder.backoff_seconds = 0.01
    return encoder


def units(service: Service, texts: list[str], dimensions: int | None = None) -> NDArray[np.float32]:
    rows = np.array([service.vector(text, dimensions) for text in texts], np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_texts_become_unit_vectors_in_batches(service: Service) -> None:
    """A service takes only so many texts at once."""
    encoder = opened(service, batch=3)
    texts = [*TEXTS, "", "one more"]

    found = encoder.encode_documents(texts)

    np.testing.assert_allclose(
        found[[0, 1, 2, 3, 5]], units(service, [*TEXTS, "one more"]), rtol=1e-5
    )
    assert not found[4].any()
    assert [len(question["input"]) for question in service.questions[1:]] == [3, 2]
    assert {question["model"] for question in service.questions} == {"some-model"}
    assert set(service.paths) == {"/v1/embeddings"}
    assert "dimensions" not in service.questions[0]


def test_a_question_is_an_array_of_its_unit_vector(service: Service) -> None:
    """An empty one is not sent: services refuse it."""
    encoder = opened(service)

    question = encoder.encode_query("why does it fail?")

    assert question.typecode == "f"
    np.testing.assert_allclose(question, units(service, ["why does it fail?"])[0], rtol=1e-5)
    sent = len(service.questions)
    assert list(encoder.encode_query("  ")) == [0.0] * 8
    assert len(service.questions) == sent


@settings(max_examples=20, deadline=None)
@given(texts=st.lists(st.text(min_size=1, max_size=20).filter(str.strip), min_size=1, max_size=7))
def test_any_text_reaches_the_service_as_it_is(texts: list[str]) -> None:
    """Quotes, line breaks and emoji survive the way."""
    with running() as service:
        encoder = opened(service, document_prefix="doc: ")

        found = encoder.encode_documents(texts)

        assert sorted(service.questions[-1]["input"]) == sorted(f"doc: {text}" for text in texts)
        np.testing.assert_allclose(
            found, units(service, [f"doc: {text}" for text in texts]), rtol=1e-4
        )


def test_the_prefixes_of_a_known_model_are_sent(service: Service) -> None:
    """A service runs the bare model: nobody else would add them."""
    service.dimensions = 768
    encoder = opened(service, "nomic-embed-text:latest")

    encoder.encode_query("fix")
    encoder.encode_documents(["fix"])

    assert [question["input"] for question in service.questions] == [
        ["search_query: fix"],
        ["search_document: fix"],
    ]


def test_fewer_dimensions_are_asked_of_the_service(service: Service) -> None:
    """Only the service knows whether its model can be shortened."""
    encoder = opened(service, dimensions=4)

    found = encoder.encode_documents(TEXTS)

    assert service.questions[0]["dimensions"] == 4
    np.testing.assert_allclose(found, units(service, TEXTS, 4), rtol=1e-5)


@pytest.mark.parametrize("order", [behaviour.permuted, behaviour.unnumbered])
def test_vectors_go_to_their_texts_in_whatever_order_they_come(
    service: Service, order: behaviour.Behaviour
) -> None:
    """The protocol numbers them; some services do not, and answer in order."""
    encoder = opened(service)
    service.script = [order]

    found = encoder.encode_documents(TEXTS)

    np.testing.assert_allclose(found, units(service, TEXTS), rtol=1e-5)


@pytest.mark.parametrize(
    "failures",
    [
        [behaviour.refusing(429)],
        [
            behaviour.refusing(500),
            behaviour.refusing(502),
            behaviour.refusing(503),
            behaviour.refusing(504),
            behaviour.refusing(529),
        ],
        [behaviour.hanging_up],
        [behaviour.sleeping(0)],
    ],
    ids=["too many", "down for a while", "hangs up half-way", "hangs up"],
)
def test_a_passing_failure_is_waited_out(
    service: Service, failures: list[behaviour.Behaviour]
) -> None:
    """Embedding a whole store takes thousands of requests, some of which fail."""
    encoder = opened(service)
    asked = len(service.questions)
    service.script = list(failures)

    found = encoder.encode_documents(TEXTS)

    np.testing.assert_allclose(found, units(service, TEXTS), rtol=1e-5)
    assert len(service.questions) - asked == len(failures) + 1


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_the_service_says_how_long_to_wait(service: Service, form: str) -> None:
    """Who comes back sooner is refused again, or shut out."""
    encoder = opened(service)
    # A date has no fractions of seconds, so two of them are at least one.
    told = (
        "1"
        if form == "seconds"
        else format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    )
    service.script = [behaviour.refusing(429, Retry_After=told)]

    started = time.monotonic()
    encoder.encode_documents(TEXTS)

    assert time.monotonic() - started >= 0.9


def test_a_wait_that_is_too_long_is_not_waited(service: Service) -> None:
    """A daily allowance is used up: the job stops and says so, and goes on another time."""
    encoder = opened(service)
    service.script = [
        behaviour.refusing(429, b'{"error": {"message": "quota exceeded"}}', Retry_After="3600")
    ]

    with pytest.raises(EncoderUnavailable, match=r"answered 429: .*quota exceeded") as caught:
        encoder.encode_documents(TEXTS)

    assert caught.value.hint == "Try again later."


def test_a_service_that_stays_down_is_given_up(service: Service) -> None:
    """A job is patient; a person who searches is not, and gets an answer from the words alone."""
    encoder = opened(service)
    asked = len(service.questions)
    service.script = [behaviour.refusing(503)] * (PATIENT_TRIES + URGENT_TRIES)

    with pytest.raises(EncoderUnavailable, match="answered 503"):
        encoder.encode_documents(TEXTS)
    patient = len(service.questions) - asked
    with pytest.raises(EncoderUnavailable, match="answered 503"):
        encoder.encode_query("hello")

    assert (patient, len(service.questions) - asked - patient) == (PATIENT_TRIES, URGENT_TRIES)


def test_a_service_that_says_nothing_is_given_up_after_the_timeout(service: Service) -> None:
    """Nobody waits for ever."""
    encoder = opened(service, timeout_seconds=1)
    service.script = [behaviour.sleeping(3)] * URGENT_TRIES

    started = time.monotonic()
    with pytest.raises(EncoderUnavailable, match="did not answer within 1 seconds") as caught:
        encoder.encode_query("hello")

    assert time.monotonic() - started < 3 * URGENT_TRIES
    assert "embed.timeout_seconds" in caught.value.hint


def test_a_service_that_is_not_there_is_named() -> None:
    """The commonest fault: it was not started."""
    with running() as service:
        url = service.url

    with pytest.raises(EncoderUnavailable, match="cannot be reached") as caught:
        open_encoder(chosen("remote", "some-model", url=url))

    assert caught.value.hint == "Is the service running? Check embed.url."


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (behaviour.saying(b"<html>hello</html>"), "does not speak the embeddings protocol"),
        (behaviour.saying(b""), "does not speak the embeddings protocol"),
        (behaviour.saying(b"\xff\xfe"), "does not speak the embeddings protocol"),
        (
            behaviour.saying(b'{"data": [{"embedding": "AAAA"}]}'),
            "does not speak the embeddings protocol",
        ),
        (behaviour.saying(b'{"data": []}'), "returned 0 vectors for 4 texts."),
        (behaviour.too_few, "returned 3 vectors for 4 texts."),
        (behaviour.too_short, "returned vectors of 2 numbers, not of 8."),
        (behaviour.misnumbered, "numbered its vectors wrongly."),
    ],
    ids=["page", "nothing", "bytes", "base64", "empty", "too few", "too short", "misnumbered"],
)
def test_a_wrong_answer_is_an_error_and_never_a_vector(
    service: Service, answer: behaviour.Behaviour, message: str
) -> None:
    """A vector under the wrong text would be stored, and found for ever."""
    encoder = opened(service)
    asked = len(service.questions)
    service.script = [answer]

    with pytest.raises(EncoderUnavailable, match=message) as caught:
        encoder.encode_documents(TEXTS)

    assert caught.value.hint
    assert len(service.questions) - asked == 1


def test_a_service_that_ignores_the_dimensions_is_told_apart(service: Service) -> None:
    """Cutting the vector of a model that was not made for it would find the wrong things."""
    encoder = opened(service, dimensions=4)
    service.script = [behaviour.too_short]

    with pytest.raises(
        EncoderUnavailable, match="returned vectors of 2 numbers, not of 4"
    ) as caught:
        encoder.encode_documents(TEXTS)

    assert "Set embed.dimensions to 0" in caught.value.hint


def test_the_key_is_read_from_the_environment_and_sent(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in no file of ours, and follows the environment when it changes."""
    monkeypatch.setenv("SOME_KEY", f" {KEY}\n")
    encoder = opened(service, key_variable="SOME_KEY")

    monkeypatch.setenv("SOME_KEY", "another")
    encoder.encode_query("hello")

    assert service.keys == [f"Bearer {KEY}", "Bearer another"]
    assert KEY not in repr(vars(encoder))


def test_without_a_key_setting_no_key_is_sent(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other programs' keys in the environment are not ours to send."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    opened(service).encode_query("hello")

    assert set(service.keys) == {None}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "names SOME_KEY, which is not set."),
        ("  ", "names SOME_KEY, which is not set."),
        (f"{KEY}\nX-Evil: 1", "does not contain a key"),
    ],
)
def test_a_missing_or_broken_key_is_told_before_anything_is_sent(
    service: Service, monkeypatch: pytest.MonkeyPatch, value: str | None, message: str
) -> None:
    """And without showing it: the library would print the header it did not like."""
    if value is not None:
        monkeypatch.setenv("SOME_KEY", value)

    with pytest.raises(EncoderUnavailable, match=message) as caught:
        opened(service, key_variable="SOME_KEY")

    assert KEY not in f"{caught.value} {caught.value.hint}"
    assert service.questions == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 500])
def test_no_error_shows_the_key(
    service: Service, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """Services repeat the key they refuse, in part or whole, and errors end up in logs."""
    monkeypatch.setenv("SOME_KEY", KEY)
    encoder = opened(service, key_variable="SOME_KEY")
    asked = len(service.questions)
    service.script = [
        behaviour.refusing(
            status, f'{{"error": "bad key {KEY}, \\u001b[31m or sk-test..b77d2"}}'.encode()
        )
    ] * 2

    with pytest.raises(EncoderUnavailable) as caught:
        encoder.encode_query("hello")

    shown = f"{caught.value} {caught.value.hint}"
    assert KEY not in shown
    assert (status not in (401, 403)) or "sk-test" not in shown
    assert str(status) in shown
    assert len(service.questions) - asked == (URGENT_TRIES if status == 500 else 1)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_neither_key_nor_text_follows_a_redirection(
    service: Service, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """The settings name the one host that may see them."""
    monkeypatch.setenv("SOME_KEY", KEY)
    encoder = opened(service, key_variable="SOME_KEY")
    with running() as elsewhere:
        service.script = [behaviour.refusing(status, Location=f"{elsewhere.url}/embeddings")]

        with pytest.raises(
            EncoderUnavailable, match=f"redirects to http://127.0.0.1:{elsewhere.server_port}/"
        ) as caught:
            encoder.encode_documents(TEXTS)

        assert elsewhere.questions == []
    assert caught.value.hint == "Set embed.url to the address of the service itself."


@pytest.mark.parametrize("goal", ["", "http://[", "\x1b[31m", "/elsewhere"])
def test_a_redirection_to_nowhere_is_a_refusal_too(service: Service, goal: str) -> None:
    """Whatever a service writes there, it is not followed, and it does not colour the terminal."""
    encoder = opened(service)
    asked = len(service.questions)
    service.script = [behaviour.refusing(302, Location=goal)]

    with pytest.raises(EncoderUnavailable, match="redirects to") as caught:
        encoder.encode_query("hello")

    assert "\x1b" not in str(caught.value)
    assert len(service.questions) - asked == 1


def test_what_goes_to_this_machine_does_not_pass_a_proxy(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy in the environment would see every text that was meant to stay here."""
    with running() as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.server_port}")

        opened(service).encode_query("hello")

        assert proxy.questions == []
    assert len(service.questions) == 2


def test_a_known_model_is_not_asked_for_its_dimensions(service: Service) -> None:
    """Each search is a new process; a request only to open the encoder would be paid every time."""
    service.dimensions = 1536
    encoder = opened(service, "text-embedding-3-small")

    assert (encoder.name, encoder.dimensions, service.questions) == (
        "remote:text-embedding-3-small:1536",
        1536,
        [],
    )


def test_the_name_tells_vectors_apart_that_cannot_be_compared(service: Service) -> None:
    """Stored vectors are used again only under the very same name; the address may change."""
    ways: list[dict[str, object]] = [
        {},
        {"dimensions": 4},
        {"query_prefix": "q: "},
        {"document_prefix": "d: "},
    ]

    names = [opened(service, **way).name for way in ways]
    with running() as elsewhere:
        same = opened(elsewhere, batch=1, timeout_seconds=5).name

    assert names[0] == same == "remote:some-model:8"
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("unset", ["url", "model"])
def test_nothing_is_sent_until_a_service_is_named(unset: str) -> None:
    """Choosing the provider alone sends nothing anywhere."""
    keys = {"url": "http://127.0.0.1:9/v1", "model": "some-model"} | {unset: ""}

    with pytest.raises(EncoderUnavailable, match=rf"embed\.{unset} is not set.") as caught:
        open_encoder(chosen("remote", **keys))

    assert "config.toml" in caught.value.hint


@pytest.mark.parametrize(
    "url",
    [
        "localhost:11434",
        "ftp://host/v1",
        "http://",
        "http://host:port/v1",
        "file:///etc/passwd",
        "http://h/v1?k=1",
    ],
)
def test_what_is_not_an_address_is_refused(url: str) -> None:
    """Python's library would read files and speak FTP."""
    with pytest.raises(SettingsError, match=r"embed\.url is not an address."):
        open_encoder(chosen("remote", "some-model", url=url))


def test_a_password_in_the_address_is_refused_and_not_shown() -> None:
    """It would be in a file, in errors, and in lists of processes."""
    with pytest.raises(SettingsError, match="user name or password") as caught:
        open_encoder(chosen("remote", "some-model", url="https://me:hunter2@host/v1"))

    assert "hunter2" not in f"{caught.value} {caught.value.hint}"
