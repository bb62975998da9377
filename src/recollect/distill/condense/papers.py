"""Files that say how a project works, as far as agents read or wrote them: each once, the newest.

Instructions and hand-over files by their most telling sentences, configuration by its
scripts, versions, ports and targets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from recollect.distill.condense import sense
from recollect.distill.condense.marks import Marks
from recollect.distill.condense.runs import below
from recollect.distill.condense.typed import shortened
from recollect.distill.finders.cleaning import spoken
from recollect.distill.finders.cues import cues
from recollect.distill.finders.steps import steps
from recollect.model.record import CallRecord, SessionRecord, TurnRecord

MOST_CHARACTERS, READ_CHARACTERS, MOST_PARTS = 60_000, 30_000, 12
CONFIG_LINES, SCRIPTS, TARGETS = 12, 24, 18

_INSTRUCTIONS = re.compile(
    r"(?:^|[/\\])(?:[A-Z]{5,7}(?:\.local)?|CONTRIBUTING|[\w.-]*instructions|constitution"
    r"|MEMORY)\.md$|\.\w+rules$"
    r"|[/\\]\.\w+[/\\](?:commands|prompts|rules|skills)[/\\].*\.mdc?$"
)
_NOT_INSTRUCTIONS = re.compile(r"(?:^|[/\\])(?:README|LICENSE|NOTICE)\.md$")
_HANDOVER = re.compile(
    r"(?:HANDOFF|hand-?over|progress|PLANS?|TODO|ROADMAP|NOTES?|rules?|TASKS?"
    r"|CHANGELOG)[\w-]*\.md$",
    re.IGNORECASE,
)
_CONFIG = re.compile(
    r"(?:^|[/\\])(?:package\.json|pyproject\.toml|Makefile|justfile|Cargo\.toml"
    r"|docker-compose[\w.-]*\.ya?ml|vercel\.json"
    r"|[\w.-]+\.ya?ml|tsconfig\.json|\.env\.\w+|go\.mod|next\.config\.\w+|vite\.config\.\w+"
    r"|pytest\.ini|setup\.cfg"
    r"|tox\.ini|\.nvmrc|\.python-version|manifest\.json|alembic\.ini|CMakeLists\.txt)$",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"python-version|node-version|requires-python|ports?\b.*\d|buildCommand|run:|branches|runs-on"
    r"|testpaths|markers|addopts"
    r"|asyncio_mode|script\b|baseURL|DATABASE|_URL=|_PORT=|version:|image:|schedule|cron|dialect"
    r"|host"
)
_SHOWS = re.compile(
    r"^(?:cat|nl -ba|sed -n '?[\d,$p]+'?|head(?: -n? ?\d+)?|tail(?: -n? ?\d+)?"
    r"|Get-Content(?: -\w+)*|type)\s+([\"']?[^|;&<>\n ]+[\"']?)\s*$"
)
_NUMBERED = re.compile(r"^\s*\d+[→\t]", re.MULTILINE)
_PATCHED_FILE = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File: (.*)|End Patch)$")


class Paper(NamedTuple):
    """A file's text as it was seen last, with parts of it that were seen later."""

    name: str
    turn: TurnRecord
    texts: tuple[str, ...]


class Papers(NamedTuple):
    """The papers of a project by what they are, the one seen last first."""

    instructions: tuple[Paper, ...]
    handovers: tuple[Paper, ...]
    configs: tuple[Paper, ...]


def read(sessions: Sequence[SessionRecord], root: str) -> Papers:
    """The papers that the sessions read or wrote."""
    found: dict[str, dict[str, Paper]] = {"instructions": {}, "handovers": {}, "configs": {}}
    for session in sessions:
        for turn, call in session.calls():
            if call.failed or (turn.tainted and call.kind == "edit"):
                continue
            for path, text in _seen(call, session):
                if kind := _kind(path):
                    _put(found[kind], below(path, root), turn, text)
    return Papers(*(tuple(reversed(papers.values())) for papers in found.values()))


def is_config(path: str) -> bool:
    """Whether a file says how a project is built and run, of which there is one in a project."""
    return _kind(path.strip()) == "configs" and "node_modules" not in path and "vendor" not in path


def _kind(path: str) -> str:
    name = re.split(r"[/\\]", path)[-1]
    if _INSTRUCTIONS.search(path) and not _NOT_INSTRUCTIONS.search(path):
        return "handovers" if _HANDOVER.search(name) else "instructions"
    if _HANDOVER.search(name):
        return "handovers"
    return "configs" if _CONFIG.search(path) else ""


