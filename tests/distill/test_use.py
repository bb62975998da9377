"""What was used when it was told rises a little; what never was sinks a little."""

from __future__ import annotations

from recollect.distill.remember import UNUSED_TIMES
from tests.builders.hooks import SHOP
from tests.builders.work import Remember, Work


def test_what_was_told_in_vain_sinks_and_what_was_used_rises(remember: Remember) -> None:
    """Less than one more session that says the same would count."""
    work = Work(1).ask("are the tests green?").run("make test", "ok").run("npm run lint", "ok")
    mind = remember(work.run("pytest: x", "bash: pytest: command not found", code=127))
    list(mind.make_ready())
    store = mind._shared.store()
    (note, *_) = store.notes.in_memory(SHOP)

    def value_after(used: str, unused: str, times: int) -> float:
        store.db.execute("delete from injections")
        for number in range(times):
            mind.injections.record("hook", "SessionStart", [note.ref], session=f"codex:{number}")
        store.db.execute("update injections set used = ?, unused = ?", (used, unused))
        store.notes.outdate(SHOP)
        list(mind.make_ready())
        return store.notes.get(note.ref).value

    before = value_after("", "", 1)

    assert before < value_after(note.ref, "", 2) < before + 0.5
    assert before - 0.5 < value_after("", note.ref, UNUSED_TIMES) < before
