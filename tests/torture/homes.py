"""A home with logs and a store, made again for each round as it was saved, in the same place."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from recollect.errors import RecollectError
from recollect.memory import Memory
from recollect.model.episodes import Context, Step
from recollect.model.sessions import SessionDetail
from tests.torture.disk import Fault
from tests.torture.victim import Ended, run

SAMPLES = ("-home-mara-code-fieldnotes", "-home-mara-code-infra")
# What of a session is said in words, by what it is about.
State = dict[str, bytes]


class TortureHome:
    """One home of a round, and those that were saved."""

    def __init__(self, base: Path) -> None:
        self.base, self.path = base, base / "home"
        self.folder = self.path / ".recollect"
        self.store = self.folder / "recollect.db"

    def save(self, name: str) -> None:
        shutil.copytree(self.path, self.base / "saved" / name)

    def restore(self, name: str) -> None:
        self.clear()
        shutil.copytree(self.base / "saved" / name, self.path, dirs_exist_ok=True)

    def clear(self) -> None:
        """Take away all that is in the home, which may be a disk of its own."""
        for path in self.path.iterdir() if self.path.is_dir() else ():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def has(self, name: str) -> bool:
        return (self.base / "saved" / name).is_dir()

    def run(
        self,
        *words: str,
        fault: Fault | None = None,
        kill_after: float | None = None,
        hours_ahead: float = 0,
    ) -> Ended:
        return run(
            self.path,
            words,
            fault=fault,
            kill_after=kill_after,
            hours_ahead=hours_ahead,
        )

    def do(self, *words: str, hours_ahead: float = 0) -> None:
        """Run what has to go well."""
        ended = self.run(*words, hours_ahead=hours_ahead)
        assert ended.code == 0, f"{words}: {ended.code} {ended.said}"

    def memory(self) -> Memory:
        environ = {"HOME": str(self.path), "RECOLLECT_HOME": str(self.folder)}
        return Memory.open(self.store, environ=environ)

    def unwell(self, *, but: tuple[str, ...] = ()) -> list[str]:
        """What doctor finds wrong with the store, except for what may be."""
        if not self.store.exists():
            return []
        try:
            with self.memory() as memory:
                health = memory.store.doctor(verify=True)
        except RecollectError as error:
            return [f"doctor: {error}"]
        return [
            f"doctor: {one.name}: {one.detail}"
            for one in health.findings
            if not one.ok and one.name not in but
        ]

    def state(self) -> State:
        return state_of(self.store)


def state_of(store: Path) -> State:
    """All that a store tells, without what depends on when it was made."""
    if not store.exists():
        return {}
    told: State = {}
    environ = {"HOME": str(store.parent), "RECOLLECT_HOME": str(store.parent)}
    with Memory.open(store, environ=environ) as memory:
        for session in memory.sessions(limit=None, subagents=True):
            detail = memory.show(session.id)
            assert isinstance(detail, SessionDetail)
            for turn in detail.turn_list:
                turn.evicted_at = turn.evicted_at and "once"
                told[f"turn {turn.ref}"] = msgspec.json.encode(turn)
            detail.turn_list = []
            told[f"session {session.id}"] = msgspec.json.encode(detail)
        digests = "select ref, digest from digests join sessions on sessions.id = session"
        for ref, digest in memory._shared.store().db.rows(digests):
            told[f"digest {ref}"] = digest
        for note in memory.notes.search(limit=None):
            told[f"note {note.text}"] = note.status.encode()
        for episode in memory.episodes.all():
            told[f"episode {episode.task}"] = str(episode.outcome).encode()
        for hit in memory.search("test", mode="text", limit=1000).hits:
            told[f"word {hit.ref}"] = b""
    return told


def make_homes(home: TortureHome) -> None:
    """Save the homes that rounds begin with, from logs that nobody read to a store with all."""
    _make_logs(home.path)
    home.save("new")
    logs = sorted(home.path.glob(".c*/**/*.jsonl"))
    whole = {path: path.read_bytes() for path in logs}
    for path, data in whole.items():
        lines = data.splitlines(keepends=True)
        path.write_bytes(b"".join(lines[: len(lines) // 2]))
    home.do("import")
    for path, data in whole.items():
        path.write_bytes(data)
    home.save("begun")
    home.do("import")
    home.save("imported")
    home.do("jobs", "run")
    home.do("memory", "add", "Run the tests with make test.", "--everywhere")
    with home.memory() as memory:
        episode = memory.episodes.start("mend the parser", Context())
        memory.episodes.log(episode, Step("read", "the grammar", observation="found the fault"))
        memory.episodes.complete(episode, "success")
        memory.episodes.flush()
    home.do("jobs", "run", hours_ahead=1)
    home.save("settled")


def _make_logs(path: Path) -> None:
    """The samples of two projects, and two threads of another agent."""
    with Memory.open(path / "none.db") as memory:
        samples = Path(memory.agents.sample_logs())
    for name in SAMPLES:
        shutil.copytree(samples / "claude" / "projects" / name, path / ".claude/projects" / name)
    for rollout in sorted(samples.glob("codex/**/rollout-*.jsonl"))[:2]:
        target = path / ".codex" / rollout.relative_to(samples / "codex")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(rollout, target)
    (path / ".recollect").mkdir(mode=0o700)
    # What takes seconds to load is not what is tested.
    (path / ".recollect" / "config.toml").write_text("[redact]\nenabled = false\n")
