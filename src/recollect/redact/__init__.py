"""Takes secrets out of text before anything is stored, embedded, shown or sent."""

from recollect.redact.engine import Finding, Redactor, known_values, table_version

__all__ = ["Finding", "Redactor", "known_values", "table_version"]
