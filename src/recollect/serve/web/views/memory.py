"""A project's memory: what its agents are told, line by line, with what each line rests on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from recollect.errors import UsageError
from recollect.model.memories import TITLES
from recollect.model.notes import told_text
from recollect.model.sessions import ToolCall, Turn
from recollect.serve.web import words
from recollect.serve.web.app import Form, PageRequest, View, project_url

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.model.notes import Note
    from recollect.serve.web.app import Context

MOST_EVIDENCE = 4
SHOWN_CHARACTERS = 420
MOST_OTHERS = 40
MOST_TO_MERGE = 100


def build(asked: PageRequest) -> Context:
    """The pack beside everything that is known, each line with its note."""
    memory, key = asked.memory, asked.memory.projects.get(asked.part("project"))
    found = memory.remember(project=key)
    notes = found.notes if found else []
    told = [note for note in notes if note.in_pack]
    tokens = memory.recall(project=key).tokens
    prompt = asked.value("prompt")
    return {
        "project_key": key,
        "memory": found,
        "pack_tokens": tokens,
        "pack": _sections(told),
        "long": _sections(notes),
        "block": _block(found.pack if found else "", told),
        "others": _others(memory, key, {note.ref for note in notes}),
        "meter": _meter(told, tokens),
        "prompt": prompt,
        "answer": memory.recall(prompt, project=key) if prompt else None,
        "sessions_here": memory.session_page(limit=1, project=key).total,
    }


def note(asked: PageRequest) -> Context:
    """One note with its evidence and history."""
    found = asked.memory.notes.get(asked.value("ref"))
    return {
        "note": found,
        "evidence": evidence_of(asked.memory, found),
        "history": asked.memory.notes.history(found.ref),
        "project_key": found.project,
        "others": _alike(asked.memory, found),
        "effect": next(iter(asked.memory.injections.effect(ref=found.ref)), None),
        "back": asked.value("back") or (project_url(found.project) if found.project else "/"),
    }


def _alike(memory: Memory, note: Note) -> list[Note]:
    """The notes that one could be merged into: those that say the most of its words first."""
    if note.status not in ("active", "candidate"):
        return []
    found = memory.notes.search(project=note.project, status="active", limit=MOST_TO_MERGE)
    words = set(note.text.lower().split())
    others = [one for one in found if one.ref != note.ref and one.text != note.text]
    return sorted(others, key=lambda one: -len(words & set(one.text.lower().split())))


def evidence_of(memory: Memory, note: Note) -> list[dict[str, Any]]:
    """What a note rests on: the words or the command of each turn, the newest first."""
    turns = memory.notes.evidence(note, MOST_EVIDENCE)
    return [_evidence(memory, note, turn) for turn in turns]


def _evidence(memory: Memory, note: Note, turn: Turn) -> dict[str, Any]:
    session = memory.session(turn.ref.rpartition("#")[0])
    quoted = note.text.strip('"“”')
    named = re.findall(r"`([^`]+)`", note.text)
    commands = [
        event
        for event in turn.events
        if isinstance(event, ToolCall)
        and event.target
        and any(command in event.target for command in named)
    ]
    who, text = "You", turn.prompt
    if note.trust == "tool-verified" and commands:
        call = commands[-1]
        ended = "" if call.exit_code is None else f"  →  exit {call.exit_code}"
        target = call.target or ""
        quoted = next(one for one in named if one in target)
        who, text = "Ran", f"{target}{ended}"
    elif note.trust == "assistant" or (quoted not in turn.prompt and quoted in turn.reply):
        who, text = "The agent", turn.reply
    return {
        "who": who,
        "turn": turn,
        "session": session,
        "text": words.around(text, quoted, SHOWN_CHARACTERS),
    }


def _sections(notes: list[Note]) -> list[tuple[str, str, list[Note]]]:
    """Notes under the titles of their sections, in the order of the memory."""
    return [
        (section, title, some)
        for section, title in TITLES.items()
        if (some := [note for note in notes if note.section == section])
    ]


def _block(pack: str, told: list[Note]) -> list[str]:
    """The lines of a pack that are no notes: the commands and files that come again."""
    texts = {f"- {told_text(note)}" for note in told}
    lines = [line for line in pack.splitlines() if line.startswith("- ") and line not in texts]
    return [line[2:] for line in lines]


def _meter(told: list[Note], tokens: int) -> list[dict[str, Any]]:
    """How much of the pack each section takes, by its characters."""
    characters = sum(len(note.text) for note in told) or 1
    left, parts = 0.0, []
    for place, (section, title, some) in enumerate(_sections(told)):
        width = tokens * sum(len(note.text) for note in some) / characters
        parts.append(
            {"x": left, "width": width, "section": section, "title": title, "odd": place % 2}
        )
        left += width + 2
    return parts


def _others(memory: Memory, key: str, shown: set[str]) -> list[Note]:
    """What is known and not told: what waits, what is not true any more, what was rejected."""
    found = memory.notes.search(
        project=key, status=("candidate", "active", "rejected"), limit=MOST_OTHERS + len(shown)
    )
    return [note for note in found if note.ref not in shown][:MOST_OTHERS]


# What people do with notes


def back_to(asked: PageRequest, said: str, note: Note | None, *, undo: bool = True) -> str:
    """The page that somebody was on, with what was done and what takes it back."""
    place = asked.form.get("back", "/")
    if not place.startswith("/") or place.startswith(("//", "/\\")):
        # What begins with two slashes would be another host.
        place = "/"
    values = {"said": said}
    if note is not None and undo:
        values["undo"] = note.ref
    path, _, query = place.partition("?")
    kept = "&".join(
        part for part in query.split("&") if part and not part.startswith(("said=", "undo="))
    )
    anchor = f"#{_anchor(note)}" if note is not None else ""
    return f"{path}?{kept + '&' if kept else ''}{urlencode(values)}{anchor}"


def _anchor(note: Note) -> str:
    return note.ref.replace(":", "-")


def _ref(asked: PageRequest) -> str:
    ref = asked.form.get("ref", "")
    if not ref:
        raise UsageError("Which note is not said.", hint="Load the page again.")
    return ref


def accept(asked: PageRequest) -> str:
    """It is right: told from the next session on."""
    note = asked.memory.notes.accept(_ref(asked))
    return back_to(asked, "Accepted. Agents are told from the next session on.", note)


def reject(asked: PageRequest) -> str:
    """It is wrong: it does not come back."""
    note = asked.memory.notes.reject(_ref(asked))
    return back_to(asked, "Rejected. It will not come back.", note)


def edit(asked: PageRequest) -> str:
    """It is said better."""
    note = asked.memory.notes.edit(_ref(asked), asked.form.get("text", ""))
    return back_to(asked, "Saved in your words. The old line is kept as history.", note)


def merge(asked: PageRequest) -> str:
    """It says the same as another one."""
    note = asked.memory.notes.merge(_ref(asked), asked.form.get("into", ""))
    return back_to(asked, "Merged: one line, with what both rest on.", note)


def pin(asked: PageRequest) -> str:
    """It is told first."""
    note = asked.memory.notes.pin(_ref(asked))
    return back_to(asked, "Pinned: told first.", note)


def unpin(asked: PageRequest) -> str:
    """It is told in its own place."""
    note = asked.memory.notes.unpin(_ref(asked))
    return back_to(asked, "No longer pinned.", note)


def forget(asked: PageRequest) -> str:
    """It goes for good."""
    asked.memory.notes.forget(_ref(asked))
    return back_to(asked, "Forgotten.", None)


def undo(asked: PageRequest) -> str:
    """The last thing that was done to it is taken back."""
    note = asked.memory.notes.undo(_ref(asked))
    return back_to(asked, "Undone.", note, undo=False)


def add(asked: PageRequest) -> str:
    """A line of the person's own."""
    text = asked.form.get("text", "").strip()
    if not text:
        raise UsageError("An empty line says nothing.", hint="Type what an agent should know.")
    project = asked.form.get("project") or None
    note = asked.memory.notes.add(
        text, project=project, everywhere=project is None,
        category=asked.form.get("category") or "preference",
    )  # fmt: skip
    return back_to(asked, "Added. Agents are told from the next session on.", note)


VIEW = View("/p/{project:path}", "memory.html", build)
NOTE = View("/note", "note.html", note, fragment="note_more.html")
FORMS = (
    Form("/notes/accept", accept),
    Form("/notes/reject", reject),
    Form("/notes/edit", edit),
    Form("/notes/merge", merge),
    Form("/notes/pin", pin),
    Form("/notes/unpin", unpin),
    Form("/notes/forget", forget),
    Form("/notes/undo", undo),
    Form("/notes/add", add),
)
