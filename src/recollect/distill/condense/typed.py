"""What people typed, prompt by prompt: their own sentences, pastes led by their error line.

A prompt that comes again is counted, a template that a command sends (the same long body in
several prompts) is told once, with what was given to it each time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recollect.distill.condense import sense
from recollect.distill.finders.cleaning import cut, sentences, size, typed, without_marks
from recollect.model.record import SessionRecord, TurnRecord
from recollect.reading.error_text import clean, headline
from recollect.reading.error_text import error_lines as lines_of_errors

# A body that comes again: so long, with so many lines that stand in three prompts.
BODY_CHARACTERS, BODY_LINES, BODY_SHARE, SEEN_AGAIN = 1_200, 8, 0.4, 3
LONG_LINE = 25
# A prompt of more sentences was pasted: what begins and ends it and reads like a rule is kept.
MOST_SENTENCES, FIRST, LAST, TELLING = 60, 12, 6, 20
PASTE_CHARACTERS, ERROR_CHARACTERS = 240, 170

_BULLET = re.compile(r"^\s*(?:[-*•▪◦·–—]|\d{1,2}[.)、]|[①-⑳]|\([a-z0-9]\)|\[[ xX]\])\s+")
_LOG = re.compile(
    r"^\s*(?:import |from \S+ import|const |let \w+ =|var |def \w|class \w+[:({ ]|return\b|if \("
    r"|for \("
    r"|function |export |public |private |#include|at (?:async |new )?[\w.$<>]+ ?[(\[]|at async "
    r"|node:internal"
    r"|> [\w@.-]+@\d|\[nodemon\]|Node\.js v\d|throw \w+;|code: '|errno: |syscall: |\^+\s*$|\| *\^"
    r"|\(\d+:\d+\)"
    r"|File \"|Traceback|</?[a-zA-Z!]|[}\])]+[;,]?\s*$|[{\[]\s*$|\"[\w.$-]+\"\s*:|\$ |PS [A-Z]:"
    r"|\S+@\S+[:~]\S*[$#%]"
    r"|\[?\d{4}-\d\d-\d\d[T ]|\d{1,2}:\d\d:\d\d|npm (?:ERR|WARN|error)|[\w.]*(?:Error|Exception"
    r"|Warning):"
    r"|[✓✗×✘❯┃│╭╰├└|]|\+{3}|-{3}\s|@@|diff --git|[0-9a-f]{7,40}\s|\d+ \||\d+%|\* \w+ \w+ \*"
    r"|[~=]{4,}|[A-Z]:\\[^ ]+>)"
    r"|[{};]\s*$|^\s{0,3}\w[\w.]*\([^)]*\)\s*$|^\s*[\w-]+:\s*[\w./-]+;$"
)
_PROMPT_SIGN = re.compile(r"^(?:PS [A-Z]:[^>]*>|\S+@\S+[:~]\S*[$#%]|[A-Z]:\\[^>]*>|\$)\s*")
_CODE_SIGNS = re.compile(r"[{}=<>│|]|\w\(|;|:\d+|@\d|\.(?:tsx?|jsx?|py):")
_WORDS = re.compile(r"[A-Za-zÀ-ỹА-яё']{2,}")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDLESS = re.compile(r"\S{140,}")
_FENCE = re.compile(r"(?<=\S)[ \t]*```")
_TYPED_IN_SHELL = re.compile(r"<bash-input>(.*?)</bash-input>", re.DOTALL)
_GIVEN = re.compile(
    r"^#+ (?:User Input|Arguments?|Input)\s+```\w*\n(.*?)\n```\s*\n(.{1500,})$", re.DOTALL
)
# What we told an agent ourselves, and the mark that an import left in its place.
_OWN_BLOCK = re.compile(
    r"<recalled by=[^>]*>.*?(?:</recalled>|\Z)|\[recalled(?:: [^\]\n]{0,2000})?\]", re.DOTALL
)
_LOST = ("This session is being continued", "Caveat:")


class Said(NamedTuple):
    """A sentence, or a paste in a line, and how telling it is."""

    text: str
    value: float
    pasted: bool = False


class Prompt(NamedTuple):
    """A prompt where it was typed first; `times` counts how often, `last` says where last."""

    session: SessionRecord
    turn: TurnRecord
    last: str
    said: tuple[Said, ...]
    times: int
    stopped: bool

    @property
    def best(self) -> float:
        return max(one.value for one in self.said)

    @property
    def text(self) -> str:
        return " / ".join(one.text for one in self.said)


class Body(NamedTuple):
    """A template that several prompts hold."""

    name: str
    lines: tuple[str, ...]
    times: int
    turn: str


class Typed(NamedTuple):
    """Everything that was typed in a project, each prompt once, the oldest first."""

    prompts: tuple[Prompt, ...]
    bodies: tuple[Body, ...]


def read(sessions: Sequence[SessionRecord]) -> Typed:
    """What people typed in these sessions."""
    raw = list(_raw(sessions))
    again = Counter(
        line for _, _, text, _ in raw for line in {_joined(line) for line in text.split("\n")}
    )
    bodies: dict[str, Body] = {}
    prompts: dict[str, Prompt] = {}
    for session, turn, text, stopped in raw:
        lines = _body(text, again)
        if lines:
            key = lines[0][:80]
            known = bodies.get(key) or Body(f"T{len(bodies) + 1}", lines, 0, turn.ref)
            bodies[key] = known._replace(times=known.times + 1, turn=turn.ref)
            own = [
                line
                for line in text.split("\n")
                if again[_joined(line)] < SEEN_AGAIN and not line.strip().startswith("```")
            ]
            text = f"(template {known.name})\n" + "\n".join(own)
        if said := tuple(_sentences(text)):
            key = " ".join(one.text for one in said).casefold()[:400]
            times = prompts[key].times + 1 if key in prompts else 1
            kept = prompts.get(key) or Prompt(session, turn, turn.ref, said, 1, stopped)
            prompts[key] = kept._replace(times=times, stopped=stopped, last=turn.ref)
    return Typed(tuple(prompts.values()), tuple(bodies.values()))


def own_words(prompt: str) -> str:
    """A prompt without what clients put around it; commands typed in a shell with a `!`."""
    if prompt.lstrip().startswith(_LOST):
        return ""
    text = _TYPED_IN_SHELL.sub(lambda found: f"! {found[1].strip()}", _OWN_BLOCK.sub(" ", prompt))
    return typed(text)


def said_in(prompt: str) -> tuple[Said, ...]:
    """The sentences of one prompt."""
    return tuple(_sentences(own_words(prompt)))


def _raw(
    sessions: Sequence[SessionRecord],
) -> Iterator[tuple[SessionRecord, TurnRecord, str, bool]]:
    for session in sessions:
        for turn in session.turns:
            if not turn.by_person:
                continue
            for number, prompt in enumerate(turn.prompts):
                text = own_words(prompt)
                if given := _GIVEN.match(text):
                    # What a person gave to a command whose body follows.
                    text = f"(command: {cut(_joined(given[2]), 70)})\n{given[1]}"
                if text:
                    stopped = turn.aborted and number == len(turn.prompts) - 1
                    yield session, turn, text, stopped


def _body(text: str, again: Counter[str]) -> tuple[str, ...]:
    """The lines of a prompt that stand in several, if they are most of it."""
    if len(text) < BODY_CHARACTERS:
        return ()
    lines = [
        line
        for line in map(_joined, text.split("\n"))
        if len(line) >= LONG_LINE and again[line] >= SEEN_AGAIN and not _LOG.search(line)
    ]
    is_body = len(lines) > BODY_LINES and sum(map(len, lines)) > BODY_SHARE * len(text)
    return tuple(lines) if is_body else ()


def _sentences(text: str) -> Iterator[Said]:
    """What a prompt says, each paste as one line of it."""
    lines = _unwrapped(_FENCE.sub("\n```\n", text).split("\n"))
    is_log = _logged(lines)
    found: list[Said] = []
    paste: list[str] = []
    fenced = False
    for line, log in zip(lines, is_log, strict=True):
        bare = line.strip()
        if bare.startswith("```"):
            fenced = not fenced
        elif fenced or log:
            if bare:
                paste.append(_joined(line))
        elif bare:
            found += _pasted(paste, len(text))
            paste = []
            body = without_marks(_BULLET.sub("", line))
            for sentence in sentences(body):
                shown = _ENDLESS.sub(lambda one: one[0][:60] + "…", sentence)
                found.append(Said(shown, sense.of_person(shown)))
    found += _pasted(paste, len(text))
    if len(found) > MOST_SENTENCES:
        best = sorted(range(len(found)), key=lambda place: -found[place].value)[:TELLING]
        kept = {*range(FIRST), *range(len(found) - LAST, len(found)), *best}
        found = [one for place, one in enumerate(found) if place in kept]
    yield from (one for one in found if one.text)


def _pasted(lines: Sequence[str], characters: int) -> list[Said]:
    """Lines of code or a log in one line: first what went wrong in them."""
    if not lines:
        return []
    if len(lines) <= 2 and sum(map(len, lines)) < 300:
        return [Said(line, 0.2, pasted=True) for line in lines]
    lead = _PROMPT_SIGN.sub("$ ", lines[0])
    errors = telling_errors("\n".join(lines))
    if errors:
        shown = " … ".join(cut(error, ERROR_CHARACTERS) for error in errors)
        begins = "" if errors[0].startswith(lead[:30]) else f" | begins: {cut(lead, 80)}"
        return [Said(f"[paste, {len(lines)} lines: {shown}{begins}]", 1.2, pasted=True)]
    room = 90 if characters > 1_500 else PASTE_CHARACTERS
    return [
        Said(
            f"[paste, {len(lines)} lines: {cut(' ⏎ '.join([lead, *lines[1:4]]), room)}]",
            0.45,
            pasted=True,
        )
    ]


_STRONG = re.compile(
    r"\bE[A-Z]{4,}\b|\w+Error\b|^error|fatal:|not found|No such file|not recognized|Cannot find"
    r"|no matches found"
    r"|denied|unknown (?:command|flag|option)|not installed|failed to|not a git repository"
    r"|\b[45]\d\d\b",
    re.IGNORECASE,
)


def telling_errors(text: str, most: int = 2) -> list[str]:
    """The lines of a text that say best what went wrong, the strongest first."""
    found = lines_of_errors(text)
    best = headline(found)
    strong = sorted(
        (line for line in found if _STRONG.search(line)),
        key=lambda line: (line != best, len(re.findall(r"\bE[A-Z]{4,}\b", line)) == 0),
    )
    distinct: list[str] = []
    for line in strong:
        if all(line[:30] != other[:30] for other in distinct):
            distinct.append(clean(line))
    return distinct[:most]


def _logged(lines: Sequence[str]) -> list[bool]:
    """Which lines are code or log: also those between others that read like no sentence."""
    found = [bool(_LOG.search(line)) for line in lines]
    if sum(found) >= 4:
        first, last = found.index(True), len(found) - 1 - found[::-1].index(True)
        for place in range(first, last):
            found[place] = found[place] or not _is_natural(lines[place])
    return found


def _is_natural(line: str) -> bool:
    text = line.strip()
    if len(_WIDE.findall(text)) >= 8 and not re.search(r"[{};=<>]|\w\(", text):
        return True
    return len(_WORDS.findall(text)) >= 6 and not _CODE_SIGNS.search(text)


def _unwrapped(lines: Sequence[str]) -> list[str]:
    """Lines, those that were broken in the middle of a sentence as one."""
    found: list[str] = []
    for line in lines:
        if (
            found
            and re.search(r"[a-z,]$", found[-1])
            and re.match(r"^\s{0,4}[a-z]", line)
            and not _LOG.search(line)
            and not _BULLET.match(line)
        ):
            found[-1] += f" {line.strip()}"
        else:
            found.append(line)
    return found


def fitted(said: Sequence[Said], most_bytes: int) -> str:
    """The sentences of a prompt within so many bytes: the first and the most telling, in order."""
    full = " / ".join(one.text for one in said)
    if not said or len(full.encode()) <= most_bytes:
        return full
    first = most_bytes if len(said) == 1 else max(60, int(most_bytes * 0.6))
    room = {0: min(len(said[0].text.encode()), first)}
    used = room[0]
    last = len(said) - 1
    order = sorted(
        range(1, len(said)), key=lambda at: (-(said[at].value + 0.35 * (at == last)), at)
    )
    for at in order:
        cost = len(said[at].text.encode()) + 3
        if used + cost <= most_bytes:
            room[at] = cost
            used += cost
        elif most_bytes - used > 70 and said[at].value > 0.9:
            room[at] = most_bytes - used
            used = most_bytes
    text, before = "", -1
    for at in sorted(room):
        one = said[at].text
        length = len(one.encode())
        if length > room[at]:
            one = shortened(one, max(20, int(room[at] * len(one) / length)))
        text += ("" if before < 0 else " / " if at == before + 1 else " … ") + one
        before = at
    return text + (" …" if before < last and not text.endswith("…") else "")


def shortened(text: str, most: int) -> str:
    """At most so many characters, always with "…" where something is left out."""
    if len(text) <= most:
        return text
    head = cut(text, max(2, most - 1))
    head += "`" if head.count("`") % 2 else ""
    return head if head.endswith("…") else head + "…"


def _joined(text: str) -> str:
    return " ".join(text.split())


def is_wide(text: str) -> bool:
    """Whether a text is mostly of characters that take three bytes each."""
    return size(text) > 1.3 * len(text)
