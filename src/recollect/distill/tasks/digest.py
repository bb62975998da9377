"""What a session came to, by rules: its tasks, how each went and by
what evidence, and what is left to do.

Everything told here is composed from the person's own words and from facts:
commands, exit codes, paths, times. What the agent wrote is not quoted, except
that the log's own title stays the title.

A digest is made again when its session grew. Turns whose events were let go
meanwhile keep what was said of them before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from recollect.distill.outcomes import outcome
from recollect.distill.tasks import open_ends
from recollect.distill.tasks.actions import Action, actions_of, one_line
from recollect.distill.tasks.tasks import Span, asked_in, kinds_of, prompt_of, spans
from recollect.distill.tasks.tasks import title_of as title_of_task
from recollect.distill.tasks.troubles import troubles
from recollect.model.digests import Digest, Outcome, Run, Task
from recollect.model.sessions import Tokens
from recollect.model.titles import title_of
from recollect.reading.quoting import quoted, quoted_path
from recollect.system.interpreter import no_cycle_search

if TYPE_CHECKING:
    from recollect.model.digests import Trouble
    from recollect.store import Store
    from recollect.store.history import Passage

# Digests are kept in batches, because a commit costs as much as reading a session;
# whoever else writes waits for a batch.
TURNS_AT_ONCE = 2_000
SUMMARY_CHARACTERS = 400
TITLE_CHARACTERS = 120
PATH_CHARACTERS = 60
SHOWN_TASKS = 3
SHOWN_FILES = 3
MOST_FILES = 100
MOST_RUNS = 60
MOST_ERRORS = 20


class _Made(NamedTuple):
    """A digest and what it was made from, not kept yet."""

    number: int
    mark: int
    digest: Digest


def digest_new(store: Store) -> Iterator[str]:
    """Bring every digest up to date, the newest session first.

    Each session's reference once it is done.
    """
    made: list[_Made] = []
    turns = 0
    for number, ref, mark in store.digests.outdated():
        with no_cycle_search():
            passages = store.digests.passages(number)
            made.append(_make(store, number, ref, mark, passages))
        turns += len(passages)
        if turns >= TURNS_AT_ONCE:
            yield from _keep(store, made)
            made, turns = [], 0
    yield from _keep(store, made)


def digest_one(store: Store, ref: str) -> Digest:
    """What a session came to as of now."""
    for number, _, mark in store.digests.outdated(ref):
        made = _make(store, number, ref, mark, store.digests.passages(number))
        _keep(store, [made])
        return made.digest
    return store.digests.find(ref) or Digest(
        session=ref, project=None, title="", outcome="uncertain", summary=""
    )


def _make(store: Store, number: int, ref: str, mark: int, passages: Sequence[Passage]) -> _Made:
    title, cwd, project = store.digests.facts(number)
    earlier = None if all(passage.whole for passage in passages) else store.digests.find(ref)
    digest = make(ref, passages, cwd=cwd, title=title, project=project, earlier=earlier)
    return _Made(number, mark, digest)


def _keep(store: Store, made: Sequence[_Made]) -> list[str]:
    """Keep digests, all or nothing, and say of which sessions.

    One that has changed meanwhile is left for the next time.
    """
    if not made:
        # Nobody waits for the store to change nothing.
        return []
    with store.transaction():
        for one in made:
            store.digests.save(one.number, one.mark, one.digest)
    return [one.digest.session for one in made]


def make(
    ref: str,
    passages: Sequence[Passage],
    *,
    cwd: str | None = None,
    title: str | None = None,
    project: str | None = None,
    earlier: Digest | None = None,
) -> Digest:
    """The digest of a session that began in a folder, from its turns.

    Of turns that are not whole any more it keeps what the `earlier` one says.
    """
    gone = {passage.ordinal for passage in passages if not passage.whole}
    kept = [task for task in earlier.tasks if gone.intersection(task.turns)] if earlier else []
    covered = {turn for task in kept for turn in task.turns}
    left = [passage for passage in passages if passage.ordinal not in covered]
    live = [passage for passage in left if passage.live]
    kinds = kinds_of(live)
    actions = {passage.ordinal: actions_of(passage, cwd) for passage in live}
    errors = troubles([action for own in actions.values() for action in own])
    found = spans(left, actions, kinds)
    tasks = kept + [_task(found, index, actions, errors) for index in range(len(found))]
    asked = [*_prompts(left), *(task.title for task in kept)]
    return Digest(
        session=ref, project=project,
        title=quoted(title_of(title, asked) or "", TITLE_CHARACTERS),
        outcome=_overall(tasks), summary=_summary(tasks), tasks=tasks,
        open_ends=open_ends.open_ends(tasks, found[-1].live if found else []),
    )  # fmt: skip


def _prompts(passages: Sequence[Passage]) -> Iterator[str]:
    """What people asked, in order, and after that what others did."""
    for passage in sorted(passages, key=lambda one: one.author != "human"):
        if said := prompt_of(passage):
            yield said


def _task(
    found: list[Span],
    index: int,
    actions: Mapping[int, Sequence[Action]],
    errors: list[tuple[int, Trouble]],
) -> Task:
    span = found[index]
    turns = [passage.ordinal for passage in span.live]
    own = [action for turn in turns for action in actions[turn]]
    following = found[index + 1].opening if index + 1 < len(found) else None
    verdict = outcome.judge(span.passages, own, is_last=following is None, next_prompt=following)
    files = dict.fromkeys(path for action in own for path in action.files)
    return Task(
        title=title_of_task(span), asked=asked_in(span), turns=turns,
        outcome=verdict.outcome, p=verdict.p, evidence=verdict.evidence,
        files=list(files)[:MOST_FILES], runs=_worth_keeping(own),
        errors=_first([one for turn, one in errors if turn in turns]),
        tokens=_tokens(span.live), seconds=_seconds(span.live),
    )  # fmt: skip


def _worth_keeping(actions: list[Action]) -> list[Run]:
    """The commands that did or checked something, each with how it ended last.

    When there are many, the last ones.
    """
    runs: dict[tuple[str, bool | None], Run] = {}
    for action in actions:
        call = action.call
        if call.kind == "shell" and call.target and (action.check or action.weight):
            run = action.run
            runs.pop((run.command, run.ok), None)
            runs[run.command, run.ok] = run
    return list(runs.values())[-MOST_RUNS:]


def _first(errors: list[Trouble]) -> list[Trouble]:
    """Those that were overcome before those that were not: there is more to learn from them."""
    return sorted(errors, key=lambda error: error.worked is None)[:MOST_ERRORS]


def _tokens(passages: list[Passage]) -> Tokens:
    total = Tokens()
    for passage in passages:
        spent = passage.tokens
        total.input += spent.input
        total.cache_read += spent.cache_read
        total.cache_write += spent.cache_write
        total.cache_write_1h += spent.cache_write_1h
        total.output += spent.output
        total.reasoning += spent.reasoning
    return total


def _seconds(passages: list[Passage]) -> int | None:
    """How long was worked; the time between turns is the person's."""
    spans = [
        passage.ended_at - passage.at
        for passage in passages
        if passage.at is not None and passage.ended_at is not None
    ]
    return round(sum(spans) / 1000) if spans else None


