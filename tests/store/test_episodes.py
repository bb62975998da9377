"""Attempts in the store: kept, replaced, forgotten, scanned for secrets, and salvaged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from recollect.errors import NotFound, UsageError
from recollect.memory import Memory
from recollect.model.digests import Digest
from recollect.model.episodes import Context, Episode, Reward, Step
from recollect.settings import Settings
from recollect.store.sqlite.salvage.repair import repair
from tests.builders.talks import Said, Talks
from tests.store.conftest import Filled, facts, turn

SECRET = "zxsecret0123456789"


def live(
    ref: str = "episode:1", task: str = "round the tax", project: str | None = "/home/ada/shop"
) -> Episode:
    return Episode(
        ref=ref, source="live", task=task, context=Context(language="python", domain="work",
        tags=("a", "b"), project=project),
        outcome="partial", result="rounds", error="one left", started_at="2026-01-01T09:00:00.000Z",
        duration_ms=5, tokens=7,
        steps=[Step("bash", "pytest -q", 1, 2, False, "1 failed"), Step("edit")],
        reward=Reward(total=0.5, outcome=0.6, efficiency=1, complexity=0.1, quality=0.5),
    )  # fmt: skip


def derived(session: str, number: int, task: str) -> Episode:
    return Episode(
        ref=f"{session}#{number}", source="derived", task=task,
        context=Context(project="/home/ada/shop"), outcome="success",
        session=session, turns=[number], agent="codex", trust="tool-verified",
    )  # fmt: skip


def number_of(filled: Filled, ref: str) -> int:
    return int(filled.db.value("select id from sessions where ref = ?", (ref,)))


def replace(filled: Filled, ref: str, *made: Episode) -> None:
    """Have a session come to these attempts, as after a new digest of it."""
    digest = Digest(session=ref, project=None, title="x", outcome="success", summary="")
    digests, number = filled.store.digests, number_of(filled, ref)
    digests.drop([number])
    (outdated,) = digests.outdated(ref)
    assert digests.save(number, outdated.mark, digest)
    (session,) = [one for one in filled.store.episodes.underived() if one.ref == ref]
    assert filled.store.episodes.replace(session, made)


def test_what_is_kept_is_what_is_read(filled: Filled) -> None:
    """All of it; and keeping it again, as after a crash in between, changes nothing."""
    filled.store.episodes.keep([live(), live("episode:2", project=None)])
    filled.store.episodes.keep([live(task="something else")])

    assert filled.store.episodes.get("episode:1") == live()
    assert filled.store.episodes.get("episode:2") == live("episode:2", project=None)
    assert len(filled.store.episodes.numbers()) == 2


def test_a_session_that_is_digested_again_has_its_attempts_replaced(filled: Filled) -> None:
    """Those of other sessions stay, and an id is never given again:
    somebody may have the old ones in memory.
    """
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", "round the tax"))
    filled.keep("b.jsonl", facts("b"), *turn("b", "k2", "bake bread"))
    replace(filled, "codex:b", derived("codex:b", 1, "bake bread"))
    replace(
        filled, "codex:a", derived("codex:a", 1, "round the tax"), derived("codex:a", 3, "and more")
    )
    before = filled.store.episodes.numbers()

    replace(filled, "codex:a", derived("codex:a", 1, "round all taxes"))

    assert filled.store.episodes.get("codex:a#1") == derived("codex:a", 1, "round all taxes")
    assert len(filled.store.episodes.numbers()) == 2
    assert filled.store.episodes.get("codex:b#1").task == "bake bread"
    assert max(filled.store.episodes.numbers()) > max(before)


def test_forgetting_a_session_forgets_what_was_derived_from_it(filled: Filled) -> None:
    """Its words were in there, too; they are in no file afterwards."""
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", f"use {SECRET}"))
    replace(filled, "codex:a", derived("codex:a", 1, f"use {SECRET}"))

    filled.store.forgetting.session_or_turn("codex:a")

    assert filled.store.episodes.numbers() == []
    assert not any(
        SECRET.encode() in path.read_bytes() for path in filled.path.parent.glob("*.db*")
    )


def test_forgetting_a_turn_forgets_the_attempts_of_its_session_until_they_are_derived_again(
    tmp_path: Path,
) -> None:
    """An attempt quotes what was asked.

    Which of a session's attempts quote the turn, only a new digest can tell.
    """
    talks = Talks(tmp_path)
    talks.tell(
        "a",
        Said("round the sales tax", command="pytest -q"),
        Said("now bake some bread", command="bake"),
    )
    talks.memory.jobs.work()
    before = tasks(talks)

    talks.memory.store.forget("codex:a#1")
    between = tasks(talks)
    talks.memory.jobs.work()
    after = tasks(talks)
    talks.close()

    assert any("sales tax" in task for task in before)
    assert between == []
    assert after == ["now bake some bread"]


def tasks(talks: Talks) -> list[str]:
    return [one.task for one in talks.store.episodes.find(talks.store.episodes.numbers()).values()]


def test_a_recorded_attempt_is_forgotten_by_its_id(filled: Filled) -> None:
    """For good; and with it a project that nothing else is about."""
    filled.store.episodes.keep([live(task=f"use {SECRET}")])

    gone = filled.store.forgetting.episode("episode:1")

    assert gone.task == f"use {SECRET}"
    assert filled.store.projects.all() == []
    assert not any(
        SECRET.encode() in path.read_bytes() for path in filled.path.parent.glob("*.db*")
    )
    with pytest.raises(NotFound):
        filled.store.forgetting.episode("episode:1")


def test_a_derived_attempt_is_not_forgotten_alone(filled: Filled) -> None:
    """It would be derived again; the hint says what to forget instead."""
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", "round the tax"))
    replace(filled, "codex:a", derived("codex:a", 1, "round the tax"))

    with pytest.raises(UsageError) as refused:
        filled.store.forgetting.episode("codex:a#1")

    assert refused.value.hint == "To forget the turn with it: recollect forget codex:a#1"


def test_a_project_with_recorded_attempts_outlives_its_sessions(filled: Filled) -> None:
    """Forgetting a session must not fail because an attempt still names the project."""
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", "round the tax", cwd="/home/ada/shop"))
    filled.store.episodes.keep([live()])

    filled.store.forgetting.session_or_turn("codex:a")

    assert filled.store.episodes.get("episode:1") == live()


class Redactor:
    """Knows one secret."""

    def redact_all(self, texts: Sequence[str]) -> list[str]:
        return [text.replace(SECRET, "[X]") if SECRET in text else text for text in texts]


def test_scanning_again_takes_secrets_out_of_attempts(filled: Filled) -> None:
    """Of every text in them; those without a secret stay untouched."""
    one = live(task=f"use {SECRET}", project=f"/home/{SECRET}")
    one.context = Context(
        language="python", domain="work", tags=(f"t{SECRET}",), project=f"/home/{SECRET}"
    )
    one.result = one.error = f"said {SECRET}"
    one.steps = [Step("bash", f"login {SECRET}", observation=SECRET)]
    filled.store.episodes.keep([one, live("episode:2")])
    state = filled.store.episodes.state()

    report = filled.store.rescan.run(Redactor())
    found = filled.store.episodes.get("episode:1")

    assert (found.task, found.result, found.error, found.context.tags) == (
        "use [X]",
        "said [X]",
        "said [X]",
        ("t[X]",),
    )
    assert found.context.project == "/home/[X]"
    assert found.steps == [Step("bash", "login [X]", observation="[X]")]
    assert filled.store.episodes.get("episode:2") == live("episode:2")
    assert report.other_rows_changed == 2
    assert filled.store.episodes.state()[0] > state[0]
    assert not any(
        SECRET.encode() in path.read_bytes() for path in filled.path.parent.glob("*.db*")
    )


def test_a_salvaged_store_keeps_what_was_recorded(filled: Filled) -> None:
    """Nothing else tells of it; what was derived comes again with the digests."""
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", "round the tax"))
    replace(filled, "codex:a", derived("codex:a", 1, "round the tax"))
    filled.store.episodes.keep([live(), live("episode:2")])
    filled.db.execute("update episodes set steps = x'c1' where ref = 'episode:2'")
    page = int(filled.db.value("select rootpage from sqlite_schema where name = 'tool_calls'"))
    filled.store.close()
    damage(filled.path, page)

    report = repair(str(filled.path))
    filled.reopen()

    assert (report.kept["episodes"], report.lost["episodes"]) == (1, 1)
    assert [filled.store.episodes.get("episode:1"), len(filled.store.episodes.numbers())] == [
        live(),
        1,
    ]
    assert filled.store.doctor.examine().ok


def damage(path: Path, page: int) -> None:
    """Another table's page is gone, so everything is salvaged."""
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    data[(page - 1) * size : page * size] = bytes(size)
    path.write_bytes(data)


def test_an_older_store_gets_the_attempts_of_what_it_has(tmp_path: Path) -> None:
    """After an upgrade, learning starts with the digests that are there."""
    talks = Talks(tmp_path)
    talks.tell("a", Said("round the sales tax", command="pytest -q"))
    for _ in talks.memory.digest_new():
        pass
    with Memory(Settings(str(tmp_path), str(tmp_path / "recollect.db"), {})) as memory:
        memory.jobs.work()
        (found,) = memory.episodes.retrieve("round the sales tax")
    talks.close()

    assert (found.episode.ref, found.episode.session, found.episode.agent) == (
        "codex:a#1",
        "codex:a",
        "codex",
    )
