"""The sample sessions: made by tools/make_samples.py, shipped with the
package, shown by `recollect demo`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.model.reports import ImportReport
from recollect.model.sessions import Session, ToolCall, Turn

ROOT = Path(__file__).parents[1]
GENERATOR = ROOT / "tools" / "make_samples.py"
SAMPLES = ROOT / "src" / "recollect" / "samples"
# The staging passwords of one session; none of them is anything's.
SECRETS = ("horse-battery", "pony-charger", "walrus-umbrella")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, ImportReport]]:
    """A store with the samples in it, which these tests only read."""
    folder = tmp_path_factory.mktemp("samples")
    with Memory.open(folder / "store.db", environ={"RECOLLECT_HOME": str(folder)}) as memory:
        yield memory, memory.import_logs([memory.agents.sample_logs()])


@pytest.fixture
def memory(imported: tuple[Memory, ImportReport]) -> Memory:
    return imported[0]


def sessions(memory: Memory) -> dict[str, Session]:
    return {session.title or "": session for session in memory.sessions(limit=None, subagents=True)}


def turns(memory: Memory) -> Iterator[Turn]:
    for session in memory.sessions(limit=None, subagents=True):
        for ordinal in range(1, session.turns + 1):
            turn = memory.show(f"{session.id}#{ordinal}")
            assert isinstance(turn, Turn)
            yield turn


def test_the_samples_are_read_without_a_problem(imported: tuple[Memory, ImportReport]) -> None:
    """They are the first logs that many people see us read."""
    memory, report = imported

    summary = memory.summary()

    assert [source.problems for source in memory.source_reports if source.problems] == []
    assert (report.discovered, report.imported, report.problems) == (25, 25, 0)
    # A sub-agent counts with the session that sent it.
    assert (report.sessions, report.turns, report.tool_calls) == (24, 162, 313)
    assert summary.agents == {"claude-code": 13, "codex": 11}


def test_every_session_is_in_its_project_whichever_agent_wrote_it(memory: Memory) -> None:
    """Claude Code logs no remote; that the folder is the same as Codex's must be enough."""
    projects = {project.key: (project.sessions, project.turns) for project in memory.projects.all()}

    assert projects == {
        "github.com/acme/webshop": (8, 55),
        "github.com/acme/tidepool": (6, 37),
        "github.com/acme/fieldnotes": (5, 35),
        "github.com/acme/infra": (5, 35),
    }


def test_every_session_has_a_title_a_time_a_model_and_a_cost(memory: Memory) -> None:
    """A demo with gaps looks broken."""
    for session in memory.sessions(limit=None, subagents=True):
        assert session.title
        assert session.git.branch
        assert "2026-09-01" < (session.started_at or "") < (session.ended_at or "") < "2026-11-16"
        assert session.model in ("claude-opus-4-5", "claude-sonnet-4-5", "gpt-5-codex")
        assert session.tokens.output > 0
        assert session.cost_usd


def test_sub_agents_and_forks_know_their_parents(memory: Memory) -> None:
    """A fork's copied turns are its parent's: they are not stored twice."""
    found = sessions(memory)

    explorer, searcher = (
        found["Find order queries by customer email"],
        found["Order search in the back office takes five seconds"],
    )
    fork, forked = (
        found["Try CSV output as well, for spreadsheets"],
        found["A --format flag and documented exit codes"],
    )

    assert (explorer.parent, explorer.origin, explorer.turns) == (searcher.id, "subagent", 1)
    assert (fork.parent, fork.origin, fork.turns) == (forked.id, "interactive", 4)
    assert [session.id for session in found.values() if session.parent] == [fork.id, explorer.id]


def test_what_can_happen_to_a_session_happens_once(memory: Memory) -> None:
    """An undone turn, a compaction, an interruption, a busy API: one of each to look at."""
    undone, kinds = [], Counter[str]()
    for turn in turns(memory):
        undone += [] if turn.live else [turn.prompt]
        kinds.update(event.kind for event in turn.events)

    assert undone == ["just apply it, small is fine for staging"]
    assert (kinds["compaction"], kinds["abort"], kinds["error"]) == (1, 1, 1)
    assert kinds["prompt"] == 162


def test_every_tool_call_has_an_outcome(memory: Memory) -> None:
    """Failures are what a memory is asked about most.

    Of a line that hides how its commands ended, its own exit is known.
    """
    calls = [
        event for turn in turns(memory) for event in turn.events if isinstance(event, ToolCall)
    ]

    failed = [call for call in calls if call.ok is False]

    assert len(calls) == 313
    assert all(call.output is not None for call in calls)
    assert all(call.ok is not None or call.exit_code is not None for call in calls)
    assert len(failed) == 40
    assert sum(bool(call.exit_code) for call in failed) == 39


def test_the_tokens_are_those_of_the_logs(memory: Memory) -> None:
    """A thread's last running total is what its calls add up to.

    A fork goes on from its parent's.
    """
    for session in memory.sessions("agent:codex", limit=None, subagents=True):
        totals = running_totals(session)
        begun_with = running_totals(session, copied=True)[-1:] or [(0, 0)]

        spent = session.tokens.input + session.tokens.cache_read, session.tokens.output

        assert spent == (totals[-1][0] - begun_with[0][0], totals[-1][1] - begun_with[0][1])


def running_totals(session: Session, *, copied: bool = False) -> list[tuple[int, int]]:
    """The totals in a rollout, of the whole file or only of what it copied from its parent."""
    found = []
    for line in Path(session.source or "").read_text("utf-8").splitlines():
        record = json.loads(line)
        # Copies all have the time at which the fork was made, to the second.
        if copied and (
            session.parent is None or record["timestamp"][:19] != (session.started_at or "")[:19]
        ):
            break
        if record["payload"].get("type") == "token_count":
            total = record["payload"]["info"]["total_token_usage"]
            found.append((total["input_tokens"], total["output_tokens"]))
    return found


def test_no_password_of_the_samples_gets_into_the_store(
    imported: tuple[Memory, ImportReport],
) -> None:
    """The logs hold some on purpose; that they are gone is what the demo shows."""
    memory, report = imported
    logs = "".join(path.read_text("utf-8") for path in SAMPLES.rglob("*.jsonl"))

    kept = json.dumps(
        [
            [event.text, getattr(event, "output", "")]
            for turn in turns(memory)
            for event in turn.events
        ]
    )

    assert report.redactions >= 2
    assert [secret in logs for secret in SECRETS] == [True, True, True]
    assert [secret in kept for secret in SECRETS] == [False, False, False]


def test_the_generator_makes_the_same_bytes_again(tmp_path: Path) -> None:
    """The logs are never edited by hand: whoever changes a script runs the generator."""
    subprocess.run(
        [sys.executable, str(GENERATOR), str(tmp_path / "again")], check=True, capture_output=True
    )

    made, shipped = (
        {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.json*")}
        for folder in (tmp_path / "again", SAMPLES)
    )

    assert made == shipped
    assert sum(map(len, shipped.values())) < 900_000
