"""Weak values: a word and a number behind a secret's name go, names of things here stay."""

from __future__ import annotations

import pytest

from recollect.redact import Redactor

WEAK = [
    ("password=summer2024", "summer2024"),
    ("db_password: autumn8841", "autumn8841"),
    ("token=deadbeef1234", "deadbeef1234"),
    ("export API_KEY=liveKey_778899", "liveKey_778899"),
    ('"auth_token": "liveKey_778899"', "liveKey_778899"),
    ("PASSWORD=webshop", "webshop"),
]


@pytest.mark.parametrize("engine", ["hyperscan", "python"])
@pytest.mark.parametrize(("text", "value"), WEAK)
def test_a_weak_value_goes_where_its_name_says_what_it_is(
    text: str, value: str, engine: str, redactors: dict[str, Redactor]
) -> None:
    redacted = redactors[engine].redact(f"{text}\nand {value} elsewhere")

    assert redacted.count("[REDACTED:weak-") == 1
    assert redacted.endswith(f"and {value} elsewhere")


NO_SECRETS = [
    "password=varchar255",
    "password: sha256",
    "PASSWORD=postgres",
    "PASSWORD=changeme",
    "PASSWORD=true",
    "password=$SUMMER2024",
    "token: page_20240501",
    "token=user2024-05-01",
    '"file_key": "boxcn1234567890"',
    '"file_token": "boxcnabcd1234"',
    "token = token2024",
    "API_KEY=./keys/live.2024",
]


@pytest.mark.parametrize("text", NO_SECRETS)
def test_types_examples_paths_and_ids_stay(text: str, redactors: dict[str, Redactor]) -> None:
    assert redactors["auto"].redact(text) is text


def test_a_weak_value_that_names_something_here_stays() -> None:
    """Its name is everywhere, so that taking it out in one place would hide nothing."""
    redactor = Redactor(b"key")
    redactor.know_names(["github.com/acme/webshop", "/home/me/code/season2024", "release123"])

    for text in ("PASSWORD=webshop", "password=season2024", "password=release123"):
        assert redactor.redact(text) is text
    assert redactor.redact("PASSWORD=bookshop") != "PASSWORD=bookshop"


def test_a_memory_keeps_no_value_behind_a_secrets_name() -> None:
    """Nobody needs it there, however weak it is."""
    redactor = Redactor(b"key")

    assert "hunter12" not in redactor.redact_strictly("The database's password is hunter12.")
    assert "hush-1" not in redactor.redact_strictly("start it with token=hush-1")
    for text in ("the password is required", "token: 4096", "password: <yours>"):
        assert redactor.redact_strictly(text) == text


@pytest.mark.parametrize("key", range(8))
def test_what_a_memory_may_not_hold_is_taken_out_once(key: int) -> None:
    """The tag of a secret has a secret's name and digits in it, other ones in each store."""
    redactor = Redactor(str(key).encode(), engine="python")

    clean = redactor.redact_strictly("password: Kp7#mnPz91, token: liveKey_77889")

    assert clean.count("[REDACTED:") == 2
    assert redactor.redact_strictly(clean) == clean
