"""Asks a libSQL server over HTTP: statements that run together or not at all.

The clients of libSQL for Python are compiled, or are not looked after any more; what a hub needs
of the protocol is one request, `/v2/pipeline`:
https://github.com/tursodatabase/libsql/blob/main/docs/HRANA_2_SPEC.md
"""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from recollect.errors import HubRefused, HubUnavailable
from recollect.share.link import is_near

CONNECT_SECONDS, ANSWER_SECONDS = 5.0, 30.0
# No answer of ours is larger; a server that sends more is not one.
MOST_BYTES = 64 << 20

Statement = tuple[str, Sequence[Any]]
Rows = list[tuple[Any, ...]]


class Pipeline:
    """One connection to a libSQL server."""

    def __init__(self, url: str, token: str | None, answer_seconds: float) -> None:
        parts = urlsplit(url)
        self.host = parts.hostname or "localhost"
        is_plain = parts.scheme in ("http", "ws") or parse_qs(parts.query).get("tls") == ["0"]
        self._is_tls = not (is_plain and is_near(url))
        self._port = parts.port or (443 if self._is_tls else 80)
        self._token, self._answer_seconds = token, answer_seconds
        self._connection: http.client.HTTPConnection | None = None
        self.round_trips = 0

    def run(self, *statements: Statement) -> list[Rows]:
        """The rows of each statement; they are done all or none, and nobody writes in between."""
        steps: list[dict[str, Any]] = [{"stmt": {"sql": "begin immediate"}}]
        for number, (sql, values) in enumerate([*statements, ("commit", ())]):
            steps.append({
                "stmt": {"sql": sql, "args": [_argument(value) for value in values]},
                "condition": {"type": "ok", "step": number},
            })  # fmt: skip
        last = {"type": "not", "cond": {"type": "ok", "step": len(steps) - 1}}
        steps.append({"stmt": {"sql": "rollback"}, "condition": last})
        [result, *_] = self._ask([{"type": "batch", "batch": {"steps": steps}}])
        errors = [error for error in result["step_errors"][:-1] if error]
        if errors:
            raise self._refused(errors[0])
        return [_rows(one) for one in result["step_results"][1:-2]]

    def read(self, *statements: Statement) -> list[Rows]:
        """The rows of each statement, which write nothing and see one state."""
        steps: list[dict[str, Any]] = [{"stmt": {"sql": "begin"}}]
        steps += [
            {"stmt": {"sql": sql, "args": [_argument(value) for value in values]}}
            for sql, values in statements
        ]
        steps.append({"stmt": {"sql": "rollback"}})
        [result, *_] = self._ask([{"type": "batch", "batch": {"steps": steps}}])
        errors = [error for error in result["step_errors"][:-1] if error]
        if errors:
            raise self._refused(errors[0])
        return [_rows(one) for one in result["step_results"][1:-1]]

    def script(self, sql: str) -> None:
        """Run several statements that are safe to be run again."""
        self._ask([{"type": "sequence", "sql": sql}])

    def _ask(self, requests: list[dict[str, Any]]) -> list[Any]:
        self.round_trips += 1
        body = json.dumps({"requests": [*requests, {"type": "close"}]})
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            connection = self._connect()
            connection.request("POST", "/v2/pipeline", body, headers)
            response = connection.getresponse()
            said = response.read(MOST_BYTES)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise HubUnavailable(
                f"The hub at {self.host} cannot be used now: {error or type(error).__name__}."
            ) from error
        if response.status in (401, 403):
            raise HubRefused(
                f"The hub at {self.host} does not let you in.",
                hint="Set TURSO_AUTH_TOKEN, or ask for a new link: recollect team invite NAME",
            )
        if response.status != 200:
            raise HubUnavailable(f"The hub at {self.host} answers with {response.status}.")
        results = json.loads(said)["results"]
        for one in results:
            if one["type"] == "error":
                raise self._refused(one["error"])
        return [one["response"].get("result") for one in results]

    def _connect(self) -> http.client.HTTPConnection:
        if self._connection is None:
            if self._is_tls:
                self._connection = http.client.HTTPSConnection(
                    self.host, self._port, timeout=CONNECT_SECONDS,
                    context=ssl.create_default_context(),
                )  # fmt: skip
            else:
                self._connection = http.client.HTTPConnection(
                    self.host, self._port, timeout=CONNECT_SECONDS
                )
            self._connection.connect()
            self._connection.sock.settimeout(self._answer_seconds)
        return self._connection

    def _refused(self, error: dict[str, Any]) -> HubRefused | HubUnavailable:
        said = str(error.get("message", ""))[:300]
        if "no such table" in said:
            return HubRefused(
                "There is no team in that database.", hint="Make one: recollect team init URL"
            )
        if "BUSY" in str(error.get("code")) or "locked" in said or "full" in said:
            return HubUnavailable(f"The hub at {self.host} cannot be used now: {said}.")
        return HubRefused(f"The hub does not allow that: {said}.")

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _argument(value: Any) -> dict[str, Any]:
    if value is None:
        return {"type": "null"}
    if isinstance(value, int):
        return {"type": "integer", "value": str(value)}
    return {"type": "text", "value": str(value)}


def _rows(result: dict[str, Any] | None) -> Rows:
    if result is None:
        return []
    return [tuple(_value(cell) for cell in row) for row in result["rows"]]


def _value(cell: dict[str, Any]) -> Any:
    kind = cell["type"]
    if kind == "integer":
        return int(cell["value"])
    return cell.get("value")
