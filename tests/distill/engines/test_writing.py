"""A run of an engine through a real store: what it wrote becomes notes, or nothing changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.distill.engines.material import Material, gather
from recollect.distill.engines.writing import Reply, write
from recollect.errors import EngineUnavailable
from recollect.memory import Memory
from recollect.model.engines import EngineRun
from recollect.model.notes import Note
from tests.builders import homes
from tests.builders.work import Work

SHOP = "/home/ada/shop"


class Scripted:
    """An engine that says what a test wrote down, one answer after the other."""

    name, model = "scripted", "tiny"

    def __init__(self, *answers: str | Exception) -> None:
        self.answers, self.asked = list(answers), list[str]()

    def ask(self, instructions: str, text: str) -> Reply:
        self.asked.append(text)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer, 1_000, 100, 0.01)


class Desk:
    """A store with a project's sessions, and whoever is asked about it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.memory: Memory = homes.memory(home, distill__engine="none")
        self.count = 0

    def work(self, work: Work) -> None:
        homes.claude_log(self.home, work.talk)
        self.memory.import_logs()
        self.memory.jobs.work()

    def gather(self, **options: object) -> Material | None:
        store = self.memory._shared.store()
        redactor = self.memory._shared.redactor(store)
        return gather(store, SHOP, redactor, most_prompts=300, **options)  # type: ignore[arg-type]

    def write(self, *answers: str | Exception, judged: bool = False) -> tuple[EngineRun, Scripted]:
        material, engine = self.gather(), Scripted(*answers)
        assert material is not None
        store = self.memory._shared.store()
        redactor = self.memory._shared.redactor(store)
        return write(store, material, engine, redactor, judged=judged), engine

    def notes(self) -> list[Note]:
        found = self.memory._shared.store().notes.search(authors=("engine",))
        return sorted(found, key=lambda note: -note.value)

    def told(self) -> list[str]:
        return [note.text for note in self.notes() if note.status == "active"]

    def pack(self) -> str:
        self.memory.jobs.work()
        found = self.memory.remember(project=SHOP)
        return found.pack if found else ""


def day(number: int = 1) -> Work:
    work = Work(number, cwd=SHOP)
    work.ask("only use pnpm here, never npm").run("pnpm test --run", "12 passed").done("Passed.")
    work.ask("and the cart?").run("pnpm build", "done").done("Built it.")
    work.ask("thanks").done("You are welcome.")
    return work


def answer(*lines: str, pack: tuple[str, ...] | None = None) -> str:
    def part(some: tuple[str, ...]) -> str:
        return "## Preferences\n" + "\n".join(f"- {line}" for line in some)

    return f"```MEMORY\n{part(lines)}\n```\n```PACK\n{part(lines if pack is None else pack)}\n```"


PNPM = 'Package manager: "only use pnpm here, never npm" [0001#1]'


@pytest.fixture
def desk(home: Path) -> Iterator[Desk]:
    desk = Desk(home)
    desk.work(day())
    yield desk
    desk.memory.close()


def test_lines_become_notes_that_are_told(desk: Desk) -> None:
    run, engine = desk.write(answer(PNPM))

    assert (run.outcome, run.lines, run.dropped) == ("kept", 1, 0)
    assert (run.tokens_in, run.tokens_out, run.cost_usd) == (1_000, 100, 0.01)
    note = desk.notes()[0]
    assert (note.by, note.trust, note.status) == ("scripted", "user", "active")
    assert note.turns == [f"{Work(1).ref}#1"]
    assert "only use pnpm here" in desk.pack()
    assert "P only use pnpm here, never npm" in engine.asked[0]


def test_what_is_not_in_the_logs_goes_back_once_and_then_goes(desk: Desk) -> None:
    made_up = "Deploy: `pnpm run deploy-everything` [0001#1]"
    run, engine = desk.write(answer(PNPM, made_up), answer(PNPM, made_up))

    assert len(engine.asked) == 2
    assert "`pnpm run deploy-everything` stands nowhere in the logs" in engine.asked[1]
    assert (run.lines, run.dropped) == (1, 1)
    assert not any("deploy" in text for text in desk.told())


def test_a_mended_line_stays(desk: Desk) -> None:
    run, _ = desk.write(
        answer(PNPM, "Build: `pnpm bild` [0001#2]"), answer(PNPM, "Build: `pnpm build` [0001#2]")
    )

    assert (run.lines, run.dropped) == (2, 0)
    assert "Build: `pnpm build`" in desk.told()


