"""A digest as text, for `recollect show --digest`.

Turns are named by their number in the session.
"""

from __future__ import annotations

from recollect.model.digests import Digest, EvidenceKind, Run, Task, Trouble
from recollect.serve.output import counted

COMMAND_CHARACTERS = 120
FILES_SHOWN = 12
RUNS_SHOWN = 12
EVIDENCE: dict[EvidenceKind, str] = {
    "accepted": "the person accepted it", "praised": "the person praised it",
    "check_fixed": "a check that failed passes",
    "kept": "the work was kept",
    "check_passed": "a check passes",
    "corrected": "the person corrected it", "shown": "an error was pasted",
    "refused": "the person did not want it",
    "annoyed": "the person is annoyed",
    "reverted": "edits were taken back", "check_failed": "a check fails",
    "command_failed": "the last command failed",
    "loop": "the same command failed again and again", "timeout": "a command took too long",
    "admitted": "the agent says that it did not manage", "aborted": "it was stopped",
    "left": "another topic began",
}  # fmt: skip


def text(digest: Digest) -> str:
    """A session's tasks with their evidence, and what is left to do."""
    lines = [
        f"{digest.session}  {digest.title or '(untitled)'}",
        f"{digest.outcome}: {digest.summary or 'nothing was asked'}",
    ]
    for number, task in enumerate(digest.tasks, 1):
        lines += ["", *_task(number, task)]
    if digest.open_ends:
        lines += [
            "",
            "left open:",
            *(f"  {line.replace(digest.session + '#', '#')}" for line in digest.open_ends),
        ]
    return "\n".join(lines)


def _task(number: int, task: Task) -> list[str]:
    lines = [
        f"{number}. {task.title or '(nothing was asked)'}",
        f"   {task.outcome}{_likely(task)}, {_turns(task.turns)}{_spent(task)}",
    ]
    lines += [
        f"   because {EVIDENCE[one.kind]}{f': {one.text}' if one.text else ''} ({_turn(one.ref)})"
        for one in task.evidence
    ]
    if task.files:
        shown = ", ".join(task.files[:FILES_SHOWN])
        lines.append(f"   changed {shown}{_more(len(task.files) - FILES_SHOWN)}")
    lines += [f"   $ {_short(run.command)}  [{_ended(run)}]" for run in task.runs[-RUNS_SHOWN:]]
    lines += [line for error in task.errors for line in _error(error)]
    return lines


def _likely(task: Task) -> str:
    return "" if task.p is None else f" ({task.p:.2f} likely to be right)"


def _turns(turns: list[int]) -> str:
    """Turns by their numbers, consecutive ones as a range."""
    ranges: list[list[int]] = []
    for turn in turns:
        if ranges and turn == ranges[-1][-1] + 1:
            ranges[-1].append(turn)
        else:
            ranges.append([turn])
    named = [str(own[0]) if len(own) == 1 else f"{own[0]}-{own[-1]}" for own in ranges]
    return f"turn{'s' if len(turns) != 1 else ''} {', '.join(named) or '-'}"


def _spent(task: Task) -> str:
    time = (
        ""
        if task.seconds is None
        else f", {task.seconds} s"
        if task.seconds < 120
        else f", {round(task.seconds / 60)} min"
    )
    tokens = (
        task.tokens.input + task.tokens.cache_read + task.tokens.cache_write + task.tokens.output
    )
    return time + (f", {tokens:,} tokens" if tokens else "")


def _ended(run: Run) -> str:
    state = "unclear" if run.ok is None else "ok" if run.ok else "failed"
    return state + (f", exit {run.exit_code}" if run.exit_code else "")


def _error(error: Trouble) -> list[str]:
    gone = (
        f"fixed in {_turn(error.worked)} after {counted(len(error.steps), 'step')}"
        if error.worked
        else "not fixed in this session"
    )
    return [f"   ! {error.error}", f"     {gone}", *(f"     - {step}" for step in error.steps)]


def _turn(ref: str) -> str:
    return "#" + ref.rpartition("#")[2]


def _short(command: str) -> str:
    if len(command) > COMMAND_CHARACTERS:
        command = command[: COMMAND_CHARACTERS - 1].rstrip() + "…"
    return command.replace("\n", "\n     ")


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""
