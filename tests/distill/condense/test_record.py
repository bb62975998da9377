"""The record holds what a model needs to write a memory, within its bytes, and always the same."""

from __future__ import annotations

import re
from typing import Any

from recollect.distill import finders, ranking
from recollect.distill.condense import Marks, Record, Subject, condense
from recollect.model.record import CallRecord, SessionRecord
from tests.builders.records import FOLDER, ran, session, turn, used


def record(*sessions: SessionRecord, **options: Any) -> Record:
    subject = Subject("shop", sessions, sessions, options.pop("others", {}))
    lines = ranking.weigh(finders.find(sessions), sessions)
    return condense(subject, lines, Marks(sessions), lambda text: text, **options)


def test_it_tells_who_said_what_in_order_with_short_marks() -> None:
    found = record(
        session(
            turn("use pnpm from now on, never npm", reply="Done. The lockfile is pnpm-lock.yaml.")
        )
    )

    assert re.search(r"^\[\w{4}#1\] P use pnpm from now on, never npm$", found.text, re.M)
    assert "R " in found.text
    assert "pnpm-lock.yaml" in found.text
    assert (found.sessions, found.prompts, found.left_out) == (1, 1, 0)


def test_a_failure_stands_beside_the_next_command_of_its_form_that_passed() -> None:
    """Without a logged pass it is no remedy: 4 % of all calls have no outcome."""
    failing = ran("npm test", "Error: Cannot find module 'dotenv'", code=1)
    unknown = ran("npm test --offline", code=None)
    passing = ran("npm test -w api")

    text = record(session(turn("run the tests", failing, unknown, passing))).text

    assert "`npm test` -> Error: Cannot find module 'dotenv' => `npm test -w api`" in text


def test_what_has_no_outcome_is_counted_apart() -> None:
    calls = (ran("yarn build"), ran("yarn build", code=None), ran("yarn build", code=None))

    text = record(session(turn("build it", *calls))).text

    assert "`yarn build` ×1, outcome not logged ×2" in text


def test_a_command_without_any_outcome_is_not_among_those_that_passed() -> None:
    text = record(session(turn("deploy", ran("vercel deploy --prod", code=None)))).text

    assert "- run, outcome not logged: `vercel deploy --prod` ×1" in text


def test_a_paste_is_led_by_its_error() -> None:
    log = "$ npm run dev\n> vite\nat node:internal/main\nError: listen EADDRINUSE :::8080"
    paste = f"it fails\n```\n{log}\n```"

    text = record(session(turn(paste))).text

    assert "[paste, 3 lines: Error: listen EADDRINUSE :::8080 | begins: $ npm run dev]" in text


def test_a_prompt_that_comes_again_is_counted() -> None:
    text = record(*(session(turn("check the inbox now"), number=n) for n in range(1, 4))).text

    told = text.partition("## Sessions")[2].partition("## End")[0]
    assert told.count("check the inbox now") == 1
    assert "P check the inbox now (×3, last [" in told


def test_a_template_is_told_once_and_what_was_given_to_it_each_time() -> None:
    steps = (f"Step {n}: read every file of the feature and write it down." for n in range(30))
    body = "\n".join(steps)
    prompts = [f"{body}\nThis time: {what}" for what in ("the cart", "the till", "the cellar")]

    text = record(*(session(turn(one), number=n) for n, one in enumerate(prompts, 1))).text

    assert text.partition("## End")[0].count("Step 3: read every file") == 1
    assert "sent ×3" in text
    assert "(template T1) / This time: the cellar" in text


def test_the_end_of_the_last_session_is_whole() -> None:
    todos = [
        {"content": "write the migration", "status": "pending"},
        {"content": "rename the column", "status": "completed"},
    ]
    plan = used("TodoWrite", {"todos": todos})
    sessions = [
        session(turn("add a cart")),
        session(turn("now the migration", plan, reply="It is not tested yet."), number=2),
    ]

    end = record(*sessions).text.partition("## End of the last session")[2]

    assert "now the migration" in end
    assert "It is not tested yet." in end
    assert "Open to-do" in end
    assert "rename the column" not in end


def long_project(sessions: int = 120) -> list[SessionRecord]:
    return [
        session(
            *(
                turn(
                    f"In step {n}-{t} the parser of module{n}x{t} has to accept empty lines, " * 3,
                    ran(f"pytest tests/test_{n}_{t}.py", "FAILED x", code=t % 2),
                    reply=f"The cause was in module{n}x{t}.py: it requires a header. " * 6,
                )
                for t in range(4)
            ),
            number=n + 1,
        )
        for n in range(sessions)
    ]


def test_it_stays_within_its_bytes_and_says_what_it_left_out() -> None:
    found = record(*long_project())

    assert 50_000 < len(found.text.encode()) <= 60_000
    assert found.cuts
    assert any("replies" in cut for cut in found.cuts)


def test_prompts_are_shortened_before_one_is_left_out() -> None:
    found = record(*long_project(80))

    assert found.left_out == 0
    assert any("prompts at" in cut for cut in found.cuts)


def test_so_many_prompts_that_they_cannot_stay_are_counted() -> None:
    found = record(*long_project(40), most_bytes=8_000)

    assert len(found.text.encode()) <= 8_000
    assert found.left_out > 0
    assert any("prompts left out" in cut for cut in found.cuts)


def test_the_same_sessions_give_the_same_record() -> None:
    sessions = long_project(30)

    assert record(*sessions) == record(*sessions)


def test_sessions_that_may_not_be_sent_are_counted_and_not_told() -> None:
    text = record(session(turn("add a cart")), others={"codex": 12}).text

    assert "Not in this record: 12 sessions of codex" in text


def test_a_mark_stays_when_sessions_are_added() -> None:
    old, new = (
        SessionRecord(ref, "2026-01-01T10:00:00Z", FOLDER, (turn("one")._replace(ref=f"{ref}#1"),))
        for ref in ("codex:aaaa-2222-55556666abcd", "codex:bbbb-2222-77776666abcd")
    )

    before, after = Marks([old]), Marks([old, new])

    assert before.of(old.turns[0].ref) == after.of(old.turns[0].ref) == "[abcd#1]"
    assert after.of(new.turns[0].ref) == "[6abcd#1]"
    assert after.find("6abcd#1") == new.turns[0].ref
    assert after.find("6abcd#2") is None


def test_a_refusal_that_a_client_gives_as_output_is_the_persons_word() -> None:
    said = "please do not touch the cart, the other team owns it"
    no = CallRecord("edit", "Edit", "src/cart.py", ok=False, output=said)

    text = record(session(turn("fix the total", no))).text

    assert (
        'A stopped Edit `src/cart.py`: "please do not touch the cart, the other team owns it"'
        in text
    )


def test_configuration_that_was_read_says_how_things_are_run() -> None:
    scripts = '{\n  "dev": "vite --port 4173",\n  "test": "vitest run"\n }'
    package = f'{{\n "scripts": {scripts},\n "engines": {{"node": ">=20"}}\n}}'
    read = CallRecord("read", "Read", f"{FOLDER}/package.json", ok=True, output=package)

    text = record(session(turn("how is it run?", read))).text

    assert "package.json scripts: dev = `vite --port 4173`; test = `vitest run`" in text
    assert "engines" in text
