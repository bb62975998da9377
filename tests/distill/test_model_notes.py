"""Notes by a model: what it says is an agent's word, unless a person said the same.

And sessions distilled by it, end to end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.distill.models.notes import ModelExtractor
from recollect.distill.notes.extract import Candidate
from recollect.errors import EngineUnavailable, SecretsLeft
from recollect.llm.client import ChatModel
from recollect.model.digests import Digest
from recollect.model.reports import Distilled
from recollect.redact import Redactor
from tests.builders import homes
from tests.builders.passages import REF, call, passage, said
from tests.llm import service as behaviour
from tests.llm.service import Service, running

# Of the form of one, and nobody's.
SECRET = "ghp_" + "R4nd0mL00k1ngT0k3nV4lu3" + "0123456789abc"
DIGEST = Digest(
    session=REF, project="/home/ada/shop", title="fix the build", outcome="success", summary="s"
)
TURNS = [passage(1, said("prompt", "fix the build"))]
STATEMENT = {
    "text": "Trees are watered at night",
    "turns": ["claude-code:5e551011-0000-4000-8000-000000000001#1"],
}
PROJECT = json.dumps({"sections": [{"heading": "Facts", "statements": [STATEMENT]}], "skills": []})
ANSWER = json.dumps({"traceMemory": "We watered the trees.", "summary": "watered"})


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as service:
        yield service


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor(b"a key of this test")


def extractor(service: Service, redactor: Redactor) -> ModelExtractor:
    return ModelExtractor(
        ChatModel(service.settings(), lambda text: text), redactor, service.settings()
    )


def test_notes_are_asked_for_in_one_call(service: Service, redactor: Redactor) -> None:
    """One line for each fact; lines that are no good are counted, secrets taken out."""
    lines = [
        "MEMORY: project | 8 | Tests run with make",
        "MEMORY: x | 1 | y",
        f"MEMORY: project|9|Token {SECRET}",
    ]
    service.usual = behaviour.saying("\n".join(lines))
    model = extractor(service, redactor)

    first, second = model.extract(TURNS, DIGEST)

    assert first == Candidate("project", "Tests run with make", 0.8, f"{REF}#1", "assistant")
    assert SECRET not in second.text
    assert (model.author, model.dropped, len(service.questions)) == ("model", 1, 1)


def test_a_fact_that_a_person_said_counts_as_theirs(service: Service, redactor: Redactor) -> None:
    """And only then: a page that was read, or the agent itself,
    may have told the model anything.
    """
    turns = [
        passage(1, said("prompt", "we use pnpm here, never npm")),
        passage(2, said("prompt", "use tabs"), author="agent"),
        passage(
            3, call("curl", "Always deploy on Friday"), said("reply", "Always deploy on Friday.")
        ),
    ]
    service.usual = behaviour.saying(
        "MEMORY: preference | 9 | Use pnpm here, never npm\nMEMORY: preference | 10 | Use tabs\n"
        "MEMORY: constraint | 10 | Always deploy on Friday"
    )

    found = extractor(service, redactor).extract(turns, DIGEST)

    assert [(one.text, one.ref, one.trust) for one in found] == [
        ("Use pnpm here, never npm", f"{REF}#1", "user"),
        ("Use tabs", f"{REF}#3", "assistant"),
        ("Always deploy on Friday", f"{REF}#3", "assistant"),
    ]


def test_nothing_is_noted_when_the_model_finds_nothing(
    service: Service, redactor: Redactor
) -> None:
    """Most sessions have nothing, and a session without turns is not worth a call."""
    service.usual = behaviour.saying("NONE")
    model = extractor(service, redactor)

    assert model.extract(TURNS, DIGEST) == []
    assert model.extract([], DIGEST) == []
    assert (model.dropped, len(service.questions)) == (0, 1)


def test_notes_are_not_asked_for_a_session_with_secrets(
    service: Service, redactor: Redactor
) -> None:
    """The same promise as for memories."""
    with pytest.raises(SecretsLeft):
        extractor(service, redactor).extract([passage(1, said("prompt", f"use {SECRET}"))], DIGEST)

    assert service.questions == []


# End to end ----------------------------------------------------------------------


def used(prompt_tokens: int, completion_tokens: int) -> dict[str, int]:
    return {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}


def test_a_session_is_distilled_once_by_the_model_of_the_settings(
    home: Path, service: Service
) -> None:
    """Imported, read by the model, kept with what it took; a second run asks nothing."""
    homes.claude_log(home, homes.small_talk(turns=8))
    service.script = [
        behaviour.saying(ANSWER, usage=used(800, 200)),
        behaviour.saying("MEMORY: project | 8 | Tests run with make check", usage=used(700, 100)),
        behaviour.saying(PROJECT, usage=used(150, 50)),
    ]
    keys = {
        "llm__url": service.url,
        "llm__model": "m",
        "llm__notes": True,
        "llm__input_usd": 1.0,
        "llm__output_usd": 1.0,
    }

    with homes.memory(home, distill__engine="llm", **keys) as memory:
        memory.import_logs()
        first, second = memory.old.distill(now=True), memory.old.distill(now=True)
        (session,) = memory.sessions()
        trace, notes = memory.old.trace(session.id), memory.old.notes()

    assert (first.distilled, first.consolidated, first.tokens, first.cost_usd) == (
        1,
        1,
        2000,
        0.002,
    )
    assert (second.distilled, second.candidates, second.tokens) == (0, 0, 0)
    assert (trace.engine, trace.summary, trace.tokens) == ("llm", "watered", 1800)
    assert [(note.text, note.author, note.trust, note.status) for note in notes] == [
        ("Tests run with make check", "model", "assistant", "candidate")
    ]
    assert len(service.questions) == 3


def test_no_notes_are_asked_of_a_short_session_or_unless_told_to(
    home: Path, service: Service
) -> None:
    """A second request costs as much as the first."""
    homes.claude_log(home, homes.small_talk(1, turns=2))
    homes.claude_log(home, homes.small_talk(2, turns=8))
    service.usual = behaviour.saying(ANSWER)

    with homes.memory(home, llm__url=service.url, llm__model="m") as memory:
        memory.import_logs()
        memory.old.distill(engine="llm", now=True)
    homes.claude_log(home, homes.small_talk(3, turns=2))
    with homes.memory(home, llm__url=service.url, llm__model="m", llm__notes=True) as memory:
        memory.import_logs()
        memory.old.distill(engine="llm", now=True)

    assert not any(
        "MEMORY:" in question["messages"][0]["content"] for question in service.questions
    )


def test_a_session_that_grew_a_little_is_not_asked_for_notes_again(
    home: Path, service: Service
) -> None:
    """The same gate as for the rules: three tool calls since the last time."""
    talk = homes.small_talk(turns=8)
    homes.claude_log(home, talk)
    service.usual = behaviour.saying(ANSWER)

    def asked_for_notes() -> int:
        return sum(
            "MEMORY:" in question["messages"][0]["content"] for question in service.questions
        )

    counts = []
    with homes.memory(home, llm__url=service.url, llm__model="m", llm__notes=True) as memory:
        for more in (0, 1, 2):
            for number in range(more):
                homes.add_turn(talk, f"more-{more}-{number}")
            homes.claude_log(home, talk)
            memory.import_logs()
            memory.old.distill(engine="llm", now=True)
            counts.append(asked_for_notes())

    assert counts == [1, 1, 2]


@pytest.mark.parametrize("count", [False, True])
def test_notes_of_a_model_count_without_a_person_only_where_the_settings_say_so(
    home: Path, service: Service, count: bool
) -> None:
    """Off unless somebody trusts their model; what a person rejected stays rejected."""
    homes.claude_log(home, homes.small_talk(turns=8))
    notes = "MEMORY: project | 8 | Tests run with make"
    service.script = [behaviour.saying(text) for text in (ANSWER, notes, PROJECT)]
    settings = {"llm__url": service.url, "llm__model": "m", "llm__notes": True}

    with homes.memory(home, llm__notes_count=count, **settings) as memory:
        memory.import_logs()
        memory.old.distill(engine="llm", now=True)
        (note,) = [one for one in memory.old.notes() if one.author == "model"]

    assert note.status == ("active" if count else "candidate")


def test_a_memory_is_kept_when_its_notes_fail(home: Path, service: Service) -> None:
    """It was paid for."""
    homes.claude_log(home, homes.small_talk(turns=8))
    service.script = [behaviour.saying(ANSWER), behaviour.refusing(404), behaviour.saying(PROJECT)]

    with homes.memory(home, llm__url=service.url, llm__model="m", llm__notes=True) as memory:
        memory.import_logs()
        report = memory.old.distill(engine="llm", now=True)

    assert (report.distilled, report.failed) == (1, 0)


def test_without_a_service_nothing_is_distilled_by_a_model(home: Path) -> None:
    """The error says what is missing; the rules would have done it."""
    homes.claude_log(home, homes.small_talk())

    with homes.memory(home) as memory:
        memory.import_logs()
        with pytest.raises(EngineUnavailable, match=r"llm\.model is not set."):
            memory.old.distill(engine="llm", now=True)
        report = memory.old.distill(engine="rules", now=True)

    assert isinstance(report, Distilled)
    assert report.distilled == 1
