"""The files that agents read what a project taught from.

The one place outside the adapters and `serve` that knows agents by name: a
file that another agent reads is another row here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from recollect.errors import UsageError

SKILL_NAME_CHARACTERS = 64
MEMORY = "MEMORY.md"


class Target(NamedTuple):
    """A file below a project's folder; `{skill}` in its path is the name of the skill.

    A new one begins with `head`, and ours is what follows. Where the file
    `instead` is there, that one gets the block, and this one a line that has it
    read. What is not `usual` is published to when it is asked for by name.
    """

    name: str
    path: str
    head: str = ""
    instead: str | None = None
    import_line: str = ""
    is_skill: bool = False
    usual: bool = True


_RULES_HEAD = (
    "---\ndescription: What earlier sessions in this project taught\nalwaysApply: true\n---\n"
)
_SKILL_HEAD = """---
name: {skill}
description: {description}
metadata:
  recollect-id: {quoted_skill}
---
"""

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("AGENTS.md", "AGENTS.md"),
        Target("CLAUDE.md", "CLAUDE.md", instead="AGENTS.md", import_line="@AGENTS.md"),
        Target("GEMINI.md", "GEMINI.md"),
        Target("cursor", ".cursor/rules/recollect.mdc", _RULES_HEAD),
        Target("skills", ".agents/skills/{skill}/SKILL.md", _SKILL_HEAD, is_skill=True),
        Target("claude-skills", ".claude/skills/{skill}/SKILL.md", _SKILL_HEAD, is_skill=True),
        Target(MEMORY, MEMORY, usual=False),
    )
}
DEFAULT = "AGENTS.md"
ALL = "all"


def chosen(names: Sequence[str]) -> list[Target]:
    """The targets that somebody names, in our order: by name, by
    path, or `all` of the usual ones.
    """
    found = set()
    for name in names:
        wanted = name.strip().removeprefix("./").rstrip("/").lower()
        matching = {target.name for target in TARGETS.values() if wanted in _names(target)}
        if wanted == ALL:
            matching = {target.name for target in TARGETS.values() if target.usual}
        if not matching:
            raise UsageError(
                f"nothing is published to {name[:50]}", hint=f"one of {', '.join([*TARGETS, ALL])}"
            )
        found |= matching
    return [target for target in TARGETS.values() if target.name in found]


def _names(target: Target) -> set[str]:
    folder = target.path.partition("/{skill}")[0]
    return {target.name.lower(), target.path.lower(), folder.lower()}


def path_of(target: Target, project: str) -> str:
    """Where a target is below the project's folder."""
    return target.path.replace("{skill}", skill_name(project))


def head_of(target: Target, project: str) -> str:
    """What a new file of this kind begins with."""
    if not target.is_skill:
        return target.head
    name = skill_name(project)
    return target.head.format(
        skill=name, description=_quoted(_description(project)), quoted_skill=_quoted(name)
    )


def skill_name(project: str) -> str:
    """A name for a project's skill that the Agent Skills specification allows."""
    words = "-".join(re.findall(r"[a-z0-9]+", _short(project).lower()))
    kind = "lessons"
    return f"{words[: SKILL_NAME_CHARACTERS - len(kind) - 1].strip('-') or 'project'}-{kind}"


def _description(project: str) -> str:
    short = " ".join(re.findall(r"[\w.-]+", _short(project)))[:100] or "this project"
    return (
        f"What failed, what worked and what was decided in earlier sessions of {short}."
        " Use when a command fails there, and before choosing how to build, test or change "
        "something."
    )


def _short(project: str) -> str:
    return project.rstrip("/").replace("\\", "/").rpartition("/")[2].removesuffix(".git") or project


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
