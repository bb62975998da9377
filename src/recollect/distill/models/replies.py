"""What a model, or the user's agent, answered: parsed at the edge, and trusted nowhere.

A reply may be cut, hostile or about something else. What does not have the
form that was asked for is refused or dropped; nothing is guessed into shape.
What it says besides is ignored: models like to add a key of their own.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, TypeVar

import msgspec

from recollect.distill.models.transcript import without_own
from recollect.distill.plain import category_of, plain
from recollect.errors import BadReply, UsageError
from recollect.model.notes import Category
from recollect.reading.quoting import is_seen

TRACE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "traceMemory": {
            "type": "string",
            "description": "the memory, in Markdown; empty when nothing is worth keeping",
        },
        "summary": {
            "type": "string",
            "description": "one line of fewer than 120 words; empty when the memory is",
        },
    },
    "required": ["traceMemory", "summary"],
    "additionalProperties": False,
}
_STATEMENTS: dict[str, Any] = {
    "type": "array",
    "description": "empty leaves what is there as it is",
    "items": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "one sentence of at most 600 characters"},
            "turns": {
                "type": "array",
                "items": {"type": "string"},
                "description": "the turns that show it, as they are named in the record",
            },
        },
        "required": ["text", "turns"],
        "additionalProperties": False,
    },
}
MEMORY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "sections": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"heading": {"type": "string"}, "statements": _STATEMENTS},
                "required": ["heading", "statements"],
                "additionalProperties": False,
            },
        },
        "skills": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {
                        "type": "string",
                        "description": "lower-case words with hyphens, at most 64 characters",
                    },
                    "description": {
                        "type": "string",
                        "description": "what it does, and when to use it",
                    },
                    "statements": _STATEMENTS,
                },
                "required": ["name", "description", "statements"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["sections", "skills"],
    "additionalProperties": False,
}
# How many openings of an object are tried: an answer has one, prose around it a few.
MOST_OPENINGS = 100

_OPENING = re.compile(r'\{\s*"')
_MEMORY = "MEMORY:"
_CONFIDENCE = re.compile(r"\d{1,9}(?:\.\d{1,9})?")


class Told(msgspec.Struct, rename="camel", frozen=True):
    """A trace memory as it was answered."""

    trace_memory: str
    summary: str


class ToldStatement(msgspec.Struct, frozen=True):
    """Something worth knowing, and the turns that are said to show it."""

    text: str
    turns: list[str]


class ToldSection(msgspec.Struct, frozen=True):
    """A section of a project's memory; without statements it stays as it is."""

    heading: str
    statements: list[ToldStatement]


class ToldSkill(msgspec.Struct, frozen=True):
    """A skill; without statements it stays as it is."""

    name: str
    description: str
    statements: list[ToldStatement]


class ToldMemory(msgspec.Struct, frozen=True):
    """A project's memory as it was answered."""

    sections: list[ToldSection]
    skills: list[ToldSkill]


Form = TypeVar("Form", Told, ToldMemory)


class Fact(NamedTuple):
    """One line of a reply that may become a note; the confidence is between 0 and 1."""

    category: Category
    confidence: float
    text: str


def read_trace(text: str) -> Told:
    """The trace memory in a reply; its texts without what cannot be seen."""
    told = _only(text, Told, "one JSON object with the texts traceMemory and summary")
    return Told(
        _visible(without_own(told.trace_memory)).strip(),
        _visible(without_own(told.summary)).strip(),
    )


def read_memory(text: str) -> ToldMemory:
    """The project's memory in a reply, as it was told."""
    return _only(text, ToldMemory, "one JSON object with the lists sections and skills")


def _only(text: str, form: type[Form], wanted: str) -> Form:
    """The one answer of a form in a reply, alone, fenced or with prose around it."""
    found: list[Form] = []
    decoder = json.JSONDecoder()
    place = 0
    for _ in range(MOST_OPENINGS):
        opening = _OPENING.search(text, place)
        if opening is None:
            break
        try:
            value, place = decoder.raw_decode(text, opening.start())
            told = msgspec.convert(value, form)
        except (ValueError, RecursionError, msgspec.ValidationError):
            # Not JSON from here on, or JSON of another form.
            place = max(place, opening.start() + 1)
        else:
            if told not in found:
                found.append(told)
    if not found:
        raise BadReply(
            f"the answer is not {wanted}", hint=f"answer with {wanted}, and nothing else"
        )
    if len(found) > 1:
        raise BadReply(
            f"there are {len(found)} different answers in one",
            hint=f"answer with {wanted}, and nothing else",
        )
    return found[0]


def read_facts(text: str) -> tuple[list[Fact], int]:
    """The facts in a reply's lines `MEMORY: <category> | <confidence 0-10> |
    <fact>`, and how many such lines were no good.
    """
    found: list[Fact] = []
    dropped = 0
    for line in text.splitlines():
        if line.strip().startswith(_MEMORY):
            fact = _fact(line.strip().removeprefix(_MEMORY))
            if fact is None:
                dropped += 1
            else:
                found.append(fact)
    return found, dropped


def _fact(fields: str) -> Fact | None:
    # A fact may contain the separator.
    category, confidence, text = (field.strip() for field in [*fields.split("|", 2), "", ""][:3])
    if not _CONFIDENCE.fullmatch(confidence):
        return None
    try:
        return Fact(
            category_of(category), min(float(confidence), 10.0) / 10, plain(without_own(text))
        )
    except UsageError:
        return None


def _visible(text: str) -> str:
    """A text without controls and marks that change how it reads; its lines stay."""
    return "".join(
        char if char in "\n\t" or is_seen(char) else " " if char.isspace() else "" for char in text
    )
