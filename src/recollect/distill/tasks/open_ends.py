"""What a session left to do: what still failed, what nobody answered, what the person put off."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.distill.tasks.tasks import asks_back, prompt_of
from recollect.distill.tasks.typed import END_OF_SENTENCE, typed
from recollect.model.calls import Call
from recollect.reading.calls import find_retry, read_line
from recollect.reading.quoting import quoted, quoted_command

if TYPE_CHECKING:
    from recollect.model.digests import Run, Task
    from recollect.store.history import Passage

MOST = 5
COMMAND_CHARACTERS = 120
WORDS_CHARACTERS = 200
_PUT_OFF = re.compile(
    r"""
    \b(?:(?-i:TODO) | to-?do: | for\ later | follow[- ]up | don['’]?t\ forget
    | (?:next|another)\ (?:time|session)
    | (?:still|yet)\ (?:needs?|have|has)\ to
    | (?:do|fix|add|handle|finish|tackle)\b.{0,60}\b(?:later|tomorrow|next\ time))\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
# What puts something off has one of these words; most prompts have none,
# and are not looked through any further.
_WORDS = (
    "todo", "to-do", "later", "tomorrow", "follow-up", "follow up", "forget", "next time",
    "next session", "another time",
    "another session", "still need", "still ha", "yet need", "yet ha",
)  # fmt: skip
_SETTLED = ("success", "abandoned")


def open_ends(tasks: Sequence[Task], last: Sequence[Passage]) -> list[str]:
    """What is left of the last task, whose turns are these; nothing when it was settled."""
    if not tasks:
        return []
    found = []
    if tasks[-1].outcome not in _SETTLED:
        found += [_still_failing(run) for run in _failing(tasks[-1].runs)]
        if asks_back(last):
            found.append(f"the agent's last question is unanswered ({last[-1].ref})")
    for passage in last:
        if passage.author == "human":
            found += [
                f"“{quoted(line, WORDS_CHARACTERS)}” ({passage.ref})"
                for line in _put_off(prompt_of(passage))
            ]
    return found[:MOST]


def _put_off(said: str) -> list[str]:
    """The sentences in which a person leaves something for later."""
    lowered = said.lower()
    if not any(word in lowered for word in _WORDS):
        return []
    text = typed(said)
    if not _PUT_OFF.search(text):
        return []
    lines = [
        line.strip(" \t-*")
        for piece in END_OF_SENTENCE.split(text)[::2]
        for line in piece.splitlines()
    ]
    return [line for line in lines if _PUT_OFF.search(line)]


def _failing(runs: Sequence[Run]) -> list[Run]:
    """The checks whose last run failed, unless a later one covers it.

    Without a check, the last command if that failed.
    """
    ended: dict[str, Run] = {}
    for run in runs:
        if run.check:
            ended.pop(run.command, None)
            ended[run.command] = run
    last = list(ended.values())
    failing = [
        run
        for index, run in enumerate(last)
        if run.ok is False
        and not any(later.ok and _covers(later, run) for later in last[index + 1 :])
    ]
    if not ended and runs and runs[-1].ok is False:
        failing = [runs[-1]]
    return failing[-2:]


def _covers(later: Run, failed: Run) -> bool:
    """Whether a check looks at all that a failed one looked at."""
    before, after = (Call(0, 0, "", "shell", run.command, run.ok) for run in (failed, later))
    retry = find_retry(before, after)
    narrower = read_line(later.command).arguments <= read_line(failed.command).arguments
    return retry is not None and (retry.form == "same" or narrower)


def _still_failing(run: Run) -> str:
    how = "fails" if run.exit_code is None else f"ends with exit code {run.exit_code}"
    return f"`{quoted_command(run.command, COMMAND_CHARACTERS)}` still {how} ({run.ref})"
