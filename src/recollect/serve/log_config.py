"""Structured logging: RECOLLECT_LOG=info,capture=debug, on stderr or in a file.

Lines say what happened to which file and how long it took; they never hold
transcript text.
"""

from __future__ import annotations

import json
import logging
import os
import sys

from recollect.errors import UsageError
from recollect.system.clock import iso

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
_PLAIN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def configure(wanted: str, *, as_json: bool = False) -> None:
    """Set the levels that a text such as `info,capture=debug` asks for.

    Log to the file that RECOLLECT_LOG_FILE names, if it names one.
    """
    if target := os.environ.get("RECOLLECT_LOG_FILE"):
        descriptor = os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        handler: logging.Handler = logging.StreamHandler(
            os.fdopen(descriptor, "a", encoding="utf-8")
        )
    else:
        handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if as_json else _Lines())
    root = logging.getLogger("recollect")
    root.handlers = [handler]
    root.propagate = False
    for piece in filter(None, wanted.split(",")):
        stage, equals, level = piece.rpartition("=")
        if level.lower() not in _LEVELS:
            raise UsageError(
                f'RECOLLECT_LOG: There is no level "{level}".',
                hint=f"Choose {', '.join(_LEVELS)}.",
            )
        logging.getLogger(f"recollect.{stage}" if equals else "recollect").setLevel(
            _LEVELS[level.lower()]
        )


def _fields(record: logging.LogRecord) -> dict[str, object]:
    return {name: value for name, value in vars(record).items() if name not in _PLAIN}


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        extra = "".join(f" {name}={value}" for name, value in _fields(record).items())
        at, level = iso(int(record.created * 1000)), record.levelname.lower()
        text = f"{at} {level} {record.name} {record.getMessage()}{extra}"
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": iso(int(record.created * 1000)), "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(), **_fields(record),
        }  # fmt: skip
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False, separators=(",", ":"))
