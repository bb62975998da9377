"""Questions to a model, several at a time, each in a thread of its own.

An answer takes minutes, and whoever waits for it holds leases that run out:
so it waits a little while at a time, and can renew them in between. A thread
that still waits ends with the process, so that nobody who wants to stop has to
wait for a service.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

    from recollect.llm import Model
    from recollect.llm.client import Reply

AT_ONCE = 8
# A job is lost when nothing is heard of it for a minute.
PATIENCE_SECONDS = 5.0

T = TypeVar("T")


class Questions(Generic[T]):
    """What a model is being asked, at most so many questions at a time; each is about something."""

    def __init__(self, model: Model, at_once: int = AT_ONCE) -> None:
        self._model, self._at_once = model, at_once
        self._answers: SimpleQueue[tuple[T, Future[Reply]]] = SimpleQueue()
        self.open = 0
        """How many are asked and not answered."""

    @property
    def has_room(self) -> bool:
        """Whether one more may be asked."""
        return self.open < self._at_once

    def put(
        self, about: T, instructions: str, text: str, schema: dict[str, Any] | None = None
    ) -> None:
        """Ask one more."""
        from concurrent.futures import Future

        answer: Future[Reply] = Future()

        def ask() -> None:
            try:
                answer.set_result(self._model.ask(instructions, text, schema=schema))
            except BaseException as error:  # Raised where the answer is read.
                answer.set_exception(error)
            self._answers.put((about, answer))

        self.open += 1
        Thread(target=ask, daemon=True).start()

    def answered(self) -> tuple[T, Future[Reply]] | None:
        """The next answer, and what it is about; None when there is none yet."""
        try:
            answer = self._answers.get(timeout=PATIENCE_SECONDS)
        except Empty:
            return None
        self.open -= 1
        return answer
