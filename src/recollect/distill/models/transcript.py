"""A session as a model reads it: who said what, in order, and nothing that was not said in it.

    #4 user
        fix the build
    #4 shell (exit 1)
        make test
        ...

Headings begin a line and everything below them is set in by a tab, so that no
output can pass for the next person to speak. Left out are thoughts, what was
undone, what a program put into the conversation (instructions, skills, notices)
and what we ourselves told the agent: learned again, it would be believed more
each time round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, get_args

from recollect.distill.models.budget import cut
from recollect.errors import SettingsError
from recollect.model.logs import EventKind
from recollect.redact.values_in import RedactsMany, Slots
from recollect.store import bodies

if TYPE_CHECKING:
    from recollect.settings import Settings
    from recollect.store.history import Passage

# What is kept of one output: a build log says the same thing ten thousand times.
OUTPUT_BYTES = 8_000
CUT = "\n[… left out …]\n"
# The beginning says what was wanted, the end how it went, and the end is the more telling.
HEAD = 1 / 3

_OWN_BLOCK = re.compile(
    r"<recalled by=[^>]*>.*?(?:</recalled>|\Z)|\[recalled(?:: [^\]\n]{0,2000})?\]", re.DOTALL
)
_INJECTED = (
    "# AGENTS.md",
    "<INSTRUCTIONS>",
    "<user_instructions>",
    "<skill>",
    "<system-reminder>",
    "<environment_context>",
)
_INSTRUCTIONS = re.compile(r"(?:^|[\s/])(?:AGENTS|SKILL)\.md\b")
_SEVERAL = re.compile(r"[;&|\n]")
_EVENT_TEXTS = (bodies.TEXT, bodies.TARGET, bodies.OUTPUT)
_SPEAKERS = {
    "reply": "agent",
    "compaction": "agent (summary of what came before)",
    "reasoning": "agent (thinking)",
}


def kinds_of(settings: Settings) -> frozenset[str]:
    """The kinds of events that a model is given."""
    kinds = settings.texts("distill.kinds")
    for kind in kinds:
        if kind not in get_args(EventKind):
            raise SettingsError(
                f"distill.kinds: no event is of the kind {kind[:50]}",
                hint=f"some of {', '.join(get_args(EventKind))}",
            )
    return frozenset(kinds)


def transcript(passages: Sequence[Passage], redactor: RedactsMany, settings: Settings) -> str:
    """What a model is given of a session: redacted, and cut to the budget."""
    kinds = kinds_of(settings)
    parts = [part for passage in passages if passage.live for part in _told(passage, kinds)]
    return cut(
        "\n".join(redactor.redact_all(parts)),
        settings.number("distill.input_bytes"),
        CUT,
        head=HEAD,
    )


def has_secrets(passages: Sequence[Passage], redactor: RedactsMany) -> bool:
    """Whether something is stored that an import of today would have taken out."""
    slots = Slots()
    for passage in passages:
        for row in passage.rows:
            copy = list(row)
            for column in _EVENT_TEXTS:
                if column < len(copy) and copy[column]:
                    slots.add(copy, column, copy[column])
            if len(copy) > bodies.INPUT and copy[bodies.INPUT]:
                copy[bodies.INPUT] = deepcopy(copy[bodies.INPUT])
                slots.add_value(copy, bodies.INPUT, copy[bodies.INPUT])
    return bool(slots.replace(redactor))


def without_own(text: str) -> str:
    """A text without what we told an agent, and without the marks
    that an import left in its place.
    """
    return _OWN_BLOCK.sub("", text) if "recalled" in text else text


def _told(passage: Passage, kinds: frozenset[str]) -> Iterator[str]:
    for row in passage.rows:
        kind = row[bodies.KIND]
        if kind not in kinds:
            continue
        if kind == "tool_call":
            yield _call(passage, row)
        elif kind == "prompt":
            text = without_own(row[bodies.TEXT]).strip()
            if text and passage.author != "system" and not text.startswith(_INJECTED):
                yield _said(passage, "user" if passage.author == "human" else "program", text)
        elif text := without_own(row[bodies.TEXT]).strip():
            yield _said(passage, _SPEAKERS.get(kind, kind), text)


def _call(passage: Passage, row: bodies.Row) -> str:
    name = row[bodies.NAME] or row[bodies.TOOL_KIND] or "tool"
    ending = "failed" if row[bodies.OK] is False else "ok" if row[bodies.OK] else "unknown"
    if row[bodies.EXIT_CODE] is not None:
        ending = f"exit {row[bodies.EXIT_CODE]}"
    target = without_own(row[bodies.TARGET] or "")
    output = without_own(row[bodies.OUTPUT] or "").strip()
    if _reads_instructions(row[bodies.TOOL_KIND], target):
        output = "(instructions, left out)"
    shown = cut(output, OUTPUT_BYTES, CUT, head=0.5)
    return _said(
        passage,
        f"{' '.join(str(name).split())} ({ending})",
        "\n".join(part for part in (target, shown) if part),
    )


def _reads_instructions(kind: str | None, target: str) -> bool:
    """Whether a call only brought the text of AGENTS.md or of a skill."""
    return (
        kind in ("read", "shell")
        and bool(_INSTRUCTIONS.search(target))
        and not _SEVERAL.search(target)
    )


def _said(passage: Passage, speaker: str, text: str) -> str:
    return f"#{passage.ordinal} {speaker}\n" + "\n".join(f"\t{line}" for line in text.splitlines())
