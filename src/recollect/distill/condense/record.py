"""A project's sessions as one text of at most 60 KB: what a model reads to write its memory.

Deterministic and without a model. What is counted stands first: commands, files, failures
with what passed after them, configuration; then the sessions, the oldest first, with every
prompt and the sentences of replies that say most; the end of the last session whole; what
the rules would tell. When it is too long everything shrinks evenly: first the counted parts,
then prompts are shortened and fewer sentences of replies taken. Prompts are left out last,
and that is counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from recollect.distill.condense import answers, papers, replied, sense, typed
from recollect.distill.condense.marks import Marks
from recollect.distill.condense.replied import Choice, ReplySentence
from recollect.distill.condense.runs import Runs, error_of
from recollect.distill.condense.typed import Prompt, fitted, shortened
from recollect.distill.finders.cleaning import spoken
from recollect.distill.finders.cues import cues
from recollect.model.candidates import Line
from recollect.model.record import SessionRecord

MOST_BYTES = 60_000
# Counted parts shrink down to this share before prompts do.
FACTORS = (1.0, 0.85, 0.7, 0.55, 0.42)
# What they may take when there is room, in bytes of the whole.
COMMANDS, FAILURES, CONFIGS, INSTRUCTIONS, HANDOVERS = 5_200, 9_500, 3_600, 3_600, 3_000
OTHER_FAILURES, CANDIDATES, COMMITS, ANSWERS, BODY = 1_000, 3_000, 3_600, 4_500, 900
EACH_INSTRUCTION, EACH_HANDOVER, MOST_BODIES = 1_800, 1_400, 4
EDITED_FILES, READ_FILES = 34, 16
# A prompt of the newest session has so much at most, one of the oldest half of it.
PROMPT_BYTES, LEAST_PROMPT_BYTES, WIDE_BYTES = 600, 60, 45
REPLIES_BYTES, PROMPTS_SHARE = 20_000, 0.55
# The text is fitted in so many steps, until no more than this is unused.
FITTINGS, SLACK_BYTES = 8, 400
END_PROMPT_BYTES, END_REPLY_BYTES, END_PROMPTS, OPEN_TASKS = 1_600, 3_600, 2, 8

_TALKS_OVER = re.compile(
    r"引き継ぎ|引継|現状サマリ|hand-?over|hand-?off|where we left|summary of (?:the )?(?:session"
    r"|work)|交接|进度"
    r"|tóm tắt"
    r"|bàn giao|인수인계|current state|status so far",
    re.IGNORECASE,
)
_PLANS = ("TodoWrite", "update_plan", "write_todos", "todo_write")
_KINDS_TOLD = frozenset(
    ("person", "answer", "instruction", "remedy", "failure", "missing", "command")
)
LEGEND = (
    "Marks: [a1b2#4] = session a1b2, turn 4 · P person · R agent's last reply (sentences "
    "chosen) · M said in between · "
    "A answer or refusal of the person · K summary at compaction · C commit · `x` -> error => "
    "what passed after · … = shortened"
)  # fmt: skip


class Record(NamedTuple):
    """The text, with what it is of and what had to be left out."""

    text: str
    sessions: int
    prompts: int
    left_out: int
    cuts: tuple[str, ...]


class Subject(NamedTuple):
    """What a record is about: the project, all its sessions, and those that it tells.

    `others` counts sessions that may not be sent, by agent.
    """

    project: str
    all_sessions: Sequence[SessionRecord]
    sessions: Sequence[SessionRecord]
    others: Mapping[str, int] = {}


def condense(
    subject: Subject,
    lines: Sequence[Line],
    marks: Marks,
    redact: Callable[[str], str],
    *,
    most_bytes: int = MOST_BYTES,
) -> Record:
    """The record of some sessions of a project; `lines` are what the rules found in them."""
    return _Writing(subject, lines, marks, redact, most_bytes).record()


class _Part(NamedTuple):
    """A line of a session's turn: `order` is where it stands among those of the turn."""

    session: str
    turn: str
    order: int
    text: str


