"""A store for searching, told in sentences: a session is what was asked in it, turn by turn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.memory import Memory
from recollect.model.logs import Author, Event, Item, TurnFacts
from recollect.model.search import Scope, SearchResult
from recollect.recall.asking import make_request
from recollect.recall.query import parse
from recollect.recall.search import search
from recollect.recall.when import find_span
from tests.store.conftest import START, Filled, facts

SHOP = "/home/ada/shop"
DAY = 86_400_000


@dataclass
class Said:
    """A turn: what was asked, and what else there is to say about it.

    `key` is equal in copies of a turn.
    """

    prompt: str
    reply: str = ""
    command: str = ""
    output: str = ""
    ok: bool = True
    edited: str = ""
    author: Author = "human"
    key: str = ""

    def items(self, session: str, key: str, at: int, project: str) -> list[Item]:
        """The turn as an adapter would yield it."""
        made: list[Item] = [
            TurnFacts(session=session, turn=key, at=at, cwd=project, author=self.author),
            Event(session=session, turn=key, kind="prompt", at=at, text=self.prompt),
        ]
        if self.command:
            made.append(self._call(session, key, at, "shell", self.command))
        if self.edited:
            made.append(self._call(session, key, at, "edit", self.edited))
        if self.reply:
            made.append(Event(session=session, turn=key, kind="reply", at=at, text=self.reply))
        return made

    def _call(self, session: str, key: str, at: int, kind: Any, target: str) -> Event:
        output, code = (self.output, int(not self.ok)) if kind == "shell" else ("", None)
        return Event(
            session=session, turn=key, kind="tool_call", at=at, call=f"{kind} of {key}", name=kind,
            tool_kind=kind,
            target=target, input={}, output=output, ok=self.ok, exit_code=code,
        )  # fmt: skip


class Talks:
    """A memory with a few words for filling and asking it."""

    def __init__(self, folder: Path) -> None:
        self.filled = Filled(folder / "recollect.db")
        self.memory = Memory.open(self.filled.path)

    @property
    def store(self) -> Any:
        return self.filled.store

    def tell(
        self,
        session: str,
        *turns: str | Said,
        project: str = SHOP,
        day: float = 0,
        agent: str = "codex",
        **known: Any,
    ) -> Talks:
        """A session, a turn a minute from some day on."""
        items: list[Item] = [facts(session, cwd=project, **known)]
        for number, one in enumerate(turns):
            said = Said(one) if isinstance(one, str) else one
            at = START + int(day * DAY) + number * 60_000
            items += said.items(session, said.key or f"{session}-{number}", at, project)
        self.filled.keep(f"{session}.jsonl", *items, agent=agent, again=True)
        return self

    def embed(self) -> Talks:
        """Make the vectors of all turns, with the encoder that comes with the package."""
        list(self.memory.store.embed())
        return self

    def find(self, text: str, **options: Any) -> list[str]:
        """The turns that a search finds, best first: `a2` is the second of session a."""
        return names(self.memory.search(text, **options))

    def at(
        self, text: str, *, now: int, here: str | None = None, mode: str = "text", limit: int = 10
    ) -> SearchResult:
        """A search at a moment and in a project of the test's choosing."""
        query = parse(text)
        asked, _ = make_request(self.store, self.memory.encoder, Scope(query, {}), mode=mode)
        asked.now, asked.here, asked.span, asked.limit, asked.explain = (
            now,
            here,
            find_span(text, now),
            limit,
            True,
        )
        return search(self.store, asked)

    def close(self) -> None:
        self.memory.close()
        self.filled.close()


def names(result: SearchResult) -> list[str]:
    """Hits by short names."""
    return [hit.ref.partition(":")[2].replace("#", "") for hit in result]
