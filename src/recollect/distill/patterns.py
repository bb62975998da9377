"""What recurs over sessions and projects, as candidates that a person decides about.

The finders ask for proof within one run of things. Here two sessions are the proof, so
more is found, and none of it is told before somebody accepts it:

- a command that failed, and that passed in another spelling, the same change in two sessions;
- a command that failed in three sessions and was not got past in any of them;
- commands that were run in the same order, and all passed, in two sessions: a procedure;
- what was found in two projects of this person: it holds everywhere.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from recollect.distill.finders.remedies import (
    CALLS_AFTER,
    LOOKS,
    OUTPUT_CHARACTERS,
    error_of,
    failed_step,
    is_told,
    lines_of,
    told_remedy,
    was_declined,
)
from recollect.distill.finders.safe import Proofs
from recollect.distill.finders.steps import CommandStep, passed
from recollect.model.notes import Category, FoundNote, Section

if TYPE_CHECKING:
    from recollect.distill.finders.remedies import Line, Sort
    from recollect.model.record import SessionRecord, TurnRecord
    from recollect.store import Store

FEWEST_SESSIONS = 2
# What passed at other times has to fail more often to be worth a word.
FEWEST_FAILURES = 3
# Of a session that goes on and on, so many calls after a failure are looked at.
CALLS_LATER = 400
# A procedure of two is a habit of typing, one of more than this is a day's work.
FEWEST_STEPS, MOST_STEPS = 3, 6
LINE_CHARACTERS = 220
# A change of more words than this is another command.
MOST_NEW, MOST_GONE = 2, 1

# What only names one thing of many: a procedure with it in is not run again.
_IDENTIFIER = re.compile(r"\b[0-9a-f]{7,}\b|\b\w+-\w*\d\w*\b|\b\d{3,}\b|[\"']|/tmp/|\\Temp\\")
_VAGUE = re.compile(r"exit (?:status|code) \d+\W*$|^error\W*$", re.IGNORECASE)
# What looks at something, by the first word that is not a program or an option.
_READS = re.compile(
    r"\s(?:list|ls|show|status|log|logs|diff|view|get|inspect|describe|ready|whoami|info|search"
    r"|branch|remote|rev-parse|current|inbox|hook|ps|top|env|config)(?:\s|$)"
)
_GIT = re.compile(r"^git\s")


class _Failure(NamedTuple):
    """A step that failed, and what became of it in its session.

    `works` is a step in another spelling that passed soon afterwards, with the words that are
    `new` in it and those that are `gone`; `is_overcome` says that the same was done later.
    """

    failed: CommandStep
    error: str
    turn: TurnRecord
    session: str
    is_overcome: bool
    works: CommandStep | None = None
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def subject(self) -> tuple[str, str]:
        """The program with its error, without numbers and names: what several are about."""
        program = self.failed.text.split()[0]
        return program, re.sub(r"[^a-z]+", " ", self.error.lower())[:50]


def find(sessions: Sequence[SessionRecord]) -> list[FoundNote]:
    """What recurs in a project."""
    lines = [(session, lines_of(session)) for session in sessions]
    proofs = Proofs(sessions)
    by_subject: defaultdict[tuple[str, str], list[_Failure]] = defaultdict(list)
    for session, some in lines:
        for failure in _failures(session, some):
            by_subject[failure.subject].append(failure)
    found = []
    for failures in by_subject.values():
        note = _recovery(failures, proofs) or _friction(failures, proofs)
        found += [note] if note else []
    return [*found, *_procedures(lines, proofs)]


def share(store: Store, project: str, found: Sequence[FoundNote]) -> None:
    """Propose for everywhere what was found in this project and in another one."""
    # What names a folder is about that folder.
    traps = {
        one.key: one
        for one in found
        if one.section == "traps" and one.stale is None and " (in " not in one.text
    }
    shared = []
    for key, others in store.notes.found_elsewhere(traps, other_than=project).items():
        one = traps[key]
        turns = (*one.turns, *(turn for other in others for turn in other.turns))
        shared.append(
            one._replace(
                turns=turns,
                times=one.times + sum(other.times for other in others),
                sessions=len({turn.rpartition("#")[0] for turn in turns}),
                is_sure=False,
                status="candidate",
            )
        )
    store.notes.bring_up_to_date(None, shared, "pattern")


# Failures ------------------------------------------------------------------------------------


def _recovery(failures: Sequence[_Failure], proofs: Proofs) -> FoundNote | None:
    """The change that got past a failure in most sessions."""
    by_change: defaultdict[tuple[object, ...], list[_Failure]] = defaultdict(list)
    for one in failures:
        if one.works is not None:
            by_change[one.new, one.gone].append(one)
    most = max(
        by_change.values(), key=lambda some: (len(_sessions(some)), some[-1].turn.at), default=[]
    )
    if len(_sessions(most)) < FEWEST_SESSIONS:
        return None
    for one in reversed(most):
        if one.works and proofs.may_tell(one.failed.text) and proofs.may_tell(one.works.text):
            text = told_remedy(one.failed, one.works, one.error)
            return _failure_note("recovery", most, text) if text else None
    return None


def _friction(failures: Sequence[_Failure], proofs: Proofs) -> FoundNote | None:
    """A command that fails in session after session, and is given up each time."""
    given_up = [one for one in failures if not one.is_overcome]
    newest = given_up[-1] if given_up else None
    if newest is None or len(_sessions(given_up)) < FEWEST_FAILURES:
        return None
    # With other arguments each time it is the command that fails, whatever it is given.
    is_same = all(one.failed.text == newest.failed.text for one in given_up)
    command = newest.failed.text if is_same else newest.failed.form
    if _VAGUE.search(newest.error) or _IDENTIFIER.search(command):
        return None
    if not proofs.may_tell(newest.failed.text):
        return None
    text = f"`{command}` fails at times: {newest.error}"
    return _failure_note("friction", given_up, text)


def _failure_note(kind: str, failures: Sequence[_Failure], text: str) -> FoundNote | None:
    newest = failures[-1]
    if len(text) > LINE_CHARACTERS:
        return None
    return _found(
        f"{kind} {' '.join(newest.subject)}", text, "traps", [one.turn for one in failures],
        len(_sessions(failures)), newest.failed.form,
    )  # fmt: skip


def _failures(session: SessionRecord, lines: Sequence[Line]) -> Iterator[_Failure]:
    """Every step of a session that failed in a way that may come back."""
    for place, (turn, call, line) in enumerate(lines):
        if not call.failed or not line or was_declined(call.output):
            continue
        sort_and_error = error_of(call.output[:OUTPUT_CHARACTERS])
        if sort_and_error is None or not sort_and_error[1]:
            continue
        sort, error = sort_and_error
        step = failed_step(call, line, error)
        if step is None or not is_told(step):
            continue
        later = list(_passed(lines[place + 1 : place + 1 + CALLS_LATER]))
        is_overcome = sort.name == "option" or any(one.form == step.form for _, one in later)
        soon = (one for at, one in later if at < CALLS_AFTER)
        works = next((one for one in soon if _is_change(step, one, sort)), None)
        own, other = step.text.split(), works.text.split() if works else []
        yield _Failure(
            step, error, turn, session.ref, is_overcome, works,
            tuple(sorted(word for word in other if word not in own)),
            tuple(sorted(word for word in own if word not in other)),
        )  # fmt: skip


def _passed(lines: Sequence[Line]) -> Iterator[tuple[int, CommandStep]]:
    """The steps that are known to have passed, each with how many calls later that was."""
    for at, (_, call, line) in enumerate(lines):
        for place, step in enumerate(line):
            if step.form and passed(call, line, place):
                yield at, step


def _is_change(failed: CommandStep, step: CommandStep, sort: Sort) -> bool:
    """Whether a step is the failed one in another spelling, and not another thing to do.

    What the program does not know may be replaced; of any other failure only options and
    what launches the program may be new.
    """
    if step.text == failed.text or not is_told(step) or LOOKS.search(f" {step.text} "):
        return False
    own, other = failed.text.split(), step.text.split()
    new = [word for word in other if word not in own]
    gone = [word for word in own if word not in other]
    kept = len(own) - len(gone)
    if not 0 < len(new) <= MOST_NEW or len(gone) > MOST_GONE or kept < 2 or own[0] not in other:
        return False
    if sort.name == "option":
        return bool(gone)
    launchers = other[: other.index(own[0])]
    return all(word.startswith("-") for word in gone) and all(
        word.startswith("-") or word in launchers for word in new
    )


# Procedures ----------------------------------------------------------------------------------


def _procedures(
    lines: Sequence[tuple[SessionRecord, Sequence[Line]]], proofs: Proofs
) -> Iterator[FoundNote]:
    """Commands in a row, each with another program or purpose, that passed in two sessions."""
    seen: defaultdict[tuple[str, ...], dict[str, TurnRecord]] = defaultdict(dict)
    for session, some in lines:
        for run in _runs(some):
            texts = [text for text, _ in run]
            for start in range(len(run)):
                for length in range(FEWEST_STEPS, MOST_STEPS + 1):
                    steps = tuple(texts[start : start + length])
                    if len(steps) == length == len(set(steps)):
                        seen[steps][session.ref] = run[start][1]
    often = {steps: turns for steps, turns in seen.items() if len(turns) >= FEWEST_SESSIONS}
    for steps, turns in often.items():
        text = f"Procedure: {' → '.join(f'`{step}`' for step in steps)}"
        if (
            len(text) <= LINE_CHARACTERS
            and not _is_said(steps, often)
            and not _has_any_order(steps, often)
            and all(map(proofs.may_tell, steps))
        ):
            yield _found(
                f"procedure {' '.join(steps)}", text, "commands",
                sorted(turns.values(), key=lambda turn: turn.at), len(turns), steps[0],
            )  # fmt: skip


def _runs(lines: Sequence[Line]) -> Iterator[list[tuple[str, TurnRecord]]]:
    """The commands of a session that did something and passed, in rows without a failure."""
    run: list[tuple[str, TurnRecord]] = []
    for turn, call, line in lines:
        for place, step in enumerate(line):
            if not step.form or not _does_something(step):
                continue
            if not passed(call, line, place):
                if call.failed:
                    yield run
                    run = []
            elif not run or run[-1][0] != step.text:
                run.append((step.text, turn))
    yield run


def _does_something(step: CommandStep) -> bool:
    return (
        is_told(step)
        and not _GIT.search(step.text)
        and not _READS.search(f" {step.text} ")
        and not _IDENTIFIER.search(step.text)
    )


def _is_said(steps: tuple[str, ...], often: Mapping[tuple[str, ...], object]) -> bool:
    """Whether a longer procedure has it in."""
    return any(
        len(other) > len(steps)
        and any(other[at : at + len(steps)] == steps for at in range(len(other)))
        for other in often
    )


def _has_any_order(steps: tuple[str, ...], often: Collection[tuple[str, ...]]) -> bool:
    """Whether the same is done in another order too: then the order means nothing."""
    return any(other != steps and set(other) >= set(steps[:FEWEST_STEPS]) and
               _order(other, steps) != _order(steps, steps) for other in often)  # fmt: skip


def _order(steps: tuple[str, ...], among: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(step for step in steps if step in among[:FEWEST_STEPS])


def _sessions(failures: Sequence[_Failure]) -> set[str]:
    return {one.session for one in failures}


def _found(
    key: str, text: str, section: Section, turns: Sequence[TurnRecord], sessions: int, form: str
) -> FoundNote:
    category: Category = "pattern"
    return FoundNote(
        key, text, category, section, "tool-verified", turns[-1].at or None,
        tuple(dict.fromkeys(turn.ref for turn in reversed(turns))), len(turns), sessions,
        form=form, tainted=any(turn.tainted for turn in turns), status="candidate",
    )  # fmt: skip
