"""Spans for OpenTelemetry, when its variables ask for them.

The API comes with the MCP SDK; what sends spans is the extra `otel`. A program that uses recollect
as a library has set it up itself, and sees the same spans.
"""

from __future__ import annotations

import logging
import os
import sys
from importlib import import_module
from typing import Any

log = logging.getLogger(__name__)


def configure() -> None:
    """Send spans to where the variables say; without the extra, say so in the log."""
    exporter = os.environ.get("OTEL_TRACES_EXPORTER", "otlp").lower()
    try:
        # Looked up by name: the extra need not be there, and none of it has types for us.
        sdk: Any = import_module("opentelemetry.sdk.trace")
        export: Any = import_module("opentelemetry.sdk.trace.export")
        resources: Any = import_module("opentelemetry.sdk.resources")
        api: Any = import_module("opentelemetry.trace")
        if exporter == "console":
            # Answers are on stdout.
            sender = export.ConsoleSpanExporter(out=sys.stderr)
        else:
            otlp: Any = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
            sender = otlp.OTLPSpanExporter()
    except ImportError:
        log.warning("spans are wanted, but not installed: pip install 'recollect[otel]'")
        return
    named = os.environ.get("OTEL_SERVICE_NAME") or "recollect"
    provider = sdk.TracerProvider(resource=resources.Resource.create({"service.name": named}))
    provider.add_span_processor(export.BatchSpanProcessor(sender))
    api.set_tracer_provider(provider)
