"""The engine `llm`: one model that writes what sessions and projects are
remembered by, and the bill for it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from recollect.distill.models import memory as model_memory
from recollect.distill.models.asking import Questions
from recollect.distill.models.memory import Material
from recollect.distill.models.notes import ModelExtractor, NoteTaker
from recollect.distill.models.replies import MEMORY_SCHEMA
from recollect.distill.models.traces import Verdict, Work, prompt, traces_by_model

if TYPE_CHECKING:
    from recollect.llm import Model
    from recollect.redact import Redactor
    from recollect.settings import Settings
    from recollect.store import Store
    from recollect.store.traces import Candidate, Published

log = logging.getLogger(__name__)


class LlmEngine:
    """Has a model write; asks from other threads, and does everything else in the caller's."""

    def __init__(self, store: Store, model: Model, redactor: Redactor, settings: Settings) -> None:
        self._model, self._redactor, self._settings = model, redactor, settings
        takes_notes = settings.flag("llm.notes")
        self._notes = None
        if takes_notes:
            extractor = ModelExtractor(model, redactor, settings)
            self._notes = NoteTaker(store, extractor, count=settings.flag("llm.notes_count"))
        self.calls_per_session = 2 if takes_notes else 1

    def traces(self, work: Iterable[Work]) -> Iterator[tuple[Candidate, Verdict] | None]:
        """What the model says of each session, and None now and then.

        Notes are taken on the way.
        """
        return traces_by_model(self._model, self._redactor, self._settings, work, notes=self._notes)

    def memory(self, material: Material) -> Iterator[dict[str, Published] | None]:
        """The files of a project's memory, after None now and then.

        Raises what is wrong with the answer, or in its way.
        """
        questions = Questions[Material](self._model)
        questions.put(
            material,
            prompt("memory"),
            model_memory.question(material, self._redactor, self._settings),
            MEMORY_SCHEMA,
        )
        while (answered := questions.answered()) is None:
            yield None
        written = model_memory.settle_memory(material, answered[1].result().text, self._redactor)
        if written.dropped:
            log.warning(
                "some statements were left out",
                extra={"project": material.project, "statements": written.dropped},
            )
        yield written.files

    def spent(self) -> tuple[int, float | None]:
        """Tokens and dollars of everything so far, also of answers that were no good.

        The dollars None when nobody knows.
        """
        tokens, cost_usd = self._model.spending.tokens, self._model.spending.cost_usd
        return tokens, cost_usd if tokens else 0.0
