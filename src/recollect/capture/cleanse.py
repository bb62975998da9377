"""Secrets leave a stretch before it reaches the store.

All strings of a stretch go to the redactor in one call: scanning a megabyte
at once is what makes it cheap.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from recollect.store.stretch import Stretch

_FACT_FIELDS = ("cwd", "title", "git_branch", "git_remote")


class Redactor(Protocol):
    """What we need of the redactor; tests give a simpler one."""

    def redact_all(self, texts: list[str]) -> list[str]:
        """The same texts without their secrets, in order."""


def cleanse(stretch: Stretch, redactor: Redactor) -> None:
    """Replace every secret in everything that a stretch says."""
    slots = _Slots()
    for part in stretch.turns.values():
        for event in part.events:
            if event.text:
                slots.add(event, "text", event.text)
            if event.kind == "tool_call":
                if event.output:
                    slots.add(event, "output", event.output)
                if event.target:
                    slots.add(event, "target", event.target)
                if event.input:
                    slots.add_value(event, "input", event.input)
        for result in part.late:
            if result.output:
                slots.add(result, "output", result.output)
        if part.facts.telemetry:
            slots.add_value(part.facts, "telemetry", part.facts.telemetry)
    for facts in stretch.sessions.values():
        for name in _FACT_FIELDS:
            value = getattr(facts, name)
            if value:
                slots.add(facts, name, value)
        if facts.meta:
            slots.add_value(facts, "meta", facts.meta)
    slots.replace(redactor)


class _Slots:
    """Where each string came from, so that a changed one can be put back."""

    def __init__(self) -> None:
        self.owners: list[tuple[Any, str, bool]] = []
        self.texts: list[str] = []

    def add(self, owner: Any, name: str, text: str) -> None:
        self.owners.append((owner, name, False))
        self.texts.append(text)

    def add_value(self, owner: Any, name: str, value: Any) -> None:
        """A nested value: its strings one by one, then the whole as JSON.

        The strings, because JSON would hide what is in them behind escapes;
        the whole, because `{"password": "..."}` is only told by its name.
        """
        if isinstance(value, str):
            self.add(owner, name, value)
            return
        self._add_inner(value)
        self.owners.append((owner, name, True))
        self.texts.append("")  # Filled in after the inner strings are clean.

    def _add_inner(self, value: Any) -> None:
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in list(items):
            if isinstance(inner, str):
                self.owners.append((value, key, False))
                self.texts.append(inner)
            elif isinstance(inner, (dict, list)):
                self._add_inner(inner)

    def replace(self, redactor: Redactor) -> None:
        for (owner, name, whole), old, new in zip(self.owners, self.texts, redactor.redact_all(self.texts), strict=True):
            if not whole and new is not old:
                _put(owner, name, new)
        wholes = [(owner, name) for owner, name, whole in self.owners if whole]
        texts = [_json(getattr(owner, name)) for owner, name in wholes]
        for (owner, name), old, new in zip(wholes, texts, redactor.redact_all(texts), strict=True):
            if new is not old:
                _put(owner, name, _from_json(new))


def _put(owner: Any, name: Any, value: Any) -> None:
    if isinstance(owner, (dict, list)):
        owner[name] = value
    else:
        setattr(owner, name, value)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _from_json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        # A tag that broke the JSON around it is kept as text rather than undone.
        return {"redacted": text}
