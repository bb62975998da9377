"""Takes secrets out of strings wherever they are: in fields, in lists, inside nested values.

Strings are collected first and go to the redactor in one call: scanning a
megabyte at once is what makes it cheap.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec


class RedactsMany(Protocol):
    """What we need of the redactor; tests give a simpler one."""

    def redact_all(self, texts: Sequence[str]) -> list[str]:
        """The same texts without their secrets, in order."""


@runtime_checkable
class KnowsNames(Protocol):
    """A redactor that leaves weak values alone when they name something."""

    def know_names(self, names: Iterable[str]) -> None:
        """Words that name a project, a folder or a branch."""


@runtime_checkable
class LearnsValues(Protocol):
    """A redactor that knows a strong value again wherever it stands."""

    def count_known(self) -> int:
        """How many strong values are known by now."""

    def take_learned(self) -> dict[bytes, str]:
        """Hashes of those that were recognised since this was asked last, with their kinds."""


def known_to(redactor: RedactsMany) -> int:
    """How many strong values a redactor knows."""
    return redactor.count_known() if isinstance(redactor, LearnsValues) else 0


class Slots:
    """Where each string came from, so that a changed one can be put back.

    An owner is an object with attributes, a dict or a list; `name` is the
    attribute, key or index in it.
    """

    def __init__(self) -> None:
        self.owners: list[tuple[Any, Any, bool]] = []
        self.texts: list[str] = []

    def add(self, owner: Any, name: Any, text: str) -> None:
        """One string."""
        self.owners.append((owner, name, False))
        self.texts.append(text)

    def add_value(self, owner: Any, name: Any, value: Any) -> None:
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
        items = (
            value.items()
            if isinstance(value, dict)
            else enumerate(value)
            if isinstance(value, list)
            else ()
        )
        for key, inner in list(items):
            if isinstance(inner, str):
                self.owners.append((value, key, False))
                self.texts.append(inner)
            elif isinstance(inner, (dict, list)):
                self._add_inner(inner)

    def replace(self, redactor: RedactsMany) -> list[int]:
        """Put clean strings where there were others.

        Says which slots changed, in order of adding.
        """
        known = known_to(redactor)
        changed = self._replace(redactor)
        if known_to(redactor) > known:
            # A name inside a nested value told what stands without one in another slot.
            changed |= self._replace(redactor)
        return sorted(changed)

    def _replace(self, redactor: RedactsMany) -> set[int]:
        changed = set()
        for slot, (old, new) in enumerate(
            zip(self.texts, redactor.redact_all(self.texts), strict=True)
        ):
            owner, name, whole = self.owners[slot]
            if not whole and new is not old:
                _put(owner, name, new)
                self.texts[slot] = new
                changed.add(slot)
        wholes = [slot for slot, (_, _, whole) in enumerate(self.owners) if whole]
        texts = [_json(_get(*self.owners[slot][:2])) for slot in wholes]
        for slot, old, new in zip(wholes, texts, redactor.redact_all(texts), strict=True):
            if new is not old:
                _put(*self.owners[slot][:2], _from_json(new))
                changed.add(slot)
        return changed


def redact_value(redactor: RedactsMany, value: Any) -> Any:
    """A nested value without its secrets.

    The same object if it has none, and it may be changed in place.
    """
    holder = [value]
    slots = Slots()
    slots.add_value(holder, 0, value)
    slots.replace(redactor)
    return holder[0]


def _get(owner: Any, name: Any) -> Any:
    return owner[name] if isinstance(owner, (dict, list)) else getattr(owner, name)


def _put(owner: Any, name: Any, value: Any) -> None:
    if isinstance(owner, (dict, list)):
        owner[name] = value
    else:
        setattr(owner, name, value)


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (OverflowError, UnicodeEncodeError):
        # Integers beyond 64 bits and lone surrogates: rare, and the slow way knows them.
        return json.dumps(value, default=str)


def _from_json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        # A tag that broke the JSON around it is kept as text rather than undone.
        return {"redacted": text}
