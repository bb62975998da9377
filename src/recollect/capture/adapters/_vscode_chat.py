"""A chat of VS Code, once it is one object: each request is a turn."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import Any

from recollect.capture.adapters._vscode_tools import Told, Wish, plain_id, sentence, told, wishes_of
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.editors import file_path
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.values import Fields, count_of, fields_of, list_of, moment_of, objects_of, text_of, whole_of
from recollect.model import Item

# Shown for a moment, or only of use on the screen.
_PASSED_OVER = frozenset(
    ("autoModeResolution", "clearToPreviousToolInvocation", "codeCitation", "codeblockUri", "command", "confirmation",
     "disabledClaudeHooks", "elicitation", "elicitation2", "elicitationSerialized", "extensions", "externalEdit", "hook", "info",
     "mcpServersStarting", "move", "multiDiffData", "planReview", "prepareToolInvocation", "progressMessage", "progressTask",
     "progressTaskSerialized", "pullRequest", "questionCarousel", "reference", "references", "treeData", "undoStop",
     "usedContext", "warning", "workspaceEdit"),
)  # fmt: skip
_INVOCATION = "toolInvocationSerialized"
_WORDS = (None, "markdownContent", "markdownVuln", "inlineReference")
_EDITS = ("textEditGroup", "notebookEditGroup")
_CANCELLED, _FAILED = 2, 3
_MOST_ATTACHMENTS = 20


def session_of(chat: Fields, fallback: str | None) -> str:
    """The chat's id. An export has none: then what it begins with tells it from others, also in a longer export of it."""
    known = text_of(chat.get("sessionId")) or fallback
    if known:
        return known
    first = next(iter(objects_of(chat.get("requests"))), {})
    beginning = f"{first.get('requestId')} {first.get('timestamp')} {_prompt(first)}"
    return f"export-{sha256(beginning.encode('utf-8', 'replace')).hexdigest()[:16]}"


