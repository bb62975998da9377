"""What was forgotten, or turned out to be a secret, is in nothing that was ever made of it.

A session is found far from its own rows: in the text index, vectors, its digest, attempts,
notes, the project's memory, what hooks tell, and what is kept of it after its events were let
go. Here all of them are made, by the same steps as on any machine, and then every byte is
looked at.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.store import bodies
from tests.builders.homes import claude_log
from tests.builders.work import Work

# Where a text can be; each begins differently, so that none hides behind a
# shared beginning in the text index.
PLACES = (
    "asked", "answered", "always", "refused", "command", "printed", "error", "file", "pushed",
    "titled",
)  # fmt: skip
WORDS = {
    place: f"{chr(113 - number)}zq{place}marker{number}" for number, place in enumerate(PLACES)
}
SECRET = "yqz7w4k2m9xv4r8b3n5d"


def noise(seed: int) -> str:
    """An output that is too long to be kept when its events go."""
    return " ".join(str((seed + number) * 2654435761 % 999_983) for number in range(300))


def telling(number: int, words: dict[str, str]) -> Work:
    """A session with each of the words where a digest, a note or
    a project's memory may take it up.
    """
    work = Work(number)
    work.talk.bare(
        {
            "type": "custom-title",
            "customTitle": f"Shop {words['titled']}",
            "sessionId": work.talk.session,
        }
    )
    work.ask(f"mend the {words['asked']} of the shop")
    for round_ in range(6):
        work.run(
            f"pytest -q {words['command']}",
            f"{noise(round_)}\nE   KeyError: '{words['error']}'\n{noise(round_)}",
            code=1,
        )
        work.edit(f"/home/ada/shop/{words['file']}.py")
        work.run(f"pytest -q {words['command']}", f"{words['printed']} {noise(round_)} 4 passed")
        work.done(f"Done: {words['answered']}. {noise(round_)}")
        work.ask(
            f"No, that is wrong. Always run {words['always']} before you push, never use "
            f"{words['refused']}."
        )
    work.run(f"git commit -am '{words['pushed']}'", "1 file changed")
    return work.done(f"Done with {words['answered']}.")


def remembering(home: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory that lets go of what is older than a day."""
    folder = home / ".recollect"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "config.toml").write_text("[retain]\nraw_max_age_days = 1\n")
    monkeypatch.setenv("RECOLLECT_HOME", str(folder))
    return Memory.open()


def live_through(mind: Memory, home: Path, words: dict[str, str]) -> Work:
    """Import, digest, remember, and let go of the events.

    A second session stays out of it.
    """
    told = telling(1, words)
    claude_log(home, told.talk)
    mind.import_logs()
    for _ in mind.digest_new():
        pass
    plain = {place: f"plain{place}" for place in PLACES}
    claude_log(home, telling(2, plain).talk)
    mind.import_logs()
    mind.jobs.work()
    for _ in mind.store.retain():
        pass
    return told


def surfaces(mind: Memory, words: list[str]) -> set[str]:
    """Where one of the words can still be found, in whatever form."""
    found = set()
    folder = Path(mind.settings.home)
    for path in folder.rglob("*"):
        if "cache" in path.parts:
            continue
        place = path.name
        data = path.read_bytes().lower() if path.is_file() else b""
        found |= {f"the bytes of {place}" for word in words if word.lower().encode() in data}
        found |= {f"the names in {place}" for word in words if word.lower() in path.name.lower()}
    db = mind._shared.store().db  # type: ignore[attr-defined]
    for (table,) in db.rows(
        "select name from sqlite_schema where type = 'table' and sql not like '%virtual%'"
    ):
        if not table.startswith(("sqlite_", "turns_text")):
            rows = repr(db.rows(f"select * from {table}")).lower()
            found |= {table for word in words if word.lower() in rows}
    for (events,) in db.rows("select events from bodies"):
        rows = repr(bodies.unpack(events)).lower()
        found |= {"bodies" for word in words if word.lower() in rows}
    db.execute(
        "create virtual table if not exists temp.words using fts5vocab (main, turns_text, row)"
    )
    terms = [term for (term,) in db.rows("select term from temp.words")]
    return found | {
        "the text index" for word in words for term in terms if word.lower()[:12] in term
    }


# Everything that may hold something of a session: a word that was never in one of
# them proves nothing by not being there.
EVERYWHERE = {
    "bodies", "turns", "tool_calls", "sessions", "digests", "episodes", "notes",
    "memory_blocks", "packs", "prompt_lines", "prompt_words", "the text index",
}  # fmt: skip


def test_a_forgotten_session_is_in_nothing_that_was_made_of_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks for it has a reason, and does not know what all was made of it."""
    mind = remembering(home, monkeypatch)
    told = live_through(mind, home, WORDS)
    words = list(WORDS.values())
    before = surfaces(mind, words)

    mind.store.forget(told.ref)
    mind.import_logs()
    mind.jobs.work()

    assert before >= EVERYWHERE
    assert surfaces(mind, words) == set()
    # What the other session has to say is still there.
    assert {hit.session[-1] for hit in mind.search("plainerror", mode="text")} == {"2"}
    memory = mind.remember(folder="/home/ada/shop")
    assert memory is not None
    assert "plainalways" in memory.long
    assert [finding for finding in mind.store.doctor(verify=True).findings if not finding.ok] == []


def test_a_forgotten_turn_is_in_nothing_that_was_made_of_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its neighbours stay, and with them what was only told of these."""
    mind = remembering(home, monkeypatch)
    told = live_through(
        mind, home, {place: f"plain{place}" for place in PLACES} | {"asked": WORDS["asked"]}
    )
    before = surfaces(mind, [WORDS["asked"]])

    mind.store.forget(f"{told.ref}#1")
    mind.import_logs()
    mind.jobs.work()

    assert before >= {"bodies", "turns", "digests", "the text index"}
    assert surfaces(mind, [WORDS["asked"]]) == set()
    assert [finding for finding in mind.store.doctor(verify=True).findings if not finding.ok] == []


def test_a_secret_that_is_recognised_later_leaves_everything(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key may have been typed, printed, noted and published
    before anybody knew that it is one.
    """
    mind = remembering(home, monkeypatch)
    live_through(mind, home, dict.fromkeys(PLACES, SECRET))
    before = surfaces(mind, [SECRET])
    mind.close()

    monkeypatch.setenv("SHOP_API_KEY", SECRET)
    mind = Memory.open()
    mind.store.rescan()
    mind.jobs.work()

    assert before >= EVERYWHERE
    assert surfaces(mind, [SECRET]) == set()
    # What is kept in short has another size now, and is still not counted as whole.
    assert mind._shared.store().evictions.raw_bytes() == 0
    assert [finding for finding in mind.store.doctor(verify=True).findings if not finding.ok] == []
