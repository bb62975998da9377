"""What a Grok Build session sent to the model: its chat history, in both versions.

It is written anew by rewinds and compactions and tells no times, so a session
is told by its updates where it has any; this adds to them what tools gave back
in full. A session without updates is told from here alone.
"""

from __future__ import annotations

from recollect.capture.adapters.grok.prompts import GrokKeys, cut_prompt, key_of, typed
from recollect.capture.adapters.grok.records import GrokChatLine
from recollect.capture.adapters.grok.tools import GrokCalls, asked_for
from recollect.capture.adapters.grok.updates import GrokTurn
from recollect.capture.logs.dialogue import OPENING
from recollect.capture.logs.documents import read_text
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.tools import target_of
from recollect.capture.logs.values import (
    content_text,
    fields_of,
    json_of,
    objects_of,
    text_of,
    whole_of,
)
from recollect.model.logs import Author, Event, EventKind, ToolKind

# Messages in the user's name that wake the agent. Others that a person did not write go along with
# a turn; of those that we do not know, only one with a number of its own begins one.
_WAKING: dict[object, Author] = {
    "agent_message": "agent", "parent_agent_message": "agent", "task_completed": "system",
    "subagent_completed": "system", "notification_drain": "system", "scheduler_fired": "system",
    "goal_classifier_nudge": "system",
}  # fmt: skip
INTERJECTION = "interjection"
_LONGEST_PROMPT_BYTES = 16 << 20


class GrokChat:
    """The turns of a chat history, its tool calls, and what was said in between."""

    def __init__(
        self,
        session: str,
        problems: ProblemCounter,
        *,
        subagent: bool,
        prompts: dict[int, str],
        inherited: int,
    ) -> None:
        self.session, self.subagent, self.prompts = session, subagent, prompts
        # So many lines at the start were handed on by the session that this one was forked from.
        self.inherited = inherited
        self.turns: list[GrokTurn] = []
        self.numbers: dict[int, GrokTurn] = {}
        self.interjections: list[tuple[GrokTurn | None, GrokTurn]] = []
        self.calls = GrokCalls()
        self.problems = problems
        self._keys = GrokKeys()

    def take(self, line: GrokChatLine) -> None:
        """One more line."""
        if self.inherited > 0:
            self.inherited -= 1
            return
        item = line.item
        if item == "user":
            self._user(line)
        elif item == "assistant":
            self._assistant(line)
        elif item == "reasoning":
            self._add("reasoning", content_text(line.summary) or content_text(line.content))
        elif item == "tool_result":
            self._result(line)
        elif item == "backend_tool_call":
            self._backend_call(line)
        elif item != "system":
            self.problems.unknown("chat item", item)

    # Who asks

    def _user(self, line: GrokChatLine) -> None:
        reason, number = line.synthetic_reason, whole_of(line.prompt_index)
        said = content_text(line.content)
        if reason == "compaction_meta":
            self._add("compaction", typed(said))
            return
        author = self._author(reason, number)
        text = self._whole(said) if author else ""
        if author is None or not text:
            return
        key = self._keys.fresh(key_of(reason, number, text))
        turn = GrokTurn(self.session, key, author=author, words=[text])
        if reason == INTERJECTION:
            self.interjections.append((self.turns[-1] if self.turns else None, turn))
        elif number is not None:
            self.numbers[number] = turn
        self.turns.append(turn)

    def _author(self, reason: object, number: int | None) -> Author | None:
        if reason == INTERJECTION:
            return "human"
        if reason is not None:
            waking = _WAKING.get(reason) if isinstance(reason, str) else None
            return waking or (None if number is None else "system")
        return "agent" if self.subagent else "human"

    def _whole(self, said: str) -> str:
        """The words of a prompt, from the file beside the log when the log cuts them short."""
        number = cut_prompt(said)
        path = self.prompts.get(number) if number is not None else None
        if path is not None:
            try:
                return typed(read_text(path, _LONGEST_PROMPT_BYTES))
            except UnreadableSource:
                pass
        return typed(said)

    # What the agent does

    def _assistant(self, line: GrokChatLine) -> None:
        thought = content_text(fields_of(line.reasoning).get("text"))
        self._add("reasoning", content_text(line.reasoning_content) or thought)
        self._add("reply", content_text(line.content))
        if self.turns and (model := text_of(line.model_id)):
            self.turns[-1].telemetry["model"] = model
        for tool_call in objects_of(line.tool_calls):
            call, name, given = asked_for(tool_call)
            if call is None:
                self.problems.bad("a tool call without an id")
            elif self.calls.find(call) is None:
                self.calls.begin(call, self._event("tool_call")).asked(name, given)

    def _result(self, line: GrokChatLine) -> None:
        call = self.calls.find(text_of(line.tool_call_id) or "")
        # A call that compaction took away has left its result without meaning.
        if call is not None:
            call.event.output = content_text(line.content)

    def _backend_call(self, line: GrokChatLine) -> None:
        """A tool that the vendor's servers ran: what it found went straight to the model."""
        told = fields_of(line.kind)
        name = text_of(told.get("tool_type")) or "backend_tool"
        given = fields_of(told.get("action") or json_of(told.get("input"))) or {
            "code": told.get("code")
        }
        kind: ToolKind = "other" if name == "code_interpreter" else "web"
        event = self._event("tool_call")
        event.call = text_of(told.get("id"))
        event.name = name
        event.tool_kind = kind
        event.input = given
        event.target = target_of(kind, given)
        event.ok = {"completed": True, "failed": False}.get(text_of(told.get("status")) or "")

    def _add(self, kind: EventKind, text: str) -> None:
        if text:
            self._event(kind).text = text

    def _event(self, kind: EventKind) -> Event:
        if not self.turns:
            self.turns.append(GrokTurn(self.session, f"{self.session}{OPENING}", author="system"))
        return self.turns[-1].add(kind)
