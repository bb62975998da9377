"""Which sessions are distilled, when, and by whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.distill.memories import distilling
from recollect.distill.memories.distilling import ByModel
from recollect.distill.models.memory import Material
from recollect.distill.models.traces import (
    GaveUp,
    Kept,
    NothingWorthKeeping,
    TryLater,
    Verdict,
    Work,
)
from recollect.errors import BadReply, EngineUnavailable, NotFound, SpendingLimit, UsageError
from recollect.jobs import JOBS, run_due
from recollect.model.digests import Trace
from recollect.model.reports import Distilled
from recollect.store.traces import Candidate, Published
from tests.builders.talks import SHOP, Said, Talks
from tests.store.conftest import START

HOUR = 3_600_000


@pytest.fixture
def talks(tmp_path: Path) -> Iterator[Talks]:
    made = Talks(tmp_path)
    yield made
    made.close()


def checked(prompt: str = "mend the cart") -> Said:
    return Said(prompt, command="pytest -q", output="1 passed")


def report(**counts: Any) -> Distilled:
    return Distilled(**{"considered": 1, **counts})


def traced(talks: Talks) -> list[str]:
    return [
        ref
        for (ref,) in talks.store.db.rows(
            "select ref from traces join sessions on sessions.id = session order by 1"
        )
    ]


def test_a_quiet_session_is_distilled_once(talks: Talks) -> None:
    """The second run has nothing to do, and does nothing."""
    talks.tell("a", checked())

    first, second = talks.memory.old.distill(), talks.memory.old.distill()

    assert first == report(candidates=1, distilled=1, projects=1, consolidated=1)
    assert second == report()
    assert "## Task: mend the cart" in talks.memory.old.trace("codex:a").memory


def test_a_session_that_grew_is_distilled_again(talks: Talks) -> None:
    """What was remembered of its first half would be wrong."""
    talks.tell("a", checked())
    talks.memory.old.distill()
    talks.tell("a", checked(), "and the invoice")

    assert talks.memory.old.distill() == report(
        candidates=1, distilled=1, projects=1, consolidated=1
    )
    assert "Pointers: codex:a#1 to #2" in talks.memory.old.trace("codex:a").memory


def test_a_session_that_may_still_run_waits(talks: Talks, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be distilled again and again while somebody works; a job comes back for it."""
    talks.tell("a", checked())
    monkeypatch.setattr(distilling, "now_ms", lambda: START + 5 * HOUR)
    monkeypatch.setattr("recollect.store.sqlite.old.sql.traces.now_ms", lambda: START + 5 * HOUR)

    early = talks.memory.old.distill()
    waiting = [
        (job.kind, job.not_before) for job in talks.memory.jobs.all() if job.kind == "distill"
    ]
    asked_for = talks.memory.old.distill(now=True)

    assert early == report()
    assert waiting == [("distill", "2026-01-01T15:00:00.000Z")]
    assert asked_for.distilled == 1


@pytest.mark.parametrize(
    "known",
    [
        {"origin": "headless"},
        {"origin": "subagent", "parent": "p"},
        {"meta": {"memory_mode": "disabled"}},
        {"project": "/home/ada/.other-mem/observer"},
        {"project": "/home/ada/.agent/memories/work"},
    ],
    ids=lambda known: next(iter(known.values())),
)
def test_only_conversations_with_a_person_about_their_work_are_remembered(
    talks: Talks, known: dict[str, Any]
) -> None:
    """Scripts and sub-agents repeat what others said; memories of making memories are of no use."""
    talks.tell("a", checked(), **known)

    assert talks.memory.old.distill(now=True) == report()


@pytest.mark.parametrize(
    "known",
    [{"origin": "headless"}, {"meta": {"memory_mode": "disabled"}}],
    ids=["headless", "disabled"],
)
def test_nobody_gets_such_a_session_by_naming_it(talks: Talks, known: dict[str, Any]) -> None:
    """An agent may ask for a job by its subject, and hand in an answer that nobody asked it for."""
    talks.tell("a", checked(), **known)
    talks.memory.old.distill(now=True)
    state = talks.store.db.value("select state from digests")
    answer = '{"traceMemory": "kept", "summary": "kept"}'

    assert talks.memory.old.next_job("trace", "codex:a") is None
    with pytest.raises(BadReply):
        talks.memory.old.answer_job("trace", "codex:a", state, answer)
    assert traced(talks) == []


def test_our_own_runs_are_not_remembered(talks: Talks) -> None:
    """An agent that was asked to distill has read everybody's sessions."""
    talks.tell("a", Said("do the jobs", command="recollect distill --commit jobs"), checked())
    talks.tell("b", checked(), project=f"{talks.memory.settings.home}/memories/abc")
    talks.tell(
        "c",
        checked(),
        Said("and now distill", command="recollect distill"),
        project="/home/ada/memory",
    )

    assert talks.memory.old.distill().distilled == 1
    assert traced(talks) == ["codex:c"]


