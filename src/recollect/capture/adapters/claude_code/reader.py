"""Makes items of the records of one Claude Code file.

Each record of the chain gets its place, the turn it belongs to, and is then
read by its type. `turns` finds the place, `prompts` knows what a user record
means, `session` keeps the items.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recollect.capture.adapters.claude_code.prompts import (
    ClaudeUserText,
    is_caveat,
    prompt_of,
    without_frame,
)
from recollect.capture.adapters.claude_code.records import (
    ID_CHARACTERS,
    SYNTHETIC,
    ClaudeAttachment,
    ClaudeBlock,
    ClaudeMessage,
    ClaudeRecord,
    ClaudeToolResult,
    ClaudeUsage,
    digest,
    native_id,
)
from recollect.capture.adapters.claude_code.session import (
    FACT_CHARACTERS,
    ClaudeLog,
    ClaudeState,
    count,
)
from recollect.capture.adapters.claude_code.tools import (
    duration_ms,
    exit_code,
    kind_of,
    result_text,
    target_of,
)
from recollect.capture.adapters.claude_code.tree import ROOT, ClaudeTurn
from recollect.capture.adapters.claude_code.turns import (
    KEPT,
    ClaudeTurns,
    content_of,
    holds_results,
)
from recollect.model.logs import (
    Author,
    Event,
    EventKind,
    Item,
    Problem,
    ProblemKind,
    ToolResult,
    milliseconds,
)

# Who writes a prompt, for the origins that are not a person.
_ORIGINS: dict[str, Author] = {
    "task-notification": "system",
    "channel": "system",
    "peer": "agent",
    "coordinator": "agent",
}
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_ERRORS = ("api_error", "error", "api_refusal", "model_refusal_fallback")

# How the client answers for a command that nobody waits for.
_IN_BACKGROUND = ("Command running in background with ID", "Command was manually backgrounded")


class ClaudeReader(ClaudeTurns):
    """Takes the records of one file in order and turns them into items."""

    def __init__(self, log: ClaudeLog, state: ClaudeState | None = None) -> None:
        super().__init__(log, state)
        # Lines that a later one of the same piece takes back.
        self.withdrawn: set[str] = set()
        self._early: dict[str, ToolResult] = {}
        self._odd: dict[tuple[bool, str], int] = {}

    def take_piece(self, lines: list[ClaudeRecord | Problem]) -> None:
        """Read some lines, knowing beforehand which of them a later one takes back."""
        self.withdrawn.clear()
        for line in lines:
            if type(line) is not ClaudeRecord:
                continue
            if line.retracted_message_uuids or line.supersedes_uuids:
                self.withdrawn.update(_taken_back(line))
        take = self.take
        for line in lines:
            if type(line) is ClaudeRecord:
                take(line)
            elif type(line) is Problem:
                self.out.append(line)

    def take(self, record: ClaudeRecord) -> None:
        """Read one record."""
        kind = record.type
        take = _CHAIN.get(kind) if type(kind) is str else None
        if take is None:
            self._take_other(record)
            return
        places = self.tree.places
        uuid = record.uuid
        if type(uuid) is not str or len(uuid) > ID_CHARACTERS:
            uuid = native_id(uuid)
        # The same record again, as copies of a conversation leave it.
        if uuid in places:
            return
        if self.state.session is None:
            self.items.adopt(native_id(record.session_id))
        place = self.side_place(record) if record.is_sidechain and self.main else self.place(record)
        place = take(self, record, place)
        if uuid is not None and place is not None:
            # Not `places`: finding an older record may have replaced it.
            self.tree.places[uuid] = place
            if self.state.leaves and uuid in self.state.leaves:
                self.items.title("summary", self.state.leaves.pop(uuid))

    def drain(self) -> list[Item]:
        """The items since the last time."""
        items = self.out.copy()
        self.out.clear()
        return items

    def close_block(self) -> None:
        """Hand over what waited for something in the same block."""
        self.out.extend(self._early.values())
        self._early.clear()
        self.items.close()
        self.tree.let_go()

    def problems(self) -> list[Problem]:
        """What could not be made sense of, one for each sort."""
        problems = []
        for (unknown, reason), met in self._odd.items():
            kind: ProblemKind = "unknown" if unknown else "bad_record"
            problems.append(Problem(path=self.log.path, kind=kind, reason=reason, count=met))
        return problems

    # What people and clients say ---------------------------------------------

    def _user(self, record: ClaudeRecord, place: int | None) -> int | None:
        content = content_of(record)
        if holds_results(content):
            return self._results(record, content, place)
        if type(content) is not str and type(content) is not list:
            self._odd_one("user record without content")
            return place
        if record.is_compact_summary:
            return self.event(record, place, "compaction", prompt_of(content).text)
        if is_caveat(content):
            self.state.caveat = native_id(record.uuid)
        # What a tool put into the conversation, such as a skill's text, was not typed.
        if record.source_tool_use_id:
            return place
        sender = _sender(record.origin)
        if record.is_meta and sender is None and not _is_scheduled(record):
            return place
        return self._said(record, place, _sent_by(sender, prompt_of(content)))

    def _said(self, record: ClaudeRecord, place: int | None, said: ClaudeUserText) -> int | None:
        if said.shape == "nothing":
            return place
        if said.shape == "abort":
            return self.event(record, place, "abort", said.text)
        if said.shape == "compaction":
            return self.event(record, place, "compaction", said.text)
        if said.shape == "command":
            return self._commanded(record, place, said.text)
        if said.shape == "shell_output":
            return self._shell_output(record, place, said.text)
        text = "!" + said.text if said.shape == "shell" else said.text
        if place is None or not self._adds_to_prompt(record, place):
            told_by = record.timestamp or self.state.session
            key = native_id(record.uuid) or digest(told_by, text)
            place = self.open(record, place, key, self._author(record, said))
        turn, at = self.tree.turn(place), milliseconds(record.timestamp)
        self.out.append(Event(session=turn.session, turn=turn.key, kind="prompt", at=at, text=text))
        if said.shape == "shell":
            self._shell_call(record, place, said.text)
        return place

    def _commanded(self, record: ClaudeRecord, place: int | None, text: str) -> int:
        """What the client was told: it belongs to what is going on."""
        self.use_caveat(native_id(record.parent_uuid))
        self.items.notice(record)
        return self.event(record, place, "command", text)

    def _adds_to_prompt(self, record: ClaudeRecord, place: int) -> bool:
        """Whether a record goes on with the prompt before it, as the text after a picture."""
        state = self.state
        if record.type != "user" or state.answered or place != self.tree.tip or not self.main:
            return False
        if state.prompt_id is not None:
            return state.prompt_id == native_id(record.prompt_id)
        return state.prompt_time is not None and state.prompt_time == native_id(record.timestamp)

    def _author(self, record: ClaudeRecord, said: ClaudeUserText) -> Author:
        if said.author is not None:
            return said.author
        if not self.main or record.is_sidechain or _is_scheduled(record):
            return "agent"
        if record.prompt_source == "system":
            return "system"
        origin = record.origin.get("kind") if isinstance(record.origin, dict) else None
        is_program = record.prompt_source == "sdk" and origin != "human"
        if is_program and str(record.entrypoint).startswith("sdk"):
            return "agent"
        return "human"

    def _shell_call(self, record: ClaudeRecord, place: int, command: str) -> None:
        """A command typed after `!`, which the client runs itself."""
        turn = self.tree.turn(place)
        call = self.state.shell = native_id(record.uuid) or turn.key
        self.state.calls[call] = place
        self.out.append(
            Event(
                session=turn.session,
                turn=turn.key,
                kind="tool_call",
                at=milliseconds(record.timestamp),
                call=call,
                name="Bash",
                tool_kind="shell",
                target=command,
                input={"command": command},
                folder=_folder(record),
            )
        )

    def _shell_output(self, record: ClaudeRecord, place: int | None, text: str) -> int | None:
        call, self.state.shell = self.state.shell, None
        number = self.state.calls.pop(call, None) if call else None
        if call and number is not None:
            _, turn = self.at(record, number)
            at = milliseconds(record.timestamp)
            self.out.append(
                ToolResult(session=turn.session, turn=turn.key, call=call, at=at, output=text)
            )
        return place

    def _attachment(self, record: ClaudeRecord, place: int | None) -> int | None:
        attachment = record.attachment
        if type(attachment) is not ClaudeAttachment or attachment.type != "queued_command":
            return place
        sender = _sender(attachment.origin)
        if attachment.is_meta and sender is None:
            return place
        said = _sent_by(sender, prompt_of(attachment.prompt))
        if attachment.command_mode == "task-notification" and said.shape == "prompt":
            said = said._replace(author="system")
        return self._said(record, place, said)

    def _system(self, record: ClaudeRecord, place: int | None) -> int | None:
        subtype = record.subtype
        if subtype == "local_command":
            said = prompt_of(record.content)
            if said.shape == "prompt" and said.text.startswith("/"):
                said = said._replace(shape="command")
            return self._said(record, place, said)
        if subtype == "turn_duration":
            self.measure(place, turn_duration_ms=record.duration_ms)
        elif subtype == "compact_boundary":
            if place is not None:
                self.follow(place)
            details = record.compact_metadata if isinstance(record.compact_metadata, dict) else {}
            self.measure(
                place, compaction=details.get("trigger"), compacted_tokens=details.get("preTokens")
            )
        elif (type(subtype) is str and subtype in _ERRORS) or record.level == "error":
            # Ten tries of one call are one error.
            if count(record.retry_attempt) <= 1:
                self.event(record, place, "error", _error_text(record))
            if record.retracted_message_uuids:
                self.measure(place, withdrawn=True)
        return place

    # What the model says and its tools give back -------------------------------

    def _assistant(self, record: ClaudeRecord, place: int | None) -> int | None:
        message = record.message
        if type(message) is not ClaudeMessage:
            self._odd_one("assistant record without a message")
            return place
        if place is not None and place != self.tree.tip:
            self.follow(place)
        if place is None or place == ROOT or place != self.here:
            place, turn = self.at(record, place)
            self.here, self.turn = place, turn
        else:
            turn = self.turn
        self.state.answered = True
        at = milliseconds(record.timestamp)
        content = message.content
        blocks: list[Any] = content if type(content) is list else [content]
        if message.model == SYNTHETIC or record.is_api_error_message:
            self._synthetic(turn, at, blocks)
            return place
        telemetry = self.items.telemetry(place, turn)
        if type(message.usage) is ClaudeUsage:
            self.items.count_usage(record, message, message.usage, turn, at, telemetry)
        if type(message.stop_reason) is str:
            telemetry["stop_reason"] = message.stop_reason[:FACT_CHARACTERS]
        if type(record.effort) is str:
            telemetry["effort"] = record.effort[:FACT_CHARACTERS]
        for block in blocks:
            if type(block) is ClaudeBlock:
                self._block(record, turn, place, block, at)
            elif type(block) is str and block.strip():
                self.out.append(
                    Event(session=turn.session, turn=turn.key, kind="reply", at=at, text=block)
                )
        return place

    def _synthetic(self, turn: ClaudeTurn, at: int | None, blocks: list[Any]) -> None:
        """What the client says in the model's place: nothing, or that something went wrong."""
        for block in blocks:
            text = block.text if type(block) is ClaudeBlock else block
            if type(text) is not str or not text.strip():
                continue
            if text.startswith("No response requested"):
                continue
            kind: EventKind = "abort" if text.startswith("[Request interrupted") else "error"
            self.out.append(Event(session=turn.session, turn=turn.key, kind=kind, at=at, text=text))

    def _block(
        self, record: ClaudeRecord, turn: ClaudeTurn, place: int, block: ClaudeBlock, at: int | None
    ) -> None:
        kind = block.type
        if kind in _CALLS:
            self._call(record, turn, place, block, at)
        elif kind == "text":
            if type(block.text) is str and block.text.strip():
                # Withdrawn text is kept, but not as what was answered.
                withdrawn = self.withdrawn and native_id(record.uuid) in self.withdrawn
                said: EventKind = "reasoning" if withdrawn else "reply"
                self.out.append(
                    Event(session=turn.session, turn=turn.key, kind=said, at=at, text=block.text)
                )
        elif kind == "thinking":
            # Newer versions leave the text out and keep a signature.
            text = block.thinking
            if type(text) is str and text.strip():
                self.out.append(
                    Event(session=turn.session, turn=turn.key, kind="reasoning", at=at, text=text)
                )
        elif type(kind) is str and kind.endswith("tool_result"):
            self._result(record, block, None, place)

    def _call(
        self, record: ClaudeRecord, turn: ClaudeTurn, place: int, block: ClaudeBlock, at: int | None
    ) -> None:
        name, call = block.name, block.id
        if type(name) is not str:
            name = ""
        if type(call) is not str or len(call) > ID_CHARACTERS:
            call = native_id(call) or digest(record.uuid, name, record.timestamp)
        tool_kind = kind_of(name)
        self.out.append(
            Event(
                session=turn.session,
                turn=turn.key,
                kind="tool_call",
                at=at,
                call=call,
                name=name,
                tool_kind=tool_kind,
                target=target_of(tool_kind, block.input),
                input=block.input,
                folder=_folder(record) if tool_kind == "shell" else None,
            )
        )
        early = self._early.pop(call, None) if self._early else None
        if early is None:
            self.state.calls[call] = place
        else:
            early.session, early.turn = turn.session, turn.key
            self.out.append(early)

    def _results(self, record: ClaudeRecord, content: Any, place: int | None) -> int | None:
        outcome = record.tool_use_result
        for block in content:
            if type(block) is not ClaudeBlock:
                continue
            if block.type == "tool_result":
                self._result(record, block, outcome, place)
            elif type(block.text) is str and block.text.startswith("[Request interrupted"):
                self.event(record, place, "abort", block.text)
        return place

    def _result(
        self, record: ClaudeRecord, block: ClaudeBlock, outcome: Any, place: int | None
    ) -> None:
        call = block.tool_use_id
        if type(call) is not str or len(call) > ID_CHARACTERS:
            call = native_id(call) or native_id(record.source_tool_use_id)
            if call is None:
                return
        number = self.state.calls.pop(call, None)
        if number is not None and number == self.here:
            turn = self.turn
        else:
            _, turn = self.at(record, place if number is None else number)
        text = result_text(block, outcome, self.log.overflow)
        # There is no status, only marks of failure.
        known = type(outcome) is ClaudeToolResult
        ok: bool | None = not (block.is_error or (known and outcome.interrupted is True))
        if ok and text and text.startswith(_IN_BACKGROUND):
            # It has begun; how it ends is told to another call.
            ok = None
        result = ToolResult(
            session=turn.session,
            turn=turn.key,
            call=call,
            at=milliseconds(record.timestamp),
            output=text,
            ok=ok,
            exit_code=exit_code(text) if ok is False else None,
            duration_ms=duration_ms(outcome) if known else None,
        )
        if number is not None:
            self.out.append(result)
        else:
            # Written before its call: they are joined when that comes.
            self._early[call] = result

    # Records beside the chain -------------------------------------------------

    def _take_other(self, record: ClaudeRecord) -> None:
        kind = record.type
        if type(kind) is not str or kind not in _OTHER:
            name = kind[:60] if type(kind) is str else "missing"
            self._odd_one(f"record type {name}", unknown=True)
            return
        take = _OTHER[kind]
        if take is not None:
            take(self, record)

    def _titled(self, record: ClaudeRecord) -> None:
        self.items.title(record.type, record.custom_title or record.agent_name or record.ai_title)

    def _summary(self, record: ClaudeRecord) -> None:
        """A title for what ends in a leaf, which may be in another file, or still to come."""
        leaf, leaves = native_id(record.leaf_uuid), self.state.leaves
        if leaf is None or not isinstance(record.summary, str):
            return
        if self.tree.find(leaf) is not None:
            self.items.title("summary", record.summary)
        elif len(leaves) < KEPT // 4:
            leaves[leaf] = record.summary[:FACT_CHARACTERS]

    def _linked(self, record: ClaudeRecord) -> None:
        """Where else this session's work is: a pull request, a worktree, another folder."""
        tree = record.worktree_session if isinstance(record.worktree_session, dict) else {}
        self.items.know(
            pull_request=record.pr_url,
            relocated_to=record.relocated_cwd,
            worktree=tree.get("worktreePath"),
            worktree_branch=tree.get("worktreeBranch"),
        )

    def _forked(self, record: ClaudeRecord) -> None:
        """An agent that began with its parent's context says so instead of copying it."""
        self.items.know(inherits_context=True)
        if self.state.session is None:
            self.items.adopt(native_id(record.parent_session_id))

    def _odd_one(self, reason: str, *, unknown: bool = False) -> None:
        if (unknown, reason) in self._odd or len(self._odd) < KEPT:
            self._odd[unknown, reason] = self._odd.get((unknown, reason), 0) + 1


