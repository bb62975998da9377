"""What fails here and what works instead: proof only.

A failure alone teaches little. What is worth telling is a command that failed and then
passed in other words or in another folder; a failure that came back in a second session; and
what says by itself that it will fail again: an option that does not exist, a version that
is required. Errors of the code at hand pass with the code and are never told. The remedy
is the same command in other words, never "the next one that happened to pass".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from recollect.distill.finders.cleaning import cut
from recollect.distill.finders.machine import LACKS, MISSING
from recollect.distill.finders.safe import Proofs, first_sentence
from recollect.distill.finders.steps import CommandStep, action, is_plain, passed, steps
from recollect.model.candidates import Candidate, CandidateKind, Failing
from recollect.model.record import CallRecord, SessionRecord, TurnRecord
from recollect.reading.error_text import clean
from recollect.reading.screened import Screens

# Calls after a failure in which its remedy is sought, and how much of an output is read.
CALLS_AFTER, OUTPUT_CHARACTERS = 25, 6_000
ERROR_CHARACTERS, FEWEST_ERROR = 110, 40
FAILING_CHARACTERS, REMEDY_CHARACTERS, LINE_CHARACTERS = 100, 120, 218
UNKNOWN_CHARACTERS = 190


class StepFailure(NamedTuple):
    """A step that failed, and the step that did the same and passed, if one did."""

    sort: Sort
    step: CommandStep
    error: str
    turn: str
    at: str
    session: str
    remedy: CommandStep | None
    order: int
    """Which of all runs of the project it was."""
    home: str
    """The folder of its session."""

    @property
    def subject(self) -> str:
        """What equal failures share: the command and the error without numbers and names."""
        return f"{action(self.step.text)}: {re.sub(r'[^a-z]+', ' ', self.error.lower())[:50]}"


class Sort(NamedTuple):
    """A kind of failure that will come back.

    `alone` says that one failure is enough to tell, `changed` in how many words a remedy
    may differ from what failed: with more it is another command.
    """

    name: str
    pattern: re.Pattern[str]
    alone: bool
    changed: int


def _sort(name: str, pattern: str, *, alone: bool = False, changed: int = 0) -> Sort:
    return Sort(name, re.compile(pattern, re.IGNORECASE), alone, changed)


SORTS = (
    _sort(
        "option",
        r"(?:unknown|unrecognized|invalid|unexpected) (?:command|flag|option|subcommand"
        r"|shorthand|argument)s?\b|unexpected argument|illegal option|no such (?:command"
        r"|option)",
        alone=True,
        changed=3,
    ),
    _sort(
        "version",
        r"incompatible with this|\brequires? (?:node|python|go|rust|java|ruby|at least)\b"
        r"|\bversion .* is required|unsupported engine|EBADENGINE"
        r"|engine \"?node\"? is incompatible",
        alone=True,
        changed=5,
    ),
    _sort(
        "denied",
        r"EPERM|EACCES|permission denied|operation not permitted|access is denied"
        r"|dubious ownership"
        r"|must be (?:run )?(?:as )?root|sched policy|blocked by .*hook",
        changed=4,
    ),
    _sort(
        "script",
        r"missing script|is not a (?:valid )?(?:command|script)"
        r"|none of the selected packages has a",
        changed=4,
    ),
    _sort(
        "module",
        r"no module named|cannot find (?:module|package)|ModuleNotFound|MODULE_NOT_FOUND",
        changed=4,
    ),
    _sort(
        "place",
        r"not a git repository|not on a feature branch|no such file or directory"
        r"|cannot find the path"
        r"|file or directory not found|out of sync|\b0 selected|\bcollected 0 ",
        changed=2,
    ),
    _sort("elsewhere", r"already (?:checked out at|used by worktree)", alone=True),
    _sort(
        "terminal",
        r"(?:input device is not|stdin is not|not) a (?:tty|terminal)\b|requires? (?:a tty"
        r"|an interactive terminal)"
        r"|inappropriate ioctl for device",
        alone=True,
        changed=2,
    ),
    _sort(
        "conflict",
        r"ERESOLVE|externally-managed|value too great for base|Exit handler never called"
        r"|no such container|host key",
        changed=4,
    ),
    _sort(
        "busy",
        r"EADDRINUSE|address already in use|already (?:checked out|running|in use)"
        r"|daemon (?:is not|failed)"
        r"|rate limit|\b(?:401 |403 |429 )",
    ),
)
_SCREENS = Screens(re.IGNORECASE)
for _one in SORTS:
    _SCREENS.add(_one.pattern.pattern)
# What the next run may find otherwise.
_OF_THE_MOMENT = re.compile(r"out of sync|lock|busy|timed? ?out|in use|rate limit", re.IGNORECASE)
# Failures that have nothing to do with what the command was run on.
_OF_THE_FORM = ("option", "script", "version")
# What names an error without being one of these; two sessions have to meet it.
_OTHER = _sort("other", r"^(?:error|fatal|\w+Error)\b:? \S", changed=3)
# What is wrong with the code, not with the place.
_OF_THE_CODE = re.compile(
    r"AssertionError|assert |TS\d{4}|SyntaxError|NameError|TypeError|\d+ failed"
    r"|Found \d+ (?:error|diagnostic)"
    r"|\berror\[E\d|KeyError|IndentationError|ValidationError|AttributeError|\bFAILED\b|CONFLICT"
    r"|jq: error"
    r"|ReferenceError|✗|\berror TS|expected .* (?:but|to)\b"
)
# Lines that show code, or tick off a list.
_SHOWN = re.compile(r"\bstale\b|throw new|\$\{|^\s*[✓✔⚠✖├└│]|^\s*at |^\+|=>|\(skipped\)")
# A look at how to run something is not a run of it.
LOOKS = re.compile(
    r"\s(?:--help|-h|--version|-V|--markers|--collect-only|--list|--dry-run|--no-run|help|logs?"
    r"|status)(?:\s|$)"
)
_INLINE = re.compile(
    r"\s-(?:c|e)\s|\$\(|\bfor \w+ in\b|\bwhile\b|\bperl -|\bpython[\d.]* -(?:\s|$)|apply_?patch"
)
_DECLINED = (
    "doesn't want to proceed",
    "[Request interrupted",
    "user doesn't want",
    "aborted by user",
)
# The word that a program does not know.
_UNKNOWN = re.compile(r"(?<!for )[`'\"]([\w-]{2,})[`'\"]|(?<= )(--[\w-]+)")
_PLACE = re.compile(
    r"^(?:/?[\w./-]*(?:ba|z)?sh: (?:line )?\d+: |\(eval\):\w*:?\d*:? ?|[\w./-]+\.sh: line \d+: )"
)
_IDENTIFIER = re.compile(r"\b[0-9a-f]{7,}\b|\b\w+-\w+-\w*\d\w*\b|session-|/tmp/|\\Temp\\")

Line = tuple[TurnRecord, CallRecord, tuple[CommandStep, ...]]


def find(sessions: Sequence[SessionRecord]) -> Iterator[Candidate]:
    """What fails in a project and what works instead, out of all its sessions."""
    found: defaultdict[str, list[StepFailure]] = defaultdict(list)
    later, proofs = _Later(), Proofs(sessions)
    for session in sessions:
        lines = lines_of(session)
        troubles = list(_troubles(session, lines, later.runs))
        later.take(lines)
        for trouble in troubles:
            found[trouble.subject].append(trouble)
    unknown = [some for some in found.values() if some[0].sort.name == "option"]
    listed: set[str] = set()
    for line, subjects in _unknown_words([some for some in unknown if not later.passed(some[-1])]):
        listed |= subjects
        yield line
    for some in found.values():
        told = _told(some, later, proofs)
        if told is not None and (told.kind == "remedy" or some[0].subject not in listed):
            yield told


class _Later:
    """Which run of each command was the last to pass, in these words and in any of its form."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str | None], int] = {}
        self._forms: dict[tuple[str, str | None], int] = {}
        self.runs = 0

    def take(self, lines: Sequence[Line]) -> None:
        for _, call, line in lines:
            self.runs += 1
            for place, step in enumerate(line):
                if step.form and passed(call, line, place):
                    self._texts[step.text, step.folder] = self.runs
                    if not LOOKS.search(f" {step.text} "):
                        self._forms[step.form, step.folder] = self.runs

    def passed(self, trouble: StepFailure) -> bool:
        """Whether what failed is healed: the same words passed later, or the same thing did.

        An option that is not known stays unknown whatever passes without it, and what was
        remedied in other words passed in those.
        """
        step = trouble.step
        if self._texts.get((step.text, step.folder), 0) > trouble.order:
            return True
        is_healed = self._forms.get((step.form, step.folder), 0) > trouble.order
        return is_healed and trouble.sort.name not in ("option", "script") and not trouble.remedy


