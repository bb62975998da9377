"""Makes items of the lines of one Qwen Code session."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from recollect.capture.adapters.qwen_code.records import QwenBranches, QwenRecord
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import BrokenDocument, read_json
from recollect.capture.logs.genai import (
    ENDED,
    FunctionAnswer,
    answers_in,
    calls_in,
    exit_code_of,
    parts_of,
    said_in,
    thought_in,
    tokens,
)
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.tags import without
from recollect.capture.logs.values import Fields, fields_of, moment_of, non_empty, text_of, whole_of
from recollect.model.logs import Author, Item, Source

_META_BYTES = 1 << 20
_INJECTED = ("system-reminder", "qwen:user-prompt-submit-context")
# From here on a prompt holds the files that it mentions with an @.
_REFERENCED = "--- Content from referenced files ---"
# Told in a person's name by the host.
_HOSTS = ("notification", "cron", "goal_runtime")
# Known, and of no use to us: what a screen showed, what is counted or said
# elsewhere, what is kept for a restart.
_PASSED_OVER = {
    "agent_bootstrap", "agent_launch_prompt", "agent_retry", "at_command", "attribution_snapshot",
    "branch_checkpoint", "file_history_snapshot", "goal_state", "rewind", "session_artifact_event",
    "session_artifact_snapshot", "slash_command", "user_text_elements",
}  # fmt: skip


class _AgentNote(Struct):
    """What is noted beside a sub-agent's log."""

    agentType: Any = None
    description: Any = None
    parentAgentId: Any = None
    model: Any = None
    status: Any = None
    toolUseId: Any = None


