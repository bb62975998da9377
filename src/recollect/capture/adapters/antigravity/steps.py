"""The steps of a transcript: what a person asked, what the model
said and called, and what came of it.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct

from recollect.capture.logs.dialogue import MOST_WAITING, Dialogue
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.tags import inside, without
from recollect.capture.logs.tools import kind_of
from recollect.capture.logs.values import (
    Fields,
    count_of,
    decoded,
    fields_of,
    moment_of,
    objects_of,
    text_of,
    whole_of,
)
from recollect.model.logs import Author, ToolKind

_SETTINGS = "USER_SETTINGS_CHANGE"
_WRAPPED = (_SETTINGS, "ADDITIONAL_METADATA")
_MODEL = re.compile(r"`Model Selection` from [^\n]{1,200}? to ([^\n]{1,200}?)\.?\s*$", re.MULTILINE)
_AUTHORS: dict[str, Author] = {"SYSTEM": "system", "MODEL": "agent"}
# What the host tells the model, which nobody sees.
_PASSED_OVER = {"CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE", "KNOWLEDGE_ARTIFACTS"}
_KINDS: dict[str, ToolKind] = {
    "code_action": "edit", "replace_file_content": "edit", "multi_replace_file_content": "edit",
    "find": "search",
    "command_status": "shell", "send_command_input": "shell", "browser_subagent": "task",
}  # fmt: skip
_EDITS = {
    "TargetContent": "old_string", "ReplacementContent": "new_string", "ReplacementChunks": "edits",
    "CodeContent": "content",
}  # fmt: skip
_ENDED = {
    "DONE": True,
    "ERROR": False,
    "CANCELED": False,
    "CANCELLED": False,
    "INTERRUPTED": False,
    "HALTED": False,
}
_EXIT_CODE = re.compile(r"exit code:? (-?\d{1,9})\b")
_RAN_WELL = "The command completed successfully."
# A command that goes on in the background is told of by its task: when it
# starts, and in a message when it ends.
_TASK_STARTED = re.compile(r"background task with task id: (\S{1,200})")
_TASK_ENDED = re.compile(r'Task id "([^"\n]{1,200})" finished with result:')
# The folder that commands run in when there is no project.
_SCRATCH = "/antigravity-cli/scratch"


class Step(Struct):
    """One line."""

    step_index: Any = None
    source: Any = None
    type: Any = None
    status: Any = None
    created_at: Any = None
    content: Any = None
    thinking: Any = None
    tool_calls: Any = None
    input_tokens: Any = None
    cache_read_tokens: Any = None
    output_tokens: Any = None


class Waiting(Struct):
    """A call whose result is still to come."""

    ident: str
    kind: ToolKind


class Steps:
    """Makes items of steps.

    Calls have no ids: a result belongs to the first call before it that it can belong to.
    """

    def __init__(self, session: str) -> None:
        self.dialogue = Dialogue(session, own_keys=True)
        self.odd = Oddities()
        # Where turns begin, for who knows only the number of a step.
        self.turns: dict[int, str] = {}
        self.last = -1
        self.cwd: str | None = None
        self.model: str | None = None
        # Whether the tokens are known from elsewhere.
        self.is_counted = False
        self._waiting: list[Waiting] = []
        self._tasks: dict[str, str] = {}
        self._asked: dict[int, int] = {}

    def take(self, step: Step) -> None:
        """The next step."""
        index = whole_of(step.step_index)
        kind = text_of(step.type)
        if index is None or kind is None:
            self.odd.unknown("record", kind or "without a type")
            return
        self.last = max(index, self.last)
        if kind == "USER_INPUT":
            self._tell_prompt(index, step)
        elif kind == "PLANNER_RESPONSE":
            self._tell_answer(index, step)
        elif kind == "CHECKPOINT":
            self.dialogue.say("compaction", text_of(step.content), at=moment_of(step.created_at))
        elif kind == "ERROR_MESSAGE":
            self.dialogue.say("error", text_of(step.content), at=moment_of(step.created_at))
        elif kind == "SYSTEM_MESSAGE":
            self._tell_end_of_task(step)
        elif kind not in _PASSED_OVER:
            if step.source == "SYSTEM":
                self.odd.unknown("system step", kind)
            else:
                self._tell_result(kind, step)

    def _tell_prompt(self, index: int, step: Step) -> None:
        content = text_of(step.content) or ""
        text = inside(content, "USER_REQUEST")
        changed = _MODEL.search(inside(content, _SETTINGS) or "")
        if changed:
            self.model = changed[1]
        self._waiting.clear()
        self._asked[index] = times = self._asked.get(index, 0) + 1
        key = str(index) if times == 1 else f"{index}.{times}"
        self.turns.setdefault(index, key)
        self.dialogue.prompt(
            key, without(content, *_WRAPPED) if text is None else text,
            at=moment_of(step.created_at),
            author=_AUTHORS.get(text_of(step.source) or "", "human"),
        )  # fmt: skip

    def _tell_answer(self, index: int, step: Step) -> None:
        at = moment_of(step.created_at)
        self.dialogue.say("reasoning", text_of(step.thinking), at=at)
        self.dialogue.say("reply", text_of(step.content), at=at)
        # What was called before and gave nothing back will not do so any more.
        self._waiting.clear()
        for place, call in enumerate(objects_of(step.tool_calls)):
            name, given = text_of(call.get("name")) or "unknown", _arguments(call)
            waiting = Waiting(f"{index}.{place}", _kind(name))
            if len(self._waiting) < MOST_WAITING:
                self._waiting.append(waiting)
            self.dialogue.call(waiting.ident, name, given, at=at, kind=waiting.kind)
            folder = text_of(given.get("Cwd"))
            if self.cwd is None and folder and _SCRATCH not in folder.replace("\\", "/"):
                self.cwd = folder
        if not self.is_counted:
            self.dialogue.usage(
                f"{self.dialogue.session}/step-{index}", model=self.model, at=at,
                input=count_of(step.input_tokens),
                cache_read=count_of(step.cache_read_tokens), output=count_of(step.output_tokens),
            )  # fmt: skip

    def _tell_result(self, kind: str, step: Step) -> None:
        """What a tool gave back; one that no call is known of was called all the same."""
        at, output = moment_of(step.created_at), text_of(step.content)
        ok, exit_code = _outcome(text_of(step.status), output)
        call = self._call_of(_kind(kind.lower()))
        if call is None:
            self.dialogue.call(
                None,
                kind.lower(),
                None,
                at=at,
                kind=_kind(kind.lower()),
                output=output,
                ok=ok,
                exit_code=exit_code,
            )
            return
        task = _TASK_STARTED.search(output) if output and step.status == "RUNNING" else None
        if task:
            self._tasks[task[1]] = call
        self.dialogue.result(call, output, at=at, ok=ok, exit_code=exit_code, last=not task)

    def _call_of(self, kind: ToolKind) -> str | None:
        fitting = [
            place
            for place, call in enumerate(self._waiting)
            if kind in (call.kind, "other") or call.kind == "other"
        ]
        exact = [place for place in fitting if self._waiting[place].kind == kind]
        return self._waiting.pop((exact or fitting)[0]).ident if fitting else None

    def _tell_end_of_task(self, step: Step) -> None:
        content = text_of(step.content) or ""
        ended = _TASK_ENDED.search(content)
        call = self._tasks.pop(ended[1], None) if ended else None
        if ended and call:
            output = content[ended.end() :].partition("</SYSTEM_MESSAGE>")[0].strip()
            ok, exit_code = _outcome("DONE", output)
            self.dialogue.result(
                call, output, at=moment_of(step.created_at), ok=ok, exit_code=exit_code
            )


def _kind(name: str) -> ToolKind:
    return _KINDS.get(name) or kind_of(name)


def _arguments(call: Fields) -> Fields:
    """The arguments of a call, each of which is JSON in a text once more.

    Those of edits by the names they mostly have.
    """
    given = fields_of(decoded(call.get("args", call.get("arguments"))))
    return {_EDITS.get(name, name): _argument(value) for name, value in given.items()}


def _argument(value: Any) -> Any:
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return value
    if isinstance(value, list) and all(isinstance(piece, dict) for piece in value):
        return [{_EDITS.get(name, name): inner for name, inner in piece.items()} for piece in value]
    return value


def _outcome(status: str | None, output: str | None) -> tuple[bool | None, int | None]:
    """Whether a step went well, and the exit code of a command, which stands in its first words."""
    ok = _ENDED.get(status or "")
    first = (output or "")[:300]
    if first.startswith(_RAN_WELL):
        return ok, 0
    code = _EXIT_CODE.search(first.partition("Output:")[0]) if "ommand" in first else None
    if code:
        return code[1] == "0", int(code[1])
    return ok, None
