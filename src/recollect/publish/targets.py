"""The files that agents read what a person accepted from.

Those that many agents read are here. A file that a single agent reads is known
to whoever serves that agent, and is passed in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from recollect.errors import UsageError
from recollect.model.publications import Target

SKILL_NAME_CHARACTERS = 64


_SKILL_HEAD = """---
name: {skill}
description: {description}
metadata:
  recollect-id: {quoted_skill}
---
"""

DEFAULT = "AGENTS.md"
ALL = "all"

_AGENTS = Target(DEFAULT, DEFAULT)
_SKILLS = Target("skills", ".agents/skills/{skill}/SKILL.md", is_skill=True)
_MEMORY = Target("MEMORY.md", "MEMORY.md", usual=False)


def all_targets(agent_targets: Sequence[Target]) -> dict[str, Target]:
    """Every target by its name: the files that many agents read, and those of single agents."""
    return {target.name: target for target in (_AGENTS, *agent_targets, _SKILLS, _MEMORY)}


def chosen(names: Sequence[str], targets: Mapping[str, Target]) -> list[Target]:
    """The targets that somebody names, in our order: by name, by
    path, or `all` of the usual ones.
    """
    found = set()
    for name in names:
        wanted = name.strip().removeprefix("./").rstrip("/").lower()
        matching = {target.name for target in targets.values() if wanted in _names(target)}
        if wanted == ALL:
            matching = {target.name for target in targets.values() if target.usual}
        if not matching:
            raise UsageError(
                f'There is no target "{name[:50]}".', hint=f"Choose {', '.join([*targets, ALL])}."
            )
        found |= matching
    return [target for target in targets.values() if target.name in found]


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
    return _SKILL_HEAD.format(
        skill=name, description=_quoted(_description(project)), quoted_skill=_quoted(name)
    )


def skill_name(project: str) -> str:
    """A name for a project's skill that the Agent Skills specification allows."""
    words = "-".join(re.findall(r"[a-z0-9]+", _short(project).lower()))
    kind = "procedures"
    return f"{words[: SKILL_NAME_CHARACTERS - len(kind) - 1].strip('-') or 'project'}-{kind}"


def _description(project: str) -> str:
    short = " ".join(re.findall(r"[\w.-]+", _short(project)))[:100] or "this project"
    return (
        f"Procedures that worked in earlier sessions of {short}, step by step."
        " Use before releasing, deploying, migrating or setting something up there."
    )


def _short(project: str) -> str:
    return project.rstrip("/").replace("\\", "/").rpartition("/")[2].removesuffix(".git") or project


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
