"""What was done about an error before, and whether it worked.

The rarest words of the error find the turns; the lines of their failed calls
are compared with it, exactly and by shape; and what came after the failure
says what was done and whether the same command passed in the end. An error
that no tool printed may have been pasted into a prompt; what was done then in
that turn is told.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from recollect.errors import UsageError
from recollect.model.answers import Answers, Confidence, Fix
from recollect.model.calls import Call
from recollect.reading.calls import FollowUp
from recollect.reading.error_text import (
    clean,
    error_lines,
    is_dull,
    longest_word,
    shape,
    telling,
    without_names,
)
from recollect.reading.programs import looks_only
from recollect.reading.quoting import as_run
from recollect.reading.shell import pieces
from recollect.recall.verbs.after import STEP_CHARACTERS, follow_up, shown, step_of
from recollect.store.text import ends, words_in
from recollect.system.clock import iso

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.model.calls import Scene
    from recollect.model.search import Scope
    from recollect.store import Store

    Match = Literal["exact", "shape", "names", "part", "words"]

LINES_ASKED = 6
RAREST_WORDS = 4
COUNTED_WORDS = 12
# Of an error that is not known: so many words are enough to search for.
WORDS_SAID = 10
COUNTED_TURNS = 2_000
CANDIDATES = 200
# A match that is only a part of a longer line must be long enough to mean something.
PART_CHARACTERS = 12
_RANKS: dict[Match, int] = {"exact": 0, "shape": 1, "names": 2, "part": 3, "words": 4}
_WHOLE_LINE = ("exact", "shape", "names")
_CONFIDENCE: dict[Confidence, int] = {"high": 0, "medium": 1, "low": 2}
_MATCHES: dict[Match, str] = {
    "exact": "the same line",
    "shape": "the same line, except paths, numbers and the like",
    "names": "the same error about another name",
    "part": "a line that contains it",
    "words": "a line with the same words",
}


class ErrorQuery:
    """An error as somebody gave it: its telling lines, each with its shape and words."""

    def __init__(self, text: str) -> None:
        given = [line for line in map(clean, ends(text).splitlines()) if line]
        # Among others a line may be dull; by itself it is what somebody asks about.
        self.alone = given[0] if len(given) == 1 and words_in(given) else ""
        lines = [self.alone] if self.alone else error_lines(text)[:LINES_ASKED]
        if not lines:
            raise UsageError("Which error?", hint="Give the line that says what went wrong.")
        self.lines = [(line, shape(line), set(shape(line).split())) for line in lines]
        # Its words are in every log: only the line itself is meant, with its numbers.
        self.is_dull = bool(self.alone) and is_dull(self.alone)
        self._needles = [longest_word(without_names(shaped)) for _, shaped, _ in self.lines]

    def may_match(self, text: str) -> bool:
        """A quick look, before a text is taken apart: whether it
        holds a word that every match has.
        """
        lowered = text.lower()
        return any(needle in lowered for needle in self._needles)

    def match(self, line: str) -> Match | None:
        """How a stored line is one of those asked for, if it is."""
        found: list[Match] = []
        shaped = shape(line)
        for asked, wanted, words in self.lines:
            open_names = without_names(wanted)
            if clean(line) == asked:
                found.append("exact")
            elif self.is_dull:
                if re.search(rf"(?<!\w){re.escape(asked.lower())}(?!\w)", clean(line).lower()):
                    found.append("part")
            elif shaped == wanted:
                found.append("shape")
            elif len(wanted) >= PART_CHARACTERS and wanted in shaped:
                found.append("part")
            elif (
                open_names != wanted and telling(open_names) and open_names in without_names(shaped)
            ):
                found.append("names")
            elif len(words) > 1 and words <= set(shaped.split()):
                found.append("words")
        found.sort(key=lambda match: _RANKS[match])
        return found[0] if found else None


def fix(
    store: Store,
    text: str,
    *,
    project: str | None,
    scope: Scope,
    limit: int | None = 5,
) -> Answers[Fix]:
    """What was done after this error: the line as it is before one that is alike,
    with proof before without, this project before others, newest first.
    """
    asked = ErrorQuery(text)
    # What failed first; an exit code may be hidden, so then whatever was printed.
    found = _found(store, asked, "errors", scope) or _found(store, asked, "output", scope)
    remarks = []
    if not found:
        found = _found(store, asked, "prompt", scope)
        if found:
            quote = "1 prompt quotes" if len(found) == 1 else f"{len(found)} prompts quote"
            remarks = [f"No tool printed this error. {quote} it:"]
        else:
            words = " ".join(words_in([asked.lines[0][0]])[:WORDS_SAID])
            remarks = [f"To search for its words: recollect search {words}"]
    rows = sorted(found.values(), key=lambda row: row.at or "", reverse=True)
    # Stable: among equals the newest stays first.
    rows.sort(key=lambda row: (_CONFIDENCE[row.confidence], _RANKS[row.match]))
    rows.sort(
        key=lambda row: (
            row.match != "exact",
            row.proof is None,
            row.project != project,
            not row.live or row.subagent or row.external,
        )
    )
    answers = Answers(rows[:limit], remarks)
    if len(rows) > len(answers):
        answers.remarks.append(f"{len(rows) - len(answers)} more. To see them, raise --limit.")
    return answers


def _found(
    store: Store, asked: ErrorQuery, column: str, scope: Scope
) -> dict[tuple[object, ...], Fix]:
    """Where the error was met, by what makes it one answer."""
    found: dict[tuple[object, ...], Fix] = {}
    turns = _candidates(store, asked, column, scope)
    originals = {
        scene.copy_of: scene for _, scene in sorted(store.turns.scenes(turns).items(), reverse=True)
    }
    for scene in sorted(originals.values(), key=lambda scene: scene.turn):
        meet = _quoted if column == "prompt" else _met
        for met in meet(store, asked, scene):
            # One error, met again and again before it was overcome, is told once:
            # where it matched best, or else first.
            key = (
                (met.session, met.proof.ref, met.proof.text)
                if met.proof
                else (met.session, met.failed, shape(met.error))
            )
            known = found.get(key)
            if known is None or _RANKS[met.match] < _RANKS[known.match]:
                found[key] = met
    return found


def _candidates(store: Store, asked: ErrorQuery, column: str, scope: Scope) -> list[int]:
    """Turns that hold the rarest words of a line in a column of the index.

    With what it has in quotes, and without.
    """
    found: dict[int, None] = {}
    shapes = [shaped for _, shaped, _ in asked.lines]
    # A line as it is may be told from those alike by a number.
    alone = [asked.alone] if asked.alone else []
    for shaped in dict.fromkeys([*alone, *shapes, *map(without_names, shapes)]):
        words = _searchable(shaped)
        counts = store.text.word_counts(words, column, COUNTED_TURNS)
        known = sorted((word for word in words if counts[word]), key=lambda word: counts[word])[
            :RAREST_WORDS
        ]
        while known:
            turns = store.text.turns_with(known, column, scope, limit=CANDIDATES)
            found.update(dict.fromkeys(turns))
            known = known[: len(known) // 2] if not turns else []
    return list(found)


def _searchable(shaped: str) -> list[str]:
    """The words of a shape that the index may know; what was replaced is none of them."""
    plain = " ".join(word for word in shaped.split() if "§" not in word)
    return [word for word in dict.fromkeys(words_in([plain])) if len(word) > 1][:COUNTED_WORDS]


def _met(store: Store, asked: ErrorQuery, scene: Scene) -> Iterator[Fix]:
    """The failed calls of a turn that met the error, each with what came after it."""
    for event in store.turns.events(scene.turn):
        if isinstance(event, Call):
            line, match = _best(asked, event.output)
            if match and (not event.passed or (match in _WHOLE_LINE and _hides_failure(event))):
                after = follow_up(
                    store,
                    event.turn,
                    event.ordinal,
                    fails_again=lambda call: _printed(store, asked, call),
                )
                yield _row(store, scene, line, match, after, event)
        elif event.kind == "error":
            line, match = _best(asked, event.text)
            if match:
                yield _row(store, scene, line, match, FollowUp([]))


def _quoted(store: Store, asked: ErrorQuery, scene: Scene) -> Iterator[Fix]:
    """The prompt of a turn that quotes the error, with what was done in the turn."""
    events = store.turns.events(scene.turn)
    texts = [
        event.text
        for event in events
        if not isinstance(event, Call) and event.kind == "prompt" and event.text
    ]
    line, match = _best(asked, "\n".join(texts))
    if match:
        calls = [event for event in events if isinstance(event, Call)]
        edits = [call for call in calls if call.kind == "edit"]
        row = _row(store, scene, line, match, FollowUp(edits or calls))
        row.why = f"{_MATCHES[match]}, in a prompt; what was done then may be the fix"
        yield row


def _hides_failure(call: Call) -> bool:
    """Whether a call that seems to have worked may have met the error: a pipe
    hides exit codes, and looking meets none.
    """
    return call.kind == "shell" and not all(map(looks_only, pieces(call.target)))


def _printed(store: Store, asked: ErrorQuery, call: Call) -> bool:
    """Whether a call's output holds the error."""
    return _best(asked, store.calls.whole([call])[0].output)[1] is not None


