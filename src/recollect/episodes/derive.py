"""Attempts from what sessions came to: each task of a digest is
one, as if somebody had recorded it.

Steps are the tool calls of the task's turns: the kind of tool, what it was about,
how it ended and, in words of ours, the sort of error it met. What tools printed and
what the agent wrote stays out: whoever is told of an attempt would read it as
something to follow. Where events were
let go, the commands that the digest kept stand for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from recollect.episodes.error_classes import error_class, is_declined
from recollect.episodes.limits import MOST_LATENCY_MS
from recollect.episodes.reward import reward
from recollect.model.calls import Call
from recollect.model.digests import Digest, Task
from recollect.model.episodes import Context, Episode, Step
from recollect.reading import checks
from recollect.store.history import Passage
from recollect.system.clock import iso

if TYPE_CHECKING:
    from recollect.settings import Settings
    from recollect.store import Store

# What is kept of a command or of paths, and of a long task: the end, where it was decided.
ACTION_CHARACTERS = 500
ERROR_CHARACTERS = 500
STEPS_KEPT = 200

# Which language a piece of work was in is told by the endings of the files it touched.
_ENDINGS = {
    "python": "py pyi ipynb", "javascript": "js jsx mjs cjs", "typescript": "ts tsx mts cts",
    "rust": "rs", "go": "go",
    "java": "java", "kotlin": "kt kts", "scala": "scala sbt", "c": "c h",
    "c++": "cpp cc cxx hpp hh", "c#": "cs", "f#": "fs fsx",
    "ruby": "rb rake erb", "php": "php", "swift": "swift", "objective-c": "m mm", "dart": "dart",
    "elixir": "ex exs",
    "erlang": "erl hrl", "haskell": "hs", "ocaml": "ml mli", "clojure": "clj cljs cljc",
    "lua": "lua", "perl": "pl pm", "r": "r",
    "julia": "jl", "zig": "zig", "shell": "sh bash zsh fish", "powershell": "ps1 psm1",
    "sql": "sql", "terraform": "tf hcl",
    "html": "html htm", "css": "css scss sass less", "vue": "vue", "svelte": "svelte", "nix": "nix",
    "solidity": "sol",
}  # fmt: skip
_LANGUAGES = {
    ending: language for language, endings in _ENDINGS.items() for ending in endings.split()
}


def derive_new(store: Store, settings: Settings) -> Iterator[int]:
    """The job: attempts of every session whose digest is new, how many there were so far."""
    done = 0
    for session in store.episodes.underived():
        # Read first and kept then, because whoever imports waits for those who write.
        digest = store.digests.find(session.ref)
        passages = store.digests.passages(session.number)
        episodes = derive(digest, passages, settings.domain_of) if digest else []
        done += store.episodes.replace(session, episodes)
        yield done


def derive(
    digest: Digest,
    passages: Sequence[Passage],
    domain_of: Callable[[str | None], str | None] = lambda project: None,
) -> list[Episode]:
    """The attempts of a session, in order, from its digest and its turns.

    `domain_of` tells a project's domain.
    """
    turns = {passage.ordinal: passage for passage in passages}
    return [
        _episode(digest, task, turns, domain_of)
        for task in digest.tasks
        if task.turns and (task.asked or task.title)
    ]


def _episode(
    digest: Digest,
    task: Task,
    turns: dict[int, Passage],
    domain_of: Callable[[str | None], str | None],
) -> Episode:
    own = [turns[number] for number in task.turns if number in turns]
    project = next(
        (passage.project for passage in own if passage.project is not None), digest.project
    )
    calls = [
        event
        for passage in own
        if passage.whole
        for event in passage.events
        if isinstance(event, Call)
    ]
    steps = list(map(_step, calls))
    if not all(passage.whole for passage in own):
        steps = [
            Step("shell", run.command[:ACTION_CHARACTERS], success=run.ok) for run in task.runs
        ]
    duration = None if task.seconds is None else task.seconds * 1000
    checked = [run.ok for run in task.runs if run.check and run.ok is not None]
    spent = task.tokens
    return Episode(
        ref=f"{digest.session}#{task.turns[0]}", source="derived", task=task.asked or task.title,
        context=Context(
            language=language_of(task.files) or language_of(_read(calls)),
            domain=domain_of(project), project=project,
        ),
        outcome=task.outcome, error=_error(task), started_at=iso(own[0].at) if own else None,
        duration_ms=duration,
        steps=steps[-STEPS_KEPT:], reward=reward(task.outcome, steps, duration,
        checked=checked[-1] if checked else None),
        tokens=spent.input + spent.cache_read + spent.cache_write + spent.output or None,
        session=digest.session, turns=list(task.turns), trust="tool-verified",
    )  # fmt: skip


def _step(call: Call) -> Step:
    ok, took = call.ok, call.duration_ms
    if call.kind == "shell" and checks.is_check(call.target):
        ok = checks.ended(call.target, ok, call.output, call.exit_code)
    observation = ""
    if ok is False:
        if is_declined(call.output):
            ok = None
        else:
            observation = error_class(call.output, call.exit_code)
    latency = min(int(took), MOST_LATENCY_MS) if took is not None and took >= 0 else None
    tool = call.name if call.kind in ("mcp", "other") else call.kind
    return Step(tool, call.target[:ACTION_CHARACTERS], latency, None, ok, observation)


def _read(calls: Iterable[Call]) -> list[str]:
    return [call.target for call in calls if call.kind == "read" and call.target]


def _error(task: Task) -> str | None:
    """The last error that nothing was found against, when the task did not go well."""
    if task.outcome == "success":
        return None
    left = [trouble.error for trouble in task.errors if trouble.worked is None]
    return left[-1][:ERROR_CHARACTERS] if left else None


def language_of(paths: Iterable[str]) -> str | None:
    """The language that most of these files are in, of equals the first.

    None when no ending is known.
    """
    found = Counter(
        language for path in paths if (language := _LANGUAGES.get(path.rpartition(".")[2].lower()))
    )
    return found.most_common(1)[0][0] if found else None
