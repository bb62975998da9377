"""Hooks as agents run them: what they are passed, what they tell, and homes
with memories that are ready to be told.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.memory import Memory
from recollect.recall.hooks.frame import closing, opening
from recollect.serve import hook
from recollect.serve.install.command import program
from tests.builders.homes import claude_log, memory
from tests.builders.work import Work

SHOP = "/home/ada/shop"
SESSION = "0b5e55ed-0000-4000-8000-000000000001"


@contextmanager
def prepared(home: Path, *works: Work, **settings: Any) -> Iterator[Memory]:
    """A memory of some pieces of work, ready to be told."""
    for work in works:
        claude_log(home, work.talk, project=f"-work-{work.number}")
    with memory(home, **settings) as mind:
        mind.import_logs()
        list(mind.make_ready())
        yield mind


def environment(home: Path, **more: str) -> dict[str, str]:
    """What a hook needs to find the memory of a home."""
    return {"HOME": str(home), "RECOLLECT_HOME": str(home / ".recollect"), **more}


def passed(event: str, **fields: Any) -> bytes:
    """What Claude Code and Codex pass to a hook; a test says what it is about."""
    common = {
        "session_id": SESSION,
        "transcript_path": "/nowhere/log.jsonl",
        "cwd": SHOP,
        "hook_event_name": event,
    }
    return json.dumps({**common, **fields}).encode()


def passed_command(command: str, **fields: Any) -> bytes:
    return passed("PreToolUse", tool_name="Bash", tool_input={"command": command}, **fields)


def told(
    home: Path, event: str, data: bytes | None = None, *, agent: str = "claude-code", **fields: Any
) -> list[str]:
    """The lines that a hook of this process tells, without their frame."""
    data = passed(event, **fields) if data is None else data
    return lines_of(hook.respond(agent, event, data, environment(home)), event)


def lines_of(answer: str, event: str) -> list[str]:
    """The lines of an answer, which has this and nothing else in it."""
    hook._work.clear()  # Nothing is started here.
    if not answer:
        return []
    made = json.loads(answer)
    context = made["hookSpecificOutput"]["additionalContext"]
    assert made == {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
    return within_frame(context)


def within_frame(text: str) -> list[str]:
    """The lines within a frame, which is one store's and whole."""
    first, *lines, last = text.split("\n")
    mark = first.partition('mark="')[2][:8]
    assert (first, last) == (opening(mark), closing(mark))
    assert mark not in "".join(lines)
    return list(lines)


@dataclass
class Ended:
    """A hook that ran in a process of its own."""

    code: int
    out: bytes
    err: bytes
    seconds: float

    @property
    def is_silent(self) -> bool:
        return (self.code, self.out, self.err) == (0, b"", b"") and self.seconds < 1


def start(
    home: Path, event: str, *, agent: str = "claude-code", **options: Any
) -> subprocess.Popen[bytes]:
    """Start a hook the way an agent does, with the command that `recollect install` writes down."""
    environ = {**os.environ, **environment(home), **options.pop("environ", {})}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*program(), "hook", agent, event],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=environ,
        **options,
    )


def run(home: Path, event: str, data: bytes, **options: Any) -> Ended:
    """Run a hook to its end."""
    began = time.monotonic()
    process = start(home, event, **options)
    out, err = process.communicate(data)
    return Ended(process.returncode, out, err, time.monotonic() - began)
