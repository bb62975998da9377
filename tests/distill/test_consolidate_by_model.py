"""A project's memory by a model at a loopback service: good answers replace
what was there, and nothing else does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.distill.models import asking
from recollect.errors import EngineUnavailable
from recollect.jobs import JOBS, run_due
from recollect.memory import Memory
from recollect.model.reports import Consolidated
from tests.builders.talks import SHOP, Said, Talks
from tests.llm import service as behaviour
from tests.llm.service import Service, running

BLOG = "/home/ada/blog"
KEY = "sk-a-key-that-is-nobodys"
PROMPT = "You keep the memory of one project"
TRACE = json.dumps({"traceMemory": "We mended the cart.", "summary": "mended"})


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as service:
        yield service


@pytest.fixture
def talks(tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Talks]:
    """Two sessions of one project that a model has told of, and that it is to make a memory of."""
    home = tmp_path / "recollect"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(
        f'[llm]\nurl = "{service.url}"\nmodel = "m"\nkey_variable = "SOME_KEY"\ninput_usd = '
        "1.0\noutput_usd = 1.0\n"
        '[distill]\nengine = "llm"\n'
    )
    monkeypatch.setenv("RECOLLECT_HOME", str(home))
    monkeypatch.setenv("SOME_KEY", KEY)
    monkeypatch.setattr("recollect.llm.client.ChatModel.backoff_seconds", 0.01)
    made = Talks(tmp_path)
    made.tell(
        "a",
        "always use zebratabs in this project",
        Said("mend the cart", command="pytest -q", output="1 passed"),
    )
    made.tell("b", Said("mend the invoice", command="pytest -q", output="2 passed"), day=1)
    service.usual = telling(both)
    yield made
    made.close()


def says(text: str, *turns: str) -> dict[str, Any]:
    return {"text": text, "turns": list(turns)}


def memory(
    sections: dict[str, list[dict[str, Any]]], skills: list[dict[str, Any]] | None = None
) -> str:
    told = [
        {"heading": heading, "statements": statements} for heading, statements in sections.items()
    ]
    return json.dumps({"sections": told, "skills": skills or []})


both = memory(
    {
        "User preferences": [says("Tabs are wanted: zebratabs", "codex:a#1")],
        "Commands that work here": [
            says("`pytest -q` runs the tests", "codex:b#1"),
            says("they agree", "codex:a#2", "codex:b#1"),
        ],
    },
    [
        {
            "name": "mend-carts",
            "description": "Mends zebracarts. Use for carts.",
            "statements": [says("run it", "codex:a#2", "codex:b#1")],
        }
    ],
)


def telling(text: str) -> behaviour.Behaviour:
    """Answers questions about sessions, and about projects with this."""

    def answer(handler: behaviour.Handler) -> None:
        taken = {"prompt_tokens": 90, "completion_tokens": 10}
        behaviour.saying(text if is_about_project(handler) else TRACE, usage=taken)(handler)

    return answer


def is_about_project(handler: behaviour.Handler) -> bool:
    return PROMPT in handler.question["messages"][0]["content"]


def about_projects(service: Service) -> list[str]:
    """What the service was asked about projects."""
    asked = [
        [message["content"] for message in question["messages"]] for question in service.questions
    ]
    return [record for instructions, record in asked if PROMPT in instructions]


def file(talks: Talks, name: str = "MEMORY.md", project: str = SHOP) -> str:
    return (Path(talks.memory.old.memory_folder(project)) / name).read_text()


def versions(talks: Talks) -> list[tuple[Any, ...]]:
    return talks.store.db.rows(
        "select name, engine, gone_at is null, sessions from publications order by id"
    )


def queue(talks: Talks) -> list[tuple[str, str, str, int]]:
    return [
        (job.kind, job.subject, job.state, job.tries)
        for job in talks.memory.jobs.all()
        if job.kind == "memory"
    ]


def tell_more(talks: Talks) -> None:
    """A third session, so that the project's memory is due again."""
    talks.tell("c", Said("mend the mails", command="pytest -q", output="3 passed"), day=2)


