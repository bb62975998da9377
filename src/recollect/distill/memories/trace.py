"""A session's trace memory: what a later session should know of it, in
sections that are always the same.

    # summary
    one line

    Trace context: where, when and with what result
    User preferences:
    - what the person said about how to work

    ## Task: what was asked
    Outcome: success
    Key steps: ...

The rules fill them from a digest. What a model or an agent writes is brought
into the same shape and the same limits by `settled`, and its words are
trusted nowhere.
"""

from __future__ import annotations

import re

from recollect.distill.models.budget import cut
from recollect.errors import UsageError
from recollect.model.digests import Digest, Evidence, Run, Task, Trace, Trouble
from recollect.reading.quoting import quoted, quoted_command, quoted_path

MEMORY_BYTES, SUMMARY_BYTES, SUMMARY_WORDS = 300_000, 1_200, 119
NO_PREFERENCES = "User preferences: none observed"
CUT = "\n\n[… cut …]\n\n"

_LINE, _COMMAND, _ERROR = 300, 160, 200
_MOST_TASKS, _MOST_STEPS, _MOST_FILES, _MOST_FIXES = 20, 12, 12, 6
_SECTIONS = (
    re.compile(r"^# \S", re.M),
    re.compile(r"^Trace context:", re.M),
    re.compile(r"^User preferences:", re.M),
    re.compile(r"^## Task:", re.M),
    re.compile(r"^Outcome: (?:success|partial|fail|uncertain|abandoned)\b", re.M),
)


def compose(digest: Digest) -> Trace:
    """What the rules remember of a session; nothing when nothing was asked in it."""
    if not digest.tasks:
        return Trace(session=digest.session, project=digest.project, memory="", summary="")
    summary = limited_summary(digest.summary or digest.title)
    lines = ["# summary", summary, "", *_context(digest), *_preferences(digest)]
    for task in digest.tasks[:_MOST_TASKS]:
        lines += ["", *_task(digest, task)]
    if digest.open_ends:
        lines += ["", "Open ends:", *(f"- {quoted(text, _LINE)}" for text in digest.open_ends)]
    memory = limited_memory("\n".join(lines))
    return Trace(session=digest.session, project=digest.project, memory=memory, summary=summary)


def settled(memory: str, summary: str, *, title: str) -> tuple[str, str]:
    """A memory and a summary that somebody else wrote, in our shape and within our limits.

    Both empty is an answer: the session has nothing worth keeping. One of
    them empty is none.
    """
    memory, summary = memory.strip(), " ".join(summary.split())
    if not memory and not summary:
        return "", ""
    if not memory or not summary:
        missing = "traceMemory" if not memory else "summary"
        raise UsageError(
            f"{missing} is empty and the other is not", hint="give both, or leave both empty"
        )
    short = limited_summary(summary)
    return limited_memory(memory if is_structured(memory) else wrapped(memory, short, title)), short


def is_structured(memory: str) -> bool:
    """Whether a text has the sections that a trace memory has."""
    return all(section.search(memory) for section in _SECTIONS)


def wrapped(text: str, summary: str, title: str) -> str:
    """A text without sections, as the raw part of a memory whose outcome nobody knows."""
    return "\n".join(
        [
            "# summary", summary, "", "Trace context: as told, without sections", NO_PREFERENCES,
            "",
            f"## Task: {quoted(title, _LINE) or 'untitled'}", "Outcome: uncertain", "", "Raw:",
            text,
        ]
    )  # fmt: skip


def limited_memory(text: str) -> str:
    """A text of at most 300,000 bytes: too long a one keeps its two ends around a mark."""
    return cut(text, MEMORY_BYTES, CUT, head=0.5)


def limited_summary(text: str) -> str:
    """One line of fewer than 120 words and at most 1,200 bytes."""
    words = text.split()
    line = (
        " ".join(words)
        if len(words) <= SUMMARY_WORDS
        else " ".join([*words[: SUMMARY_WORDS - 1], "…"])
    )
    return cut(line, SUMMARY_BYTES, " … ", head=0.5)


