"""A chat of VS Code on its way to items: each request is a turn."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from hashlib import sha256
from operator import itemgetter
from typing import Any

from recollect.capture.adapters.vscode_copilot_chat.records import (
    CopilotChatLog,
    CopilotChatOperation,
    snapshot,
)
from recollect.capture.adapters.vscode_copilot_chat.tools import (
    FIRST,
    INVOCATION,
    CopilotChatCall,
    CopilotChatPairs,
    CopilotChatRequestedCall,
    join_call,
    pair_calls,
    plain_id,
    requested_calls,
    sentence,
    uri_path,
)
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.editors import file_path, workspace_folder
from recollect.capture.logs.folders import name_in_text
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import (
    Fields,
    count_of,
    fields_of,
    first_text,
    list_of,
    moment_of,
    money_of,
    non_empty,
    objects_of,
    text_of,
    whole_of,
)
from recollect.model.logs import Author, Item, Source

CHATS = "chatSessions"
# Chats of windows without a folder, and those that move to another window.
ELSEWHERE = ("emptyWindowChatSessions", "transferredChatSessions")
# Shown for a moment, or only of use on the screen.
_PASSED_OVER = frozenset(
    ("autoModeResolution", "clearToPreviousToolInvocation", "codeCitation", "codeblockUri",
    "command", "confirmation",
     "disabledClaudeHooks", "elicitation", "elicitation2", "elicitationSerialized", "extensions",
     "externalEdit", "hook", "info",
     "mcpServersStarting", "move", "multiDiffData", "planReview", "prepareToolInvocation",
     "progressMessage", "progressTask",
     "progressTaskSerialized", "pullRequest", "questionCarousel", "reference", "references",
     "treeData", "undoStop",
     "usedContext", "warning", "workspaceEdit"),
)  # fmt: skip
_WORDS = (None, "markdownContent", "markdownVuln", "inlineReference")
_EDITS = ("textEditGroup", "notebookEditGroup")
_CANCELLED, _FAILED = 2, 3
_MOST_ATTACHMENTS = 20


def session_of(chat: Fields, fallback: str | None) -> str:
    """The chat's id; an export has none and is known by what it begins with."""
    known = text_of(chat.get("sessionId")) or fallback
    if known:
        return known
    first = next(iter(objects_of(chat.get("requests"))), {})
    beginning = f"{first.get('requestId')} {first.get('timestamp')} {_prompt(first)}"
    return f"export-{sha256(beginning.encode('utf-8', 'replace')).hexdigest()[:16]}"


