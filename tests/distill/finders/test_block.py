"""The block names what is run and touched, each once, the newest first."""

from __future__ import annotations

from recollect.distill.finders import block
from recollect.model.record import CallRecord, SessionRecord
from tests.builders.records import edited, ran, read, session, turn


def worked(number: int, *calls: CallRecord) -> SessionRecord:
    return session(turn("Fix it", *calls), number=number)


def test_names_stand_there_once_with_the_usual_command() -> None:
    calls = [
        ran("npm test"),
        ran("npm test"),
        ran("npm run build -- --watch"),
        edited("/w/src/till.py"),
    ]

    assert block.lines([worked(1, *calls)], 100) == [
        "Run most: `npm run build`, `npm test`",
        "Files: till.py",
    ]


def test_what_is_newer_comes_first() -> None:
    """Habits change; half of a use is forgotten after eight sessions."""
    old = [worked(number, ran("make old"), edited("/w/old.py")) for number in range(1, 4)]
    new = [worked(number, ran("make new"), edited("/w/new.py")) for number in range(12, 15)]
    between = [worked(number, read("/w/notes.md")) for number in range(4, 12)]

    commands, files = block.lines([*old, *between, *new], 100)

    assert commands.index("make new") < commands.index("make old")
    assert files.index("new.py") < files.index("old.py")


def test_a_name_that_says_nothing_keeps_its_folder() -> None:
    found = block.lines(
        [worked(1, edited("/w/src/pay/index.ts"), edited("/w/src/till/index.ts"))], 100
    )

    assert found == ["Files: pay/index.ts, till/index.ts"]


def test_what_is_told_already_is_left_out() -> None:
    found = block.lines(
        [worked(1, ran("npm test"), ran("make pie"))], 100, known="- Checks: `npm test`"
    )

    assert found == ["Also run: `make pie`"]


def test_the_block_keeps_within_its_tokens() -> None:
    """More than 120 tokens of it only costs the rest."""
    calls = [edited(f"/w/src/part_{n}_of_the_shop.py") for n in range(60)]
    calls += [ran(f"make part{n}") for n in range(60)]

    found = "\n".join(block.lines([worked(1, *calls)], 110))

    assert 300 < len(found) <= 110 * 3.6 + 20


def test_scripts_and_what_only_looks_are_no_names() -> None:
    calls = [
        ran("python -c 'print(1)'"), ran("git commit -m \"$(cat <<'EOF'\nhello\nEOF\n)\""),
        ran("ls -la"), ran("dmesg | tail"),
    ]  # fmt: skip

    assert block.lines([worked(1, *calls)], 100) == ["Run most: `git commit`"]


def test_names_that_a_program_made_up_are_left_out() -> None:
    calls = [read(f"/w/{name}") for name in ("b563cc0.output", "call_01H7hMvCUpojhmwWL7qPuq1c.txt")]

    assert block.lines([worked(1, *calls, read("/w/till.py"))], 100) == ["Files: till.py"]


def test_a_pack_has_one_line_of_files_and_a_long_form_more() -> None:
    calls = [edited(f"/w/src/part_{n}_of_the_shop.py") for n in range(60)]

    assert len(block.lines([worked(1, *calls)], 120)) == 1
    assert len(block.lines([worked(1, *calls)], 190, lines_each=2)) == 2
