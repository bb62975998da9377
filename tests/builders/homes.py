"""Homes with logs in them, and all that a memory knows after importing them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recollect.memory import Memory
from recollect.model.sessions import SessionDetail
from recollect.settings import Settings
from tests.builders import codex
from tests.builders.claude_code import Conversation


def memory(home: Path, name: str = "recollect.db", **settings: Any) -> Memory:
    """A memory in this home.

    It removes no secrets, which is not what import is about and takes seconds to get ready.
    """
    folder = home / ".recollect"
    values = {
        "redact.enabled": False,
        **{key.replace("__", "."): value for key, value in settings.items()},
    }
    return Memory(Settings(str(folder), str(folder / name), values))


def chat(number: int = 1, **envelope: Any) -> Conversation:
    """An empty conversation with a session id and record ids of its own."""
    return Conversation(f"5e551011-0000-4000-8000-{number:012}", prefix=f"s{number}r", **envelope)


def small_talk(number: int = 1, turns: int = 2, words: str = "", **envelope: Any) -> Conversation:
    """A conversation in which every turn asks, runs a command, and is answered."""
    talk = chat(number, **envelope)
    for turn in range(1, turns + 1):
        add_turn(talk, f"{number}-{turn}", words)
    return talk


def add_turn(talk: Conversation, name: str, words: str = "") -> None:
    """One more turn: prompt, command, output, answer."""
    talk.user(f"question {name} {words}".strip())
    talk.call("Bash", {"command": f"run {name}"}, f"toolu_{name}")
    talk.result(
        f"toolu_{name}",
        f"output {name}",
        {"stdout": f"output {name}", "stderr": "", "interrupted": False},
    )
    talk.reply(f"answer {name}")


def claude_path(home: Path, session: str, project: str = "-home-ada-shop") -> Path:
    """Where Claude Code keeps a session's transcript."""
    return home / ".claude" / "projects" / project / f"{session}.jsonl"


def claude_log(home: Path, talk: Conversation, project: str = "-home-ada-shop") -> Path:
    """A transcript in its place under a home."""
    return talk.write(claude_path(home, talk.session, project))


def codex_log(home: Path, records: list[dict[str, Any]], thread: str = codex.THREAD) -> Path:
    """A rollout in its place under a home."""
    return codex.rollout(home / ".codex", records, thread)


def codex_talk(
    thread: str = codex.THREAD, words: str = "water the trees", **more: Any
) -> list[dict[str, Any]]:
    """A thread with one turn: prompt, command, output, tokens, answer."""
    return [
        codex.meta(thread, **more),
        codex.context(),
        codex.user(words),
        codex.call(call_id=f"call_{thread[-4:]}"),
        codex.output(call_id=f"call_{thread[-4:]}"),
        codex.tokens(codex.usage(500, 100, 50), codex.usage(500, 100, 50)),
        codex.assistant("Done."),
    ]


def everything(memory: Memory) -> dict[str, SessionDetail]:
    """Every session, whole, by its id."""
    listed = memory.sessions(limit=None, subagents=True)
    found = {session.id: memory.show(session.id) for session in listed}
    return {ref: detail for ref, detail in found.items() if isinstance(detail, SessionDetail)}


def prompts(memory: Memory, ref: str) -> list[str]:
    """What was asked in a session, turn by turn."""
    found = memory.show(ref)
    assert isinstance(found, SessionDetail)
    return [turn.prompt for turn in found.turn_list]


def refs(memory: Memory, query: str) -> list[str]:
    """The turns that a search finds, in the order of their names."""
    return sorted(hit.ref for hit in memory.search(query, limit=100_000))