def _put(papers: dict[str, Paper], name: str, turn: TurnRecord, text: str) -> None:
    if not 20 <= len(text.strip()) <= MOST_CHARACTERS:
        return
    key = name.casefold()
    known = papers.pop(key, None)
    if known and len(text) < 0.35 * len(known.texts[0]):
        # A part of it: an edit, or a look at some lines.
        papers[key] = known._replace(texts=(*known.texts, text)[: MOST_PARTS + 1])
    else:
        papers[key] = Paper(name, turn, (text,))


def _seen(call: CallRecord, session: SessionRecord) -> Iterator[tuple[str, str]]:
    """The files whose text a call shows or writes."""
    if call.kind == "edit":
        yield from _written(call)
    elif call.kind == "read" and call.output:
        yield call.target.strip(), _NUMBERED.sub("", call.output)
    elif call.kind == "shell" and call.output:
        line = steps(call.target, call.folder, session.folder)
        shown = _SHOWS.match(line[0].text) if len(line) == 1 else None
        if shown:
            yield shown[1].strip("\"'"), _NUMBERED.sub("", call.output)


def _written(call: CallRecord) -> Iterator[tuple[str, str]]:
    patch = _patch(call.given)
    if patch:
        path, added = "", list[str]()
        for line in [*patch.split("\n"), "*** End Patch"]:
            if header := _PATCHED_FILE.match(line):
                if path and added:
                    yield path, "\n".join(added)
                path, added = (header[1] or "").strip(), []
            elif line.startswith("+"):
                added.append(line[1:])
    elif isinstance(call.given, dict):
        text = call.given.get("content") or call.given.get("new_string") or ""
        if isinstance(text, str) and text:
            yield call.target.strip(), text


def _patch(given: Any) -> str:
    if isinstance(given, dict):
        command = given.get("command")
        given = given.get("input") or (command[-1] if isinstance(command, list) and command else "")
    return given if isinstance(given, str) and "*** Begin Patch" in given else ""


def told(papers: Sequence[Paper], marks: Marks, most_bytes: int, each: int) -> list[str]:
    """The most telling sentences of each paper, in their order."""
    found, used = [], 0
    for paper in papers:
        said = list(
            dict.fromkeys(
                one.text for text in paper.texts for one in spoken(text[:READ_CHARACTERS])
            )
        )
        order = sorted(
            range(len(said)),
            key=lambda at: (-sense.of_agent(said[at]) - 0.3 * ("strong" in cues(said[at])), at),
        )
        room, kept = min(each, most_bytes - used), set[int]()
        for at in order:
            cost = len(said[at].encode()) + 3
            if cost <= room:
                kept.add(at)
                room -= cost
        if kept and most_bytes - used >= 200:
            line = f"{paper.name} {marks.of(paper.turn.ref)}: " + " / ".join(
                said[at] for at in sorted(kept)
            )
            found.append(line)
            used += len(line.encode()) + 3
    return found


def settings(papers: Sequence[Paper], marks: Marks) -> Iterator[str]:
    """What configuration files say about how things are run here."""
    for paper in papers:
        name = re.split(r"[/\\]", paper.name)[-1]
        text, mark = "\n".join(paper.texts), marks.of(paper.turn.ref)
        if name == "package.json":
            yield from _package(paper.name, text, mark)
        elif name in ("Makefile", "justfile"):
            targets = re.findall(r"(?m)^([\w.-]+):(?!=)[^\n]*\n(?:\t([^\n]*))?", text)[:TARGETS]
            if targets:
                shown = (
                    f"{target} = `{shortened(run.strip(), 80)}`" if run else target
                    for target, run in targets
                )
                yield f"{paper.name} targets: {'; '.join(shown)} {mark}"
        else:
            lines = [" ".join(line.split()) for line in text.split("\n") if _TELLING.search(line)]
            lines = [line for line in lines if 6 < len(line) < 160 and not line.startswith("//")]
            lines = list(dict.fromkeys(lines))[:CONFIG_LINES]
            if lines:
                yield f"{paper.name}: {' | '.join(shortened(line, 90) for line in lines)} {mark}"


def _package(name: str, text: str, mark: str) -> Iterator[str]:
    scripts = re.search(r'"scripts"\s*:\s*\{(.*?)\n?\s*\}', text, re.DOTALL)
    if scripts:
        pairs = re.findall(r'"([\w:.-]+)"\s*:\s*"((?:[^"\\]|\\.)*)"', scripts[1])[:SCRIPTS]
        shown = "; ".join(f"{script} = `{shortened(run, 100)}`" for script, run in pairs)
        yield f"{name} scripts: {shown} {mark}"
    engines = re.search(r'"(?:engines|packageManager|volta)"\s*:\s*(\{[^}]*\}|"[^"]*")', text)
    if engines:
        yield f"{name} engines: {' '.join(engines[1].split())} {mark}"
