"""The events of one Copilot CLI session, made into items."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from recollect.capture.adapters.copilot_cli.documents import tell_document
from recollect.capture.adapters.copilot_cli.prompts import typed
from recollect.capture.adapters.copilot_cli.records import PASSED_OVER, CopilotEvent, id_of
from recollect.capture.adapters.copilot_cli.session import (
    CopilotSessions,
    CopilotSpeaker,
    CopilotState,
    hash_of,
)
from recollect.capture.adapters.copilot_cli.tokens import UsageCounts, counts_of
from recollect.capture.adapters.copilot_cli.tools import called, outcome
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import (
    Fields,
    count_of,
    fields_of,
    moment_of,
    non_empty,
    objects_of,
    text_of,
    whole_of,
)
from recollect.model.logs import Author, Item

_MOST_TURNS = 200
_STATE_BYTES = 64 << 10
_LONGEST_PATH_BYTES = 4096

# The first versions name the folder only here.
_TRUSTED = re.compile(r"^Folder (.+) has been added to trusted folders")
_HOSTS = {"github": "github.com"}


class CopilotReader:
    """Makes items of the events of one log."""

    def __init__(self, path: str, session: str, noted: Fields, state: CopilotState | None) -> None:
        self.path = path
        self.state = state or CopilotState(session=session)
        self.noted = noted
        self.problems = ProblemCounter(path)
        self.sessions = CopilotSessions(self.state)
        self.main = self.sessions.main

    def take(self, record: CopilotEvent) -> None:
        """One more event."""
        if not isinstance(record.type, str):
            self.problems.bad("a record without a type")
            return
        handle = _HANDLERS.get(record.type)
        if handle is not None:
            handle(self, record, fields_of(record.data), moment_of(record.timestamp))
        elif record.type not in PASSED_OVER:
            self.problems.unknown("record type", record.type)

    def drain(self) -> list[Item]:
        """The items since the last time, and what the file beside the log says of the session."""
        made = self.sessions.items
        if made and self.noted:
            # The log knows better where the work is done, if it says so.
            facts = self.noted if self.state.cwd is None else {"title": self.noted.get("title")}
            self.main.facts(**facts)
            self.noted = {}
        items = list(made)
        made.clear()
        return items

    def save(self) -> bytes:
        """The state; when it is too large, without what may never be asked for."""
        saved = msgspec.msgpack.encode(self.state)
        if len(saved) > _STATE_BYTES:
            self.sessions.forget()
            saved = msgspec.msgpack.encode(self.state)
        return saved

    # The session

    def start(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        if session := id_of(data.get("sessionId")):
            self.state.session = self.main.session = session
        spawning = id_of(data.get("detachedFromSpawningParentSessionId"))
        # Started by another session when that ended, to look back on it: nobody types there.
        self.state.detached = spawning is not None
        self.main.facts(
            started_at=moment_of(data.get("startTime")) or at,
            agent_version=text_of(data.get("copilotVersion")),
            parent=spawning,
            origin="headless" if spawning else None,
        )
        self.resume(record, data, at)

    def resume(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        self._choose(data.get("selectedModel"), data.get("reasoningEffort"))
        self.move(record, fields_of(data.get("context")), at)

    def move(self, record: CopilotEvent, context: Fields, at: int | None) -> None:
        """Where the work is done from now on."""
        facts = where(context)
        before, self.state.cwd = self.state.cwd, facts.get("cwd") or self.state.cwd
        known = None if "cwd" in facts else self.state.remote
        self.state.remote = facts.get("git_remote") or known
        if before:
            # A session is where it began; its turns say where it went.
            facts.pop("cwd", None)
        if facts:
            self.main.facts(**facts)

    def inform(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        trusted = _TRUSTED.match(_short(data.get("message")) or "")
        if trusted and self.state.cwd is None:
            self.state.cwd = trusted[1]
            self.main.facts(cwd=trusted[1])

    def change_model(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        self._choose(data.get("newModel") or data.get("chosenModel"), data.get("reasoningEffort"))

    def _choose(self, model: object, effort: object) -> None:
        name = id_of(model)
        if name:
            # Which model "auto" comes to is told by the messages.
            self.state.main.model = "" if name == "auto" else name
        if text_of(effort):
            self.main.facts(meta={"reasoning_effort": effort})

    def change_mode(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        if mode := text_of(data.get("newMode")):
            self.main.facts(meta={"mode": mode})

    def change_permissions(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        everything = "allow-all" if data.get("allowAllPermissions") is True else None
        if mode := text_of(data.get("mode")) or everything:
            self.main.facts(meta={"permission_mode": mode})

    def entitle(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        if title := text_of(data.get("title")):
            self.main.facts(title=title)

    def hand_off(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        if remote := text_of(data.get("remoteSessionId")):
            self.main.facts(meta={"remote_session": remote})

    def import_history(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        """A session of the first versions, taken over whole."""
        tell_document(self.main, fields_of(data.get("legacySession")), self.problems)

    # What was said

    def hear(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        """Somebody says something to the agent."""
        author = _author(text_of(data.get("source")), data.get("isAutopilotContinuation") is True)
        text = typed(text_of(data.get("content")) or "")
        if author is None or not text:
            return
        if author == "human" and self.state.detached:
            author = "system"
        dialogue, speaker = self.sessions.find(record, data, at)
        if dialogue is not self.main:
            self.sessions.tell_task(dialogue, speaker, id_of(record.id) or hash_of(text), text, at)
            return
        key = id_of(record.id) or id_of(data.get("interactionId")) or hash_of(f"{at} {text}")
        paths = [text_of(item.get("path")) for item in objects_of(data.get("attachments"))]
        files = [path for path in paths if path]
        told = {"mode": text_of(data.get("agentMode")), "attachments": files[:20]}
        telemetry = non_empty(told)
        dialogue.begin(
            key,
            at=at,
            author=author,
            cwd=self.state.cwd,
            git_remote=self.state.remote,
            telemetry=telemetry or None,
        )
        dialogue.say("prompt", text, at=at)
        self.state.turns = [*self.state.turns, key][-_MOST_TURNS:]

    def think(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        dialogue, speaker = self.sessions.find(record, data, at)
        self._thought(dialogue, speaker, text_of(data.get("content")), at)

    def _thought(
        self, dialogue: Dialogue, speaker: CopilotSpeaker, text: str | None, at: int | None
    ) -> None:
        if text and speaker.thought != hash_of(text):
            speaker.thought = hash_of(text)
            dialogue.say("reasoning", text, at=at)

    def answer(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        """The model's message: thoughts, words, and the calls it wishes for."""
        dialogue, speaker = self.sessions.find(record, data, at)
        self._thought(dialogue, speaker, text_of(data.get("reasoningText")), at)
        dialogue.say("reply", text_of(data.get("content")), at=at)
        for request in objects_of(data.get("toolRequests")):
            self._call(dialogue, request, text_of(request.get("name")), at)
        self._count_message(dialogue, speaker, record, data, at)

    def _count_message(
        self,
        dialogue: Dialogue,
        speaker: CopilotSpeaker,
        record: CopilotEvent,
        data: Fields,
        at: int | None,
    ) -> None:
        output = count_of(data.get("outputTokens"))
        speaker.model = model = id_of(data.get("model")) or speaker.model
        key = id_of(data.get("messageId")) or id_of(record.id)
        if not output or key is None or self.state.totals.recorded:
            return
        # A call's answer may come as several messages, each with the tokens of the whole.
        of_call = id_of(data.get("apiCallId")) if "chunkCount" in data else None
        counted = 0
        if of_call and speaker.parts[0] == of_call:
            _, key, counted = speaker.parts
        speaker.parts = (of_call or "", key, max(output, counted))
        self.state.totals.add(model, [0, 0, 0, max(0, output - counted), 0])
        dialogue.usage(key, model=model or None, at=at, output=output)

    # What was done

    def request(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        """A tool begins, or a person asks for one: a call, unless a message told it before."""
        dialogue, speaker = self.sessions.find(record, data, at)
        speaker.model = id_of(data.get("model")) or speaker.model
        self._call(dialogue, data, text_of(data.get("toolName")), at)

    def _call(self, dialogue: Dialogue, data: Fields, name: str | None, at: int | None) -> None:
        call = id_of(data.get("toolCallId"))
        if name is None or self.sessions.of_call(call) is not None:
            return
        made = called(name, data.get("arguments"), data.get("mcpServerName"))
        task = text_of(fields_of(made.given).get("prompt"))
        if made.kind == "task" and call and task:
            self.sessions.expect(call, task)
        dialogue.call(call, made.name, made.given, at=at, kind=made.kind, target=made.target)

    def complete(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        _, speaker = self.sessions.find(record, data, at)
        speaker.model = id_of(data.get("model")) or speaker.model
        call = id_of(data.get("toolCallId"))
        dialogue = self.sessions.of_call(call)
        if call is None or dialogue is None:
            self.problems.bad("the result of a tool call that is not in the log")
            return
        came = outcome(data)
        dialogue.result(
            call,
            came.output,
            at=at,
            ok=came.ok,
            exit_code=came.exit_code,
            duration_ms=came.duration_ms,
        )

    def fail(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        dialogue, _ = self.sessions.find(record, data, at)
        dialogue.say("error", text_of(data.get("message")) or text_of(data.get("errorType")), at=at)

    def abort(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        dialogue, _ = self.sessions.find(record, data, at)
        dialogue.say("abort", text_of(data.get("reason")), at=at)

    def compact(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        dialogue, speaker = self.sessions.find(record, data, at)
        if data.get("success") is False:
            dialogue.say("error", text_of(data.get("error")) or "compaction failed", at=at)
            return
        dialogue.say("compaction", text_of(data.get("summaryContent")), at=at)
        used = fields_of(data.get("compactionTokensUsed"))
        counts, model = counts_of(used), id_of(used.get("model")) or speaker.model
        if record.id and any(counts) and not self.state.totals.recorded:
            self.state.totals.add(model, counts)
            self._use(dialogue, f"{id_of(record.id)}/compaction", model, counts, at)

    def rewind(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        """Early versions leave in the log what was taken back; later ones cut it off."""
        target = id_of(data.get("upToEventId"))
        if target in self.state.turns:
            first = self.state.turns.index(target)
            for turn in self.state.turns[first:]:
                self.main.undo(turn)
            del self.state.turns[first:]

    # Sub-agents

    def start_agent(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        call = id_of(data.get("toolCallId"))
        agent = id_of(record.agentId)
        if agent is None and call is None:
            return
        dialogue, speaker = self.sessions.agent(agent, call, at)
        speaker.model = id_of(data.get("model")) or speaker.model
        name = text_of(data.get("agentName"))
        meta = {"agent": name} if name else None
        dialogue.facts(title=text_of(data.get("agentDisplayName")), meta=meta)

    def end_agent(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        call = id_of(data.get("toolCallId"))
        agent = id_of(record.agentId)
        if agent is None and call is None:
            return
        dialogue, _ = self.sessions.agent(agent, call, at)
        told = {
            "duration_ms": whole_of(data.get("durationMs")),
            "tool_calls": whole_of(data.get("totalToolCalls")),
            "total_tokens": whole_of(data.get("totalTokens")),
            "cancelled": data.get("cancelled") is True,
        }
        telemetry = non_empty(told)
        if telemetry:
            dialogue.learn(telemetry=telemetry)
        dialogue.say("error", text_of(data.get("error")), at=at)

    # What it cost

    def count_call(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        """One call of a model, with all its figures."""
        used = fields_of(data.get("usage"))
        dialogue, speaker = self.sessions.find(record, used, at)
        counts, model = counts_of(used), id_of(used.get("model")) or speaker.model
        self.state.totals.recorded = True
        self.state.totals.add(model, counts)
        # The number of the call in its session. What the provider calls it is not always unique.
        accounted = fields_of(used.get("accounting"))
        session = id_of(accounted.get("sourceSessionId"))
        number = whole_of(accounted.get("sequence"))
        key = f"{session}/{number}" if session and number is not None else id_of(record.id)
        self._use(dialogue, key or f"{self.main.session}/{at}", model, counts, at)

    def note_bill(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        self.state.totals.checkpoint(data)
        if bill := self.state.totals.bill():
            self.main.facts(meta=bill)

    def end(self, record: CopilotEvent, data: Fields, at: int | None) -> None:
        own = id_of(record.id) or self.main.session
        for model, counts in self.state.totals.close(data).items():
            self._use(self.main, f"{own}/{model}", model, counts, at)
        changes = fields_of(data.get("codeChanges"))
        meta: dict[str, Any] = {
            "api_duration_ms": whole_of(data.get("totalApiDurationMs")),
            "lines_added": whole_of(changes.get("linesAdded")),
            "lines_removed": whole_of(changes.get("linesRemoved")),
        }
        meta = non_empty(meta) | self.state.totals.bill()
        if meta:
            self.main.facts(meta=meta)
        if data.get("shutdownType") == "error":
            self.main.say("error", text_of(data.get("errorReason")), at=at)

    def _use(
        self, dialogue: Dialogue, key: str, model: str, counts: UsageCounts, at: int | None
    ) -> None:
        input_, cache_read, cache_write, output, reasoning = counts
        dialogue.usage(
            key,
            model=model or None,
            at=at,
            input=input_,
            cache_read=cache_read,
            cache_write=cache_write,
            output=output,
            reasoning=reasoning,
        )


_HANDLERS = {
    "abort": CopilotReader.abort,
    "assistant.message": CopilotReader.answer,
    "assistant.reasoning": CopilotReader.think,
    "session.auto_mode_resolved": CopilotReader.change_model,
    "session.compaction_complete": CopilotReader.compact,
    "session.context_changed": CopilotReader.move,
    "session.error": CopilotReader.fail,
    "session.handoff": CopilotReader.hand_off,
    "session.import_legacy": CopilotReader.import_history,
    "session.info": CopilotReader.inform,
    "session.mode_changed": CopilotReader.change_mode,
    "session.model_change": CopilotReader.change_model,
    "session.permissions_changed": CopilotReader.change_permissions,
    "session.resume": CopilotReader.resume,
    "session.shutdown": CopilotReader.end,
    "session.snapshot_rewind": CopilotReader.rewind,
    "session.start": CopilotReader.start,
    "session.title_changed": CopilotReader.entitle,
    "session.usage_checkpoint": CopilotReader.note_bill,
    "session.usage_record": CopilotReader.count_call,
    "subagent.completed": CopilotReader.end_agent,
    "subagent.failed": CopilotReader.end_agent,
    "subagent.started": CopilotReader.start_agent,
    "tool.execution_complete": CopilotReader.complete,
    "tool.execution_start": CopilotReader.request,
    "tool.user_requested": CopilotReader.request,
    "user.message": CopilotReader.hear,
}


def where(context: Fields) -> dict[str, str]:
    """Folder and repository, as events and the file beside them say it."""
    repository = _short(context.get("repository"))
    usual = _HOSTS.get(text_of(context.get("hostType")) or "")
    host = _short(context.get("repositoryHost")) or usual
    facts = {
        "cwd": _short(context.get("cwd")),
        "git_branch": text_of(context.get("branch")),
        "git_sha": text_of(context.get("headCommit")),
        "git_remote": f"https://{host}/{repository}" if host and repository else None,
    }
    return non_empty(facts)


def _short(value: object) -> str | None:
    """A text that may be remembered: no path is longer than this, except in an attack."""
    text = text_of(value)
    return text if text and len(text.encode("utf-8", "replace")) <= _LONGEST_PATH_BYTES else None


def _author(source: str | None, continued: bool) -> Author | None:
    """Who speaks in a user message; None when it only adds to what another one said."""
    if continued:
        return "system"
    if source is None or source == "user":
        return "human"
    if source.startswith("agent"):
        return "agent"
    return "system" if source.startswith(("autopilot", "command", "schedule", "system")) else None