def lines_of(session: SessionRecord) -> list[Line]:
    return [
        (turn, call, steps(call.target, call.folder, session.folder))
        for turn, call in session.calls()
        if call.kind == "shell" and call.target
    ]


def _troubles(session: SessionRecord, lines: Sequence[Line], runs: int) -> Iterator[StepFailure]:
    """Every step of a session that failed in a way that may come back."""
    for place, (turn, call, line) in enumerate(lines):
        if not call.failed or not line or was_declined(call.output):
            continue
        if found := error_of(call.output[:OUTPUT_CHARACTERS]):
            sort, error = found
            step = failed_step(call, line, error)
            if not error or step is None or not is_told(step):
                continue
            if sort.name == "option" and not _names_its_word(step, error):
                continue
            remedy = _remedy(step, sort, lines[place + 1 : place + 1 + CALLS_AFTER])
            order = runs + place + 1
            yield StepFailure(
                sort, step, error, turn.ref, turn.at, session.ref, remedy, order, session.folder
            )


def was_declined(output: str) -> bool:
    """Whether a person kept a call from being done."""
    return any(words in output for words in _DECLINED)


def failed_step(call: CallRecord, line: tuple[CommandStep, ...], error: str) -> CommandStep | None:
    """The step of a line that failed: the last, unless one before it may have stopped the line.

    Then it is the only one whose program the error names; None where that does not tell.
    """
    formed = [step for step in line if step.form]
    if not formed or passed(call, line, line.index(formed[-1])):
        return None
    joined = [step for step in formed if step.after == "&&"]
    if not joined:
        return formed[-1]
    named = [step for step in formed if step.form.split()[0] in error]
    return named[0] if len(named) == 1 else None


