"""One store, one truth: a strong value that was recognised once goes wherever it stands."""

from __future__ import annotations

import random
import string

import pytest

from recollect.redact import Redactor
from recollect.redact.known import digits_of, is_strong

KEY = "q7Zt2LxP9vKm4RwB8nYd3HcF"
BASE64 = "aB3+kd93mfk20dkQ/93mfZk8f=="


@pytest.fixture
def redactor() -> Redactor:
    made = Redactor(b"the key of a store", engine="python")
    made.know_values({})
    return made


@pytest.mark.parametrize("value", [KEY, BASE64])
@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "it printed {}.",
        "https://host/{}/next?x=1",
        "curl -H x -d 'k={}&z=1'",
        '"one\\n{}\\ntwo"',
        "看看{}，好",
        "{} and {} again",
    ],
)
def test_what_is_known_goes_without_its_name(value: str, text: str, redactor: Redactor) -> None:
    said = text.replace("{}", value)
    assert redactor.redact(said) is said

    redactor.redact(f'SERVICE_TOKEN="{value}"')

    tag = "[REDACTED:assigned-secret:" + digits_of(next(iter(redactor.take_learned()))) + "]"
    assert redactor.redact(said) == text.replace("{}", tag)


def test_it_goes_as_a_whole_word_whatever_else_is_read_with_it(redactor: Redactor) -> None:
    """Texts are read many at once; what stands in one says nothing of another."""
    redactor.redact(f"SERVICE_TOKEN={KEY}")
    longer, beside = f"see xx{KEY}yy", f"{KEY} alone"

    assert redactor.redact(longer) == longer
    assert redactor.redact_all([longer, beside])[0] == longer
    assert KEY not in redactor.redact(f"a%3D{KEY}%26b and \\n{KEY}\\n")


def test_it_goes_from_texts_before_the_one_that_told_it(redactor: Redactor) -> None:
    first, second = redactor.redact_all([f"it is {KEY}", f"SERVICE_TOKEN={KEY}"])

    assert KEY not in first + second


def test_the_next_redactor_of_a_store_knows_it_by_its_hash_alone(redactor: Redactor) -> None:
    redactor.redact(f"SERVICE_TOKEN={KEY}")
    learned = redactor.take_learned()
    same, other = Redactor(b"the key of a store"), Redactor(b"another key")
    same.know_values(learned)
    other.know_values(learned)

    assert KEY not in same.redact(f"again {KEY}")
    assert other.redact(f"again {KEY}") == f"again {KEY}"
    assert KEY.encode() not in b"".join(learned)
    assert redactor.take_learned() == {}


@pytest.mark.parametrize(
    ("told", "later"),
    [
        ("PASSWORD=webshop", "the webshop is open"),
        ("password=summer2024", "it was in summer2024"),
        ("password: Winter2026!", "by Winter2026! we"),
        ("DB_PASSWORD=walrus-umbrella-77", "a walrus-umbrella-77"),
        ("export API_KEY=liveKey_778899", "grep liveKey_778899 src"),
    ],
)
def test_a_weak_value_goes_where_it_stands_and_nowhere_else(
    told: str, later: str, redactor: Redactor
) -> None:
    redactor.redact(told)

    assert redactor.redact(later) is later


def test_a_name_of_the_store_stays_however_random_it_looks(redactor: Redactor) -> None:
    """A session's id behind the word token must not take the session away."""
    redactor.know_names(["/home/ada/Xk29fPq7Lm3z", "0b5e55ed-0000-4a00-8f00-00c0ffee0001"])

    redactor.redact("DB_PASSWORD='Xk29fPq7Lm3z' API_TOKEN=0b5e55ed-0000-4a00-8f00-00c0ffee0001")

    text = "cd Xk29fPq7Lm3z; see 0b5e55ed-0000-4a00-8f00-00c0ffee0001"
    assert redactor.redact(text) is text


def test_nothing_is_learned_without_a_store() -> None:
    """What one text says then changes nothing in another."""
    redactor = Redactor(b"key")
    redactor.redact(f"SERVICE_TOKEN={KEY}")

    assert redactor.redact(KEY) == KEY
    assert redactor.take_learned() == {}


def test_what_programs_make_is_strong_and_what_people_write_is_not() -> None:
    chance = random.Random(1)
    made = ["".join(chance.choices(string.ascii_letters + string.digits, k=24)) for _ in range(500)]

    assert sum(map(is_strong, made)) >= 475
    assert not any(map(is_strong, ["webshop", "summer2024", "correct-horse-battery-staple"]))
    assert not any(map(is_strong, ["src/app/main2.py", "your-api-key-here", "a b2 c3d4e5f6g7h8"]))
