"""Where the records of a Claude Code file belong: their turns, and what a checkpoint keeps.

The half of reading a transcript that has to do with order; `reader` reads what
is in the records.
"""

from __future__ import annotations

from itertools import islice

from msgspec import msgpack

from recollect.capture.adapters.claude_code.records import (
    ID_CHARACTERS,
    ClaudeBlock,
    ClaudeMessage,
    ClaudeRecord,
    native_id,
)
from recollect.capture.adapters.claude_code.session import (
    FACT_CHARACTERS,
    ClaudeItems,
    ClaudeLog,
    ClaudeState,
    count,
)
from recollect.capture.adapters.claude_code.tree import ADRIFT, ROOT, ClaudeTurn, ClaudeTurnTree
from recollect.model.logs import Author, Event, EventKind, Liveness, TurnFacts, milliseconds

# What a checkpoint keeps. A rewind past the kept turns, or a parent past the
# kept records, costs a second look at the file and nothing else.
KEPT = 200
_STATE_BYTES = 60_000
_START = "/start"


class ClaudeTurns:
    """The turns of one file as they are begun and continued."""

    def __init__(self, log: ClaudeLog, state: ClaudeState | None = None) -> None:
        self.log = log
        # In a sub-agent's own file every record is a sidechain's.
        self.main = log.agent is None
        self.state = state or ClaudeState(session=log.session)
        self.items = ClaudeItems(log, self.state)
        self.out = self.items.out
        self.tree = ClaudeTurnTree(self.state.turns, self.state.base, self.state.tip)
        self.tree.places = self.state.places
        # The turn of the last answer, which is most often that of the next too.
        self.here: int | None = None
        self.turn = ClaudeTurn(session="", key="")

    def save(self) -> bytes:
        """The state for a checkpoint, cut down until it fits."""
        state, tree, kept = self.state, self.tree, KEPT
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

    def place(self, record: ClaudeRecord) -> int:
        """The turn that a record of the conversation continues.

        The tip when nothing says otherwise.
        """
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

    def side_place(self, record: ClaudeRecord) -> int | None:
        """The turn of the inline sub-agent that a record is from; None when it is a new one's."""
        tree, sides = self.tree, self.state.sides
        parent = native_id(record.parent_uuid)
        place = tree.places.get(parent, ROOT) if parent else ROOT
        if place >= 0 and tree.turn(place).side:
            return place
        agent = native_id(record.agent_id)
        if agent is not None:
            return sides.get(agent)
        starts = record.type == "user" and not holds_results(content_of(record))
        return None if starts else sides.get("")

    def follow(self, place: int) -> None:
        """Move the tip when a record continues a branch that was left."""
        tree = self.tree
        if place in (tree.tip, ROOT):
            return
        if not tree.turn(place).side and not tree.on_path(place):
            self._switch(place)

    def _switch(self, place: int) -> None:
        for turn in self.tree.switch(place):
            self.items.announce(turn.session)
            self.out.append(Liveness(session=turn.session, turn=turn.key, live=turn.live))

    # Turns ------------------------------------------------------------------

    def open(self, record: ClaudeRecord, place: int | None, key: str, author: Author) -> int:
        """Begin a turn where a prompt stands."""
        self.items.flush_usage()
        tree, state = self.tree, self.state
        link = native_id(record.parent_uuid) or ""
        first: ClaudeRecord | None = record
        if record.is_sidechain and self.main:
            number = self._open_side(record, place, key, link)
            first = record if place is None else None
        else:
            is_whole = tree.base == 0 and tree.turns
            if place == ROOT and is_whole and tree.turns[0].key.endswith(_START):
                place = 0
            if place is not None and place != tree.tip:
                self._switch(place)
            number = tree.add(
                ClaudeTurn(session=state.session or "", key=key, parent=tree.tip, link=link)
            )
            tree.tip = number
            state.prompt_id = native_id(record.prompt_id)
            state.prompt_time = native_id(record.timestamp)
            state.answered = False
            self.use_caveat(link)
            self.items.notice(record)
        self.here = number
        self.turn = turn = tree.turn(number)
        session, mode = turn.session, record.permission_mode
        telemetry = {"permission_mode": mode[:FACT_CHARACTERS]} if type(mode) is str else None
        self.items.announce(session, first)
        self.out.append(
            TurnFacts(
                session=session,
                turn=key,
                at=milliseconds(record.timestamp),
                author=author,
                cwd=record.cwd if type(record.cwd) is str and record.cwd else None,
                telemetry=telemetry,
            )
        )
        return number

    def use_caveat(self, link: str | None) -> None:
        """See that a caveat places what hangs on it once only.

        The client hangs every later local command on the same caveat, however
        old it is: from then on that says nothing.
        """
        if link and link == self.state.caveat:
            self.tree.places[link] = ADRIFT
            self.state.caveat = None

    def _open_side(self, record: ClaudeRecord, place: int | None, key: str, link: str) -> int:
        """A turn of a sub-agent inside this file, in a session of its own."""
        tree, sides = self.tree, self.state.sides
        agent = native_id(record.agent_id)
        if place is not None:
            session = tree.turn(place).session
        else:
            session = f"{self.state.session}/{agent or native_id(record.uuid) or key}"
        sides[""] = number = tree.add(ClaudeTurn(session=session, key=key, link=link, side=True))
        if agent is not None:
            sides[agent] = number
        return number

    def at(self, record: ClaudeRecord, place: int | None) -> tuple[int, ClaudeTurn]:
        """The turn that holds what a record says, begun if nothing was said before."""
        if place == ROOT:
            place = self.tree.tip
        if place is None or place == ROOT:
            place = self.open(record, None, f"{self.state.session}{_START}", "system")
        turn = self.tree.turn(place)
        self.items.announce(turn.session)
        return place, turn

    def event(self, record: ClaudeRecord, place: int | None, kind: EventKind, text: str) -> int:
        place, turn = self.at(record, place)
        at = milliseconds(record.timestamp)
        self.out.append(Event(session=turn.session, turn=turn.key, kind=kind, at=at, text=text))
        return place

    def measure(self, place: int | None, **values: object) -> None:
        if place == ROOT:
            place = self.tree.tip
        if place is not None and place != ROOT:
            telemetry = self.items.telemetry(place, self.tree.turn(place))
            for name, value in values.items():
                is_short = type(value) is str and len(value) <= FACT_CHARACTERS
                if value is True or is_short or count(value):
                    telemetry[name] = value


def content_of(record: ClaudeRecord) -> object:
    """What a user record holds, however it is wrapped."""
    message = record.message
    return message.content if type(message) is ClaudeMessage else message


def holds_results(content: object) -> bool:
    """Whether tool results are among the blocks: then no person is speaking."""
    if type(content) is list:
        for block in content:
            if type(block) is ClaudeBlock and block.type == "tool_result":
                return True
    return False


def _newest(numbers: dict[str, int], kept: int) -> dict[str, int]:
    return dict(islice(numbers.items(), max(0, len(numbers) - kept), None))
