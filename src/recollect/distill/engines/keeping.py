"""From an answer to notes: every line is checked, what cannot be kept goes, the rest is told.

Who said yes to an engine said yes to its lines; those that somebody outside may have written
wait in review. Lines of a person stay as they are, and what a person rejected does not come
back in other words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from recollect.distill import ranking
from recollect.distill.engines.answer import Answer, Told
from recollect.distill.engines.check import Check, Fault
from recollect.distill.engines.evidence import ProjectEvidence
from recollect.distill.engines.material import Material
from recollect.distill.engines.trust import standing_of
from recollect.distill.finders.cleaning import words
from recollect.model.notes import Category, FoundNote, Section
from recollect.reading.tokens import tokens_of

if TYPE_CHECKING:
    from recollect.redact import Redactor
    from recollect.store import Store

# Lines of an engine's short form come after what people decided and before what the rules
# found, in its order; the others compete with those of the rules.
FIRST, STEP, REST = 7.5, 0.01, 3.5
# What a memory may hold; the last lines go.
MOST_TOKENS = ranking.LONG_TOKENS
# A line that shares so many of its words with one that a person rejected or wrote is that line.
SAME = 0.7
CATEGORIES: Mapping[Section, Category] = {
    "preferences": "preference",
    "commands": "project",
    "traps": "constraint",
    "decisions": "decision",
    "files": "project",
    "left_off": "project",
}


class Checked(NamedTuple):
    """An answer looked over: what may be kept, and what is wrong with the rest."""

    answer: Answer
    faults: tuple[Fault, ...]

    @property
    def kept(self) -> list[Told]:
        """The lines without a fault, those of the short form first."""
        bad = {fault.line for fault in self.faults}
        memory = tuple(line for line in self.answer.memory if line not in bad)
        pack = tuple(line for line in self.answer.pack if line not in bad)
        return list(Answer(memory, pack, ()).lines())

    @property
    def to_mend(self) -> list[Fault]:
        """The faults that better words could heal."""
        final = {fault.line for fault in self.faults if fault.final}
        return [fault for fault in self.faults if fault.line not in final]


def check_of(material: Material, redactor: Redactor) -> Check:
    """What lines about a project are compared with: all of its sessions that may be read."""
    return Check(ProjectEvidence(material.sessions), material.marks, redactor.redact_strictly)


def checked(answer: Answer, check: Check) -> Checked:
    """An answer with every fault of every line."""
    lines = dict.fromkeys((*answer.pack, *answer.memory))
    return Checked(answer, tuple(fault for line in lines for fault in check.faults(line)))


def complaint(faults: Sequence[Fault]) -> str:
    """The faults as they go back to whoever wrote the lines."""
    by_line: dict[Told, list[str]] = {}
    for fault in faults:
        by_line.setdefault(fault.line, []).append(fault.what)
    return "\n".join(f"- {line.text} — {'; '.join(whats)}" for line, whats in by_line.items())


def keep(store: Store, material: Material, lines: Sequence[Told], pack: Iterable[Told],
         check: Check, by: str) -> tuple[int, list[str]]:  # fmt: skip
    """Make these lines what the engine says of the project.

    How many were kept, and why each of the others was not.
    """
    in_pack = {line.text for line in pack}
    own = [note for note in material.old if note.author == "person"]
    blocked = [words(note.text) for note in (*store.notes.blocked(material.project), *own)]
    found: list[FoundNote] = []
    left_out: list[str] = []
    room = MOST_TOKENS
    for place, line in enumerate(lines):
        room -= tokens_of(line.text) + 1
        if room < 0:
            left_out.append(f"- {line.text} — over {MOST_TOKENS:,.0f} tokens")
        elif any(_is_same(words(line.text), other) for other in blocked):
            left_out.append(f"- {line.text} — a person rejected this, or says it already")
        else:
            found.append(_note(line, place, check, by, in_pack=line.text in in_pack))
    store.notes.bring_up_to_date(material.project, found, author="engine")
    store.notes.outdate(material.project)
    return len(found), left_out


def _note(line: Told, place: int, check: Check, by: str, *, in_pack: bool) -> FoundNote:
    turns = tuple(check.turns(line))
    standing = standing_of(line, check)
    times = {turn: check.evidence.places[turn].turn.at for turn in turns}
    return FoundNote(
        key="engine " + " ".join(words(line.text)),
        text=line.text,
        category=CATEGORIES[line.section],
        section=line.section,
        trust=standing.trust,
        at=max(times.values()) or None,
        turns=tuple(sorted(turns, key=lambda turn: times[turn], reverse=True)),
        times=len(turns),
        sessions=len({turn.rpartition("#")[0] for turn in turns}),
        value=(FIRST if in_pack else REST) - STEP * place,
        is_sure=in_pack and not standing.tainted,
        by=by,
        tainted=standing.tainted,
        status="candidate" if standing.tainted else "active",
    )


def _is_same(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two lines say the same by their words."""
    fewest = min(len(set(one)), len(set(other)))
    return fewest > 0 and len(set(one) & set(other)) >= SAME * max(
        fewest, 0.6 * max(len(set(one)), len(set(other)))
    )
