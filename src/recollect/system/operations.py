"""What recollect does, as it is seen from outside: a log line and a span for each operation.

An operation is an import, a step of a job, a search or a call of a tool. Seen are its name, how
long it took, how much memory the process has needed so far, and counts: never a word of a log.
Nothing is loaded and nothing is measured unless somebody asked for it, by RECOLLECT_LOG=info or
by one of OpenTelemetry's variables. On the path of a cold search.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

# Any of these asks for spans, as it does of every program.
TRACE_VARIABLES = (
    "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
)  # fmt: skip


def wants_spans() -> bool:
    """Whether the environment asks for spans."""
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if os.environ.get("OTEL_TRACES_EXPORTER", "").lower() == "none":
        return False
    return any(os.environ.get(name) for name in TRACE_VARIABLES)


class Operation:
    """One thing that is done, from `with` to its end; what it came to is noted on the way."""

    __slots__ = ("_begun", "_facts", "_name", "_seen", "_span")

    def __init__(self, name: str, **facts: object) -> None:
        self._name, self._facts = name, facts
        self._seen = False
        self._begun = 0.0
        self._span: Any = None

    def __enter__(self) -> Self:
        spans = wants_spans()
        self._seen = spans or _is_logged()
        if self._seen:
            import time

            self._begun = time.perf_counter()
        if spans:
            from opentelemetry import trace

            self._span = trace.get_tracer("recollect").start_span(self._name)
        return self

    def note(self, **facts: object) -> None:
        """Counts and names, which anybody may see."""
        if self._seen:
            self._facts.update(facts)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if not self._seen:
            return
        import time

        facts = {name: value for name, value in self._facts.items() if value is not None}
        # Not its words: they may quote a log.
        if kind is not None:
            facts["fault"] = kind.__name__
        if _is_logged():
            import logging

            seconds = round(time.perf_counter() - self._begun, 4)
            logging.getLogger(_LOGGER).info(
                self._name, extra={**facts, "seconds": seconds, "peak_mb": _peak_mb()}
            )
        if self._span is not None:
            self._span.set_attributes({f"recollect.{name}": facts[name] for name in facts})
            self._span.end()


_LOGGER = "recollect.operations"


def _is_logged() -> bool:
    # Who wants to see logs has loaded this.
    logging = sys.modules.get("logging")
    return logging is not None and logging.getLogger(_LOGGER).isEnabledFor(logging.INFO)


def _peak_mb() -> int | None:
    """The most memory that this process has needed so far."""
    try:
        import resource
    except ImportError:
        return None  # Windows has none.
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit
