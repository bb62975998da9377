"""The public samples beside the project: every file is read as what it is,
and what comes of it is pinned down.

Their words are other people's and stay where they are. `tests/golden/corpus.jsonl`
holds, for each source, what was read in numbers, with a checksum of the
items; run with `--update-golden` to write it again.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec
import pytest
import xxhash

from recollect.capture import discover
from recollect.capture.adapters import BUILT_IN, find_adapters
from recollect.model.logs import Checkpoint, Event, Item, Problem, Source, TurnFacts, Usage

PINNED = Path(__file__).parents[1] / "golden" / "corpus.jsonl"

# Files that are no logs, and why. A file that is neither a log nor named here
# is one that we do not read and should.
NO_LOGS = {
    "README.md": "says where the samples are from",
    "claude-code/jazzyalex*/**/schema_drift.jsonl": "invented: its records have neither a parent "
    "nor a user type",
    "codex/*/.codex/history.jsonl": "the prompts that were typed, which the sessions have too",
    "cursor/S2thend*/**/fixtures/v01?/*.json": "what a reader of Cursor's stores gives, not what "
    "Cursor writes",
    "cursor/S2thend*/**/meta.json": "stands beside a database that is not among the samples",
    "cursor/S2thend*/**/transcripts/empty.jsonl": "empty, and outside the place that would tell "
    "whose it is",
    "cursor/S2thend*/**/transcripts/error-only.jsonl": "one line without a role, outside the place "
    "that would tell whose it is",
    "droid/**/stream_json_*.jsonl": "what a script gets from `droid exec`; Droid itself does not "
    "keep it",
    "gemini-cli/jazzyalex*/**/schema_drift.json": "invented: none of the fields that a chat has",
    "antigravity/**/small.md": "a plan for people, without a conversation",
    "kimi/jazzyalex*/**/*state.json": "stands beside a session that has another name among the "
    "samples",
    "opencode/**/migration": "the number of the last migration",
    "opencode/**/storage/project/*.json": "which folder a project is; its sessions say it too",
    "opencode/**/storage/session_diff/*.json": "differences that the tool calls have too",
    "openhands/**/llm_data/**": "what was sent to a model and what it answered, without a "
    "conversation",
}
# Why a sample may have a problem, by its path and a part of the reason that is given.
EXPLAINED = {
    ("claude-code/iansherr*/**/edge_cases.jsonl", "bad_record"): "made to be wrong",
    (
        "claude-code/iansherr*/**/edge_cases.jsonl",
        "unknown: record type missing",
    ): "made to be wrong",
    (
        "claude-code/moredip*/**/*.jsonl",
        "bad_line: not JSON",
    ): "comments between the lines, for people",
    (
        "claude-code/vdavid*/**/*.jsonl",
        "unknown: record type sparkle-thing",
    ): "invented, to try unknown types",
    (
        "claude-code/vdavid*/**/*.jsonl",
        "unknown: record type future-record-type",
    ): "invented, to try unknown types",
    (
        "codex/Kilo-Org*/**/codex.jsonl",
        "no event type",
    ): "made by hand, with an event that has none",
    (
        "codex/jazzyalex*/**/codex_05*.jsonl",
        "unknown: event type",
    ): "messages of the app server, which no rollout holds",
    (
        "codex/jazzyalex*/**/large.jsonl",
        "unknown: item type tool_",
    ): "invented: Codex has no such items",
    (
        "codex/jazzyalex*/**/small.jsonl",
        "a result without its call",
    ): "the call was cut out of the sample",
    (
        "codex/prateek*/**/sample_rollout_unknown*.jsonl",
        "unknown",
    ): "invented, to try unknown types",
    (
        "codex/steipete*/**/agent-session-rollout.jsonl",
        "a record without a payload",
    ): "made by hand, with a line that has none",
    (
        "cursor/jazzyalex*/**/test-store.db",
        "a message that is missing",
    ): "its root names a message that is not in it",
    (
        "cursor/jazzyalex*/**/schema_drift.jsonl",
        "unknown: a part of the type custom_block",
    ): "invented, to try unknown types",
    (
        "copilot-cli/jazzyalex*/**/*.jsonl",
        "a tool call that is not in the log",
    ): "the calls were cut out of the sample",
    ("pi/kenn-io*/**/session.jsonl", "bad_line: not JSON"): "made to be wrong",
    (
        "pi/kenn-io*/**/session.jsonl",
        "unknown: entry unknown_future_entry_type",
    ): "invented, to try unknown types",
}


def matches(path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern.replace("/**/", "/*"))


def found_in(corpus: Path) -> list[discover.Found]:
    """The logs of all agents, each folder asked about with
    every adapter: nobody takes another's.
    """
    adapters = find_adapters()
    return [
        found
        for agent in BUILT_IN
        if (corpus / agent).is_dir()
        for found in discover.below(adapters, str(corpus / agent))
    ]


def stated(item: Item) -> bytes:
    """What an item says: a field that says nothing does not count, so that a new one may come."""
    fields = msgspec.structs.asdict(item)
    kind = type(item).__name__
    return msgspec.json.encode([kind, {k: v for k, v in fields.items() if v is not None}])


def told(corpus: Path, found: discover.Found) -> dict[str, Any]:
    """What one source came to, without a word of it."""
    digest = xxhash.xxh3_64()
    counts: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    problems: list[str] = []
    sessions, turns = set(), set()
    for item in found.adapter.read(found.source, None):
        if isinstance(item, Checkpoint):
            continue
        digest.update(stated(item).replace(str(corpus).encode(), b"CORPUS"))
        if isinstance(item, Problem):
            problems.append(f"{item.kind}: {item.reason} ({item.count})")
            continue
        sessions.add(item.session)
        if isinstance(item, (TurnFacts, Event)):
            turns.add((item.session, item.turn))
        if isinstance(item, Event):
            counts[item.kind] += 1
        elif isinstance(item, Usage):
            tokens.update(input=item.input + item.cache_read + item.cache_write, output=item.output)
    path = os.path.relpath(found.source.path, corpus)
    return {
        "source": path,
        "agent": found.adapter.agent,
        "sessions": len(sessions),
        "turns": len(turns),
        "events": dict(sorted(counts.items())),
        "tokens": dict(tokens),
        "problems": problems,
        "items": digest.hexdigest(),
    }


def parts(source: Source) -> Iterator[str]:
    yield source.path
    yield from source.companions


def test_every_sample_gives_what_it_gave(corpus: Path, request: pytest.FixtureRequest) -> None:
    """A change in reading shows here on logs that real people and agents wrote."""
    lines = [msgspec.json.encode(told(corpus, found)).decode() for found in found_in(corpus)]
    if request.config.getoption("--update-golden"):
        PINNED.write_text("\n".join(lines) + "\n")

    pinned = PINNED.read_text().splitlines()
    assert lines == pinned


def test_every_file_is_a_log_of_its_agent_or_is_known_not_to_be_one(corpus: Path) -> None:
    found = found_in(corpus)
    strangers = [
        (one.adapter.agent, one.source.path)
        for one in found
        if os.path.relpath(one.source.path, corpus).split(os.sep)[0] != one.adapter.agent
    ]
    read = {part for one in found for part in parts(one.source)}

    unread = [
        str(path.relative_to(corpus))
        for agent in BUILT_IN
        for path in sorted((corpus / agent).rglob("*"))
        if path.is_file()
        and not any(str(place) in read for place in (path, *path.parents))
        and path.name not in NO_LOGS
        and not any(matches(str(path.relative_to(corpus)), pattern) for pattern in NO_LOGS)
    ]

    assert strangers == []
    assert unread == []


def test_every_problem_in_a_sample_is_explained(corpus: Path) -> None:
    unexplained = [
        (line["source"], problem)
        for line in map(msgspec.json.decode, PINNED.read_text().splitlines())
        for problem in line["problems"]
        if not any(
            matches(line["source"], pattern) and reason in problem for pattern, reason in EXPLAINED
        )
    ]

    assert unexplained == []