class Chat:
    """Makes items of a chat's requests."""

    def __init__(self, session: str, odd: Oddities) -> None:
        self.odd = odd
        self.items: list[Item] = []
        self.talk = self._dialogue(session)
        self.cwd: str | None = None
        self.agents: dict[str, Dialogue] = {}
        # What sub-agents came to, which is told with the call that started them and happened after all they did.
        self.answers: list[tuple[Dialogue, str | None]] = []

    def _dialogue(self, session: str) -> Dialogue:
        dialogue = Dialogue(session)
        dialogue.items = self.items
        return dialogue

    def introduce(self, chat: Fields, cwd: str | None) -> None:
        """What is known of the chat as a whole."""
        requests = objects_of(chat.get("requests"))
        versions = [text_of(fields_of(request.get("agent")).get("extensionVersion")) for request in requests]
        repository = fields_of(chat.get("repoData"))
        mode = fields_of(fields_of(chat.get("inputState")).get("mode")) or fields_of(chat.get("mode"))
        meta = {
            "responder": text_of(chat.get("responderUsername")),
            "location": text_of(chat.get("initialLocation")),
            "mode": text_of(mode.get("id")),
        }
        self.cwd = cwd or file_path(chat.get("workingDirectory"))
        self.talk.facts(
            origin="interactive",
            cwd=self.cwd,
            title=text_of(chat.get("customTitle")),
            started_at=moment_of(chat.get("creationDate")),
            agent_version=next((version for version in reversed(versions) if version), None),
            git_branch=text_of(repository.get("localBranch")),
            git_sha=text_of(repository.get("localHeadCommit")),
            git_remote=text_of(repository.get("remoteUrl")),
            meta={name: value for name, value in meta.items() if value} or None,
        )

    def take(self, request: Fields, number: int, *, live: bool) -> None:
        """One turn."""
        key = text_of(request.get("requestId")) or f"request-{number}"
        at = moment_of(request.get("timestamp"))
        clicked = text_of(request.get("confirmation")) is not None
        self.talk.begin(key, at=at, author="system" if clicked else "human", telemetry=_telemetry(request) or None)
        self.talk.say("prompt", _prompt(request), at=at)
        self._answer(request)
        self._count(request, key, at)
        if not live or request.get("isHidden") is True or request.get("shouldBeRemovedOnSend"):
            self.talk.undo(key)

    # The answer

    def _answer(self, request: Fields) -> None:
        result, state = fields_of(request.get("result")), fields_of(request.get("modelState"))
        metadata = fields_of(result.get("metadata"))
        rounds = objects_of(metadata.get("toolCallRounds"))
        results = fields_of(metadata.get("toolCallResults"))
        wishes = [wishes_of(one.get("toolCalls"), results) for one in rounds]
        parts = _parts(request.get("response"))
        shown = {plain_id(part.get("toolCallId")) for part in parts if part.get("kind") == _INVOCATION}
        wished = {wish.call: wish for calls in wishes for wish in calls}
        if wished and not wished.keys() & shown:
            # Older versions gave the calls other ids on the screen: then the model's side tells more.
            self._tell_rounds(rounds, wishes)
            parts, wished = _last_words(parts, rounds), {}
        hidden = [wish for call, wish in wished.items() if call not in shown]
        self._tell_parts(parts, wished, hidden, moment_of(state.get("completedAt")))
        self._tell_end(request, fields_of(result.get("errorDetails")) or fields_of(request.get("responseErrorDetails")), state)

    def _tell_rounds(self, rounds: list[Fields], wishes: list[list[Wish]]) -> None:
        for one, calls in zip(rounds, wishes, strict=True):
            at = moment_of(one.get("timestamp"))
            self.talk.say("reasoning", _thought(fields_of(one.get("thinking")).get("text")), at=at)
            self.talk.say("reply", text_of(one.get("response")), at=at)
            for wish in calls:
                self._call(self.talk, told(None, wish), at)

    def _tell_parts(self, parts: list[Fields], wished: dict[str, Wish], hidden: list[Wish], ended_at: int | None) -> None:
        """What was shown, in order; words that follow each other are one reply."""
        words: list[str] = []
        # Changes are told once more beside the tool that made them.
        edits = any(told(part, None).kind == "edit" for part in parts if part.get("kind") == _INVOCATION)
        for part in parts:
            kind = part.get("kind")
            if kind in _WORDS:
                words.append(_words(part))
                continue
            if kind in ("thinking", _INVOCATION, *_EDITS):
                self._flush(words)
            if kind == "thinking":
                self.talk.say("reasoning", _thought(part.get("value")))
            elif kind == _INVOCATION:
                self._invoke(part, wished)
            elif kind in _EDITS:
                if not edits:
                    self._edit(part)
            elif not isinstance(kind, str) or kind not in _PASSED_OVER:
                self.odd.unknown("response part", kind)
        for wish in hidden:
            self._call(self.talk, told(None, wish))
        for agent, answer in self.answers:
            agent.say("reply", answer)
        self.answers.clear()
        self._flush(words, ended_at)

    def _flush(self, words: list[str], at: int | None = None) -> None:
        self.talk.say("reply", "".join(words).strip(), at=at)
        words.clear()

    def _invoke(self, part: Fields, wished: dict[str, Wish]) -> None:
        call = plain_id(part.get("toolCallId"))
        known = told(part, wished.get(call or ""))
        helper = text_of(part.get("subAgentInvocationId"))
        specific = fields_of(part.get("toolSpecificData"))
        if specific.get("kind") == "subagent" and call and helper in (None, call):
            self._call(self.talk, known)
            self._agent(call, specific)
        elif helper:
            self._call(self._agent(helper, {}), known)
        else:
            self._call(self.talk, known)

    def _agent(self, name: str, specific: Fields) -> Dialogue:
        """The session of a sub-agent; what it was asked is told with the call that started it."""
        agent = self.agents.get(name)
        if agent is None:
            agent = self.agents[name] = self._dialogue(f"{self.talk.session}/{name}")
            agent.facts(parent=self.talk.session, origin="subagent", cwd=self.cwd)
            agent.begin(name, author="agent")
        if specific:
            called = text_of(specific.get("agentName"))
            agent.facts(title=text_of(specific.get("description")), meta={"agent": called} if called else None)
            agent.say("prompt", text_of(specific.get("prompt")))
            self.answers.append((agent, text_of(specific.get("result"))))
        return agent

    def _call(self, dialogue: Dialogue, known: Told, at: int | None = None) -> None:
        dialogue.call(
            known.call, known.name, known.given, at=at, kind=known.kind, target=known.target, output=known.output, ok=known.ok,
            exit_code=known.exit_code, duration_ms=known.duration_ms,
        )  # fmt: skip

    def _edit(self, part: Fields) -> None:
        """Changes that were made without a tool, as chats did before they had some."""
        path = _uri_path(part.get("uri"))
        if path is None:
            return
        changes = [edit for group in list_of(part.get("edits")) for edit in (objects_of(group) or [fields_of(group)])]
        content = "\n".join(text for edit in changes if (text := text_of(edit.get("text"))))
        self.talk.call(None, str(part["kind"]), {"path": path, "content": content}, kind="edit", target=path, ok=True)

    def _tell_end(self, request: Fields, error: Fields, state: Fields) -> None:
        cancelled = request.get("isCanceled") is True or state.get("value") == _CANCELLED or error.get("code") == "canceled"
        if cancelled:
            self.talk.say("abort", "")
        elif error:
            self.talk.say("error", text_of(error.get("message")) or text_of(error.get("code")) or "failed")
        elif state.get("value") == _FAILED:
            self.talk.say("error", "failed")

    # What it cost

    def _count(self, request: Fields, key: str, at: int | None) -> None:
        metadata = fields_of(fields_of(request.get("result")).get("metadata"))
        usage = fields_of(request.get("usage"))
        # Requests have ids that no other chat has; a copy of one in an export is counted once.
        name = key if text_of(request.get("requestId")) else f"{self.talk.session}/{key}"
        self.talk.usage(
            name,
            model=text_of(metadata.get("resolvedModel")) or _model(request.get("modelId")),
            at=at,
            input=count_of(metadata.get("promptTokens")) or count_of(usage.get("promptTokens")),
            output=count_of(metadata.get("outputTokens"))
            or count_of(usage.get("completionTokens"))
            or count_of(request.get("completionTokens")),
        )