def test_a_limit_takes_the_newest(talks: Talks) -> None:
    """They are what somebody goes on with."""
    for day, name in enumerate("abc"):
        talks.tell(name, checked(), day=day)

    first = talks.memory.old.distill(limit=2)

    assert (first.candidates, first.distilled, first.skipped) == (3, 2, 1)
    assert traced(talks) == ["codex:b", "codex:c"]
    assert talks.memory.old.distill().distilled == 1


def test_one_project_alone_can_be_distilled(talks: Talks) -> None:
    """Somebody waits for this one."""
    talks.tell("a", checked()).tell("b", checked(), project="/home/ada/blog")

    done = talks.memory.old.distill(project="/home/ada/blog")

    assert done == report(candidates=1, distilled=1, projects=1, consolidated=1)
    assert traced(talks) == ["codex:b"]


def test_an_engine_that_is_none_is_refused(talks: Talks) -> None:
    """And an agent cannot be called from here."""
    talks.tell("a", checked())

    for engine in ("gpt", "agent"):
        with pytest.raises(UsageError):
            talks.memory.old.distill(engine=engine)


def test_a_session_without_a_memory_says_how_to_get_one(talks: Talks) -> None:
    """It is not an error to ask early."""
    talks.tell("a", checked())

    with pytest.raises(NotFound) as caught:
        talks.memory.old.trace("codex:a")

    assert "recollect distill" in caught.value.hint


def test_a_session_that_never_gets_a_memory_says_what_there_is(talks: Talks) -> None:
    """Who follows the hint must not come back to the same hint."""
    talks.tell("a", checked(), origin="headless")
    talks.memory.old.distill(now=True)

    with pytest.raises(NotFound) as caught:
        talks.memory.old.trace("codex:a")

    assert (
        caught.value.hint
        == "Only conversations with a person get one. Try: recollect show codex:a --digest"
    )


def test_an_import_leaves_the_distilling_to_the_queue(talks: Talks) -> None:
    """Nobody has to think of it."""
    talks.tell("a", checked())

    talks.memory.jobs.work()

    assert traced(talks) == ["codex:a"]
    assert talks.memory.jobs.all() == []


ASK_AGAIN = tuple(job for job in JOBS if job.kind == "trace")


# A model, as far as distilling sees it.


class Answers:
    """Gives each session the verdict that a test wants, and remembers who was asked about."""

    calls_per_session = 1

    def __init__(self, *verdicts: Verdict | Exception) -> None:
        self.verdicts, self.asked = list(verdicts), list[str]()
        self.tokens, self.cost_usd = 0, 0.0

    def traces(self, work: Iterable[Work]) -> Iterator[tuple[Candidate, Verdict] | None]:
        for one in work:
            self.asked.append(one.candidate.ref)
            verdict = self.verdicts.pop(0) if self.verdicts else kept(one.candidate.ref)
            self.tokens, self.cost_usd = self.tokens + 10, self.cost_usd + 0.5
            if isinstance(verdict, Exception):
                yield one.candidate, TryLater(str(verdict))
                raise verdict
            yield None
            yield one.candidate, verdict

    def memory(self, material: Material) -> Iterator[dict[str, Published] | None]:
        yield None
        sessions = [trace.session for trace in material.traces]
        yield {"MEMORY.md": Published("\n".join(sessions), sessions)}

    def spent(self) -> tuple[int, float | None]:
        return self.tokens, self.cost_usd


def kept(ref: str) -> Kept:
    return Kept(
        Trace(
            session=ref,
            project=SHOP,
            memory="by a model",
            summary="s",
            engine="llm",
            tokens=10,
            cost_usd=0.5,
        )
    )


def distill(talks: Talks, by: ByModel, **options: Any) -> Distilled:
    *_, last = distilling.distill(
        talks.store, talks.memory.settings, engine="llm", by=by, **options
    )
    return last


def test_a_model_is_asked_about_eight_sessions_in_a_run(talks: Talks) -> None:
    """The first run over years of logs must not cost what years of logs cost."""
    for day in range(10):
        talks.tell(f"s{day}", checked(), day=day)
    one, another = Answers(), Answers()

    first, rest = distill(talks, one), distill(talks, another, everything=True)

    assert (first.distilled, first.skipped, first.tokens, first.cost_usd) == (8, 2, 80, 4.0)
    assert (rest.distilled, rest.skipped) == (2, 0)
    assert sorted(one.asked + another.asked) == [f"codex:s{day}" for day in range(10)]


