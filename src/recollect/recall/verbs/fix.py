"""What was done about an error before, and whether it worked.

The rarest words of the error find the turns; the lines of their failed calls
are compared with it, exactly and by shape; and what came after the failure
says what was done and whether the same command passed in the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from recollect.errors import UsageError
from recollect.model.answers import Answers, Confidence, Fix
from recollect.reading.error_text import (
    clean,
    error_lines,
    longest_word,
    shape,
    telling,
    without_names,
)
from recollect.reading.programs import looks_only
from recollect.reading.shell import pieces
from recollect.recall.verbs import retry
from recollect.recall.verbs.changes import shortened
from recollect.store.bodies import EXIT_CODE, KIND, NAME, OK, OUTPUT, TARGET, TEXT, TOOL_KIND
from recollect.store.text import ends, words_in
from recollect.system.clock import iso

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.model.calls import Call, Scene
    from recollect.model.search import Scope
    from recollect.store import Store

    Match = Literal["exact", "shape", "names", "part", "words"]

LINES_ASKED = 6
RAREST_WORDS = 4
COUNTED_WORDS = 12
COUNTED_TURNS = 2_000
CANDIDATES = 200
# A match that is only a part of a longer line must be long enough to mean something.
PART_CHARACTERS = 12
_RANKS: dict[Match, int] = {"exact": 0, "shape": 1, "names": 2, "part": 3, "words": 4}
_WHOLE_LINE = ("exact", "shape", "names")
_CONFIDENCE: dict[Confidence, int] = {"high": 0, "medium": 1, "low": 2}
_MATCHES: dict[Match, str] = {
    "exact": "the same line",
    "shape": "the same line but for paths, numbers and the like",
    "names": "the same error about another name",
    "part": "a line that holds it",
    "words": "a line with the same words",
}


class Asked:
    """An error as somebody gave it: its telling lines, each with its shape and words."""

    def __init__(self, text: str) -> None:
        lines = error_lines(text)[:LINES_ASKED]
        if not lines:
            raise UsageError("no error was given", hint="give the line that says what went wrong")
        self.lines = [(line, shape(line), set(shape(line).split())) for line in lines]
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
    """What was done after this error: with proof before without, this
    project before others, newest first.
    """
    asked = Asked(text)
    # What failed first; an exit code may be hidden, so then whatever was printed.
    found = _found(store, asked, "errors", scope) or _found(store, asked, "output", scope)
    rows = sorted(found.values(), key=lambda row: row.at or "", reverse=True)
    # Stable: among equals the newest stays first.
    rows.sort(key=lambda row: (_CONFIDENCE[row.confidence], _RANKS[row.match]))
    rows.sort(
        key=lambda row: (row.proof is None, row.project != project, not row.live or row.subagent)
    )
    answers = Answers(rows[:limit])
    if len(rows) > len(answers):
        answers.remarks.append(f"{len(rows) - len(answers)} more; --limit shows them")
    return answers


def _found(store: Store, asked: Asked, column: str, scope: Scope) -> dict[tuple[object, ...], Fix]:
    """Where the error was met, by what makes it one answer."""
    found: dict[tuple[object, ...], Fix] = {}
    turns = _candidates(store, asked, column, scope)
    originals = {
        scene.copy_of: scene for _, scene in sorted(store.turns.scenes(turns).items(), reverse=True)
    }
    for scene in sorted(originals.values(), key=lambda scene: scene.turn):
        for met in _met(store, asked, scene):
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


def _candidates(store: Store, asked: Asked, column: str, scope: Scope) -> list[int]:
    """Turns that hold the rarest words of a line in a column of the index.

    With what it has in quotes, and without.
    """
    found: dict[int, None] = {}
    shapes = [shaped for _, shaped, _ in asked.lines]
    for shaped in dict.fromkeys([*shapes, *map(without_names, shapes)]):
        words = _searchable(store, shaped)
        counts = store.text.word_counts(words, column, COUNTED_TURNS)
        known = sorted((word for word in words if counts[word]), key=lambda word: counts[word])[
            :RAREST_WORDS
        ]
        while known:
            turns = store.text.turns_with(known, column, scope, limit=CANDIDATES)
            found.update(dict.fromkeys(turns))
            known = known[: len(known) // 2] if not turns else []
    return list(found)


def _searchable(store: Store, shaped: str) -> list[str]:
    """The words of a shape that the index may know; what was replaced is none of them."""
    plain = " ".join(word for word in shaped.split() if "§" not in word)
    return [word for word in dict.fromkeys(words_in([plain])) if len(word) > 1][:COUNTED_WORDS]


def _met(store: Store, asked: Asked, scene: Scene) -> Iterator[Fix]:
    """The failed calls of a turn that met the error, each with what came after it."""
    ordinal = -1
    for row in store.turns.rows(scene.turn):
        if row[KIND] == "tool_call":
            ordinal += 1
            line, match = _best(asked, str(row[OUTPUT] or ""))
            if match and (row[OK] is not True or (match in _WHOLE_LINE and _hides_failure(row))):
                after = retry.follow(
                    store, scene.turn, ordinal, lambda call: _printed(store, asked, call)
                )
                code = row[EXIT_CODE]
                yield _row(
                    scene, line, match, _tried(row), code if isinstance(code, int) else None, after
                )
        elif row[KIND] == "error":
            line, match = _best(asked, str(row[TEXT]))
            if match:
                yield _row(scene, line, match, None, None, retry.Retry([]))


def _hides_failure(row: list[object]) -> bool:
    """Whether a call that seems to have worked may have met the error: a pipe
    hides exit codes, and looking meets none.
    """
    return row[TOOL_KIND] == "shell" and not all(
        looks_only(piece) for piece in pieces(str(row[TARGET] or ""))
    )


def _printed(store: Store, asked: Asked, call: Call) -> bool:
    """Whether a call's output holds the error."""
    calls = [row for row in store.turns.rows(call.turn) if row[KIND] == "tool_call"]
    return _best(asked, str(calls[call.ordinal][OUTPUT] or ""))[1] is not None