def _names_its_word(step: CommandStep, error: str) -> bool:
    """Whether a program complains about a word of this step, not of another on its line."""
    named = ["".join(found).strip("-") for found in _UNKNOWN.findall(error)]
    return not named or any(word in step.text for word in named)


def is_told(step: CommandStep) -> bool:
    """Whether a step is a command that somebody would run again as it stands."""
    return (
        is_plain(step.text) and not _INLINE.search(step.text) and not LOOKS.search(f" {step.text} ")
    )


@lru_cache(1024)
def error_of(output: str) -> tuple[Sort, str] | None:
    """Which sort of failure an output tells of, and in which words."""
    lines = [clean(raw.replace("<tool_use_error>", "")) for raw in output.splitlines()]
    lines = [line for line in lines if 5 < len(line) < 400 and not _SHOWN.search(line)]
    if MISSING.search(output) or any(lack.find(output) for lack in LACKS):
        return None
    # Lines that are joined may fit in more ways than one by one, and in no fewer.
    for place in _SCREENS.possible(" ".join(lines)):
        for line in reversed(lines):
            if SORTS[place].pattern.search(line):
                return SORTS[place], _as_told(line)
    if _OF_THE_CODE.search(output):
        return None
    return next(
        ((_OTHER, _as_told(line)) for line in reversed(lines) if _OTHER.pattern.search(line)),
        None,
    )


