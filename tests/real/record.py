"""Records what the real agents give to hooks and write in their
logs: `python -m tests.real.record`.

Each agent works once in a throw-away home, with the stub as its model. What
its hooks were given goes to `tests/golden/hooks/<agent>/<event>.json`, and its
log to `tests/golden/<agent>/recorded/root/`; a database is kept as statements.
Paths, ids and times are replaced, so that recording again changes only what
the agent changed; the long texts that agents bring along are cut, because they
are theirs. Run it after a version in `tests/real/package.json` was raised, then
`pytest tests/capture/test_golden.py --update-golden`, and read the diff.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from recollect.recall.hooks.frame import framed
from tests.real import hooks
from tests.real.agents import AGENTS, Agent
from tests.real.steps import Call, Say
from tests.real.stub import listening

GOLDEN = Path(__file__).parents[1] / "golden"
# Where an agent keeps its logs, below its home: the root that an
# adapter is given, and what we read there.
LOGS = {
    "claude-code": (".claude", "projects/*/**/*.json*"),
    "codex": (".codex", "sessions/**/*.jsonl"),
    "gemini-cli": (".gemini", "tmp/*/.project_root", "tmp/*/chats/**/*.jsonl"),
    "opencode": (".local/share/opencode", "opencode.db"),
    "copilot-cli": (".copilot", "session-state/*/events.jsonl", "session-state/*/workspace.yaml"),
}
# The tables that an adapter reads in a database; others hold the
# agent's bookkeeping, or credentials.
TABLES = ("session", "message", "part")

BEGUN = datetime(2026, 3, 1, 9, tzinfo=UTC)
BEGUN_MS = int(BEGUN.timestamp() * 1000)
# What an agent says of itself in more than so many characters is cut; our own texts are shorter.
MOST_CHARACTERS = 240
MARK = "=== "
CONTEXT = framed(
    [
        "- 2026-02-27 `pyt3st -q` failed here (exit 127); `python3 -m this` worked "
        "(claude-code:earlier#3)"
    ],
    "mal23ory",
)

# An id may have a word in front: msg_019ca000-...
_UUID = re.compile(
    r"(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])"
)
# OpenCode's ids begin with a word and grow with time; Gemini's ids of calls have a time in them.
_GROWING_ID = re.compile(r"\b(ses|msg|prt|evt)_[0-9A-Za-z]{20,30}\b|(?<=_)1[6-9]\d{11}(?=_)")
_TIME = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:(Z)|[+-]\d\d:\d\d)")
# What differs each time and means nothing: the pattern, and what stands there instead.
_CHANCE = [
    (r"\b20\d\d-\d\d-\d\dT\d\d-\d\d-\d\d", BEGUN.strftime("%Y-%m-%dT%H-%M-%S")),
    (r"\b20\d\d-\d\d-\d\d\b(?!T)", BEGUN.strftime("%Y-%m-%d")),
    (r"\b20\d\d/\d\d/\d\d/", BEGUN.strftime("%Y/%m/%d/")),
    # Seconds and milliseconds since 1970.
    (r"\b1[6-9]\d{8}(?:\.\d+)?\b", str(int(BEGUN.timestamp()))),
    (r"\b1[6-9]\d{11}\b", str(BEGUN_MS)),
    (
        r'("(?:(?i:\w*duration_?ms)|\w*_token_ms|\w+(?:Ttft|Latency|Token)Ms|duration)": ?)[\d.]+',
        r"\g<1>25",
    ),
    # How much was sent: the names of this machine's folders are part of it.
    (
        r'("(?:\w+Bytes|\w*[cC]urrent_?[tT]okens|(?:system|conversation|toolDefinitions)Tokens'
        r'|\w*[tT]oken_?[cC]ount)": ?)\d+',
        r"\g<1>1000",
    ),
    (r'("duration": ?\{"secs": ?)\d+(, ?"nanos": ?)\d+', r"\g<1>0\g<2>25000000"),
    (r"(duration_ms: )\d+", r"\g<1>25"),
    (r"Wall time: [\d.]+", "Wall time: 0.0250"),
    (r"Chunk ID: \w+", "Chunk ID: c0ffee"),
    (r"(PGID: |\"process_id\": ?\")\d+", r"\g<1>4242"),
    (r"\ba[0-9a-f]{16}\b", "a1100000000000000"),
    (r"(chats/session-)[\w-]+", r"\g<1>2026-03-01T09-00-5e551011"),
    (r'("slug": ?)"[a-z-]+"', r'\g<1>"a-made-up-name"'),
]


def main() -> None:
    for name in sys.argv[1:] or AGENTS:
        with tempfile.TemporaryDirectory() as folder, listening() as stub:
            home, project = Path(folder, "home"), Path(folder, "shop")
            home.mkdir()
            make_project(project)
            agent = AGENTS[name](home, stub)
            if name in hooks.EVENTS:
                hooks.register(agent, Path(folder, "given"), contexts(name))
            else:
                hooks.plug_in(agent, {"session.created": CONTEXT, "tool.execute.before": CONTEXT})
            work(agent, project)
            if name in hooks.EVENTS:
                keep_events(name, hooks.given(Path(folder, "given")), home, project)
            keep_log(name, home, project)


def make_project(folder: Path) -> None:
    """A repository whose one commit has the same hash whenever it is made."""
    folder.mkdir()
    who = {f"GIT_{role}_{fact}": value for role in ("AUTHOR", "COMMITTER") for fact, value in
           (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE",
           BEGUN.isoformat()))}  # fmt: skip
    for words in (
        ["init", "--quiet", "--initial-branch", "main"],
        ["commit", "--quiet", "--allow-empty", "-m", "begin"],
    ):
        subprocess.run(["git", *words], cwd=folder, check=True, env=os.environ | who)


def contexts(agent: str) -> dict[str, str]:
    """Our frame at the start and before a command; the other events stay silent."""
    start, _, command, *_ = hooks.EVENTS[agent].split()
    return {start: CONTEXT, command: CONTEXT}


def work(agent: Agent, project: Path) -> None:
    """A command that fails, one that works, a sub-agent where there is one, and a compaction."""
    steps = [agent.shell("pyt3st -q"), agent.shell("echo 3 passed"), Say("All three tests pass.")]
    if agent.agent == "claude-code":
        task = Call("Agent", {"description": "count files", "prompt": "How many files are there?"})
        steps[2:2] = [task, agent.shell("ls | wc -l"), Say("None.")]
    agent.stub.will(*steps)
    agent.run("run the tests", project)
    if agent.agent == "claude-code":
        agent.run("/compact", project, "--continue")


def keep_events(
    agent: str, events: Iterable[tuple[str, dict[str, Any]]], home: Path, project: Path
) -> None:
    folder = GOLDEN / "hooks" / agent
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    text = "\n".join(timed(json.dumps(pair) for pair in events))
    for event, payload in map(json.loads, replaced(text, home, project).splitlines()):
        file = folder / f"{event}.json"
        if not file.exists():
            file.write_text(json.dumps(payload, indent=2) + "\n")


def keep_log(agent: str, home: Path, project: Path) -> None:
    root, *patterns = LOGS[agent]
    kept = GOLDEN / agent / "recorded" / "root"
    shutil.rmtree(kept, ignore_errors=True)
    # All files as one text, so that an id is replaced by the same one in each of them, and in their
    # names. What a session started comes after it.
    lines: list[str] = []
    found = {file for pattern in patterns for file in (home / root).glob(pattern)}
    for file in sorted(found, key=lambda file: (len(file.parts), file)):
        name = str(file.relative_to(home / root))
        lines.append(f"{MARK}{name}.sql" if file.suffix == ".db" else f"{MARK}{name}")
        lines += statements(file) if file.suffix == ".db" else contents(file)
    for part in replaced("\n".join(timed(lines)), home, project).split(MARK)[1:]:
        name, _, content = part.partition("\n")
        file = kept / name
        file.parent.mkdir(parents=True, exist_ok=True)
        content = "\n".join(spread(content.split("\n"))) if file.suffix == ".sql" else content
        file.write_text(content.rstrip("\n") + "\n")


def contents(file: Path) -> Iterator[str]:
    """The lines of a log; a file of another sort as it is."""
    for line in file.read_text().splitlines():
        yield (
            json.dumps(cut(json.loads(line)), ensure_ascii=False)
            if file.suffix.startswith(".json")
            else line
        )


def statements(file: Path) -> Iterator[str]:
    """What makes a database with the rows that an adapter reads."""
    database = sqlite3.connect(file)
    # It gives every session a name by chance.
    database.execute("update session set slug = 'a-made-up-name'")
    for table in TABLES:
        rows = database.execute(f"select * from {table} order by id")
        yield f"CREATE TABLE {table} ({', '.join(column[0] for column in rows.description)});"
        for row in rows:
            values = (
                database.execute("select quote(?)", [_cut_json(value)]).fetchone()[0]
                for value in row
            )
            yield f"INSERT INTO {table} VALUES ({', '.join(values)});"
    database.close()


def _cut_json(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith("{"):
        return value
    return json.dumps(cut(json.loads(value)), ensure_ascii=False)


def timed(lines: Iterable[str]) -> Iterator[str]:
    """Lines that are a second apart, however fast or slow the agent was."""
    for at, line in enumerate(lines):
        moment = (BEGUN + timedelta(seconds=at)).strftime("%Y-%m-%dT%H:%M:%S.000")
        yield _TIME.sub(lambda found, moment=moment: moment + (found[1] or "+00:00"), line)


def spread(rows: Iterable[str]) -> Iterator[str]:
    """The same for rows, whose moments are numbers; they were made one and the same before."""
    for at, row in enumerate(rows):
        yield row.replace(str(BEGUN_MS), str(BEGUN_MS + at * 1000))


def _masked(text: str) -> str:
    """A long text as its length; the tag around it stays, because it says what the text is."""
    mask = f"({len(text)} characters of the agent's own)"
    tag = re.match(r"<(\w+)>", text)
    return (
        f"<{tag[1]}>{mask}</{tag[1]}>" if tag and text.rstrip().endswith(f"</{tag[1]}>") else mask
    )


def cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= MOST_CHARACTERS or "recalled by=" in value else _masked(value)
    if isinstance(value, list):
        return [cut(inner) for inner in value]
    if isinstance(value, dict):
        # A list of what the agent offers is its own text too, however short the lines.
        return {key: [] if key == "addedLines" else cut(inner) for key, inner in value.items()}
    return value


def replaced(text: str, home: Path, project: Path) -> str:
    """A text with our paths, ids and times instead of this machine's."""
    text = text.replace(str(project), "/home/ada/shop").replace(str(home), "/home/ada")
    text = text.replace(
        f"{sys.executable} {hooks.__file__} {project.with_name('given')}", "/home/ada/hook"
    )
    text = text.replace(re.sub(r"[^A-Za-z0-9]", "-", str(project)), "-home-ada-shop")
    text = text.replace(
        sha256(str(project).encode()).hexdigest(), sha256(b"/home/ada/shop").hexdigest()
    )
    text = _with_made_up_growing_ids(text)
    ids: dict[str, str] = {}
    for found in _UUID.finditer(text):
        first = "019ca000-0000-7000" if found[1] == "7" else "5e551011-0000-4000"
        ids.setdefault(found[0], f"{first}-8000-{len(ids) + 1:012d}")
    text = _UUID.sub(lambda found: ids[found[0]], text)
    for pattern, instead in _CHANCE:
        text = re.sub(pattern, instead, text)
    return text


def _with_made_up_growing_ids(text: str) -> str:
    """Ids that stand in the same order as before."""
    made_up: dict[str, str] = {}
    numbers: dict[str | None, int] = {}
    for found in sorted(_GROWING_ID.finditer(text), key=lambda found: found[0]):
        if found[0] not in made_up:
            number = numbers[found[1]] = numbers.get(found[1], 0) + 1
            made_up[found[0]] = (
                f"{found[1]}_{number:012d}AdaShop" if found[1] else str(BEGUN_MS + number)
            )
    return _GROWING_ID.sub(lambda found: made_up[found[0]], text)


if __name__ == "__main__":
    main()
