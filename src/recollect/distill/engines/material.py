"""What an engine is given of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.distill import finders, ranking
from recollect.distill.condense import Marks, Record, Subject, condense
from recollect.distill.sessions import read_sessions

if TYPE_CHECKING:
    from recollect.redact import Redactor
    from recollect.store import Store


def whole_record(store: Store, project: str, redactor: Redactor) -> Record | None:
    """Everything that is stored of a project as one record; None where that is nothing."""
    sessions = read_sessions(store, project)
    if not sessions:
        return None
    lines = ranking.weigh(finders.find(sessions), sessions)
    subject = Subject(project, sessions, sessions)
    return condense(subject, lines, Marks(sessions), redactor.redact_strictly)
