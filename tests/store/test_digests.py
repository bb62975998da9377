"""What becomes of digests when their sessions grow, are forgotten, scanned
again, damaged, merged or exported.
"""

from __future__ import annotations

import pytest

from recollect.errors import StoreError
from recollect.model.calls import Call
from recollect.model.digests import Digest, Run, Task
from recollect.model.logs import Event
from recollect.model.search import Query, Scope
from recollect.model.sessions import Tokens
from recollect.store.sqlite.salvage.repair import repair
from tests.store.conftest import START, Filled, facts, turn
from tests.store.test_repair import damage
from tests.store.test_rescan import SECRET, TAG, Redactor

WORD = "zqdigestmarker"


def digest(ref: str, text: str = "mend the door") -> Digest:
    run = Run(ref=f"{ref}#1", command=f"make {text}", ok=True, check=True)
    task = Task(title=text, asked=text, turns=[1], outcome="success", runs=[run])
    return Digest(
        session=ref,
        project="/home/ada/shop",
        title=text,
        outcome="success",
        summary=f"“{text}” success",
        tasks=[task],
    )


def keep(filled: Filled, *texts: str) -> None:
    """Give every session that has changed a digest, the first text to the newest."""
    store = filled.store
    for (number, ref, mark), text in zip(store.digests.outdated(), texts, strict=True):
        assert store.digests.save(number, mark, digest(ref, text))


def outdated(filled: Filled) -> list[str]:
    return [ref for _, ref, _ in filled.store.digests.outdated()]


def marks(filled: Filled) -> list[str]:
    """What was said to have changed, besides what was brought in and looked at."""
    return [
        name
        for (name,) in filled.db.rows(
            "select name from marks where name in ('digests dropped', 'repaired')"
        )
    ]


@pytest.fixture
def one(filled: Filled) -> Filled:
    """One session of two turns, digested."""
    filled.keep(
        "a.jsonl",
        facts("a"),
        *turn("a", "k1", "mend the door"),
        *turn("a", "k2", "paint it", minute=5),
    )
    keep(filled, "mend the door")
    return filled


def test_a_digest_is_found_as_it_was_kept(one: Filled) -> None:
    """Field by field; and a session that has one is not looked at again."""
    assert one.store.digests.find("codex:a") == digest("codex:a")
    assert one.store.digests.find("codex:b") is None
    assert outdated(one) == []


def test_a_session_that_grows_keeps_its_digest_until_the_next_one(one: Filled) -> None:
    """An old verdict is better than none while the agent still works."""
    one.keep(
        "a.jsonl",
        Event(session="a", turn="k2", kind="reply", at=START + 400_000, text="and varnished"),
    )

    assert outdated(one) == ["codex:a"]
    assert one.store.digests.find("codex:a") == digest("codex:a")


def test_a_new_title_makes_a_digest_outdated(one: Filled) -> None:
    """Agents name their sessions late."""
    one.keep("a.jsonl", facts("a", title="The door"))

    assert outdated(one) == ["codex:a"]


def test_a_digest_of_what_has_changed_meanwhile_is_not_kept(one: Filled) -> None:
    """It would hide the turns that came while it was made."""
    one.keep("a.jsonl", *turn("a", "k3", "one more thing", minute=9))
    [(number, ref, mark)] = one.store.digests.outdated()
    one.keep("a.jsonl", *turn("a", "k4", "and another", minute=10))

    assert not one.store.digests.save(number, mark, digest(ref, "too early"))
    assert one.store.digests.find(ref) == digest(ref)
    assert outdated(one) == [ref]


def test_a_session_is_read_with_its_turns_in_order_and_everything_in_them(filled: Filled) -> None:
    """Late results with their calls, tokens summed; nothing of how it is stored."""
    first = turn("a", "k1", "mend the door")
    filled.keep("a.jsonl", facts("a"), *first[:3])
    filled.keep("a.jsonl", *first[3:], *turn("a", "k2", "paint it", minute=5))

    read = filled.store.digests.passages(1)

    assert [(one.ref, one.author, one.live, one.project, one.at, one.whole) for one in read] == [
        ("codex:a#1", "human", True, "/home/ada/shop", START, True),
        ("codex:a#2", "human", True, "/home/ada/shop", START + 300_000, True),
    ]
    assert read[0].tokens == Tokens(input=10, output=5)
    _, call, _ = read[0].events
    assert [event.kind for event in read[0].events] == ["prompt", "shell", "reply"]
    assert isinstance(call, Call)
    assert (call.output, call.ok) == ("output k1", True)


def test_a_forgotten_session_leaves_nothing_of_its_digest(filled: Filled) -> None:
    """Neither in a row nor in the bytes of the file."""
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", "mend the door"))
    filled.keep("b.jsonl", facts("b"), *turn("b", "k2", "paint it"))
    keep(filled, "paint it", f"say {WORD}")

    filled.store.forgetting.session_or_turn("codex:a")

    assert filled.db.rows("select session, title from digests") == [(2, "paint it")]
    assert outdated(filled) == []
    assert not any(WORD.encode() in path.read_bytes() for path in filled.path.parent.iterdir())


