"""Five ways to look at the steps of an attempt, each of which leaves sightings.

- sequences: two to five steps that follow one another and went well;
- contexts: the check that is run as soon as a sort of file was changed;
- recoveries: what was done before a step that had failed passed;
- failures: the sort of error that a step met;
- decisions: what was tried instead of a command that failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.episodes.actions import taken_in
from recollect.episodes.error_classes import UNKNOWN, tells_much
from recollect.episodes.purposes import are_alternatives
from recollect.episodes.sightings import CHANGED, FAILED, OVERCAME, STEPS, Sightings
from recollect.reading.signatures import EDIT, FAILS, INSTEAD, THEN, informs

if TYPE_CHECKING:
    from recollect.episodes.actions import Taken
    from recollect.model.episodes import Episode

# How an attempt went, by its outcome; the others say nothing.
_VERDICTS = {"success": True, "partial": True, "fail": False}
LONGEST = 5
# Of a task that goes on and on, so many steps are looked at for sequences.
MOST_STEPS = 400
# Another way is tried at once, or not because of the failure.
ALTERNATIVE_WITHIN = 6
# A command that passes a day of work later says little about an error.
RECOVERED_WITHIN = 40
AGAIN = "again"


def extract(episode: Episode) -> Sightings:
    """Everything that the steps of one attempt show."""
    is_live = episode.source == "live"
    found = Sightings(episode.trust)
    taken = taken_in(episode.steps, is_live=is_live)
    went_well = _VERDICTS.get(episode.outcome or "")
    has_failed = _count(taken, found)
    _find_sequences(taken, found, went_well)
    _find_contexts(taken, found, went_well)
    if has_failed:
        _find_failures(taken, found)
        _find_decisions(taken, found)
    return found


def _count(taken: Sequence[Taken], found: Sightings) -> bool:
    """How often each thing was done, whatever came of it; says whether something failed."""
    tries, steps, has_failed = found.tries, 0, False
    for one in taken:
        action = one.action
        has_failed = has_failed or one.failed
        if one.acting:
            steps += len(action.names)
        for name in action.tries:
            tries[name] = tries.get(name, 0) + 1
    tries[STEPS] += steps
    return has_failed


# Sequences: looking around between two steps is left out, and so is doing the same twice. One is
# worth a word when two of its steps or more are not what everybody does with files and git.


def _find_sequences(taken: Sequence[Taken], found: Sightings, went_well: bool | None) -> None:
    """Every sequence, where it was first; how the attempt ended is how it went."""
    trail: list[Taken] = []
    for one in taken[:MOST_STEPS]:
        if one.ok is False:
            _sequences_of(trail, found, went_well)
            trail = []
        elif one.acting:
            trail.append(one)
    _sequences_of(trail, found, went_well)


def _sequences_of(trail: list[Taken], found: Sightings, went_well: bool | None) -> None:
    if len(trail) < 2 and (not trail or trail[0].action.name):
        return
    names: list[str] = []
    numbers: list[int] = []
    informing: list[bool] = []
    outside: set[str] = set()
    last = ""
    for one in trail:
        action = one.action
        for name in action.names:
            if name != last:
                names.append(name)
                numbers.append(one.number)
                informing.append(name in action.informing)
                last = name
        if action.external:
            outside.update(action.names)
    if sum(informing) > 1:
        for start, end, signature in _runs(names, informing):
            is_external = bool(outside) and not outside.isdisjoint(names[start:end])
            found.add("tool_sequence", signature, numbers[start], went_well, external=is_external)


def _runs(names: list[str], informing: list[bool]) -> list[tuple[int, int, str]]:
    """Two to five different steps in a row that are worth a word: where they
    begin and end, and their signature.
    """
    found = []
    count = len(names)
    for start in range(count - 1):
        if not informing[start]:
            continue
        signature = names[start]
        for end in range(start + 1, min(start + LONGEST, count)):
            name = names[end]
            if name in names[start:end]:
                break
            signature += THEN + name
            # A sequence begins and ends with what tells something; what is dull may only stand
            # between. What comes right after a change of a file is told as that.
            if informing[end] and not (
                end == start + 1 and (name.startswith(EDIT) or names[start].startswith(EDIT))
            ):
                found.append((start, end + 1, signature))
    return found


def _find_contexts(taken: Sequence[Taken], found: Sightings, went_well: bool | None) -> None:
    """Which check comes next after the change of which files; looking around does not count.

    How the attempt ended is how it went: a check that fails is of use as well.
    """
    changed: dict[str, None] = {}
    for one in taken:
        action = one.action
        if action.kind == "edit":
            if one.ok:
                for kind in action.files:
                    changed[kind] = None
        elif changed and one.acting:
            for kind in changed:
                found.tried(CHANGED + kind)
                if action.first_check:
                    found.add(
                        "context", f"{kind}{INSTEAD}{action.first_check}", one.number, went_well
                    )
            changed = {}


# Recoveries: the proof is that the same command, or one of the same program and subcommand, passes
# later. The last thing that was changed before it is taken for what made it pass; where it failed
# again instead, that speaks against it.


def _find_failures(taken: Sequence[Taken], found: Sightings) -> None:
    """What failed steps met, and what made them pass: then the failure ended well."""
    for index, failed in enumerate(taken):
        name = failed.action.plain_name
        if failed.failed and name:
            is_overcome = _follow(failed, taken[index + 1 : index + 1 + RECOVERED_WITHIN], found)
            if tells_much(error := failed.error):
                found.add(
                    "failure", f"{name}{FAILS}{error}", failed.number, is_overcome,
                    external=failed.action.external,
                )  # fmt: skip


def _follow(failed: Taken, later: Sequence[Taken], found: Sightings) -> bool:
    """Look for the next try of a failed step, and for what was done before it."""
    fix: Taken | None = None
    is_first = is_shell = failed.action.kind == "shell"
    program = failed.action.last_program
    for one in later:
        # Most have nothing to do with it, which their programs tell at once.
        match = None if is_shell and program not in one.action.programs else one.tries_again(failed)
        if match is None:
            fix = one if one.acting and one.ok and one.action.name else fix
        elif one.ok is not None and not one.declined:
            if one.ok and match.hidden:
                # The rest of the line hides how it ended.
                continue
            if is_first:
                _add_recovery(failed, fix, one, found, is_same=match.form == "same")
                is_first = False
            if one.ok:
                return True
    return False


def _add_recovery(
    failed: Taken, fix: Taken | None, again: Taken, found: Sightings, *, is_same: bool
) -> None:
    if failed.error == UNKNOWN or (fix is None and not is_same):
        # Nobody knows what was overcome; or it was another use of the program, and nothing
        # was done about the first.
        return
    tried = f"{failed.action.plain_name}{FAILS}{failed.error}"
    found.tried(OVERCAME + tried)
    name = AGAIN if fix is None else fix.action.name
    if again.ok if fix is None else informs(name):
        external = failed.action.external or (fix is not None and fix.action.external)
        found.add(
            "error_recovery", f"{tried}{INSTEAD}{name}", again.number, again.ok, external=external
        )


# Decisions: one command failed, another that is for the same was run soon afterwards, and the
# first was not seen to work in the rest of the attempt.


def _find_decisions(taken: Sequence[Taken], found: Sightings) -> None:
    """What was tried instead of a command that failed; it ended well where that worked."""
    worked_at = {one.action.form: index for index, one in enumerate(taken) if one.ok}
    for index, failed in enumerate(taken):
        form = failed.action.form
        if not failed.failed or not form:
            continue
        found.tried(FAILED + form)
        if worked_at.get(form, -1) > index:
            continue
        for other in taken[index + 1 : index + 1 + ALTERNATIVE_WITHIN]:
            if _is_tried_instead(failed, form, other):
                found.add(
                    "decision_point", f"{form}{INSTEAD}{other.action.form}", other.number, other.ok
                )
                break


def _is_tried_instead(failed: Taken, form: str, other: Taken) -> bool:
    if other.ok is None or other.declined or other.action.form in ("", form):
        return False
    return are_alternatives(
        failed.action.main[0][1], other.action.main[0][1], failed.action.name, other.action.name
    )