_CHAIN: dict[str, Callable[[ClaudeReader, ClaudeRecord, int | None], int | None]] = {
    "user": ClaudeReader._user,
    "assistant": ClaudeReader._assistant,
    "system": ClaudeReader._system,
    "attachment": ClaudeReader._attachment,
    # A link of the chain that says nothing new: what it repeats is in other records.
    "progress": lambda reader, record, place: place,
}
_OTHER: dict[str, Callable[[ClaudeReader, ClaudeRecord], None] | None] = {
    "summary": ClaudeReader._summary,
    "ai-title": ClaudeReader._titled,
    "custom-title": ClaudeReader._titled,
    "agent-name": ClaudeReader._titled,
    "pr-link": ClaudeReader._linked,
    "worktree-state": ClaudeReader._linked,
    "relocated": ClaudeReader._linked,
    "fork-context-ref": ClaudeReader._forked,
    # Known and passed over: the prompt queue, undo data, the client's own state.
    "queue-operation": None,
    "file-history-snapshot": None,
    "file-history-delta": None,
    "last-prompt": None,
    "permission-mode": None,
    "mode": None,
    "bridge-session": None,
    "frame-link": None,
    "atis-latch": None,
    "started": None,
    "result": None,
}


def _sender(origin: object) -> Author | None:
    """Who writes a prompt that is not a person's; None when nothing says so.

    The client marks such a prompt as its own, which it marks skills and reminders as, too.
    """
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return _ORIGINS.get(kind) if isinstance(kind, str) else None


