"""What a conversation's database tells that its transcript does not: its place and its tokens.

The numbers of the fields are not documented. They come from several public
readers that agree about them; docs/formats/antigravity.md names them. The steps
themselves are in the database too, as messages whose fields nobody knows for
certain, and are not read.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from recollect.capture.logs.editors import file_path
from recollect.capture.logs.protobuf import MalformedMessage, ProtobufMessage
from recollect.capture.logs.sqlite import SqliteFile, open_sqlite
from recollect.capture.logs.values import moment_of

# A row may hold everything that the model was sent.
_ROWS_AT_ONCE = 50
# No call has more; a larger figure is some other number in a format that changed.
_MOST_TOKENS = 1 << 32
_LAST_STEP = "last_step_index"


class AntigravityCall(Struct):
    """One model call; `step` is the place in the transcript that it led to, where that is told."""

    key: str
    step: int | None
    at: int | None
    model: str | None
    input: int
    cache_read: int
    output: int
    reasoning: int


class AntigravityFacts(Struct):
    """What a database tells, and in how many rows it could not be read."""

    cwd: str | None = None
    branch: str | None = None
    model_calls: list[AntigravityCall] = field(default_factory=list)
    malformed: int = 0
    read_bytes: int = 0


def read_database(path: str, session: str) -> AntigravityFacts:
    """What the database of a session tells; `UnreadableSource` when it is none."""
    known = AntigravityFacts()
    with open_sqlite(path) as file:
        if "data" in file.columns("trajectory_metadata_blob"):
            for (data,) in file.all("select data from trajectory_metadata_blob limit 1"):
                _add_place(known, data)
        if {"idx", "data"} <= set(file.columns("gen_metadata")):
            _add_model_calls(known, file, session)
    return known


def _add_place(known: AntigravityFacts, data: Any) -> None:
    try:
        workspace = ProtobufMessage(data).inner(1)
        known.cwd, known.branch = file_path(workspace.text(1)), workspace.text(4)
    except MalformedMessage:
        known.malformed += 1


def _add_model_calls(known: AntigravityFacts, file: SqliteFile, session: str) -> None:
    last = -1
    while found := file.all(
        "select idx, data from gen_metadata where idx > ? order by idx limit ?",
        (last, _ROWS_AT_ONCE),
    ):
        for number, data in found:
            if not isinstance(number, int):
                # Texts come after all numbers: somebody else's table.
                return
            if number <= last:
                # In a damaged file they may come in any order, and again for ever.
                known.malformed += 1
                return
            last = number
            known.read_bytes += len(data) if isinstance(data, bytes) else 0
            try:
                known.model_calls.append(_model_call(ProtobufMessage(data), f"{session}/{last}"))
            except MalformedMessage:
                known.malformed += 1


def _model_call(row: ProtobufMessage, key: str) -> AntigravityCall:
    call = row.inner(1)
    used = call.inner(4)
    asked = used.number(2)
    answered = used.number(3)
    cached = used.number(5)
    thought = used.number(9)
    if max(asked, answered, cached) > _MOST_TOKENS:
        raise MalformedMessage("a count that is none")
    ended = call.inner(9).inner(4)
    return AntigravityCall(
        # The service's own name of its answer is the same in a copy of the conversation.
        key=used.text(11) or key,
        step=_step(row, call),
        at=moment_of(ended.number(1) + ended.number(2) / 1e9),
        model=call.text(19) or call.text(21),
        input=asked,
        cache_read=cached,
        output=answered,
        # Public readers do not agree which of two numbers it is; this one adds
        # up to the output with the other.
        reasoning=thought if thought + used.number(10) == answered else 0,
    )


def _step(row: ProtobufMessage, call: ProtobufMessage) -> int | None:
    steps = row.numbers(2)
    if steps:
        return min(steps)
    for note in call.inners(20):
        value = note.text(2) if note.text(1) == _LAST_STEP else None
        if value and value.isdecimal():
            return int(value) + 1
    return None