def _as_told(error: str) -> str:
    """An error without its place in a script, and without advice; empty if it was no more."""
    return cut(first_sentence(_PLACE.sub("", error)), ERROR_CHARACTERS)


def _remedy(failed: CommandStep, sort: Sort, later: Sequence[Line]) -> CommandStep | None:
    """The same command in other words, with another prefix or another folder, that then passed."""
    if not sort.changed:
        return None
    for _, call, line in later:
        for place, step in enumerate(line):
            if step.form and action(step.text) == action(failed.text) and passed(call, line, place):
                return step if _is_remedy(failed, step, sort) else None
    return None


def _is_remedy(failed: CommandStep, step: CommandStep, sort: Sort) -> bool:
    """Whether what passed says what to do: not the same again, not a look, not another thing."""
    if step.text == failed.text:
        return (
            sort.name in ("place", "module", "script", "version") and step.folder != failed.folder
        )
    if not is_told(step) or len(step.text) > REMEDY_CHARACTERS:
        return False
    one, other = set(failed.text.split()), set(step.text.split())
    gone, new = one - other, other - one
    if not new and sort.name != "option":
        # Less was done, and so less failed.
        return False
    if len(gone) + len(new) > sort.changed:
        return False
    # `show a1` failed and `show b2` passed: that is another thing, no remedy.
    is_other = gone and new and not any(word.startswith("-") for word in gone | new)
    return not is_other or all(any(one in two or two in one for one in gone) for two in new)


# Lines ---------------------------------------------------------------------------------------


def _unknown_words(
    found: Sequence[Sequence[StepFailure]],
) -> Iterator[tuple[Candidate, set[str]]]:
    """What a program does not know, in one line a program, where more than one thing was tried.

    With each line the subjects that it tells of.
    """
    by_program: defaultdict[str, list[Sequence[StepFailure]]] = defaultdict(list)
    for some in found:
        if _unknown_word(some[-1]):
            by_program[some[0].step.form.split()[0]].append(some)
    for program, several in sorted(by_program.items()):
        several.sort(key=lambda some: (-len(some), some[0].subject))
        options: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for some in several:
            word, text = _unknown_word(some[-1]), some[-1].step.text
            name = action(text) if word.startswith("-") else text[: text.find(word) + len(word)]
            options[name if name in text else program][word] = None
        if sum(map(len, options.values())) < 2:
            continue
        parts: list[str] = []
        for name, words in options.items():
            flags = [f"`{word}`" for word in words if word.startswith("-")]
            part = f"`{name}` with {', '.join(flags)}" if flags else f"`{name}`"
            if len("; ".join([*parts, part])) < UNKNOWN_CHARACTERS:
                parts.append(part)
        newest = max((some[-1] for some in several), key=lambda one: one.at)
        strength = 2.4 + 0.1 * min(sum(map(len, several)), 8)
        text = f"`{program}` does not know: {'; '.join(parts)}"
        told = _candidate("failure", text, f"unknown to {program}", newest, strength)
        yield told, {some[0].subject for some in several}


def _unknown_word(trouble: StepFailure) -> str:
    """`--wisp`, `pending`: what a program says it does not know, as it stands in the command."""
    named = re.search(r"[`'\" ](--?[\w-]+)|(?:sub)?command:? [`'\"]?([\w-]+)", trouble.error)
    word = (named[1] or named[2]) if named else ""
    return word if word in re.split(r"[\s=]", trouble.step.text) else ""


