"""A service for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.llm.service import Service, running


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as service:
        yield service
