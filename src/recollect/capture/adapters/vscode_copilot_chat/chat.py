"""A chat of VS Code, once it is one object: each request is a turn."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

from recollect.capture.adapters.vscode_copilot_chat.pairs import FIRST, INVOCATION, Pairs, paired
from recollect.capture.adapters.vscode_copilot_chat.tools import (
    Told,
    Wish,
    plain_id,
    sentence,
    told,
    uri_path,
    wishes_of,
)
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.editors import file_path
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.values import (
    Fields,
    count_of,
    fields_of,
    list_of,
    moment_of,
    money_of,
    objects_of,
    text_of,
    whole_of,
)
from recollect.model.logs import Item

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
    """The chat's id. An export has none: then what it begins with tells it from
    others, also in a longer export of it.
    """
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
        mode = fields_of(fields_of(chat.get("inputState")).get("mode")) or fields_of(
            chat.get("mode")
        )
        meta = {
            "responder": text_of(chat.get("responderUsername")),
            "location": text_of(chat.get("initialLocation")),
            "mode": text_of(mode.get("id")),
        }
        self.cwd = cwd or file_path(chat.get("workingDirectory")) or _base(requests)
        self.talk.facts(
            whole=True,
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
        # Ids are those of no other chat, so that a copy in an export is known; before
        # there were any, the place has to do.
        key = text_of(request.get("requestId")) or f"{self.talk.session}/request-{number}"
        at = moment_of(request.get("timestamp"))
        clicked = text_of(request.get("confirmation")) is not None
        self.talk.begin(
            key,
            at=at,
            author="system" if clicked else "human",
            telemetry=_telemetry(request) or None,
        )
        self.talk.say("prompt", _prompt(request), at=at)
        self._answer(request)
        self._count(request, key, at)
        if not live or request.get("isHidden") is True or request.get("shouldBeRemovedOnSend"):
            self.talk.undo(key)

    # The answer

    def _answer(self, request: Fields) -> None:
        result, state = fields_of(request.get("result")), fields_of(request.get("modelState"))
        metadata = fields_of(result.get("metadata"))
        wishes = wishes_of(
            objects_of(metadata.get("toolCallRounds")), fields_of(metadata.get("toolCallResults"))
        )
        parts = _without_fences(_parts(request.get("response")))
        self._tell_parts(parts, paired(parts, wishes), moment_of(state.get("completedAt")))
        self._tell_end(
            request,
            fields_of(result.get("errorDetails")) or fields_of(request.get("responseErrorDetails")),
            state,
        )

    def _tell_parts(self, parts: list[Fields], pairs: Pairs, ended_at: int | None) -> None:
        """What was shown, in order; words that follow each other are one reply."""
        words: list[str] = []
        # Changes are told once more beside the tool that made them.
        edits = any(
            told(part, None).kind == "edit" for part in parts if part.get("kind") == INVOCATION
        )
        self._tell_hidden(pairs, FIRST)
        for number, part in enumerate(parts):
            kind = part.get("kind")
            if kind in _WORDS:
                words.append(_words(part))
                continue
            if kind in ("thinking", INVOCATION, *_EDITS):
                self._flush(words)
            if kind == "thinking":
                self.talk.say("reasoning", _thought(part.get("value")))
            elif kind == INVOCATION:
                if number not in pairs.inner:
                    self._invoke(part, pairs.shown.get(number))
                self._tell_hidden(pairs, number)
            elif kind in _EDITS:
                if not edits:
                    self._edit(part)
            elif not isinstance(kind, str) or kind not in _PASSED_OVER:
                self.odd.unknown("response part", kind)
        for agent, answer in self.answers:
            agent.say("reply", answer)
        self.answers.clear()
        self._flush(words, ended_at)

    def _tell_hidden(self, pairs: Pairs, after: int) -> None:
        for wish in pairs.hidden.get(after, ()):
            self._call(self.talk, told(None, wish))

    def _flush(self, words: list[str], at: int | None = None) -> None:
        self.talk.say("reply", "".join(words).strip(), at=at)
        words.clear()

    def _invoke(self, part: Fields, wish: Wish | None) -> None:
        call = plain_id(part.get("toolCallId"))
        known = told(part, wish)
        # At first a call only said that it was a sub-agent's; it was that
        # of the one that had started last.
        helper = text_of(part.get("subAgentInvocationId")) or (
            self.started if part.get("fromSubAgent") is True else None
        )
        if known.kind == "task" and call and helper in (None, call):
            self._call(self.talk, known)
            task = {
                "result": known.output,
                **fields_of(known.given),
                **fields_of(part.get("toolSpecificData")),
            }
            self._agent(call, task)
            self.started = call
        elif helper:
            self._call(self._agent(helper, {}), known)
        elif not _is_cleared_list(part, wish):
            self._call(self.talk, known)

    def _agent(self, name: str, task: Fields) -> Dialogue:
        """The session of a sub-agent; what it was asked is told with the call that started it."""
        agent = self.agents.get(name)
        if agent is None:
            agent = self.agents[name] = self._dialogue(f"{self.talk.session}/{name}")
            agent.facts(parent=self.talk.session, origin="subagent", cwd=self.cwd)
            agent.begin(name, author="agent")
        if task:
            called = text_of(task.get("agentName"))
            agent.facts(
                title=text_of(task.get("description")), meta={"agent": called} if called else None
            )
            agent.say("prompt", text_of(task.get("prompt")))
            self.answers.append((agent, text_of(task.get("result"))))
        return agent

    def _call(self, dialogue: Dialogue, known: Told) -> None:
        dialogue.call(
            known.call, known.name, known.given, at=known.at, kind=known.kind, target=known.target,
            output=known.output,
            ok=known.ok, exit_code=known.exit_code, duration_ms=known.duration_ms,
        )  # fmt: skip

    def _edit(self, part: Fields) -> None:
        """Changes that were made without a tool, as chats did before they had some."""
        path = uri_path(part.get("uri"))
        if path is None:
            return
        changes = [
            edit
            for group in list_of(part.get("edits"))
            for edit in (objects_of(group) or [fields_of(group)])
        ]
        content = "\n".join(text for edit in changes if (text := text_of(edit.get("text"))))
        self.talk.call(
            None,
            str(part["kind"]),
            {"path": path, "content": content},
            kind="edit",
            target=path,
            ok=True,
        )

    def _tell_end(self, request: Fields, error: Fields, state: Fields) -> None:
        # Before there were codes, a sentence said so.
        stopped = error.get("code") == "canceled" or error.get("message") == "Canceled"
        cancelled = request.get("isCanceled") is True or state.get("value") == _CANCELLED or stopped
        if cancelled:
            self.talk.say("abort", "")
        elif error:
            self.talk.say(
                "error", text_of(error.get("message")) or text_of(error.get("code")) or "failed"
            )
        elif state.get("value") == _FAILED:
            self.talk.say("error", "failed")

    # What it cost

    def _count(self, request: Fields, key: str, at: int | None) -> None:
        totals = objects_of(request.get("modelTotals"))
        for number, total in enumerate(totals):
            model, cached = text_of(total.get("model")), count_of(total.get("cachedTokens"))
            self.talk.usage(
                f"{key}/{model}" if number else key, model=model, at=at, cache_read=cached,
                input=max(0, count_of(total.get("inputTokens")) - cached),
                output=count_of(total.get("outputTokens")),
            )  # fmt: skip
        if not totals:
            self._count_last(request, key, at)

    def _count_last(self, request: Fields, key: str, at: int | None) -> None:
        """What older versions tell: what was read for the last model call, and
        written for it or for all of them.
        """
        result = fields_of(request.get("result"))
        metadata = fields_of(result.get("metadata"))
        places = [fields_of(result.get("usage")), fields_of(request.get("usage")), request]
        read = [metadata.get("promptTokens"), *(place.get("promptTokens") for place in places)]
        written = [
            metadata.get("outputTokens"),
            *(place.get("completionTokens") for place in places),
        ]
        self.talk.usage(
            key,
            model=_model(request),
            at=at,
            input=max(map(count_of, read)),
            output=max(map(count_of, written)),
        )


def _is_cleared_list(part: Fields, wish: Wish | None) -> bool:
    """Whether VS Code itself emptied the list of things to do, as it does when a request begins."""
    specific = fields_of(part.get("toolSpecificData"))
    return wish is None and specific.get("kind") == "todoList" and not specific.get("todoList")


def _prompt(request: Fields) -> str:
    message = request.get("message")
    return (text_of(fields_of(message).get("text")) or text_of(message) or "").strip()


def _base(requests: list[Fields]) -> str | None:
    """The folder that links in the answers begin at, which is that of the
    window: an export tells no other.
    """
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
    return {name: value for name, value in known.items() if value}


def _model(request: Fields) -> str | None:
    """The model that answered.

    When the request left the choice to VS Code ("auto"), others tell which one it was.
    """
    metadata = fields_of(fields_of(request.get("result")).get("metadata"))
    parts = [
        part
        for part in objects_of(request.get("response"))
        if part.get("kind") == "autoModeResolution"
    ]
    rounds = objects_of(metadata.get("toolCallRounds"))
    chosen = [part.get("resolvedModel") for part in parts[-1:]] + [
        one.get("modelId") for one in rounds[-1:]
    ]
    return next(
        filter(
            None,
            map(_plain_model, (metadata.get("resolvedModel"), request.get("modelId"), *chosen)),
        ),
        None,
    )


def _plain_model(value: object) -> str | None:
    """A model without the one who provides it."""
    name = (text_of(value) or "").rpartition("/")[2]
    return name if name and name != "auto" else None


def _parts(response: object) -> list[Fields]:
    if isinstance(response, str):
        return [{"value": response}]
    return [
        {"value": part} if isinstance(part, str) else part
        for part in list_of(response)
        if isinstance(part, (str, dict))
    ]


def _without_fences(parts: list[Fields]) -> list[Fields]:
    """What was shown without the fences around an edit, between which there is nothing to read."""
    seen = [part for part in parts if part.get("kind") != "undoStop"]
    kinds = [None, *(part.get("kind") for part in seen), None]
    return [
        part
        for part, before, after in zip(seen, kinds, kinds[2:], strict=False)
        if part.get("kind")
        or _words(part).strip() != "```"
        or not (before in _EDITS or after == "codeblockUri")
    ]


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
    path = (
        uri_path(target.get("uri"))
        or uri_path(fields_of(target.get("location")).get("uri"))
        or uri_path(target)
    )
    name = (
        text_of(part.get("name"))
        or text_of(target.get("name"))
        or re.split(r"[/\\]", (path or "").rstrip("/\\"))[-1]
    )
    return f"`{name}`" if name else ""


def _thought(value: object) -> str:
    return (
        value
        if isinstance(value, str)
        else "\n".join(piece for piece in list_of(value) if isinstance(piece, str))
    )
