"""What an agent should be told about a prompt, or nothing.

A search shows its best hits, good or not; somebody is there to judge them. This
is read by an agent that did not ask. So it only holds what we are confident of,
and mostly it is silent: a wrong memory costs more than none.

It is what is ready to be told (`recall.hooks.prompts`, all that a hook has time
for), and the turns that a search finds and that we are sure of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, exp
from typing import TYPE_CHECKING

from recollect.model.answers import Pack, PackLine
from recollect.model.search import Query, Scope, Term
from recollect.reading.tokens import tokens_of
from recollect.recall import rank
from recollect.recall.asking import make_request
from recollect.recall.clues import clues, is_telling
from recollect.recall.hooks.frame import PROMPT_TOKENS, fitting, framed, unframed
from recollect.recall.hooks.prompts import (
    MOST_LINES,
    SAYS_SOMETHING,
    confident,
    tell,
)
from recollect.recall.hooks.turn_lines import BY_PEOPLE, describe
from recollect.recall.search import Candidates
from recollect.system.clock import iso

if TYPE_CHECKING:
    from recollect.embed import Encoder
    from recollect.model.search import Place
    from recollect.recall.search import SearchRequest
    from recollect.store import Store

# How sure we are that a turn helps with a prompt, as a logistic sum: how much of
# the prompt it holds, how many rare words that is, and how near its vector is.
# Fitted on the development part of our own set, where the threshold of
# `telling` gives precision 0.90 and silence 0.91 (cross-validated); a lower one
# speaks more often and is wrong more often.
HOLDS, RARE_WORDS, COSINE, BIAS = 3.25, 0.6, 2.9, -3.25
CANDIDATES = 20


def pack(
    store: Store,
    encoder: Callable[[], Encoder],
    prompt: str,
    *,
    projects: list[str | None],
    domains: dict[str, list[str]],
    budget: int | None = None,
) -> Pack:
    """What is worth telling about a prompt, from the first of these projects that has something.

    None means all of them.

    The same prompt and the same store give the same pack.
    """
    query = Query([Term(word) for word in prompt.split()])
    for project in projects:
        scope = Scope(query.having(project=project, **BY_PEOPLE), domains)
        lines = _called_up(store, project, prompt)
        known = {line.ref for line in lines}
        request, _ = make_request(store, encoder, scope)
        lines += [
            _line(store, place, score)
            for place, score in _confident(store, request)
            if place.ref not in known
        ]
        made = within(
            lines[:MOST_LINES], PROMPT_TOKENS if budget is None else budget, store.hook_lines.mark()
        )
        if made.lines:
            return made
    return Pack()


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


def _called_up(store: Store, project: str | None, prompt: str) -> list[PackLine]:
    """What is ready to be told about a prompt: the part of a pack that a hook says."""
    number = store.projects.number(project) if project is not None else None
    if number is None:
        return []
    return [
        PackLine(ref=told.refs, at=iso(told.at), project=project, confidence=score, text=told.line)
        for told, score in tell(store.hook_lines.ready(), number, prompt)
    ]


def _confident(store: Store, request: SearchRequest) -> list[tuple[Place, float]]:
    """The turns that help, surest first."""
    # "do it" is held by many turns, and tells of none.
    wanted = list(filter(is_telling, clues(request.scope.query)))
    words = rank.Words(store.text.find(wanted, request.scope, rank.FIELDS))
    if words.needed < SAYS_SOMETHING:
        return []
    pool = Candidates(store, request, words)
    ranked = {score.place.turn: score for score in pool.ranked()[:CANDIDATES] if score.place.live}
    best = confident([(round(confidence(score, words), 3), turn) for turn, score in ranked.items()])
    return [(ranked[turn].place, score) for score, turn in best]


def confidence(score: rank.Score, words: rank.Words) -> float:
    """How sure we are that a turn helps, between 0 and 1."""
    if not words.needed:
        return 0.0
    holds = rank.sum_nearby(score, words.tables) / words.needed
    rare_words = words.held.get(score.place.turn, 0.0)
    return 1 / (1 + exp(-(HOLDS * holds + RARE_WORDS * rare_words + COSINE * score.cosine + BIAS)))


def _line(store: Store, place: Place, score: float) -> PackLine:
    return PackLine(
        ref=place.ref,
        at=iso(place.at),
        project=place.project,
        confidence=score,
        text=describe(store, place),
    )


def within(lines: Sequence[PackLine], budget: int, mark: str) -> Pack:
    """As many lines as the budget has room for, the first ones first."""
    fits = fitting([line.text for line in lines], budget, mark)
    made = Pack(lines=[line for line, has_room in zip(lines, fits, strict=True) if has_room])
    if made.lines:
        made.text = framed([line.text for line in made.lines], mark)
        made.tokens = ceil(tokens_of(made.text))
    return made
