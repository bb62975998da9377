"""The one measure of tokens: how much of a budget a text takes.

On the path of a hook: nothing is imported.
"""

from __future__ import annotations

# Near enough for English and code with every model; characters of scripts without
# spaces, and those as wide, are nearly a token each.
CHARACTERS_A_TOKEN, TOKENS_A_WIDE_CHARACTER = 3.6, 0.8


def tokens_of(text: str) -> float:
    """About how many tokens a model takes for a text."""
    wide = 0 if text.isascii() else sum(map(_is_wide, text))
    return (len(text) - wide) / CHARACTERS_A_TOKEN + wide * TOKENS_A_WIDE_CHARACTER


def _is_wide(char: str) -> bool:
    return char >= "\u1100" and (
        char <= "\u11ff"
        or "\u2e80" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7af"
        or "\uf900" <= char <= "\ufaff"
        or "\uff00" <= char <= "\uffef"
    )
