"""What stays of a turn when its events are let go.

The beginning of what was asked and of what was answered last, and the calls
without what they were given and gave back, except for both ends of what a
failed one printed and the lines of it that the session's digest quotes. What
else the digest tells of the turn is kept beside that, as far as its words are
not in it already: whoever searches for a word of a digest finds the session,
whether its events are still there or not.

Texts are cut between words. Half a secret at the end of one could not be
recognised any more, should we learn later what such secrets look like.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recollect.model.calls import TARGET_CHARACTERS
from recollect.model.digests import Digest
from recollect.store import bodies
from recollect.store.sqlite.capture.content import LEAD_CHARACTERS, text_row
from recollect.store.text import prepare

# A person's words find a turn better than anything else in it, and most
# of what was ever asked is shorter.
PROMPT_CHARACTERS = 1_000
# A line has room for what a program prints before the error in it.
LINE_CHARACTERS, ERROR_CHARACTERS = 400, 200
_CUT = "\n…\n"
_WORD = re.compile(r"[^\W_]+")
_CUT_WORD = re.compile(r"\w*…$")


class DigestWords(NamedTuple):
    """What a digest tells of one turn; `errors` are lines that some command printed."""

    texts: list[str]
    errors: list[str]


def told_by(digest: Digest, first: int) -> dict[int, DigestWords]:
    """What a digest tells, by the number of the turn that it is about.

    What is about the whole session, at its `first`.

    The summary is left out: it is made of the rest, of counts and of the
    outcome, for which there is a filter.
    """
    told: dict[int, DigestWords] = {}

    def of(turn: int) -> DigestWords:
        return told.setdefault(turn, DigestWords([], []))

    of(first).texts.extend(
        [digest.title, *(text.rpartition(" (")[0] or text for text in digest.open_ends)]
    )
    for task in digest.tasks:
        of(task.turns[0] if task.turns else first).texts.extend(
            [task.title, task.asked, *task.files]
        )
        for evidence in task.evidence:
            of(_turn(evidence.ref)).texts.append(evidence.text)
        for run in task.runs:
            of(_turn(run.ref)).texts.append(run.command)
        for trouble in task.errors:
            of(_turn(trouble.ref)).texts.extend(
                [trouble.error, trouble.command or "", *trouble.steps]
            )
            of(_turn(trouble.ref)).errors.append(trouble.error)
    return told


def _turn(ref: str) -> int:
    return int(ref.rpartition("#")[2])


def abridged(rows: list[bodies.Row], errors: Sequence[str] = ()) -> list[bodies.Row]:
    """The rows that stay of a turn's events. What is short already stays as it is."""
    answers = [row for row in rows if row[bodies.KIND] == "reply"]
    kept = []
    for row in rows:
        kind, at, text = row[: bodies.CALL]
        if kind == "tool_call":
            kept.append(_call(row, errors))
        elif kind == "prompt":
            kept.append([kind, at, _beginning(text, PROMPT_CHARACTERS)])
        elif kind in ("error", "abort") or (answers and row is answers[-1]):
            kept.append([kind, at, _beginning(text, LEAD_CHARACTERS)])
    return kept


def with_digest(
    rows: list[bodies.Row], texts: Sequence[str], known: frozenset[str]
) -> list[bodies.Row]:
    """Rows together with those texts of a digest that have a word which is neither
    in them nor known to stay elsewhere.
    """
    if not texts:
        return rows
    said = known | words_of(text_row(0, rows)[1:])
    kept: list[str] = []
    for text in texts:
        new = _whole_words(text) - said
        if new:
            kept.append(text)
            said |= new
    return [*rows, bodies.digest_row("\n".join(kept))] if kept else rows


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The words of some texts as the index has them, in lower case and before stemming."""
    return frozenset(_WORD.findall(prepare("\n".join(texts)).lower()))


def _whole_words(text: str) -> frozenset[str]:
    """The words of a text; one that was cut off at its end is none."""
    return words_of([_CUT_WORD.sub("", text)])


def _call(row: bodies.Row, errors: Sequence[str]) -> bodies.Row:
    """A call without what it was given and gave back.

    One that still waits for its result keeps the name it is found by.
    """
    kind, at, _, call, name, tool_kind, target, _, output, ok, exit_code, duration_ms, folder = row
    waits = ok is None and output is None
    target = target[:TARGET_CHARACTERS] if target else target
    said = _excerpt(output, errors) if output and ok is False else None
    return [
        kind, at, "", call if waits else None, name, tool_kind, target, None, said, ok,
        exit_code, duration_ms, folder,
    ]  # fmt: skip


def _excerpt(output: str, errors: Sequence[str]) -> str:
    """Both ends of what was printed, and between them the lines that hold one of these errors.

    Of an excerpt, the same.
    """
    if len(output) <= 2 * LEAD_CHARACTERS + len(_CUT):
        return output
    pieces = output.split(_CUT)
    first, last = _beginning(pieces[0], LEAD_CHARACTERS), _end(pieces[-1], LEAD_CHARACTERS)
    lines = (
        dict.fromkeys(" ".join(line.split())[:LINE_CHARACTERS] for line in output.splitlines())
        if errors
        else ()
    )
    quoted = [line for line in lines if any(error[:ERROR_CHARACTERS] in line for error in errors)]
    return _CUT.join(
        [first, *(line for line in quoted if line not in first and line not in last), last]
    )


def _beginning(text: str, most: int) -> str:
    """The first words of a text; without a space in it, its first characters."""
    piece = text[:most]
    if len(text) <= most or text[most].isspace():
        return piece
    end = max(piece.rfind(space) for space in " \n\t")
    return piece[:end] if end > 0 else piece


def _end(text: str, most: int) -> str:
    return _beginning(text[::-1], most)[::-1]
