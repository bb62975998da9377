"""The running reading of one Claude Code file: records in, items out.

Each record of the chain gets its place, the turn it belongs to, and is then
read by its type. `_claude_tree` knows how turns follow each other,
`_claude_prompts` what a user record means, `_claude_ledger` keeps the items.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from msgspec import msgpack

from recollect.capture.adapters._claude_ledger import FACT_CHARACTERS, Ledger, Log, State, count
from recollect.capture.adapters._claude_prompts import Said, is_caveat, prompt_of
from recollect.capture.adapters._claude_records import (
    ID_CHARACTERS,
    SYNTHETIC,
    Attachment,
    Block,
    Message,
    Record,
    Spent,
    digest,
    native_id,
)
from recollect.capture.adapters._claude_tools import (
    duration_ms,
    exit_code,
    kind_of,
    result_ok,
    result_text,
    target_of,
)
from recollect.capture.adapters._claude_tree import ADRIFT, ROOT, Tree, Turn
from recollect.model import Author, Event, EventKind, Liveness, Problem, ToolResult, TurnFacts, milliseconds

# What a checkpoint keeps. A rewind past the kept turns, or a parent past the
# kept records, costs a second look at the file and nothing else.
_KEPT = 200
_STATE_BYTES = 60_000
_START = "start"
# Who writes a prompt, for the origins that are not a person.
_ORIGINS: dict[str, Author] = {
    "task-notification": "system",
    "channel": "system",
    "peer": "agent",
    "coordinator": "agent",
}
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_ERRORS = ("api_error", "error", "api_refusal", "model_refusal_fallback")


class Transcript:
    """Takes the records of one file in order and turns them into items."""

    def __init__(self, log: Log, state: State | None = None) -> None:
        self.log = log
        # In a sub-agent's own file every record is a sidechain's.
        self._main = log.agent is None
        self.state = state or State(session=log.session)
        self.ledger = Ledger(log, self.state)
        self.out = self.ledger.out
        self.tree = Tree(self.state.turns, self.state.base, self.state.tip)
        self.tree.places = self.state.places
        # Lines that a later record of the same block takes back.
        self.withdrawn: set[str] = set()
        # The turn of the last answer, which is most often that of the next too.
        self._here: int | None = None
        self._turn = Turn(session="", key="")
        self._early: dict[str, ToolResult] = {}
        self._odd: dict[tuple[bool, str], int] = {}

    def take(self, record: Record) -> None:
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
            self.ledger.adopt(native_id(record.session_id))
        place = self._side_place(record) if record.is_sidechain and self._main else self._place(record)
        place = take(self, record, place)
        if uuid is not None and place is not None:
            # Not `places`: finding an older record may have replaced it.
            self.tree.places[uuid] = place
            if self.state.leaves and uuid in self.state.leaves:
                self.ledger.title("summary", self.state.leaves.pop(uuid))

    def close_block(self) -> None:
        """Hand over what waited for something in the same block."""
        self.out.extend(self._early.values())
        self._early.clear()
        self.withdrawn.clear()
        self.ledger.close()
        self.tree.let_go()

    def problems(self) -> list[Problem]:
        """What could not be made sense of, one for each sort."""
        return [
            Problem(path=self.log.path, kind="unknown" if unknown else "bad_record", reason=reason, count=met)
            for (unknown, reason), met in self._odd.items()
        ]

    def save(self) -> bytes:
        """The state for a checkpoint, cut down until it fits."""
        state, tree, kept = self.state, self.tree, _KEPT
        while True:
            state.turns = tree.turns[-kept:]
            state.base, state.tip = tree.count - len(state.turns), tree.tip
            links = {turn.link: turn.parent for turn in state.turns if turn.link}
            places = links | _newest(tree.places, kept)
            lowest = state.base or ROOT
            state.places = {uuid: at for uuid, at in places.items() if at >= lowest or at == ADRIFT}
            state.calls, state.sides = _newest(state.calls, kept), _newest(state.sides, kept)
            data = msgpack.encode(state)
            if len(data) <= _STATE_BYTES or kept == 1:
                return data
            kept //= 2
            if kept == 1:
                state.leaves, state.news, state.meta_news, state.facts = {}, {}, {}, {}

    # Places -----------------------------------------------------------------

    def _place(self, record: Record) -> int:
        """The turn that a record of the conversation continues; the tip when nothing says otherwise."""
        tree = self.tree
        # A compaction starts a new root, and names what it really follows.
        parent = record.parent_uuid or record.logical_parent_uuid
        if type(parent) is not str or len(parent) > ID_CHARACTERS:
            parent = native_id(parent)
            if parent is None:
                return tree.tip
        place = tree.places.get(parent)
        if place == tree.tip or place == ADRIFT:
            return tree.tip
        if place is None and tree.rescan is not None and record.type in ("user", "assistant"):
            place = tree.find(parent)
        if place is None or place == ADRIFT or (place != ROOT and tree.turn(place).side):
            return tree.tip
        return place

    def _side_place(self, record: Record) -> int | None:
        """The turn of the inline sub-agent that a record belongs to, None when it is a new one's."""
        tree, sides = self.tree, self.state.sides
        parent = native_id(record.parent_uuid)
        place = tree.places.get(parent, ROOT) if parent else ROOT
        if place >= 0 and tree.turn(place).side:
            return place
        agent = native_id(record.agent_id)
        if agent is not None:
            return sides.get(agent)
        starts = record.type == "user" and not _holds_results(_content(record))
        return None if starts else sides.get("")

    def _follow(self, place: int) -> None:
        """Move the tip when a record continues a branch that was left."""
        tree = self.tree
        if place != tree.tip and place != ROOT and not tree.turn(place).side and not tree.on_path(place):
            self._switch(place)

    def _switch(self, place: int) -> None:
        for turn in self.tree.switch(place):
            self.ledger.announce(turn.session)
            self.out.append(Liveness(session=turn.session, turn=turn.key, live=turn.live))

    # Turns ------------------------------------------------------------------

    def _open(self, record: Record, place: int | None, key: str, author: Author) -> int:
        """Begin a turn where a prompt stands."""
        self.ledger.flush_usage()
        tree, state = self.tree, self.state
        link = native_id(record.parent_uuid) or ""
        first: Record | None = record
        if record.is_sidechain and self._main:
            number = self._open_side(record, place, key, link)
            first = record if place is None else None
        else:
            if place == ROOT and tree.base == 0 and tree.turns and tree.turns[0].key == _START:
                place = 0
            if place is not None and place != tree.tip:
                self._switch(place)
            number = tree.add(Turn(session=state.session or "", key=key, parent=tree.tip, link=link))
            tree.tip = number
            state.prompt_id, state.prompt_time = native_id(record.prompt_id), native_id(record.timestamp)
            state.answered = False
            if link and link == state.caveat:
                # The client hangs every later local command on the same
                # caveat, however old it is: from here on that says nothing.
                tree.places[link] = ADRIFT
                state.caveat = None
            self.ledger.notice(record)
        self._here = number
        self._turn = turn = tree.turn(number)
        session, mode = turn.session, record.permission_mode
        self.ledger.announce(session, first)
        self.out.append(
            TurnFacts(
                session=session,
                turn=key,
                at=milliseconds(record.timestamp),
                author=author,
                cwd=record.cwd if type(record.cwd) is str and record.cwd else None,
                telemetry={"permission_mode": mode[:FACT_CHARACTERS]} if type(mode) is str else None,
            )
        )
        return number

    def _open_side(self, record: Record, place: int | None, key: str, link: str) -> int:
        """A turn of a sub-agent inside this file, in a session of its own."""
        tree, sides = self.tree, self.state.sides
        agent = native_id(record.agent_id)
        if place is not None:
            session = tree.turn(place).session
        else:
            session = f"{self.state.session}/{agent or native_id(record.uuid) or key}"
        sides[""] = number = tree.add(Turn(session=session, key=key, link=link, side=True))
        if agent is not None:
            sides[agent] = number
        return number

    def _at(self, record: Record, place: int | None) -> tuple[int, Turn]:
        """The turn that holds what a record says, begun if nothing was said before."""
        if place == ROOT:
            place = self.tree.tip
        if place is None or place == ROOT:
            place = self._open(record, None, _START, "system")
        turn = self.tree.turn(place)
        self.ledger.announce(turn.session)
        return place, turn

    def _event(self, record: Record, place: int | None, kind: EventKind, text: str) -> int:
        place, turn = self._at(record, place)
        at = milliseconds(record.timestamp)
        self.out.append(Event(session=turn.session, turn=turn.key, kind=kind, at=at, text=text))
        return place

    def _measure(self, place: int | None, **values: object) -> None:
        if place == ROOT:
            place = self.tree.tip
        if place is not None and place != ROOT:
            telemetry = self.ledger.telemetry(place, self.tree.turn(place))
            for name, value in values.items():
                if value is True or count(value) or (type(value) is str and len(value) <= FACT_CHARACTERS):
                    telemetry[name] = value

    # What people and clients say ---------------------------------------------

    def _user(self, record: Record, place: int | None) -> int | None:
        content = _content(record)
        if _holds_results(content):
            return self._results(record, content, place)
        if type(content) is not str and type(content) is not list:
            self._odd_one("user record without content")
            return place
        if record.is_compact_summary:
            return self._event(record, place, "compaction", prompt_of(content).text)
        if is_caveat(content):
            self.state.caveat = native_id(record.uuid)
        # What a tool put into the conversation, such as a skill's text, was not typed.
        if record.is_meta or record.source_tool_use_id:
            return place
        return self._said(record, place, prompt_of(content))

    def _said(self, record: Record, place: int | None, said: Said) -> int | None:
        if said.shape == "nothing":
            return place
        if said.shape == "abort":
            return self._event(record, place, "abort", said.text)
        if said.shape == "compaction":
            return self._event(record, place, "compaction", said.text)
        if said.shape == "shell_output":
            return self._shell_output(record, place, said.text)
        text = "!" + said.text if said.shape == "shell" else said.text
        if place is None or not self._adds_to_prompt(record, place):
            key = native_id(record.uuid) or digest(record.timestamp, text)
            place = self._open(record, place, key, self._author(record, said))
        turn, at = self.tree.turn(place), milliseconds(record.timestamp)
        self.out.append(Event(session=turn.session, turn=turn.key, kind="prompt", at=at, text=text))
        if said.shape == "shell":
            self._shell_call(record, place, said.text)
        return place

    def _adds_to_prompt(self, record: Record, place: int) -> bool:
        """Whether a record is one more piece of the prompt before it, such as the text after a picture."""
        state = self.state
        if record.type != "user" or state.answered or place != self.tree.tip or not self._main:
            return False
        if state.prompt_id is not None:
            return state.prompt_id == native_id(record.prompt_id)
        return state.prompt_time is not None and state.prompt_time == native_id(record.timestamp)

    def _author(self, record: Record, said: Said) -> Author:
        origin = record.origin.get("kind") if isinstance(record.origin, dict) else None
        if said.author is not None:
            return said.author
        if isinstance(origin, str) and origin in _ORIGINS:
            return _ORIGINS[origin]
        if not self._main or record.is_sidechain:
            return "agent"
        if record.prompt_source == "system":
            return "system"
        if record.prompt_source == "sdk" and origin != "human" and str(record.entrypoint).startswith("sdk"):
            return "agent"
        return "human"

    def _shell_call(self, record: Record, place: int, command: str) -> None:
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
            )
        )

    def _shell_output(self, record: Record, place: int | None, text: str) -> int | None:
        call, self.state.shell = self.state.shell, None
        number = self.state.calls.pop(call, None) if call else None
        if call and number is not None:
            _, turn = self._at(record, number)
            at = milliseconds(record.timestamp)
            self.out.append(ToolResult(session=turn.session, turn=turn.key, call=call, at=at, output=text))
        return place

    def _attachment(self, record: Record, place: int | None) -> int | None:
        attachment = record.attachment
        if type(attachment) is not Attachment or attachment.type != "queued_command" or attachment.is_meta:
            return place
        said = prompt_of(attachment.prompt)
        if attachment.command_mode == "task-notification" and said.shape == "prompt":
            said = said._replace(author="system")
        return self._said(record, place, said)

    def _system(self, record: Record, place: int | None) -> int | None:
        subtype = record.subtype
        if subtype == "local_command":
            return self._said(record, place, prompt_of(record.content))
        if subtype == "turn_duration":
            self._measure(place, turn_duration_ms=record.duration_ms)
        elif subtype == "compact_boundary":
            if place is not None:
                self._follow(place)
            details = record.compact_metadata if isinstance(record.compact_metadata, dict) else {}
            self._measure(place, compaction=details.get("trigger"), compacted_tokens=details.get("preTokens"))
        elif (type(subtype) is str and subtype in _ERRORS) or record.level == "error":
            # Ten tries of one call are one error.
            if count(record.retry_attempt) <= 1:
                self._event(record, place, "error", _error_text(record))
            if record.retracted_message_uuids:
                self._measure(place, withdrawn=True)
        return place

    def _progress(self, record: Record, place: int | None) -> int | None:
        """A link of the chain that says nothing new: what it repeats is in other records."""
        return place

    # What the model says and its tools give back -------------------------------

    def _assistant(self, record: Record, place: int | None) -> int | None:
        message = record.message
        if type(message) is not Message:
            self._odd_one("assistant record without a message")
            return place
        if place is not None and place != self.tree.tip:
            self._follow(place)
        if place is None or place == ROOT or place != self._here:
            place, turn = self._at(record, place)
            self._here, self._turn = place, turn
        else:
            turn = self._turn
        self.state.answered = True
        at = milliseconds(record.timestamp)
        content = message.content
        blocks: list[Any] = content if type(content) is list else [content]
        if message.model == SYNTHETIC or record.is_api_error_message:
            self._synthetic(turn, at, blocks)
            return place
        if type(message.usage) is Spent:
            self.ledger.spend(record, message, message.usage, place, turn, at)
        if type(message.stop_reason) is str:
            self.ledger.telemetry(place, turn)["stop_reason"] = message.stop_reason[:FACT_CHARACTERS]
        if type(record.effort) is str:
            self.ledger.telemetry(place, turn)["effort"] = record.effort[:FACT_CHARACTERS]
        for block in blocks:
            if type(block) is Block:
                self._block(record, turn, place, block, at)
            elif type(block) is str and block.strip():
                self.out.append(Event(session=turn.session, turn=turn.key, kind="reply", at=at, text=block))
        return place

    def _synthetic(self, turn: Turn, at: int | None, blocks: list[Any]) -> None:
        """What the client says in the model's place: nothing, or that something went wrong."""
        for block in blocks:
            text = block.text if type(block) is Block else block
            if type(text) is not str or not text.strip() or text.startswith("No response requested"):
                continue
            kind: EventKind = "abort" if text.startswith("[Request interrupted") else "error"
            self.out.append(Event(session=turn.session, turn=turn.key, kind=kind, at=at, text=text))

    def _block(self, record: Record, turn: Turn, place: int, block: Block, at: int | None) -> None:
        kind = block.type
        if kind in _CALLS:
            self._call(record, turn, place, block, at)
        elif kind == "text":
            if type(block.text) is str and block.text.strip():
                # Withdrawn text is kept, but not as what was answered.
                said: EventKind = "reasoning" if self.withdrawn and record.uuid in self.withdrawn else "reply"
                self.out.append(Event(session=turn.session, turn=turn.key, kind=said, at=at, text=block.text))
        elif kind == "thinking":
            # Newer versions leave the text out and keep a signature.
            text = block.thinking
            if type(text) is str and text.strip():
                self.out.append(Event(session=turn.session, turn=turn.key, kind="reasoning", at=at, text=text))
        elif type(kind) is str and kind.endswith("tool_result"):
            self._result(record, block, None, place)

    def _call(self, record: Record, turn: Turn, place: int, block: Block, at: int | None) -> None:
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
            )
        )
        early = self._early.pop(call, None) if self._early else None
        if early is None:
            self.state.calls[call] = place
        else:
            early.session, early.turn = turn.session, turn.key
            self.out.append(early)

    def _results(self, record: Record, content: Any, place: int | None) -> int | None:
        outcome = record.tool_use_result
        for block in content:
            if type(block) is not Block:
                continue
            if block.type == "tool_result":
                self._result(record, block, outcome, place)
            elif type(block.text) is str and block.text.startswith("[Request interrupted"):
                self._event(record, place, "abort", block.text)
        return place

    def _result(self, record: Record, block: Block, outcome: object, place: int | None) -> None:
        call = block.tool_use_id
        if type(call) is not str or len(call) > ID_CHARACTERS:
            call = native_id(call) or native_id(record.source_tool_use_id)
            if call is None:
                return
        number = self.state.calls.pop(call, None)
        if number is not None and number == self._here:
            turn = self._turn
        else:
            _, turn = self._at(record, place if number is None else number)
        text = result_text(block, outcome, self.log.overflow)
        ok = result_ok(block, outcome)
        result = ToolResult(
            session=turn.session,
            turn=turn.key,
            call=call,
            at=milliseconds(record.timestamp),
            output=text,
            ok=ok,
            exit_code=None if ok else exit_code(text),
            duration_ms=duration_ms(outcome),
        )
        if number is not None:
            self.out.append(result)
        else:
            # Written before its call: they are joined when that comes.
            self._early[call] = result

    # Records beside the chain -------------------------------------------------

    def _take_other(self, record: Record) -> None:
        kind = record.type
        if type(kind) is not str or kind not in _OTHER:
            name = kind[:60] if type(kind) is str else "missing"
            self._odd_one(f"record type {name}", unknown=True)
            return
        take = _OTHER[kind]
        if take is not None:
            take(self, record)

    def _titled(self, record: Record) -> None:
        self.ledger.title(record.type, record.custom_title or record.agent_name or record.ai_title)

    def _summary(self, record: Record) -> None:
        """A title for what ends in a leaf, which may be in another file, or still to come."""
        leaf, leaves = native_id(record.leaf_uuid), self.state.leaves
        if leaf is None or not isinstance(record.summary, str):
            return
        if self.tree.find(leaf) is not None:
            self.ledger.title("summary", record.summary)
        elif len(leaves) < _KEPT // 4:
            leaves[leaf] = record.summary[:FACT_CHARACTERS]

    def _linked(self, record: Record) -> None:
        """Where else this session's work is: a pull request, a worktree, another folder."""
        tree = record.worktree_session if isinstance(record.worktree_session, dict) else {}
        self.ledger.know(
            pull_request=record.pr_url,
            relocated_to=record.relocated_cwd,
            worktree=tree.get("worktreePath"),
            worktree_branch=tree.get("worktreeBranch"),
        )

    def _forked(self, record: Record) -> None:
        """An agent that began with its parent's context says so instead of copying it."""
        self.ledger.know(inherits_context=True)
        if self.state.session is None:
            self.ledger.adopt(native_id(record.parent_session_id))

    def _odd_one(self, reason: str, *, unknown: bool = False) -> None:
        if (unknown, reason) in self._odd or len(self._odd) < _KEPT:
            self._odd[unknown, reason] = self._odd.get((unknown, reason), 0) + 1


