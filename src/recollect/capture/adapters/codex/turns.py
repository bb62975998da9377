"""Codex: the session and the turn that are open, and what must outlive a read.

A fork writes its own session_meta, then its parent's records with new
times, then goes on. What was copied is the parent's: neither shown nor counted
again. Its end is found from this file alone, so that it does not matter
whether the parent is still there, or which of the two is read first:

1. `subagent_history_start_ordinal`: the first ordinal that is the child's own.
   `history_base` without it: the parent is referred to and nothing is copied.
2. A turn id is a version 7 UUID and holds its time: a turn that began after
   the child's thread was made is the child's. `started_at` serves the same way.
3. Copied records are stamped in one go. Without a dated turn a pause of a
   second ends the copy; after one, only a pause that no slow disk explains.

When only a pause was there to go by, and no session_meta of the parent, the end is a
guess. Then the token counts keep keys that the parent's own have too, and
whoever keeps them counts each once.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct, field

from recollect.capture.adapters.codex.prompts import with_pictures
from recollect.capture.adapters.codex.records import (
    digest,
    epoch_moment,
    moment,
    uuid_moment,
    whole,
)
from recollect.capture.adapters.codex.session import CodexThread
from recollect.capture.adapters.codex.tokens import CodexTotals
from recollect.capture.logs.values import Fields
from recollect.model.logs import Author, Event, Item, Liveness, SessionFacts, TurnFacts

PAUSE_MS = 1000
LONG_PAUSE_MS = 60_000
MAX_STATE_BYTES = 60_000
MAX_CALLS = 300
# An output and the event that tells how the call went stand side by side, so a read
# that goes on needs only the last of the calls whose output is known.
KEPT_ANSWERED = 8
MAX_LIVE = 300
MAX_REPEATS = 200
MAX_TWINS = 60


class CodexCopiedHistory(Struct, array_like=True):
    """What one file copied from its parent: whether we are in it, and what was seen of it."""

    open: bool = False
    born: int | None = None
    start: int | None = None
    last_at: int | None = None
    dated: bool = False
    foreign: bool = False
    guessed: bool = False

    def begin(self, meta: Fields, born: int | None, at: int | None) -> None:
        """What the file's own session_meta says about copied history."""
        self.born, self.last_at = born, at
        self.start = whole(meta.get("subagent_history_start_ordinal"))
        if self.start is not None:
            self.open = True
        elif meta.get("history_base") is None:
            self.open = isinstance(meta.get("forked_from_id"), str)

    def meet_parent(self, at: int | None) -> None:
        """Another thread's session_meta: its history follows."""
        self.open, self.foreign, self.last_at = True, True, at

    def covers(self, payload: Fields, ordinal: object, at: int | None) -> bool:
        """Whether a record is copied; the first that is not ends the copy."""
        number = whole(ordinal)
        if self.start is not None and number is not None:
            self.open = number < self.start
            return self.open
        made_at = self._made(payload)
        if made_at is not None and self.born is not None:
            self.open = made_at < self.born
            self.dated = True
        elif at is None or self.last_at is None:
            # Without a clock there is nothing to tell copies by.
            self.open = self.last_at is not None
        elif at - self.last_at >= (LONG_PAUSE_MS if self.dated else PAUSE_MS):
            self.open = False
            self.guessed = not self.foreign and not self.dated
        if at is not None:
            self.last_at = at
        return self.open

    def _made(self, payload: Fields) -> int | None:
        turn = payload.get("turn_id")
        if turn is None:
            return None
        made_at = uuid_moment(turn)
        if made_at is None and payload.get("type") == "task_started":
            made_at = epoch_moment(payload.get("started_at"))
            # Whole seconds: a turn of the second in which the thread was made is its own.
            return made_at if made_at is None or made_at % 1000 else made_at + 999
        return made_at


class CodexState(Struct, array_like=True):
    """What a checkpoint carries; everything in it is bounded."""

    bare: bool | None = None
    who: CodexThread | None = None
    title: str | None = None
    cwd: str | None = None
    model: str | None = None
    context: Fields = field(default_factory=dict)
    # The turn that is open, the task it runs in, and how many prompts that task has had.
    turn: str = ""
    task: str = ""
    ended_task: str = ""
    prompts: int = 0
    filled: bool = False
    prompt: str = ""
    turn_cwd: str | None = None
    telemetry: Fields = field(default_factory=dict)
    # Whether user_message events exist here: then items of the role user say nothing new.
    told_by_events: bool = False
    # The turns of calls by their ids: of those that wait for an output, and of those that have one.
    calls: dict[str, str] = field(default_factory=dict)
    answered: dict[str, str] = field(default_factory=dict)
    twins: dict[str, int] = field(default_factory=dict)
    live: list[str] = field(default_factory=list)
    repeats: dict[str, int] = field(default_factory=dict)
    review: str = ""
    unnamed: int = 0
    copied: CodexCopiedHistory = field(default_factory=CodexCopiedHistory)
    meter: CodexTotals = field(default_factory=CodexTotals)
    # The calls that open scripts make, id, kind and target of each: by the id of
    # what will be answered, and by the cell of a script that goes on without it.
    scripts: dict[str, list[list[str]]] = field(default_factory=dict)
    cells: dict[str, list[list[str]]] = field(default_factory=dict)
    # The commands that go on, by their processes, and by the calls that ask after them.
    processes: dict[str, str] = field(default_factory=dict)
    asking: dict[str, str] = field(default_factory=dict)