class CopilotChatReader:
    """Makes items of one file, a log of operations or a document."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems = ProblemCounter(source.path)
        self.log = CopilotChatLog(self.problems)

    def take(self, record: CopilotChatOperation | Fields) -> None:
        """An operation of the log; or the document, which holds what the snapshot of a log does."""
        self.log.apply(record if isinstance(record, CopilotChatOperation) else snapshot(record))

    def items(self) -> Iterator[Item]:
        """Everything the file tells.

        Nothing when it is that of a window that was opened and closed again.
        """
        chat = self.log.chat
        requests = list(_in_order(objects_of(chat.get("requests")), self.log.taken_back()))
        if requests:
            folders = map(workspace_folder, self.source.companions)
            turns = _ChatTurns(session_of(chat, _named(self.source.path)), self.problems)
            turns.introduce(chat, next(filter(None, folders), None))
            for number, (request, live) in enumerate(requests):
                turns.take(request, number, live=live)
            yield from turns.items
        yield from self.problems.drain()


def _in_order(requests: list[Fields], taken_back: list[Fields]) -> Iterator[tuple[Fields, bool]]:
    """All requests, and whether they are live; those taken back stand where they were."""
    dated = [(moment_of(request.get("timestamp")), request) for request in taken_back]
    timed = [(at, request) for at, request in dated if at is not None]
    waiting = deque(sorted(timed, key=itemgetter(0)))
    for request in requests:
        asked_at = moment_of(request.get("timestamp"))
        while asked_at is not None and waiting and waiting[0][0] < asked_at:
            yield waiting.popleft()[1], False
        yield request, True
    yield from ((request, False) for _, request in waiting)
    yield from ((request, False) for at, request in dated if at is None)


class _ChatTurns:
    """Makes items of a chat's requests."""

    def __init__(self, session: str, problems: ProblemCounter) -> None:
        self.problems = problems
        self.items: list[Item] = []
        self.dialogue = self._dialogue(session)
        self.cwd: str | None = None
        self.agents: dict[str, Dialogue] = {}
        self.started: str | None = None
        # What sub-agents came to, which is told with the call that started them
        # and happened after all they did.
        self.answers: list[tuple[Dialogue, str | None]] = []

    def _dialogue(self, session: str) -> Dialogue:
        dialogue = Dialogue(session)
        dialogue.items = self.items
        return dialogue

    def introduce(self, chat: Fields, cwd: str | None) -> None:
        """What is known of the chat as a whole."""
        requests = objects_of(chat.get("requests"))
        versions = [
            text_of(fields_of(request.get("agent")).get("extensionVersion")) for request in requests
        ]
        repository = fields_of(chat.get("repoData"))
        mode = fields_of(fields_of(chat.get("inputState")).get("mode"))
        mode = mode or fields_of(chat.get("mode"))
        meta = {
            "responder": text_of(chat.get("responderUsername")),
            "location": text_of(chat.get("initialLocation")),
            "mode": text_of(mode.get("id")),
        }
        self.cwd = cwd or file_path(chat.get("workingDirectory")) or _base(requests)
        self.dialogue.facts(
            whole=True,
            origin="interactive",
            cwd=self.cwd,
            title=text_of(chat.get("customTitle")),
            started_at=moment_of(chat.get("creationDate")),
            agent_version=next((version for version in reversed(versions) if version), None),
            git_branch=text_of(repository.get("localBranch")),
            git_sha=text_of(repository.get("localHeadCommit")),
            git_remote=text_of(repository.get("remoteUrl")),
            meta=non_empty(meta) or None,
        )

    def take(self, request: Fields, number: int, *, live: bool) -> None:
        """One turn."""
        # Ids are those of no other chat, so that a copy in an export is known; before
        # there were any, the place has to do.
        key = text_of(request.get("requestId")) or f"{self.dialogue.session}/request-{number}"
        at = moment_of(request.get("timestamp"))
        clicked = text_of(request.get("confirmation")) is not None
        author: Author = "system" if clicked else "human"
        self.dialogue.begin(key, at=at, author=author, telemetry=_telemetry(request) or None)
        self.dialogue.say("prompt", _prompt(request), at=at)
        self._answer(request)
        self._count(request, key, at)
        if not live or request.get("isHidden") is True or request.get("shouldBeRemovedOnSend"):
            self.dialogue.undo(key)

    # The answer

    def _answer(self, request: Fields) -> None:
        result, state = fields_of(request.get("result")), fields_of(request.get("modelState"))
        metadata = fields_of(result.get("metadata"))
        asked_calls = requested_calls(
            objects_of(metadata.get("toolCallRounds")), fields_of(metadata.get("toolCallResults"))
        )
        parts = _without_fences(_parts(request.get("response")))
        self._tell_parts(parts, pair_calls(parts, asked_calls), moment_of(state.get("completedAt")))
        error = fields_of(result.get("errorDetails"))
        self._tell_end(request, error or fields_of(request.get("responseErrorDetails")), state)

    def _tell_parts(
        self, parts: list[Fields], pairs: CopilotChatPairs, ended_at: int | None
    ) -> None:
        """What was shown, in order; words that follow each other are one reply."""
        words: list[str] = []
        # Changes are told once more beside the tool that made them.
        invocations = [part for part in parts if part.get("kind") == INVOCATION]
        edits = any(join_call(part, None).kind == "edit" for part in invocations)
        self._tell_hidden(pairs, FIRST)
        for number, part in enumerate(parts):
            kind = part.get("kind")
            if kind in _WORDS:
                words.append(_words(part))
                continue
            if kind in ("thinking", INVOCATION, *_EDITS):
                self._flush(words)
            if kind == "thinking":
                self.dialogue.say("reasoning", _thought(part.get("value")))
            elif kind == INVOCATION:
                if number not in pairs.inner:
                    self._invoke(part, pairs.shown.get(number))
                self._tell_hidden(pairs, number)
            elif kind in _EDITS:
                if not edits:
                    self._edit(part)
            elif not isinstance(kind, str) or kind not in _PASSED_OVER:
                self.problems.unknown("response part", kind)
        for agent, answer in self.answers:
            agent.say("reply", answer)
        self.answers.clear()
        self._flush(words, ended_at)

    def _tell_hidden(self, pairs: CopilotChatPairs, after: int) -> None:
        for asked in pairs.hidden.get(after, ()):
            self._call(self.dialogue, join_call(None, asked))

    def _flush(self, words: list[str], at: int | None = None) -> None:
        self.dialogue.say("reply", "".join(words).strip(), at=at)
        words.clear()

    def _invoke(self, part: Fields, asked: CopilotChatRequestedCall | None) -> None:
        call = plain_id(part.get("toolCallId"))
        known = join_call(part, asked)
        # At first a call only said that it was a sub-agent's; it was that
        # of the one that had started last.
        helper = text_of(part.get("subAgentInvocationId"))
        if helper is None and part.get("fromSubAgent") is True:
            helper = self.started
        if known.kind == "task" and call and helper in (None, call):
            self._call(self.dialogue, known)
            task = {
                "result": known.output,
                **fields_of(known.given),
                **fields_of(part.get("toolSpecificData")),
            }
            self._agent(call, task)
            self.started = call
        elif helper:
            self._call(self._agent(helper, {}), known)
        elif not _is_cleared_list(part, asked):
            self._call(self.dialogue, known)

    def _agent(self, name: str, task: Fields) -> Dialogue:
        """The session of a sub-agent; what it was asked is told with the call that started it."""
        agent = self.agents.get(name)
        if agent is None:
            agent = self.agents[name] = self._dialogue(f"{self.dialogue.session}/{name}")
            agent.facts(parent=self.dialogue.session, origin="subagent", cwd=self.cwd)
            agent.begin(name, author="agent")
        if task:
            called = text_of(task.get("agentName"))
            meta = {"agent": called} if called else None
            agent.facts(title=text_of(task.get("description")), meta=meta)
            agent.say("prompt", text_of(task.get("prompt")))
            self.answers.append((agent, text_of(task.get("result"))))
        return agent

    def _call(self, dialogue: Dialogue, known: CopilotChatCall) -> None:
        dialogue.call(
            known.call,
            known.name,
            known.given,
            at=known.at,
            kind=known.kind,
            target=known.target,
            output=known.output,
            ok=known.ok,
            exit_code=known.exit_code,
            duration_ms=known.duration_ms,
        )

    def _edit(self, part: Fields) -> None:
        """Changes that were made without a tool, as chats did before they had some."""
        path = uri_path(part.get("uri"))
        if path is None:
            return
        changes: list[Fields] = []
        for group in list_of(part.get("edits")):
            changes += objects_of(group) or [fields_of(group)]
        texts = [text_of(edit.get("text")) for edit in changes]
        given = {"path": path, "content": "\n".join(filter(None, texts))}
        self.dialogue.call(None, str(part["kind"]), given, kind="edit", target=path, ok=True)

    def _tell_end(self, request: Fields, error: Fields, state: Fields) -> None:
        # Before there were codes, a sentence said so.
        stopped = error.get("code") == "canceled" or error.get("message") == "Canceled"
        cancelled = request.get("isCanceled") is True or state.get("value") == _CANCELLED or stopped
        if cancelled:
            self.dialogue.say("abort", "")
        elif error:
            reason = first_text(error.get("message"), error.get("code"))
            self.dialogue.say("error", reason or "failed")
        elif state.get("value") == _FAILED:
            self.dialogue.say("error", "failed")

    # What it cost

    def _count(self, request: Fields, key: str, at: int | None) -> None:
        totals = objects_of(request.get("modelTotals"))
        for number, total in enumerate(totals):
            model, cached = text_of(total.get("model")), count_of(total.get("cachedTokens"))
            self.dialogue.usage(
                f"{key}/{model}" if number else key,
                model=model,
                at=at,
                cache_read=cached,
                input=max(0, count_of(total.get("inputTokens")) - cached),
                output=count_of(total.get("outputTokens")),
            )
        if not totals:
            self._count_last(request, key, at)

    def _count_last(self, request: Fields, key: str, at: int | None) -> None:
        """What older versions tell: input of the last model call, output of it or of all."""
        result = fields_of(request.get("result"))
        metadata = fields_of(result.get("metadata"))
        places = [fields_of(result.get("usage")), fields_of(request.get("usage")), request]
        read = [metadata.get("promptTokens"), *(place.get("promptTokens") for place in places)]
        written = [
            metadata.get("outputTokens"),
            *(place.get("completionTokens") for place in places),
        ]
        self.dialogue.usage(
            key,
            model=_model(request),
            at=at,
            input=max(map(count_of, read)),
            output=max(map(count_of, written)),
        )


