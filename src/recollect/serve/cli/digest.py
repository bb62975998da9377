"""A digest as text, for `recollect show --digest`."""

from __future__ import annotations

from recollect.digests import Digest, Run, Task, Trouble
from recollect.serve.cli.output import counted


def text(digest: Digest) -> str:
    """What a session came to: its tasks with their evidence, what the person said, what is left."""
    lines = [f"{digest.session}  {digest.title or '(untitled)'}", f"{digest.outcome}: {digest.summary or 'nothing was asked'}"]
    for number, task in enumerate(digest.tasks, 1):
        lines += ["", *_task(number, task)]
    if digest.sayings:
        lines += ["", "said:", *(f"  {saying.kind}: {saying.text}  ({saying.ref})" for saying in digest.sayings)]
    if digest.open_ends:
        lines += ["", "left open:", *(f"  {line}" for line in digest.open_ends)]
    return "\n".join(lines)


def _task(number: int, task: Task) -> list[str]:
    time = "" if task.seconds is None else f", {task.seconds} s"
    lines = [
        f"{number}. {task.title or '(nothing was asked)'}",
        f"   {task.outcome}, turns {', '.join(map(str, task.turns))}{time}",
    ]
    lines += [f"   because {one.kind.replace('_', ' ')}: {one.text} ({one.ref})" for one in task.evidence]
    if task.files:
        lines.append(f"   changed {', '.join(task.files)}")
    lines += [f"   $ {run.command}  [{_ended(run)}]" for run in task.runs]
    lines += [line for error in task.errors for line in _error(error)]
    return lines


def _ended(run: Run) -> str:
    state = "unclear" if run.ok is None else "ok" if run.ok else "failed"
    return state + ("" if run.exit_code is None else f", exit {run.exit_code}")


def _error(error: Trouble) -> list[str]:
    gone = f"gone in {error.worked} after {counted(len(error.steps), 'step')}" if error.worked else "not seen to go away"
    return [f"   ! {error.error}", f"     {gone}", *(f"     - {step}" for step in error.steps)]