def _tried(row: list[object]) -> str:
    """The command that failed; of another tool its name, and what it was used on."""
    target = str(row[TARGET] or "")
    return target if row[TOOL_KIND] == "shell" and target else f"{row[NAME]} {target}".strip()


def _best(asked: Asked, output: str) -> tuple[str, Match | None]:
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
    scene: Scene,
    line: str,
    match: Match,
    failed: str | None,
    exit_code: int | None,
    after: retry.Retry,
) -> Fix:
    confidence, why = _judge(match, after)
    return Fix(
        ref=scene.ref, session=scene.session_ref, turn=scene.ordinal, agent=scene.agent,
        project=scene.project, at=iso(scene.at),
        live=bool(scene.live), subagent=scene.subagent, error=line, match=match,
        failed=shortened(failed, retry.STEP_CHARACTERS) if failed else None, exit_code=exit_code,
        steps=after.steps, steps_left_out=after.left_out, proof=after.proof,
        proof_match=after.match,
        confidence=confidence, why=why,
    )  # fmt: skip


def _judge(match: Match, after: retry.Retry) -> tuple[Confidence, str]:
    """How far to trust an answer, with the reason."""
    if after.proof is None:
        return "low", f"{_MATCHES[match]}; the command was not seen to work afterwards"
    what = "the same command" if after.match == "same" else "a command of the same program"
    changed = bool(after.steps) or after.more
    ended = f"{what} worked afterwards" if changed else f"{what} worked when it was run again"
    if after.hidden:
        ended = f"{what} ran afterwards in a line that worked, which hides its own exit code"
    # One doubt is medium, two are low: another line, another command, a
    # hidden end, nothing done in between.
    doubts = (_RANKS[match] > 1) + (after.match != "same") + after.hidden + (not changed)
    confidence: Confidence = "high" if not doubts else "medium" if doubts == 1 else "low"
    return confidence, f"{_MATCHES[match]}; {ended}"
