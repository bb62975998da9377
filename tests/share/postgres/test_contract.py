"""PostgreSQL keeps what every hub promises."""

from __future__ import annotations

from tests.share.contract import HubContract


class TestPostgres(HubContract):
    pass
