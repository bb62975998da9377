"""What is kept of a line that a prompt may call up, in two numbers: what is known of its turn,
and how often a word of it stands where.

On the path of a hook: nothing is imported.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Where a word can stand. The files of a turn are the names of those that it read or changed.
PROMPT, ANSWER, COMMANDS, ERRORS, FILES = FIELDS = range(5)
# A word says no more when it is there for the fourth time.
MENTION_BITS, MOST_MENTIONS = 2, 3
# Beside the mentions, whether this is the name of a file that was changed.
CHANGED = 1 << MENTION_BITS * len(FIELDS)

# A field's length is counted in so many words.
LENGTH_UNIT, LENGTH_BITS, LONGEST = 4, 6, 63
_EDITED = LENGTH_BITS * len(FIELDS)
_FAILURES, MOST_FAILURES = _EDITED + 1, 3
_COPIES, MOST_COPIES = _FAILURES + 2, 31
_ASKED, _MOST_ASKED = _COPIES + 5, 1023
_USED, _UNUSED = _ASKED + 10, _ASKED + 11


def mentions(counts: Mapping[int, int], *, changed: bool) -> int:
    """How often a word stands in each field, as one number."""
    return sum(
        min(MOST_MENTIONS, count) << MENTION_BITS * field for field, count in counts.items()
    ) | (CHANGED if changed else 0)


class LineFacts:
    """What is known of a turn: how long its fields are, whether it changed files, how many of its
    calls failed, how many turns of the project began with the same words, of how many
    different words its prompt is; and whether sessions that were told of it used it (1) or had
    the chance and did not (-1).
    """

    __slots__ = ("asked", "copies", "edited", "failures", "lengths", "used")

    def __init__(
        self, lengths: list[int], edited: bool = False, failures: int = 0, copies: int = 0,
        asked: int = 0, used: int = 0,
    ) -> None:  # fmt: skip
        self.lengths, self.edited, self.failures = lengths, edited, failures
        self.copies, self.asked, self.used = copies, asked, used

    def packed(self) -> int:
        number = int(self.edited) << _EDITED
        number |= min(self.failures, MOST_FAILURES) << _FAILURES
        number |= min(self.copies, MOST_COPIES) << _COPIES
        number |= min(self.asked, _MOST_ASKED) << _ASKED
        number |= int(self.used > 0) << _USED | int(self.used < 0) << _UNUSED
        for field, length in enumerate(self.lengths):
            units = (length + LENGTH_UNIT - 1) // LENGTH_UNIT
            number |= min(units, LONGEST) << LENGTH_BITS * field
        return number


def unpacked(number: int) -> LineFacts:
    """The facts in a number, lengths as far as it knows them."""
    return LineFacts(
        [(number >> LENGTH_BITS * field & LONGEST) * LENGTH_UNIT for field in FIELDS],
        bool(number >> _EDITED & 1),
        number >> _FAILURES & MOST_FAILURES,
        number >> _COPIES & MOST_COPIES,
        number >> _ASKED & _MOST_ASKED,
        (number >> _USED & 1) - (number >> _UNUSED & 1),
    )
