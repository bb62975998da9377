"""The sessions in one Copilot CLI log: its own, and those of sub-agents.

Sub-agents write into the log of the session that called them, marked with
their own id (before 2026 with the id of the call): each becomes a session. What
must be remembered of all of them until the log has grown is `CopilotState`.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from msgspec import Struct, field

from recollect.capture.adapters.copilot_cli.records import CopilotEvent, id_of
from recollect.capture.adapters.copilot_cli.tokens import CopilotTotals
from recollect.capture.logs.dialogue import Dialogue, DialogueState
from recollect.capture.logs.values import Fields
from recollect.model.logs import Item

# Enough for those that work at the same time; what is older is finished.
_MOST_AGENTS = 24
_MOST_TASKS = 8
_TASK_CHARACTERS = 1000


class CopilotSpeaker(Struct):
    """Where one of the conversations in a log stands: the session's own, or a sub-agent's."""

    dialogue: DialogueState = field(default_factory=DialogueState, name="standing")
    model: str = ""
    # What was thought last, and what a sub-agent was asked, as hashes: both are said twice.
    thought: str = ""
    asked: str = ""
    # The model call whose answer came in parts, the key its tokens have, and how many were counted.
    parts: tuple[str, str, int] = ("", "", 0)


class CopilotState(Struct):
    """What must be remembered until the log has grown."""

    session: str = ""
    cwd: str | None = None
    remote: str | None = None
    detached: bool = False
    main: CopilotSpeaker = field(default_factory=CopilotSpeaker)
    agents: dict[str, CopilotSpeaker] = field(default_factory=dict)
    # Which sub-agent a call has started, and what it was asked.
    started: dict[str, str] = field(default_factory=dict)
    tasks: dict[str, str] = field(default_factory=dict)
    turns: list[str] = field(default_factory=list)
    totals: CopilotTotals = field(default_factory=CopilotTotals, name="ledger")


class CopilotSessions:
    """The sessions in one log; what they give is in `items`, in the order of the file."""

    def __init__(self, state: CopilotState) -> None:
        self.state = state
        self.items: list[Item] = []
        self.main = self._dialogue(state.session, state.main)
        self.agents: dict[str, Dialogue] = {}

    def _dialogue(self, session: str, speaker: CopilotSpeaker) -> Dialogue:
        dialogue = Dialogue(session, speaker.dialogue)
        dialogue.items = self.items
        return dialogue

    def find(
        self, record: CopilotEvent, data: Fields, at: int | None
    ) -> tuple[Dialogue, CopilotSpeaker]:
        """The conversation that an event belongs to."""
        agent, call = id_of(record.agentId), id_of(data.get("parentToolCallId"))
        if agent is None and call is None:
            return self.main, self.state.main
        return self.agent(agent, call, at)

    def agent(
        self, agent: str | None, call: str | None, at: int | None
    ) -> tuple[Dialogue, CopilotSpeaker]:
        """A sub-agent, by its id, by the call that started it, or by both."""
        if agent and call:
            _remember(self.state.started, call, agent, _MOST_AGENTS)
        agent = agent or self.state.started.get(call or "") or call or ""
        speaker = self.state.agents.get(agent)
        if speaker is None:
            speaker = CopilotSpeaker()
            self.agents.pop(agent, None)
        _remember(self.state.agents, agent, speaker, _MOST_AGENTS)
        dialogue = self.agents.get(agent)
        if dialogue is None:
            dialogue = self.agents[agent] = self._dialogue(f"{self.main.session}/{agent}", speaker)
        if not speaker.dialogue.turn:
            dialogue.facts(
                parent=self.main.session,
                origin="subagent",
                cwd=self.state.cwd,
                git_remote=self.state.remote,
            )
            dialogue.begin(
                agent, at=at, author="agent", cwd=self.state.cwd, git_remote=self.state.remote
            )
            self._ask(dialogue, speaker, self.state.tasks.pop(call or agent, ""), at)
        return dialogue, speaker

    def _ask(self, dialogue: Dialogue, speaker: CopilotSpeaker, task: str, at: int | None) -> None:
        if task:
            speaker.asked = hash_of(task[:_TASK_CHARACTERS])
            dialogue.say("prompt", task, at=at)

    def of_call(self, call: str | None) -> Dialogue | None:
        """The conversation in which a call waits for its result."""
        if call in self.state.main.dialogue.waiting:
            return self.main
        for agent, speaker in self.state.agents.items():
            if call in speaker.dialogue.waiting:
                return self.agent(agent, None, None)[0]
        return None

    def expect(self, call: str, task: str) -> None:
        """A call will start a sub-agent, and this is what it is asked."""
        _remember(self.state.tasks, call, task[:_TASK_CHARACTERS], _MOST_TASKS)

    def forget(self) -> None:
        """Let go of calls that may yet be answered and turns that may yet be taken back."""
        for speaker in (self.state.main, *self.state.agents.values()):
            speaker.dialogue.waiting.clear()
        self.state.tasks.clear()
        self.state.started.clear()
        self.state.turns.clear()

    def tell_task(
        self, dialogue: Dialogue, speaker: CopilotSpeaker, key: str, text: str, at: int | None
    ) -> None:
        """Somebody says something to a sub-agent; the task that its call gave is said once more."""
        if not speaker.asked:
            self._ask(dialogue, speaker, text, at)
        elif speaker.asked != hash_of(text[:_TASK_CHARACTERS]):
            dialogue.prompt(key, text, at=at, author="agent", cwd=self.state.cwd)


def _remember(known: dict[str, Any], name: str, value: Any, most: int) -> None:
    """Keep the newest ones."""
    known.pop(name, None)
    known[name] = value
    while len(known) > most:
        del known[next(iter(known))]


def hash_of(text: str) -> str:
    """A short mark of a text, to know it again."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
