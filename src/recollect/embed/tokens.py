"""What the static model sees of a text: identifiers, their parts and their letters.

`parseRolloutFile`, `parse_rollout_file` and `parse rollout file` give the same
three parts, so code and prose about it meet. A word that the model does not
list is spelled in overlapping runs of three to five letters, each of which is
hashed into a bucket that was trained like a word.

The model was trained on exactly these tokens: a change here needs a new model.
There are no regular expressions because a new process asks for the tokens of
one short question, and importing `re` costs several times what its vector does.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# What comes later in a long text adds little to a sum of words that is already long.
MAX_CHARS = 4000
# Longer parts are hashes and encoded data, longer identifiers are never in the word list.
MAX_PART = 24
MAX_WHOLE = 40


def tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Lower-case tokens in order, each with whether it is a whole identifier of several parts.

    Such a whole counts only when the model lists it; its parts always count.
    """
    for identifier in identifiers(text):
        yield from tokens_of(identifier)


def tokens_of(identifier: str) -> Iterator[tuple[str, bool]]:
    """The tokens of one identifier: its parts, then itself when it has several."""
    parts = split(identifier)
    for part in parts:
        if len(part) <= MAX_PART:
            yield part.lower(), False
    if len(parts) > 1 and len(identifier) <= MAX_WHOLE:
        yield identifier.lower(), True


def identifiers(text: str) -> list[str]:
    """The runs of letters, digits and inner underscores in the part of a text that is read."""
    spaced = "".join(
        [
            character if character.isalnum() or character == "_" else " "
            for character in text[:MAX_CHARS]
        ]
    )
    return [stripped for run in spaced.split() if (stripped := run.strip("_"))]


def split(identifier: str) -> list[str]:
    """The parts of an identifier: at underscores, at changes of case,
    between letters, digits and other scripts.
    """
    if (
        identifier.isascii()
        and identifier.isalpha()
        and (len(identifier) == 1 or identifier[1:].islower())
    ):
        return [identifier]

    parts: list[str] = []
    last = ""
    for character in identifier:
        kind = _kind(character)
        if kind == "lower" and last == "upper":
            # The last capital of a run begins the next word: HTTPServer is HTTP and Server.
            if len(parts[-1]) > 1:
                parts.append(parts[-1][-1])
                parts[-2] = parts[-2][:-1]
            parts[-1] += character
        elif kind and kind == last:
            parts[-1] += character
        elif kind:
            parts.append(character)
        last = kind
    return parts


def _kind(character: str) -> str:
    if "a" <= character <= "z":
        return "lower"
    if "A" <= character <= "Z":
        return "upper"
    if character == "_":
        return ""
    return "digit" if character.isdecimal() else "other"


def grams(word: str, buckets: int) -> list[int]:
    """The buckets of a word that the model does not list, one for
    each run of three to five letters.
    """
    from zlib import crc32  # only here: most questions are made of listed words

    spelled = f"<{word}>"
    return [
        crc32(spelled[start : start + length].encode()) % buckets
        for length in (3, 4, 5)
        for start in range(len(spelled) - length + 1)
    ]
