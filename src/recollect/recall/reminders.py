"""What failed in a project before, and what worked instead.

A *command* reminder: a form of a command failed because of its form (there is
no such program, option or script), soon afterwards another form of it worked,
and the first has not worked since. An *error* reminder: a command met an error,
something was done, and the same command then passed.

Both are found by their shape, so that `pytest -q tests/a.py` is reminded of
what `pytest -q tests/b.py` came to. Of a program that was not found any use is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from recollect.model.calls import Call
from recollect.model.search import Query, Scope
from recollect.reading.error_text import error_lines, headline, longest_word, shape, telling, tells
from recollect.reading.programs import base, launched, main_pieces, program_of
from recollect.reading.quoting import quoted, quoted_command, quoted_path
from recollect.reading.shell import pieces, told
from recollect.recall.shapes import use_shapes
from recollect.recall.verbs.after import follow_up, shown, text_of
from recollect.store.told import Reminder
from recollect.system.clock import iso

if TYPE_CHECKING:
    from recollect.store import Store

    Found = tuple[str, Reminder]

# Of one project: what failed longer ago than so many turns with errors is no help today.
NEWEST_TURNS = 500
MOST_REMINDERS = 100
# Another form is tried at once, or not because of the failure.
TURNS_AFTER, CALLS_AFTER = 1, 8
COMMAND_CHARACTERS = 120
MOST_STEPS = 2
NOT_FOUND, NOT_EXECUTABLE = 127, 126

# What is said when the form of a command is wrong, and not the work it does.
_WRONG_FORM = (
    "command not found", "not found", "no module named", "not recognized", "unrecognized",
    "unknown option", "unknown command",
    "unknown flag", "invalid option", "illegal option", "no such option", "unexpected argument",
    "missing script",
    "no such command", "permission denied", "did you mean", "usage:", "is not installed",
    "requires an argument",
)  # fmt: skip


class Failure(NamedTuple):
    """One failed shell command, and the line that names the error."""

    call: Call
    error: str | None


def find(
    store: Store, project: str, domains: dict[str, list[str]]
) -> tuple[list[tuple[str, Reminder]], list[tuple[str, Reminder]]]:
    """A project's command reminders and error reminders, the newest first,
    each with the word that it is found by.
    """
    scope = Scope(Query().having(project=project, **{"-is": "external"}), domains)
    commands: dict[str, Found] = {}
    errors: dict[str, Found] = {}
    for failure in _failures(store, scope):
        if _is_form(failure.call):
            made = _another_form(store, failure.call, scope)
            if made:
                commands.setdefault(made[1].shape, made)
        if failure.error and tells(failure.error) and len(errors) < MOST_REMINDERS:
            shaped = shape(failure.error)
            if (
                telling(shaped)
                and shaped not in errors
                and (made := _overcome(store, failure.call, shaped))
            ):
                errors[shaped] = made
        if len(commands) >= MOST_REMINDERS:
            break
    return list(commands.values()), list(errors.values())


def _failures(store: Store, scope: Scope) -> list[Failure]:
    """The newest first. The numbers of turns only tell in which order logs were read."""
    found = list(_failed_commands(store, scope))
    scenes = store.turns.scenes(list({failure.call.turn for failure in found}))

    def when(failure: Failure) -> tuple[int, int, int]:
        return scenes[failure.call.turn].at or 0, failure.call.turn, failure.call.ordinal

    return sorted(found, key=when, reverse=True)


def _failed_commands(store: Store, scope: Scope) -> Iterator[Failure]:
    for call in store.calls.failed(scope, turns=NEWEST_TURNS):
        if isinstance(call, Call) and call.kind == "shell" and call.target:
            lines = error_lines(call.output)
            # A warning stands in the output of every run, and is overcome by none.
            yield Failure(
                call, headline([one for one in lines if not one.lower().startswith("warn")])
            )


def _is_form(failed: Call) -> bool:
    if failed.exit_code in (NOT_FOUND, NOT_EXECUTABLE):
        return True
    said = failed.output[-2_000:].lower()
    return any(words in said for words in _WRONG_FORM)


def _another_form(store: Store, failed: Call, scope: Scope) -> Found | None:
    """What worked instead of a failed form, unless that has worked since."""
    tried = main_pieces(failed.target)
    if len(tried) != 1:
        # In a chain nobody knows which command failed.
        return None
    words = tried[0][1]
    shaped = use_shapes(words)[1 if failed.exit_code == NOT_FOUND else 0]
    calls = store.calls.since(failed.turn, failed.ordinal, turns=TURNS_AFTER, limit=1 + CALLS_AFTER)
    for call in calls[1:]:
        found = _form_that_worked(words, call)
        one, other = _said(failed.target), _said(call.target)
        # Two that look alike where they are cut tell nobody what to do.
        if one == other:
            continue
        if (
            found
            and shaped not in use_shapes(found)
            and not _worked_since(store, shaped, words, failed, scope)
        ):
            places = store.turns.places([failed.turn, call.turn])
            scene, ref = places[failed.turn], places[call.turn].ref
            code = "" if failed.exit_code is None else f" (exit {failed.exit_code})"
            begin = f"- {(iso(scene.at) or '')[:10]} {quoted(ref, 200)}"
            line = f"{begin}: `{one}` failed here{code}; `{other}` worked"
            refs = scene.ref if scene.ref == ref else f"{scene.ref} {ref}"
            return base(words[launched(words) % len(words)]).lower(), Reminder(
                shaped, refs, line, scene.at
            )
    return None


def _form_that_worked(tried: list[str], call: Call) -> list[str] | None:
    """The words of a later command that did in another form what was tried: the
    same program, or the same arguments.
    """
    if call.kind != "shell" or not call.passed:
        return None
    run = main_pieces(call.target)
    if len(run) != 1:
        # Perhaps something else on the line helped, such as an installation.
        return None
    index, words = run[0]
    alike = program_of(words) == program_of(tried) or (
        len(tried) > 1 and words[-len(tried) + 1 :] == tried[1:]
    )
    return words if alike and words != tried and told(True, pieces(call.target), index) else None


def _worked_since(
    store: Store,
    shaped: str,
    words: list[str],
    failed: Call,
    scope: Scope,
) -> bool:
    # The newest first, up to the failure itself.
    for call in store.calls.of_program(base(words[0]), scope):
        if (call.turn, call.ordinal) == (failed.turn, failed.ordinal):
            break
        if not call.passed:
            continue
        line = pieces(call.target)
        if any(
            shaped in use_shapes(found) and told(True, line, index)
            for index, found in main_pieces(call.target)
        ):
            return True
    return False


def _overcome(store: Store, failed: Call, shaped: str) -> Found | None:
    """What was done about an error before the command that met it passed."""
    after = follow_up(store, failed.turn, failed.ordinal)
    if after.proof is None or after.retry != ("same", False) or not after.done:
        return None
    steps = dict.fromkeys(
        f"{quoted_path(text_of(call), COMMAND_CHARACTERS)} was changed"
        if call.kind == "edit"
        else f"`{_said(text_of(call))}` was run"
        for call in shown(after)
    )
    places = store.turns.places([failed.turn, after.proof.turn])
    scene, ref = places[failed.turn], places[after.proof.turn].ref
    line = (
        f"- {(iso(scene.at) or '')[:10]} {quoted(ref, 200)}: this error was met here "
        "before; "
        f"{' and '.join(list(steps)[-MOST_STEPS:])}, and the same command passed"
    )
    refs = scene.ref if scene.ref == ref else f"{scene.ref} {ref}"
    return longest_word(shaped), Reminder(shaped, refs, line, scene.at)


def _said(command: str) -> str:
    return quoted_command(command, COMMAND_CHARACTERS)
