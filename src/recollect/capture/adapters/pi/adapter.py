"""Pi and its descendants (oh-my-pi, OpenClaw): one JSONL file per session, a
tree of entries that is appended to.

What we rely on, and how we know, is written down in docs/formats/pi.md.
`tree` knows which turn an entry belongs to and which turns were left.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from recollect.capture.adapters.pi.tree import ENTRIES, Entry, Tree, role_of, time_of
from recollect.capture.logs.appended import TalkReader, read_appended, resumed
from recollect.capture.logs.dialogue import LONGEST_ID, Dialogue, Standing
from recollect.capture.logs.folders import files_in, listed, name_in_text
from recollect.capture.logs.lines import first_objects
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
from recollect.model.logs import Checkpoint, Item, Source

# A file is named by when its session began, and by the session's id.
_name = re.compile(r"^\d{4}-\d\d-\d\dT[\d-]+Z_(.+)\.jsonl$")
_exit_code = re.compile(r"\n\nCommand exited with code (\d{1,9})\s*$")
# Known, and nothing for us: what extensions keep for themselves or say to the
# model, bookmarks, settings of a model.
_KNOWN = "custom custom_message label service_tier_change reset_boundary ttsr_injection credential_pin session_init"
_PASSED_OVER = frozenset(_KNOWN.split())
_SILENT_ROLES = frozenset({"custom", "hookMessage", "developer", "fileMention"})


class State(Struct):
    """Where a session stands: its last entry and the turn of that."""

    session: str
    tip: str = ""
    turn: str = ""
    standing: Standing = field(default_factory=Standing)


class Pi:
    """Reads the sessions of Pi, and of those that were made from it."""

    agent = "pi"
    name = "Pi"
    version = 1
    endings = (".jsonl",)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """`PI_CODING_AGENT_DIR` in place of `~/.pi/agent`, and the folders of the descendants.

        The sessions alone, where that can be: beside them are keys, programs and packages.
        """
        moved = environ.get("PI_CODING_AGENT_DIR")
        own = os.path.join(home, moved[2:]) if moved and moved.startswith("~/") else moved
        return [
            os.path.join(own or os.path.join(home, ".pi", "agent"), "sessions"),
            os.path.join(home, ".omp", "agent", "sessions"),
            os.path.join(home, ".openclaw", "agents"),
        ]

    def sources(self, root: str) -> Iterator[Source]:
        """`sessions/<folder>/<time>_<id>.jsonl`.

        OpenClaw has a folder for each agent and names files by id alone.
        """
        root = os.path.abspath(root)
        sessions, agents = (
            root if os.path.basename(root) == name else os.path.join(root, name)
            for name in ("sessions", "agents")
        )
        for folder in listed(sessions).folders:
            for path in files_in(folder, ".jsonl"):
                if _name.match(os.path.basename(path)):
                    yield Source(self.agent, path)
        for folder in listed(agents).folders:
            for path in files_in(os.path.join(folder, "sessions"), ".jsonl"):
                yield Source(self.agent, path)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A file that begins with the header of a session, perhaps after its title."""
        found = first_objects(head, 2)
        if found and found[0].get("type") == "title":
            found = found[1:]
        header = found[0] if found else {}
        told = all(text_of(header.get(name)) for name in ("id", "timestamp", "cwd"))
        return Source(self.agent, path) if header.get("type") == "session" and told else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What is new since a checkpoint."""
        position, state = resumed(since, State)
        return read_appended(source, position, ENTRIES, _Session(source.path, state))


class _Session(TalkReader):
    """Makes items of the entries of one file."""

    def __init__(self, path: str, state: State | None) -> None:
        self._state = state or State(_id_in(path))
        super().__init__(path, Dialogue(self._state.session, self._state.standing), self._state)
        self._tree = Tree()
        self._tree.turns[self._state.tip] = self._state.turn
        self._is_whole = state is None
        self._told = self._state.turn
        self._begun: list[str] = []

    def take(self, record: Entry) -> None:
        """One more entry."""
        if record.type == "session":
            self._begin(record)
            return
        before = self._go_to_place_of(record)
        state, talk = self._state, self.talk
        state.turn = self._tree.add(record, before)
        # An id without end is not remembered: should something hang on it, the file is asked.
        state.tip = (
            ""
            if record.id and len(str(record.id)) > LONGEST_ID
            else text_of(record.id) or state.tip
        )
        match record.type:
            case "message":
                self._take_message(record, role_of(record))
            case "compaction" | "branch_summary":
                talk.say("compaction", text_of(record.summary), at=moment_of(record.timestamp))
            case "session_info":
                talk.facts(title=text_of(record.name))
            case "title" | "title_change":
                talk.facts(title=text_of(record.title))
            case "model_change":
                self._learn(provider=record.provider, model=record.model_id or record.model)
            case "thinking_level_change":
                self._learn(thinking_level=record.thinking_level)
            case "mode_change":
                self._learn(mode=record.mode)
            case kind if not isinstance(kind, str) or kind not in _PASSED_OVER:
                self.odd.unknown("entry", kind)

    def drain(self) -> list[Item]:
        """The items that were made since the last time, and where they lead."""
        self._settle()
        return super().drain()

    # The session and its tree

    def _begin(self, header: Entry) -> None:
        state, talk = self._state, self.talk
        if (own := text_of(header.id)) and len(own) <= LONGEST_ID:
            state.session = talk.session = own
        parent = text_of(header.parent_session) or text_of(header.branched_from)
        talk.facts(
            parent=_id_in(parent) if parent else None,
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
            self.talk.facts(meta=known)

    def _go_to_place_of(self, entry: Entry) -> str:
        """Continue from the turn that an entry hangs on."""
        state = self._state
        if (
            not self._is_whole
            and text_of(entry.id)
            and text_of(entry.parent_id) not in self._tree.turns
        ):
            self._tree, self._is_whole = Tree.of(self.path), True
        before = self._tree.turn_before(entry, state.turn)
        if before != state.turn:
            state.standing.turn = before
        return before

    def _settle(self) -> None:
        """Say which turns were left since the last time, and which came back.

        Only where it ended counts.
        """
        path, told = self._tree.path(self._state.turn), self._tree.path(self._told)
        live, known = set(path), {*told, *self._begun}
        for turn in dict.fromkeys([*reversed(told), *self._begun]):
            if turn not in live:
                self.talk.undo(turn)
        for turn in reversed(path):
            if turn not in known:
                self.talk.undo(turn, live=True)
        self._told, self._begun = self._state.turn, []

    # Messages

    def _take_message(self, entry: Entry, role: str | None) -> None:
        message, talk, at = fields_of(entry.message), self.talk, time_of(entry)
        match role:
            case "user":
                self._begun.append(self._state.turn)
                talk.prompt(self._state.turn, content_text(message.get("content")), at=at)
            case "assistant":
                self._take_answer(entry, message, at)
            case "toolResult":
                self._take_result(message, at)
            case "bashExecution" | "pythonExecution":
                self._take_own_command(message, at)
            case "branchSummary" | "compactionSummary":
                talk.say("compaction", text_of(message.get("summary")), at=at)
            case _ if role not in _SILENT_ROLES:
                self.odd.unknown("role", message.get("role"))

    def _take_answer(self, entry: Entry, message: Fields, at: int | None) -> None:
        talk = self.talk
        content = message.get("content")
        for part in (
            [{"type": "text", "text": content}] if isinstance(content, str) else objects_of(content)
        ):
            match part.get("type"):
                case "text":
                    talk.say("reply", text_of(part.get("text")), at=at)
                case "thinking":
                    talk.say("reasoning", text_of(part.get("thinking")), at=at)
                case "toolCall":
                    talk.call(
                        text_of(part.get("id")),
                        text_of(part.get("name")) or "tool",
                        part.get("arguments"),
                        at=at,
                    )
                case "image" | "redactedThinking":
                    pass
                case kind:
                    self.odd.unknown("part", kind)
        if message.get("stopReason") == "aborted":
            talk.say("abort", text_of(message.get("errorMessage")), at=at)
        elif message.get("stopReason") == "error":
            talk.say("error", text_of(message.get("errorMessage")) or "the request failed", at=at)
        self._count(entry, message, at)

    def _count(self, entry: Entry, message: Fields, at: int | None) -> None:
        usage = fields_of(message.get("usage"))
        counts = [
            count_of(usage.get(name)) for name in ("input", "cacheRead", "cacheWrite", "output")
        ]
        figures = "/".join(map(str, counts))
        # Ids are given anew when an old file is opened, and are too short
        # to be unique among all sessions.
        key = (
            f"{at}/{figures}"
            if at is not None
            else f"{self._state.session}/{text_of(entry.id)}/{figures}"
        )
        self.talk.usage(
            key,
            model=text_of(message.get("model")),
            at=at,
            input=counts[0],
            cache_read=counts[1],
            cache_write=counts[2],
            output=counts[3],
            cost_usd=money_of(fields_of(usage.get("cost")).get("total")),
        )

    def _take_result(self, message: Fields, at: int | None) -> None:
        call = text_of(message.get("toolCallId"))
        if call is None:
            self.odd.bad("a tool result that names no call")
            return
        output = content_text(message.get("content"))
        failed = message.get("isError")
        # A file that was read may end like this, too.
        code = _exit_code.search(output[-200:]) if failed is True else None
        self.talk.result(
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
        self.talk.call(
            None,
            "!",
            {"command": command},
            at=at,
            kind="shell",
            output=text_of(message.get("output")) or "",
            ok=False if message.get("cancelled") is True else None if code is None else code == 0,
            exit_code=code,
        )


def _id_in(path: str) -> str:
    """The session that a file is about, by its name; a parent may also be named by its id alone."""
    name = name_in_text(path.replace("\\", "/"))
    match = _name.match(name)
    return match[1] if match else name.removesuffix(".jsonl")
