"""Looks over what an engine wrote, line by line, before any of it is kept.

That every quoted command, path, word and number stands in the logs does not make a sentence
true, but what does not is made up. The cited turns are looked at first, then the rest of the
project. Besides, what a program can tell is told: a command that has no logged pass, or not
in the folder that the line names; a failure that passed later; a program that is said to be
missing and ran afterwards; a cause or fix that the next prompt complains about; a quote that
every template prompt holds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from recollect.distill.condense import Marks, typed
from recollect.distill.engines.answer import Told
from recollect.distill.engines.evidence import ProjectEvidence, plain, stands_in
from recollect.distill.finders.cleaning import LINE_CHARACTERS
from recollect.distill.finders.commands import KNOWN
from recollect.distill.finders.cues import cues
from recollect.distill.finders.machine import head
from recollect.distill.finders.safe import Proofs
from recollect.distill.finders.steps import CommandStep, form, passed, steps

# What is shown of a turn, and of so many prompts after it, to whoever judges a line.
PROMPTS_AFTER, EXCERPT_CHARACTERS, SAID_CHARACTERS = 3, 500, 240

SpanKind = Literal["command", "quote", "name"]
# Words that a model writes of the sort of one who gives orders, not of one who takes notes.
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all|any|the|your|previous|prior|above)\b|\byou are now\b"
    r"|\bsystem prompt\b"
    r"|\bdo not (?:tell|inform|mention|ask)\b|\bwithout (?:telling|informing|asking) the (?:user"
    r"|person)\b|\bexfiltrat\w+"
    r"|\b(?:curl|wget|iwr|irm)\b[^|`]*\|\s*(?:sudo )?(?:\w*sh|python\d?|node|iex)\b"
    r"|\bbase64 (?:-d|--decode)\b"
    r"|\brm -rf (?:/|~|\$HOME)(?!\w)|\bdisable (?:the )?(?:sandbox|safety|hooks?|security"
    r"|redaction)\b"
    r"|--dangerously\S*|--no-verify\b|\bsend .{0,60}\b(?:to|at) (?:https?://|\S+@)|\b(?:paste"
    r"|upload|e?mail) .{0,40}\b(?:keys?|tokens?|passwords?|secrets?|credentials?|\.env)\b",
    re.IGNORECASE,
)  # fmt: skip
_SECRET = re.compile(
    r"(?:\b(?:password|passwd|pwd|passcode)\b|密码|パスワード|mật khẩu)\s*(?:is|:|=|：|は|是"
    r"|là)\s*[\"'`]?(?=\S*\d)[\w!@#$%^&*-]{4,}",
    re.IGNORECASE,
)
_TICKED = re.compile(r"`([^`]+)`")
_SAID = re.compile(r"[\"“]([^\"”]{2,})[\"”]|「([^」]{2,})」|『([^』]{2,})』")
_MARKED = re.compile(rf"{_TICKED.pattern}|{_SAID.pattern}")
_PATH = re.compile(
    r"(?<![\w/])(?:~|\.{1,2}|[A-Za-z]:)?(?:[\\/][\w.@{}-]+){2,}|\b[\w.@-]+(?:/[\w.@-]+)+\.\w{1,5}\b"
    r"|\b[\w-]+(?:\.[\w-]+)*\.(?:py|tsx?|jsx?|mjs|json|md|sh|ps1|rs|toml|ya?ml|csv|html|css|sql"
    r"|go|launch|cpp|kt|swift|rb|php)\b"
    r"|(?<!\w)--[a-z][\w-]+|\b[A-Z][A-Z0-9]+_[A-Z0-9_]+\b|\b[a-z]+[A-Z]\w{3,}\b|\b\w+_\w+\b"
    r"|https?://[^\s)\]]+"
)
_NUMBER = re.compile(
    r"(?<![\w.#/-])\d+(?:\.\d+)+(?![\w-])|(?<![\w.#/,-])\d{3,6}(?![\w,.-]*\w)|(?<=:)\d{4,5}\b"
)
_COUNTED = re.compile(r"\b\d+ (?:times|sessions|tokens|characters)\b")
_SHORTENED = re.compile(r"\s*(?:…|\.\.\.)\s*")
_BRACES = re.compile(r"^(.*)\{([^}]*)\}(.*)$")
_FAILS = re.compile(
    r"\b(?:fails?|failed|failing|does(?: not|n't) (?:work|run|start|pass)|is broken|cannot (?:run"
    r"|start)|dies|errors? out)\b",
    re.IGNORECASE,
)
_ABSENT = re.compile(
    r"\b(?:not installed|is missing|are missing|not (?:found|available)|no such program"
    r"|unavailable)\b",
    re.IGNORECASE,
)
_WHERE = re.compile(
    r"\b(?:in|inside|from|under|within)\s+(?:the\s+)?(?:folder\s+"
    r"|directory\s+)?[`(]?([\w.~/\\-]*[\w/])[`)]?"
)
_ROOT = re.compile(
    r"\b(?:from|in|at) the (?:repo(?:sitory)? |project |workspace )?root\b", re.IGNORECASE
)
_CAUSE = re.compile(
    r"\b(?:fix(?:ed|es)?|solved|resolved|works? (?:now|with|after|when)|the way out)\b",
    re.IGNORECASE,
)
_VOIDS = re.compile(
    r"\b(?:still|again|not working|does(?:n'?t| not) work|did(?:n'?t| not) (?:work|help)"
    r"|same (?:error|issue|problem)|no change"
    r"|wrong|nope|broken)\b|还是|仍然|没用|不行|まだ|ダメ|だめ|直って(?:い)?ない|変わら|vẫn"
    r"|chưa được|không được|여전히"
    r"|всё ещё|все еще|не работает"
    r"|immer noch|toujours pas|sigue sin|ainda não|ancora non",
    re.IGNORECASE,
)


class LineSpan(NamedTuple):
    """Some letters of a line that have to stand in the logs."""

    kind: SpanKind
    text: str


class Fault(NamedTuple):
    """What is wrong with a line. What cannot be mended by better words is `final`."""

    line: Told
    what: str
    final: bool = False


def spans_of(text: str) -> list[LineSpan]:
    """The spans of a line: what is in backticks or quoted, paths, flags, names, numbers."""
    found: list[LineSpan] = []
    # Whichever opens first: a command may hold quotes, and a quote commands.
    for one in _MARKED.finditer(text):
        command, *quotes = one.groups()
        said = "".join(filter(None, quotes))
        found.append(LineSpan("command", command) if command else LineSpan("quote", said))
    rest = _COUNTED.sub(" ", _MARKED.sub(" ", text))
    found += [LineSpan("name", one) for one in _PATH.findall(rest)]
    found += [LineSpan("name", one) for one in _NUMBER.findall(_PATH.sub(" ", rest))]
    return [span for span in found if span.text.strip(" .,;:…")]


class _Run(NamedTuple):
    """A step as it was run: where in the project's history, and how it ended."""

    order: int
    step: CommandStep
    ended: bool | None
    turn: str


