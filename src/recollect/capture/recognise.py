"""What we told an agent is known again when it comes back in a log,
and is not learned a second time.

A memory that reads its own words as news believes them more each time round.
So a block in our frame, wherever it stands (a prompt that a host wrote our
context into, a reply that quotes it, a file, a tool's output), is replaced by a
mark that keeps its references and drops its words:

    [recalled: claude-code:453dcfa0-ef37-4cb8-b57c-7e97169a2650#4 note:7]

The same happens to what our own commands and tools printed; that they were
called is kept. Anybody can write our frame, so a mark proves nothing: its
references are claims, good for counting use against what was really offered.

A block ends where its own mark closes it, which nothing within it can hold. One without
a mark, forged or told by an earlier version, ends with the tag that closes it.

Nearly every text has none of this, and costs one look for a few letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from recollect.model.batch import Batch, TurnPart
from recollect.model.calls import Call
from recollect.model.logs import Event

# In every spelling of our opening: plain, escaped for HTML, escaped for JSON.
TRACE = "recalled by="
OWN_NAME = "recollect"
MOST_REFS = 12
# A script that calls us further down than this is no command of ours.
COMMAND_CHARACTERS = 4_000

_QUOTE = r"(?:\\*[\"']|&quot;|&\#34;)"
_LESS, _MORE = r"(?:<|&lt;|\\u003c|‹)", r"(?:>|&gt;|\\u003e|›)"
# Hosts put a heading before what a hook gave them, or a tag around it.
_HEADING = (
    rf"(?:{_LESS}(?:system-reminder|hook_context){_MORE}\s*)?"
    rf"(?:[\w:]{{1,60}} hook (?:additional context|success):\s*)?"
)
_FOOTING = rf"(?:\s*{_LESS}/(?:system-reminder|hook_context){_MORE})?"
_TAG = re.compile(
    rf"(?P<opening>{_HEADING}{_LESS}recalled "
    rf"by=(?:\\*[\"']|&quot;|&\#34;)recollect\b(?:{_QUOTE} mark={_QUOTE}(?P<mark>[a-z2-7]{{8}}))?"
    rf"[^\n]*?(?:{_MORE}|$))"
    rf"|(?P<closing>{_LESS}/recalled(?:\s+mark={_QUOTE}(?P<closed>[a-z2-7]{{8}}){_QUOTE})?\s*"
    rf"{_MORE}{_FOOTING})",
    re.MULTILINE,
)
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n|\\n\\n")
_REF = re.compile(
    r"(?<![\w/-])(?:note:(?:[a-z2-7]{8}|\d{1,9})|pattern:[0-9a-f]{8,64}|[a-z][a-z0-9-]{1,30}:[A-Za-z0-9][\w./-]{3,150}#\d{1,6})(?!\w)"
)

_OWN_TOOL = re.compile(
    r"(?:^|[_./-])recollect[_./:-]+(?:search|get|recall|fix|blame|how|remember|feedback)$"
)
# Commands whose output quotes what is stored, where a command can begin: at the
# start, after an operator, in a shell's script, behind what starts programs.
_OWN_COMMAND = re.compile(
    r"""(?:^|[;&|(`\n]|\s-l?c\s+['"]) [ \t]* (?:\w+=\S*\s+)*
        (?:(?:sudo|env|command|exec|time|nohup|uvx|timeout\s+\S+|(?:uv|poetry|hatch|pdm|rye|pipx)\s+run|\S*python[\d.]*\s+-m)\s+)*
        (?:(?P<quote>["'])(?:[^"'\n]*/)?|(?:[^\s"';&|()]*/)?)recollect(?:\.exe)?(?(quote)(?P=quote))
        (?:\s+-\S+(?:\s+[^\s-]\S*)?)*?
        \s+(?:search|show|recall|fix|how|blame|friction|memory|told|notes|patterns|detect|publish|sessions|export|hook|demo)(?![\w-])""",
    re.VERBOSE,
)

FindCall = Callable[[str, str, str], Call | None]


class Recogniser:
    """Takes what came from us out of batches.

    A result may come long after its call, so calls of ours that still wait
    are remembered; `find_call` is asked, by session, turn and call, about
    those of an earlier run.
    """

    def __init__(self, find_call: FindCall) -> None:
        self.find_call = find_call
        self._waiting: set[tuple[str, str]] = set()

    def recognise(self, agent: str, batch: Batch) -> None:
        """Put marks where our own words stand in a batch."""
        for part in batch.turns.values():
            prompts = mere = 0
            for event in part.events:
                if TRACE in event.text:
                    if event.kind == "prompt":
                        event.text, words = _prompt(event.text)
                        mere += not words
                    else:
                        event.text = marked(event.text)
                if event.kind == "tool_call":
                    self._call(event)
                elif event.kind == "prompt":
                    prompts += 1
            if mere and mere == prompts:
                # Nobody asked anything: a host told the agent what we had to say.
                part.facts.author = "system"
            if part.late:
                self._late(agent, part)
        for facts in batch.sessions.values():
            if facts.title and TRACE in facts.title:
                facts.title = marked(facts.title)

    def _call(self, event: Event) -> None:
        if is_own(event.name, event.tool_kind, event.target):
            if event.output is not None:
                event.output = _mark(event.output)
            elif event.call:
                self._waiting.add((event.session, event.call))
        elif event.output and TRACE in event.output:
            event.output = marked(event.output)
        if event.target and TRACE in event.target:
            event.target = marked(event.target)
        if event.input:
            event.input = _inside(event.input)

    def _late(self, agent: str, part: TurnPart) -> None:
        for result in part.late:
            if result.output:
                waiting = (result.session, result.call)
                own = waiting in self._waiting
                if not own and (
                    call := self.find_call(f"{agent}:{result.session}", result.turn, result.call)
                ):
                    own = is_own(call.name, call.kind, call.target)
                self._waiting.discard(waiting)
                result.output = _mark(result.output) if own else marked(result.output)


def is_own(name: str | None, kind: str | None, target: str | None) -> bool:
    """Whether a call asked us for something that is stored."""
    if name and OWN_NAME in name and _OWN_TOOL.search(name):
        return True
    command = target[:COMMAND_CHARACTERS] if kind == "shell" and target else ""
    return OWN_NAME in command and _OWN_COMMAND.search(command) is not None


def marked(text: str) -> str:
    """A text with a mark in the place of each block of ours."""
    if TRACE not in text:
        return text
    around, marks = _apart(text)
    return "".join(piece for pair in zip(around, [*marks, ""], strict=True) for piece in pair)


def _prompt(text: str) -> tuple[str, bool]:
    """A prompt with its marks after the words, if there are
    any: what a person asked comes first.
    """
    around, marks = _apart(text)
    if not marks:
        return text, True
    words = "\n".join(filter(None, map(str.strip, around)))
    return "\n\n".join(filter(None, [words, " ".join(marks)])), bool(words)


def _inside(value: Any) -> Any:
    """A nested value with marks; changed in place unless it is a text itself."""
    if type(value) is str:
        return marked(value)
    items = (
        value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    )
    for key, inner in items:
        if type(inner) is str:
            if TRACE in inner:
                value[key] = marked(inner)
        elif inner:
            _inside(inner)
    return value


def _apart(text: str) -> tuple[list[str], list[str]]:
    """What stands around the blocks of ours in a text, and a mark for each of them.

    A block may hold others, when somebody copied or forged it. One that was
    cut ends at the next blank line: ours have none.
    """
    around: list[str] = []
    marks: list[str] = []
    done = depth = start = last = 0
    # The mark of the block that is open, if it has one.
    own: str | None = None

    def close(end: int) -> None:
        nonlocal done, depth
        around.append(text[done:start])
        marks.append(_mark(text[start:end]))
        done, depth = end, 0

    for tag in _TAG.finditer(text):
        if tag["opening"]:
            if depth and (blank := _BLANK_LINE.search(text, last, tag.start())):
                close(blank.start())
            if not depth:
                start, own = tag.start(), tag["mark"]
            depth += 1
        elif depth:
            depth -= 1
            if own is not None:
                # Nothing but its own mark ends it, and that ends it whatever is within.
                depth = 0 if tag["closed"] == own else max(1, depth)
            if not depth:
                close(tag.end())
        last = tag.end()
    if depth:
        blank = _BLANK_LINE.search(text, last)
        close(blank.start() if blank else len(text))
    return [*around, text[done:]], marks


def _mark(text: str) -> str:
    """What is left of words of ours: the references in them."""
    refs = list(dict.fromkeys(_REF.findall(text)))[:MOST_REFS]
    return f"[recalled: {' '.join(refs)}]" if refs else "[recalled]"
