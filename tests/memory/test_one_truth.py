"""A secret that one session tells by its name is taken out of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from recollect.memory import Memory
from recollect.memory.store import MOST_TURNS
from recollect.serve.cli import main
from tests.builders.homes import chat, claude_log

KEY = "q7Zt2LxP9vKm4RwB8nYd3HcF"
BUILD = "5f2c9a1e7d3b8064c2f1a9e0d7b35846"


@pytest.fixture
def mind(home: Path) -> Iterator[Memory]:
    with Memory.open(home / "recollect.db", environ={"HOME": str(home)}) as made:
        yield made


def say(home: Path, number: int, *prompts: str) -> None:
    talk = chat(number, cwd="/home/ada/webshop")
    for prompt in prompts:
        talk.user(prompt)
        talk.reply("Done.")
    claude_log(home, talk)


def stored(mind: Memory) -> str:
    return msgspec.json.encode(list(mind.store.export())).decode()


def test_import_takes_out_what_an_earlier_import_recognised(home: Path, mind: Memory) -> None:
    say(home, 1, f"SERVICE_TOKEN={KEY}")
    mind.import_logs()
    say(home, 2, f"what does {KEY} open?")
    mind.import_logs()

    assert KEY not in stored(mind)


def test_a_scan_takes_out_what_was_recognised_later(home: Path, mind: Memory) -> None:
    say(home, 1, f"what does {KEY} open?")
    mind.import_logs()
    say(home, 2, f"SERVICE_TOKEN={KEY}")
    mind.import_logs()
    assert stored(mind).count(KEY) > 0

    planned = mind.store.rescan(dry_run=True)
    assert stored(mind).count(KEY) > 0
    report = mind.store.rescan()

    (value,) = planned.values
    assert (value.turns, value.times, value.first[-2:]) == (1, 1, "#1")
    assert (planned.turns_changed, report.turns_changed) == (0, 1)
    assert KEY not in stored(mind)


def test_a_value_in_very_many_turns_waits_for_a_yes(home: Path, mind: Memory) -> None:
    """It may be a word that only looks like a secret."""
    say(home, 1, *(f"{number}: build {BUILD} again" for number in range(MOST_TURNS + 1)))
    mind.import_logs()
    say(home, 2, f"api token: `{BUILD}`")
    mind.import_logs()

    (value,) = mind.store.rescan().values
    assert (value.turns, value.waits) == (MOST_TURNS + 1, True)
    assert BUILD in stored(mind)

    mind.store.rescan(frequent=True)
    assert BUILD not in stored(mind)


def test_a_password_that_is_the_projects_name_costs_no_word(home: Path, mind: Memory) -> None:
    say(home, 1, "open the webshop", "DB_PASSWORD=webshop make migrate", "psql webshop")
    mind.import_logs()
    before = stored(mind)

    report = mind.store.rescan()

    assert (report.values, report.turns_changed) == ([], 0)
    assert stored(mind) == before
    assert before.count("webshop") >= 3


def test_the_command_lists_what_would_go_and_never_the_value(
    home: Path, mind: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    say(home, 1, f"what does {KEY} open?")
    mind.import_logs()
    say(home, 2, f"SERVICE_TOKEN={KEY}")
    mind.import_logs()

    code = main(["redact", "--rescan", "--dry-run", "--store", mind.settings.store])

    told = capsys.readouterr().out
    assert code == 0
    assert "  1 time in 1 turn, first in claude-code:" in told
    assert told.endswith("1 value would go. Nothing was changed.\n")
    assert KEY not in told
    assert KEY in stored(mind)