def _prompt(request: Fields) -> str:
    message = request.get("message")
    return (text_of(fields_of(message).get("text")) or text_of(message) or "").strip()


def _telemetry(request: Fields) -> dict[str, Any]:
    result = fields_of(request.get("result"))
    timings, mode = fields_of(result.get("timings")), fields_of(request.get("modeInfo"))
    variables = objects_of(fields_of(request.get("variableData")).get("variables"))
    attached = [name for variable in variables if (name := text_of(variable.get("name")))]
    known = {
        "model": _model(request.get("modelId")),
        "participant": text_of(fields_of(request.get("agent")).get("id")),
        "mode": text_of(mode.get("modeId")) or text_of(mode.get("kind")),
        "duration_ms": whole_of(timings.get("totalElapsed")),
        "first_words_ms": whole_of(timings.get("firstProgress")),
        "billing": text_of(result.get("details")),
        "attachments": attached[:_MOST_ATTACHMENTS],
    }
    return {name: value for name, value in known.items() if value}


def _model(value: object) -> str | None:
    """A model without the one who provides it; which one "auto" came to is not told."""
    name = (text_of(value) or "").rpartition("/")[2]
    return name if name and name != "auto" else None


def _parts(response: object) -> list[Fields]:
    if isinstance(response, str):
        return [{"value": response}]
    return [{"value": part} if isinstance(part, str) else part for part in list_of(response) if isinstance(part, (str, dict))]


def _last_words(parts: list[Fields], rounds: list[Fields]) -> list[Fields]:
    """What was shown after the last call, unless the last round says it."""
    calls = [number for number, part in enumerate(parts) if part.get("kind") == _INVOCATION]
    rest = [part for part in (parts[calls[-1] + 1 :] if calls else parts) if part.get("kind") in _WORDS]
    shown = "".join(_words(part) for part in rest).strip()
    said = (text_of(rounds[-1].get("response")) or "").strip() if rounds else ""
    return [] if shown in said or (said and said in shown) else rest


def _words(part: Fields) -> str:
    if part.get("kind") == "inlineReference":
        return _reference(part)
    return sentence(part.get("value")) or sentence(part.get("content")) or sentence(fields_of(part.get("content")).get("value"))


def _reference(part: Fields) -> str:
    target = fields_of(part.get("inlineReference"))
    path = _uri_path(target.get("uri")) or _uri_path(fields_of(target.get("location")).get("uri")) or _uri_path(target)
    name = text_of(part.get("name")) or text_of(target.get("name")) or os.path.basename(path or "")
    return f"`{name}`" if name else ""


def _uri_path(uri: object) -> str | None:
    parts = fields_of(uri)
    return text_of(parts.get("fsPath")) or text_of(parts.get("path")) or file_path(uri)


def _thought(value: object) -> str:
    return value if isinstance(value, str) else "\n".join(piece for piece in list_of(value) if isinstance(piece, str))
