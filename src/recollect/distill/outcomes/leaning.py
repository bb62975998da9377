"""Which way a short statement leans, by its words: "pipeline failed:
manifest unknown", "35 ms here 🚀".

People say in countless ways that something is right or wrong. Where no phrase
that we know does, the words still lean: each good one counts for, each bad one
against, and one that is negated the other way round. A wish leans nowhere, and
neither does a question.
"""

from __future__ import annotations

import re

from recollect.reading.programs import names

MOST_WORDS = 16
# How far a "not" reaches.
REACH = 3

_TOKEN = re.compile(r"\w+(?:['./:-]\w+)*|[✅🎉🚀👍👌💯😍❤👎😡🙁]|:\(")
_GOOD = names(
    "works worked working fine good great nice nicer correct cleaner perfect beautiful "
    "lovely love loved visible "
    "passed passes passing green approved merged succeeded success successful faster identical "
    "solved fixed resolved smooth "
    "sharp awesome amazing excellent brilliant happy pleased better best impressive neat flawless "
    "stable readable "
    "✅ 🎉 🚀 👍 👌 💯 😍 ❤ "
    "gut super toll klasse prima richtig schnell bien parfait listo perfecto genial certo ótimo "
    "perfeito bom хорошо отлично"
)
_BAD = names(
    "wrong bad worse worst slower slow harder uglier missing lost dead blank empty invalid unknown "
    "fail fails failed failing "
    "failure error errors exception crash crashes crashed broken broke breaks stuck weird strange "
    "ugly crooked garbage nonsense "
    "useless unreadable unusable misaligned duplicated duplicate flickers hangs freezes frozen "
    "corrupt corrupted truncated "
    "horrible terrible awful meaningless pointless meh disaster mess hell nope "
    "👎 😡 🙁 :( "
    "falsch kaputt fehlt fehler leer faux cassé erreur vide mal roto vacío errado errada errados "
    "erro vazio ошибка плохо"
)
_NOT = names(
    "not no never none nothing neither nor without zero cannot cant nicht kein keine keinen pas "
    "não nenhum не нет sin"
)
_LOADED = _GOOD | _BAD | {"still"}
# Said to the agent: an order, or the beginning of a question.
_ORDER = re.compile(
    r"""
      (?:(?:ok(?:ay)?|and|also|then|now|so|but|yes|just|maybe|first|next|oh|hmm+)[\s,.]+)*
       (?:please|can|could|let'?s|let\ me|do|don'?t|add|allow|apply|bump|clean|combine|convert
         |create|delete|describe|drop|ensure
         |exclude|explain|extend|extract|find|fix|generate|get|give|go|handle|have|hide|ignore|implement|improve|include|increase
         |investigate|keep|leave|make|merge|migrate|mock|move|parse|pin|put|read|reduce|refactor|remove|rename|replace|reset|revert
         |rewrite|save|see|send|simplify|skip|sort|split|stop|take|tell|translate|try|turn|undo|use|verify|wait|wrap|write|if|when
         |what|why|how|where|which|who|is|are|does|did|i'?ll|we'?ll|i\ am|i'?m
         |you\ (?:can|could|may|might)
         # Things as well, unless something is to be done with another one.
         |(?:build|change|check|document|format|group|help|install|list|look|open|port|print|return|review|run|search|set|show|start
            |store|support|switch|test|update|upgrade)
          \ (?:an?|the|it|this|that|these|those|them|all|my|our|me|us|up|only|for|at|to|every))\b
    """,
    re.VERBOSE,
)
# What is not there yet.
_WISH = re.compile(
    r"""
      \b(?:please|should|shall|must|need(?:s|ed)?|want|wants|would|could|might|may
         |instead\ of\ (?!\d)|prefer|rather|perhaps
         |expect\w*|we\ use|going\ to|in\ case|so\ that|make\ sure|tomorrow|later
         |idea|plan|question|point
         |catch|if|whether
         |luck)\b
    """,
    re.VERBOSE,
)
# What a person says of themselves is not said of the work: "I don't have access now".
_OF_ONESELF = re.compile(
    r"(?:(?:and|but|so|sorry|no|yes|well|oh)[,.]? )*(?:i|we)(?:'m| am|'re| are|'ve| have|'d| do"
    r"| can"
    r"| could|'ll| will)?(?:n't| not)? (?:have|had|got|get|know|need|want|think|guess|believe"
    r"|remember|access|sure|able|afraid|at|in|on|out|away|back|here|flying|looking|trying)\b"
)
# "There's no export button": what should be there is not.
_ABSENT = re.compile(
    r"^(?:but |and |hmm+,? )?there(?:'s| is| are| was| were) (?:still )?(?:no|never) "
    r"(?!need|rush|hurry|problem|reason|way\b|issue)"
)


def leaning(text: str) -> int:
    """Above zero where a statement in lower case leans to the good, below where it
    leans to the bad; zero where nothing tells.
    """
    tokens = _TOKEN.findall(text)
    if len(tokens) > MOST_WORDS or _OF_ONESELF.match(text):
        return 0
    leans = (
        -1
        if _ABSENT.search(text)
        else sum(_weight(tokens, place) for place, word in enumerate(tokens) if _is_loaded(word))
    )
    return leans if leans and not wishes(text) else 0


def wishes(text: str) -> bool:
    """Whether a sentence in lower case asks for something, or speaks of what is not there yet."""
    return orders(text) or _WISH.search(text) is not None


def orders(text: str) -> bool:
    """Whether a sentence in lower case begins as an order does."""
    return _ORDER.match(text) is not None


def _is_loaded(word: str) -> bool:
    return word in _LOADED or word.endswith(("error", "exception"))


def _weight(tokens: list[str], place: int) -> int:
    """What a word that is loaded counts where it stands."""
    word = tokens[place]
    weight = 1 if word in _GOOD else -1
    before = tokens[max(0, place - REACH) : place]
    if word == "still":
        return 0 if {"i", "we", "i'm", "we're"} & set(before) else weight
    return -weight if any(one in _NOT or one.endswith("n't") for one in before) else weight
