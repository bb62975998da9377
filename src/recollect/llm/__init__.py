"""A language model at a service that speaks OpenAI's chat protocol, for
those who name one in the settings.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from recollect.llm.spending import Spending
    from recollect.model.engines import Reply
    from recollect.settings import Settings

    class Model(Protocol):
        """Answers one question at a time, without tools and without a memory of its own."""

        name: str
        spending: Spending

        def ask(self, instructions: str, text: str) -> Reply:
            """What the model says to a text, by our instructions.

            Raises EngineUnavailable when there is no answer, BadReply when
            there is one that says nothing, SpendingLimit before it would
            cost too much.
            """


__all__ = ["open_model"]


def open_model(settings: Settings, redact: Callable[[str], str]) -> Model:
    """The model that the settings name; EngineUnavailable says what is missing.

    Every text goes through `redact` before it is sent. That is called in
    whichever thread asks, by one at a time, and should share nothing with
    what others use meanwhile.
    """
    from recollect.llm.client import ChatModel

    return ChatModel(settings, redact)