class _Writing:
    """One record while it is made to fit."""

    def __init__(
        self,
        subject: Subject,
        lines: Sequence[Line],
        marks: Marks,
        redact: Callable[[str], str],
        most_bytes: int,
    ) -> None:
        self._subject, self._sessions = subject, subject.sessions
        self._lines, self._marks, self._redact = lines, marks, redact
        self._most, self._scale = most_bytes, most_bytes / MOST_BYTES
        folders = Counter(session.folder for session in self._sessions if session.folder)
        self._root = folders.most_common(1)[0][0] if folders else ""
        self._places = {session.ref: place for place, session in enumerate(self._sessions)}
        self._cuts: list[str] = []
        self._typed = typed.read(self._sessions)
        self._prompts = list(self._typed.prompts)
        self._runs = Runs(self._sessions, marks)
        self._papers = papers.read(self._sessions, self._root)
        self._commits = list(answers.commits(self._sessions))
        self._answers = list(answers.answers(self._sessions))
        self._failures = sorted(
            self._runs.failures(), key=lambda one: (-one.value, one.place, one.text)
        )
        self._commands = self._runs.commands(COMMANDS)
        self._other_failures = self._runs.other_failures()
        self._configs = list(papers.settings(self._papers.configs, marks))
        self._end = list(_end(self._sessions, marks))

    def record(self) -> Record:
        choice = Choice(replied.read(self._sessions), self._sessions)
        whole_replies = sum(reply.cost for reply in choice.replies)
        wanted = _size(self._prompt_parts(1.0)) + min(whole_replies, REPLIES_BYTES * self._scale)
        wanted = min(wanted, 0.62 * self._most)
        fixed: _Fixed
        for factor in FACTORS:
            fixed = self._fixed(factor)
            room = self._most - _bytes(self._composed(fixed, [])) - self._headings()
            if room >= wanted:
                break
        if factor < 1:
            self._cuts.append(f"counted parts at {factor:.0%}")
        parts = self._fitted_prompts(room, whole_replies)
        room -= _size(parts)
        text, chosen, parts = self._filled(fixed, parts, choice, room)
        kept = sum(reply.cost for reply in chosen)
        if kept < 0.97 * whole_replies:
            self._cuts.append(f"{kept:,} of {whole_replies:,} bytes of replies")
        left_out = len(self._typed.prompts) - len(self._prompts)
        return Record(
            text, len(self._sessions), len(self._typed.prompts), left_out, tuple(self._cuts)
        )

    def _filled(
        self, fixed: _Fixed, parts: list[_Part], choice: Choice, room: float
    ) -> tuple[str, list[ReplySentence], list[_Part]]:
        """The text with as many sentences of replies as there is room for."""
        told = [part.text for part in parts]
        best: tuple[str, list[ReplySentence]] | None = None
        for _ in range(FITTINGS):
            chosen = choice.choose(told, max(0, int(room)))
            replies = [_Part(*found[:2], 2, found[2]) for found in replied.joined(chosen)]
            text = self._composed(fixed, [*parts, *replies])
            left = self._most - _bytes(text)
            if left >= 0:
                best = text, chosen
                if left < SLACK_BYTES or len(chosen) == len(choice.replies):
                    break
                room += left - SLACK_BYTES // 2
            elif best:
                break
            elif room > 0:
                room += left - SLACK_BYTES // 4
            else:
                # Not even the prompts fit: those at the end are the newest.
                parts = parts[max(1, -left // 60) :]
        return (*(best or (text[: self._most // 4], [])), parts)

    def _headings(self) -> int:
        """About how many bytes the marks of turns and the headings of sessions take."""
        sessions = {prompt.session.ref for prompt in self._prompts}
        return 11 * len(self._prompts) + 55 * len(sessions)

    # Prompts

    def _fitted_prompts(self, room: float, whole_replies: int) -> list[_Part]:
        """Every prompt, shortened alike until they leave room for replies."""
        full = self._prompt_parts(2.5)
        fits = _size(full) + whole_replies <= room
        most = _size(full) if fits else max(room * PROMPTS_SHARE, room - whole_replies)
        if _size(full) <= most:
            return full
        if _size(self._prompt_parts(0.02)) > most:
            self._leave_out(most)
        low, high = 0.02, 2.5
        for _ in range(14):
            middle = (low + high) / 2
            if _size(self._prompt_parts(middle)) > most:
                high = middle
            else:
                low = middle
        self._cuts.append(f"prompts at {int(PROMPT_BYTES * low)} bytes (newest session)")
        return self._prompt_parts(low)

    def _leave_out(self, most: float) -> None:
        """As a last resort: let the prompts go that say least."""
        weakest = sorted(
            self._prompts,
            key=lambda one: (one.best * (0.5 + 0.5 * self._recency(one)), one.turn.ref),
        )
        gone: set[str] = set()
        while weakest and _size(self._prompt_parts(0.12)) > most:
            gone |= {one.turn.ref for one in weakest[:8]}
            weakest = weakest[8:]
            self._prompts = [one for one in self._prompts if one.turn.ref not in gone]
        self._cuts.append(f"{len(gone)} of {len(self._typed.prompts)} prompts left out")

    def _recency(self, prompt: Prompt) -> float:
        return (self._places[prompt.session.ref] + 1) / len(self._sessions)

    def _prompt_parts(self, factor: float) -> list[_Part]:
        parts = []
        for prompt in self._prompts:
            share = 0.45 + 0.55 * self._recency(prompt)
            share *= 1.0 if prompt.session.interactive else 0.3
            text = prompt.said[0].text
            if _TALKS_OVER.search(text) and len(prompt.text) > 500:
                share *= 3.5
            share *= 0.6 + 0.5 * max(0.0, min(1.6, prompt.best - 0.8))
            least = LEAST_PROMPT_BYTES + WIDE_BYTES * typed.is_wide(text)
            told = fitted(prompt.said, max(least, int(PROMPT_BYTES * factor * share)))
            if prompt.times > 1:
                told += f" (×{prompt.times}, last {self._marks.of(prompt.last)})"
            told += " (interrupted)" if prompt.stopped else ""
            parts.append(_Part(prompt.session.ref, prompt.turn.ref, 0, f"P {told}"))
        return parts

    # What is counted

    def _fixed(self, factor: float) -> _Fixed:
        def most(size: int) -> int:
            return int(size * factor * self._scale**0.8)

        edited, read = self._runs.files()
        return _Fixed(
            commands=_within(self._commands, most(COMMANDS)),
            edited=_listed(edited, int(EDITED_FILES * self._scale)),
            read=_listed(
                Counter({path: times for path, times in read.items() if path not in edited}),
                int(READ_FILES * self._scale),
            ),
            failures=self._told_failures(most(FAILURES)),
            others=_within(self._other_failures, most(OTHER_FAILURES)),
            configs=_within(self._configs, most(CONFIGS)),
            instructions=papers.told(
                self._papers.instructions, self._marks, most(INSTRUCTIONS), most(EACH_INSTRUCTION)
            ),
            handovers=papers.told(
                self._papers.handovers, self._marks, most(HANDOVERS), most(EACH_HANDOVER)
            ),
            bodies=[self._body(body, most(BODY)) for body in self._most_sent()],
            parts=[
                *_newest(self._answers, most(ANSWERS), 1),
                *_newest(self._commits, most(COMMITS), 3),
            ],
            candidates=_within(list(self._candidates()), most(CANDIDATES)),
        )

    def _told_failures(self, most: int) -> list[str]:
        """Failures that may come again, in the order of their sessions."""
        kept, used = [], 0
        for failure in self._failures:
            cost = len(failure.text.encode()) + 3
            if failure.value >= 0.3 and used + cost <= most:
                kept.append(failure)
                used += cost
        return [one.text for one in sorted(kept, key=lambda one: (one.place, one.text))]

    def _most_sent(self) -> list[typed.Body]:
        return sorted(self._typed.bodies, key=lambda body: (-body.times, body.name))[:MOST_BODIES]

    def _body(self, body: typed.Body, most: int) -> str:
        order = sorted(
            range(len(body.lines)), key=lambda at: (-sense.of_person(body.lines[at]), at)
        )
        kept, room = set[int](), most
        for at in order:
            cost = len(body.lines[at].encode()) + 3
            if cost <= room:
                kept.add(at)
                room -= cost
        text = " / ".join(body.lines[at] for at in sorted(kept))
        return f"{body.name} sent ×{body.times} {self._marks.of(body.turn)}: {text}"

    def _candidates(self) -> Iterator[str]:
        """What the rules would tell, best first."""
        for line in self._lines:
            one = line.candidate
            if one.kind not in _KINDS_TOLD or one.turn.rpartition("#")[0] not in self._places:
                continue
            again = f" (in {line.sessions} sessions)" if line.sessions > 1 else ""
            yield f"{one.text}{again} {self._marks.of(one.turn)}"

    # The text

    def _composed(self, fixed: _Fixed, parts: Sequence[_Part]) -> str:
        lines = [*self._head()]
        for title, told in fixed.sections():
            lines += ["", f"## {title}", *told]
        lines += ["", "## Sessions, oldest first", *self._told_sessions([*parts, *fixed.parts])]
        if self._end:
            lines += ["", "## End of the last session, whole", *self._end]
        if fixed.candidates:
            lines += ["", "## Candidate lines of the rules (unjudged)"]
            lines += [f"- {text}" for text in fixed.candidates]
        return self._redact("\n".join(lines) + "\n")

    def _told_sessions(self, parts: Sequence[_Part]) -> Iterator[str]:
        by_session: dict[str, dict[str, list[_Part]]] = {}
        for part in parts:
            by_session.setdefault(part.session, {}).setdefault(part.turn, []).append(part)
        for session in self._sessions:
            turns = by_session.get(session.ref)
            if not turns:
                continue
            told = [f"### {self._marks.session(session.ref)} {session.at[:16].replace('T', ' ')}"]
            if session.folder and session.folder != self._root:
                told.append(session.folder)
            told += [session.branch] if session.branch else []
            told += [] if session.interactive else ["headless"]
            yield " · ".join(told)
            for turn in sorted(turns, key=_number):
                found = sorted(turns[turn], key=lambda part: part.order)
                for place, part in enumerate(found):
                    yield (f"{self._marks.of(turn)} " if place == 0 else "  ") + part.text

    def _head(self) -> Iterator[str]:
        sessions = self._subject.all_sessions
        days = [session.at[:10] for session in self._sessions if session.at]
        agents = Counter(session.ref.partition(":")[0] for session in self._sessions)
        folders = Counter(session.folder for session in self._sessions if session.folder)
        branches = Counter(session.branch for session in self._sessions if session.branch)
        yield f"# Record of {self._subject.project}"
        told = f"{len(self._sessions)} sessions"
        if len(self._sessions) < len(sessions):
            told = f"{len(self._sessions)} of {len(sessions)} sessions"
        told += f", {sum(len(one.turns) for one in self._sessions)} turns"
        told += f", {days[0]} to {days[-1]}" if days else ""
        yield f"{told}; {_counted(agents, 6)}"
        for agent, count in sorted(self._subject.others.items()):
            yield f"Not in this record: {count} sessions of {agent}"
        yield f"Folders: {_counted(folders, 4)}; system: {_system(self._root)}"
        if branches:
            last = next(one.branch for one in reversed(self._sessions) if one.branch)
            yield f"Branches: {_counted(branches, 6)}; last: {last}"
        yield LEGEND


class _Fixed(NamedTuple):
    """The parts of a record that are counted, and the lines of turns that are not said."""

    commands: list[str]
    edited: str
    read: str
    failures: list[str]
    others: list[str]
    configs: list[str]
    instructions: list[str]
    handovers: list[str]
    bodies: list[str]
    parts: list[_Part]
    candidates: list[str]

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """The counted parts with their titles, those that there are."""
        files = [self.edited] if self.edited else []
        files += [f"Read most: {self.read}"] if self.read else []
        failures = self.failures + [f"tool: {text}" for text in self.others]
        for title, lines in (
            ("Commands that passed (folder, times, last seen)", self.commands),
            ("Files edited most", files),
            ("Failures", failures),
            ("Config files that were read or written", self.configs),
            ("Instruction files (newest text, sentences chosen)", self.instructions),
            ("Plans and hand-over files (sentences chosen)", self.handovers),
            ("Templates (command bodies) sent as prompts", self.bodies),
        ):
            if lines:
                yield title, lines if lines is files else [f"- {line}" for line in lines]


def _end(sessions: Sequence[SessionRecord], marks: Marks) -> Iterator[str]:
    """The last prompts of the newest session with a person, its last reply and what is open."""
    for session in reversed(sessions):
        asked = [
            turn
            for turn in session.turns
            if turn.by_person and any(typed.own_words(prompt) for prompt in turn.prompts)
        ]
        if not asked or (not session.interactive and any(one.interactive for one in sessions)):
            continue
        for turn in asked[-END_PROMPTS:]:
            for prompt in turn.prompts:
                if said := typed.said_in(prompt):
                    yield f"P {marks.of(turn.ref)} {fitted(said, END_PROMPT_BYTES)}"
        replies = [(turn, reply) for turn in session.turns for reply in turn.replies[-1:]]
        if replies:
            turn, reply = replies[-1]
            said = tuple(
                typed.Said(one.text, sense.of_agent(one.text) + 0.4 * ("open" in cues(one.text)))
                for one in spoken(reply)
            )
            yield f"R {marks.of(turn.ref)} {fitted(said, END_REPLY_BYTES)}"
        yield from _open_tasks(session, marks)
        failed = [
            (turn, call)
            for turn, call in session.calls()
            if call.kind == "shell" and call.ok is not None
        ][-1:]
        for turn, call in failed:
            if call.failed:
                target = shortened(" ".join(call.target.split()), 200)
                yield (
                    f"Last command failed {marks.of(turn.ref)}: `{target}` -> "
                    f"{error_of(call.output)}"
                )
        if asked[-1].aborted:
            yield "(the last turn was interrupted)"
        return


def _open_tasks(session: SessionRecord, marks: Marks) -> Iterator[str]:
    plans = [
        (turn, call.given)
        for turn, call in session.calls()
        if call.name in _PLANS and isinstance(call.given, dict)
    ]
    for turn, given in plans[-1:]:
        items = given.get("todos") or given.get("plan") or []
        left = [
            str(item.get("content") or item.get("step") or "")
            for item in items
            if isinstance(item, dict) and item.get("status") in ("pending", "in_progress")
        ]
        if left:
            shown = " / ".join(shortened(one, 120) for one in left[:OPEN_TASKS])
            yield f"Open to-do {marks.of(turn.ref)}: {shown}"


def _newest(lines: Sequence[answers.TurnLine], most: int, order: int) -> list[_Part]:
    """The lines that fit, those of the newest sessions first."""
    kept, used = [], 0
    for line in reversed(lines):
        cost = len(line.text.encode()) + 3
        if used + cost <= most:
            kept.append(_Part(line.session, line.turn, order, line.text))
            used += cost
    return kept[::-1]


def _within(lines: Sequence[str], most: int) -> list[str]:
    kept, used = [], 0
    for line in lines:
        text = shortened(line, 1_400)
        cost = len(text.encode()) + 3
        if used + cost <= most:
            kept.append(text)
            used += cost
    return kept


def _listed(counts: Counter[str], most: int) -> str:
    order = sorted(counts, key=lambda path: (-counts[path], path))[:most]
    return ", ".join(f"{path} ({counts[path]}×)" for path in order)


def _counted(counts: Counter[str], most: int) -> str:
    shown = ", ".join(f"{name} ({count})" for name, count in counts.most_common(most))
    return shown + (f" and {len(counts) - most} more" if len(counts) > most else "")


def _system(folder: str) -> str:
    if re.match(r"[A-Za-z]:[\\/]", folder):
        return "Windows"
    if folder.startswith("/Users/"):
        return "macOS"
    return "Linux" if folder.startswith("/") else "unknown"


def _number(turn: str) -> int:
    return int(turn.rpartition("#")[2])


def _bytes(text: str) -> int:
    return len(text.encode())


def _size(parts: Sequence[_Part]) -> int:
    return sum(len(part.text.encode()) + 3 for part in parts)
