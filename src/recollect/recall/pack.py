"""The context pack: what an agent should know before it starts on a prompt, or nothing.

A search shows its best hits, good or not; somebody is there to judge them. A
pack is read by an agent that did not ask. So it only holds what we are
confident of, and mostly it is silent: a wrong memory costs more than none.

Lines are composed by us from the person's own words and from facts (commands,
exit codes, paths, dates); what an agent or a tool wrote is not quoted. The
whole is framed, so that it is read as data and recognised should it come back
in a log.

At its start an agent is told the notes of the project, what failed there and
what worked instead, what was asked last and how that went, and what was left
open. For a prompt it is told what is
ready to be told (`telling`, all that a hook has time for), and the turns that
a search finds and that we are sure of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from math import exp
from typing import TYPE_CHECKING

from recollect.model.answers import Pack, PackLine
from recollect.model.calls import Call, PlainEvent
from recollect.model.search import Query, Scope, Term
from recollect.reading.quoting import quoted, quoted_command, quoted_path, typed
from recollect.recall import rank
from recollect.recall.asking import make_request
from recollect.recall.clues import clues, is_telling
from recollect.recall.search import Candidates
from recollect.recall.telling import (
    MOST_LINES,
    PROMPT_TOKENS,
    SAYS_SOMETHING,
    confident,
    fitting,
    framed,
    tell,
    tokens,
)
from recollect.system.clock import iso

if TYPE_CHECKING:
    from recollect.embed import Encoder
    from recollect.model.digests import Digest
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
MOST_NOTES = 10
MOST_REMINDERS = 5
MOST_RECENT = 5
MOST_OPEN_ENDS = 3

PROMPT_CHARACTERS = 200
NOTE_CHARACTERS = 300
REF_CHARACTERS = 200
COMMAND_CHARACTERS = 120
MOST_COMMANDS = 2
MOST_FILES = 4
# A shorter prompt ("yes, do it") says nothing without the one before it.
TELLING_WORDS = 4
# What agents take in at their start without moving it to a file.
START_TOKENS = 1_500

# What a sub-agent was asked is an agent's prose; what came with a project may be anybody's.
BY_PEOPLE = {"is": "human", "-is": "external"}


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
        if prompt.strip():
            lines = _called_up(store, project, prompt)
            known = {line.ref for line in lines}
            request, _ = make_request(store, encoder, scope)
            lines += [
                _line(store, place, score)
                for place, score in _confident(store, request)
                if place.ref not in known
            ]
            lines = lines[:MOST_LINES]
        else:
            lines = at_start(store, project, domains)
        made = within(
            lines, (PROMPT_TOKENS if prompt.strip() else START_TOKENS) if budget is None else budget
        )
        if made.lines:
            return made
    return Pack()


def _called_up(store: Store, project: str | None, prompt: str) -> list[PackLine]:
    """What is ready to be told about a prompt: the part of a pack that a hook says."""
    number = store.projects.number(project) if project is not None else None
    if number is None:
        return []
    return [
        PackLine(ref=told.refs, at=iso(told.at), project=project, confidence=score, text=told.line)
        for told, score in tell(store.old.ready(), number, prompt)
    ]


def _confident(store: Store, request: SearchRequest) -> list[tuple[Place, float]]:
    """The turns that help, surest first."""
    # "do it" is held by many turns, and tells of none.
    wanted = list(filter(is_telling, clues(request.scope.query)))
    words = rank.Words(store.text.find(wanted, request.scope))
    if words.needed < SAYS_SOMETHING * words.rarest:
        return []
    pool = Candidates(store, request, words)
    ranked = {score.place.turn: score for score in pool.ranked()[:CANDIDATES] if score.place.live}
    best = confident([(round(confidence(score, words), 3), turn) for turn, score in ranked.items()])
    return [(ranked[turn].place, score) for score, turn in best]


def confidence(score: rank.Score, words: rank.Words) -> float:
    """How sure we are that a turn helps, between 0 and 1."""
    if not words.needed:
        return 0.0
    holds = rank.sum_nearby(score, words.needs) / words.needed
    rare_words = words.held.get(score.place.turn, 0.0) / words.rarest
    return 1 / (1 + exp(-(HOLDS * holds + RARE_WORDS * rare_words + COSINE * score.cosine + BIAS)))


def at_start(store: Store, project: str | None, domains: dict[str, list[str]]) -> list[PackLine]:
    """Without a prompt: notes, what failed and what worked instead, what
    was asked last and what is left of it.
    """
    lines: list[PackLine] = []
    number = store.projects.number(project) if project is not None else None
    if number is not None:
        for ref, category, text, at in store.old.trusted_notes(number)[:MOST_NOTES]:
            lines.append(
                PackLine(
                    ref=ref,
                    at=iso(at),
                    project=project,
                    confidence=1.0,
                    text=note_line(ref, category, text, at),
                )
            )
        for told in store.old.newest_reminders(number, "command", MOST_REMINDERS):
            lines.append(
                PackLine(
                    ref=told.refs, at=iso(told.at), project=project, confidence=1.0, text=told.line
                )
            )
    scope = Scope(Query().having(project=project, **BY_PEOPLE), domains)
    recent = _recent(store, scope)
    came_to = {place.session_ref: store.digests.find(place.session_ref) for place in recent}
    for place in recent:
        line = _line(store, place, 1.0)
        line.text += _outcome(came_to[place.session_ref], place.ordinal)
        lines.append(line)
    return lines + list(islice(_open_ends(recent, came_to), MOST_OPEN_ENDS))


def _outcome(digest: Digest | None, ordinal: int) -> str:
    """How the task of a turn went, unless nobody knows."""
    task = next((task for task in digest.tasks if ordinal in task.turns), None) if digest else None
    if task is None or task.outcome == "uncertain":
        return ""
    reasons = ", ".join(
        dict.fromkeys(evidence.kind.replace("_", " ") for evidence in task.evidence)
    )
    return f"; outcome: {task.outcome}" + (f" ({reasons})" if reasons else "")


def _open_ends(recent: list[Place], came_to: dict[str, Digest | None]) -> Iterator[PackLine]:
    """What the newest sessions left to do; it was composed to be told when it was found."""
    for place in recent:
        digest = came_to[place.session_ref]
        for text in digest.open_ends if digest else []:
            day, ref = (iso(place.at) or "")[:10], quoted(place.session_ref, REF_CHARACTERS)
            told = f"- {day} {ref}: left open: {text}"
            yield PackLine(
                ref=place.ref, at=iso(place.at), project=place.project, confidence=1.0, text=told
            )


def note_line(ref: str, category: str, text: str, at: int) -> str:
    """A note in one line."""
    return f"- {(iso(at) or '')[:10]} {ref}: {category} “{quoted(text, NOTE_CHARACTERS)}”"


def _recent(store: Store, scope: Scope) -> list[Place]:
    """The last thing that was asked in each of the newest sessions, and nothing twice."""
    newest: dict[int, Place] = {}
    known: set[str] = set()
    for place in store.turns.newest(scope, limit=20 * MOST_RECENT):
        if place.session in newest or not place.live or place.origin == "subagent":
            continue
        asked = _asked(store.turns.events(place.turn))
        if asks(asked) and asked not in known:
            known.add(asked)
            newest[place.session] = place
        if len(newest) == MOST_RECENT:
            break
    return list(newest.values())


def asks(prompt: str) -> bool:
    """Whether a prompt says by itself what is wanted: "go on" does not, nor do
    commands to the agent or the shell and pastes.
    """
    return len(prompt.split()) >= TELLING_WORDS and not prompt.startswith(
        ("/", "!", "#", "```", "[image")
    )


def _line(store: Store, place: Place, score: float) -> PackLine:
    return PackLine(
        ref=place.ref,
        at=iso(place.at),
        project=place.project,
        confidence=score,
        text=describe(store, place),
    )


def within(lines: list[PackLine], budget: int) -> Pack:
    """As many lines as the budget has room for, the first ones first."""
    fits = fitting([line.text for line in lines], budget)
    made = Pack(lines=[line for line, has_room in zip(lines, fits, strict=True) if has_room])
    if made.lines:
        made.text = framed([line.text for line in made.lines])
        made.tokens = tokens(made.text)
    return made


def describe(store: Store, place: Place, events: list[Call | PlainEvent] | None = None) -> str:
    """A turn in one line: when, what was asked, what was done and whether
    it worked, and where to read more.
    """
    events = store.turns.events(place.turn) if events is None else events
    asked = _asked(events)
    if len(asked.split()) < TELLING_WORDS:
        before = store.turns.neighbours([place], 1, Scope(Query().having(**BY_PEOPLE), {})).values()
        earlier = next(
            (
                other
                for other in before
                if other.session == place.session and other.ordinal == place.ordinal - 1
            ),
            None,
        )
        asked = f"{_asked(store.turns.events(earlier.turn))} … {asked}" if earlier else asked
    parts = [
        f"- {(iso(place.at) or '')[:10]} {quoted(place.ref, REF_CHARACTERS)}: asked “{asked}”",
        *_done(events),
    ]
    return "; ".join(parts)


def _asked(events: list[Call | PlainEvent]) -> str:
    prompts = (
        event.text
        for event in events
        if isinstance(event, PlainEvent) and event.kind == "prompt" and event.text
    )
    return quoted(typed(next(prompts, "")), PROMPT_CHARACTERS)


def _done(events: list[Call | PlainEvent]) -> Iterator[str]:
    """Which files were changed, and which commands failed or ended well, the last ones first."""
    calls = [event for event in events if isinstance(event, Call) and event.target]
    files = dict.fromkeys(call.target for call in calls if call.kind == "edit")
    if files:
        rest = f" and {len(files) - MOST_FILES} more" if len(files) > MOST_FILES else ""
        named = (quoted_path(name, COMMAND_CHARACTERS) for name in list(files)[:MOST_FILES])
        yield f"changed {', '.join(named)}{rest}"
    commands: dict[str, str] = {}
    for call in calls:
        if call.kind == "shell" and call.ending != "unknown":
            code = call.exit_code
            ended = "ok" if call.passed else "failed" if code is None else f"exit {code}"
            command = quoted_command(call.target, COMMAND_CHARACTERS)
            commands.pop(command, None)
            commands[command] = ended
    for command, ended in list(commands.items())[-MOST_COMMANDS:]:
        yield f"ran `{command}` ({ended})"