def test_a_good_answer_becomes_the_memory_of_the_project(talks: Talks, service: Service) -> None:
    """A file, a skill, a version with the sessions behind it, what it took; asked once."""
    first, second = talks.memory.old.distill(), talks.memory.old.distill()

    assert "- `pytest -q` runs the tests [codex:b#1]\n" in file(talks)
    assert "- run it [codex:a#2, codex:b#1]\n" in file(talks, "skills/mend-carts/SKILL.md")
    assert versions(talks)[-2:] == [
        ("MEMORY.md", "llm", 1, '["codex:a","codex:b"]'),
        ("skills/mend-carts/SKILL.md", "llm", 1, '["codex:a","codex:b"]'),
    ]
    assert (first.distilled, first.projects, first.consolidated, first.tokens) == (2, 1, 1, 300)
    assert first.cost_usd == pytest.approx(0.0003)
    assert (second.candidates, second.projects, second.tokens, second.cost_usd) == (0, 0, 0, 0.0)
    assert len(about_projects(service)) == 1
    assert "We mended the cart." in about_projects(service)[0]
    assert "tools" not in service.questions[-1]


def test_projects_are_asked_about_one_by_one_with_nothing_of_each_other(
    talks: Talks, service: Service
) -> None:
    """What was said in one is nobody's business in another, not even a model's."""
    talks.tell("z", "write a post", project=BLOG)

    talks.memory.old.distill()

    shop, blog = sorted(about_projects(service), key=lambda record: "codex:z" in record)
    assert "codex:z" not in shop
    assert "codex:a" not in blog
    # The answer cites turns of the shop, so nothing of it is kept for the blog.
    assert "zebratabs" not in file(talks, project=BLOG)
    assert queue(talks) == [("memory", BLOG, "waiting", 1)]


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        (behaviour.saying("I will not."), "is not one JSON object"),
        (
            behaviour.saying(memory({"Facts": [says("planted", "codex:elsewhere#1")]})),
            "rests on turns of this project",
        ),
        (
            behaviour.saying(
                memory(
                    {},
                    [{"name": "../x", "description": "d", "statements": [says("s", "codex:a#1")]}],
                )
            ),
            "the name",
        ),
        (behaviour.saying(None, refusal="no"), "refused to answer"),
        (behaviour.saying(both[:100], finish="length"), "was cut off"),
        (behaviour.giving(b"x" * 4_100_000), "more than"),
        (behaviour.hanging_up, "hung up"),
        (behaviour.refusing(429, Retry_After="3600"), "answered 429"),
        (behaviour.refusing(503), "answered 503"),
    ],
    ids=[
        "prose",
        "foreign turns",
        "a path",
        "refusal",
        "cut",
        "huge",
        "cut connection",
        "429",
        "503",
    ],
)
def test_a_bad_answer_leaves_what_was_there(
    talks: Talks, service: Service, way: behaviour.Behaviour, reason: str
) -> None:
    """And is a failed try that can be looked up; the queue tries it again, and in the end stops."""
    talks.memory.old.distill()
    before, published = file(talks), versions(talks)
    tell_more(talks)

    def answer(handler: behaviour.Handler) -> None:
        (way if is_about_project(handler) else behaviour.saying(TRACE))(handler)

    service.usual = answer
    done = talks.memory.old.distill()
    again = talks.memory.old.distill()
    for _ in range(2):
        talks.store.db.execute("update jobs set not_before = 0 where kind = 'memory'")
        talks.memory.jobs.work()
    asked = len(about_projects(service))
    talks.memory.old.distill()

    assert (done.distilled, done.projects, done.consolidated, done.locked) == (1, 1, 0, 0)
    assert (again.projects, again.consolidated) == (1, 0)
    assert (file(talks), versions(talks)) == (before, published)
    assert queue(talks) == [("memory", SHOP, "failed", 3)]
    (error,) = [str(job.error) for job in talks.memory.jobs.all() if job.kind == "memory"]
    assert reason in error
    assert len(about_projects(service)) == asked
    service.usual = telling(both)
    assert talks.memory.old.consolidate(SHOP, now=True) == Consolidated(
        projects=1, consolidated=1, tokens=100, cost_usd=0.0001
    )
    assert queue(talks) == []


