"""Secrets leave a batch before it reaches the store: the one way into it.

What is said goes to the redactor text by text. Names (ids, tools, models,
versions) are short, many and mostly the same, so each is looked at once. An
equal name becomes an equal tag, so sessions, turns and calls find each other
as before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import msgspec

from recollect.model.batch import Batch
from recollect.model.logs import Checkpoint, Source
from recollect.redact.values import OUR_TAG
from recollect.redact.values_in import KnowsNames, RedactsMany, Slots, redact_value

_SESSION_FIELDS = ("cwd", "title", "git_branch", "git_remote")
_TURN_FIELDS = ("cwd", "git_remote")
# A path may have many; nobody's token is behind the hundredth.
_JOINT, _MOST_JOINTS = re.compile("[-_.]"), 100
_SESSION_NAMES = ("session", "parent", "copy_of", "agent_version", "git_sha")
_TURN_NAMES = ("session", "turn")
_TELLING_NAMES = ("cwd", "git_branch", "git_remote", "git_sha", "session")
_EVENT_NAMES = ("session", "turn", "call", "name")
_RESULT_NAMES = ("session", "turn", "call")
_USAGE_NAMES = ("session", "turn", "key", "model")


def cleanse(batch: Batch, redactor: RedactsMany) -> None:
    """Replace every secret in everything that a batch says."""
    slots = Slots()
    if isinstance(redactor, KnowsNames):
        redactor.know_names(_names(batch))
    for part in batch.turns.values():
        for event in part.events:
            if event.text:
                slots.add(event, "text", event.text)
            for name in ("output", "target", "folder"):
                if value := getattr(event, name):
                    slots.add(event, name, value)
            if event.input:
                slots.add_value(event, "input", event.input)
        for result in part.late:
            if result.output:
                slots.add(result, "output", result.output)
        for name in _TURN_FIELDS:
            if value := getattr(part.facts, name):
                slots.add(part.facts, name, value)
        if part.facts.telemetry:
            slots.add_value(part.facts, "telemetry", part.facts.telemetry)
    for facts in batch.sessions.values():
        for name in _SESSION_FIELDS:
            if value := getattr(facts, name):
                slots.add(facts, name, value)
        if facts.meta:
            slots.add_value(facts, "meta", facts.meta)
    reasons = [problem.reason for problem in batch.problems]
    for number, reason in enumerate(reasons):
        slots.add(reasons, number, reason)
    slots.replace(redactor)
    batch.problems = [
        msgspec.structs.replace(problem, reason=reason)
        for problem, reason in zip(batch.problems, reasons, strict=True)
    ]
    batch.checkpoint = _clean_checkpoint(batch.checkpoint, redactor)
    _clean_names(batch, redactor)


def clean_source(source: Source, redactor: RedactsMany) -> Source:
    """A source as it is stored: a folder on the way to it may be called by a secret."""
    path, folder = _clean_all([source.path, source.in_project or ""], redactor)
    return msgspec.structs.replace(source, path=path, in_project=folder or None)


def _clean_all(names: list[str], redactor: RedactsMany, *, again: int = 3) -> list[str]:
    """Names without their secrets.

    Agents join words with dashes (`-home-ada-shop`), and a token may begin behind any of them.
    """
    cleaned = redactor.redact_all(names)
    ends = [(number, end) for number, name in enumerate(cleaned) for end in _joints(name)]
    tails = [cleaned[number][end:] for number, end in ends]
    changed: dict[int, str] = {}
    for (number, end), old, new in zip(ends, tails, redactor.redact_all(tails), strict=True):
        if old != new and number not in changed:
            changed[number] = cleaned[number][:end] + new
    if changed and again:
        # There may be another one further on.
        rest = _clean_all(list(changed.values()), redactor, again=again - 1)
        changed = dict(zip(changed, rest, strict=True))
    return [changed.get(number, name) for number, name in enumerate(cleaned)]


def _joints(name: str) -> Iterator[int]:
    """Where words of a name may begin; not inside of a tag, which is cleansed."""
    tags = [tag.span() for tag in OUR_TAG.finditer(name)]
    for joint in islice(_JOINT.finditer(name), _MOST_JOINTS):
        if not any(start <= joint.start() < end for start, end in tags):
            yield joint.end()


def _clean_names(batch: Batch, redactor: RedactsMany) -> None:
    """Replace every secret that something is called by."""
    named: list[tuple[object, tuple[str, ...]]] = [
        *((facts, _SESSION_NAMES) for facts in batch.sessions.values()),
        *((usage, _USAGE_NAMES) for usage in batch.usages.values()),
    ]
    for part in batch.turns.values():
        named.append((part.facts, _TURN_NAMES))
        named += [(event, _EVENT_NAMES) for event in part.events]
        named += [(result, _RESULT_NAMES) for result in part.late]
    names = {
        name: None for owner, fields in named for field in fields if (name := getattr(owner, field))
    }
    names |= {name: None for place in batch.live for name in place}
    before = list(names)
    after = _clean_all(before, redactor)
    changed = {old: new for old, new in zip(before, after, strict=True) if old != new}
    if not changed:
        return

    def clean(name: str) -> str:
        return changed.get(name, name)

    for owner, fields in named:
        for field in fields:
            if (name := getattr(owner, field)) in changed:
                setattr(owner, field, changed[name])
    batch.sessions = {clean(name): facts for name, facts in batch.sessions.items()}
    batch.turns = {(clean(a), clean(b)): part for (a, b), part in batch.turns.items()}
    batch.usages = {clean(name): usage for name, usage in batch.usages.items()}
    batch.live = {(clean(a), clean(b)): live for (a, b), live in batch.live.items()}


def _names(batch: Batch) -> set[str]:
    """What the folders, branches, repositories, commits and sessions of a batch are called."""
    facts = [*batch.sessions.values(), *(part.facts for part in batch.turns.values())]
    told = (getattr(one, name, None) for one in facts for name in _TELLING_NAMES)
    return {value for value in told if isinstance(value, str)}


def _clean_checkpoint(point: Checkpoint, redactor: RedactsMany) -> Checkpoint:
    """An adapter may remember words of the log, such as a title; those are stored too."""
    text = point.state.decode("utf-8", "replace")
    if redactor.redact_all([text])[0] is text:
        return point
    try:
        return Checkpoint(
            point.position,
            msgspec.msgpack.encode(redact_value(redactor, msgspec.msgpack.decode(point.state))),
        )
    except (msgspec.MsgspecError, UnicodeError):
        # Not readable, so not to be trusted: the source is read from its start next time.
        return Checkpoint(0)
