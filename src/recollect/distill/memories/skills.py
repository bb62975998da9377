"""Skills: what proved right several times, as an agent can load it when it needs it.

The front matter follows the Agent Skills specification; `is_valid` holds what
others write to the same rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from recollect.distill.memories import guidance
from recollect.distill.memories.files import SKILL_MARK
from recollect.distill.memories.guidance import SEVERAL, Statement
from recollect.distill.memories.memory_file import FRAME
from recollect.model.digests import Digest
from recollect.reading.quoting import quoted_path
from recollect.store.traces import Published

NAME_CHARACTERS, DESCRIPTION_CHARACTERS, BODY_LINES = 64, 1_024, 499
MOST_SESSIONS = 20

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FRONT = re.compile(r"---\n(?P<fields>.*?)\n---\n(?P<body>.*)", re.DOTALL)
_FIELD = re.compile(r"(?P<name>[a-z-]+):[ \t]*(?P<value>[^\n]*)")
_ALLOWED = frozenset(("name", "description", "license", "compatibility", "metadata"))


def compose(project: str, digests: Sequence[Digest]) -> dict[str, Published]:
    """The skills that a project's sessions support, by their path below its memory."""
    # It stands above the frame: a folder that is called by a sentence would be read as ours.
    short = quoted_path(
        project.rstrip("/").replace("\\", "/").rpartition("/")[2] or project, NAME_CHARACTERS
    )
    made = {
        "checks": (
            f"Runs the checks that passed in earlier sessions of {short}. Use after a change "
            "there, before saying that it works.",
            f"Checks of {short}",
            [one for one, check in guidance.commands(digests) if check],
        ),
        "pivots": (
            f"Gets past failures of commands that were met before in {short}. Use when a command "
            "fails there.",
            f"Failures in {short}, and what got past them",
            guidance.pivots(digests),
        ),
    }
    found = {}
    for kind, (description, title, statements) in made.items():
        supported = [one for one in statements if len(one.sessions) >= SEVERAL][
            : guidance.MOST_LINES
        ]
        if supported:
            name = name_of(short, kind)
            found[f"skills/{name}/SKILL.md"] = render(name, description, title, supported)
    return found


def name_of(project: str, kind: str) -> str:
    """A name that the specification allows."""
    words = "-".join(re.findall(r"[a-z0-9]+", project.lower()))
    return f"{words[: NAME_CHARACTERS - len(kind) - 1].strip('-') or 'project'}-{kind}"


def is_name(name: str) -> bool:
    """Whether the specification allows a name."""
    return len(name) <= NAME_CHARACTERS and _NAME.fullmatch(name) is not None


def is_valid(name: str, text: str) -> bool:
    """Whether a skill is one by the specification: its name is its folder's, it
    says what it is for, and is not too long.
    """
    found = _FRONT.fullmatch(text)
    if found is None or not is_name(name):
        return False
    fields = {
        field["name"]: _value(field["value"])
        for field in map(_FIELD.fullmatch, found["fields"].split("\n"))
        if field
    }
    described = 0 < len(fields.get("description", "")) <= DESCRIPTION_CHARACTERS
    short = (
        len(found["body"].splitlines()) <= BODY_LINES
        and len(fields.get("compatibility", "")) <= 500
    )
    return fields.get("name") == name and described and short and set(fields) <= _ALLOWED


def _value(written: str) -> str:
    try:
        return str(json.loads(written)) if written.startswith('"') else written.strip("' ")
    except ValueError:
        return ""


def render(
    name: str,
    description: str,
    title: str,
    statements: Sequence[Statement],
    *,
    most_refs: int = guidance.MOST_REFS,
) -> Published:
    """The file of a skill, and the sessions behind it."""
    sessions = list(dict.fromkeys(session for one in statements for session in one.sessions))
    said = json.dumps(" ".join(description.split())[:DESCRIPTION_CHARACTERS], ensure_ascii=False)
    lines = [
        "---", f"name: {name}", f"description: {said}", "metadata:",
        f"  {SKILL_MARK} {json.dumps(name)}",
        f"  source-sessions: {json.dumps(' '.join(sessions[:MOST_SESSIONS]), ensure_ascii=False)}",
        "---", "", f"# {title}", "",
        FRAME, "",
        *(one.line(most_refs) for one in statements), "",
    ]  # fmt: skip
    return Published("\n".join(lines), sessions)
