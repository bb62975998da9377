"""A task as it was shown on the screen: `ui_messages.json`.

What was shown has times, tokens and every word of the person, so it tells the
turns. What a tool was given and gave back is looked up in the record of what
was sent to the model, because the screen shows little of it.
"""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter

from recollect.capture.adapters.cline_roo.prompts import typed
from recollect.capture.adapters.cline_roo.tools import (
    ClineCall,
    ClineSentCalls,
    kind_of_call,
    tell_call,
)
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import (
    Fields,
    count_of,
    fields_of,
    json_of,
    list_of,
    moment_of,
    money_of,
    objects_of,
    text_of,
)
from recollect.model.logs import Author

_EDITS = (
    "replace_in_file", "apply_diff", "write_to_file", "search_and_replace", "insert_content",
    "edit_file", "search_replace", "edit", "apply_patch",
)  # fmt: skip
# What the screen calls a tool, and what the model calls it.
_TOOLS: dict[str, tuple[str, ...]] = {
    "readFile": ("read_file",),
    "editedExistingFile": _EDITS,
    "appliedDiff": _EDITS,
    "newFileCreated": ("write_to_file", "apply_patch", "new_file"),
    "fileDeleted": ("apply_patch", "delete_file"),
    "listFilesTopLevel": ("list_files",),
    "listFilesRecursive": ("list_files",),
    "listCodeDefinitionNames": ("list_code_definition_names",),
    "searchFiles": ("search_files",),
    "codebaseSearch": ("codebase_search",),
    "webFetch": ("web_fetch",),
    "webSearch": ("web_search",),
    "newTask": ("new_task",),
    "switchMode": ("switch_mode",),
    "finishTask": (),
    "fetchInstructions": ("fetch_instructions",),
    "updateTodoList": ("update_todo_list",),
    "useSkill": ("use_skill",),
    "skill": ("skill",),
    "runSlashCommand": ("run_slash_command",),
    "readCommandOutput": ("read_command_output",),
    "generateImage": ("generate_image",),
    "imageGenerated": ("generate_image",),
}
_ERRORS = frozenset({
    "error", "diff_error", "clineignore_error", "rooignore_error", "command_permission_denied",
    "condense_context_error", "api_req_failed", "mistake_limit_reached",
})  # fmt: skip
# Progress, notices and requests to go on: nothing that lasts.
_SKIPPED = frozenset({
    "api_req_retried", "api_req_retry_delayed", "api_req_rate_limit_wait", "api_req_deleted",
    "error_retry", "checkpoint_created", "checkpoint_saved", "task_progress",
    "shell_integration_warning", "shell_integration_warning_with_suggestion",
    "mcp_server_request_started", "mcp_notification", "load_mcp_documentation", "info",
    "hook_status", "hook_output_stream", "conditional_rules_applied", "user_edit_todos",
    "too_many_tools_warning", "image", "user_feedback_diff", "resume_task",
    "resume_completed_task", "auto_approval_max_req_reached", "new_task", "report_bug",
    "generate_explanation", "inspect_site_result", "payment_required_prompt",
    "unauthorized_prompt", "invalid_model", "browser_session_status",
})  # fmt: skip
_COMPACTIONS = (
    "condense_context", "condense", "summarize_task", "compaction", "sliding_window_truncation",
)  # fmt: skip
_RESULTS = (
    "mcp_server_response", "subtask_result", "codebase_search_result", "browser_action_result",
    "subagent",
)  # fmt: skip
# Added to a result that changed files.
_CHANGES = "HAS_CHANGES"
# Shown with these, an action waits for a person's consent, or is being
# typed; only what was done is kept.
_ACTIONS = frozenset(
    {
        "tool",
        "command",
        "use_mcp_server",
        "browser_action_launch",
        "browser_action",
        "use_subagents",
    }
)


