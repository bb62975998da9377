"""Asks a model at a service that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.llm import Model
    from recollect.model.engines import Reply


class ServiceEngine:
    """A model behind an OpenAI-compatible address as somebody who can be asked one question."""

    name = "llm"

    def __init__(self, model: Model) -> None:
        self._model = model
        self.model = model.name

    def ask(self, instructions: str, text: str) -> Reply:
        """What the model says; see `llm.Model.ask` for what it raises."""
        return self._model.ask(instructions, text)