def _tried(call: Call) -> str:
    """The command that failed; of another tool its name, and what it was used on."""
    is_command = call.kind == "shell" and call.target
    return call.target if is_command else f"{call.name} {call.target}".strip()


def _best(asked: ErrorQuery, output: str) -> tuple[str, Match | None]:
    """The line of an output that matches best."""
    best: tuple[str, Match | None] = ("", None)
    for raw in filter(asked.may_match, ends(output).splitlines()):
        line = clean(raw)
        match = asked.match(line) if line else None
        if match and (best[1] is None or _RANKS[match] < _RANKS[best[1]]):
            best = (line, match)
            if match == "exact":
                break
    return best


def _row(
    store: Store, scene: Scene, line: str, match: Match, after: FollowUp, failed: Call | None = None
) -> Fix:
    steps = shown(after)
    places = store.turns.places({call.turn for call in [*steps, after.proof] if call})
    confidence, why = _judge(match, after)
    return Fix(
        ref=scene.ref, session=scene.session_ref, turn=scene.ordinal, agent=scene.agent,
        project=scene.project, at=iso(scene.at),
        live=bool(scene.live), subagent=scene.subagent, external=scene.external,
        error=line, match=match,
        failed=as_run(_tried(failed), STEP_CHARACTERS) if failed else None,
        exit_code=failed.exit_code if failed else None,
        steps=[step_of(call, places[call.turn]) for call in steps],
        steps_left_out=len(after.done) - len(steps),
        proof=step_of(after.proof, places[after.proof.turn]) if after.proof else None,
        proof_match=after.retry.form if after.retry else None,
        confidence=confidence, why=why,
    )  # fmt: skip


def _judge(match: Match, after: FollowUp) -> tuple[Confidence, str]:
    """How far to trust an answer, with the reason."""
    if after.retry is None:
        return (
            "low",
            f"{_MATCHES[match]}; the command did not work afterwards, as far as the log shows",
        )
    is_same, hidden = after.retry.form == "same", after.retry.hidden
    what = "the same command" if is_same else "a command of the same program"
    changed = bool(after.done) or after.more
    ended = f"{what} worked afterwards" if changed else f"{what} worked when it was run again"
    if hidden:
        ended = f"{what} ran afterwards in a longer line that worked; its own exit code is unknown"
    # One doubt is medium, two are low: another line, another command, a
    # hidden end, nothing done in between.
    doubts = (_RANKS[match] > 1) + (not is_same) + hidden + (not changed)
    confidence: Confidence = "high" if not doubts else "medium" if doubts == 1 else "low"
    return confidence, f"{_MATCHES[match]}; {ended}"