class QwenReader:
    """Gathers the records of a file; which branch is live is known only at its end."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.records: list[QwenRecord] = []
        self.problems = ProblemCounter(source.path)
        self.told_error: str | None = None

    def take(self, record: QwenRecord) -> None:
        """One line."""
        if text_of(record.uuid) and text_of(record.sessionId):
            self.records.append(record)
        else:
            self.problems.unknown("record", text_of(record.type) or "without a type")

    def items(self) -> list[Item]:
        """Everything the file tells, in its order."""
        if self.records:
            self._tell()
            return [*self.dialogue.drain(), *self.problems.drain()]
        return [*self.problems.drain()]

    def _tell(self) -> None:
        first = self.records[0]
        agent = text_of(first.agentId)
        self.noted = self._meta() if agent else _AgentNote()
        self.is_sub_agent = agent is not None
        self.dialogue = Dialogue(f"{first.sessionId}/{agent}" if agent else first.sessionId)
        self._tell_session(first)
        branches = QwenBranches(self.records)
        for place, record in enumerate(self.records):
            match record.type:
                case "user":
                    self._tell_prompt(record, live=branches.is_live(place, record))
                case "assistant":
                    self._tell_answer(record)
                case "tool_result":
                    for answer in answers_in(parts_of(record.message)):
                        self._tell_result(record, answer)
                case "system":
                    self._tell_change(record, names=branches.names(place, record))
                case _:
                    self.problems.unknown("record", record.type)

    def _tell_session(self, first: QwenRecord) -> None:
        noted = self.noted
        parent = text_of(fields_of(first.forkedFrom).get("sessionId"))
        if self.is_sub_agent:
            above = text_of(noted.parentAgentId)
            parent = f"{first.sessionId}/{above}" if above else first.sessionId
        meta = {
            "agent_type": text_of(noted.agentType) or text_of(first.agentName),
            "description": text_of(noted.description),
            "status": text_of(noted.status),
            "tool_use_id": text_of(noted.toolUseId),
        }
        self.dialogue.facts(
            parent=parent,
            origin="subagent" if self.is_sub_agent else None,
            cwd=text_of(first.cwd),
            title=text_of(noted.description),
            started_at=moment_of(first.timestamp),
            agent_version=self._newest("version"),
            git_branch=self._newest("gitBranch"),
            meta=non_empty(meta) or None,
        )

    def _newest(self, name: str) -> str | None:
        values = (text_of(getattr(record, name)) for record in reversed(self.records))
        return next(filter(None, values), None)

    def _tell_prompt(self, record: QwenRecord, *, live: bool) -> None:
        parts = parts_of(record.message)
        # Before there were records for results, they came in a person's name.
        for answer in answers_in(parts):
            self._tell_result(record, answer)
        text = self._typed(record, parts)
        if text:
            self.dialogue.prompt(
                record.uuid,
                text,
                at=moment_of(record.timestamp),
                author=self._author(record),
                cwd=text_of(record.cwd),
            )
            self.told_error = None
            if not live:
                self.dialogue.undo(record.uuid)

    def _typed(self, record: QwenRecord, parts: list[Fields]) -> str:
        """What was typed, or shown in the place of it; without what hooks and the host added."""
        shown = fields_of(record.systemPayload).get("displayText")
        if isinstance(shown, str):
            return shown.strip()
        return without(said_in(parts, "\n"), *_INJECTED).partition(_REFERENCED)[0].strip()

    def _author(self, record: QwenRecord) -> Author:
        if self.is_sub_agent:
            return "agent"
        by_host = record.subtype in _HOSTS or record.provenance not in (None, "real_user")
        return "system" if by_host else "human"

    def _tell_answer(self, record: QwenRecord) -> None:
        at, parts = moment_of(record.timestamp), parts_of(record.message)
        self.dialogue.say("reasoning", thought_in(parts), at=at)
        self.dialogue.say("reply", said_in(parts), at=at)
        for ident, name, arguments in calls_in(parts):
            self.dialogue.call(ident, name, arguments, at=at)
        told = fields_of(record.usageMetadata)
        counts = tokens(
            prompt=told.get("promptTokenCount"),
            cached=told.get("cachedContentTokenCount"),
            candidates=told.get("candidatesTokenCount"),
            thoughts=told.get("thoughtsTokenCount"),
            tool=told.get("toolUsePromptTokenCount"),
            total=told.get("totalTokenCount"),
        )
        model = text_of(record.model) or text_of(self.noted.model)
        # The same in a copy of the session, so that it is counted once.
        self.dialogue.usage(record.uuid, model=model, at=at, **counts)

    def _tell_result(self, record: QwenRecord, answer: FunctionAnswer) -> None:
        told = fields_of(record.toolCallResult)
        ident = answer.ident or text_of(told.get("callId"))
        if ident is None:
            return
        shown = told.get("resultDisplay")
        output = answer.output or text_of(shown) or text_of(fields_of(shown).get("fileDiff"))
        exit_code = exit_code_of(answer.name, output)
        self.dialogue.result(
            ident,
            output,
            at=moment_of(record.timestamp),
            ok=False if exit_code else ENDED.get(text_of(told.get("status")) or "", answer.ok),
            exit_code=exit_code,
            duration_ms=whole_of(told.get("durationMs")),
        )

    def _tell_change(self, record: QwenRecord, *, names: bool) -> None:
        at, told = moment_of(record.timestamp), fields_of(record.systemPayload)
        match record.subtype:
            case "chat_compression":
                self.dialogue.say("compaction", None, at=at)
            case "custom_title" if names:
                self.dialogue.facts(title=text_of(told.get("customTitle")))
            case "parent_session":
                self.dialogue.facts(parent=text_of(told.get("parentSessionId")))
            case "session_source":
                self._learn(source_type=text_of(told.get("sourceType")))
            case "session_model":
                model, auth = text_of(told.get("modelId")), text_of(told.get("authType"))
                self._learn(model=model, auth_type=auth)
            case "turn_result":
                self._tell_end(told, at)
            case "ui_telemetry":
                # It repeats calls and tokens; that a request failed stands
                # nowhere else in older versions.
                self._tell_error(fields_of(told.get("uiEvent")).get("error_message"), at)
            case subtype if subtype != "custom_title" and text_of(subtype) not in _PASSED_OVER:
                self.problems.unknown("system record", subtype)

    def _learn(self, **meta: str | None) -> None:
        self.dialogue.facts(meta=non_empty(meta) or None)

    def _tell_end(self, told: Fields, at: int | None) -> None:
        """How a turn ended."""
        state, reason = text_of(told.get("state")), text_of(told.get("stopReason"))
        began, ended = moment_of(told.get("startedAt")), moment_of(told.get("endedAt"))
        telemetry = non_empty({"state": state, "stop_reason": reason})
        if began is not None and ended is not None:
            telemetry["duration_ms"] = ended - began
        self.dialogue.learn(telemetry=telemetry)
        if state == "cancelled":
            self.dialogue.say("abort", None, at=at)
        self._tell_error(fields_of(told.get("error")).get("message"), at)

    def _tell_error(self, message: object, at: int | None) -> None:
        text = text_of(message)
        if text and text != self.told_error:
            self.dialogue.say("error", text, at=at)
        self.told_error = text or self.told_error

    def _meta(self) -> _AgentNote:
        for companion in self.source.companions:
            try:
                return read_json(companion, _AgentNote, limit=_META_BYTES)
            except (BrokenDocument, UnreadableSource):
                continue
        return _AgentNote()
