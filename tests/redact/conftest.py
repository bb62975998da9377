"""One redactor per engine for all the tests: building one takes longer than using it."""

from __future__ import annotations

import pytest

from recollect.redact import Redactor
from recollect.redact.hyper import available


@pytest.fixture(scope="session")
def redactors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Redactor]:
    """By engine; without the wheels, all of them are the Python one."""
    folder = tmp_path_factory.mktemp("redact")
    fast = Redactor(b"a key for tests", engine="auto", cache=folder)
    slow = Redactor(b"a key for tests", engine="python")
    return {"auto": fast, "hyperscan": fast if available else slow, "python": slow}