def _is_cleared_list(part: Fields, asked: CopilotChatRequestedCall | None) -> bool:
    """Whether VS Code itself emptied the list of things to do, as it does when a request begins."""
    specific = fields_of(part.get("toolSpecificData"))
    return asked is None and specific.get("kind") == "todoList" and not specific.get("todoList")


def _prompt(request: Fields) -> str:
    message = request.get("message")
    return (text_of(fields_of(message).get("text")) or text_of(message) or "").strip()


def _base(requests: list[Fields]) -> str | None:
    """The folder that links in the answers begin at; an export tells no other."""
    for request in requests:
        for part in objects_of(request.get("response")):
            if path := uri_path(part.get("baseUri")):
                return path.rstrip("/\\") or path
    return None


def _telemetry(request: Fields) -> dict[str, Any]:
    result = fields_of(request.get("result"))
    timings, mode = fields_of(result.get("timings")), fields_of(request.get("modeInfo"))
    variables = objects_of(fields_of(request.get("variableData")).get("variables"))
    attached = [name for variable in variables if (name := text_of(variable.get("name")))]
    known = {
        "model": _plain_model(request.get("modelId")) or _model(request),
        "participant": text_of(fields_of(request.get("agent")).get("id")),
        "mode": text_of(mode.get("modeId")) or text_of(mode.get("kind")),
        "duration_ms": whole_of(timings.get("totalElapsed")) or whole_of(request.get("elapsedMs")),
        "first_words_ms": whole_of(timings.get("firstProgress")),
        "billing": text_of(result.get("details")),
        "copilot_credits": money_of(request.get("copilotCredits")),
        "attachments": attached[:_MOST_ATTACHMENTS],
    }
    return non_empty(known)


