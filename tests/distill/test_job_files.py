"""Sessions for the user's own agent: files that say everything, and answers
that are believed only when they are good.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.distill.memories.distilling import work_on
from recollect.distill.models.job_files import Header, commit_jobs, write_jobs
from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.digests import Trace
from recollect.model.reports import JobFile
from recollect.redact import Redactor
from recollect.settings import Settings
from tests.builders import codex, homes

OTHER = "0199a213-81c0-7800-8aa1-00000000beef"
ONE, TWO = f"codex:{codex.THREAD}", f"codex:{OTHER}"
MEMORY = """# summary
watered

Trace context: trees
User preferences: none observed

## Task: water the trees
Outcome: success"""


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor(b"a key of this test")


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    """Two sessions that are stored and have their digests."""
    homes.codex_log(home, homes.codex_talk())
    homes.codex_log(home, homes.codex_talk(OTHER, "prune the trees"), OTHER)
    with homes.memory(home) as memory:
        memory.import_logs()
        list(memory.digest_new())
        yield memory


def name_of(session: str) -> str:
    return Header("trace", session, "").name


class Desk:
    """A folder of jobs, and whoever works on them."""

    def __init__(self, memory: Memory, redactor: Redactor, folder: Path) -> None:
        self.store, self.redactor, self.folder = memory._shared.store(), redactor, folder

    def write(self, *sessions: str) -> list[JobFile]:
        found = [self.store.old.find_candidate(session) for session in sessions]
        work = work_on(self.store, [candidate for candidate in found if candidate])
        return write_jobs(str(self.folder), work, self.redactor, Settings("/h", "/h/s.db", {}))

    def commit(self) -> dict[str, tuple[str, str]]:
        return {
            job.subject: (job.outcome, job.reason)
            for job in commit_jobs(str(self.folder), self.store, self.redactor)
        }

    def job(self, session: str) -> Path:
        return self.folder / f"{name_of(session)}.md"

    def answer(self, session: str, memory: str = MEMORY, summary: str = "watered") -> Path:
        path = self.folder / f"{name_of(session)}.answer.json"
        path.write_text(json.dumps({"traceMemory": memory, "summary": summary}), encoding="utf-8")
        return path


@pytest.fixture
def desk(memory: Memory, redactor: Redactor, tmp_path: Path) -> Desk:
    return Desk(memory, redactor, tmp_path / "jobs")


def test_a_job_says_all_that_is_needed(desk: Desk) -> None:
    """Any agent can do it, without us and without the store."""
    (job,) = desk.write(ONE)

    text = Path(job.path).read_text(encoding="utf-8")
    assert (job.subject, job.outcome, job.path) == (ONE, "written", str(desk.job(ONE)))
    assert text.startswith(f"kind: trace\nsubject: {ONE}\nstate: ")
    assert f"answer: {name_of(ONE)}.answer.json\n" in text
    assert '"required"' in text
    assert "never an\ninstruction" in text
    assert "#1 user\n\twater the trees" in text
    assert oct(os.stat(job.path).st_mode & 0o777) == "0o600"


def test_an_answer_becomes_the_memory_of_its_session(desk: Desk) -> None:
    """In the same shape as everybody else's; doing it again changes nothing."""
    desk.write(ONE, TWO)
    desk.answer(ONE)
    desk.store.jobs.leave("trace", ONE, "a model said nothing")
    desk.store.jobs.leave("trace", TWO, "a model said nothing")

    first, second = desk.commit(), desk.commit()

    assert first == {ONE: ("kept", ""), TWO: ("waiting", "")}
    assert second == {ONE: ("unchanged", ""), TWO: ("waiting", "")}
    assert [job.subject for job in desk.store.jobs.all() if job.kind == "trace"] == [TWO]
    assert desk.store.old.find_trace(ONE) == Trace(
        session=ONE,
        project=desk.store.old.find_trace(ONE).project,
        memory=MEMORY,
        summary="watered",
        engine="agent",  # type: ignore[union-attr]
    )


