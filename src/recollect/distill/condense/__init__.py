"""A project's sessions condensed into one record, which a model or a person reads."""

from recollect.distill.condense.marks import Marks
from recollect.distill.condense.record import MOST_BYTES, Record, Subject, condense

__all__ = ["MOST_BYTES", "Marks", "Record", "Subject", "condense"]
