"""Set up an agent so that it calls us, and undo that: a file per agent.

`install` and `uninstall` change the agent's own settings, for the user or in
one project, and nothing that is not ours in them; `installed` looks at what is
there.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Literal

from recollect.errors import RecollectError, UsageError
from recollect.model.reports import Installed, Integration
from recollect.serve.install.command import program
from recollect.serve.install.files import Draft
from recollect.serve.install.parts import Part, Skipped
from recollect.serve.install.place import Place, Scope

__all__ = ["INSTALLERS", "SCOPES", "install", "installed", "next_steps", "uninstall"]

SCOPES: tuple[Scope, Scope] = ("user", "project")
State = Literal["added", "changed", "unchanged", "removed", "skipped"]

# agent id: its module here, which has `parts(place)`, `plugin(place)` and `NEXT_STEPS`.
INSTALLERS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini-cli": "gemini_cli",
    "cursor": "cursor",
    "opencode": "opencode",
    "copilot-cli": "copilot_cli",
}


def install(
    agent: str,
    scope: Scope = "user",
    *,
    folder: str,
    environ: Mapping[str, str],
    call: list[str] | None = None,
    dry_run: bool = False,
) -> list[Installed]:
    """Give an agent hooks, server and skill; a row per part says what was done.

    `call` is how the agent is to start us, if not by the path that we were
    started by. Doing it again changes nothing, or brings an older entry up to
    date.
    """
    installer, place = _installer(agent), _place(agent, scope, folder, environ, call)
    draft, plugin = _draft(place), installer.plugin(place)
    # With the plugin there, entries of ours would do everything a second time.
    rows = [
        _left_to(plugin, draft, place, part) if plugin else _add(draft, place, part)
        for part in installer.parts(place)
    ]
    if not dry_run:
        draft.write()
    return rows


def uninstall(
    agent: str,
    scope: Scope = "user",
    *,
    folder: str,
    environ: Mapping[str, str],
    dry_run: bool = False,
) -> list[Installed]:
    """Take away what `install` gave an agent, and leave its files as they were."""
    installer, place = _installer(agent), _place(agent, scope, folder, environ)
    draft = _draft(place)
    rows = [_remove(draft, place, part) for part in installer.parts(place)]
    if not dry_run:
        draft.write()
    return rows


def installed(environ: Mapping[str, str], folder: str) -> list[Integration]:
    """What each agent has of ours, for the user and in the project of a folder."""
    found = []
    for agent in INSTALLERS:
        user, project = (_integration(_place(agent, scope, folder, environ)) for scope in SCOPES)
        if user.hooks or user.mcp or user.plugin:
            found.append(user)
        if project.hooks or project.mcp or project.plugin not in (None, user.plugin):
            found.append(project)
    return found


def next_steps(agent: str, scope: str = "user") -> list[str]:
    """What the user must still do, after an install that changed something."""
    asks = [
        "when the agent asks whether it may trust this project, say yes: until then it reads none "
        "of this"
    ]
    return [*_installer(agent).NEXT_STEPS, *(asks if scope == "project" else [])]


def _installer(agent: str) -> ModuleType:
    if agent not in INSTALLERS:
        raise UsageError(f"{agent} cannot be set up by us", hint=f"one of {', '.join(INSTALLERS)}")
    return import_module(f"recollect.serve.install.{INSTALLERS[agent]}")


def _place(
    agent: str, scope: Scope, folder: str, environ: Mapping[str, str], call: list[str] | None = None
) -> Place:
    return Place(agent, scope, folder=folder, environ=environ, program=call or program())


def _draft(place: Place) -> Draft:
    if not place.sensible:
        raise UsageError(
            "this is your home, not a project",
            hint="go to the project, or leave out --scope project",
        )
    return Draft(None if place.for_user else place.project)


def _row(place: Place, part: Part, state: State, note: str = "") -> Installed:
    return Installed(
        agent=place.agent, scope=place.scope, part=part.name, path=part.path, state=state, note=note
    )


def _add(draft: Draft, place: Place, part: Part) -> Installed:
    text = draft.read(part.path)
    there = part.found(text) is not None
    note = ""
    if part.name == "hooks" and not there and not place.for_user and _has_hooks(place, "user"):
        return _row(
            place, part, "skipped", "they are installed for the user already, and would run twice"
        )
    if part.name == "hooks" and place.for_user and _has_hooks(place, "project"):
        undo = f"recollect uninstall {place.agent} --scope project"
        note = f"{place.project} has them too, and there they run twice; `{undo}` mends that"
    try:
        made = part.added(text)
    except Skipped as why:
        return _row(place, part, "skipped", str(why))
    draft.put(part.path, made, copy=not part.ours)
    return _row(place, part, "unchanged" if made == text else "changed" if there else "added", note)


def _remove(draft: Draft, place: Place, part: Part) -> Installed:
    text = draft.read(part.path)
    if text is None or part.found(text) is None:
        return _row(place, part, "unchanged", "it was not installed")
    if others := _sharing(place, part):
        return _row(place, part, "skipped", f"{', '.join(others)} read it too")
    left = part.removed(text, draft.backup(part.path))
    draft.put(part.path, left, copy=False)
    return (
        _row(place, part, "removed")
        if left != text
        else _row(place, part, "skipped", "it was changed by hand and is yours now")
    )


def _left_to(plugin: str, draft: Draft, place: Place, part: Part) -> Installed:
    row = _remove(draft, place, part)
    return _row(
        place, part, row.state if row.state == "removed" else "skipped", f"{plugin} brings it"
    )


def _has_hooks(place: Place, scope: Scope) -> bool:
    """Whether the agent has our hooks in this scope."""
    return _integration(_place(place.agent, scope, place.project, place.environ)).hooks


def _sharing(place: Place, part: Part) -> list[str]:
    """The other agents that are set up and read the same file of ours."""
    if part.name != "skill":
        return []
    others = []
    for agent in INSTALLERS:
        other = _place(agent, place.scope, place.project, place.environ)
        shared = agent != place.agent and any(
            one.path == part.path for one in _installer(agent).parts(other)
        )
        if shared and (found := _integration(other)) and (found.hooks or found.mcp):
            others.append(agent)
    return others


def _integration(place: Place) -> Integration:
    if not place.sensible:
        return Integration(agent=place.agent, scope=place.scope)
    installer, draft = _installer(place.agent), _draft(place)
    found: dict[str, list[str] | None] = {}
    for part in installer.parts(place):
        try:
            found[part.name] = part.found(draft.read(part.path))
        except RecollectError:
            # A file that cannot be read holds nothing that the agent could use;
            # `install` says what is wrong with it.
            found[part.name] = None
    command = next((words[0] for words in found.values() if words), None)
    return Integration(
        agent=place.agent,
        scope=place.scope,
        plugin=installer.plugin(place),
        command=command,
        command_exists=command is None or shutil.which(command) is not None,
        **{name: words is not None for name, words in found.items()},
    )
