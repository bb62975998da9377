"""The command that continues a session, and what may keep it from working."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Mapping

from recollect.errors import EXIT_UNAVAILABLE, NotFound, RecollectError, UsageError
from recollect.memory import Memory
from recollect.model.answers import Continuation
from recollect.model.sessions import Session
from recollect.serve.agents import Resume, find_agent, served
from recollect.system import platforms

_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*")
# What means something between double quotes: to cmd, to PowerShell (which takes
# typographic quotes for plain ones), or to no folder of Windows.
_MEANS_SOMETHING = re.compile('["%!$`\u201c\u201d\u201e<>|?*]')


def continuation(memory: Memory, ref: str) -> Continuation:
    """How to go on with a session; a sub-agent's is gone on with in the session that started it."""
    asked = session = memory.session(ref)
    warnings = []
    while session.origin == "subagent" and session.parent:
        parent = _find(memory, session.parent)
        if parent is None:
            warnings.append(f"{session.parent}, which started this sub-agent, is not stored.")
            break
        session = parent
    if asked.origin == "subagent":
        warnings.insert(
            0,
            f"{asked.id} is a sub-agent and cannot be continued. This continues the session "
            "that started it.",
        )
    agent = find_agent(session.agent)
    if agent is None or agent.resume is None:
        known = [name for name, agent in served().items() if agent.resume is not None]
        raise UsageError(
            f"recollect does not know how {session.agent} continues a session.",
            hint=f"It does for {', '.join(known)}. Read it instead: recollect show {session.id}",
        )
    native_id = session.native_id.partition("/")[0]
    if not _PLAIN_ID.fullmatch(native_id):
        # A log can claim any id; one that reads as an option, or as more
        # than a word, is given to no command.
        raise UsageError(
            f"{session.id} has an id that no agent uses.",
            hint=f"Read it instead: recollect show {session.id}",
        )
    words = [*agent.resume.words, native_id]
    if "#" in memory.whole_ref(ref):
        warnings.append("A session continues at its end, not at one of its turns.")
    line = shell_line(session.cwd, words, windows=platforms.WINDOWS)
    if session.cwd is not None and line == shlex.join(words):
        warnings.append(
            f"No shell can be given the name of the folder safely: {session.cwd!a}. "
            "Go there first, if you trust it."
        )
    warnings += _folder_warnings(session, needed=agent.resume.needs_folder)
    warnings += _log_warnings(session, agent.resume, memory.environ)
    return Continuation(
        session=session.id, agent=session.agent, native_id=session.native_id, cwd=session.cwd,
        command=line, words=words, asked=asked.id, warnings=warnings,
    )  # fmt: skip


def start(found: Continuation) -> None:
    """Become the agent that continues a session; where that cannot be, wait for it."""
    if found.cwd:
        os.chdir(found.cwd)
    try:
        if platforms.WINDOWS:
            raise SystemExit(subprocess.run(found.words, check=False).returncode)
        os.execvp(found.words[0], found.words)
    except OSError as error:
        raise AgentMissing(found.words[0], error.strerror or str(error)) from error


class AgentMissing(RecollectError):
    """The program that would continue a session cannot be started."""

    exit_code = EXIT_UNAVAILABLE

    def __init__(self, program: str, detail: str) -> None:
        super().__init__(
            f"{program} cannot be started: {detail}.",
            hint="Install it, or read the session: recollect show REF",
        )


def _find(memory: Memory, ref: str) -> Session | None:
    try:
        return memory.session(ref)
    except NotFound:
        return None


def _folder_warnings(session: Session, *, needed: bool) -> list[str]:
    if session.cwd is None:
        return ["The log does not name a folder. Run this in the folder of the project."]
    if os.path.isdir(session.cwd):
        return []
    why = "so the agent would start in another folder"
    if needed:
        why = "so the agent cannot find the session"
    return [f"{session.cwd} does not exist on this machine, {why}."]


def _log_warnings(session: Session, resume: Resume, environ: Mapping[str, str]) -> list[str]:
    """Agents clear away old logs; what they no longer have, they cannot continue."""
    if session.source is None:
        return []
    if not os.path.exists(session.source):
        return [
            (
                f"The log {session.source} is gone, so the agent cannot continue it. You can "
                f"still read it: recollect show {session.id}"
            )
        ]
    looks_in = environ.get(resume.variable) or os.path.join(platforms.user_home(), resume.home)
    folder = os.path.realpath(looks_in).rstrip(os.sep) + os.sep
    if os.path.realpath(session.source).startswith(folder):
        return []
    return [f"The log was imported from {session.source}, but the agent looks in {looks_in}."]


def shell_line(cwd: str | None, words: list[str], *, windows: bool) -> str:
    """The line to paste into a shell of this system.

    A log can claim any folder. One whose name a terminal would not show as it
    is, or whose quotes a shell may see through, is left out: what is shown must
    be what is run. On Windows the line is one for cmd and for PowerShell 7.
    """
    line = shlex.join(words)
    if not cwd or not cwd.isprintable():
        return line
    if windows:
        return line if _MEANS_SOMETHING.search(cwd) else f'pushd "{cwd}" && {line}'
    # Not an option, and not the folder before this one.
    folder = f"./{cwd}" if cwd.startswith("-") else cwd
    return f"cd {shlex.quote(folder)} && {line}"
