"""Set up an agent so that it calls us, and undo that.

`install` and `uninstall` change the agent's own settings, for the user or in
one project, and nothing that is not ours in them; `installed` looks at what is
there. What an agent is given, and in which of its files, is in its file in
`serve/agents`.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from recollect.errors import RecollectError, UsageError, choice_of
from recollect.model.reports import Installed, InstallState, Integration
from recollect.serve.agents import Installer, find_agent, served
from recollect.serve.install.command import program
from recollect.serve.install.files import Draft
from recollect.serve.install.parts import InstallPart, SkipPart
from recollect.serve.install.setup import InstallScope, Setup

__all__ = ["SCOPES", "install", "installable", "installed", "next_steps", "uninstall"]

SCOPES: tuple[InstallScope, InstallScope] = ("user", "project")


def installable() -> list[str]:
    """The agents that can be set up."""
    return [name for name, agent in served().items() if agent.installer is not None]


def install(
    agent: str,
    scope: InstallScope = "user",
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
    installer, setup = _installer(agent), _setup(agent, scope, folder, environ, call)
    draft, plugin = _draft(setup), installer.plugin(setup)
    # With the plugin there, entries of ours would do everything a second time.
    rows = [
        _left_to(plugin, draft, setup, part) if plugin else _add(draft, setup, part)
        for part in installer.parts(setup)
    ]
    return _carried_out(draft, rows, dry_run=dry_run)


def uninstall(
    agent: str,
    scope: InstallScope = "user",
    *,
    folder: str,
    environ: Mapping[str, str],
    dry_run: bool = False,
) -> list[Installed]:
    """Take away what `install` gave an agent, and leave its files as they were."""
    installer, setup = _installer(agent), _setup(agent, scope, folder, environ)
    draft = _draft(setup)
    rows = [_remove(draft, setup, part) for part in installer.parts(setup)]
    return _carried_out(draft, rows, dry_run=dry_run)


def _carried_out(draft: Draft, rows: list[Installed], *, dry_run: bool) -> list[Installed]:
    if dry_run:
        return [row.planned() for row in rows]
    draft.write()
    return rows


def installed(environ: Mapping[str, str], folder: str) -> list[Integration]:
    """What each agent has of ours, for the user and in the project of a folder."""
    found = []
    for agent in installable():
        user, project = (_integration(_setup(agent, scope, folder, environ)) for scope in SCOPES)
        if user.hooks or user.mcp or user.plugin:
            found.append(user)
        if project.hooks or project.mcp or project.plugin not in (None, user.plugin):
            found.append(project)
    return found


def next_steps(agent: str, scope: str = "user") -> list[str]:
    """What the user must still do, after an install that changed something."""
    asks = [
        (
            "when the agent asks whether to trust this project, say yes; until then it reads "
            "none of this"
        )
    ]
    return [*_installer(agent).next_steps, *(asks if scope == "project" else [])]


def _installer(agent: str) -> Installer:
    known = find_agent(agent)
    if known is None or known.installer is None:
        raise UsageError(
            f'There is no agent "{agent}" to connect.', hint=choice_of(installable(), agent)
        )
    return known.installer


def _setup(
    agent: str,
    scope: InstallScope,
    folder: str,
    environ: Mapping[str, str],
    call: list[str] | None = None,
) -> Setup:
    return Setup(agent, scope, folder=folder, environ=environ, program=call or program())


def _draft(setup: Setup) -> Draft:
    if not setup.sensible:
        raise UsageError(
            "This is your home folder, not a project.",
            hint="Go to the project, or leave out --scope project.",
        )
    return Draft(None if setup.for_user else setup.project)


def _row(setup: Setup, part: InstallPart, state: InstallState, note: str = "") -> Installed:
    return Installed(
        agent=setup.agent, scope=setup.scope, part=part.name, path=part.path, state=state, note=note
    )


def _add(draft: Draft, setup: Setup, part: InstallPart) -> Installed:
    text = draft.read(part.path)
    there = part.found(text) is not None
    note = ""
    if part.name == "hooks" and not there and not setup.for_user and _has_hooks(setup, "user"):
        note = "already installed for you; here they would run twice"
        return _row(setup, part, "skipped", note)
    if part.name == "hooks" and setup.for_user and _has_hooks(setup, "project"):
        undo = f"recollect uninstall {setup.agent} --scope project"
        note = f"{setup.project} has them too, so there they run twice. To fix it: {undo}"
    try:
        made = part.added(text)
    except SkipPart as why:
        return _row(setup, part, "skipped", str(why))
    draft.put(part.path, made, copy=not part.ours)
    return _row(setup, part, "unchanged" if made == text else "changed" if there else "added", note)


def _remove(draft: Draft, setup: Setup, part: InstallPart) -> Installed:
    text = draft.read(part.path)
    if text is None or part.found(text) is None:
        return _row(setup, part, "unchanged", "not connected")
    if others := _sharing(setup, part):
        return _row(setup, part, "skipped", f"{', '.join(others)} also read it")
    left = part.removed(text, draft.backup(part.path))
    draft.put(part.path, left, copy=False)
    if left == text:
        return _row(setup, part, "skipped", "you changed it, so it stays")
    return _row(setup, part, "removed")


def _left_to(plugin: str, draft: Draft, setup: Setup, part: InstallPart) -> Installed:
    removed = _remove(draft, setup, part).state == "removed"
    return _row(setup, part, "removed" if removed else "skipped", f"{plugin} provides it")


def _has_hooks(setup: Setup, scope: InstallScope) -> bool:
    """Whether the agent has our hooks in this scope."""
    return _integration(_setup(setup.agent, scope, setup.project, setup.environ)).hooks


def _sharing(setup: Setup, part: InstallPart) -> list[str]:
    """The other agents that are set up and read the same file of ours."""
    if part.name != "skill":
        return []
    others = []
    for agent in installable():
        other = _setup(agent, setup.scope, setup.project, setup.environ)
        shared = agent != setup.agent and any(
            one.path == part.path for one in _installer(agent).parts(other)
        )
        if shared and (found := _integration(other)) and (found.hooks or found.mcp):
            others.append(agent)
    return others


def _integration(setup: Setup) -> Integration:
    if not setup.sensible:
        return Integration(agent=setup.agent, scope=setup.scope)
    installer, draft = _installer(setup.agent), _draft(setup)
    found: dict[str, list[str] | None] = {}
    for part in installer.parts(setup):
        try:
            found[part.name] = part.found(draft.read(part.path))
        except RecollectError:
            # A file that cannot be read holds nothing that the agent could use;
            # `install` says what is wrong with it.
            found[part.name] = None
    command = next((words[0] for words in found.values() if words), None)
    return Integration(
        agent=setup.agent,
        scope=setup.scope,
        plugin=installer.plugin(setup),
        command=command,
        command_exists=command is None or shutil.which(command) is not None,
        **{name: words is not None for name, words in found.items()},
    )