def test_a_bad_answer_is_refused_with_its_reason_and_the_others_are_kept(desk: Desk) -> None:
    """An agent may misread the job; that is its session's loss alone."""
    desk.write(ONE, TWO)
    desk.answer(ONE, summary="")
    desk.answer(TWO)

    assert desk.commit() == {
        ONE: ("refused", "summary is empty and the other is not"),
        TWO: ("kept", ""),
    }
    assert desk.store.old.find_trace(ONE) is None


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe\x00", b"not json", b'{"traceMemory": "a"}', b"x" * 4_000_001]
)
def test_what_is_no_answer_is_refused(desk: Desk, body: bytes) -> None:
    """Whatever lies there."""
    desk.write(ONE)
    desk.answer(ONE).write_bytes(body)

    assert desk.commit()[ONE][0] == "refused"
    assert desk.store.old.find_trace(ONE) is None


def test_an_answer_that_is_a_link_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    """It would bring a file of the machine into the store."""
    private = tmp_path / "private.json"
    private.write_text(json.dumps({"traceMemory": MEMORY, "summary": "s"}))
    desk.write(ONE)
    (desk.folder / f"{name_of(ONE)}.answer.json").symlink_to(private)

    assert desk.commit()[ONE][0] == "refused"


def test_an_answer_to_an_earlier_state_is_refused(desk: Desk, memory: Memory, home: Path) -> None:
    """The session went on meanwhile, so that its end is not in it."""
    desk.write(ONE)
    desk.answer(ONE)
    homes.codex_log(
        home, [*homes.codex_talk(), codex.user("and the flowers"), codex.assistant("Done too.")]
    )
    memory.import_logs()
    list(memory.digest_new())

    late = desk.commit()
    written = desk.write(ONE)

    assert late == {
        ONE: ("refused", "what it is about has changed since, or is gone: write the jobs again")
    }
    assert [job.outcome for job in written] == ["written"]
    assert desk.commit() == {ONE: ("waiting", "")}


def test_a_job_that_is_there_keeps_its_answer(desk: Desk) -> None:
    """Writing the jobs again while an agent works on them takes nothing away from it."""
    desk.write(ONE)
    path = desk.answer(ONE)

    assert [job.outcome for job in desk.write(ONE)] == ["unchanged"]
    assert path.exists()


def test_a_session_with_secrets_in_it_gets_no_job(desk: Desk, home: Path, memory: Memory) -> None:
    """It would lie in a file that agents read."""
    secret = "ghp_" + "R4nd0mL00k1ngT0k3nV4lu3" + "0123456789abc"
    homes.codex_log(home, homes.codex_talk(words=f"use {secret}"))
    memory.import_logs()
    list(memory.digest_new())

    (job,) = desk.write(ONE)

    assert (job.outcome, "still holds secrets" in job.reason) == ("refused", True)
    assert list(desk.folder.iterdir()) == []


def test_other_files_and_forged_headers_are_left_alone(desk: Desk) -> None:
    """A header that names another session than its file would put an answer under the wrong one."""
    desk.write(ONE)
    text = desk.job(ONE).read_text(encoding="utf-8")
    desk.answer(ONE)
    desk.job(ONE).write_text(text.replace(ONE, TWO, 1), encoding="utf-8")
    (desk.folder / "README.md").write_text("mine")
    (desk.folder / "notes.md").mkdir()

    assert desk.commit() == {}
    assert desk.store.old.find_trace(TWO) is None


def test_a_folder_that_is_not_there_is_named(desk: Desk) -> None:
    """A slip in the path should not look like nothing to do."""
    with pytest.raises(UsageError, match="is not a folder"):
        desk.commit()


def test_names_are_safe_and_stay_apart() -> None:
    """Two sessions never share a file, on no file system."""
    names = {
        name_of(session)
        for session in ("a:b/c", "a:b-c", "a:B-c", "a:../../etc/passwd", "a:" + "x" * 500)
    }

    assert len({name.lower() for name in names}) == 5
    assert all("/" not in name and len(name) < 120 and not name.startswith(".") for name in names)


# The memory of a project ----------------------------------------------------------


@pytest.fixture
def summed_up(memory: Memory, tmp_path: Path) -> Memory:
    """Both sessions have their memories from an agent."""
    memory.old.write_jobs(str(tmp_path / "first"), now=True)
    for session in (ONE, TWO):
        path = tmp_path / "first" / f"{name_of(session)}.answer.json"
        path.write_text(json.dumps({"traceMemory": MEMORY, "summary": "watered"}))
    memory.old.commit_jobs(str(tmp_path / "first"))
    return memory


def told(text: str, *turns: str) -> str:
    section = {"heading": "Facts", "statements": [{"text": text, "turns": list(turns)}]}
    return json.dumps({"sections": [section], "skills": []})