def _overall(tasks: list[Task]) -> Outcome:
    """What the session came to: what its tasks agree on, as far as they have a verdict."""
    outcomes = {task.outcome for task in tasks}
    verdicts = outcomes & {"success", "partial", "fail"}
    if not verdicts:
        return "abandoned" if outcomes == {"abandoned"} else "uncertain"
    return verdicts.pop() if len(verdicts) == 1 else "partial"


def _summary(tasks: list[Task]) -> str:
    """One line: what was asked and how that went, what was changed, what was checked."""
    if not tasks:
        return ""
    named = [
        f"“{task.title}”" if task.title else "work that nobody asked for"
        for task in tasks[:SHOWN_TASKS]
    ]
    # How a session of one task went is how that went.
    parts = (
        named
        if len(tasks) == 1
        else [f"{name} {task.outcome}" for name, task in zip(named, tasks, strict=False)]
    )
    if len(tasks) > SHOWN_TASKS:
        parts.append(f"{len(tasks) - SHOWN_TASKS} more")
    files = list(dict.fromkeys(name for task in tasks for name in task.files))
    if files:
        more = f" and {len(files) - SHOWN_FILES} more" if len(files) > SHOWN_FILES else ""
        shown = ", ".join(quoted_path(name, PATH_CHARACTERS) for name in files[:SHOWN_FILES])
        parts.append(f"changed {shown}{more}")
    checks = [run for task in tasks for run in task.runs if run.check]
    if checks:
        ended = {True: "passed", False: "failed", None: "unclear"}[checks[-1].ok]
        parts.append(f"last check {ended}")
    overcome = sum(error.worked is not None for task in tasks for error in task.errors)
    if overcome:
        parts.append(f"{overcome} error{'s' if overcome > 1 else ''} overcome")
    return one_line("; ".join(parts), SUMMARY_CHARACTERS)