def _sent_by(sender: Author | None, said: ClaudeUserText) -> ClaudeUserText:
    """A prompt as its sender wrote it."""
    if sender is None or said.shape != "prompt":
        return said
    return said._replace(text=without_frame(said.text), author=said.author or sender)


def _is_scheduled(record: ClaudeRecord) -> bool:
    """Whether this is a prompt that an agent gave itself for later: a loop, a wake-up."""
    return record.turn_origin == "scheduled" or record.scheduled_task_id is not None


def _folder(record: ClaudeRecord) -> str | None:
    """Where the client stood when it wrote a record; a `cd` of an earlier command moved it."""
    return record.cwd if type(record.cwd) is str and record.cwd else None


def _taken_back(record: ClaudeRecord) -> list[str]:
    taken: list[str] = []
    for uuids in (record.retracted_message_uuids, record.supersedes_uuids):
        if isinstance(uuids, list):
            taken += [uuid for uuid in uuids if isinstance(uuid, str)]
    return taken


def _error_text(record: ClaudeRecord) -> str:
    error = record.error if isinstance(record.error, dict) else {}
    deeper = error.get("error")
    deeper = deeper.get("message") if isinstance(deeper, dict) else None
    said = (error.get("formatted"), error.get("message"), deeper, record.content, record.error)
    text = next((text for text in said if isinstance(text, str) and text), "")
    status = count(error.get("status"))
    head = f"API error {status}" if status else str(record.subtype or "error").replace("_", " ")
    return f"{head}: {text}" if text else head
