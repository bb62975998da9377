"""Kept work: what commit messages and pull requests say was done, and why.

Somebody kept it, so it holds. A subject tells what changed, which the code tells too; a
line that gives a reason, or what was done in place of what, is worth more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.distill.finders.cleaning import cut, size, without_marks, words
from recollect.distill.finders.cues import cues
from recollect.distill.finders.people import is_secret
from recollect.distill.finders.safe import asks
from recollect.distill.finders.steps import unwrapped
from recollect.model.candidates import Candidate
from recollect.model.record import SessionRecord

MOST_LINES = 8
# A line that gives a reason, or says what was avoided, is told unasked from so many characters on.
FEWEST_SURE = 45
# A line that goes on in the next is nearly as long as the column at which it was broken.
BROKEN_AT = 50
_MESSAGE = re.compile(
    r"(?:git (?:-C \S+ )?commit[^\n]*?-m|gh pr create[^\n]*?--(?:title|body))\s*"
    r"(?:\"\$\(cat <<'?EOF'?\n(.*?)\nEOF|\"((?:[^\"\\]|\\.)*)\"|'([^']*)')",
    re.DOTALL,
)
_SIGNED = re.compile(r"(?:Co-Authored-By|🤖 Generated|Signed-off-by).*", re.DOTALL)
_LISTED = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_REASONS = frozenset(("trap", "cause", "limit", "decision", "lasting", "strong"))


def find(session: SessionRecord) -> Iterator[Candidate]:
    """The lines of a session's commits and pull requests that passed."""
    for turn, call in session.calls():
        if call.kind != "shell" or not call.passed or not may_commit(call.target):
            continue
        for lines in messages(unwrapped(call.target)):
            for number, line in enumerate(lines[:MOST_LINES]):
                if size(line) > 16 and not is_secret(line) and not line.startswith("#"):
                    found = cues(line) & _REASONS
                    yield Candidate(
                        kind="commit",
                        section="decisions",
                        category="decision",
                        text=cut(line),
                        key="said " + " ".join(words(line)),
                        trust="external" if turn.tainted else "tool-verified",
                        strength=(0.4 if number == 0 else 0.1) + 0.35 * len(found),
                        at=turn.at,
                        turn=turn.ref,
                        # What only demands may have been put into an agent's mouth.
                        is_sure="cause" in found and size(line) > FEWEST_SURE and not asks(line),
                    )


def may_commit(command: str) -> bool:
    """Whether a command may hold a message: looking for one takes a while."""
    return " -m" in command or "gh pr" in command


def messages(command: str) -> Iterator[list[str]]:
    """The messages of the commits and pull requests that a command makes, line by line."""
    for match in _MESSAGE.finditer(command):
        message = _SIGNED.sub("", next(filter(None, match.groups()), ""))
        if lines := [without_marks(_LISTED.sub("", line)) for line in _unwrapped(message)]:
            yield lines


def _unwrapped(message: str) -> list[str]:
    """The lines of a message, those that were broken at a column in one."""
    found: list[str] = []
    for line in filter(str.strip, message.split("\n")):
        is_more = (
            found and len(found) > 1 and not _LISTED.match(line) and not found[-1].endswith(".")
        )
        if is_more and len(found[-1]) > BROKEN_AT:
            found[-1] += f" {line.strip()}"
        else:
            found.append(line)
    return found
