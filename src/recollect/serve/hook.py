"""`recollect hook AGENT EVENT`: what an agent is told while it works.

One JSON object in, at most one out.

The agent waits for this, at every prompt and every command. So it is the one
face that does not go through `Memory`: it reads a few rows that a job keeps
ready, notes down what it offered in a spool file, and leaves the rest to
processes that nobody waits for. Whatever is wrong (no store, a locked, damaged
or newer one, input that is no JSON), it says nothing and ends with 0: a memory
must never be what stops an agent.

    start    what this project taught: the pack; after a compaction what was asked first,
             what fails, standing instructions and commands
    prompt   what is known about this prompt, mostly nothing
    command  a command of this form fails here, and another works
    failure  the same, known by the error just seen
    pause    the log has grown: have it imported, say nothing
    end      the same, and have done at once what follows from the session

Loads apsw and what Python has loaded anyway; a test counts the modules. JSON
is read and written by SQLite, because the json module alone costs half of what
starting Python does.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import start_new_thread

import apsw

from recollect.serve.agents import find_agent
from recollect.settings import Settings
from recollect.store import spool
from recollect.store.sqlite.ready import Ready, may_write
from recollect.system import git, platforms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.serve.agents import Hooks, Moment
    from recollect.store.hook_lines import HookLine, Reminder

# Agents give up on a hook after seconds; we do before they notice.
SELF_LIMIT_SECONDS = 0.9
MOST_BYTES = 8 << 20
# No folder and no session is called more than this; the spool keeps both.
MOST_NAME_CHARACTERS = 4_096
# Of the files that were changed most in a project, so many have to be there: one in four.
FEWEST_FILES, LEAST_SHARE = 3, 4
QUIET_MS = 3_600_000
# Set for agents that recollect starts itself: their sessions are no one's work.
OWN_RUN_VARIABLE = "RECOLLECT_OWN_RUN"
# What a person sets, or types as the first line of a prompt, so that a session is no one's memory.
OFF_VARIABLE, OFF_LINE = "RECOLLECT", "recollect: off"


class HookInput:
    """What an agent passed: where it is, and what it is about to do or has seen."""

    __slots__ = (
        "agent", "command", "error", "event", "folder", "log", "moment", "own_log", "prompt",
        "session", "source", "subagent", "tool",
    )  # fmt: skip

    def __init__(
        self, agent: str, event: str, moment: Moment, values: Mapping[str, str | None]
    ) -> None:
        self.agent, self.event, self.moment = agent, event, moment
        native_id = values.get("session")
        self.session = f"{agent}:{native_id}" if native_id else None
        self.folder, self.log = values.get("folder"), values.get("log")
        self.own_log, self.prompt = values.get("own_log"), values.get("prompt")
        self.tool, self.command = values.get("tool"), values.get("command")
        self.error, self.subagent = values.get("error"), values.get("subagent")
        self.source = values.get("source")


def main(arguments: list[str]) -> int:
    """Answer one event; always 0. Never returns while somebody waits for longer than the limit."""
    debug = "--debug" in arguments
    words, config = _named_config(arguments)
    try:
        start_new_thread(_give_up, ())
        answer = ""
        if len(words) == 2:
            agent, event = words
            answer = respond(
                agent, event, sys.stdin.buffer.read(MOST_BYTES), os.environ, config=config
            )
        if answer:
            # At once, so that nobody reads half of it.
            os.write(1, answer.encode("utf-8", "replace") + b"\n")
        _start_work()
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            print(f"recollect hook: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    if not debug:
        # The store is left as it is: closing it would tidy up, which takes a writer's lock.
        os._exit(0)
    return 0


def _named_config(arguments: list[str]) -> tuple[list[str], str | None]:
    """The words of a command line, without options, and the file after `--config`."""
    words, config = list(arguments), None
    if "--config" in words[:-1]:
        at = words.index("--config")
        config = words[at + 1]
        del words[at : at + 2]
    return [word for word in words if not word.startswith("--")], config


def _give_up() -> None:
    time.sleep(SELF_LIMIT_SECONDS)
    os._exit(0)


# What is to be started once the answer is given.
_work: list[list[str]] = []
_sqlite = apsw.Connection(":memory:")


def respond(
    agent: str, event: str, data: bytes, environ: Mapping[str, str], *, config: str | None = None
) -> str:
    """What to say to an agent at one of its events, as JSON; empty for nothing."""
    known = find_agent(agent)
    hooks = known.hooks if known else None
    if hooks is None or event not in hooks.events or environ.get(OWN_RUN_VARIABLE):
        return ""
    settings = Settings.load(environ, config=config)
    given = _read(agent, event, hooks, data)
    # A run that keeps no log wants to leave no trace.
    if given is None or (hooks.names_log and not given.log):
        return ""
    if _is_off(given, settings.store, environ):
        _record(given, settings.store, None, "", spool.OFF)
        return ""
    if given.moment in ("pause", "end"):
        _pause(given, settings)
        return ""
    told = refs = ""
    project = fault = None
    try:
        ready = Ready.open(settings.store) if os.path.exists(settings.store) else None
        if ready is not None and given.session and ready.is_forgotten(given.session):
            return ""
        if given.moment == "start" and not given.subagent:
            _catch_up(ready, settings)
        if ready is not None and given.folder:
            project = ready.project(git.names_of(given.folder))
            if project is not None:
                found = _what_to_tell(given, hooks, ready, project, settings.store)
                # Looking for files costs more than looking for something to tell, and mostly
                # there is nothing.
                if found[0] and not _only_claims(given.folder, ready, project):
                    told, refs = found
    except apsw.Error as error:
        # Locked, damaged, or being made this moment.
        fault = type(error).__name__
    _record(given, settings.store, project, refs, fault, told)
    return hooks.answer(_quoted(event), _quoted(told)) if told else ""


def _only_claims(folder: str, ready: Ready, project: int) -> bool:
    """Whether a folder has the remote of a project and nothing else in common with it.

    Anybody can write any remote into a repository that somebody is to work in.
    """
    found = git.look(folder)
    if found is None or found.remote is None:
        return False
    files = ready.usual_files(project)
    places = {found.top, folder}
    there = 0
    for name in files:
        there += any(os.path.lexists(os.path.join(place, name)) for place in places)
        if there * LEAST_SHARE >= len(files):
            return False
    # Where little was changed, little can be missed.
    return len(files) >= FEWEST_FILES


def _is_off(given: HookInput, store: str, environ: Mapping[str, str]) -> bool:
    """Whether a person wants nothing of this session remembered."""
    if environ.get(OFF_VARIABLE, "").strip().lower() == "off":
        return True
    first = (given.prompt or "").lstrip().partition("\n")[0]
    if " ".join(first.lower().split()) == OFF_LINE:
        return True
    mark = f'"{spool.OFF}",0]'
    # Hardly ever there, and looking for it in all that waits costs less than reading it.
    if mark.encode() not in spool.read(spool.path_of(store)):
        return False
    return any(line.endswith(mark) for line in _spooled(store, given))


def _read(agent: str, event: str, hooks: Hooks, data: bytes) -> HookInput | None:
    """What the agent passed; None when it is no JSON object."""
    paths: dict[str, str] = hooks.fields
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        row = _sqlite.execute(
            f"select json_type(?1), {', '.join(['?1 ->> ?'] * len(paths))}", [text, *paths.values()]
        ).fetchone()
    except (apsw.Error, UnicodeDecodeError):
        # No JSON, or half a character in it.
        return None
    if row is None or row[0] != "object":
        return None
    values = {
        name: value for name, value in zip(paths, row[1:], strict=True) if isinstance(value, str)
    }
    for name in ("session", "folder", "log", "own_log"):
        if len(values.get(name, "")) > MOST_NAME_CHARACTERS:
            del values[name]
    return HookInput(agent, event, hooks.events[event], values)


def _quoted(text: str) -> str:
    """A text as JSON."""
    return str(_sqlite.execute("select json_quote(?)", (text,)).get)


def _what_to_tell(
    given: HookInput, hooks: Hooks, ready: Ready, project: int, store: str
) -> tuple[str, str]:
    """What to tell, framed, and the references in it."""
    if given.moment == "start":
        # A sub-agent has its task from the agent that started it.
        if given.subagent:
            return "", ""
        if given.source == "compact":
            return _after_compaction(given, ready, project)
        return ready.pack(project) or ("", "")
    lines: Sequence[HookLine] = []
    if given.moment == "prompt" and given.prompt and not given.subagent:
        from recollect.recall.hooks.prompts import tell

        found = tell(
            ready,
            project,
            _own_words(given.prompt, hooks),
            session=given.session,
            told_before=lambda: _told_before(given, hooks, ready, store),
        )
        lines = [line for line, _ in found]
    elif given.tool in hooks.shell_tools and given.command:
        if given.moment == "command":
            lines = _reminder(ready, project, given, "command", given.command)
        elif given.moment == "failure" and given.error and hooks.failed(given.error):
            lines = _reminder(ready, project, given, "error", given.error)
    if given.moment != "prompt" and lines:
        told = _told_before(given, hooks, ready, store)
        lines = [line for line in lines if not told.issuperset(line.refs.split())]
    mark = ready.mark() if lines else ""
    if not mark:
        return "", ""
    from recollect.recall.hooks.frame import framed, within_budget

    lines = within_budget(lines, mark)
    return framed([line.line for line in lines], mark), " ".join(line.refs for line in lines)


def _after_compaction(given: HookInput, ready: Ready, project: int) -> tuple[str, str]:
    """What is lost when a context is summed up: instructions, commands, what was asked first,
    and what fails.
    """
    mark = ready.mark()
    if not mark:
        return "", ""
    from recollect.recall.hooks.compaction import packet

    return packet(ready, project, given.session, mark)


def _told_before(given: HookInput, hooks: Hooks, ready: Ready, store: str) -> set[str]:
    """What this session was told before, and need not be told again.

    What it was told at its start is told once more before a command that fails.
    """
    if not given.session:
        return set()
    before = [*ready.told_to(given.session), *_in_spool(store, given)]
    reminds = given.moment in ("command", "failure")
    return {
        ref
        for event, refs in before
        if not reminds or hooks.events.get(event) in ("command", "failure")
        for ref in refs.split()
    }


def _own_words(prompt: str, hooks: Hooks) -> str:
    """A prompt without the context that an agent puts before it."""
    if hooks.context_tags and prompt.startswith(hooks.context_tags[0]):
        return prompt.partition(hooks.context_tags[1])[2]
    return prompt


def _reminder(
    ready: Ready, project: int, given: HookInput, kind: str, text: str
) -> Sequence[Reminder]:
    """The newest reminder whose shape a text has."""
    possible = ready.reminders(project, kind, text)
    if not possible or not given.command:
        return []
    # Rare enough to be worth loading what takes commands and errors apart.
    from recollect.reading.shapes import folder_of, shapes_of

    shapes = shapes_of(kind, given.command, given.error or "")
    folder = folder_of(given.command, given.folder or "")
    return [one for one in possible if one.shape in shapes and one.folder in ("", folder)][:1]


def _record(
    given: HookInput, store: str, project: int | None, refs: str, fault: str | None, told: str = ""
) -> None:
    """Leave a line about this in the spool."""
    at = time.time_ns()
    place = [given.agent, given.event, given.session, given.folder, project]
    tokens = 0
    if told:
        from recollect.reading.tokens import tokens_of

        tokens = int(tokens_of(told)) + 1
    values = [f"{at}-{os.getpid()}", at // 1_000_000, *place, refs, fault, tokens]
    if os.path.isdir(os.path.dirname(store)):
        line = _sqlite.execute(f"select json_array({', '.join('?' * len(values))})", values).get
        spool.append(spool.path_of(store), str(line))


def _spooled(store: str, given: HookInput) -> list[str]:
    """The lines about this session that are not taken in yet."""
    if given.session is None:
        return []
    mark = _quoted(given.session)
    lines = spool.read(spool.path_of(store)).decode("utf-8", "replace").splitlines()
    return [line for line in lines if mark in line]


def _in_spool(store: str, given: HookInput) -> list[tuple[str, str]]:
    """At which events this session was told what, as far as it is not taken in yet."""
    sql = (
        "select ?1 ->> '$[3]', ?1 ->> '$[7]' where json_valid(?1) and ?1 ->> '$[4]' = ?2 "
        "and ?1 ->> '$[7]' != ''"
    )
    found = [
        _sqlite.execute(sql, (line, given.session)).fetchone() for line in _spooled(store, given)
    ]
    return [(str(row[0]), str(row[1])) for row in found if row]


def _catch_up(ready: Ready | None, settings: Settings) -> None:
    """Have done what waits.

    Not every session ends with an event; after a while every log is looked at.
    """
    now = time.time_ns() // 1_000_000
    if ready is not None and not ready.writable:
        return
    if ready is None or ready.last_run() < now - QUIET_MS:
        _start_later("import", settings)
    elif ready.work_waits(now):
        _start_later("jobs", settings, "run")


def _pause(given: HookInput, settings: Settings) -> None:
    """Have what was logged imported by a process that goes on by itself."""
    if os.path.exists(settings.store) and not may_write(settings.store):
        return
    _record(given, settings.store, None, "", None)
    log = given.own_log or given.log
    words = ["--agent", given.agent]
    # The next turn will want the same work done again: it waits until the agent is quiet.
    words += ["--work-when-quiet"] if given.moment == "pause" else []
    if log is None:
        _start_later("import", settings, *words)
    elif os.path.exists(log):
        _start_later("import", settings, *words, "--", log)


def _start_later(command: str, settings: Settings, *words: str) -> None:
    # Not from the agent's folder: a module of that name may lie there.
    started = [sys.executable, "-P", "-m", "recollect", command, *settings.arguments(), *words]
    _work.append(started)


def _start_work() -> None:
    """Start what is to be done after the answer, at low priority."""
    if _work and hasattr(os, "nice"):
        os.nice(10)
    while _work:
        platforms.spawn_and_leave(_work.pop())
