"""Whether a person has said what an agent wants to remember.

An agent's word is a candidate. It counts like the person's own when the
person's own words say it: the call that gave the note is found in the log of
its session, and what was typed there up to that call is compared with it.

We would rather miss one than believe one that was not said, least of all the
opposite. So the note's words have to be there in the same order and close
together, and a word that turns a sentence around ("not", "if", "instead")
counts wherever it stands in it: "use tabs" is not said by "do not use tabs",
nor by "if you use tabs, stop". Questions say nothing, and neither does what
was pasted, quoted or put there by a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from recollect.distill.tasks.typed import END_OF_SENTENCE, typed
from recollect.model.calls import Call, PlainEvent
from recollect.store.sqlite.notes import compared

if TYPE_CHECKING:
    from recollect.store import Store

TOOL = "remember"
# One word is in any sentence by chance.
FEWEST_WORDS = 2

STOP_WORDS = frozenset((
    "a", "an", "the", "this", "that", "these", "those", "it", "its", "is", "are", "was", "were",
    "be", "been", "being",
    "am", "do", "does", "did", "done", "have", "has", "had", "to", "of", "in", "on", "at", "by",
    "for", "from", "with",
    "as", "and", "so", "then", "there", "here", "i", "me", "my", "we", "us", "our", "you", "your",
    "he", "she", "they",
    "them", "their", "please", "also", "just",
))  # fmt: skip
# Words after which a sentence no longer says what its other words say.
TURNING_WORDS = frozenset((
    "not", "no", "never", "nor", "neither", "none", "nothing", "nobody", "without", "avoid",
    "instead", "rather", "except",
    "unless", "until", "if", "whether", "only", "hardly", "rarely", "barely", "seldom", "stop",
    "quit", "ignore",
    "disregard", "forget", "would", "could", "might", "may", "maybe", "perhaps", "why", "against",
    "hate", "dislike",
    "wrong", "bad", "refuse", "forbid", "forbidden", "ban", "banned", "deprecated", "remove",
    "removed", "drop", "replace",
    "replaced", "disable", "disabled", "revert", "undo", "says", "said", "say", "claims", "claimed",
    "told", "suggests",
    "suggested", "wish", "pretend", "imagine", "joke", "formerly", "previously",
    # Not, never and without, as others say it.
    "nicht", "nie", "niemals", "kein", "keine", "keinen", "keiner", "keinem", "ohne", "statt", "ne",
    "pas", "jamais", "sans",
    "aucun", "aucune", "nunca", "jamás", "sin", "não", "nem", "sem", "non", "mai", "senza", "niet",
    "geen", "nooit", "zonder",
    "inte", "aldrig", "ikke", "bez", "не", "нет", "никогда", "без",
))  # fmt: skip
# A sentence that begins so takes back the one before it.
_TAKING_BACK = frozenset(
    ("no", "nope", "nah", "not", "wait", "actually", "scratch", "sorry", "oops", "kidding")
)

_WORD = re.compile(r"\w[\w+#]*(?:'\w+)?")
_SHORTENED = re.compile(
    r"\w+n't|cannot|(?:ca|wo|do|does|did|is|are|was|were|should|would|could|must|has|have|had)nt"
)


def corroborate(store: Store) -> int:
    """Look for the call behind each time that an agent gave a note.

    Returns how many candidates a person turned out to have said.

    A call is looked for until it is found, and compared once.
    """
    believed = 0
    for sought in store.notes.sought_calls():
        for turn in store.notes.turns_remembering(sought.at):
            call = _find_call(store.turns.events(turn), sought.text)
            if call is not None:
                said = any(says(prompt, sought.text) for prompt in _prompts(store, turn, call))
                believed += store.notes.save_call(sought, turn, said=said)
                break
    return believed


def _find_call(events: list[Call | PlainEvent], text: str) -> int | None:
    """The place of the call that gave a note among the events of a turn."""
    for place, event in enumerate(events):
        if (
            isinstance(event, Call)
            and event.name.lower().endswith(TOOL)
            and any(compared(given) == compared(text) for given in _texts(event.input))
        ):
            return place
    return None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        yield from _texts(one)


def _prompts(store: Store, turn: int, call: int) -> Iterator[str]:
    """What a person had typed before a call, the newest turn first."""
    for number in store.notes.typed_turns(turn):
        events = store.turns.events(number)
        for event in events[:call] if number == turn else events:
            if isinstance(event, PlainEvent) and event.kind == "prompt":
                yield event.text


def says(prompt: str, note: str) -> bool:
    """Whether the words of a note are said in a prompt, and
    nothing there that turns them around.
    """
    wanted = [word for word in _words(note) if word not in STOP_WORDS]
    if len(wanted) < FEWEST_WORDS:
        return False
    sentences = list(_sentences(typed(prompt)))
    words = [(word, number) for number, sentence in enumerate(sentences) for word in sentence.words]
    turns = [word for word in wanted if word in TURNING_WORDS]
    for start, (word, first) in enumerate(words):
        if word == wanted[0]:
            last = _last_sentence(words[start : start + 2 * len(wanted)], wanted)
            if last is not None and _stands(sentences, first, last, turns):
                return True
    return False


def _last_sentence(window: list[tuple[str, int]], wanted: list[str]) -> int | None:
    """In which sentence the last of the wanted words is found, all of them in order."""
    place = 0
    for word, number in window:
        if word == wanted[place]:
            place += 1
            if place == len(wanted):
                return number
    return None


def _stands(sentences: list[_Sentence], first: int, last: int, turns: list[str]) -> bool:
    """Whether sentences mean what they say: stated, not taken back, and
    turned around as often as the note.
    """
    stated = sentences[first : last + 1]
    after = sentences[last + 1].opening if last + 1 < len(sentences) else ""
    return (
        not any(sentence.asks for sentence in stated)
        and after not in _TAKING_BACK
        and [word for sentence in stated for word in sentence.words if word in TURNING_WORDS]
        == turns
    )


class _Sentence(NamedTuple):
    words: list[str]
    opening: str
    asks: bool


def _sentences(text: str) -> Iterator[_Sentence]:
    pieces = END_OF_SENTENCE.split(text)
    for said, end in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        words = _words(said)
        if words:
            yield _Sentence(words, _WORD.findall(said.casefold())[0], "?" in end)


def _words(text: str) -> list[str]:
    """The words of a text without case; every short form of "not" is that."""
    found = _WORD.findall(text.casefold().replace("’", "'"))
    return ["not" if _SHORTENED.fullmatch(word) else word for word in found]
