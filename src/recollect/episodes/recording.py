"""Records attempts as they happen: cheap for the one who works, safe once it is written.

An attempt is held in memory while it goes on. Completing it puts it into a
queue, from where it is written as one row with all its steps: whatever happens
to the process, the store never has half of one.

Any thread may begin, log and complete, and any may log into an attempt that
another began. There are no locks on that way: dictionaries and lists do one
thing at a time, and that is all that is asked of them. An attempt is a list of
steps; completing it takes it out of the dictionary and puts a last mark behind
its steps. A thread that finds it gone after adding a step looks on which side
of the mark the step came to stand, and so knows whether it was taken.

Checks are written out in the hot functions: a call for each would cost more than
all of them. What they do not let pass at once is asked about in `limits`.

In a forked child there is no writer, and what was under way or queued is its
parent's: the child begins with nothing.
"""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from functools import lru_cache
from itertools import count, takewhile
from time import time_ns
from typing import Any

from recollect.episodes import forks, limits
from recollect.episodes.limits import (
    MOST_DURATION_MS,
    MOST_LATENCY_MS,
    MOST_OBSERVATION,
    MOST_OPEN,
    MOST_RESULT,
    MOST_STEPS,
    MOST_TASK,
    MOST_TOKENS,
    OUTCOMES,
)
from recollect.episodes.queueing import Queue, WhenFull
from recollect.episodes.reward import reward
from recollect.episodes.writer import CompletedEpisode, EpisodeWriter
from recollect.errors import (
    EpisodeCompleted,
    RecollectError,
    SettingsError,
    TooMany,
    UnknownEpisode,
    WrongKind,
)
from recollect.model.episodes import Context, Ending, Reward, Step
from recollect.reading.signatures import step_signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.model.episodes import Flushed

_END = Step("")
_NOWHERE = Context()
_PREFIX = "episode:"
KNOWN_CALLS = 4_096


def when_full(setting: str) -> WhenFull:
    """What a full queue does, by the setting."""
    if setting == "block":
        return "block"
    if setting == "drop-oldest":
        return "drop-oldest"
    raise SettingsError(
        f"episodes.when_full cannot be {setting[:50]!r}.", hint="Choose block or drop-oldest."
    )


# An attempt under way: its task, its context, when it began in nanoseconds, and then its steps. A
# list, because a class of our own would take longer to make than all the rest.
_Open = list[Any]
_STEPS = 3
_MOST_ITEMS = _STEPS + MOST_STEPS