class CodexTurns:
    """Opens the turns of a thread, gives them keys, and collects in `out` what there is to tell."""

    def __init__(self, state: CodexState | None = None) -> None:
        self.state = state or CodexState()
        self.out: list[Item] = []
        self.session = self.state.who.session if self.state.who else ""
        # Prompts that the model was given, until the screen has shown them too.
        self._held: list[tuple[str, list[str], object]] = []
        self._news = False
        # The open turn, once something is in it and nothing waits to open another:
        # the short way to what `content_turn` says.
        self.settled = ""
        # What was said in this turn, by text; those of an earlier read by digest. The
        # last is apart: its twin nearly always comes next, and then nothing is left of it.
        self._said: dict[tuple[str, str], int] = {}
        self._last_said: tuple[str, str, int] | None = None

    # The session ------------------------------------------------------------

    def be(self, who: CodexThread) -> None:
        """The session is known from here on."""
        self.state.who, self.session = who, who.session

    def facts(self) -> SessionFacts:
        """Who this is, for a read that goes on where another stopped."""
        who = self.state.who
        if who is None:
            return SessionFacts(session=self.session)
        return SessionFacts(session=self.session, parent=who.parent, origin=who.origin)

    def name(self, title: str | None) -> None:
        """A title, from the index of thread names or from an event."""
        if title and title != self.state.title and self.session:
            self.state.title = title
            self.out.append(SessionFacts(session=self.session, title=title))

    # The turn ---------------------------------------------------------------

    def open_turn(self, key: str, author: Author, at: int | None) -> None:
        """From here on everything belongs to this turn."""
        if self._news:
            self.tell_turn()
        state = self.state
        state.turn, state.filled, state.prompt, state.turn_cwd = key, False, "", state.cwd
        state.telemetry = state.context.copy()
        self._news = bool(state.telemetry)
        self.settled, self._last_said = "", None
        if state.twins:
            state.twins.clear()
        if self._said:
            self._said.clear()
        self.out.append(
            TurnFacts(session=self.session, turn=key, at=at, author=author, cwd=state.cwd)
        )

    def open_prompt(
        self, text: str, pictures: list[str], stamp: object, author: Author | None = None
    ) -> None:
        """A turn that begins with a prompt."""
        state, at, mark = self.state, moment(stamp), digest(text)
        key = self._key(mark, at)
        if author is None:
            is_subagent = state.who is not None and state.who.origin == "subagent"
            author = "agent" if is_subagent else "human"
        self.open_turn(key, author, at)
        state.prompts += 1
        state.prompt = mark
        live = state.live
        live.append(key)
        if len(live) > MAX_LIVE:
            del live[0]
        shown = with_pictures(text, pictures) if pictures else text
        self.out.append(Event(session=self.session, turn=key, kind="prompt", at=at, text=shown))

    def _key(self, mark: str, at: int | None) -> str:
        """The task's own id for its first prompt, a number added for those that steer it."""
        state = self.state
        if state.task:
            return f"{state.task}.{state.prompts + 1}" if state.prompts else state.task
        # Without a time the same words in another session are not a copy of these.
        told_by = self.session if at is None else at
        key = blake2b(f"{told_by} {mark}".encode(), digest_size=8).hexdigest()
        repeats = state.repeats
        if key not in repeats:
            repeats[key] = 1
            if len(repeats) > MAX_REPEATS:
                trim(repeats, MAX_REPEATS // 2)
            return key
        repeats[key] += 1
        return f"{key}.{repeats[key]}"

    def hold(self, text: str, pictures: list[str], stamp: object) -> None:
        """A prompt as the model saw it waits for the event that tells it."""
        self._held.append((text, pictures, stamp))
        self.settled = ""

    def open_held(self) -> None:
        """Prompts that no event told: the model's copy has to do."""
        held, self._held = self._held, []
        for text, pictures, stamp in held:
            self.open_prompt(text, pictures, stamp)

    def content_turn(self, stamp: object) -> str:
        """The turn that something said or done belongs to."""
        if self._held:
            self.open_held()
        state = self.state
        if state.task and not state.prompts:
            # A task that nobody prompted: a goal goes on, an agent was woken.
            state.prompts = 1
            self.open_turn(state.task, "system", moment(stamp))
        state.filled = True
        self.settled = state.turn or self.any_turn(stamp)
        return self.settled

    def any_turn(self, stamp: object) -> str:
        """The open turn, whatever it is; what comes before all prompts has one of its own."""
        if self._held:
            self.open_held()
        if not self.state.turn:
            self.open_turn(f"{self.session}/start", "system", moment(stamp))
        return self.state.turn

    def tell_turn(self) -> None:
        """What was learned about the open turn since it was last told."""
        state = self.state
        if self._news and state.turn:
            told = dict(state.telemetry) or None
            self.out.append(
                TurnFacts(session=self.session, turn=state.turn, cwd=state.turn_cwd, telemetry=told)
            )
        self._news = False

    def learn(self, facts: Fields) -> None:
        """Adds to the telemetry of the open turn what is not None."""
        telemetry = self.state.telemetry
        for name, value in facts.items():
            if value is not None and telemetry.get(name) != value:
                telemetry[name] = value
                self._news = True

    def roll_back(self, count: int) -> None:
        """The last turns were undone; a prompt that steered a task goes with it."""
        live = self.state.live
        while count > 0 and live:
            key = live.pop()
            self.out.append(Liveness(session=self.session, turn=key, live=False))
            if not (live and key.startswith(f"{live[-1].split('.')[0]}.")):
                count -= 1

    # The task ---------------------------------------------------------------

    def begin_task(self, task: str | None) -> None:
        """Codex works on something; its id is known from here on."""
        state = self.state
        if task is None or task in (state.task, state.ended_task):
            return
        # Some clients tell the prompt before the task that answers it.
        answers = bool(state.prompt) and not state.filled and not state.task
        state.task, state.prompts = task, 1 if answers else 0
        self.settled = ""

    def end_task(self) -> None:
        """It is done, or was given up."""
        state = self.state
        state.ended_task, state.task, state.prompts = state.task or state.ended_task, "", 0
        state.filled = True

    # What is said twice -----------------------------------------------------

    def is_twin(self, kind: str, text: str, side: int) -> bool:
        """Whether the other side has said this already; remembered to be matched if not.

        `side` is 1 for what the screen shows and -1 for what the model sees.
        """
        last, self._last_said = self._last_said, None
        if last is not None:
            last_kind, last_text, last_side = last
            if last_side != side and last_text == text and last_kind == kind:
                return True
            self._remember_said(last_kind, last_text, last_side)
        if (self._said or self.state.twins) and (count := self._count_said(kind, text)):
            self._remember_said(kind, text, side)
            return count * side < 0
        self._last_said = (kind, text, side)
        return False

    def _count_said(self, kind: str, text: str) -> int:
        """How often one side has said this more than the other, except for what was said last."""
        said, twins = self._said, self.state.twins
        if twins and not said.get((kind, text)):
            count = twins.pop(f"{kind}:{digest(text)}", 0)
            if count:
                said[kind, text] = count
        return said.get((kind, text), 0)

    def _remember_said(self, kind: str, text: str, side: int) -> None:
        said, mark = self._said, (kind, text)
        said[mark] = said.get(mark, 0) + side
        if len(said) > MAX_TWINS:
            trim(said, MAX_TWINS)

    def has_prompt(self, text: str) -> bool:
        """Whether the open turn began with this text."""
        return bool(self.state.turn) and self.state.prompt == digest(text)

    # The checkpoint ---------------------------------------------------------

    def flush(self) -> None:
        """Nothing waits beyond a checkpoint: held prompts and telemetry go out."""
        if self._held:
            self.open_held()
        self.tell_turn()

    def take_state(self) -> bytes:
        """The state as bytes, cut down until it fits a checkpoint."""
        state = self.state
        if self._last_said is not None:
            self._remember_said(*self._last_said)
            self._last_said = None
        kept = {
            f"{kind}:{digest(text)}": count for (kind, text), count in self._said.items() if count
        }
        state.twins = {**state.twins, **kept}
        self._said.clear()
        trim(state.answered, KEPT_ANSWERED)
        try:
            encoded = msgspec.msgpack.encode(state)
        except OverflowError:
            # A number that no msgpack integer holds, in a field we only pass on.
            state.context, state.telemetry = {}, {}
            encoded = msgspec.msgpack.encode(state)
        while len(encoded) > MAX_STATE_BYTES and (state.calls or state.live or state.telemetry):
            state.context, state.telemetry = {}, {}
            state.scripts, state.cells, state.processes, state.asking = {}, {}, {}, {}
            for held in (state.calls, state.answered, state.repeats, state.twins):
                trim(held, len(held) // 2)
            state.live = state.live[len(state.live) // 2 + 1 :]
            encoded = msgspec.msgpack.encode(state)
        return encoded


def trim(held: dict[Any, Any], size: int) -> None:
    """Forgets the oldest entries beyond a size."""
    while len(held) > size:
        del held[next(iter(held))]