def _told(some: Sequence[StepFailure], later: _Later, proofs: Proofs) -> Candidate | None:
    """Failures of one kind as a line, if a remedy is proven, or if they are sure to come back."""
    newest = some[-1]
    sort, failed = newest.sort, newest.step
    sessions = len({one.session for one in some})
    if later.passed(newest):
        return None
    some = [one for one in some if proofs.may_tell(one.step.text)]
    if not some:
        return None
    newest = some[-1]
    failed = newest.step
    remedied = next(
        (one for one in reversed(some) if one.remedy and proofs.may_tell(one.remedy.text)), None
    )
    if (
        remedied
        and (sort.name != "other" or sessions > 1)
        and (text := told_remedy(remedied.step, remedied.remedy, remedied.error))
    ):
        strength = 2.2 + 0.2 * min(sessions - 1, 4)
        # That a path has to be absolute, or as seen from the root, is one fact.
        is_path = (
            sort.name == "place" and remedied.remedy and remedied.remedy.text != remedied.step.text
        )
        key = "remedy path" if is_path else f"remedy {newest.subject}"
        found = _candidate("remedy", text, key, remedied, strength)
        return found._replace(failing=tuple(_reminders(remedied, text)))
    if (
        sessions < 2
        and not sort.alone
        and not (len(some) > 2 and sort.name in ("denied", "conflict"))
    ):
        return None
    name = failed.text
    if len(name) > FAILING_CHARACTERS or _IDENTIFIER.search(name):
        # What is too long to be told whole is named: the program fails, whatever it was given.
        if sort.name in ("option", "place", "other"):
            return None
        name = failed.form
    text = f"`{name}`{_in(failed)} fails: {newest.error}"
    strength = 1.0 + 0.25 * min(sessions, 4) + (0.3 if sort.alone else 0.0)
    return _candidate("failure", text, f"failure {newest.subject}", newest, strength)


def told_remedy(failed: CommandStep, remedy: CommandStep | None, error: str) -> str | None:
    """What failed, why, and what works, in a line; None where a command would have to be cut."""
    if remedy is None or len(failed.text) > FAILING_CHARACTERS:
        return None
    if remedy.text == failed.text:
        if remedy.folder is None:
            return None
        works = f"works in {remedy.folder or 'the root'}"
    else:
        works = f"`{remedy.text}`{_in(remedy) if remedy.folder != failed.folder else ''} works"
    head = f"`{failed.text}`{_in(failed)} fails: "
    room = LINE_CHARACTERS - len(head) - len(works) - 3
    return f"{head}{cut(error, room)} → {works}" if room >= FEWEST_ERROR else None


def _reminders(trouble: StepFailure, text: str) -> Iterator[Failing]:
    """What a command has to be like to be reminded of a remedy.

    What a program does not know it knows nowhere; of anything else the same words in the same
    folder fail, and perhaps no others.
    """
    if trouble.remedy is None:
        return
    if trouble.sort.name in _OF_THE_FORM and trouble.remedy.text != trouble.step.text:
        yield Failing(trouble.step.text, text, "form", error=trouble.error)
    elif (
        trouble.step.folder is not None
        and trouble.home
        and not _OF_THE_MOMENT.search(trouble.error)
    ):
        folder = trouble.step.folder
        if not re.match(r"/|~|[A-Za-z]:", folder):
            folder = f"{trouble.home.rstrip('/')}/{folder}".rstrip("/")
        yield Failing(trouble.step.text, text, "words", folder=folder)


def _in(step: CommandStep) -> str:
    return f" (in {step.folder})" if step.folder else ""


def _candidate(
    kind: CandidateKind, text: str, key: str, trouble: StepFailure, strength: float
) -> Candidate:
    return Candidate(
        kind=kind,
        section="traps",
        category="constraint",
        text=text,
        key=key,
        trust="tool-verified",
        strength=strength,
        at=trouble.at,
        turn=trouble.turn,
        form=trouble.step.form,
        is_sure=True,
    )
