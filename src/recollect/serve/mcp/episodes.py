"""Four more tools, for an agent that records its attempts and asks for earlier ones.

Only `recollect mcp --episodes` offers them, so that other sessions do not
carry their descriptions. Attempts may be recorded from any thread; what may
have to wait for the disk runs on a thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta

from recollect.memory import Memory
from recollect.model.episodes import Context, Ending, EpisodeHit, Step
from recollect.serve.mcp.answers import Page, ToolAnswer, ToolHit, harmless, hit, result, sentence
from recollect.system import git

# An attempt may be hundreds of steps; the last ones say how it ended.
STEPS_SHOWN = 12
ACTION_CHARACTERS = 200

Language = Annotated[str | None, Meta(description="such as python")]
Tags = Annotated[tuple[str, ...], Meta(description="words for the kind of task")]
Project = Annotated[str | None, Meta(description="default: this folder's")]
Outcome = Literal["success", "partial", "fail", "uncertain", "abandoned"]

_TEXT, _NUMBER = {"type": "string"}, {"type": "number"}
ID_SCHEMA: dict[str, Any] = {"type": "object", "properties": {"id": _TEXT}, "required": ["id"]}
REWARD_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"id": _TEXT, "reward": _NUMBER},
    "required": ["id", "reward"],
}


class EpisodeTools:
    """The four tools. `folder` is where the agent works, whose project
    is meant unless another is named.

    `offered` is told the tool and the references of what was handed out.
    """

    def __init__(
        self, memory: Memory, folder: str, offered: Callable[[str, list[str]], None]
    ) -> None:
        self._memory, self._offered = memory, offered
        self._project, _ = git.name_of(folder)

    def start_episode(
        self,
        memory: Memory,
        task: Annotated[str, Meta(description="what is to be done, in a sentence")],
        language: Language = None,
        tags: Tags = (),
        project: Project = None,
    ) -> ToolAnswer:
        """Start recording an attempt at a task. Use once, when you start on it."""
        context = Context(language=language, tags=tags, project=project or self._project)
        ref = self._memory.episodes.start(task, context)
        return _said({"id": ref})

    def log_step(
        self,
        memory: Memory,
        id: Annotated[str, Meta(description="from start_episode")],
        tool: str,
        action: Annotated[str, Meta(description="the command or file")] = "",
        success: bool | None = None,
        observation: Annotated[str, Meta(description="the result, in a line")] = "",
        latency_ms: int | None = None,
        tokens: int | None = None,
    ) -> ToolAnswer:
        """Record one step of an attempt. Use after steps that matter."""
        self._memory.episodes.log(
            id.strip(), Step(tool, action, latency_ms, tokens, success, observation)
        )
        return _said({"id": id.strip()})

    def complete_episode(
        self,
        memory: Memory,
        id: Annotated[str, Meta(description="from start_episode")],
        outcome: Outcome,
        result: Annotated[str | None, Meta(description="what was reached")] = None,
        error: Annotated[str | None, Meta(description="what went wrong")] = None,
    ) -> ToolAnswer:
        """End an attempt and say honestly how it went. Use when the task is done or given up."""
        ending = Ending(outcome, result=result, error=error)
        reward = self._memory.episodes.complete(id.strip(), ending)
        return _said({"id": id.strip(), "reward": round(reward.total, 4)})

    def retrieve_relevant(
        self,
        memory: Memory,
        task: Annotated[str, Meta(description="the task")],
        language: Language = None,
        tags: Tags = (),
        project: Project = None,
        limit: Annotated[int, Meta(ge=1, le=20)] = 5,
    ) -> ToolAnswer:
        """Earlier attempts at tasks like this one, their steps and how they went.

        Use before starting on a task.
        """
        context = Context(language=language, tags=tags, project=project or self._project)
        found = self._memory.episodes.retrieve(task, context, limit)
        if not found:
            return sentence("No attempts at a task like this one.")
        page = Page()
        page.add_all(_hit(one) for one in found)
        self._offered("retrieve_relevant", [one["id"] for one in page.hits])
        return result(memory, page)


def _hit(found: EpisodeHit) -> ToolHit:
    episode = found.episode
    lines = [f"{episode.task} ({found.why})"]
    left_out = len(episode.steps) - STEPS_SHOWN
    lines += [f"… {left_out} steps before"] if left_out > 0 else []
    lines += [_line(step) for step in episode.steps[-STEPS_SHOWN:]]
    lines += [
        f"{name}: {text}"
        for name, text in (("result", episode.result), ("error", episode.error))
        if text
    ]
    # What a log tells is proven, but the words of a command are an agent's.
    return hit(
        episode.ref, "\n".join(lines), project=episode.context.project, at=episode.started_at,
        provenance="assistant", trust="assistant",
    )  # fmt: skip


def _line(step: Step) -> str:
    ended = {True: "", False: " (failed)", None: " (outcome unknown)"}[step.success]
    action = f": {' '.join(step.action.split())[:ACTION_CHARACTERS]}" if step.action else ""
    return f"{step.tool}{action}{ended}"


def _said(structured: dict[str, Any]) -> ToolAnswer:
    text = "\n".join(f"{name}: {harmless(str(value))}" for name, value in structured.items())
    return ToolAnswer(text, structured)
