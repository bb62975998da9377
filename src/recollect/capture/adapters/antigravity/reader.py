"""A conversation: the steps of its transcript, and what its other files add.

A step is what a person asked, what the model said and called, or what came of it.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import msgspec
from msgspec import Struct

from recollect.capture.adapters.antigravity.database import (
    AntigravityCall,
    AntigravityFacts,
    read_database,
)
from recollect.capture.logs.dialogue import MOST_WAITING, Dialogue
from recollect.capture.logs.documents import BrokenDocument, read_json, read_text
from recollect.capture.logs.folders import name_in_text
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.tags import inside, without
from recollect.capture.logs.tools import kind_of
from recollect.capture.logs.values import (
    Fields,
    count_of,
    fields_of,
    json_of,
    moment_of,
    objects_of,
    text_of,
    whole_of,
)
from recollect.model.logs import Author, Checkpoint, Item, Problem, Source, ToolKind

_DOCUMENTS_TURN = "papers"
_DOCUMENT_BYTES = 4 << 20
_SETTINGS = "USER_SETTINGS_CHANGE"
_WRAPPED = (_SETTINGS, "ADDITIONAL_METADATA")
_MODEL = re.compile(r"`Model Selection` from [^\n]{1,200}? to ([^\n]{1,200}?)\.?\s*$", re.MULTILINE)
_AUTHORS: dict[str, Author] = {"SYSTEM": "system", "MODEL": "agent"}
# What the host tells the model, which nobody sees.
_PASSED_OVER = {"CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE", "KNOWLEDGE_ARTIFACTS"}
_KINDS: dict[str, ToolKind] = {
    "code_action": "edit", "replace_file_content": "edit", "multi_replace_file_content": "edit",
    "find": "search", "command_status": "shell", "send_command_input": "shell",
    "browser_subagent": "task",
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


class AntigravityStep(Struct):
    """One step of a conversation: a line of its transcript."""

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


class _DocumentNote(Struct):
    """What is noted beside a document."""

    updatedAt: Any = None


class _WaitingCall(Struct):
    """A call whose result is still to come."""

    ident: str
    kind: ToolKind


class _StepReader:
    """Makes items of steps.

    Calls have no ids: a result belongs to the first call before it that it can belong to.
    """

    def __init__(self, path: str, session: str) -> None:
        self.dialogue = Dialogue(session, own_keys=True)
        self.problems = ProblemCounter(path)
        # Where turns begin, for who knows only the number of a step.
        self.turns: dict[int, str] = {}
        self.last = -1
        self.cwd: str | None = None
        self.model: str | None = None
        # Whether the tokens are known from elsewhere.
        self.is_counted = False
        self._waiting: list[_WaitingCall] = []
        self._tasks: dict[str, str] = {}
        self._asked: dict[int, int] = {}

    def take(self, step: AntigravityStep) -> None:
        """The next step."""
        index = whole_of(step.step_index)
        kind, at = text_of(step.type), moment_of(step.created_at)
        if index is None or kind is None:
            self.problems.unknown("record", kind or "without a type")
            return
        self.last = max(index, self.last)
        if kind == "USER_INPUT":
            self._tell_prompt(index, step)
        elif kind == "PLANNER_RESPONSE":
            self._tell_answer(index, step)
        elif kind == "CHECKPOINT":
            self.dialogue.say("compaction", text_of(step.content), at=at)
        elif kind == "ERROR_MESSAGE":
            self.dialogue.say("error", text_of(step.content), at=at)
        elif kind == "SYSTEM_MESSAGE":
            self._tell_end_of_task(step)
        elif kind not in _PASSED_OVER:
            if step.source == "SYSTEM":
                self.problems.unknown("system step", kind)
            else:
                self._tell_result(kind, step)

    def _tell_prompt(self, index: int, step: AntigravityStep) -> None:
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
            key,
            without(content, *_WRAPPED) if text is None else text,
            at=moment_of(step.created_at),
            author=_AUTHORS.get(text_of(step.source) or "", "human"),
        )

    def _tell_answer(self, index: int, step: AntigravityStep) -> None:
        at = moment_of(step.created_at)
        self.dialogue.say("reasoning", text_of(step.thinking), at=at)
        self.dialogue.say("reply", text_of(step.content), at=at)
        # What was called before and gave nothing back will not do so any more.
        self._waiting.clear()
        for place, call in enumerate(objects_of(step.tool_calls)):
            name, given = text_of(call.get("name")) or "unknown", _arguments(call)
            waiting = _WaitingCall(f"{index}.{place}", _kind(name))
            if len(self._waiting) < MOST_WAITING:
                self._waiting.append(waiting)
            self.dialogue.call(waiting.ident, name, given, at=at, kind=waiting.kind)
            folder = text_of(given.get("Cwd"))
            if self.cwd is None and folder and _SCRATCH not in folder.replace("\\", "/"):
                self.cwd = folder
        if not self.is_counted:
            self.dialogue.usage(
                f"{self.dialogue.session}/step-{index}",
                model=self.model,
                at=at,
                input=count_of(step.input_tokens),
                cache_read=count_of(step.cache_read_tokens),
                output=count_of(step.output_tokens),
            )

    def _tell_result(self, kind: str, step: AntigravityStep) -> None:
        """What a tool gave back; one that no call is known of was called all the same."""
        at, output = moment_of(step.created_at), text_of(step.content)
        ok, exit_code = _outcome(text_of(step.status), output)
        name, tool_kind = kind.lower(), _kind(kind.lower())
        call = self._call_of(tool_kind)
        if call is None:
            self.dialogue.call(
                None, name, at=at, kind=tool_kind, output=output, ok=ok, exit_code=exit_code
            )
            return
        task = _TASK_STARTED.search(output) if output and step.status == "RUNNING" else None
        if task:
            self._tasks[task[1]] = call
        self.dialogue.result(call, output, at=at, ok=ok, exit_code=exit_code, last=not task)

    def _call_of(self, kind: ToolKind) -> str | None:
        exact = [call for call in self._waiting if call.kind == kind]
        fitting = [call for call in self._waiting if "other" in (kind, call.kind)]
        for call in exact or fitting:
            self._waiting.remove(call)
            return call.ident
        return None

    def _tell_end_of_task(self, step: AntigravityStep) -> None:
        content = text_of(step.content) or ""
        ended = _TASK_ENDED.search(content)
        call = self._tasks.pop(ended[1], None) if ended else None
        if ended and call:
            output = content[ended.end() :].partition("</SYSTEM_MESSAGE>")[0].strip()
            ok, exit_code = _outcome("DONE", output)
            self.dialogue.result(
                call, output, at=moment_of(step.created_at), ok=ok, exit_code=exit_code
            )


class AntigravityReader:
    """One conversation, gathered from its files."""

    def __init__(self, source: Source, session: str) -> None:
        self.path, self.session = source.path, session
        files = (source.path, *source.companions)
        self.database = next((path for path in files if path.endswith(".db")), None)
        self.documents = [path for path in files if path.endswith(".md")]
        self.steps = _StepReader(source.path, session)
        self.known = AntigravityFacts()
        if self.database not in (None, source.path):
            self._read_database_beside(self.database)
        # Newer versions tell tokens with the steps as well.
        self.steps.is_counted = bool(self.known.model_calls)

    def take(self, step: AntigravityStep) -> None:
        """A step of the transcript."""
        self.steps.take(step)

    def items(self) -> list[Item]:
        """Everything; the tokens come when it is known where turns begin.

        A conversation in which nothing was said is none.
        """
        self._tell_tokens()
        dialogue, model = self.steps.dialogue, self.steps.model
        items = dialogue.drain()
        if items:
            cwd = self.known.cwd or self.steps.cwd
            meta = {"model": model} if model else None
            dialogue.facts(cwd=cwd, git_branch=self.known.branch, meta=meta)
        return [*dialogue.drain(), *items, *self.steps.problems.drain()]

    def read_without_words(self, since: Checkpoint | None) -> Iterator[Item]:
        """What there is without a transcript: documents, or tokens alone."""
        try:
            if self.database == self.path:
                self._learn(read_database(self.path, self.session))
        except UnreadableSource as reason:
            yield Problem(path=self.path, kind="unreadable", reason=str(reason))
            yield since or Checkpoint(0)
            return
        read_bytes = sum(self._tell_document(document) for document in self.documents)
        yield from self.items()
        yield Checkpoint(read_bytes + self.known.read_bytes)

    def _read_database_beside(self, database: str) -> None:
        """A database beside the words that cannot be read costs the tokens and nothing else."""
        try:
            self._learn(read_database(database, self.session))
        except UnreadableSource as reason:
            if os.path.lexists(database):
                self.steps.problems.bad(f"the database beside it cannot be read: {reason}")

    def _learn(self, known: AntigravityFacts) -> None:
        self.known = known
        for _ in range(known.malformed):
            self.steps.problems.bad("a row of the database is not a message")

    def _tell_tokens(self) -> None:
        turns = sorted(self.steps.turns.items())
        for call in self.known.model_calls:
            turn = self._turn_of(call, turns)
            # The database may be ahead of the transcript: which turn a
            # call belongs to will be seen.
            if turn is not None or not self.path.endswith(".jsonl"):
                self.steps.dialogue.usage(
                    call.key,
                    model=call.model or self.steps.model,
                    at=call.at,
                    input=call.input,
                    cache_read=call.cache_read,
                    output=call.output,
                    reasoning=call.reasoning,
                    turn=turn,
                )

    def _turn_of(self, call: AntigravityCall, turns: list[tuple[int, str]]) -> str | None:
        """The turn that a model call belongs to; the first one when its step is not told."""
        step = call.step or 0
        if not turns or step > self.steps.last:
            return None
        return turns[max(0, bisect_right(turns, step, key=itemgetter(0)) - 1)][1]

    def _tell_document(self, path: str) -> int:
        """A plan, a list of tasks or a summary of the agent's; one turn holds all of them."""
        try:
            text = read_text(path, _DOCUMENT_BYTES)
        except UnreadableSource as reason:
            self.steps.problems.bad(f"{name_in_text(path)} cannot be read: {reason}")
            return 0
        dialogue = self.steps.dialogue
        if not dialogue.state.turn:
            dialogue.begin(_DOCUMENTS_TURN, author="agent")
        try:
            note = read_json(f"{path}.metadata.json", _DocumentNote, limit=_DOCUMENT_BYTES)
            at = moment_of(note.updatedAt)
        except (BrokenDocument, UnreadableSource):
            at = None
        dialogue.say("reply", f"{name_in_text(path)}\n\n{text}" if text.strip() else None, at=at)
        return len(text)


def _kind(name: str) -> ToolKind:
    return _KINDS.get(name) or kind_of(name)


def _arguments(call: Fields) -> Fields:
    """The arguments of a call, each of which is JSON in a text once more.

    Those of edits by the names they mostly have.
    """
    given = fields_of(json_of(call.get("args", call.get("arguments"))))
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
