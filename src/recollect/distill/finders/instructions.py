"""What people had written into the files that agents read first, and into an agent's memory.

Whoever asks for a line in such a file wants it to hold for the next session, whichever agent
that is of. The files are known by what agents' makers have in common: a Markdown file in
capitals, a file of rules, a folder of rules or memories. Only what was asked for counts: the
prompt names the file, or asks to remember.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from recollect.distill.finders.cleaning import LINE_CHARACTERS, size, spoken, words
from recollect.distill.finders.cues import cues
from recollect.distill.finders.people import is_secret
from recollect.model.candidates import Candidate
from recollect.model.record import CallRecord, SessionRecord, TurnRecord

FEWEST = 24
MOST_LINES = 12
# What a person typed for the file itself is surer, and may be short.
FEWEST_TYPED, TYPED_STRENGTH = 8, 1.8

_FILE = re.compile(
    r"(?:^|[/\\])(?:(?!README|TODO|PLAN|TASKS?|DESIGN|CHANGES|HISTORY|LICENSE|NOTICE|SKILL|STATUS"
    r"|ROADMAP)"
    r"[A-Z]{4,7}(?:\.local)?\.md|\.\w+rules|[\w.-]*instructions\.md"
    r"|(?:rules|memory|memories)[/\\][\w.-]+\.mdc?)$"
)
_REMEMBER = re.compile(
    r"\bremember\b|\b(?:in|to) (?:your |the )?memory\b|\brules?\b|记住|记忆|规则|覚えて|記憶"
    r"|ルール|ghi nhớ"
    r"|quy tắc"
    r"|기억|запомни",
    re.IGNORECASE,
)
# How a line is typed that the client itself is to write into such a file.
_TYPED = re.compile(r"# (?!#)(\S[^\n]*)")
_PATCHED = re.compile(r"^\+(?!\+\+)(.*)$", re.MULTILINE)
_RULES = frozenset(("lasting", "strong", "only"))


def find(session: SessionRecord) -> Iterator[Candidate]:
    """The lines that were written into such files because the person asked for it."""
    for turn in session.turns:
        if turn.by_person and session.interactive:
            yield from _typed(turn)
        if not turn.by_person or turn.tainted:
            continue
        for call in turn.calls:
            if call.kind == "edit" and call.passed and _is_asked(turn, call.target):
                yield from _lines(turn, call)


def _typed(turn: TurnRecord) -> Iterator[Candidate]:
    """Lines that the person typed for such a file: a prompt of one line that begins with `# `."""
    for prompt in turn.prompts:
        line = _TYPED.fullmatch(prompt.strip())
        if (
            line
            and size(line[1]) >= FEWEST_TYPED
            and len(line[1]) <= LINE_CHARACTERS
            and not is_secret(line[1])
        ):
            yield _candidate(turn, line[1], TYPED_STRENGTH)


def _is_asked(turn: TurnRecord, target: str) -> bool:
    path = target.partition("\n")[0].strip()
    if not _FILE.search(path):
        return False
    name = re.split(r"[/\\]", path)[-1].partition(".")[0].casefold()
    return any(
        (name and name in prompt.casefold()) or _REMEMBER.search(prompt) for prompt in turn.prompts
    )


def _lines(turn: TurnRecord, call: CallRecord) -> Iterator[Candidate]:
    found = 0
    for sentence in spoken(_added(call.given)):
        text = sentence.text
        if (
            size(text) < FEWEST
            or len(text) > LINE_CHARACTERS
            or not cues(text) & _RULES
            or is_secret(text)
            or text.endswith((":", "：", "…"))
        ):
            continue
        yield _candidate(turn, text, 1.0)
        found += 1
        if found == MOST_LINES:
            return


def _candidate(turn: TurnRecord, text: str, strength: float) -> Candidate:
    return Candidate(
        kind="instruction",
        section="preferences",
        category="preference",
        text=text,
        key="said " + " ".join(words(text)),
        trust="user",
        strength=strength,
        at=turn.at,
        turn=turn.ref,
        is_sure=True,
    )


def _added(given: Any) -> str:
    """What an edit adds to its file, as far as the call says."""
    if isinstance(given, str):
        return "\n".join(_PATCHED.findall(given))
    if not isinstance(given, dict):
        return ""
    several = given.get("edits")
    added = []
    for edit in several if isinstance(several, list) else [given]:
        if isinstance(edit, dict):
            new = edit.get("new_string") or edit.get("content") or edit.get("new_str") or ""
            old = set(str(edit.get("old_string") or edit.get("old_str") or "").splitlines())
            added += [line for line in str(new).splitlines() if line not in old]
    return "\n".join(added)
