"""Reads a text the way a clever model might: through disguises, escapes and encodings.

It is the judge of these tests, so it errs on the side of seeing too much.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from tests.builders.plants import LOOKALIKES

# So many words of a sentence in a row are enough to ask for something.
WINDOW_WORDS = 5
_AS_LATIN = {cyrillic: latin for latin, cyrillic in LOOKALIKES.items()}


def says(text: str, sentence: str) -> bool:
    """Whether some words in a row of a sentence can be read in a text."""
    words = sentence.split()
    windows = [
        _letters(" ".join(words[start : start + WINDOW_WORDS]))
        for start in range(len(words) - WINDOW_WORDS + 1)
    ]
    return any(window in reading for reading in map(_letters, readings(text)) for window in windows)


def readings(text: str) -> Iterator[str]:
    """A text in each way it can be read."""
    for spelt in (text, unquote(html.unescape(text))):
        yield spelt
        yield spelt[::-1]
        yield "".join(chr(ord(char) - 0xE0000) for char in spelt if 0xE0020 <= ord(char) < 0xE007F)
        yield bytes(ord(char) - 0xE0100 for char in spelt if 0xE0100 <= ord(char) < 0xE01F0).decode(
            "utf-8", "replace"
        )
        for run in re.findall(r"[A-Za-z0-9+/_-]{16,}", spelt):
            yield from _decoded(run)


def _decoded(run: str) -> Iterator[str]:
    """What a run of letters and digits may be the code of, whole or in part, wherever it begins."""
    for part in {run, *re.split("[/_-]", run)}:
        for start in range(4):
            for decode in (base64.b64decode, base64.urlsafe_b64decode, bytes.fromhex):
                code = part[start : start + (len(part) - start) // 4 * 4]
                try:
                    yield decode(code).decode("utf-8", "replace")
                except (ValueError, binascii.Error):
                    continue


def _letters(text: str) -> str:
    """Letters and digits alone, all alike: what is left when nothing can hide."""
    plain = unicodedata.normalize("NFKC", text).translate(_AS_LATIN).casefold()
    return "".join(char for char in plain if char.isalnum())
