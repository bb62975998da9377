"""A project's memory by a model, or by the user's own agent: the same files as by
rules, from the memories of its sessions.

The answer is not a file but statements with the turns that show them. We write
the files of it: a statement that cites no turn of this project is left out, a
skill needs two sessions as it does by rules, and what cannot be seen, closes
our frame or is a secret is taken out. What has another form than was asked for
is refused as a whole, and leaves what was there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import TYPE_CHECKING, NamedTuple

from recollect.distill.memories import memory_file, skills
from recollect.distill.memories.files import MEMORY
from recollect.distill.memories.guidance import SEVERAL, Statement
from recollect.distill.models.budget import cut
from recollect.distill.models.replies import ToldStatement, read_memory
from recollect.distill.models.traces import framed
from recollect.distill.models.transcript import CUT, without_own
from recollect.errors import BadReply, SecretsLeft
from recollect.reading.quoting import quoted
from recollect.store.notes import compared
from recollect.store.traces import Published, without_lines
from recollect.system.clock import iso

if TYPE_CHECKING:
    from recollect.redact import Redactor
    from recollect.settings import Settings
    from recollect.store import Store
    from recollect.store.traces import KeptTrace

# As the prompt says.
MOST_SECTIONS, MOST_STATEMENTS, MOST_SKILLS = 12, 40, 8
TEXT_CHARACTERS, HEADING_CHARACTERS = 600, 100
# The prompt says five. Whoever names more has not looked which of them show it.
MOST_TURNS = 20
# Older sessions say nothing that these do not, or nothing that still holds.
NEWEST_SESSIONS = 200


class Material(NamedTuple):
    """What a project's memory is made of: `turns` are the numbers of each
    session's, `current` what a model wrote before.
    """

    project: str
    state: str
    traces: list[KeptTrace]
    turns: Mapping[str, Set[int]]
    current: Mapping[str, str]
    refused: Set[str]


class Written(NamedTuple):
    """The files of a project's memory, and how many statements and
    skills had too little to rest on.
    """

    files: dict[str, Published]
    dropped: int


def gather(store: Store, number: int, key: str) -> Material:
    """What a project's memory would be made of now."""
    return Material(
        key,
        store.old.memory_state(number),
        store.old.kept_traces(number, NEWEST_SESSIONS),
        store.old.traced_turns(number),
        store.old.published(number, by_model=True),
        store.old.refused_notes(number),
    )


def question(material: Material, redactor: Redactor, settings: Settings) -> str:
    """What a model is given, between marks.

    SecretsLeft when something is stored that should not be.
    """
    memories = [trace.memory for trace in material.traces]
    for trace, memory, redacted in zip(
        material.traces, memories, redactor.redact_all(memories), strict=True
    ):
        if redacted != memory:
            raise SecretsLeft(trace.session)
    lines = ["# The memory of the project as it is now", ""]
    for name, text in material.current.items() or {"nothing yet": ""}.items():
        lines += [name, *_indented(redactor.redact(text))]
    if material.refused:
        lines += [
            "",
            "# What the person rejected",
            "",
            *(f"\t{redactor.redact(words)}" for words in sorted(material.refused)),
        ]
    lines += ["", "# The memories of its sessions, the newest first", ""]
    room = settings.number("distill.input_bytes") - len("\n".join(lines).encode("utf-8", "replace"))
    return framed("\n".join([*lines, *_that_fit(material, room)]))


def settle_memory(material: Material, reply: str, redactor: Redactor) -> Written:
    """The files that a reply makes.

    BadReply when it is not of the form that was asked for, or nothing of it can be kept.
    """
    told = read_memory(reply)
    _refuse_many("sections", len(told.sections), MOST_SECTIONS)
    _refuse_many("skills", len(told.skills), MOST_SKILLS)
    for statements in [one.statements for one in told.sections] + [
        one.statements for one in told.skills
    ]:
        _refuse_many("statements in one place", len(statements), MOST_STATEMENTS)
    _refuse_twins("section", (one.heading for one in told.sections))
    _refuse_twins("skill", (one.name for one in told.skills))
    writing = _Writing(material, redactor)
    sections = {}
    for section in told.sections:
        heading = writing.clean(section.heading, HEADING_CHARACTERS)
        if not _has_words(heading):
            raise BadReply("a section has no heading", hint="give it one, or leave it out")
        lines = (
            writing.lines(section.statements) if section.statements else writing.kept_lines(heading)
        )
        if lines:
            sections[heading] = lines
    made = {}
    if sections:
        behind = _sessions(line for lines in sections.values() for line in lines)
        made[MEMORY] = Published(memory_file.render(material.project, sections), behind)
    for skill in told.skills:
        if not skills.is_name(skill.name):
            raise BadReply(
                f"{quoted(skill.name, 80)} cannot be the name of a skill",
                hint="lower-case words with hyphens",
            )
        path = f"skills/{skill.name}/SKILL.md"
        found = (
            writing.skill(skill.name, skill.description, skill.statements)
            if skill.statements
            else writing.kept_skill(path)
        )
        if found is not None:
            made[path] = found
    if not made:
        raise BadReply(
            "nothing in the answer rests on turns of this project",
            hint="give each statement the turns that show it, as they are named",
        )
    return Written(made, writing.dropped)