_CHAIN: dict[str, Callable[[Transcript, Record, int | None], int | None]] = {
    "user": Transcript._user,
    "assistant": Transcript._assistant,
    "system": Transcript._system,
    "attachment": Transcript._attachment,
    "progress": Transcript._progress,
}
_OTHER: dict[str, Callable[[Transcript, Record], None] | None] = {
    "summary": Transcript._summary,
    "ai-title": Transcript._titled,
    "custom-title": Transcript._titled,
    "agent-name": Transcript._titled,
    "pr-link": Transcript._linked,
    "worktree-state": Transcript._linked,
    "relocated": Transcript._linked,
    "fork-context-ref": Transcript._forked,
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


def _content(record: Record) -> object:
    message = record.message
    return message.content if type(message) is Message else message


def _holds_results(content: object) -> bool:
    if type(content) is list:
        for block in content:
            if type(block) is Block and block.type == "tool_result":
                return True
    return False


def _error_text(record: Record) -> str:
    error = record.error if isinstance(record.error, dict) else {}
    deeper = error.get("error")
    deeper = deeper.get("message") if isinstance(deeper, dict) else None
    said = (error.get("formatted"), error.get("message"), deeper, record.content, record.error)
    text = next((text for text in said if isinstance(text, str) and text), "")
    status = count(error.get("status"))
    head = f"API error {status}" if status else str(record.subtype or "error").replace("_", " ")
    return f"{head}: {text}" if text else head


def _newest(numbers: dict[str, int], kept: int) -> dict[str, int]:
    return dict(islice(numbers.items(), max(0, len(numbers) - kept), None))
