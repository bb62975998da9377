"""How text becomes words, the same for what is stored and for what is asked.

The index splits at everything that is not a letter or a digit, so
`parse_rollout` is two words and a path is the words of its folders: any suffix
of a path is a phrase. What the index cannot see are the humps of camelCase and
the words of scripts written without spaces; both are taken apart here.
"""

from __future__ import annotations

import re

# Every ASCII byte by its class: lower case or digit, upper case, anything else.
_CLASSES = bytes(
    97 if chr(byte).isdigit() or chr(byte).islower() else 65 if chr(byte).isupper() else 32 for byte in range(128)
) + b" " * 128
_HUMP, _ACRONYM = b"aA", b"AAaa"
_SPACELESS = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])")

# Of a long tool output only both ends are indexed: the command that ran and
# the error it ended with are there, and the middle is in the body.
END_CHARACTERS = 4_000


def prepare(text: str) -> str:
    """Text as the index should see it: `parseRolloutFile` becomes three words."""
    if not text.isascii():
        text = _SPACELESS.sub(r" \1 ", text)
    data = text.encode("utf-8", "replace")
    classes = data.translate(_CLASSES)
    changed = False
    for shape in (_HUMP, _ACRONYM):
        if shape in classes:
            data = _split(data, classes, shape)
            classes, changed = data.translate(_CLASSES), True
    return data.decode("utf-8", "replace") if changed else text


def _split(data: bytes, classes: bytes, shape: bytes) -> bytes:
    """Put a space after the first byte of every place that has this shape."""
    pieces, start = [], 0
    found = classes.find(shape)
    while found >= 0:
        pieces.append(data[start : found + 1])
        start = found + 1
        found = classes.find(shape, start)
    pieces.append(data[start:])
    return b" ".join(pieces)


def ends(text: str) -> str:
    """The first and the last characters of a long text, which is what gets indexed."""
    if len(text) <= 2 * END_CHARACTERS:
        return text
    return text[:END_CHARACTERS] + "\n" + text[-END_CHARACTERS:]