def without_refused(files: Mapping[str, str], refused: Set[str]) -> dict[str, Published]:
    """Files that a model wrote, without the lines that say what a person has rejected.

    A skill that says it goes.
    """
    kept = {
        name: without_lines(text, lambda line: _is_refused(line, refused))
        if name == MEMORY
        else text
        for name, text in files.items()
        if name == MEMORY or not _is_refused(text, refused)
    }
    return {
        name: Published(text, _sessions(text.splitlines())) for name, text in kept.items() if text
    }


class _Writing:
    """Turns what was told into lines, and counts what cannot become one."""

    def __init__(self, material: Material, redactor: Redactor) -> None:
        self._material, self._redactor = material, redactor
        self._kept = memory_file.sections_of(material.current.get(MEMORY, ""))
        self.dropped = 0

    def clean(self, text: str, most: int) -> str:
        """Words on one line, that all can be seen, without secrets and without
        what a viewer of Markdown would fetch.
        """
        return quoted(without_own(self._redactor.redact_strictly(text)), most).replace("](", "] (")

    def lines(self, told: Iterable[ToldStatement]) -> list[str]:
        return [one.line(MOST_TURNS) for one in self._statements(told)]

    def kept_lines(self, heading: str) -> list[str]:
        """A section as it is, to the letter; only what has lost its turns goes."""
        return [
            line
            for line in self._kept.get(heading, [])
            if self._known(memory_file.cited(line))
            and not _is_refused(line, self._material.refused)
        ]

    def skill(self, name: str, description: str, told: Iterable[ToldStatement]) -> Published | None:
        statements = self._statements(told)
        if len({session for one in statements for session in one.sessions}) < SEVERAL:
            self.dropped += 1
            return None
        said = self.clean(description, skills.DESCRIPTION_CHARACTERS)
        made = skills.render(name, said, name.replace("-", " "), statements, most_refs=MOST_TURNS)
        if not skills.is_valid(name, made.text):
            raise BadReply(
                f"{name} is no skill by the specification",
                hint="say in its description what it is good for, and when",
            )
        return made

    def kept_skill(self, path: str) -> Published | None:
        text = self._material.current.get(path, "")
        sessions = _sessions(text.splitlines())
        return (
            Published(text, sessions)
            if sessions and all(one in self._material.turns for one in sessions)
            else None
        )

    def _statements(self, told: Iterable[ToldStatement]) -> list[Statement]:
        found = []
        for one in told:
            text, turns = self.clean(one.text, TEXT_CHARACTERS), self._known(one.turns)
            if (
                turns
                and len(one.turns) <= MOST_TURNS
                and _has_words(text)
                and not _is_refused(text, self._material.refused)
            ):
                found.append(Statement(text, turns))
            else:
                self.dropped += 1
        return found

    def _known(self, refs: Iterable[str]) -> list[str]:
        found = []
        for ref in refs:
            session, _, number = ref.strip().rpartition("#")
            if (
                number.isdecimal()
                and len(number) <= 9
                and int(number) in self._material.turns.get(session, ())
            ):
                found.append(f"{session}#{int(number)}")
        return found


def _that_fit(material: Material, room: int) -> Iterator[str]:
    """The newest memories that there is room for; what is too long for all of it is cut."""
    for place, trace in enumerate(material.traces):
        numbers = ", ".join(map(str, sorted(material.turns.get(trace.session, ()))))
        head = f"session {trace.session}, {iso(trace.at) or 'at an unknown time'}, with the turns {numbers}"
        text = "\n".join([head, *_indented(trace.memory), ""])
        if place == 0:
            text = cut(text, max(room - 1, 0), CUT, head=0.5)
        room -= len(text.encode("utf-8", "replace")) + 1
        if room < 0:
            break
        yield text


def _indented(text: str) -> list[str]:
    return [f"\t{line}" for line in text.splitlines()]


def _sessions(lines: Iterable[str]) -> list[str]:
    return list(
        dict.fromkeys(
            ref.rpartition("#")[0]
            for line in lines
            if line.startswith("- ")
            for ref in memory_file.cited(line)
        )
    )


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


def _is_refused(text: str, refused: Set[str]) -> bool:
    """Whether a text says what a person has rejected, alone or among other words."""
    said = compared(text)
    # One word is in any sentence by chance.
    return said in refused or any(f" {words} " in f" {said} " for words in refused if " " in words)


def _refuse_many(what: str, count: int, most: int) -> None:
    if count > most:
        raise BadReply(
            f"there are {count} {what}, and may be {most}", hint="keep the most useful ones"
        )


def _refuse_twins(what: str, names: Iterable[str]) -> None:
    known = set()
    for name in names:
        if name in known:
            raise BadReply(
                f"there are two {what}s called {quoted(name, 80)}", hint="make one of them"
            )
        known.add(name)
