"""What an agent should be told about a prompt, or nothing.

A search shows its best hits, good or not; somebody is there to judge them. This
is read by an agent that did not ask. So it only holds what is likely to change what the
agent does next, and mostly it is silent: a wrong memory costs more than none.

It is what a hook says at this prompt (`recall.hooks.prompts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from recollect.model.answers import Pack, PackLine
from recollect.reading.tokens import tokens_of
from recollect.recall.hooks.frame import PROMPT_TOKENS, fitting, framed, unframed
from recollect.recall.hooks.prompts import tell
from recollect.recall.hooks.words import MOST_CHARACTERS, words_in
from recollect.system.clock import iso

if TYPE_CHECKING:
    from recollect.store import Store

# Of all projects those are asked that have most of a prompt's words.
MOST_PROJECTS = 10


def pack(
    store: Store, prompt: str, *, project: str | None, everywhere: bool = False,
    budget: int | None = None,
) -> Pack:  # fmt: skip
    """What is worth telling about a prompt: of a project, and when that has nothing, with
    `everywhere`, of the one that is likeliest to help.

    The same prompt and the same store give the same pack.
    """
    ready = store.hook_lines.ready()
    own = store.projects.number(project) if project is not None else None
    found = _lines(store, own, prompt) if own is not None else []
    if not found and everywhere:
        words = words_in(prompt[:MOST_CHARACTERS])
        others = [
            _lines(store, other, prompt)
            for other in ready.projects_with(set(words), limit=MOST_PROJECTS)
            if other != own
        ]
        found = max(others, key=lambda lines: lines[0].confidence if lines else 0, default=[])
    return within(found, PROMPT_TOKENS if budget is None else budget, store.hook_lines.mark())


def _lines(store: Store, project: int, prompt: str) -> list[PackLine]:
    key = store.projects.key(project)
    return [
        PackLine(ref=told.refs, at=iso(told.at), project=key, confidence=chance, text=told.line)
        for told, chance in tell(store.hook_lines.ready(), project, prompt)
    ]


def started(store: Store, project: str, budget: int | None = None) -> Pack:
    """What is ready to be told when an agent starts in a project; less of it within a budget."""
    ready = store.hook_lines.pack(project)
    if ready is None or not ready.text:
        return Pack()
    notes = map(store.notes.get, ready.refs)
    lines = [
        PackLine(
            ref=one.ref,
            at=one.at,
            project=one.project,
            confidence=1.0,
            text=one.text,
            trust=one.trust,
        )
        for one in notes
    ]
    text = ready.text
    if budget is not None and tokens_of(text) > budget:
        mark, told = store.hook_lines.mark(), unframed(text).split("\n")
        while told and (told[-1].endswith(":") or tokens_of(framed(told, mark)) > budget):
            told.pop()
        text = framed(told, mark) if told else ""
        lines = [line for line in lines if f"- {line.text}" in told]
    return Pack(lines=lines, text=text, tokens=ceil(tokens_of(text)))


def within(lines: Sequence[PackLine], budget: int, mark: str) -> Pack:
    """As many lines as the budget has room for, the first ones first."""
    fits = fitting([line.text for line in lines], budget, mark)
    made = Pack(lines=[line for line, has_room in zip(lines, fits, strict=True) if has_room])
    if made.lines:
        made.text = framed([line.text for line in made.lines], mark)
        made.tokens = ceil(tokens_of(made.text))
    return made