class Recorder:
    """The attempts under way in this process, and the queue of those that are complete."""

    def __init__(self, writer: EpisodeWriter, *, most: int, when_full: WhenFull) -> None:
        self._writer, self._most, self._when_full = writer, most, when_full
        self._begin()
        _RECORDERS.add(self)
        forks.notice(self)

    def _begin(self) -> None:
        self._open: dict[str, _Open] = {}
        # Tools with what they were told, that were found right and have their signature ready.
        self._known: set[tuple[str, str]] = set()
        self._queue: Queue[CompletedEpisode] = Queue(
            self._writer.keep, most=self._most, when_full=self._when_full
        )
        # The time, so that ids come in order, and enough chance that no two processes share one.
        self._prefix = f"{_PREFIX}{time_ns() // 1_000_000:012x}-{os.urandom(6).hex()}-"
        self._number = count(1).__next__

    def start(self, task: str, context: Context | None = None) -> str:
        """Begin an attempt; its id."""
        if not (
            type(task) is str
            and 0 < len(task) <= MOST_TASK
            and task.isprintable()
            and not task.isspace()
        ):
            limits.check_text("task", task, MOST_TASK, empty=False)
        if context is None:
            context = _NOWHERE
        else:
            try:
                _known_context(context)
            except TypeError:
                limits.check_context(context)
        if len(self._open) >= MOST_OPEN:
            raise TooMany(f"{MOST_OPEN} attempts are open.", hint="Complete those that have ended.")
        ref = f"{self._prefix}{self._number()}"
        self._open[ref] = [task, context, time_ns()]
        return ref

    def log(self, ref: str, step: Step) -> None:
        """Add a step to an attempt."""
        try:
            opened = self._open[ref]
            if (step.tool, step.action) not in self._known:
                self._know(step.tool, step.action)
            latency, tokens = step.latency_ms, step.tokens
            success, observation = step.success, step.observation
        except (KeyError, TypeError, AttributeError):
            self._refuse(ref)
            limits.check_step(step)
            raise
        if not (
            (latency is None or (type(latency) is int and 0 <= latency <= MOST_LATENCY_MS))
            and (tokens is None or (type(tokens) is int and 0 <= tokens <= MOST_TOKENS))
            and (success is None or success is True or success is False)
            and type(observation) is str
            and len(observation) <= MOST_OBSERVATION
            and observation.isprintable()
            and type(step) is Step
        ):
            limits.check_step(step)
        if len(opened) >= _MOST_ITEMS:
            raise TooMany(
                f"{ref} has {len(opened) - _STEPS} steps.",
                hint="Complete it, and start another one for what follows.",
            )
        opened.append(step)
        if ref not in self._open:
            self._look_behind(opened, ref, step)

    def complete(self, ref: str, ending: Ending | str) -> Reward:
        """End an attempt; what it was worth."""
        if isinstance(ending, str):
            ending = Ending(ending)
        try:
            outcome = OUTCOMES[ending.outcome]
            result, error, duration = ending.result, ending.error, ending.duration_ms
        except (KeyError, TypeError, AttributeError):
            limits.check_ending(ending)
            raise
        if not (
            (
                result is None
                or (type(result) is str and len(result) <= MOST_RESULT and result.isprintable())
            )
            and (
                error is None
                or (type(error) is str and len(error) <= MOST_RESULT and error.isprintable())
            )
            and (duration is None or (type(duration) is int and 0 <= duration <= MOST_DURATION_MS))
            and type(ending) is Ending
        ):
            limits.check_ending(ending)
        queue = self._queue
        if len(queue.waiting) >= queue.most:
            # First, because it may fail, and then the attempt stays under way.
            self._refuse(ref)
            queue.make_room()
        try:
            opened = self._open.pop(ref)
        except (KeyError, TypeError):
            self._refuse(ref)
            raise
        opened.append(_END)
        task, context, started_ns = opened[:_STEPS]
        steps = opened[_STEPS:-1]
        if opened[-1] is not _END:
            # Somebody logged meanwhile, behind the end, and is about to notice.
            steps = list(takewhile(lambda step: step is not _END, opened[_STEPS:]))
        if duration is None:
            duration = max(0, time_ns() - started_ns) // 1_000_000
        worth = reward(outcome, steps, duration)
        queue.waiting.append(
            CompletedEpisode(
                ref, task, context, started_ns, steps, outcome, result, error, duration, worth
            )
        )
        if not queue.stirred:
            queue.stir()
        return worth

    def warm_up(self) -> None:
        """Get ready to write while the first attempt is still under way."""
        self._queue.warm_up(self._writer.get_ready)

    def flush(self) -> Flushed:
        """Write what was completed before.

        How much was kept and how much dropped since the last time.
        """
        return self._queue.flush()

    def settle(self) -> None:
        """Write what was completed before, so that whoever asks now finds it."""
        self._queue.settle()

    def close(self) -> None:
        """Keep what is still under way as abandoned, write everything, and let go of the store.

        May be called twice.
        """
        _RECORDERS.discard(self)
        # There is no later any more that a full queue could make wait for.
        self._queue.most = sys.maxsize
        for ref in list(self._open):
            with suppress(EpisodeCompleted):
                self.complete(ref, "abandoned")
        try:
            self._queue.close()
        finally:
            self._writer.close()

    def begin_anew(self) -> None:
        """In a forked child: everything up to here is the parent's."""
        self._writer.leave()
        self._begin()

    def _refuse(self, ref: str) -> None:
        """Raise when no such attempt is under way."""
        if not isinstance(ref, str):
            raise WrongKind(
                f"The id of an attempt is text, not {type(ref).__name__}.",
                hint="Use the id that start_episode returned.",
            )
        if ref in self._open:
            return
        number = ref.removeprefix(self._prefix)
        # Taking a number tells which were given; nobody misses it.
        if (
            number != ref
            and number.isdecimal()
            and len(number) < 19
            and int(number) < self._number()
        ):
            raise EpisodeCompleted(
                f"{ref} is complete.", hint="Start another one with start_episode."
            )
        raise UnknownEpisode(
            f'This process has no open attempt "{ref[:100]}".',
            hint="Use the id that start_episode returned here.",
        )

    def _know(self, tool: str, action: str) -> None:
        """Raise when a call may not be kept.

        Otherwise it is known from now on, and costs a look into a table.
        """
        limits.check_call(tool, action)
        step_signature(tool, action)
        if len(self._known) >= KNOWN_CALLS:
            self._known.clear()
        self._known.add((tool, action))

    def _look_behind(self, opened: _Open, ref: str, step: Step) -> None:
        """Raise when a step came to stand behind the end of an attempt
        that was completed meanwhile.
        """
        if not any(one is step for one in takewhile(lambda one: one is not _END, opened[_STEPS:])):
            self._refuse(ref)


@lru_cache(maxsize=1_024)
def _known_context(context: Context) -> None:
    limits.check_context(context)


# Until they are closed: what a forgotten memory has recorded is written at the end.
_RECORDERS: set[Recorder] = set()


@atexit.register
def _close_all() -> None:
    for recorder in list(_RECORDERS):
        with suppress(RecollectError):
            # The queue has said that something is lost.
            recorder.close()
