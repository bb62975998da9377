"""What a prompt says about the work before it: that it is good, wrong, unwanted, or nothing at all.

People rarely judge in so many words. "Works, thanks" accepts; "still red"
corrects; "forget it" refuses; "ok" and "yes please" only answer a question,
and praise beside a complaint is no praise. We would rather hear nothing than
hear wrong: only short sentences that a person typed are read, near the
beginning or at the end of a prompt. What was pasted, fenced or quoted says
nothing, and a question rarely does. `phrases` has the words that judge;
where none of them is found, `leaning` tells which way a short statement leans.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from recollect.distill.outcomes import phrases
from recollect.distill.outcomes.leaning import leaning, orders, wishes
from recollect.distill.tasks.typed import typed
from recollect.reading.error_text import tells
from recollect.reading.programs import names

Kind = Literal["task", "follow_up", "acceptance", "correction", "refusal", "going_on"]

# A verdict comes first, or last after an explanation; what stands between them describes something.
FIRST_SENTENCES, LAST_SENTENCES = 4, 1
SENTENCE_CHARACTERS = 240
LONG_PROMPT, FIRST_OF_LONG = 1_200, 2
# Who says no more than this says it of the work.
SHORT_SENTENCES = 3
# "ok let's do the second one": an answer is short, a task is not.
ANSWER_WORDS = 6
# An error stands near the beginning of what is pasted, or the paste is about more than that.
PASTED_CHARACTERS = 20_000

# Where a sentence ends in a line whose white space is single spaces; the second
# also where those are written without any.
_SENTENCE_END = re.compile(r" (?:(?<=[.!?] )|(?<=\w )[-–—] )")
_WIDE_END = re.compile(r"(?<=[。！？])|" + _SENTENCE_END.pattern)
# Lines as programs write them: shells, logs, traces, diffs, compilers, code.
_MACHINE = re.compile(
    r"""
      \s*(?:[$❯➜%>#]\s | \S+@\S+[:~] | at\ \S+\( | File\ " | Traceback
           | \d{4}-\d\d-\d\d | \d\d:\d\d:\d\d
           | @@ | \s{4,}\S
           | \[?(?:ERROR|WARN|INFO|DEBUG)\b | \+{1,3}\s | -{3} | [|│└├✓✘✗×●] | [\w./-]+:\d+
           | (?:error|warning|fatal|npm|bash|zsh|sh|fish)\b.*: )
    """,
    re.VERBOSE,
)
# Every branch begins with a character, and looks back at what stands before it:
# such a pattern is sought much faster.
_MACHINE_ANYWHERE = re.compile(
    r"""
      \{\s*$ | \}\s*$ | ;\s*$ | => | \(\)(?<=\w\(\)) | /[\w.-]+(?:[\\/][\w.-]+){2,}
    | \\[\w.-]+(?:[\\/][\w.-]+){2,}
    | Error:(?<=\wError:) | Exception:(?<=\wException:)
    """,
    re.VERBOSE,
)
# Where a conversation with another agent was pasted: who speaks stands alone in a line.
_SPEAKER = re.compile(r"(?:user|human|assistant|agent)\s*:?", re.IGNORECASE)
# A question in form too; "we are still missing the icons?" is one in tone only.
_QUESTION = re.compile(
    r"(?:(?:ok(?:ay)?|so|and|but|hmm+|hey|wait|also|then)[,. "
    r"]+)*(?:is|are|was|were|do|does|did|has|have|had|can|could|should"
    r"|would|will|may|shall|what|why|how|where|when|who|which|any|isn't|aren't|doesn't|don't"
    r"|didn't|can't|couldn't|shouldn't|wouldn't|won't)\b"
)
# So many words make a whole sentence of a doubt, and of praise.
DOUBT_WORDS, LIKED_WORDS = 5, 4
_WORD = re.compile(r"\w+")
# Whose work it was that works.
_ALONE = re.compile(r"\b(?:myself|by hand|on my own|ourselves)\b")
_SIGNS = re.compile(r"^\W+")
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")
SHOUTED_WORDS = 3
# The head of a table is in capitals as well.
_SHOUTED_WORDS = re.compile(
    r"\b(?:THE|THIS|THAT|IT|IS|ARE|NOT|NO|I|YOU|MY|DO|DON'?T|WHY|WHAT|HOW|STOP|STILL|AGAIN|NEVER"
    r"|PLEASE|JUST|WRONG|FUCK\w*|NICHT|KEIN|NON|PAS|NO|NÃO)\b"
)
# Where a reply asks something: in its last words.
ASKED_CHARACTERS = 200
# Thanks and courtesies: people say them of work that they have not looked at.
_COURTESY = re.compile(
    r"(?:(?:ok(?:ay)?|yes|ah|oh|alright|great|good|nice|cool|wonderful"
    r"|got it|makes sense|i see|understood|thanks?|thank you|thx|merci|danke|gracias"
    r"|that (?:all )?(?:sounds?|makes) (?:good|great|sense|fine|perfect|correct|right)"
    r"|i appreciate (?:it|your help|the help|that))"
    r"(?: (?:so|very) much| a lot| again| bien| to hear| then| now)?"
    r"(?:,? (?:thank you|thanks|merci)(?: (?:so|very) much| a lot)?)?"
    r"(?: for (?:your|the|all|that|this|finali[sz]ing|clarifying|checking|letting"
    r"|confirming)\b[^.!?]*)?"
    r"[\s,.!]*)+\W*(?:###\w+###)?$"
)
# Words of work that was tried: they judge even where the agent asked something.
_OF_WORK = re.compile(
    r"\b(?:works?|worked|working|fixed|solved|resolved|pass(?:es|ed|ing)?|runs?|builds?|compiles?"
    r"|green|gone|deployed|merged|tested|loads?|starts?)\b"
)
# What ends a talk and says nothing of it: "No, that's all, thanks".
_CLOSING = re.compile(
    r"^(?:no|nope|nothing|yes|ok(?:ay)?)?[\s,.!-]*(?:thanks?|thank you)?[\s,.!-]*"
    r"(?:that(?:'s| is|'ll be| will be| would be)|i'?m) (?:all|it|everything|good|done|all set"
    r"|fine|ok(?:ay)?)"
    r"(?: (?:i need(?:ed)?|for now|for today|thanks?|thank you|i have))*[\s,.!]*"
    r"(?:thanks?|thank you)?[^a-z]*$"
)
# The same, as far as ASCII goes, twice as fast.
_TOPIC, _ASCII_TOPIC = re.compile(r"[^\W\d_]{5,}"), re.compile("[a-z]{5,}")
# Words that prompts have whatever they are about.
_ANY_TOPIC = names(
    "about above after again already always another because before below between could doing error "
    "every everything files "
    "first going instead keeps known little maybe needs never other please right should since "
    "something still tests thanks "
    "their there these thing things think those through today until using wants where which while "
    "without works would write"
)


class Heard(NamedTuple):
    """The sentence that says it, for each thing that a prompt may say about the work before it.

    Empty when none does.

    `reported` names something that is wrong without a word of the work: it may
    as well be another thing to be mended; `declined` turns down what was offered,
    or the task itself if nothing came of it yet. `shown` is the first line of an error
    that was pasted. `goes_on` says that the prompt does nothing but let the
    agent go on, `begins` that it announces another topic.
    """

    accepted: str = ""
    corrected: str = ""
    reported: str = ""
    refused: str = ""
    annoyed: str = ""
    declined: str = ""
    shown: str = ""
    goes_on: bool = False
    begins: bool = False

    @property
    def is_judging(self) -> bool:
        return bool(
            self.accepted or self.corrected or self.reported or self.refused or self.annoyed
        )


# A prompt is asked about by several: where tasks begin, how they went, what was said.
@lru_cache(256)
def hear(prompt: str) -> Heard:
    """What a prompt says about the work before it."""
    said = _said(prompt)
    heard = (
        _by_phrases(said)
        if any(phrases.may_be_in(_plain(one)) for one in said)
        else Heard(annoyed=_shouted(said))
    )
    heard = heard._replace(shown=_shown(prompt[:PASTED_CHARACTERS]))
    if heard.is_judging or heard.goes_on or heard.shown or len(said) > SHORT_SENTENCES:
        return heard
    leanings = [0 if _is_question(one) else leaning(_plain(one)) for one in said]
    good = next((one for one, leans in zip(said, leanings, strict=True) if leans > 0), "")
    bad = next((one for one, leans in zip(said, leanings, strict=True) if leans < 0), "")
    return heard._replace(accepted=good, reported=bad)


def _by_phrases(said: list[str]) -> Heard:
    told = [one for one in said if not _is_question(one)]
    refused = _first(told, phrases.REFUSES.search)
    annoyed = _first(said, phrases.FUMES.search) or _shouted(said)
    stated = _first(told, _states)
    doubted = [one for one in said if not _is_question(one) or _is_doubt(one)]
    others = [one for one in doubted if one not in (stated, refused)] + [_rest(stated)]
    corrected = _first(others, phrases.COMPLAINS.search) or _first(doubted, phrases.BUT.search)
    corrected = corrected or _first(said, phrases.REPROACHES.search)
    reported = "" if corrected else _first(others, phrases.REPORTS.search)
    if not (corrected or reported) and leaning(_rest(stated)) < 0 and not _states(_rest(stated)):
        reported = _rest(stated)
    if refused and takes_back(refused) and phrases.ANOTHER_WAY.search(_plain(refused)):
        refused, corrected = "", corrected or refused
    accepted = "" if annoyed else stated
    if not (accepted or refused or annoyed):
        # A statement stands beside a complaint about something else; praise does
        # not, unless it says what it is for.
        accepted = (
            _liked(others, corrected or reported)
            if corrected or reported
            else _first(told, _praises)
        )
    heard = Heard(
        accepted,
        corrected,
        reported,
        refused,
        annoyed,
        declined=_first(told, phrases.DECLINES.search),
    )
    return heard._replace(
        goes_on=not heard.is_judging and all(phrases.GOES_ON.search(_plain(one)) for one in said),
        begins=any(phrases.BEGINS.search(_plain(one)) for one in said),
    )


def takes_back(sentence: str) -> bool:
    """Whether a refusal wants what was done undone, rather than no more of it."""
    return phrases.TAKES_BACK.search(_plain(sentence)) is not None


def kind_of(prompt: str, previous: str | None = None) -> Kind:
    """What a prompt is to the one before it; without one before it is a task."""
    if previous is None:
        return "task"
    heard = hear(prompt)
    said = _said(prompt)
    words = len(
        list(
            islice(
                (word for sentence in said for word in _WORD.finditer(sentence)), ANSWER_WORDS + 1
            )
        )
    )
    # "Great. Now add a page for …" judges one task and begins another.
    if heard.begins and words > ANSWER_WORDS:
        return "task"
    if heard.refused:
        return "refusal"
    if heard.corrected or heard.annoyed:
        return "correction"
    # Who reports something and asks for nothing speaks of the work, and so
    # does who speaks of the same thing.
    if heard.reported and (not any(map(_asks, said)) or topics(heard.reported) & topics(previous)):
        return "correction"
    if heard.accepted:
        return "acceptance"
    if heard.goes_on:
        return "going_on"
    # Who answers with nothing but an error shows what came of the work.
    if heard.shown and _MACHINE.match(prompt.lstrip()):
        return "follow_up"
    if not said or words <= ANSWER_WORDS or phrases.FOLLOWS.search(_plain(said[0])):
        return "follow_up"
    return "task"


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence thanks or praises without a word of the work."""
    return _COURTESY.match(_plain(sentence)) is not None


def speaks_of_work(sentence: str) -> bool:
    """Whether a sentence tells of what was done, and not only that something is right."""
    return _OF_WORK.search(_plain(sentence)) is not None


def is_question(reply: str) -> bool:
    """Whether the agent's reply ends with a question, or asks to confirm something."""
    end = reply[-ASKED_CHARACTERS:].rstrip(" *_`\n)")
    return end.endswith(("?", "？")) or "confirm" in end.lower() or "(yes/no" in end.lower()


@lru_cache(256)
def topics(text: str) -> frozenset[str]:
    """The words that tell what a text is about."""
    text = text[:4_000].lower()
    return frozenset((_ASCII_TOPIC if text.isascii() else _TOPIC).findall(text)) - _ANY_TOPIC


@lru_cache(256)
def _said(prompt: str) -> list[str]:
    """The sentences that may judge: typed, short, near either end."""
    sentences: list[str] = []
    if prompt.startswith(("/", "!")):
        # Said to the agent's program.
        return sentences
    for line in typed(prompt).splitlines():
        if _SPEAKER.fullmatch(line.strip()):
            break
        if line.strip() and not _is_machine(line):
            ends = _SENTENCE_END if line.isascii() else _WIDE_END
            sentences += [
                part.strip() for part in ends.split(" ".join(line.split())) if _WORD.search(part)
            ]
    if len(prompt) > LONG_PROMPT:
        # Written beforehand, or by a program: what judges the work before it comes first.
        sentences = sentences[:FIRST_OF_LONG]
    elif len(sentences) > FIRST_SENTENCES + LAST_SENTENCES:
        sentences = sentences[:FIRST_SENTENCES] + sentences[-LAST_SENTENCES:]
    return [
        sentence
        for sentence in sentences
        if len(sentence) <= SENTENCE_CHARACTERS and not _CLOSING.match(_plain(sentence))
    ]


def _shown(text: str) -> str:
    """The first line of a text that a program wrote about something that went wrong."""
    return next(
        (
            line.strip()
            for line in text.splitlines()
            if _is_machine(line)
            and tells(line)
            and not line.lstrip().startswith(("- ", "* ", "| "))
        ),
        "",
    )


@lru_cache(256)
def _is_machine(line: str) -> bool:
    return bool(_MACHINE.match(line) or _MACHINE_ANYWHERE.search(line))


@lru_cache(256)
def _plain(sentence: str) -> str:
    return _SIGNS.sub("", " ".join(sentence.casefold().replace("’", "'").split()))


def _first(sentences: list[str], holds: Callable[[str], object]) -> str:
    return next((sentence for sentence in sentences if holds(_plain(sentence))), "")


def _is_question(sentence: str) -> bool:
    return sentence.rstrip(".… ").endswith(("?", "？"))


def _asks(sentence: str) -> bool:
    return _is_question(sentence) or wishes(_plain(sentence))


def _is_doubt(sentence: str) -> bool:
    """Whether a question is one in tone only."""
    return len(_WORD.findall(sentence)) >= DOUBT_WORDS and not _QUESTION.match(_plain(sentence))


def _shouted(said: list[str]) -> str:
    """The first sentence in capitals."""
    shouts = (
        one
        for one in said
        if not any(map(str.islower, one))
        and len(_CAPITALS.findall(one)) >= SHOUTED_WORDS
        and _SHOUTED_WORDS.search(one)
    )
    return next(shouts, "")


def _liked(sentences: list[str], wrong: str) -> str:
    """What is good beside what is wrong, in a whole sentence:
    "great." beside a complaint is irony.
    """
    whole = (one for one in sentences if one != wrong and len(_WORD.findall(one)) >= LIKED_WORDS)
    return next((one for one in whole if leaning(_plain(one)) > 0), "")


def _states(text: str) -> bool:
    """Whether a sentence says that it works; "not working" does not, nor does "would work"."""
    found = phrases.STATES.search(text)
    if (
        found is None
        or phrases.OF_PLANS.search(text)
        or _ALONE.search(text)
        or _is_negated(text, found)
    ):
        return False
    # "Commit it" accepts by what it orders; "add a test that it works" does not.
    return found.start() == 0 or not orders(text)


def _is_negated(text: str, found: re.Match[str]) -> bool:
    complaint = phrases.COMPLAINS.search(text)
    return (
        complaint is not None
        and complaint.start() <= found.end()
        and found.start() <= complaint.end()
    )


def _praises(text: str) -> bool:
    return bool(phrases.PRAISES.search(text)) and not phrases.OF_PLANS.search(text)


def _rest(stated: str) -> str:
    """What a sentence says after it said that something works."""
    found = phrases.STATES.search(_plain(stated)) if stated else None
    return _plain(stated)[found.end() :].lstrip(" ,.;:") if found else ""
