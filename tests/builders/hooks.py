"""Hooks as agents run them: what they are passed, what they tell, and homes with memories that are ready to be told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.memory import Memory
from recollect.recall.telling import CLOSING, OPENING
from recollect.serve import hook
from tests.builders.homes import claude_log, memory
from tests.builders.work import Work

SHOP = "/home/ada/shop"
SESSION = "0b5e55ed-0000-4000-8000-000000000001"
# Not -m: as little as possible besides what an installed `recollect` does.
PROGRAM = [sys.executable, "-P", "-c", "from recollect.serve.cli import main; raise SystemExit(main())"]


@contextmanager
def prepared(home: Path, *works: Work, **settings: Any) -> Iterator[Memory]:
    """A memory of some pieces of work, ready to be told."""
    for work in works:
        claude_log(home, work.talk, project=f"-work-{work.number}")
    with memory(home, **settings) as mind:
        mind.import_logs()
        list(mind.prepare())
        yield mind


def environment(home: Path, **more: str) -> dict[str, str]:
    """What a hook needs to find the memory of a home."""
    return {"HOME": str(home), "RECOLLECT_HOME": str(home / ".recollect"), **more}


def passed(event: str, **fields: Any) -> bytes:
    """What Claude Code and Codex pass to a hook; a test says what it is about."""
    common = {"session_id": SESSION, "transcript_path": "/nowhere/log.jsonl", "cwd": SHOP, "hook_event_name": event}
    return json.dumps({**common, **fields}).encode()


def passed_command(command: str, **fields: Any) -> bytes:
    return passed("PreToolUse", tool_name="Bash", tool_input={"command": command}, **fields)


def told(home: Path, event: str, data: bytes | None = None, *, agent: str = "claude-code", **fields: Any) -> list[str]:
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
    opening, *lines, closing = context.split("\n")
    assert (opening, closing) == (OPENING, CLOSING)
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


def run(
    home: Path,
    event: str,
    data: bytes,
    *,
    agent: str = "claude-code",
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Ended:
    """Run a hook the way an agent does."""
    started = time.monotonic()
    done = subprocess.run(
        [*PROGRAM, "hook", agent, event], input=data, capture_output=True, check=False, cwd=folder,
        env={**os.environ, **environment(home), **(environ or {})},
    )  # fmt: skip
    return Ended(done.returncode, done.stdout, done.stderr, time.monotonic() - started)
