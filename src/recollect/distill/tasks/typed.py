"""What a person typed of a prompt, and where its sentences end.

Agents and editors add to prompts, and people paste into them. What is fenced,
quoted with `>` or between tags was not typed, nor was a prompt that is too long
to be.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Nobody types so much at once: a longer prompt was pasted.
MOST_TYPED = 4_000
# The end of a sentence; not in "1. ", "e.g. " or "...", and not where a list goes
# on. What may stand before it is looked at last: a pattern whose branches all begin
# with a character is sought much faster.
END_OF_SENTENCE = re.compile(
    r"(\.(?=\s|$)(?<!\b\w\.)(?<!\d\.)(?<!\betc\.)(?<!\bvs\.)(?<!\.\.)|![!?]*(?=\s|$)|\?[!?]*(?=\s|$)"
    r"|\n\n(?<!:\n\n)(?!\s*(?:[-*•]|\d+[.)])\s))"
)

_TAG = re.compile(r"<([A-Za-z][\w-]*)[^<>]*>")
_FENCES = ("```", "~~~")


@lru_cache(256)
def typed(prompt: str) -> str:
    """What a person typed of a prompt: nothing fenced, quoted or between tags, and
    nothing of what is too long to be typed.
    """
    if len(prompt) > MOST_TYPED:
        return ""
    if (
        "<" not in prompt
        and len(prompt.splitlines()) == 1
        and not prompt.lstrip().startswith((">", *_FENCES))
    ):
        return prompt.rstrip()
    lines: list[str] = []
    fenced = False
    for line in _without_tagged(prompt).splitlines():
        quoted = line.lstrip().startswith(">")
        fence = line.lstrip().startswith(_FENCES)
        lines.append("" if fenced or fence or quoted else line.rstrip())
        fenced ^= fence
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def _without_tagged(text: str) -> str:
    """Programs put what they add between tags; people rarely type any."""
    kept, place = [], 0
    while tag := _TAG.search(text, place):
        kept.append(text[place : tag.start()])
        end = f"</{tag[1]}>"
        found = text.find(end, tag.end())
        place = tag.end() if found < 0 else found + len(end)
        kept.append("\n\n")
    return "".join([*kept, text[place:]])
