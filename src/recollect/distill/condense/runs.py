"""What was run: commands that passed, with counts, and failures with what passed after them.

A call whose outcome no log tells has not passed, and is counted apart. A remedy is the next
command of the same form that is known to have passed.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recollect.distill.condense.marks import Marks
from recollect.distill.condense.typed import shortened
from recollect.distill.finders.machine import MISSING
from recollect.distill.finders.steps import SYSTEM, CommandStep, is_plain, passed, steps
from recollect.model.record import CallRecord, SessionRecord, TurnRecord
from recollect.reading.error_text import clean, error_lines, headline

COMMAND_CHARACTERS, FAILING_CHARACTERS, REMEDY_CHARACTERS, ERROR_CHARACTERS = 240, 260, 420, 200
# A remedy is looked for among so many calls after a failure.
CALLS_AFTER = 25
SOFT_CHARACTERS = 3_000
HALF_LIFE_SESSIONS = 8
# Of one form, so many ways to run it are shown.
MOST_OF_A_FORM = 3

_HIDDEN = re.compile(
    r"command not found|not recognized as|Permission denied|Operation not permitted|EPERM"
    r"|EAI_AGAIN|not installed"
)
_LASTS = re.compile(
    r"not found|not recognized|no module named|cannot find module|denied|eperm|eacces|eaddrinuse"
    r"|eai_again|enotfound"
    r"|could not resolve|unreachable|no matches found|not a git repo|unknown (?:command|flag"
    r"|option|subcommand)|unrecognized"
    r"|invalid (?:option|choice|argument)|unexpected argument|no such|missing script|engine"
    r"|eresolve|host key"
    r"|already (?:checked out|used|running|exists|in use)|exit code:? 49|blocked|refused"
    r"|requires? |illegal multibyte|gbk"
    r"|codec can't|display|not installed|unsupported|out of sync|daemon|\b4(?:29|01|03)\b"
    r"|rate limit|timed? ?out|is not a valid"
    r"|must be|fatal:|offline|sandbox|hook|collected 0|0 selected|no tests|externally-managed"
    r"|version|not permitted"
    r"|does not exist|not supported|deprecated|unexpected keyword",
    re.IGNORECASE,
)
_PASSES = re.compile(
    r"AssertionError|assert |TS\d{4}|SyntaxError|NameError|expected|✗|FAILED|\d+ failed"
    r"|Found \d+ (?:error|warning)"
    r"|\berror\[E\d|KeyError|IndentationError|reportUnknown",
    re.IGNORECASE,
)
_INLINE = re.compile(
    r"python[\d.]* -c|python[\d.]* -(?: |<|$)|node -e|<<|perl -|\bfor \w+ in|\bwhile\b",
    re.IGNORECASE,
)
_LOOKS = re.compile(r"^(?:git (?:status|diff|log)|ls|cat|sed|grep|rg|find|kill|ps|test)\b")
_PLUMBING = re.compile(
    r"^git (?:commit|push|pull|fetch|stash|restore|reset|checkout|merge|rebase|add|rm|mv)\b"
)
_DECLINED = ("doesn't want to proceed", "[Request interrupted", "user doesn't want")
MOST_PLUMBING = 6


class StepRun(NamedTuple):
    """A step with a form, where it was run, and how it ended."""

    step: CommandStep
    session: int
    turn: TurnRecord
    ended: bool | None


class Failure(NamedTuple):
    """Runs that failed alike: the last of them, and what passed after one."""

    text: str
    place: int
    value: float


class _Line(NamedTuple):
    session: int
    turn: TurnRecord
    call: CallRecord
    steps: tuple[CommandStep, ...]


def _lines(sessions: Sequence[SessionRecord]) -> list[list[_Line]]:
    return [
        [
            _Line(place, turn, call, steps(call.target, call.folder, session.folder))
            for turn, call in session.calls()
            if call.kind == "shell" and call.target
        ]
        for place, session in enumerate(sessions)
    ]


class Runs:
    """Everything that was run in a project."""

    def __init__(self, sessions: Sequence[SessionRecord], marks: Marks) -> None:
        self._sessions, self._marks = sessions, marks
        self._lines = _lines(sessions)

    # What passed

    def commands(self, most_bytes: int) -> list[str]:
        """Commands that passed, whole, with folder and counts, those run most and last first."""
        by_form: defaultdict[tuple[str, str | None], list[StepRun]] = defaultdict(list)
        for run in self._runs():
            by_form[run.step.form, run.step.folder].append(run)
        order = sorted(
            by_form.items(),
            key=lambda item: (-_weight(item[1], len(self._sessions)), item[0][0], item[0][1] or ""),
        )
        kept, used, plumbing = [], 0, 0
        for (form, folder), runs in order:
            if _PLUMBING.match(form):
                plumbing += 1
                if plumbing > MOST_PLUMBING:
                    continue
            for text in self._told(runs, folder):
                if used + len(text.encode()) + 3 <= most_bytes:
                    kept.append(text)
                    used += len(text.encode()) + 3
        return kept

    def _runs(self) -> Iterator[StepRun]:
        for lines in self._lines:
            for line in lines:
                for place, step in enumerate(line.steps):
                    if step.form:
                        ended = passed(line.call, line.steps, place)
                        yield StepRun(step, line.session, line.turn, ended)

    def _told(self, runs: Sequence[StepRun], folder: str | None) -> Iterator[str]:
        """The ways in which one form was run; first those that passed."""
        good = [run for run in runs if run.ended]
        times = Counter(run.step.text for run in good)
        texts = sorted(times, key=lambda text: (-times[text], len(text), text))
        texts = [
            text
            for text in texts
            if len(text) <= COMMAND_CHARACTERS and not _INLINE.search(text) and is_plain(text)
        ]
        failed = sum(run.ended is False for run in runs)
        unknown = sum(run.ended is None for run in runs)
        where = f" (in {folder})" if folder else ""
        for number, text in enumerate(texts[:MOST_OF_A_FORM]):
            if number and times[text] < 2 and len(text) < 25:
                continue
            last = [run for run in good if run.step.text == text][-1]
            counts = f" ×{times[text]}"
            if number == 0:
                counts += f", failed ×{failed}" if failed else ""
                counts += f", outcome not logged ×{unknown}" if unknown else ""
            yield f"`{text}`{where}{counts} {self._marks.of(last.turn.ref)}"
        if not good and unknown:
            last = [run for run in runs if run.ended is None][-1]
            text = last.step.text
            if len(text) <= COMMAND_CHARACTERS and not _INLINE.search(text) and is_plain(text):
                yield (
                    f"run, outcome not logged: `{text}`{where} ×{unknown} "
                    f"{self._marks.of(last.turn.ref)}"
                )

    # What failed

    def failures(self) -> list[Failure]:
        """What failed, each kind once with the next run of the same that passed."""
        found: dict[tuple[str, str], _Trouble] = {}
        for lines in self._lines:
            for place, line in enumerate(lines):
                trouble = _trouble(line)
                if trouble is None:
                    continue
                step, error = trouble
                missing = MISSING.search(error)
                key = (
                    ("missing", next(filter(None, missing.groups())).casefold())
                    if missing
                    else (step.form or step.text[:40], _sort_of(error)[:50])
                )
                known = found.setdefault(key, _Trouble())
                known.add(line, step, error, _remedy(step, lines[place + 1 :][:CALLS_AFTER]))
        return [self._failure(trouble) for trouble in found.values()]

    def _failure(self, trouble: _Trouble) -> Failure:
        line, step, error = trouble.line, trouble.step, trouble.error
        lasts, passes = bool(_LASTS.search(error)), bool(_PASSES.search(error))
        is_inline = bool(_INLINE.search(step.text)) and not step.form
        value = 0.6 + 1.2 * lasts - 0.8 * (passes and not lasts) + 1.0 * bool(trouble.remedy)
        value += 0.7 * math.log(len(trouble.sessions)) + 0.25 * math.log(trouble.times)
        value += 0.4 * (line.session + 1) / len(self._sessions) - 0.9 * is_inline
        if _LOOKS.match(step.text) and not trouble.remedy:
            value -= 0.0 if MISSING.search(error) else 0.5 if lasts else 1.5
        text = f"({step.folder}) " if step.folder else ""
        text += (
            f"`{shortened(_one(step.text), 150 if is_inline else FAILING_CHARACTERS)}` -> {error}"
        )
        if line.call.exit_code not in (None, 0, 1):
            text += f" (exit {line.call.exit_code})"
        text += self._remedied(step, trouble.remedy) if trouble.remedy else ""
        if trouble.times > 1:
            text += f" ×{trouble.times}"
            text += f" in {len(trouble.sessions)} sessions" if len(trouble.sessions) > 1 else ""
        return Failure(f"{text} {self._marks.of(line.turn.ref)}", line.session, value)

    @staticmethod
    def _remedied(step: CommandStep, remedy: CommandStep) -> str:
        where = f"({remedy.folder or 'the root'}) " if remedy.folder != step.folder else ""
        if remedy.text == step.text:
            return f" => works in {remedy.folder or 'the root'}"
        if len(remedy.text) > REMEDY_CHARACTERS or "\n" in remedy.text:
            return f" => passed after a rewrite (`{remedy.form}`)"
        return f" => {where}`{remedy.text}`"

    def other_failures(self) -> list[str]:
        """What other tools than a shell failed with, if it came again or lasts."""
        found: dict[tuple[str, str], tuple[int, str, str]] = {}
        for session in self._sessions:
            for turn, call in session.calls():
                if not call.failed or call.kind in ("shell", "search", "read") or not call.output:
                    continue
                if is_no(call) or "has not been read" in call.output:
                    continue
                error = error_of(call.output)
                key = (call.name, _sort_of(error)[:60])
                found[key] = (found.get(key, (0, "", ""))[0] + 1, error, self._marks.of(turn.ref))
        order = sorted(found.items(), key=lambda item: (-item[1][0], item[1][1]))
        return [
            f"{name} -> {error} ×{times} {mark}"
            for (name, _), (times, error, mark) in order
            if error and (times > 1 or _LASTS.search(error))
        ]

    # Files

    def files(self) -> tuple[Counter[str], Counter[str]]:
        """How often files were edited and read."""
        edited: Counter[str] = Counter()
        read: Counter[str] = Counter()
        root = Counter(session.folder for session in self._sessions).most_common(1)[0][0]
        for session in self._sessions:
            for _, call in session.calls():
                if call.kind == "edit" and not call.failed:
                    for path in re.split(r",\s+(?=[/~\w.][^,]*[/.])", call.target.split("\n")[0]):
                        edited[below(path.strip(), root)] += 1
                elif call.kind == "read" and not call.failed:
                    read[below(call.target.split("\n")[0], root)] += 1
        return edited, read


class _Trouble:
    """A failure as it was met last, and how often."""

    def __init__(self) -> None:
        self.times, self.sessions = 0, set[int]()
        self.remedy: CommandStep | None = None

    def add(self, line: _Line, step: CommandStep, error: str, remedy: CommandStep | None) -> None:
        self.times += 1
        self.sessions.add(line.session)
        self.line, self.step, self.error = line, step, error
        self.remedy = remedy or self.remedy


def _trouble(line: _Line) -> tuple[CommandStep, str] | None:
    """The step of a line that failed, and with what."""
    call = line.call
    if not line.steps or not call.output.strip() or is_no(call):
        return None
    hidden = not call.failed and len(call.output) < SOFT_CHARACTERS and _HIDDEN.search(call.output)
    if not call.failed and not hidden:
        return None
    failing = [
        step
        for place, step in enumerate(line.steps)
        if passed(call, line.steps, place) is not True or hidden
    ]
    step = next((step for step in reversed(failing) if step.form), None) or (
        failing[-1] if failing else line.steps[-1]
    )
    error = error_of(call.output)
    if not error or (not step.form and not _LASTS.search(error)):
        return None
    return step, error


def _remedy(failed: CommandStep, later: Sequence[_Line]) -> CommandStep | None:
    for line in later:
        for place, step in enumerate(line.steps):
            if (
                step.form
                and _alike(step.form) == _alike(failed.form)
                and (step.text != failed.text or step.folder != failed.folder)
                and passed(line.call, line.steps, place) is True
            ):
                return step
    return None


def _sort_of(error: str) -> str:
    """What equal errors share."""
    return re.sub(r"[\W\d]+", " ", error.lower())


def _alike(form: str) -> str:
    return re.sub(r"^(python|pip)[\d.]*", r"\1", form)


def _weight(runs: Sequence[StepRun], sessions: int) -> float:
    """How much a form is run: in how many sessions, the newest counting most."""
    where = {run.session for run in runs if run.ended} or {-sessions}
    # What looks at the machine is part of any work.
    share = 0.3 if runs[0].step.form.split()[0] in SYSTEM else 1.0
    recent = share * sum(
        0.5 ** ((sessions - 1 - place) / HALF_LIFE_SESSIONS) for place in sorted(where)
    )
    return float(recent) + 0.05 * share * sum(run.ended is True for run in runs)


def error_of(output: str) -> str:
    """The line that says best what went wrong."""
    lines = error_lines(output.replace("\r", "\n"))
    best = headline(lines) or (lines[-1] if lines else "")
    if len(best) < 28 and best in lines[:-1]:
        best = f"{best} {lines[lines.index(best) + 1]}"
    return shortened(clean(best), ERROR_CHARACTERS)


def is_no(call: CallRecord) -> bool:
    """Whether a person said no, which is no failure of what was tried."""
    return any(words in call.output for words in _DECLINED) or said_instead(call) is not None


_SAID_BY_TOOLS = re.compile(
    r"^(?:<tool_use_error>|Exit code|Error|\[Request|The user doesn't|This Bash|Permission|WARN"
    r"|Hook |File |Found |String "
    r"|Ripgrep|Unable|Failed|Cannot|No |Command|Warning|[Uu]sage|Invalid|Not |[\w./-]+: )"
)
_SPEAKS = re.compile(
    r"^(?:please|wait|don'?t|stop|actually|let'?s|can you|why|use|you)\b", re.IGNORECASE
)
_WORDS = re.compile(r"[A-Za-zÀ-ỹА-яё']{2,}")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def said_instead(call: CallRecord) -> str | None:
    """What a person said when refusing a call: some clients give it as all of the output."""
    text = call.output.strip()
    if (
        not call.failed
        or call.exit_code is not None
        or call.kind not in ("shell", "edit")
        or not 0 < len(text) < 700
        or text.count("\n") > 3
        or _SAID_BY_TOOLS.match(text)
    ):
        return None
    line = text.split("\n")[0]
    if re.search(r"[{};=│|<>]|\w\(|:\d+|@\d|\w+Error\b", line):
        return None
    speaks = len(_WORDS.findall(line)) >= 6 or len(_WIDE.findall(text)) >= 6 or _SPEAKS.match(text)
    return text if speaks else None


def below(path: str, root: str) -> str:
    """A path as seen from the project's folder."""
    one, other = path.replace("\\", "/"), root.replace("\\", "/").rstrip("/")
    if other and one.casefold().startswith(other.casefold() + "/"):
        return one[len(other) + 1 :]
    return re.sub(r"^/(?:home|Users)/[^/]+(?=/|$)", "~", one)


def _one(text: str) -> str:
    return " ".join(text.split())