def test_when_a_turn_is_forgotten_its_session_is_digested_again(one: Filled) -> None:
    """The digest told of that turn; what is left has another one."""
    one.store.forgetting.session_or_turn("codex:a", 2)

    assert one.store.digests.find("codex:a") is None
    assert (outdated(one), marks(one)) == (["codex:a"], ["digests dropped"])


def test_a_secret_in_a_session_takes_its_digest_with_it(filled: Filled) -> None:
    """A digest may quote the half of it that no table knows; it is made again of what is clean."""
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", f"use {SECRET}"))
    filled.keep("b.jsonl", facts("b"), *turn("b", "k2", "paint it"))
    keep(filled, "paint it", f"use {SECRET[:9]}…")

    filled.store.rescan.run(Redactor())

    assert (filled.store.digests.find("codex:a"), filled.store.digests.find("codex:b")) == (
        None,
        digest("codex:b", "paint it"),
    )
    assert (outdated(filled), marks(filled)) == (["codex:a"], ["digests dropped"])


def test_a_secret_is_taken_out_of_the_digest_of_a_session_whose_events_are_gone(
    filled: Filled,
) -> None:
    """It cannot be made again: the digest is all there is."""
    filled.keep(
        "a.jsonl",
        facts("a"),
        *turn("a", "k1", "mend it", output="x" * 9_000),
        *turn("a", "k2", "go on", minute=3),
    )
    keep(filled, f"use {SECRET} here")
    filled.store.evictions.evict([1])

    filled.store.rescan.run(Redactor())

    assert filled.store.digests.find("codex:a") == digest("codex:a", f"use {TAG} here")
    assert filled.db.rows("select title, summary from digests") == [
        (f"use {TAG} here", f"“use {TAG} here” success")
    ]


def test_a_repair_keeps_digests_that_can_be_read_and_has_all_made_again(one: Filled) -> None:
    """Where events were let go they are all there is.

    Everything else is only as good as the pages it came from.
    """
    one.keep("b.jsonl", facts("b"), *turn("b", "k3", "sweep"))
    keep(one, "sweep")
    one.db.execute("update digests set digest = x'c1' where session = 2")
    one.close()

    damage(one.path, lambda data: data.__setitem__(slice(0, 16), b"not a database!!"))
    repair(str(one.path))
    one.reopen()

    assert (one.store.digests.find("codex:a"), one.store.digests.find("codex:b")) == (
        digest("codex:a"),
        None,
    )
    assert (sorted(outdated(one)), marks(one)) == (["codex:a", "codex:b"], ["repaired"])


def test_a_digest_that_cannot_be_read_is_named_and_made_again(one: Filled) -> None:
    """A bit flips in a store that is sound otherwise: everything else is
    shown, and the next step is said.
    """
    one.keep("b.jsonl", facts("b"), *turn("b", "k3", "sweep"))
    keep(one, "sweep")
    one.db.execute("update digests set digest = x'93' where session = 1")

    with pytest.raises(StoreError) as caught:
        one.store.digests.find("codex:a")
    listed = [
        (session.id, session.outcome, len(session.tasks))
        for session in one.store.sessions.search(Scope(Query(), {}), limit=None)
    ]
    health = one.store.doctor.examine(verify=True)
    one.close()
    repair(str(one.path))
    one.reopen()

    assert (str(caught.value), caught.value.hint) == (
        "The digest of codex:a cannot be read.",
        "Make it again: recollect doctor --repair",
    )
    assert sorted(listed) == [("codex:a", "success", 0), ("codex:b", "success", 1)]
    assert [
        (found.name, found.detail, found.hint) for found in health.findings if not found.ok
    ] == [("digests", "1 of 2 cannot be read: codex:a", "Try: recollect doctor --repair")]
    assert one.store.digests.find("codex:a") is None
    assert "codex:a" in outdated(one)


def test_a_scan_for_secrets_drops_a_digest_that_cannot_be_read(one: Filled) -> None:
    """Nobody can say that there is none in it."""
    one.db.execute("update digests set digest = x'93'")

    one.store.rescan.run(Redactor())

    assert one.store.digests.find("codex:a") is None
    assert outdated(one) == ["codex:a"]


def test_an_export_tells_what_sessions_came_to(one: Filled) -> None:
    """Whoever reads it elsewhere wants the verdict and not only the words."""
    [session] = one.store.sessions.export(Scope(Query(), {}))

    assert (session["outcome"], session["summary"]) == ("success", "“mend the door” success")
    assert session["tasks"] == [{"title": "mend the door", "outcome": "success", "turns": [1]}]


def test_a_digest_is_of_the_project_that_its_own_was_merged_into(one: Filled) -> None:
    """Merging touches no session, and yet nobody may be told of a
    project that is not there any more.
    """
    one.keep(
        "b.jsonl", facts("b", cwd="/home/ada/barn"), *turn("b", "k3", "sweep", cwd="/home/ada/barn")
    )

    def project() -> str | None:
        found = one.store.digests.find("codex:a")
        return found.project if found else "no digest"

    one.store.projects.merge("/home/ada/shop", "/home/ada/barn")
    merged = project()
    one.store.projects.split("/home/ada/shop")

    assert (merged, project()) == ("/home/ada/barn", "/home/ada/shop")