def _context(digest: Digest) -> list[str]:
    where = digest.project or "no project"
    tasks = "one task" if len(digest.tasks) == 1 else f"{len(digest.tasks)} tasks"
    return [
        f"Trace context: {quoted(digest.title, _LINE)}; in {quoted_path(where, _LINE)}; {tasks}, "
        f"{digest.outcome}"
    ]


def _preferences(digest: Digest) -> list[str]:
    if not digest.sayings:
        return [NO_PREFERENCES]
    return [
        "User preferences:",
        *(f'- "{quoted(one.text, _LINE)}" ({one.kind}, {one.ref})' for one in digest.sayings),
    ]


def _task(digest: Digest, task: Task) -> list[str]:
    lines = [
        f"## Task: {quoted(task.title, _LINE)}",
        f"Outcome: {task.outcome}{_because(task.evidence)}",
    ]
    if task.asked and quoted(task.asked, _LINE) != quoted(task.title, _LINE):
        lines.append(f'Asked: "{quoted(task.asked, _LINE)}"')
    lines += _listed(
        "Key steps:", [*_changed(task.files), *(_ran(run) for run in _told(task.runs))]
    )
    lines += _listed(
        "What did not work:", [_failed(one) for one in task.errors if one.worked is None]
    )
    lines += _listed("Reusable knowledge:", [*_knowledge(task)])
    last = f" to #{task.turns[-1]}" if len(task.turns) > 1 else ""
    lines.append(
        f"Pointers: {digest.session}#{task.turns[0]}{last}"
        if task.turns
        else f"Pointers: {digest.session}"
    )
    return lines


def _because(evidence: list[Evidence]) -> str:
    if not evidence:
        return ""
    return f" ({', '.join(dict.fromkeys(f'{one.kind} {one.ref}' for one in evidence[:4]))})"


def _listed(head: str, items: list[str]) -> list[str]:
    return [head, *(f"- {item}" for item in dict.fromkeys(items))] if items else []


def _changed(files: list[str]) -> list[str]:
    shown = ", ".join(quoted_path(path, _LINE) for path in files[:_MOST_FILES])
    more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
    return [f"changed {shown}{more}"] if files else []


def _told(runs: list[Run]) -> list[Run]:
    """The commands that say most: checks first, then what passed, each once, in their order."""
    last = {run.command: run for run in runs}
    chosen = sorted(last.values(), key=lambda run: (not run.check, not run.ok))[:_MOST_STEPS]
    return [run for run in last.values() if run in chosen]


def _ran(run: Run) -> str:
    code = "" if run.exit_code is None else f" (exit {run.exit_code})"
    ending = "passed" if run.ok else "failed" if run.ok is False else "ran"
    return (
        f"`{quoted_command(run.command, _COMMAND)}` {ending}{code if not run.ok else ''}, {run.ref}"
    )


def _failed(one: Trouble) -> str:
    command = f"`{quoted_command(one.command, _COMMAND)}`: " if one.command else ""
    return f'{command}"{quoted(one.error, _ERROR)}", {one.ref}'


def _knowledge(task: Task) -> list[str]:
    solved = [
        f'"{quoted(one.error, _ERROR)}" went away: {told_steps(one.steps)}, {one.worked}'
        for one in task.errors
        if one.worked
    ]
    checks = [
        f"`{quoted_command(run.command, _COMMAND)}` is a check that passes"
        for run in task.runs
        if run.check and run.ok
    ]
    return [*solved, *checks]


def told_steps(steps: list[str]) -> str:
    """What was done about an error, as a part of a sentence."""
    return " and ".join(dict.fromkeys(map(_step, steps[:_MOST_FIXES]))) or "it was tried again"


def _step(step: str) -> str:
    files = step.removeprefix("edit ")
    return (
        f"{quoted_path(files, _COMMAND)} was changed"
        if files != step
        else f"`{quoted_command(step, _COMMAND)}` was run"
    )