class Check:
    """Looks over lines against the logs of one project."""

    def __init__(
        self, evidence: ProjectEvidence, marks: Marks, redact: Callable[[str], str]
    ) -> None:
        self.evidence, self._marks, self._redact = evidence, marks, redact
        self._proofs = Proofs(evidence.sessions)
        self._runs: dict[str, list[_Run]] = defaultdict(list)
        self._passes: dict[str, int] = {}
        order = 0
        for session in evidence.sessions:
            for turn, call in session.calls():
                if call.kind != "shell" or not call.target:
                    continue
                line = steps(call.target, call.folder, session.folder)
                for place, step in enumerate(line):
                    order += 1
                    ended = passed(call, line, place)
                    self._runs[plain(step.text)].append(_Run(order, step, ended, turn.ref))
                    if ended:
                        self._passes[head(step.text)] = order
        self._programs = {head(text) for text in self._runs} | KNOWN
        self._templates = "\n".join(
            plain(line) for body in typed.read(evidence.sessions).bodies for line in body.lines
        )

    def turns(self, line: Told) -> list[str]:
        """The turns that a line cites and that there are."""
        return [turn for cited in line.cited if (turn := self._marks.find(cited))]

    def excerpt(self, line: Told, turn: str) -> Iterator[str]:
        """What a turn says about a line, and what the person said after it, without secrets."""
        place = self.evidence.places[turn]
        sought = [plain(span.text)[:60] for span in spans_of(line.text)] or [plain(line.text)[:30]]
        said: list[str] = []
        for voice in ("person", "command", "output", "agent"):
            text = self.evidence.text(turn, voice)
            at = next((text.find(one) for one in sought if one in text), 0)
            part = text[max(0, at - 80) : at + EXCERPT_CHARACTERS]
            if part:
                said.append(f"{voice}: {part}")
        numbers = [one.ref for one in place.session.turns]
        later = place.session.turns[numbers.index(turn) + 1 :]
        prompts = [one.prompts[0] for one in later if one.by_person and one.prompts]
        said += [
            f"next: {plain(typed.own_words(prompt))[:SAID_CHARACTERS]}"
            for prompt in prompts[:PROMPTS_AFTER]
        ]
        return map(self._redact, said)

    def faults(self, line: Told) -> list[Fault]:
        """What is wrong with a line; nothing where it may be kept."""
        return [Fault(line, what, final) for what, final in self._wrong(line)]

    def _wrong(self, line: Told) -> Iterator[tuple[str, bool]]:
        if line.section == "left_off":
            yield "where the work was left off is told by the rules", True
            return
        if _SECRET.search(line.text) or self._redact(line.text) != line.text:
            yield "holds what looks like a secret", True
            return
        if _ORDERS.search(self._without_own_words(line)):
            yield "reads like an order to an agent", True
            return
        if len(line.text) > LINE_CHARACTERS:
            yield f"has {len(line.text)} characters, at most {LINE_CHARACTERS} are told", False
        turns = self.turns(line)
        if not line.cited:
            yield "names no turn", False
        elif not turns:
            yield f"cites [{', '.join(line.cited)}], which there is not", False
        for span in spans_of(line.text):
            if not self._stands(span, turns):
                near = self.evidence.nearest(span.text)
                told = f"; the nearest is: {self._redact(near)[:150]}" if near else ""
                yield f"`{span.text}` stands nowhere in the logs{told}", False
        if turns:
            yield from self._untrue(line, turns)

    def _without_own_words(self, line: Told) -> str:
        """A line without the quotes of what the person typed in a cited turn."""
        own = [said for turn in self.turns(line) for said in self.evidence.own_lines(turn)]
        text = line.text
        for span in spans_of(line.text):
            if span.kind == "quote" and any(stands_in(span.text, said) for said in own):
                text = text.replace(span.text, " ")
        return text

    def _stands(self, span: LineSpan, turns: Sequence[str]) -> bool:
        """Whether a span stands in a cited turn, or else anywhere in the logs."""
        text = span.text.strip().rstrip(".,;:")
        if any(self._in_turn(text, turn) for turn in turns):
            return True
        return (
            self.evidence.is_about(text)
            or any(True for _ in self.evidence.turns_with(text))
            or any(all(self._anywhere(part) for part in parts) for parts in _readings(text))
        )

    def _in_turn(self, text: str, turn: str) -> bool:
        return any(True for _ in self.evidence.voices(text, turn))

    def _anywhere(self, text: str) -> bool:
        return any(True for _ in self.evidence.turns_with(text))

    def _untrue(self, line: Told, turns: Sequence[str]) -> Iterator[tuple[str, bool]]:
        commands = [one for one in _TICKED.findall(line.text) if plain(one) in self._runs]
        for command in _TICKED.findall(line.text):
            is_command = plain(command) in self._runs or head(command) in self._programs
            if is_command and form(command) and not self._proofs.may_tell(command):
                yield f"`{command}` was neither typed by the person nor proven to work", True
        if line.section == "commands":
            yield from self._without_a_pass(line, commands)
        if line.section == "traps":
            yield from self._healed(line, commands)
        if _ABSENT.search(line.text):
            last = max((run.order for turn in turns for run in self._in(turn)), default=0)
            for name in _TICKED.findall(line.text):
                if " " not in name and self._passes.get(name.casefold(), 0) > last > 0:
                    yield f"`{name}` ran and passed later", True
        for quote in _SAID.findall(_TICKED.sub(" ", line.text)):
            said = plain("".join(quote))
            if len(said) > 24 and said in self._templates:
                yield "is ordered by a template each time anyway", True
        if self._is_voided(line, turns):
            yield "gives a cause or a fix that the next prompt complains about", False

    def _in(self, turn: str) -> Iterator[_Run]:
        return (run for runs in self._runs.values() for run in runs if run.turn == turn)

    def _without_a_pass(self, line: Told, commands: Sequence[str]) -> Iterator[tuple[str, bool]]:
        """Commands that never passed, or not in the folder that the line names."""
        for command in commands:
            runs = self._runs[plain(command)]
            good = [run for run in runs if run.ended]
            if _FAILS.search(line.text):
                continue
            if not good and all(run.ended is False for run in runs):
                yield f"`{command}` has no logged pass, it failed", False
                continue
            named = {
                one.strip("./\\").casefold()
                for one in _WHERE.findall(_TICKED.sub(_without_command, line.text))
            }
            if _ROOT.search(line.text):
                named.add("")
            failed_in = {_folder(run) for run in runs if run.ended is False}
            passed_in = {_folder(run) for run in good}
            for folder in sorted(named & (failed_in - passed_in)):
                where = f"in {folder}" if folder else "in the root"
                others = ", ".join(sorted(passed_in)) or "no other"
                yield f"`{command}` failed {where} and passed in {others}", False

    def _healed(self, line: Told, commands: Sequence[str]) -> Iterator[tuple[str, bool]]:
        """Failures whose very command passed later, in the same folder and without the way out."""
        claimed = line.text.partition(f"`{commands[0]}`")[2][:40] if commands else ""
        if not claimed or not _FAILS.search(claimed) or "pass" in line.text:
            return
        runs = self._runs[plain(commands[0])]
        bad = [run for run in runs if run.ended is False]
        if not bad:
            return
        last = bad[-1]
        later = [run for run in runs if run.ended and run.order > last.order]
        if any(_folder(run) == _folder(last) for run in later) and len(commands) == 1:
            yield f"`{commands[0]}` passed later in the same folder", True

    def _is_voided(self, line: Told, turns: Sequence[str]) -> bool:
        """Whether a cause or fix that an agent claimed did not satisfy the person."""
        if "cause" not in cues(line.text) and not _CAUSE.search(line.text):
            return False
        for turn in turns:
            place = self.evidence.places.get(turn)
            if place is None or place.after is None:
                continue
            spans = [span.text for span in spans_of(line.text)]
            if any("person" in self.evidence.voices(span, turn) for span in spans):
                continue
            said = " ".join(typed.own_words(one) for one in place.after.prompts)[:300]
            if _VOIDS.search(said) and not {"question"} & cues(said):
                return True
        return False


def _readings(text: str) -> Iterator[list[str]]:
    """Other ways to read a span: with gaps, with alternatives in braces, joined by signs."""
    if _SHORTENED.search(text):
        yield [part for part in _SHORTENED.split(text) if part]
    if braces := _BRACES.match(text):
        yield [f"{braces[1]}{one.strip()}{braces[3]}" for one in braces[2].split(",")]
    if re.search(r" (?:&&|;|→|/) ", text):
        yield [part.strip() for part in re.split(r" (?:&&|;|→|/) ", text) if part.strip()]


def _without_command(found: re.Match[str]) -> str:
    """A name in backticks may be a folder; a command is none."""
    return " " if " " in found[1] else found[1]


def _folder(run: _Run) -> str:
    return (run.step.folder or "").strip("./\\").casefold()
