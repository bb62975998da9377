"""What a prompt says about the work before it: that it is good, wrong, unwanted, or nothing at all.

People rarely judge in so many words. "Works, thanks" accepts; "still red"
corrects; "forget it" refuses; "ok" and "yes please" only answer a question,
and praise beside a complaint is no praise. We would rather hear nothing than
hear wrong: only short sentences that a person typed are read, near the
beginning or at the end of a prompt. What was pasted, fenced or quoted says
nothing, and a question rarely does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, NamedTuple

from recollect.distill import phrases
from recollect.distill.typed import typed
from recollect.reading.error_text import tells

Kind = Literal["task", "follow_up", "acceptance", "correction", "refusal", "going_on"]

# A verdict comes first, or last after an explanation; what stands between them describes something.
FIRST_SENTENCES, LAST_SENTENCES = 4, 1
SENTENCE_CHARACTERS = 240
# "ok let's do the second one": an answer is short, a task is not.
ANSWER_WORDS = 6
# An error stands near the beginning of what is pasted, or the paste is about more than that.
PASTED_CHARACTERS = 20_000

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+|(?<=\w)\s+[-–—]\s+")
# Lines as programs write them: shells, logs, traces, diffs, compilers, code.
_MACHINE = re.compile(
    r"""
      ^\s*(?:[$❯➜%>#]\s | \S+@\S+[:~] | at\ \S+\( | File\ " | Traceback | \d{4}-\d\d-\d\d | \d\d:\d\d:\d\d | @@ | \s{4,}\S
           | \[?(?:ERROR|WARN|INFO|DEBUG)\b | \+{1,3}\s | -{3} | [|│└├✓✘✗×●] | [\w./-]+:\d+ | (?:error|warning|fatal|npm)\b.*: )
    | [{};]\s*$ | => | \w\(\) | (?:[\\/][\w.-]+){3,} | \b\w+(?:Error|Exception):
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"\w+")
_SHOUT = re.compile(r"[^a-z]*(?:\b[A-Z]{2,}\b[^a-z]*){3,}")


class Heard(NamedTuple):
    """The sentence that says it, for each thing that a prompt may say about the work before it; empty when none does.

    `goes_on` says that the prompt does nothing but let the agent go on,
    `begins` that it announces another topic, `shows_error` that an error was
    pasted, which says nothing in words but that something does not work.
    """

    accepted: str = ""
    corrected: str = ""
    refused: str = ""
    annoyed: str = ""
    goes_on: bool = False
    begins: bool = False
    shows_error: bool = False


# A prompt is asked about by several: where tasks begin, how they went, what was said.
@lru_cache(256)
def hear(prompt: str) -> Heard:
    """What a prompt says about the work before it."""
    said = _said(prompt)
    shows_error = any(_MACHINE.search(line) and tells(line) for line in prompt[:PASTED_CHARACTERS].splitlines())
    if not said:
        return Heard(shows_error=shows_error)
    told = [sentence for sentence in said if not sentence.endswith(("?", "？"))]
    refused = _first(told, phrases.REFUSES.search)
    annoyed = _first(said, phrases.FUMES.search) or next(filter(_SHOUT.fullmatch, said), "")
    stated = _first(told, _states)
    corrected = _first([one for one in told if one != stated or phrases.BUT.search(_plain(one))], _complains)
    corrected = corrected or _first(said, phrases.REPROACHES.search)
    if refused and takes_back(refused) and phrases.ANOTHER_WAY.search(_plain(refused)):
        refused, corrected = "", corrected or refused
    # A statement stands beside a complaint about something else; praise does not.
    praised = "" if corrected or refused or annoyed else _first(told, _praises)
    accepted = "" if annoyed else stated or praised
    is_judging = bool(accepted or corrected or refused or annoyed)
    return Heard(
        accepted=accepted,
        corrected=corrected,
        refused=refused,
        annoyed=annoyed,
        goes_on=not is_judging and all(phrases.GOES_ON.search(_plain(one)) for one in said),
        begins=any(phrases.BEGINS.search(_plain(one)) for one in said),
        shows_error=shows_error,
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
    words = sum(len(_WORD.findall(sentence)) for sentence in said)
    # "Great. Now add a page for …" judges one task and begins another.
    if heard.begins and words > ANSWER_WORDS:
        return "task"
    if heard.refused:
        return "refusal"
    if heard.corrected or heard.annoyed:
        return "correction"
    if heard.accepted:
        return "acceptance"
    if heard.goes_on:
        return "going_on"
    if not said or words <= ANSWER_WORDS or phrases.FOLLOWS.search(_plain(said[0])):
        return "follow_up"
    return "task"


@lru_cache(256)
def _said(prompt: str) -> list[str]:
    """The sentences that may judge: typed, short, near either end."""
    sentences: list[str] = []
    for line in typed(prompt).splitlines():
        if line.strip() and not _MACHINE.search(line):
            sentences += [part.strip() for part in _SENTENCE_END.split(line) if _WORD.search(part)]
    if len(sentences) > FIRST_SENTENCES + LAST_SENTENCES:
        sentences = sentences[:FIRST_SENTENCES] + sentences[-LAST_SENTENCES:]
    return [sentence for sentence in sentences if len(sentence) <= SENTENCE_CHARACTERS]


def _plain(sentence: str) -> str:
    return " ".join(sentence.casefold().replace("’", "'").split())


def _first(sentences: list[str], holds: Callable[[str], object]) -> str:
    return next((sentence for sentence in sentences if holds(_plain(sentence))), "")


def _states(text: str) -> bool:
    """Whether a sentence says that it works; "not working" does not, nor does "would work"."""
    found = phrases.STATES.search(text)
    return found is not None and not phrases.OF_PLANS.search(text) and not _is_negated(text, found)


def _is_negated(text: str, found: re.Match[str]) -> bool:
    complaint = phrases.COMPLAINS.search(text)
    return complaint is not None and complaint.start() <= found.end() and found.start() <= complaint.end()


def _praises(text: str) -> bool:
    return bool(phrases.PRAISES.search(text)) and not phrases.OF_PLANS.search(text)


def _complains(text: str) -> bool:
    return bool(phrases.COMPLAINS.search(text) or phrases.BUT.search(text))
