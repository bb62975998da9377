"""The few words around a match, cut from the turn itself.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.model.calls import Call
from recollect.store.bodies import DIGEST
from recollect.store.text import ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.model.calls import PlainEvent

WIDTH = 160
# A whole log may be pasted; its first words say as well where to look.
MOST_WORDS = 24


def snippet(events: list[Call | PlainEvent], words: list[str]) -> tuple[str, str]:
    """The piece of a turn that holds the most of these words, in one line, and who wrote it."""
    # The index knows stems: parsing was found by parse.
    wanted = [
        (word[: max(4, len(word) - 3)], word)
        for word in dict.fromkeys(word.lower() for word in words[:MOST_WORDS])
    ]
    best, best_place, best_score, writer = "", 0, -1, "user"
    for text, written_by in _texts(events):
        text = ends(text)
        place, score = _best_place(text, wanted, best_score)
        # What a person wrote comes first and wins a tie over what a tool printed.
        if score > best_score:
            best, best_place, best_score, writer = text, place, score, written_by
            if score == len(wanted):
                break
    return _cut(best, best_place), writer


def _texts(events: list[Call | PlainEvent]) -> Iterator[tuple[str, str]]:
    """What was said and done, in order, each with who wrote it: the user, the
    assistant, a tool or a web page.
    """
    for event in events:
        if isinstance(event, Call):
            # What a tool was called with, the assistant wrote.
            if event.target:
                yield event.target, "assistant"
            given = event.input
            for text in given.values() if isinstance(given, dict) else (given,):
                if isinstance(text, str) and text:
                    yield text, "assistant"
            if event.output:
                yield event.output, "web" if event.kind == "web" else "tool"
        # `/clear` was said to the client, and is no answer to anybody.
        elif event.text and event.kind != "command":
            yield event.text, _writer(event.kind)


def _writer(kind: str) -> str:
    if kind == "prompt":
        return "user"
    # An error is what a service said, and a digest may quote what a command printed.
    return "tool" if kind in ("error", DIGEST) else "assistant"


def _best_place(text: str, wanted: list[tuple[str, str]], known: int) -> tuple[int, int]:
    """Where most of the words stand near each other, and how many do.

    A text that cannot have more of them than are `known` elsewhere is left early.
    """
    lowered = text.lower()
    may_miss = len(wanted) - max(known, 0) - 1
    places = []
    for begins, word in wanted:
        place = lowered.find(begins)
        if place >= 0:
            whole = lowered.find(word, place)
            places.append(place if whole < 0 else whole)
        elif may_miss:
            may_miss -= 1
        else:
            return 0, 0
    if len(places) < 2:
        return (places[0], 1) if places else (0, 0)
    return max(
        ((place, sum(0 <= other - place < WIDTH for other in places)) for place in places),
        key=lambda pair: pair[1],
    )


def _cut(text: str, position: int) -> str:
    start = max(0, position - WIDTH // 4)
    if start:
        space = text.find(" ", start, position)
        start = space + 1 if space >= 0 else start
    piece = text[start : start + WIDTH]
    line = " ".join(piece.split())
    return ("…" if start else "") + line + ("…" if start + WIDTH < len(text) else "")