def _model(request: Fields) -> str | None:
    """The model that answered.

    When the request left the choice to VS Code ("auto"), others tell which one it was.
    """
    metadata = fields_of(fields_of(request.get("result")).get("metadata"))
    parts = objects_of(request.get("response"))
    resolved = [part for part in parts if part.get("kind") == "autoModeResolution"]
    rounds = objects_of(metadata.get("toolCallRounds"))
    names = [metadata.get("resolvedModel"), request.get("modelId")]
    names += [part.get("resolvedModel") for part in resolved[-1:]]
    names += [one.get("modelId") for one in rounds[-1:]]
    return next(filter(None, map(_plain_model, names)), None)


def _plain_model(value: object) -> str | None:
    """A model without the one who provides it."""
    name = (text_of(value) or "").rpartition("/")[2]
    return name if name and name != "auto" else None


def _parts(response: object) -> list[Fields]:
    if isinstance(response, str):
        return [{"value": response}]
    parts = [part for part in list_of(response) if isinstance(part, (str, dict))]
    return [{"value": part} if isinstance(part, str) else part for part in parts]


def _without_fences(parts: list[Fields]) -> list[Fields]:
    """What was shown without the fences around an edit, between which there is nothing to read."""
    seen = [part for part in parts if part.get("kind") != "undoStop"]
    kinds = [None, *(part.get("kind") for part in seen), None]
    shown = []
    for part, before, after in zip(seen, kinds, kinds[2:], strict=False):
        beside_edit = before in _EDITS or after == "codeblockUri"
        if part.get("kind") or not beside_edit or _words(part).strip() != "```":
            shown.append(part)
    return shown


def _words(part: Fields) -> str:
    if part.get("kind") == "inlineReference":
        return _reference(part)
    return (
        sentence(part.get("value"))
        or sentence(part.get("content"))
        or sentence(fields_of(part.get("content")).get("value"))
    )


def _reference(part: Fields) -> str:
    target = fields_of(part.get("inlineReference"))
    uris = (target.get("uri"), fields_of(target.get("location")).get("uri"), target)
    path = next(filter(None, map(uri_path, uris)), None)
    name = first_text(part.get("name"), target.get("name"))
    name = name or re.split(r"[/\\]", (path or "").rstrip("/\\"))[-1]
    return f"`{name}`" if name else ""


def _thought(value: object) -> str:
    if isinstance(value, str):
        return value
    return "\n".join(piece for piece in list_of(value) if isinstance(piece, str))


def _named(path: str) -> str | None:
    """The chat that a path names; an exported one is called anything."""
    within = os.path.basename(os.path.dirname(path))
    return name_in_text(path).rpartition(".")[0] if within == CHATS or within in ELSEWHERE else None
