"""libSQL keeps what every hub promises."""

from __future__ import annotations

from tests.share.contract import HubContract


class TestLibsql(HubContract):
    pass