def test_the_sessions_come_first_and_then_their_project(
    memory: Memory, summed_up: Memory, tmp_path: Path
) -> None:
    """What is kept of a session changes what its project is made of."""
    with homes.memory(Path(memory.settings.home).parent, name="other.db") as fresh:
        fresh.import_logs()
        sessions = [job.kind for job in fresh.old.write_jobs(str(tmp_path / "fresh"), now=True)]

    (job,) = summed_up.old.write_jobs(str(tmp_path / "jobs"), now=True)

    assert sessions == ["trace", "trace"]
    assert (job.kind, job.outcome) == ("memory", "written")
    text = Path(job.path).read_text()
    assert f"session {ONE}" in text
    assert "## Task: water the trees" in text
    assert '"sections"' in text
    assert "You keep the memory of one project" in text


def test_an_agent_writes_the_memory_of_a_project(summed_up: Memory, tmp_path: Path) -> None:
    """Checked like a model's, published as the agent's.

    Again is a no-op, and an import by rules leaves it alone.
    """
    folder = tmp_path / "jobs"
    (job,) = summed_up.old.write_jobs(str(folder), now=True)
    answer = Path(job.path.removesuffix(".md") + ".answer.json")
    outcomes = []
    for text in (
        told("Trees are thirsty", "codex:elsewhere#1"),
        told("Trees are thirsty", f"{ONE}#1"),
    ):
        answer.write_text(text)
        outcomes += [(one.outcome, one.reason) for one in summed_up.old.commit_jobs(str(folder))]
    outcomes += [(one.outcome, one.reason) for one in summed_up.old.commit_jobs(str(folder))]
    summed_up.old.distill(now=True)

    assert outcomes == [
        ("refused", "nothing in the answer rests on turns of this project"), ("kept", ""),
        ("unchanged", ""),
    ]  # fmt: skip
    page = Path(summed_up.old.memory_folder(job.subject)) / "MEMORY.md"
    assert page.read_text().endswith(f"\n## Facts\n\n- Trees are thirsty [{ONE}#1]\n")
    store = summed_up._shared.store()
    assert store.db.rows("select engine, sessions from publications where gone_at is null") == [
        ("agent", f'["{ONE}"]')
    ]
    assert summed_up.old.write_jobs(str(folder), now=True) == []


def test_an_answer_about_a_project_that_has_changed_is_refused(
    summed_up: Memory, tmp_path: Path
) -> None:
    """It tells of sessions that are not so any more."""
    folder = tmp_path / "jobs"
    (job,) = summed_up.old.write_jobs(str(folder), now=True)
    Path(job.path.removesuffix(".md") + ".answer.json").write_text(
        told("Trees are thirsty", f"{ONE}#1")
    )
    summed_up.store.forget(ONE)

    (late,) = summed_up.old.commit_jobs(str(folder))

    assert (late.outcome, late.reason) == (
        "refused",
        "what it is about has changed since, or is gone: write the jobs again",
    )
    assert "thirsty" not in repr(summed_up._shared.store().db.rows("select text from publications"))


def test_with_the_engine_agent_nothing_is_distilled_behind_its_back(
    home: Path, tmp_path: Path
) -> None:
    """An import leaves sessions to the agent, and its memory of a project
    stays until it writes another one.
    """
    homes.codex_log(home, homes.codex_talk())
    with homes.memory(home, distill__engine="agent") as memory:
        memory.import_logs()
        memory.jobs.work()
        untouched = memory._shared.store().db.value("select count(*) from traces")
        for _ in range(2):
            for job in memory.old.write_jobs(str(tmp_path / "jobs"), now=True):
                answer = json.dumps({"traceMemory": MEMORY, "summary": "watered"})
                text = answer if job.kind == "trace" else told("Trees are thirsty", f"{ONE}#1")
                Path(job.path.removesuffix(".md") + ".answer.json").write_text(text)
            memory.old.commit_jobs(str(tmp_path / "jobs"))
        homes.codex_log(home, homes.codex_talk(OTHER, "prune the trees"), OTHER)
        memory.import_logs()
        memory.jobs.work()
        (project,) = [key for _, key in memory._shared.store().old.memory_projects()]
        page = (Path(memory.old.memory_folder(project)) / "MEMORY.md").read_text()
        with pytest.raises(UsageError):
            memory.old.distill()

    assert untouched == 0
    assert "Trees are thirsty" in page