class ClineScreenReader:
    """Makes items of what a task showed; `author` is who wrote its first prompt."""

    def __init__(
        self,
        dialogue: Dialogue,
        problems: ProblemCounter,
        sent: ClineSentCalls,
        author: Author = "human",
    ) -> None:
        self.dialogue, self.problems, self.sent, self.author = dialogue, problems, sent, author
        # The model in use from a time on, by that time, for products that
        # do not say it with each message.
        self.models: list[tuple[int, str]] = []
        self.open: ClineCall | None = None
        self.open_at: int | None = None
        self.heard: list[str] = []
        self.last: ClineCall | None = None
        self.reply = ""
        self.key = ""
        self.request = ""

    def take(self, messages: list[Fields]) -> None:
        """Every message of a task."""
        for number, message in enumerate(messages):
            # The time a message was first shown at is its name.
            at = message.get("ts")
            self.key = str(at) if moment_of(at) else f"message-{number}"
            name = message.get("say") if message.get("type") == "say" else message.get("ask")
            if not isinstance(name, str):
                self.problems.bad("a message that neither says nor asks")
                continue
            text = text_of(message.get("text")) or ""
            if name == "command_output":
                self.heard.append(text)
                continue
            if name not in _SKIPPED:
                self._close()
            if not (message.get("partial") is True and name in _ACTIONS):
                self._say("task" if number == 0 and name == "text" else name, text, message)
        self._close()

    def _say(self, name: str, text: str, message: Fields) -> None:
        at = moment_of(message.get("ts"))
        if name in ("task", "user_feedback"):
            self._prompt(text, message, at)
        elif name in ("text", "completion_result", "plan_completion_result"):
            self._reply(text.removesuffix(_CHANGES), at)
        elif name in ("followup", "plan_mode_respond", "act_mode_respond"):
            self._question(text, at)
        elif name == "reasoning":
            self.dialogue.say("reasoning", text or text_of(message.get("reasoning")), at=at)
        elif name in ("api_req_started", "api_req_finished", "deleted_api_reqs", "subagent_usage"):
            self._count(name, text, message, at)
        elif name in _ERRORS:
            self.dialogue.say(
                "error", text_of(fields_of(json_of(text)).get("message")) or text, at=at
            )
        elif name in _COMPACTIONS:
            self._compact(name, text, message, at)
        elif name not in _SKIPPED:
            self._act(name, text, at)

    # Words

    def _prompt(self, text: str, message: Fields, at: int | None) -> None:
        words = typed(text)
        if not words and (list_of(message.get("images")) or list_of(message.get("files"))):
            words = "[image]" if list_of(message.get("images")) else "[file]"
        if words:
            first = not self.dialogue.state.turn
            self.dialogue.prompt(self.key, words, at=at, author=self.author if first else "human")
            self.reply = ""

    def _reply(self, text: str, at: int | None) -> None:
        """Something the agent says; a result is said, and then asked about in the same words."""
        if text and text != self.reply:
            self.dialogue.say("reply", text, at=at)
            self.reply = text

    def _question(self, text: str, at: int | None) -> None:
        """A question with its choices; a choice that was made stands here and nowhere else."""
        asked = fields_of(json_of(text))
        question = text_of(asked.get("question")) or text_of(asked.get("response"))
        if question is None and not asked:
            question = text
        options = []
        for option in list_of(asked.get("options")) or list_of(asked.get("suggest")):
            words = option if isinstance(option, str) else text_of(fields_of(option).get("answer"))
            if words:
                options.append(words)
        self._reply("\n- ".join([question or "", *options]), at)
        chosen = text_of(asked.get("selected"))
        if chosen:
            self.dialogue.prompt(self.key, chosen, at=at)

    def _compact(self, name: str, text: str, message: Fields, at: int | None) -> None:
        condensed = fields_of(message.get("contextCondense"))
        told = fields_of(json_of(text))
        if name == "compaction" and told.get("status") != "completed":
            return
        summary = text_of(condensed.get("summary")) or text_of(told.get("context"))
        if summary is None and not told:
            summary = text
        self.dialogue.say("compaction", summary, at=at)
        key, cost = f"{self.dialogue.session}/{self.key}", money_of(condensed.get("cost"))
        self.dialogue.usage(key, at=at, cost_usd=cost)

    # Tools

    def _act(self, name: str, text: str, at: int | None) -> None:
        told = fields_of(json_of(text))
        if name == "tool":
            self._tool(told, at)
        elif name == "command":
            found = self.sent.find(("execute_command",), None)
            self._open(found or ClineCall("execute_command", {"command": text}), at)
        elif name == "use_mcp_server":
            self._mcp(told, at)
        elif name in _RESULTS:
            self._answer(name, text, told)
        elif name in ("browser_action_launch", "browser_action"):
            shown = told or {"action": "launch", "url": text}
            found = self.sent.find(("browser_action",), None)
            self._open(found or ClineCall("browser_action", shown), at)
        elif name == "use_subagents":
            self._open(ClineCall("use_subagents", told, ok=None), at)
        else:
            self.problems.unknown("message", name)

    def _tool(self, told: Fields, at: int | None) -> None:
        shown = text_of(told.get("tool"))
        if shown is None:
            self.problems.bad("a tool without a name")
            return
        if shown == "summarizeTask":
            self.dialogue.say("compaction", text_of(told.get("content")), at=at)
            return
        path = text_of(told.get("path"))
        given = {name: value for name, value in told.items() if name != "tool"}
        found = self.sent.find(_TOOLS.get(shown, ()), path)
        self._open(found or ClineCall(shown, given), at)

    def _mcp(self, told: Fields, at: int | None) -> None:
        server = text_of(told.get("serverName")) or ""
        tool = text_of(told.get("toolName")) or text_of(told.get("uri")) or ""
        found = self.sent.find(("use_mcp_tool", "access_mcp_resource"), None)
        name = f"{server}/{tool}".strip("/") or "use_mcp_tool"
        call = ClineCall(name, json_of(told.get("arguments")) or told)
        if found is not None:
            call.output, call.ok = found.output, found.ok
        self._open(call, at)

    def _open(self, call: ClineCall, at: int | None) -> None:
        """Hold a call until it is clear that no more is shown of what came of it."""
        self.open, self.open_at, self.heard = call, at, []

    def _answer(self, name: str, text: str, told: Fields) -> None:
        """What came of the call before, where the record does not know."""
        if self.last is not None and self.last.output is None:
            self.last.answer(_shown_result(name, text, told))
            self.dialogue.result(self.last.id, self.last.output, ok=self.last.ok)

    def _close(self) -> None:
        """Tell the call that is held."""
        call, self.open = self.open, None
        if call is None:
            return
        heard = "\n".join(filter(None, self.heard))
        if heard and call.output is None:
            call.answer(heard)
        call.id = call.id or f"{self.dialogue.session}/{self.open_at}"
        is_mcp = "/" in call.name and kind_of_call(call.name) is None
        if is_mcp:
            self.dialogue.call(
                call.id,
                call.name,
                call.given,
                at=self.open_at,
                kind="mcp",
                output=call.output,
                ok=call.ok,
            )
        else:
            tell_call(self.dialogue, call, self.open_at)
        self.last = call

    # Tokens

    def _count(self, name: str, text: str, message: Fields, at: int | None) -> None:
        """What a request took. Old versions tell it in a second message.

        What a restored checkpoint removed, in a sum.
        """
        told = fields_of(json_of(text))
        if name != "api_req_finished":
            self.request = f"{self.dialogue.session}/{self.key}"
        read, written, given = (
            count_of(told.get(field)) for field in ("cacheReads", "cacheWrites", "tokensIn")
        )
        # With this field, which Roo added, input is told with what came from the
        # cache; without it, as the provider says.
        if "apiProtocol" in told and read + written <= given:
            given -= read + written
        model = fields_of(message.get("modelInfo"))
        self.dialogue.usage(
            self.request,
            model=text_of(model.get("modelId")) or text_of(told.get("model")) or self._model_at(at),
            at=at,
            input=given,
            cache_read=read,
            cache_write=written,
            output=count_of(told.get("tokensOut")),
            cost_usd=money_of(told.get("cost")),
        )
        if told.get("cancelReason") == "user_cancelled":
            self.dialogue.say("abort", "", at=at)
        else:
            self.dialogue.say("error", text_of(told.get("streamingFailedMessage")), at=at)

    def _model_at(self, at: int | None) -> str | None:
        """The model that was in use at a time."""
        after = len(self.models) if at is None else bisect_right(self.models, at, key=itemgetter(0))
        return self.models[max(0, after - 1)][1] if self.models else None


def _shown_result(name: str, text: str, told: Fields) -> str:
    if name == "browser_action_result":
        return "\n".join(filter(None, (text_of(told.get("currentUrl")), text_of(told.get("logs")))))
    if name == "subagent":
        items = objects_of(told.get("items"))
        results = [item.get("result") or item.get("error") for item in items]
        return "\n\n".join(result for result in results if isinstance(result, str))
    if name == "codebase_search_result":
        found = objects_of(fields_of(told.get("content")).get("results"))
        paths = [text_of(result.get("filePath")) for result in found]
        return "\n".join(filter(None, paths)) or text
    return text
