"""Asks an agent's own program, as its user would, but without the user.

It runs in an empty folder of ours with the login that the user already has, marked as ours, so
that its hooks say nothing and nothing of it is imported. It is given one question and has no
tools. Whatever it does instead of answering, the worst that happens is no answer.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from uuid import uuid4

from recollect.errors import BadReply, EngineUnavailable
from recollect.model.engines import HeadlessAgent, Reply
from recollect.system import platforms
from recollect.system.services import shown

# Hooks of ours that find this say nothing; `serve.hook` knows it by the same name.
OWN_RUN_VARIABLE = "RECOLLECT_OWN_RUN"
MOST_PRINTED = 4_000_000

_NOT_NOW = re.compile(
    r"rate.?limit|usage limit|limit (?:reached|exceeded)|too many requests|quota|overloaded"
    r"|try again|capacity"
    r"|\b(?:429|500|502|503|504|529)\b|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|network|fetch failed"
    r"|connection|unavailable",
    re.IGNORECASE,
)
_LOGGED_OUT = re.compile(
    r"log ?in|logged out|sign ?in|authenticat|unauthori[sz]ed|api.?key|credential|\b401\b|\b403\b"
    r"|/login",
    re.IGNORECASE,
)


class HeadlessEngine:
    """An agent's program as somebody who can be asked one question."""

    def __init__(
        self,
        agent: HeadlessAgent,
        *,
        folder: str,
        environ: Mapping[str, str],
        model: str = "",
        timeout_seconds: int = 600,
        forget: Callable[[str], None] = lambda session: None,
    ) -> None:
        """`forget` is told each session of the agent's that is ours, before it can be imported."""
        self._agent, self._folder, self._environ = agent, folder, environ
        self._timeout, self._forget = timeout_seconds, forget
        self.name, self.model = agent.agent, model or agent.model

    def ask(self, instructions: str, text: str) -> Reply:
        """What the agent says. EngineUnavailable when it does not, BadReply when it is nothing."""
        program = shutil.which(self._agent.program, path=self._environ.get("PATH"))
        if program is None:
            raise EngineUnavailable(
                f"{self._agent.program} is not installed.",
                hint="Install it, or choose another with distill.engine.",
            )
        session = str(uuid4())
        self._forget(f"{self.name}:{session}")
        printed, said, code = self._run(program, session, f"{instructions}\n\n{text}")
        reply = self._agent.read(printed)
        if reply.session:
            self._forget(f"{self.name}:{reply.session}")
        if code != 0 or not reply.text.strip():
            raise self._fault(code, printed, said)
        return reply

    def _run(self, program: str, session: str, question: str) -> tuple[str, str, int]:
        """What it printed, what it said besides, and how it ended."""
        self._prepare()
        environ = {
            **self._environ,
            **self._agent.variables(self._folder),
            OWN_RUN_VARIABLE: "1",
            "NO_COLOR": "1",
        }
        try:
            process = subprocess.Popen(
                [program, *self._agent.words(self.model, session)],
                cwd=self._folder,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=sys.platform != "win32",
            )
        except OSError as error:
            raise EngineUnavailable(
                f"{self._agent.program} cannot be started: {error.strerror}.",
                hint="Does it run in a terminal?",
            ) from error
        try:
            out, err = process.communicate(question.encode(), timeout=self._timeout)
        except subprocess.TimeoutExpired:
            _kill(process)
            raise EngineUnavailable(
                f"{self._agent.program} did not answer within {self._timeout} seconds.",
                hint="Raise distill.timeout_seconds, or choose a faster model: distill.model.",
                passing=True,
            ) from None
        except BaseException:
            _kill(process)
            raise
        return (
            out[:MOST_PRINTED].decode("utf-8", "replace"),
            err[-8_000:].decode("utf-8", "replace"),
            process.returncode,
        )

    def _prepare(self) -> None:
        """An empty folder, but for the settings that the agent reads there."""
        shutil.rmtree(self._folder, ignore_errors=True)
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        for name, text in self._agent.files.items():
            path = os.path.join(self._folder, name)
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            platforms.replace_text(path, text)

    def _fault(self, code: int, printed: str, said: str) -> Exception:
        """What came instead of an answer."""
        words = f"{said}\n{printed[-4_000:]}"
        last = next((line for line in reversed(said.splitlines()) if line.strip()), "")
        last = last or printed.strip()[-200:]
        what = f": {shown(last[:200])}" if last else ""
        name = self._agent.program
        if _LOGGED_OUT.search(words) and not re.search(r"\b429\b|rate.?limit", words):
            return EngineUnavailable(
                f"{name} is not logged in{what}.", hint=f"Start {name} once and log in."
            )
        if _NOT_NOW.search(words):
            return EngineUnavailable(
                f"{name} cannot answer now{what}.", hint="It is asked again later.", passing=True
            )
        if code < 0:
            return EngineUnavailable(
                f"{name} was killed (signal {-code}).",
                hint="It is asked again later.",
                passing=True,
            )
        if code:
            return EngineUnavailable(
                f"{name} ended with exit code {code}{what}.", hint="Does it run in a terminal?"
            )
        return BadReply(f"{name} gave no answer{what}.", hint="Try another model: distill.model.")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and what it started."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
