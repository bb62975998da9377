"""How a task went, and what says so.

The agent's word is not enough. What speaks for and against the work is gone through
in order, because what happens later outweighs what happened before: a complaint takes
down the proofs before it, an edit makes old what failed before it, and a word of
acceptance settles everything. What still stands at the end, together with the facts
of the work, makes a probability (`odds`), and an outcome is named only where that is
sure. docs/outcomes.md has the whole of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from recollect.distill.outcomes import talk
from recollect.distill.outcomes.facts import Facts, facts_of
from recollect.distill.outcomes.odds import SURE, SURE_NOT, odds_of
from recollect.distill.outcomes.operations import (
    admits,
    asks_to_keep,
    asks_to_mend,
    did_not_run,
    failures_of,
    found_nothing,
    is_test_file,
    operations_of,
    runs_on,
    timed_out,
    was_denied,
)
from recollect.distill.tasks.actions import one_line
from recollect.model.calls import Call
from recollect.model.digests import Evidence, EvidenceKind, Outcome
from recollect.reading.calls import find_retry, read_line
from recollect.reading.quoting import quoted
from recollect.reading.quoting import typed as without_recalled

if TYPE_CHECKING:
    from recollect.distill.tasks.actions import Action
    from recollect.store.history import Passage

EVIDENCE_CHARACTERS = 160
# Where a prompt says what it is about.
PROMPT_CHARACTERS = 600
# So often the same call has to fail before it is a loop: twice is a
# retry, three times an honest doubt.
LOOP = 4
# Who complains so often in a row has not got what they asked for, whatever was done about it.
COMPLAINTS = 3
# So many failed commands, as a logarithm, speak for themselves: ten.
MANY_FAILURES = 2.4

_PROOFS: tuple[EvidenceKind, ...] = ("accepted", "check_fixed", "kept")
_HINTS: tuple[EvidenceKind, ...] = ("praised", "check_passed", "left")
_COMPLAINTS: tuple[EvidenceKind, ...] = ("corrected", "shown", "annoyed", "refused")

# The last command that failed, or an error that was pasted, is no ground to call it a failure.
_GROUNDS_AGAINST = {*_COMPLAINTS, "reverted", "check_failed", "timeout", "loop", "admitted"} - {
    "shown"
}


class Verdict(NamedTuple):
    """How a task went: the outcome, the probability that it succeeded, and what speaks for it."""

    outcome: Outcome
    p: float
    evidence: list[Evidence]


def judge(
    passages: Sequence[Passage], actions: Iterable[Action], *, is_last: bool,
    next_prompt: str | None,
) -> Verdict:  # fmt: skip
    """How a task went.

    `passages` are its turns, with those that were undone; `actions` the tool
    calls of the others, in order. `next_prompt` is what was typed after them.
    """
    done = list(actions)
    ledger = _Ledger()
    remaining = iter(done)
    replies: list[str] = []
    is_asked = False
    for passage in passages:
        if not passage.live:
            ledger.undo(passage)
            is_asked |= passage.author == "human"
            continue
        for event in passage.events:
            if isinstance(event, Call):
                ledger.act(next(remaining))
            elif event.kind == "reply":
                replies.append(event.text)
                ledger.reply(event.text, passage.ref)
            elif event.kind in ("abort", "error"):
                ledger.stop(passage.ref, event.text if event.kind == "error" else "")
            elif event.kind == "prompt" and passage.author == "human":
                # The first prompt asks; there is nothing yet that it could judge.
                if is_asked:
                    ledger.listen(without_recalled(event.text), passage.ref)
                else:
                    ledger.ask(event.text[:PROMPT_CHARACTERS])
                is_asked = True
    if passages and next_prompt:
        ledger.listen(next_prompt, passages[-1].ref, is_next=True)
    if passages and not is_last:
        ledger.add("left", passages[-1].ref)
    return ledger.verdict(facts_of(replies, done))


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
        self.files: set[str] = set()
        # Whether the agent's last reply asks something.
        self.has_asked = False
        # Edits of anything but tests since the task, or what is wrong with it, was told.
        self.tries = 0
        self.stashed = 0
        self.red: list[Call] = []
        # Checks that failed before anything was changed, those that failed once tests were
        # written for it, and those that passed.
        self.broken: list[Call] = []
        self.written: list[Call] = []
        self.sound: list[Call] = []
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
        if self.has_asked and not talk.speaks_of_work(heard.accepted):
            # "Yes, that's correct" says it of what the agent asked.
            heard = heard._replace(accepted="")
        wrong = heard.corrected or ("" if is_next else heard.reported)
        # Before anything was changed, an error that is pasted shows what is to be done.
        is_shown = self.edits and not (is_next or wrong or heard.accepted)
        refused = heard.refused or (heard.declined if not self.edits and not is_next else "")
        against: list[tuple[EvidenceKind, str]] = [
            ("corrected", wrong),
            ("shown", heard.shown if is_shown else ""),
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
            self._drop("accepted", "praised")
            kind: EvidenceKind = "praised" if talk.is_courtesy(heard.accepted) else "accepted"
            self.add(kind, ref, heard.accepted)
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
            words = [one for one in said if one.kind != "shown"]
            self.complaints = [*self.complaints, *words[:1]] if words else []

    # What the agent does

    def act(self, action: Action) -> None:
        call = action.call
        self.has_asked = False
        self._drop("aborted", "admitted")
        # A few files that are put back leave the work in the others.
        is_whole = not action.files or all(_is_below(one, action.files) for one in self.files)
        if action.changes:
            if not self.edits:
                # What was liked before anything was done was the plan.
                self._drop("accepted")
            self.edits += 1
            self.files.update(action.files)
            self.tries += not action.files or not all(map(is_test_file, action.files))
            # Whether what failed still fails, and what passed still passes,
            # nobody knows until it is tried again.
            self._keep(*_PROOFS, *(("refused",) if self._is_taken_back() else ()))
        if action.check:
            self._check(action)
        elif call.kind == "shell" and action.weight:
            self._command(action)
        for operation in operations_of(call):
            if operation == "unstashed" and self.stashed:
                self.edits, self.stashed = self.stashed, 0
                self._drop("reverted")
            elif operation == "kept" and self.edits and not (self.is_keeping or self.is_doubted):
                # Who was asked for a commit has done what was asked, well or badly.
                self._drop("kept")
                self.add("kept", action.ref, _command_of(call))
            elif action.writes or not (self.edits and is_whole) or self.is_trial:
                # Taken back to do it better, or because that was asked.
                continue
            elif operation in ("reverted", "stashed"):
                self.stashed, self.edits, self.tries = self.edits, 0, 0
                self._drop("check_fixed", "kept", "check_passed", "reverted")
                self.add("reverted", action.ref, _command_of(call))

    def _check(self, action: Action) -> None:
        call = action.call
        self._drop("command_failed")
        if call.ok:
            self._passed(action)
        elif timed_out(call):
            self._failed("timeout", action)
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
                self._failed("check_failed", action)

    def _passed(self, action: Action) -> None:
        call = action.call
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
            self.add("check_fixed", action.ref, _command_of(call))
        else:
            self._drop("check_passed")
            self.add("check_passed", action.ref, _command_of(call))
        if not self.edits:
            self.sound.append(call)

    def _command(self, action: Action) -> None:
        """A command that does something; it also answers whatever was said before it."""
        call = action.call
        self._drop("command_failed", "corrected", "shown", "annoyed")
        if (
            call.ok
            and self.edits
            and self.is_mending
            and any(before.target == call.target for before in self.broken)
        ):
            # Where something is to be mended, what failed before the work and
            # works after it is as good as a check.
            self._passed(action)
        elif call.ok:
            self.standing = [
                one for one in self.standing if one.text != _command_of(call) or one.kind in _PROOFS
            ]
        elif timed_out(call):
            if not runs_on(call):
                self._failed("timeout", action)
        elif call.ok is False and not found_nothing(call) and not was_denied(call):
            if not self.edits:
                self.broken.append(call)
            self._failed("command_failed", action)

    def _failed(self, kind: EvidenceKind, action: Action) -> None:
        command = _command_of(action.call)
        self.failures[command] += 1
        self.standing = [one for one in self.standing if one.text != command or one.kind in _PROOFS]
        self.add("loop" if self.failures[command] >= LOOP else kind, action.ref, command)

    def reply(self, text: str, ref: str) -> None:
        self._drop("aborted", "admitted")
        self.has_asked = talk.is_question(text)
        if not self.edits:
            # Where nothing was to be done, another answer is all that a complaint can get.
            self._drop("corrected", "shown", "annoyed")
        if admits(text):
            self.add("admitted", ref)

    def stop(self, ref: str, error: str) -> None:
        self._drop("aborted")
        self.add("aborted", ref, error)

    def undo(self, passage: Passage) -> None:
        """A turn that was undone; so was what it changed."""
        if any(isinstance(event, Call) and event.kind == "edit" for event in passage.events):
            self._drop("reverted")
            self.add("reverted", passage.ref)

    # What it came to

    def verdict(self, facts: Facts) -> Verdict:
        """What stands at the end, weighed."""
        if len(self.complaints) >= COMPLAINTS and not self._has("accepted"):
            self._drop(*_COMPLAINTS)
            self.standing += self.complaints
        if facts.only_talk:
            # Where nothing was run or changed, nobody can have tried it.
            for one in self.standing:
                one.kind = "praised" if one.kind == "accepted" else one.kind
        p = odds_of(facts, (one.kind for one in self.standing))
        return Verdict(self._outcome(p, facts), p, self._telling())

    def _outcome(self, p: float, facts: Facts) -> Outcome:
        kinds = {one.kind for one in self.standing}
        complaints = kinds & {"corrected", "annoyed", "reverted"} or self._is_taken_back()
        if "accepted" not in kinds and not complaints:
            if "aborted" in kinds and not kinds & set(_PROOFS):
                return "abandoned"
            if "refused" in kinds and not self.edits:
                return "abandoned"
        if self._has("accepted") and (complaints or self.is_halved):
            return "partial"
        if self.was_accepted and complaints:
            return "partial"
        if (
            "check_failed" in kinds
            and not complaints
            and (kinds & {"kept", "check_passed"} or self._is_better())
        ):
            return "partial"
        # A commit or a build alone is no ground, however well the rest went.
        if p >= SURE and (kinds & {"accepted", "check_fixed"} or facts.ran_tests):
            return "success"
        if p <= SURE_NOT and (kinds & _GROUNDS_AGAINST or facts.failures >= MANY_FAILURES):
            return "fail"
        return "uncertain"

    def _telling(self) -> list[Evidence]:
        """What is shown: both sides of it, the hints only where nothing else stands."""
        strong = [one for one in self.standing if one.kind not in _HINTS]
        return strong or list(self.standing)

    def _has(self, kind: EvidenceKind) -> bool:
        return any(one.kind == kind for one in self.standing)

    def _is_better(self) -> bool:
        """Whether most of what failed at first passes."""
        counts = [count for count in map(failures_of, self.red) if count is not None]
        return len(counts) > 1 and counts[-1] <= counts[0] / 2

    def _was_as_red(self, call: Call) -> bool:
        """Whether a check that nobody asked to mend fails as it did before the work."""
        before = (
            [one for one in self.broken if self._covers(one, call)] if not self.is_mending else []
        )
        return any((failures_of(call) or 1) <= (failures_of(one) or 1) for one in before)

    def _covers(self, before: Call, later: Call) -> bool:
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


def _is_below(path: str, others: Sequence[str]) -> bool:
    """Whether a path is one of others, or in a folder of them."""
    return any(path == other or path.startswith(other.rstrip("/") + "/") for other in others)


def _command_of(call: Call) -> str:
    return _in_one_line(call.target or call.name)


@lru_cache(256)
def _in_one_line(command: str) -> str:
    return quoted(one_line(command), EVIDENCE_CHARACTERS)


def _covers(before: Call, later: Call) -> bool:
    """Whether a later check tells about an earlier one: the same, or one of
    more or of fewer tests, but not of others.
    """
    retry = find_retry(before, later)
    if retry is None or retry.form == "same":
        return retry is not None
    first, second = (read_line(call.target).arguments for call in (before, later))
    return first <= second or second <= first