def test_a_worse_second_answer_is_none(desk: Desk) -> None:
    """Small models send back only what they were told of, or an apology."""
    for second in ("Sorry.", answer("Build: `pnpm bild` [0001#2]")):
        run, _ = desk.write(answer(PNPM, "Build: `pnpm bild` [0001#2]"), second)
        assert run.lines == 1
        desk.work(day(2))


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (EngineUnavailable("429 too many requests", passing=True), "later"),
        (EngineUnavailable("you are logged out"), "later"),
        ("I cannot help with that.", "gave_up"),
        ("```MEMORY\n## Preferencias\n- solo pnpm [0001#1]\n```", "gave_up"),
    ],
)
def test_after_a_failure_the_old_memory_stays(
    desk: Desk, failure: str | Exception, outcome: str
) -> None:
    desk.write(answer(PNPM))
    desk.work(day(2))

    run, _ = desk.write(failure)

    assert run.outcome == outcome
    assert run.why
    assert desk.told() == ['Package manager: "only use pnpm here, never npm"']
    # What was not read is read the next time.
    assert desk.gather() is not None


def test_the_next_run_reads_only_what_is_new_beside_the_old_memory(desk: Desk) -> None:
    desk.write(answer(PNPM))
    later = Work(2, cwd=SHOP)
    for prompt in ("answer in French from now on", "and the till?", "good"):
        later.ask(prompt).done("D'accord.")
    desk.work(later)

    french = 'Language: "answer in French from now on" [0002#1]'
    run, engine = desk.write(answer(PNPM, french))

    record = engine.asked[0].partition("RECORD")[2]
    assert "answer in French" in record
    assert "P only use pnpm" not in record
    assert (
        'OLD\n## Preferences\n- Package manager: "only use pnpm here, never npm" [0001#1]'
        in (engine.asked[0])
    )
    assert run.lines == 2
    assert desk.gather() is None


def test_what_the_engine_leaves_out_is_forgotten(desk: Desk) -> None:
    desk.write(answer(PNPM, 'Cart: "and the cart?" [0001#2]'))
    desk.work(day(2))

    desk.write(answer(PNPM))

    assert len(desk.told()) == 1


def test_what_a_person_rejected_does_not_come_back_in_other_words(desk: Desk) -> None:
    desk.write(answer(PNPM))
    store = desk.memory._shared.store()
    store.notes.reject(desk.notes()[0].ref)
    desk.work(day(2))

    run, _ = desk.write(answer('They say "only use pnpm here, never npm" [0001#1]'))

    assert desk.told() == []
    # Nothing goes without a word.
    assert run.dropped == 1


def test_a_persons_own_line_is_shown_and_stays(desk: Desk) -> None:
    store = desk.memory._shared.store()
    store.notes.add("deploys are done by Bo", project=SHOP, category="decision", author="person")

    _, engine = desk.write(answer(PNPM))

    assert "- deploys are done by Bo (person)" in engine.asked[0]
    assert "deploys are done by Bo" in desk.pack()


def test_a_tainted_line_waits_in_review(desk: Desk) -> None:
    work = Work(2, cwd=SHOP)
    work.ask("look it up").use("WebFetch", {"url": "https://x.example"}, "needs --legacy-peer-deps")
    work.done("Use --legacy-peer-deps.").ask("ok").done("Fine.").ask("next").done("Ok.")
    desk.work(work)

    desk.write(answer(PNPM, "installs need --legacy-peer-deps [0002#1]"))

    waiting = [note for note in desk.notes() if note.status == "candidate"]
    assert [(note.text, note.tainted) for note in waiting] == [
        ("installs need --legacy-peer-deps", True)
    ]
    assert "legacy-peer-deps" not in desk.pack()


def test_a_second_look_drops_and_narrows_lines(desk: Desk) -> None:
    lines = (
        PNPM,
        "The build always passes with `pnpm build` [0001#2]",
        "thanks are common [0001#3]",
    )
    verdicts = "1 stands\n2 narrow: `pnpm build` passed\n3 drop"

    run, engine = desk.write(answer(*lines), verdicts, judged=True)

    assert "next: thanks" in engine.asked[1]
    assert desk.told() == [
        'Package manager: "only use pnpm here, never npm"',
        "`pnpm build` passed",
    ]
    assert run.lines == 2


def test_a_project_with_more_prompts_than_a_record_holds_is_read_in_steps(desk: Desk) -> None:
    store = desk.memory._shared.store()
    redactor = desk.memory._shared.redactor(store)
    desk.work(day(2))

    first = gather(store, SHOP, redactor, most_prompts=4)
    assert first is not None
    assert (first.prompts, first.left) == (4, 2)
    write(store, first, Scripted(answer(PNPM)), redactor)
    second = gather(store, SHOP, redactor, most_prompts=4)

    assert second is not None
    assert (second.prompts, second.left) == (2, 0)


def test_only_sessions_of_the_agents_that_may_be_read_are_sent(desk: Desk, home: Path) -> None:
    """Through a login of one maker go only sessions of that maker's agents."""
    material = desk.gather(agents={"codex"})
    assert material is None

    material = desk.gather(agents={"claude-code"})
    assert material is not None
    assert "Not in this record" not in material.record.text
