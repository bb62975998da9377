"""Makes items of the entries of one Pi session; `turns` knows which turn each is in."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct, field

from recollect.capture.adapters.pi.turns import PiEntry, PiTurns, role_of, time_of
from recollect.capture.logs.dialogue import LONGEST_ID, Dialogue, DialogueState
from recollect.capture.logs.folders import name_in_text
from recollect.capture.logs.readers import DialogueReader
from recollect.capture.logs.values import (
    Fields,
    content_text,
    count_of,
    fields_of,
    moment_of,
    money_of,
    objects_of,
    text_of,
    whole_of,
)
from recollect.model.logs import Item

# A file is named by when its session began, and by the session's id.
FILE_NAME = re.compile(r"^\d{4}-\d\d-\d\dT[\d-]+Z_(.+)\.jsonl$")
_exit_code = re.compile(r"\n\nCommand exited with code (\d{1,9})\s*$")
# Known, and nothing for us: what extensions keep for themselves or say to the
# model, bookmarks, settings of a model.
_PASSED_OVER = {
    "custom", "custom_message", "label", "service_tier_change", "reset_boundary",
    "ttsr_injection", "credential_pin", "session_init",
}  # fmt: skip
_SILENT_ROLES = frozenset({"custom", "hookMessage", "developer", "fileMention"})


class PiState(Struct):
    """Where a session stands: its last entry and the turn of that."""

    session: str
    tip: str = ""
    turn: str = ""
    dialogue: DialogueState = field(default_factory=DialogueState, name="standing")


class PiReader(DialogueReader):
    """Makes items of the entries of one file."""

    def __init__(self, path: str, state: PiState | None) -> None:
        self._state = state or PiState(session_in(path))
        super().__init__(path, Dialogue(self._state.session, self._state.dialogue), self._state)
        self._turns = PiTurns()
        self._turns.turns[self._state.tip] = self._state.turn
        self._is_whole = state is None
        self._told = self._state.turn
        self._begun: list[str] = []

    def take(self, record: PiEntry) -> None:
        """One more entry."""
        if record.type == "session":
            self._begin(record)
            return
        before = self._go_to_place_of(record)
        state, dialogue = self._state, self.dialogue
        state.turn = self._turns.add(record, before)
        # An id without end is not remembered: should something hang on it, the file is asked.
        is_endless = record.id and len(str(record.id)) > LONGEST_ID
        state.tip = "" if is_endless else text_of(record.id) or state.tip
        match record.type:
            case "message":
                self._take_message(record, role_of(record))
            case "compaction" | "branch_summary":
                dialogue.say("compaction", text_of(record.summary), at=moment_of(record.timestamp))
            case "session_info":
                dialogue.facts(title=text_of(record.name))
            case "title" | "title_change":
                dialogue.facts(title=text_of(record.title))
            case "model_change":
                self._learn(provider=record.provider, model=record.model_id or record.model)
            case "thinking_level_change":
                self._learn(thinking_level=record.thinking_level)
            case "mode_change":
                self._learn(mode=record.mode)
            case kind if not isinstance(kind, str) or kind not in _PASSED_OVER:
                self.problems.unknown("entry", kind)

    def drain(self) -> list[Item]:
        """The items that were made since the last time, and where they lead."""
        self._settle()
        return super().drain()

    # The session and its tree

    def _begin(self, header: PiEntry) -> None:
        state, dialogue = self._state, self.dialogue
        if (own := text_of(header.id)) and len(own) <= LONGEST_ID:
            state.session = dialogue.session = own
        parent = text_of(header.parent_session) or text_of(header.branched_from)
        dialogue.facts(
            parent=session_in(parent) if parent else None,
            cwd=text_of(header.cwd),
            title=text_of(header.title),
            started_at=moment_of(header.timestamp),
        )
        self._learn(
            provider=header.provider, model=header.model_id, thinking_level=header.thinking_level
        )

    def _learn(self, **told: Any) -> None:
        known = {name: value for name, value in told.items() if text_of(value)}
        if known:
            self.dialogue.facts(meta=known)

    def _go_to_place_of(self, entry: PiEntry) -> str:
        """Continue from the turn that an entry hangs on."""
        state = self._state
        is_known = text_of(entry.parent_id) in self._turns.turns
        if text_of(entry.id) and not self._is_whole and not is_known:
            self._turns, self._is_whole = PiTurns.of(self.path), True
        before = self._turns.turn_before(entry, state.turn)
        if before != state.turn:
            state.dialogue.turn = before
        return before

    def _settle(self) -> None:
        """Say which turns were left since the last time, and which came back.

        Only where it ended counts.
        """
        path, told = self._turns.path(self._state.turn), self._turns.path(self._told)
        live, known = set(path), {*told, *self._begun}
        for turn in dict.fromkeys([*reversed(told), *self._begun]):
            if turn not in live:
                self.dialogue.undo(turn)
        for turn in reversed(path):
            if turn not in known:
                self.dialogue.undo(turn, live=True)
        self._told, self._begun = self._state.turn, []

    # Messages

    def _take_message(self, entry: PiEntry, role: str | None) -> None:
        message, dialogue, at = fields_of(entry.message), self.dialogue, time_of(entry)
        match role:
            case "user":
                self._begun.append(self._state.turn)
                dialogue.prompt(self._state.turn, content_text(message.get("content")), at=at)
            case "assistant":
                self._take_answer(entry, message, at)
            case "toolResult":
                self._take_result(message, at)
            case "bashExecution" | "pythonExecution":
                self._take_own_command(message, at)
            case "branchSummary" | "compactionSummary":
                dialogue.say("compaction", text_of(message.get("summary")), at=at)
            case _ if role not in _SILENT_ROLES:
                self.problems.unknown("role", message.get("role"))

    def _take_answer(self, entry: PiEntry, message: Fields, at: int | None) -> None:
        dialogue = self.dialogue
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for part in objects_of(content):
            match part.get("type"):
                case "text":
                    dialogue.say("reply", text_of(part.get("text")), at=at)
                case "thinking":
                    dialogue.say("reasoning", text_of(part.get("thinking")), at=at)
                case "toolCall":
                    name = text_of(part.get("name")) or "tool"
                    dialogue.call(text_of(part.get("id")), name, part.get("arguments"), at=at)
                case "image" | "redactedThinking":
                    pass
                case kind:
                    self.problems.unknown("part", kind)
        if message.get("stopReason") == "aborted":
            dialogue.say("abort", text_of(message.get("errorMessage")), at=at)
        elif message.get("stopReason") == "error":
            dialogue.say(
                "error", text_of(message.get("errorMessage")) or "the request failed", at=at
            )
        self._count(entry, message, at)

    def _count(self, entry: PiEntry, message: Fields, at: int | None) -> None:
        usage = fields_of(message.get("usage"))
        names = ("input", "cacheRead", "cacheWrite", "output")
        given, read, written, output = (count_of(usage.get(name)) for name in names)
        figures = f"{given}/{read}/{written}/{output}"
        # Ids are given anew when an old file is opened, and are too short
        # to be unique among all sessions.
        made = f"{self._state.session}/{text_of(entry.id)}" if at is None else str(at)
        self.dialogue.usage(
            f"{made}/{figures}",
            model=text_of(message.get("model")),
            at=at,
            input=given,
            cache_read=read,
            cache_write=written,
            output=output,
            cost_usd=money_of(fields_of(usage.get("cost")).get("total")),
        )

    def _take_result(self, message: Fields, at: int | None) -> None:
        call = text_of(message.get("toolCallId"))
        if call is None:
            self.problems.bad("a tool result that names no call")
            return
        output = content_text(message.get("content"))
        failed = message.get("isError")
        # A file that was read may end like this, too.
        code = _exit_code.search(output[-200:]) if failed is True else None
        self.dialogue.result(
            call,
            output,
            at=at,
            ok=not failed if isinstance(failed, bool) else None,
            exit_code=int(code[1]) if code else None,
        )

    def _take_own_command(self, message: Fields, at: int | None) -> None:
        """What a person ran with `!`, past the model."""
        code = whole_of(message.get("exitCode"))
        command = text_of(message.get("command")) or text_of(message.get("code"))
        ok = None if code is None else code == 0
        if message.get("cancelled") is True:
            ok = False
        self.dialogue.call(
            None,
            "!",
            {"command": command},
            at=at,
            kind="shell",
            output=text_of(message.get("output")) or "",
            ok=ok,
            exit_code=code,
        )


def session_in(path: str) -> str:
    """The session that a file is about, by its name; a parent may also be named by its id alone."""
    name = name_in_text(path.replace("\\", "/"))
    match = FILE_NAME.match(name)
    return match[1] if match else name.removesuffix(".jsonl")