def test_a_session_that_takes_two_calls_counts_twice(talks: Talks) -> None:
    """Eight is a limit of calls: with notes it is enough for four sessions.

    A limit that somebody gives is one of sessions.
    """
    for day in range(10):
        talks.tell(f"s{day}", checked(), day=day)
    model = Answers()
    model.calls_per_session = 2

    assert distill(talks, model).distilled == 4
    assert distill(talks, model, limit=5).distilled == 5


def test_what_the_rules_made_a_model_makes_better(talks: Talks) -> None:
    """Whoever turns a model on wants it for the sessions that are there.

    The rules do not undo it.
    """
    talks.tell("a", checked())
    talks.memory.old.distill()

    assert distill(talks, Answers()).distilled == 1
    assert talks.memory.old.distill() == report()
    assert talks.memory.old.trace("codex:a").memory == "by a model"


def test_a_failed_session_is_tried_three_times_and_then_left_alone(talks: Talks) -> None:
    """It stays in sight, with the reason, and stops costing."""
    talks.tell("a", checked())
    model = Answers(*[GaveUp("no JSON in it")] * 3)

    first = distill(talks, model)
    skipped = distill(talks, model)
    for _ in range(2):
        talks.store.db.execute("update jobs set not_before = 0")
        run_due(talks.store, {"llm": lambda: model}, table=ASK_AGAIN)

    assert (first.failed, skipped.candidates, skipped.skipped) == (1, 1, 1)
    assert [
        (job.kind, job.subject, job.state, job.tries)
        for job in talks.memory.jobs.all()
        if job.kind == "trace"
    ] == [("trace", "codex:a", "failed", 3)]
    assert "no JSON in it" in str(talks.memory.jobs.all()[0].error)
    assert distill(talks, model).skipped == 1
    assert distill(talks, model, now=True).distilled == 1
    assert [job.kind for job in talks.memory.jobs.all() if job.kind == "trace"] == []


def test_a_retry_that_works_ends_the_job(talks: Talks) -> None:
    """The service was only busy."""
    talks.tell("a", checked())
    model = Answers(TryLater("busy"))
    distill(talks, model)
    talks.store.db.execute("update jobs set not_before = 0")

    run_due(talks.store, {"llm": lambda: model}, table=ASK_AGAIN)

    assert traced(talks) == ["codex:a"]
    assert [job.kind for job in talks.memory.jobs.all() if job.kind == "trace"] == []


def test_a_spending_limit_ends_the_run_and_is_nobodys_failure(talks: Talks) -> None:
    """The next run goes on where this one stopped."""
    for day, name in enumerate("abc"):
        talks.tell(name, checked(), day=day)

    done = distill(talks, Answers(kept("codex:c"), SpendingLimit("enough")))

    assert (done.distilled, done.failed, done.skipped, done.projects, done.consolidated) == (
        1,
        0,
        2,
        1,
        0,
    )
    assert "codex:c" in (Path(talks.memory.old.memory_folder(SHOP)) / "MEMORY.md").read_text()
    assert distill(talks, Answers()).distilled == 2


def test_a_fault_that_meets_every_session_is_raised_when_the_rest_is_done(talks: Talks) -> None:
    """A wrong key is for a person to mend; what was answered before is kept and written."""
    talks.tell("a", checked()).tell("b", checked(), day=1)

    with pytest.raises(EngineUnavailable):
        distill(talks, Answers(kept("codex:b"), EngineUnavailable("wrong key")))

    assert traced(talks) == ["codex:b"]
    assert (
        (Path(talks.memory.old.memory_folder(SHOP)) / "memory_summary.md")
        .read_text()
        .endswith("- s (trace: codex:b)\n")
    )


def test_two_runs_do_not_ask_about_the_same_session(talks: Talks) -> None:
    """Each would pay for it."""
    talks.tell("a", checked())
    inner = Answers()

    class WhileAnotherRuns(Answers):
        def traces(self, work: Iterable[Work]) -> Iterator[tuple[Candidate, Verdict] | None]:
            for one in work:
                assert distill(talks, inner).skipped == 1
                yield one.candidate, kept("codex:a")

    done = distill(talks, WhileAnotherRuns())

    assert (done.distilled, inner.asked) == (1, [])


def test_nothing_worth_keeping_takes_an_older_memory_away(talks: Talks) -> None:
    """It is an answer: the session was read."""
    talks.tell("a", checked())
    talks.memory.old.distill()
    folder = Path(talks.memory.old.memory_folder(SHOP))
    assert (folder / "MEMORY.md").exists()
    nothing = NothingWorthKeeping(
        Trace(session="codex:a", project=SHOP, memory="", summary="", engine="llm")
    )

    assert distill(talks, Answers(nothing)).distilled == 1

    assert [path.name for path in folder.iterdir()] == ["memory_summary.md"]
    assert (folder / "memory_summary.md").read_text().endswith("No memory traces yet.\n")
    assert distill(talks, Answers()).candidates == 0
