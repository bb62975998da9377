"""Codex: tool calls as items ask for them and as events and turn items tell their end.

One call can appear up to three times: the model's request, its output, and
an event (or, in paginated files, a turn item) that says how it went. They
share a call id; here each is brought into the same two shapes, and joined.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from recollect.capture.adapters.codex.prompts import placeholder
from recollect.capture.adapters.codex.records import moment, whole
from recollect.capture.adapters.codex.scripts import calls_in, script_outcome
from recollect.capture.adapters.codex.tools import (
    MAX_TARGET,
    CodexOutcome,
    aim,
    command_line,
    decode_arguments,
    from_mcp,
    full_name,
    kind_of,
    milliseconds_of,
    outcome,
    texts_in,
)
from recollect.capture.adapters.codex.turns import MAX_CALLS, CodexState, CodexTurns, trim
from recollect.capture.logs.values import Fields, fields_of, list_of, text_of
from recollect.model.logs import Event, ToolKind, ToolResult

COMMANDS = ("shell", "shell_command", "exec_command")
_BROKEN = (msgspec.MsgspecError, RecursionError, UnicodeError)
SCRIPT = "exec"
# Beside the script of a call, this much is no more than `const r = await`, `text(r)`.
_FRAME_CHARACTERS = 120
STATUS = {"completed": True, "failed": False, "declined": False, "error": False}
_arguments: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
# Longer ids are not ids; they would only fill the checkpoint.
MAX_ID = 200
# Scripts run one after the other; a few may be left running.
MOST_SCRIPTS = 8


class CodexCall(Struct, gc=False):
    """One call of a tool: which, on what, with what."""

    call: str | None
    name: str
    kind: ToolKind
    target: str | None
    input: Any


def call_asked_by(item: Fields) -> tuple[CodexCall, CodexOutcome | None]:
    """The call that a response item asks for; a picture has its outcome with it."""
    kind = item["type"]
    if kind == "image_generation_call":
        return call_ended_by(item)
    return _makers[kind](item), None


def command_of(item: Fields) -> tuple[str, Fields] | None:
    """The command of a function call that plainly runs one, and its arguments.

    Nine calls in ten do, so they have this way of their own; None when it takes a closer look.
    """
    if item.get("name") not in COMMANDS or "namespace" in item:
        return None
    try:
        given = _arguments.decode(item["arguments"])
        command = given.get("command") or given.get("cmd")
    except (KeyError, TypeError, AttributeError, *_BROKEN):
        return None
    if type(command) is list and len(command) == 3 and command[1] == "-lc":
        command = command[2]
    if type(command) is not str or command.startswith("apply_patch"):
        return None
    return command[:MAX_TARGET], given


def id_of(value: object) -> str | None:
    """The value if it can be an id."""
    return value[:MAX_ID] if type(value) is str and value else None


def _function(item: Fields) -> CodexCall:
    given, name = (
        decode_arguments(item.get("arguments")),
        full_name(item.get("name"), item.get("namespace")),
    )
    kind, target = aim(name, kind_of(name), given)
    return CodexCall(id_of(item.get("call_id")), name, kind, target, given)


def _custom(item: Fields) -> CodexCall:
    name = full_name(item.get("name"), item.get("namespace"))
    given = decode_arguments(item.get("input"))
    if name == SCRIPT and isinstance(given, str):
        # A script that could not be read, or that makes several calls.
        return CodexCall(id_of(item.get("call_id")), name, "other", given[:MAX_TARGET], given)
    kind, target = aim(name, kind_of(name), decode_arguments(item.get("input")))
    return CodexCall(id_of(item.get("call_id")), name, kind, target, item.get("input"))


def _local_shell(item: Fields) -> CodexCall:
    kind, target = aim("local_shell", "shell", item.get("action"))
    call = id_of(item.get("call_id")) or id_of(item.get("id"))
    return CodexCall(call, "local_shell", kind, target, item.get("action"))


def _web(item: Fields) -> CodexCall:
    action = item.get("action")
    return CodexCall(id_of(item.get("id")), "web_search", "web", sought(action), action)


def _tool_search(item: Fields) -> CodexCall:
    given = decode_arguments(item.get("arguments"))
    kind, target = aim("tool_search", "search", given)
    return CodexCall(id_of(item.get("call_id")), "tool_search", kind, target, given)


_makers: dict[str, Callable[[Fields], CodexCall]] = {
    "function_call": _function,
    "custom_tool_call": _custom,
    "local_shell_call": _local_shell,
    "web_search_call": _web,
    "tool_search_call": _tool_search,
}
CALLS = frozenset({*_makers, "image_generation_call"})


def sought(action: object, query: object = None) -> str | None:
    """What a web search looked for: a query, a page, a pattern in it."""
    found = fields_of(action)
    for value in (found.get("query"), query, found.get("url"), found.get("pattern")):
        if text := text_of(value):
            return text
    queries = found.get("queries")
    if isinstance(queries, list):
        return ", ".join(text for text in queries if isinstance(text, str))
    return None


def call_ended_by(told: Fields) -> tuple[CodexCall, CodexOutcome]:
    """The call that an event or turn item tells the end of, and how it went."""
    asked, outcome = _enders[told["type"]](told)
    asked.call = id_of(told.get("call_id")) or id_of(told.get("id"))
    return asked, outcome


def _ended_command(told: Fields) -> tuple[CodexCall, CodexOutcome]:
    kind, target = aim("shell", "shell", told.get("command"))
    code = whole(told.get("exit_code"))
    texts = [text for text in (text_of(told.get("stdout")), text_of(told.get("stderr"))) if text]
    text = text_of(told.get("aggregated_output")) or "\n".join(texts) or None
    ok = _succeeded(told) if code is None else code == 0
    line = command_line(told.get("command"))
    outcome = CodexOutcome(text, ok, code, milliseconds_of(told.get("duration")))
    return CodexCall(None, "shell", kind, target, line), outcome


def _ended_patch(told: Fields) -> tuple[CodexCall, CodexOutcome]:
    changes = fields_of(told.get("changes"))
    paths = ", ".join(list(changes)[:8]) or None
    texts = [text for text in (text_of(told.get("stdout")), text_of(told.get("stderr"))) if text]
    outcome = CodexOutcome("\n".join(texts) or None, _succeeded(told))
    return CodexCall(None, "apply_patch", "edit", paths, changes or None), outcome


def _ended_mcp(told: Fields) -> tuple[CodexCall, CodexOutcome]:
    # An event wraps what was called; a turn item has it beside the rest.
    found = fields_of(told.get("invocation")) or told
    server = text_of(found.get("server")) or "unknown"
    tool = text_of(found.get("tool")) or "unknown"
    given = found.get("arguments")
    error = told.get("error")
    result = told.get("result")
    if error:
        result = {"Err": fields_of(error).get("message", error)}
    outcome = from_mcp(result)
    outcome.duration_ms = milliseconds_of(told.get("duration"))
    name = f"mcp__{server}__{tool}"
    return CodexCall(None, name, "mcp", aim(name, "mcp", given)[1], given), outcome


def _ended_search(told: Fields) -> tuple[CodexCall, CodexOutcome]:
    target = sought(told.get("action"), told.get("query"))
    outcome = CodexOutcome(_results(told.get("results")))
    return CodexCall(None, "web_search", "web", target, told.get("action")), outcome


def _ended_picture(told: Fields) -> tuple[CodexCall, CodexOutcome]:
    picture = text_of(told.get("result"))
    asked = CodexCall(
        None,
        "image_generation",
        "other",
        text_of(told.get("saved_path")) or text_of(told.get("revised_prompt")),
        None,
    )
    return asked, CodexOutcome(placeholder(picture) if picture else None, _succeeded(told))


def _viewed(told: Fields) -> tuple[CodexCall, CodexOutcome]:
    return CodexCall(None, "view_image", "read", text_of(told.get("path")), None), CodexOutcome()


def _ended_dynamic(told: Fields) -> tuple[CodexCall, CodexOutcome]:
    name = full_name(told.get("tool"), told.get("namespace"))
    kind, target = aim(name, kind_of(name), told.get("arguments"))
    asked = CodexCall(None, name, kind, target, told.get("arguments"))
    text = texts_in(told.get("content_items")) or None
    return asked, CodexOutcome(text, _succeeded(told), None, milliseconds_of(told.get("duration")))


_enders: dict[str, Callable[[Fields], tuple[CodexCall, CodexOutcome]]] = {
    "exec_command_end": _ended_command,
    "CommandExecution": _ended_command,
    "patch_apply_end": _ended_patch,
    "FileChange": _ended_patch,
    "mcp_tool_call_end": _ended_mcp,
    "McpToolCall": _ended_mcp,
    "web_search_end": _ended_search,
    "WebSearch": _ended_search,
    "Extension": _ended_search,
    "image_generation_call": _ended_picture,
    "image_generation_end": _ended_picture,
    "ImageGeneration": _ended_picture,
    "view_image_tool_call": _viewed,
    "ImageView": _viewed,
    "dynamic_tool_call_response": _ended_dynamic,
    "DynamicToolCall": _ended_dynamic,
}
ENDS = frozenset(_enders) - CALLS


def _succeeded(told: Fields) -> bool | None:
    success = told.get("success")
    if isinstance(success, bool):
        return success
    status = told.get("status")
    return STATUS.get(status) if isinstance(status, str) else None


def _results(results: object) -> str | None:
    """The titles, addresses and snippets of a web search."""
    lines = []
    for result in results if isinstance(results, list) else ():
        if isinstance(result, dict):
            parts = (text_of(result.get(key)) for key in ("title", "url", "snippet"))
            lines.append(" - ".join(part for part in parts if part))
    return "\n".join(line for line in lines if line) or None


# Calls and what came of them, joined by their ids ------------------------------


class CodexCalls(CodexTurns):
    """The tool calls of a thread, remembered with their turns: a result may come much later."""

    def __init__(self, state: CodexState | None = None) -> None:
        super().__init__(state)
        self.odd: defaultdict[str, int] = defaultdict(int)

    def function_called(self, item: Fields, stamp: object) -> None:
        """A function call; commands take the short way."""
        found, call = command_of(item), id_of(item.get("call_id"))
        if found is None or call is None:
            self.called(item, stamp)
            return
        turn = self.settled or self.content_turn(stamp)
        self._await(call, turn)
        target, given = found
        self.out.append(
            Event(
                session=self.session,
                turn=turn,
                kind="tool_call",
                at=moment(stamp),
                call=call,
                name=item["name"],
                tool_kind="shell",
                target=target,
                input=given,
                folder=self.state.cwd,
            )
        )

    def called(self, item: Fields, stamp: object) -> None:
        """Any call that an item asks for."""
        asked, end = call_asked_by(item)
        turn = self.content_turn(stamp)
        if asked.name == SCRIPT and asked.kind == "other" and asked.call is not None:
            self._script(asked, turn, stamp)
            return
        if asked.kind == "web" and self.is_twin("web", asked.target or "", -1):
            return
        if end is not None and self._turn_of(asked.call) is not None:
            return
        self._tool_call(asked, turn, stamp, end)
        if asked.call is not None and asked.name in ("wait", "write_stdin"):
            self._asked_after(asked.call, fields_of(asked.input))

    def ended(self, told: Fields, stamp: object) -> None:
        """The end of a call, told by an event; often nothing else tells the call itself."""
        asked, end = call_ended_by(told)
        if asked.call is not None and self._turn_of(asked.call) is not None:
            self._join(asked.call, end, stamp)
            return
        if (known := self._called_by_script(asked)) is not None:
            self._join(known, end, stamp)
            return
        turn = self.content_turn(stamp)
        if asked.kind == "web" and self.is_twin("web", asked.target or "", 1):
            return
        self._tool_call(asked, turn, stamp, end)

    def answered(self, item: Fields, stamp: object) -> None:
        """The output of a call."""
        call = item.get("call_id")
        if type(call) is str and call in self.state.scripts:
            self._script_answered(call, item.get("output"), stamp)
        elif type(call) is str:
            self._ended_later(call[:MAX_ID], outcome(item.get("output")), stamp)

    def _asked_after(self, call: str, given: Fields) -> None:
        """A call goes on with a script or a command that had not ended."""
        state = self.state
        cell, process = text_of(given.get("cell_id")), str(given.get("session_id"))
        if cell in state.cells:
            state.scripts[call] = state.cells.pop(cell)
        elif process in state.processes:
            state.asking[call] = state.processes[process]
            trim(state.asking, MOST_SCRIPTS)

    def _ended_later(self, call: str, end: CodexOutcome, stamp: object) -> None:
        """An output; the end of a command that somebody asked after is that command's."""
        state = self.state
        command = state.asking.pop(call, None)
        if end.process is not None:
            state.processes[end.process] = command or call
            trim(state.processes, MOST_SCRIPTS)
        elif command is not None and end.exit_code is not None:
            self._join(command, CodexOutcome(None, end.ok, end.exit_code), stamp)
            end.ok = end.exit_code = None
        self._join(call, end, stamp)

    def _script(self, asked: CodexCall, turn: str, stamp: object) -> None:
        """A script of code mode: the calls that it makes, as far as they can be read.

        One that makes a single call is that call. Of several, and where some
        cannot be read, the script is a call of kind `other` that comes first.
        """
        call, script = asked.call or "", str(asked.input)
        found = calls_in(script)
        alone = len(found.calls) == 1 and not found.unread
        if not alone:
            asked.target = None if found.calls else asked.target
            self._tool_call(asked, turn, stamp, None)
        made: list[list[str]] = []
        for number, (name, given) in enumerate(found.calls, 1):
            kind, target = aim(name, kind_of(name), given)
            own = call if alone else f"{call}/{number}"
            if alone and len(script) > len(str(given)) + _FRAME_CHARACTERS:
                given = {**(given if isinstance(given, dict) else {"input": given})}
                given["script"] = script
            made.append([own, kind, target or ""])
            self._tool_call(CodexCall(own, name, kind, target, given), turn, stamp, None)
        if found.unread:
            # What it gave back may be that of any of them.
            made.append([])
        scripts = self.state.scripts
        scripts[call] = made
        if len(scripts) > MOST_SCRIPTS:
            trim(scripts, MOST_SCRIPTS)

    def _script_answered(self, call: str, output: object, stamp: object) -> None:
        """The output of a script, divided among its calls where that can be told."""
        made = self.state.scripts.pop(call)
        found = script_outcome(output, len(made) if all(made) else 0)
        if found.cell:
            # It goes on; what waits for it is told the rest.
            self.state.cells[found.cell] = made
            trim(self.state.cells, MOST_SCRIPTS)
        each = list(found.each)
        if len(made) == 1 and made[0] and each and made[0][1] == "shell":
            # That a script came to its end says nothing of a command whose exit code it keeps.
            if each[0].exit_code is None and each[0].ok:
                each[0].ok = None
        elif each:
            found.whole.text = None
        told = {one[0]: end for one, end in zip(made, each, strict=False) if one}
        if call not in told:
            self._join(call, found.whole, stamp)
        for own, end in told.items():
            self._join(own, end, stamp)

    def _called_by_script(self, asked: CodexCall) -> str | None:
        """The call of a script whose end is told under an id of its own, once."""
        if not self.state.scripts or not (asked.call or "").startswith(f"{SCRIPT}-"):
            return None
        for made in reversed(self.state.scripts.values()):
            for one in made:
                if len(one) == 3 and one[1] == asked.kind and self._fits(one[2], asked):
                    one[2] = "\0"
                    return one[0]
        return None

    def _fits(self, target: str, asked: CodexCall) -> bool:
        return target != "\0" and (asked.kind == "edit" or target == asked.target)

    def found_tools(self, item: Fields, stamp: object) -> None:
        """The output of a search for tools: their names."""
        names = [fields_of(tool).get("name") for tool in list_of(item.get("tools"))]
        if call := id_of(item.get("call_id")):
            found = ", ".join(name for name in names if isinstance(name, str))
            self._join(call, CodexOutcome(found), stamp)

    def _tool_call(
        self, asked: CodexCall, turn: str, stamp: object, end: CodexOutcome | None
    ) -> None:
        state, call = self.state, asked.call
        if call is None and asked.kind == "shell":
            state.unnamed += 1
            call = f"unnamed-{state.unnamed}"
        if call is not None:
            self._await(call, turn)
            if end is not None and end.text is not None:
                self._settle(call, turn)
        event = Event(
            session=self.session,
            turn=turn,
            kind="tool_call",
            at=moment(stamp),
            call=call,
            name=asked.name,
            tool_kind=asked.kind,
            target=asked.target,
            input=asked.input,
            folder=self.state.cwd if asked.kind == "shell" else None,
        )
        if end is not None:
            event.output, event.ok = end.text, end.ok
            event.exit_code, event.duration_ms = end.exit_code, end.duration_ms
        self.out.append(event)

    def _await(self, call: str, turn: str) -> None:
        """A call is out; an id that is used again stands for the newest."""
        waiting = self.state.calls
        waiting[call] = turn
        if len(waiting) > MAX_CALLS:
            trim(waiting, MAX_CALLS)

    def _settle(self, call: str, turn: str) -> None:
        """Its output is known; what is told later can only add to it."""
        state = self.state
        del state.calls[call]
        state.answered[call] = turn
        if len(state.answered) > MAX_CALLS:
            trim(state.answered, MAX_CALLS // 2)

    def _turn_of(self, call: str | None) -> str | None:
        return self.state.calls.get(call) or self.state.answered.get(call) if call else None

    def _join(self, call: str, end: CodexOutcome, stamp: object) -> None:
        state, output = self.state, end.text
        turn = state.calls.get(call)
        if turn is None:
            turn, output = state.answered.get(call), None
            if turn is None:
                self.odd["a result without its call"] += 1
                return
        elif output:
            self._settle(call, turn)
        self.out.append(
            ToolResult(
                session=self.session,
                turn=turn,
                call=call,
                at=moment(stamp),
                output=output,
                ok=end.ok,
                exit_code=end.exit_code,
                duration_ms=end.duration_ms,
            )
        )
