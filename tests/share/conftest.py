"""One server per worker, a new database per test, and people with devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect import Memory
from recollect.model.team import Role
from tests.share.people import Person
from tests.share.servers import PASSWORD, Postgres, postgres_folder


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may find, or fill, the keyring of who runs it."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    server = Postgres(postgres_folder())
    yield server
    server.stop()


@pytest.fixture
def hub_url(postgres: Postgres) -> str:
    """A new database that a team may be founded in."""
    return postgres.database()


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Callable[..., Person]]:
    """Makes people, each with a store of their own."""
    made: list[Memory] = []

    def make(name: str, device: str = "laptop") -> Person:
        found = Person(name, tmp_path / f"{name}-{device}", PASSWORD)
        made.append(found.memory)
        return found

    yield make
    for memory in made:
        memory.close()


@pytest.fixture
def ana(person: Callable[..., Person], hub_url: str) -> Person:
    """An admin, who founded the team."""
    return person("ana").founds(hub_url)


@pytest.fixture
def joins(person: Callable[..., Person], ana: Person) -> Callable[..., Person]:
    """Has somebody join ana's team."""

    def join(name: str, role: Role = "member", device: str = "laptop") -> Person:
        return person(name, device).joins(ana.memory.team.invite(name, role))

    return join
