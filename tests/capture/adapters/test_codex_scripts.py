"""Codex code mode: scripts are taken apart into the calls they make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.capture.adapters.codex import Codex
from recollect.capture.adapters.codex.scripts import calls_in
from recollect.capture.adapters.codex.tools import outcome
from recollect.capture.assemble import assemble
from recollect.model.logs import Event, Source
from tests.builders import codex as b

PATCH = "*** Begin Patch\n*** Update File: trees.py\n@@\n-a\n+b\n*** End Patch\n"
DONE = "Script completed\nWall time 0.3 seconds\nOutput:\n"


def script(text: str, call_id: str = "call_x") -> dict[str, Any]:
    return b.item("custom_tool_call", name="exec", call_id=call_id, input=text)


def gave(*texts: str, call_id: str = "call_x") -> dict[str, Any]:
    parts = [{"type": "input_text", "text": text} for text in texts]
    return b.item("custom_tool_call_output", call_id=call_id, output=parts)


def calls(tmp_path: Path, *records: dict[str, Any]) -> list[Event]:
    """The calls that these records give, results joined."""
    path = b.rollout(tmp_path, [b.meta(), b.user(), *records])
    found = []
    for batch in assemble(Codex().read(Source("codex", str(path)), None)):
        for part in batch.turns.values():
            found += [event for event in part.events if event.kind == "tool_call"]
    return found


def test_a_script_that_runs_one_command_is_that_command(tmp_path: Path) -> None:
    """Its head lines are no output, its exit code and folder those of the command."""
    [call] = calls(
        tmp_path,
        script(
            'const r = await tools.shell_command({command:"npm test\\nnpm run lint",'
            '"workdir":"C:\\\\shop","timeout_ms":10000}); text(r)'
        ),
        gave(DONE, "Exit code: 0\nWall time: 0.2 seconds\nOutput:\n12 passed"),
    )

    assert (call.name, call.tool_kind) == ("shell_command", "shell")
    assert call.target == "npm test\nnpm run lint"
    assert call.input["workdir"] == "C:\\shop"
    assert (call.output, call.ok, call.exit_code, call.duration_ms) == ("12 passed", True, 0, 200)


def test_a_function_around_a_whole_script_or_its_results_hides_no_command(tmp_path: Path) -> None:
    """Neither decides whether the command is run."""
    made = [
        "(async () => { text(await tools.exec_command({cmd: 'make'})) })()",
        "[1].forEach(r => { text(r) }); await tools.exec_command({cmd: 'make'})",
    ]

    for text in made:
        [call] = calls(tmp_path, script(text), gave(DONE, "made"))
        assert (call.tool_kind, call.target) == ("shell", "make")


def test_a_command_that_broke_its_script_has_failed(tmp_path: Path) -> None:
    """The client throws what the command printed, with its exit code."""
    [call] = calls(
        tmp_path,
        script("text(await tools.shell_command({command: 'make'}))"),
        gave(
            "Script failed\nWall time 1.6 seconds\nOutput:\n",
            "Script error:\nExit code: 2\nWall time: 1.4 seconds\nOutput:\nno rule",
        ),
    )

    assert (call.output, call.ok, call.exit_code) == ("no rule", False, 2)


def test_a_result_that_is_passed_on_as_json_tells_its_exit_code(tmp_path: Path) -> None:
    """`text(r)` of `exec_command` writes the whole result."""
    [call] = calls(
        tmp_path,
        script('const r = await tools.exec_command({"cmd": "go test ./..."}); text(r);'),
        gave(DONE, json.dumps({"chunk_id": "1", "exit_code": 1, "output": "FAIL"})),
    )

    assert (call.target, call.output, call.ok, call.exit_code) == (
        "go test ./...", "FAIL", False, 1,
    )  # fmt: skip


def test_a_script_that_ended_says_nothing_of_an_exit_code_it_keeps(tmp_path: Path) -> None:
    """`text(r.output)` leaves it out: that is no pass."""
    [call] = calls(
        tmp_path,
        script("const r = await tools.exec_command({cmd: 'make'}); text(r.output);"),
        gave(DONE, "cc a.c"),
    )

    assert (call.output, call.ok, call.exit_code) == ("cc a.c", None, None)


def test_several_calls_have_their_own_outcomes(tmp_path: Path) -> None:
    """The script itself comes first, of kind other."""
    whole, one, two = calls(
        tmp_path,
        script(
            "const [a, b] = await Promise.all([\n  tools.exec_command({cmd: 'ls'}),\n"
            "  tools.exec_command({cmd: 'make', workdir: '/srv'})]);\ntext(a); text(b);"
        ),
        gave(
            DONE,
            json.dumps({"exit_code": 0, "output": "a.py"}),
            json.dumps({"exit_code": 2, "output": "no rule"}),
        ),
    )

    assert (whole.name, whole.tool_kind, whole.ok) == ("exec", "other", True)
    assert (one.target, one.output, one.ok) == ("ls", "a.py", True)
    assert (two.target, two.output, two.exit_code) == ("make", "no rule", 2)


def test_what_several_calls_gave_back_together_is_nobodys(tmp_path: Path) -> None:
    """One text for two calls: the script has it, and of the calls nothing is known."""
    whole, one, two = calls(
        tmp_path,
        script(
            "const a = await tools.exec_command({cmd: 'ls'});"
            "const b = await tools.exec_command({cmd: 'make'}); text(a.output + b.output);"
        ),
        gave(DONE, "a.py\nno rule"),
    )

    assert whole.output == "a.py\nno rule"
    assert {one.ok, two.ok, one.output, two.output} == {None}


@pytest.mark.parametrize(
    "how",
    [
        f"const p = {json.dumps(PATCH)};\ntext(await tools.apply_patch(p));",
        f"const p = String.raw`{PATCH}`;\ntext(await tools.apply_patch(p));",
        f"text(await tools.apply_patch(`{PATCH}`))",
        f"await tools.apply_patch({json.dumps(PATCH.splitlines())}.join('\\n'))",
    ],
)
def test_a_patch_in_a_script_is_an_edit_told_once(tmp_path: Path, how: str) -> None:
    """Its end is told by an event too, under an id that the script does not know."""
    [call] = calls(
        tmp_path,
        script(how),
        b.event("patch_apply_end", call_id="exec-1", success=True, changes={"trees.py": {}}),
        gave(DONE, "{}"),
    )

    assert (call.name, call.tool_kind, call.target) == ("apply_patch", "edit", "trees.py")
    assert call.ok is True


@pytest.mark.parametrize(
    "text",
    [
        "text(1 + 1)",
        "for (const f of ['a', 'b']) { text(await tools.exec_command({cmd: 'cat ' + f})) }",
        "const r = await tools.exec_command({cmd: `echo ${x}`}); text(r)",
        "if (load('x')) { await tools.exec_command({cmd: 'make'}) }",
        "tools.exec_command(",
        "const clean = () => tools.exec_command({cmd: 'rm -rf dist'}); text('ready')",
        "const clean = async () => { await tools.exec_command({cmd: 'rm -rf dist'}) };",
        "stale && await tools.exec_command({cmd: 'rm -rf dist'})",
        "const r = stale ? await tools.exec_command({cmd: 'rm -rf dist'}) : null",
    ],
)
def test_what_cannot_be_read_is_no_command(tmp_path: Path, text: str) -> None:
    """JavaScript that was taken for a shell line was told as a command to run."""
    [call] = calls(tmp_path, script(text), gave(DONE, "2"))

    assert (call.name, call.tool_kind, call.target) == ("exec", "other", text)
    assert (call.output, call.ok) == ("2", True)


def test_a_script_that_goes_on_is_ended_by_what_waits_for_it(tmp_path: Path) -> None:
    """`wait` is told how the command ended."""
    command, waiting = calls(
        tmp_path,
        script("const r = await tools.exec_command({cmd: 'make'}); text(r)"),
        gave("Script running with cell ID 7\nWall time 10.0 seconds\nOutput:\n"),
        b.call("wait", "call_w", cell_id="7"),
        b.output(DONE + json.dumps({"exit_code": 2, "output": "no rule"}), "call_w"),
    )

    assert (command.target, command.ok, command.exit_code) == ("make", False, 2)
    assert waiting.tool_kind == "task"


@given(st.text("tools.exec(){}[]'\"`$\\+,:;= \nconstx/*", max_size=80))
def test_any_text_is_a_script(text: str) -> None:
    """Models write what they like; nothing raises."""
    calls_in(text)
    calls_in(f"await tools.exec_command({{cmd: {text}}})")


def test_a_head_that_repeats_the_command_is_no_output() -> None:
    """Version 0.115 writes it, over as many lines as the command has."""
    told = outcome(
        "Command: /bin/zsh -lc 'make\necho Output:\n'\nChunk ID: 5a\n"
        "Wall time: 0.0500 seconds\nProcess exited with code 2\nOutput:\nno rule"
    )

    assert (told.text, told.exit_code, told.ok, told.duration_ms) == ("no rule", 2, False, 50)


def test_a_command_that_goes_on_is_ended_by_what_asks_after_it(tmp_path: Path) -> None:
    """`write_stdin` polls: what it is told of an exit is that of the command."""
    goes_on = "Wall time: 1.0 seconds\nProcess running with session ID 41\nOutput:\n"
    command, first, second = calls(
        tmp_path,
        b.call("exec_command", "call_1", cmd="make"),
        b.output(goes_on + "cc a.c", "call_1"),
        b.call("write_stdin", "call_2", session_id=41, chars=""),
        b.output(goes_on, "call_2"),
        b.call("write_stdin", "call_3", session_id=41, chars="\x03"),
        b.output("Wall time: 1.0 seconds\nProcess exited with code 2\nOutput:\nno rule", "call_3"),
    )

    assert (command.target, command.output, command.exit_code) == ("make", "cc a.c", 2)
    assert (first.tool_kind, first.ok) == ("other", None)
    assert (second.output, second.ok, second.exit_code) == ("no rule", None, None)
