"""What an agent's file needs to say how it is set up: folders, our command, our skill."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any, Literal

from recollect.errors import RecollectError
from recollect.serve.install.command import line
from recollect.serve.install.files import Draft
from recollect.serve.install.jsonc import JsonFile
from recollect.serve.install.parts import OwnFile
from recollect.system import platforms

HOOK_SECONDS = 5
InstallScope = Literal["user", "project"]


class Setup:
    """One agent that is set up for the user or in one project, and how it is to call us."""

    def __init__(
        self,
        agent: str,
        scope: InstallScope,
        *,
        folder: str,
        environ: Mapping[str, str],
        program: list[str],
    ) -> None:
        self.agent, self.scope, self.environ, self.program = agent, scope, environ, program
        self.home = platforms.user_home()
        self.project = project_of(folder)

    @property
    def for_user(self) -> bool:
        """Whether it is the user's own settings that are meant."""
        return self.scope == "user"

    @property
    def sensible(self) -> bool:
        """Whether there is such a project: the whole home would be the user's settings again."""
        return self.for_user or os.path.realpath(self.project) != os.path.realpath(self.home)

    def user_folder(self, name: str, variable: str = "") -> str:
        """A folder below the user's home, or where the variable says."""
        if variable and (moved := self.environ.get(variable)):
            return os.path.abspath(os.path.expanduser(moved))
        return os.path.join(self.home, name)

    def folder(self, user: str, project: str, *, variable: str = "") -> str:
        """The folder of the agent's settings in this scope."""
        if self.for_user:
            return self.user_folder(user, variable)
        return os.path.join(self.project, project)

    def hook(self, event: str) -> list[str]:
        """The words that report an event to us."""
        return [*self.program, "hook", self.agent, event]

    def hook_line(self, event: str) -> str:
        """The same for a shell."""
        return line(self.hook(event))

    def server(self) -> dict[str, Any]:
        """Our MCP server as a program with its arguments, which is how most agents want it."""
        return {"command": self.program[0], "args": [*self.program[1:], "mcp"]}

    def groups(
        self, tools_by_event: Mapping[str, str | None], handler: Callable[[str], dict[str, Any]]
    ) -> dict[str, dict[str, Any]]:
        """A group for each event, for agents whose hooks come in groups
        that name the tools they are about.
        """
        return {
            event: {
                **({"matcher": tools} if tools else {}),
                "hooks": [{"type": "command", **handler(event)}],
            }
            for event, tools in tools_by_event.items()
        }

    def skill(self, folder: str = "") -> OwnFile:
        """The skill that says when to recall.

        Without a folder, in the one that most agents read.
        """
        folder = folder or os.path.join(self.folder(".agents", ".agents"), "skills")
        path = os.path.join(folder, "recollect", "SKILL.md")
        ours = resources.files("recollect.serve.install").joinpath("skill", "SKILL.md")
        text = ours.read_text(encoding="utf-8")
        return OwnFile("skill", path, text, comment=("<!-- ", " -->"))


def project_of(folder: str) -> str:
    """The repository that a folder is in, or the folder itself.

    A home that is a repository is nobody's project.
    """
    at = folder = os.path.abspath(folder)
    while at not in (os.path.dirname(at), platforms.user_home()):
        if os.path.lexists(os.path.join(at, ".git")):
            return at
        at = os.path.dirname(at)
    return folder


def read_json(path: str) -> dict[str, Any]:
    """What a settings file holds, for a look at it; nothing when it cannot be read."""
    try:
        text = Draft().read(path)
        return dict(JsonFile(text or "", path).root.value)
    except RecollectError:
        return {}
