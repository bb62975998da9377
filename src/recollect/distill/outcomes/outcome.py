"""How a task went, and what says so.

The agent's word is not enough. A task succeeded when the person said so, when
a check that failed before the work passes after it, or when the work was kept:
committed, merged, sent as a pull request. A check that was never red proves
little, and so does a clean end. docs/outcomes.md has the whole of it.

What happens later outweighs what happened before. So everything that speaks
for or against the work is gone through in order: a complaint takes down the
proofs before it, an edit makes old what failed before it, and a word of
acceptance settles everything. What still stands at the end decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from recollect.distill.outcomes import talk
from recollect.distill.outcomes.deeds import (
    admits,
    asks_to_keep,
    asks_to_mend,
    claims,
    deeds_of,
    did_not_run,
    failures_of,
    found_nothing,
    is_test_file,
    runs_on,
    timed_out,
    was_denied,
)
from recollect.distill.tasks.calls import Done, one_line
from recollect.model.digests import Evidence, EvidenceKind, Outcome
from recollect.reading.calls import find_retry, read_line
from recollect.reading.quoting import quoted
from recollect.reading.quoting import typed as without_recalled
from recollect.store import bodies

if TYPE_CHECKING:
    from recollect.store.history import Passage

EVIDENCE_CHARACTERS = 160
# Where a prompt says what it is about.
PROMPT_CHARACTERS = 600
# So often the same call has to fail before it is a loop: twice is a
# retry, three times an honest doubt.
LOOP = 4
# Who complains so often in a row has not got what they asked for, whatever was done about it.
COMPLAINTS = 3

_PROOFS: tuple[EvidenceKind, ...] = ("accepted", "check_fixed", "kept")
_HINTS: tuple[EvidenceKind, ...] = ("check_passed", "claimed", "left")
_COMPLAINTS: tuple[EvidenceKind, ...] = ("corrected", "annoyed", "refused")


def judge(
    passages: Sequence[Passage], calls: Iterable[Done], *, is_last: bool, next_prompt: str | None
) -> tuple[Outcome, list[Evidence]]:
    """The outcome of a task and what speaks for it.

    `passages` are its turns, with those that were undone; `calls` the tool
    calls of the others, in order. `next_prompt` is what was typed after them.
    """
    ledger = _Ledger()
    remaining = iter(calls)
    is_asked = False
    for passage in passages:
        if not passage.live:
            ledger.undo(passage)
            is_asked |= passage.author == "human"
            continue
        for row in passage.rows:
            kind, text = row[bodies.KIND], row[bodies.TEXT]
            if kind == "tool_call":
                ledger.act(next(remaining))
            elif kind == "reply":
                ledger.reply(text, passage.ref)
            elif kind in ("abort", "error"):
                ledger.stop(passage.ref, text if kind == "error" else "")
            elif kind == "prompt" and passage.author == "human":
                # The first prompt asks; there is nothing yet that it could judge.
                if is_asked:
                    ledger.listen(without_recalled(text), passage.ref)
                else:
                    ledger.ask(text[:PROMPT_CHARACTERS])
                is_asked = True
    if passages and next_prompt:
        ledger.listen(next_prompt, passages[-1].ref, is_next=True)
    if passages and not is_last:
        ledger.add("left", passages[-1].ref)
    return ledger.outcome()


class _Ledger:
    """What speaks for and against a task, as far as it has been gone through."""

    def __init__(self) -> None:
        self.standing: list[Evidence] = []
        self.complaints: list[Evidence] = []
        # What the task is about: something that fails, work that is to
        # be taken back, or to be kept.
        self.is_mending = self.is_trial = self.is_keeping = False
        self.was_accepted = False
        # The last word accepted a part and complained about another.
        self.is_halved = False
        # Something was said or shown to be wrong, and nobody has said since that it is right.
        self.is_doubted = False
        self.edits = 0
        # Edits of anything but tests since the task, or what is wrong with it, was told.
        self.tries = 0
        self.stashed = 0
        self.red: list[Done] = []
        # Checks that failed before anything was changed, those that failed once tests were
        # written for it, and those that passed.
        self.broken: list[Done] = []
        self.written: list[Done] = []
        self.sound: list[Done] = []
        self.failures: Counter[str] = Counter()
        # A long task runs the same few checks over and over.
        self.covered: dict[tuple[str | None, str | None], bool] = {}

    # What the person says

    def ask(self, prompt: str) -> None:
        self.is_mending, self.is_trial, self.is_keeping = (
            asks_to_mend(prompt),
            talk.takes_back(prompt),
            asks_to_keep(prompt),
        )

    def listen(self, prompt: str, ref: str, *, is_next: bool = False) -> None:
        """What a prompt says about the work.

        One that begins the next task may report what is wrong there.
        """
        heard = talk.hear(prompt)
        wrong = heard.corrected
        if not is_next:
            # Before anything was changed, an error that is pasted shows what is to be done.
            wrong = (
                wrong
                or heard.reported
                or (heard.shown if self.edits and not heard.accepted else "")
            )
        refused = heard.refused or (heard.declined if not self.edits and not is_next else "")
        against: list[tuple[EvidenceKind, str]] = [
            ("corrected", wrong),
            ("annoyed", heard.annoyed),
            ("refused", refused),
        ]
        said = [
            Evidence(kind=kind, ref=ref, text=quoted(text, EVIDENCE_CHARACTERS))
            for kind, text in against
            if text
        ]
        if heard.accepted:
            self._keep(*_PROOFS, *_HINTS)
            self._drop("accepted")
            self.add("accepted", ref, heard.accepted)
            self.complaints, self.is_doubted, self.is_halved = [], False, bool(said)
        # "Never mind" wants no more of it; it says nothing about what there is.
        elif (
            wrong
            or heard.annoyed
            or talk.takes_back(heard.refused)
            or (heard.shown and not is_next)
        ):
            self.was_accepted |= any(one.kind == "accepted" for one in self.standing)
            self._drop(*_PROOFS, *_COMPLAINTS, "check_passed")
            self.is_doubted, self.tries = True, 0
            self.broken, self.written, self.sound = [], [], []
        self.standing += said
        if not heard.goes_on:
            self.complaints = [*self.complaints, *said[:1]] if said else []

    # What the agent does

    def act(self, call: Done) -> None:
        self._drop("aborted", "admitted")
        if call.files:
            if not self.edits:
                # What was liked before anything was done was the plan.
                self._drop("accepted")
            self.edits += 1
            self.tries += not all(map(is_test_file, call.files))
            # Whether what failed still fails, and what passed still passes,
            # nobody knows until it is tried again.
            self._keep(*_PROOFS, "claimed", *(("refused",) if self._is_taken_back() else ()))
        if call.check:
            self._check(call)
        elif call.kind == "shell" and call.weight:
            self._command(call)
        for deed in deeds_of(call):
            if deed == "kept" and (self.edits or self.is_keeping) and not self.is_doubted:
                self._drop("kept")
                self.add("kept", call.ref, _command_of(call))
            elif deed in ("reverted", "stashed") and self.edits and not self.is_trial:
                self.stashed, self.edits, self.tries = self.edits, 0, 0
                self._drop("check_fixed", "kept", "check_passed", "reverted")
                self.add("reverted", call.ref, _command_of(call))
            elif deed == "unstashed" and self.stashed:
                self.edits, self.stashed = self.stashed, 0
                self._drop("reverted")

    def _check(self, call: Done) -> None:
        self._drop("command_failed")
        if call.ok:
            self._passed(call)
        elif timed_out(call):
            self._failed("timeout", call)
        elif call.ok is False and not did_not_run(call) and not was_denied(call):
            self.standing = [
                one
                for one in self.standing
                if one.kind != "check_fixed" or one.text != _command_of(call)
            ]
            self.red.append(call)
            if not self.tries:
                (self.broken if not self.edits else self.written).append(call)
            # Red before anything was done is what the task is about, or has nothing to do with it.
            if self.edits and not self._was_as_red(call):
                self._failed("check_failed", call)

    def _passed(self, call: Done) -> None:
        over = {_command_of(before) for before in self.red if self._covers(before, call)} | {
            _command_of(call)
        }
        self.standing = [
            one for one in self.standing if one.text not in over or one.kind in ("accepted", "kept")
        ]
        # A new test that fails until it is changed itself was wrong itself.
        was_broken = any(
            self._covers(before, call)
            for before in self.broken + (self.written if self.tries else [])
        )
        if (
            was_broken
            and self.edits
            and not any(self._covers(before, call) for before in self.sound)
        ):
            self._drop("check_fixed")
            self.add("check_fixed", call.ref, _command_of(call))
        else:
            self._drop("check_passed")
            self.add("check_passed", call.ref, _command_of(call))
        if not self.edits:
            self.sound.append(call)

    def _command(self, call: Done) -> None:
        """A command that does something; it also answers whatever was said before it."""
        self._drop("command_failed", "corrected", "annoyed")
        if (
            call.ok
            and self.edits
            and self.is_mending
            and any(before.target == call.target for before in self.broken)
        ):
            # Where something is to be mended, what failed before the work and
            # works after it is as good as a check.
            self._passed(call)
        elif call.ok:
            self.standing = [
                one for one in self.standing if one.text != _command_of(call) or one.kind in _PROOFS
            ]
        elif timed_out(call):
            if not runs_on(call):
                self._failed("timeout", call)
        elif call.ok is False and not found_nothing(call) and not was_denied(call):
            if not self.edits:
                self.broken.append(call)
            self._failed("command_failed", call)

    def _failed(self, kind: EvidenceKind, call: Done) -> None:
        command = _command_of(call)
        self.failures[command] += 1
        self.standing = [one for one in self.standing if one.text != command or one.kind in _PROOFS]
        self.add("loop" if self.failures[command] >= LOOP else kind, call.ref, command)

    def reply(self, text: str, ref: str) -> None:
        self._drop("aborted", "admitted")
        if not self.edits:
            # Where nothing was to be done, another answer is all that a complaint can get.
            self._drop("corrected", "annoyed")
        if admits(text):
            self.add("admitted", ref)
        elif claims(text):
            self._drop("claimed")
            self.add("claimed", ref)

    def stop(self, ref: str, error: str) -> None:
        self._drop("aborted")
        self.add("aborted", ref, error)

    def undo(self, passage: Passage) -> None:
        """A turn that was undone; so was what it changed."""
        if any(
            row[bodies.KIND] == "tool_call" and row[bodies.TOOL_KIND] == "edit"
            for row in passage.rows
        ):
            self._drop("reverted")
            self.add("reverted", passage.ref)

    # What it came to

    def outcome(self) -> tuple[Outcome, list[Evidence]]:
        proofs = [one for one in self.standing if one.kind in _PROOFS]
        hints = [one for one in self.standing if one.kind in _HINTS]
        against = [
            one for one in self.standing if one.kind not in _PROOFS and one.kind not in _HINTS
        ]
        if proofs:
            # What took too long says little beside a proof.
            spoiling = [one for one in against if one.kind != "timeout"]
            return ("partial" if spoiling or self.is_halved else "success"), proofs + spoiling
        if against:
            return self._weigh(against, hints), against
        if len(self.complaints) >= COMPLAINTS:
            return "fail", self.complaints
        return "uncertain", hints

    def _weigh(self, against: list[Evidence], hints: list[Evidence]) -> Outcome:
        kinds = {one.kind for one in against}
        if "aborted" in kinds and not kinds & {"reverted", "corrected", "annoyed"}:
            return "abandoned"
        is_undone = "reverted" in kinds or self._is_taken_back()
        is_wrong = is_undone or bool(kinds & {"corrected", "annoyed"})
        if "refused" in kinds and not is_wrong and (not self.edits or "aborted" in kinds):
            return "abandoned"
        if self.was_accepted or (kinds <= {"check_failed", "timeout"} and self._is_better(hints)):
            return "partial"
        return "fail"

    def _is_better(self, hints: list[Evidence]) -> bool:
        """Whether some checks pass where others do not, or most of what failed at first passes."""
        if any(one.kind == "check_passed" for one in hints):
            return True
        counts = [count for count in map(failures_of, self.red) if count is not None]
        return len(counts) > 1 and counts[-1] <= counts[0] / 2

    def _was_as_red(self, call: Done) -> bool:
        """Whether a check that nobody asked to mend fails as it did before the work."""
        before = (
            [one for one in self.broken if self._covers(one, call)] if not self.is_mending else []
        )
        return any((failures_of(call) or 1) <= (failures_of(one) or 1) for one in before)

    def _covers(self, before: Done, later: Done) -> bool:
        pair = (before.target, later.target)
        if pair not in self.covered:
            self.covered[pair] = _covers(before, later)
        return self.covered[pair]

    def _is_taken_back(self) -> bool:
        return any(one.kind == "refused" and talk.takes_back(one.text) for one in self.standing)

    def add(self, kind: EvidenceKind, ref: str, text: str = "") -> None:
        self.standing.append(Evidence(kind=kind, ref=ref, text=quoted(text, EVIDENCE_CHARACTERS)))

    def _drop(self, *kinds: EvidenceKind) -> None:
        self.standing = [one for one in self.standing if one.kind not in kinds]

    def _keep(self, *kinds: EvidenceKind) -> None:
        self.standing = [one for one in self.standing if one.kind in kinds]


def _command_of(call: Done) -> str:
    return _in_one_line(call.target or call.name)


@lru_cache(256)
def _in_one_line(command: str) -> str:
    return quoted(one_line(command), EVIDENCE_CHARACTERS)


def _covers(before: Done, later: Done) -> bool:
    """Whether a later check tells about an earlier one: the same, or one of
    more or of fewer tests, but not of others.
    """
    retry = find_retry(before, later)
    if retry is None or retry.form == "same":
        return retry is not None
    first, second = (read_line(call.target).arguments for call in (before, later))
    return first <= second or second <= first