def test_a_job_that_works_the_second_time_is_done(talks: Talks, service: Service) -> None:
    """The model only slipped."""
    service.usual = telling("no")
    talks.memory.old.distill()
    by_rules = file(talks)
    service.usual = telling(both)
    talks.store.db.execute("update jobs set not_before = 0 where kind = 'memory'")

    talks.memory.jobs.work()

    assert "passed in 2 sessions" in by_rules
    assert "zebratabs" in file(talks)
    assert queue(talks) == []


def test_what_meets_every_project_is_said_once_and_costs_nobody_a_try(
    talks: Talks, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    """A wrong key; and the key is nowhere, though the service repeats it."""
    tell_more(talks)
    talks.tell("z", "write a post", project=BLOG)
    service.script = [behaviour.saying(TRACE)] * 4
    service.usual = behaviour.refusing(400, f"no such key: {KEY}".encode())

    with pytest.raises(EngineUnavailable) as caught:
        talks.memory.old.distill()

    assert len(service.questions) == 5
    assert queue(talks) == []
    service.usual = behaviour.refusing(500, f"no such key: {KEY}".encode())
    talks.memory.old.distill()
    assert [state for _, _, state, _ in queue(talks)] == ["waiting", "waiting"]
    stored = b"".join(
        path.read_bytes() for path in Path(talks.filled.path).parent.rglob("*") if path.is_file()
    )
    for place in (
        str(caught.value),
        caplog.text,
        repr(talks.memory.jobs.all()),
        stored.decode("latin-1"),
    ):
        assert KEY not in place


def test_a_section_that_the_model_leaves_stays_to_the_letter(
    talks: Talks, service: Service
) -> None:
    """It names the heading and says nothing more; it was shown what is there."""
    talks.memory.old.distill()
    before = file(talks)
    tell_more(talks)
    new = {
        "User preferences": list[dict[str, Any]](),
        "Follow-ups": [says("Mails are open", "codex:c#1")],
    }
    service.usual = telling(
        memory(new, [{"name": "mend-carts", "description": "", "statements": []}])
    )

    talks.memory.old.distill()

    kept = before.partition("\n## Commands")[0]
    assert file(talks) == f"{kept}\n## Follow-ups\n\n- Mails are open [codex:c#1]\n"
    assert "\n\t- Tabs are wanted: zebratabs [codex:a#1]\n" in about_projects(service)[-1]
    assert [row for row in versions(talks) if row[2]] == [
        ("skills/mend-carts/SKILL.md", "llm", 1, '["codex:a","codex:b"]'),
        ("MEMORY.md", "llm", 1, '["codex:a","codex:c"]'),
    ]


def test_when_a_session_is_forgotten_what_cites_it_goes_without_asking(
    talks: Talks, service: Service
) -> None:
    """Not a byte of it stays in any version, and what others said stays.

    The model makes it whole again later.
    """
    talks.memory.old.distill()
    tell_more(talks)
    talks.memory.old.distill()
    asked = len(service.questions)
    places = [Path(talks.filled.path).parent]

    def left() -> list[str]:
        every = [path for place in places for path in place.rglob("*") if path.is_file()]
        return [path.name for path in every if b"zebra" in path.read_bytes()]

    assert left()

    talks.memory.store.forget("codex:a")

    assert left() == []
    assert file(talks).endswith(
        "\n## Commands that work here\n\n- `pytest -q` runs the tests [codex:b#1]\n"
    )
    assert not (Path(talks.memory.old.memory_folder(SHOP)) / "skills").exists()
    assert versions(talks) == [("MEMORY.md", "llm", 1, '["codex:b"]')]
    assert len(service.questions) == asked
    service.usual = telling(memory({"Facts": [says("made anew", "codex:c#1")]}))
    talks.memory.jobs.work()
    assert file(talks).endswith("- made anew [codex:c#1]\n")


def test_when_nothing_is_left_of_it_the_rules_fill_the_gap(talks: Talks, service: Service) -> None:
    """Until the model has been asked again, which forgetting does not wait for."""
    service.usual = telling(memory({"Facts": [says("zebrafact", "codex:a#1")]}))
    talks.memory.old.distill()

    talks.memory.store.forget("codex:a")

    assert "- `pytest -q` is a check: passed in 1 session [codex:b#1]" in file(talks)
    assert [row[:3] for row in versions(talks)] == [("MEMORY.md", "rules", 1)]


def test_a_rejected_note_goes_without_asking(talks: Talks, service: Service) -> None:
    """Also while the service is down."""
    talks.memory.old.distill()
    note = talks.memory.old.remember("Tabs are wanted", project=SHOP)
    talks.memory.old.reject_note(note.ref)
    service.usual = behaviour.refusing(503)

    talks.memory.old.consolidate()

    assert "zebratabs" not in file(talks)
    assert "`pytest -q` runs the tests" in file(talks)


def test_the_rules_take_over_when_the_model_is_turned_off(talks: Talks) -> None:
    """Not as long as nothing has changed; what the model wrote can still be looked up."""
    talks.memory.old.distill()

    assert talks.memory.old.distill(engine="rules").projects == 0
    tell_more(talks)
    talks.memory.old.distill(engine="rules")

    assert "Tabs are wanted" not in file(talks)
    assert ("MEMORY.md", "llm", 0, '["codex:a","codex:b"]') in versions(talks)


def test_what_the_rules_made_the_model_makes_better(talks: Talks, service: Service) -> None:
    """Whoever turns one on wants it for the projects that are there."""
    talks.memory.old.distill()
    talks.memory.store.forget("codex:b")
    talks.memory.old.consolidate(engine="rules")
    service.usual = telling(memory({"Facts": [says("better", "codex:a#1")]}))

    done = talks.memory.old.consolidate()

    assert (done.projects, done.consolidated) == (1, 1)
    assert file(talks).endswith("- better [codex:a#1]\n")
    assert talks.memory.old.consolidate() == Consolidated()


def test_eight_projects_are_asked_about_in_a_run(talks: Talks, service: Service) -> None:
    """Unless somebody wants all of them."""
    for number in range(9):
        talks.tell(f"p{number}", "go on", project=f"/home/ada/p{number}")
    service.usual = telling("no")

    talks.memory.old.distill(limit=20)
    first = len(about_projects(service))
    talks.memory.old.distill(everything=True)

    assert (first, len(about_projects(service))) == (8, 10)


# Several at once, and killed ------------------------------------------------------


def test_of_two_at_once_one_asks(
    talks: Talks, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each would pay; the lease is renewed for as long as the answer takes."""
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", 0.02)
    talks.memory.old.distill(engine="rules")
    held: list[int] = []
    others: list[Consolidated] = []

    def slow(handler: behaviour.Handler) -> None:
        with Memory.open(talks.filled.path) as other:
            for _ in range(2):
                held.append(talks_lease(other))
                others.append(other.old.consolidate())
                time.sleep(0.2)
        telling(both)(handler)

    service.usual = slow
    done = talks.memory.old.consolidate()

    assert (done.projects, done.consolidated, done.locked) == (1, 1, 0)
    assert [(one.projects, one.locked, one.tokens) for one in others] == [(1, 1, 0)] * 2
    assert held[0] < held[1]
    assert len(about_projects(service)) == 1


def talks_lease(memory: Memory) -> int:
    return int(
        memory._shared.store().db.value(
            "select held_until from leases where name like 'consolidate:%'"
        )
    )


def test_a_late_holder_cannot_write(
    talks: Talks, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It slept through its lease; the one who took over has written what counts."""
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", 30)
    talks.memory.old.distill(engine="rules")

    def overtaken(handler: behaviour.Handler) -> None:
        service.script = []
        with Memory.open(talks.filled.path) as other:
            other._shared.store().db.execute("update leases set held_until = 1")
            other.old.consolidate()
        behaviour.saying(memory({"Facts": [says("too late", "codex:a#1")]}))(handler)

    service.script = [overtaken]
    done = talks.memory.old.consolidate()

    assert (done.consolidated, done.locked) == (0, 1)
    assert "zebratabs" in file(talks)
    assert "too late" not in repr(talks.store.db.rows("select text from publications"))


def test_what_is_forgotten_while_the_model_writes_is_not_written(
    talks: Talks, service: Service
) -> None:
    """The model has read it already; forgetting takes the pen out of its hand."""

    def forgetting(handler: behaviour.Handler) -> None:
        if is_about_project(handler):
            service.usual = behaviour.refusing(503)
            with Memory.open(talks.filled.path) as other:
                other.store.forget("codex:a")
            behaviour.saying(both)(handler)
        else:
            behaviour.saying(TRACE)(handler)

    service.usual = forgetting
    done = talks.memory.old.distill()

    assert (done.consolidated, done.locked) == (0, 1)
    assert "zebra" not in file(talks)
    assert "zebra" not in repr(talks.store.db.rows("select text from publications"))


DISTILLS = (
    "import sys; from recollect.memory import Memory\n"
    "with Memory.open(sys.argv[1]) as memory: memory.old.distill()"
)


@pytest.mark.store
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("about", ["a session", "a project"])
def test_killed_while_the_model_writes_the_next_one_goes_on(
    talks: Talks, service: Service, about: str
) -> None:
    """After ten minutes; until then nobody pays a second time.

    In the end it is what it would have been.
    """
    arrived = threading.Event()

    def stall(handler: behaviour.Handler) -> None:
        if is_about_project(handler) == (about == "a project"):
            arrived.set()
            time.sleep(3)
        telling(both)(handler)

    service.usual = stall
    process = subprocess.Popen(
        [sys.executable, "-c", DISTILLS, str(talks.filled.path)], env=os.environ
    )
    assert arrived.wait(30)
    process.send_signal(signal.SIGKILL)
    process.wait()
    service.usual = telling(both)

    early = talks.memory.old.distill()
    talks.store.db.execute("update leases set held_until = 1")
    late = talks.memory.old.distill()

    assert early.distilled + early.consolidated == 0
    assert late.consolidated == 1
    assert "zebratabs" in file(talks)
    assert talks.memory.old.distill().projects == 0


def test_a_long_answer_keeps_its_job(
    talks: Talks, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that nothing is heard of for a minute is given to another
    worker, who would ask a second time.
    """
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", 0.02)
    short = tuple(job._replace(lease_seconds=0.3) for job in JOBS)
    monkeypatch.setitem(run_due.__kwdefaults__, "table", short)
    service.usual = telling("no")
    talks.memory.old.distill()
    talks.store.db.execute("update jobs set not_before = 0 where kind = 'memory'")
    held = "select lease_until > unixepoch('subsec') * 1000 from jobs where kind = 'memory'"
    others = []

    def slow(handler: behaviour.Handler) -> None:
        time.sleep(0.6)
        with Memory.open(talks.filled.path) as other:
            others.append(other._shared.store().db.value(held))
        telling(both)(handler)

    service.usual = slow
    talks.memory.jobs.work()

    assert others == [1]
    assert queue(talks) == []


def test_a_salvaged_store_keeps_what_a_model_wrote(talks: Talks, service: Service) -> None:
    """It was paid for, and no log has it; it is not written again either."""
    talks.memory.old.distill()
    before, rows = file(talks), versions(talks)
    asked = len(service.questions)
    talks.close()
    path = talks.filled.path
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    with Memory.open(path) as opened:
        root = opened._shared.store().db.value(
            "select rootpage from sqlite_schema where name = 'jobs_due'"
        )
    data[(root - 1) * size : root * size] = bytes(size)
    path.write_bytes(data)

    with Memory.open(path) as opened:
        assert not opened.store.repair().sound
        opened.jobs.work()

        assert (Path(opened.old.memory_folder(SHOP)) / "MEMORY.md").read_text() == before
        assert (
            opened._shared.store().db.rows(
                "select name, engine, gone_at is null, sessions from publications order by id"
            )
            == rows
        )
    assert len(service.questions) == asked
