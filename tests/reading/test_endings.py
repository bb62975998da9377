"""How calls ended: passed, failed, or nobody can know."""

from __future__ import annotations

import pytest

from recollect.reading.endings import ending_of


def ending(command: str, code: int | None, output: str = "") -> str:
    return ending_of("shell", command, None, code, output)


@pytest.mark.parametrize(
    "command",
    [
        "rg TODO src", "cd app && grep -rn port .", "cat a.log | grep ERROR", "diff -u a b",
        "test -f .env", "[ -d node_modules ]", "[[ -d dist ]]", "cmp a b", "git diff --quiet",
        "git diff --exit-code HEAD", "ls src && rg port", "bash -lc 'rg -n port src'",
        "git merge-base --is-ancestor a b", "which tcpdump",
    ],
)  # fmt: skip
def test_exit_1_of_what_answers_a_question_is_an_answer(command: str) -> None:
    """That there is no such line is what somebody wanted to know; exit 2 is an error."""
    assert ending(command, 1) == "passed"
    assert ending(command, 2) == "failed"


@pytest.mark.parametrize(
    "command",
    ["npm test", "npm test && rg skipped out.txt", "git diff", "grep x y && make", "false"],
)
def test_exit_1_of_anything_else_is_a_failure(command: str) -> None:
    """In a chain nobody knows which link answered."""
    assert ending(command, 1) == "failed"


@pytest.mark.parametrize(
    "command",
    [
        "npm test 2>&1 | tail -5", "npm test || true", "npm test; echo done", "make\necho done",
        "if [ -f x ]; then make; fi", "for d in a b; do make -C $d; done", "make &",
        "bash --noprofile --norc -lc 'npm test | tail'", "cd app && npm test | head",
        "python3 build.py | tail", "npm test || echo failed",
        "npm test; true", "npm test; sleep 1", "cd app\nnpm test\ncd ..", "npm test && cd x; ls",
        "bash -lc 'npm test; true'", "make && sleep 1 || true", "npm test & npm run lint & wait",
    ],
)  # fmt: skip
def test_exit_0_of_a_line_says_nothing_about_what_it_hides(command: str) -> None:
    """Such calls were counted as passes, and proved things that were never true."""
    assert ending(command, 0) == "unknown"
    assert ending_of("shell", command, True, None, "") == "unknown"


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("npm test 2>&1 | tail -5", "Tests: 12 passed, 12 total\n12 passed", "passed"),
        ("npm test 2>&1 | tail -5", "1 failed, 11 passed", "failed"),
        ("make; echo exit: $?", "cc a.c\nexit: 2", "failed"),
        ("make; echo exit: $?", "cc a.c\nexit: 0", "passed"),
        ("make > log 2>&1; echo $?", "0", "passed"),
        ("rg port src; echo exit $?", "exit 1", "passed"),
        ("pnpm vitest run src 2>&1 | tail -1", "      Tests  22 passed (22)", "passed"),
        ("python3 build.py | tail", "Traceback (most recent call last):\n  ...", "failed"),
        ("frobnicate x | head", "bash: frobnicate: command not found", "failed"),
        ("go test ./... | tail", "ok  \tshop/cart\t0.021s", "passed"),
        ("npm test | tail", "ok so the server is listening", "unknown"),
        ("npm test | tail -2", "ok 1 - adds\nnot ok 2 - removes", "failed"),
    ],
)
def test_the_output_says_what_the_exit_code_hides(command: str, output: str, expected: str) -> None:
    """Its own last words are the best witness of a test run."""
    assert ending(command, 0, output) == expected


@pytest.mark.parametrize(
    "command",
    [
        "npm test", "cd app && npm test", "npm ci && npm test", "ls; cat a; pwd",
        "git log | head -5", "rg port src | head", "mkdir -p out; cp a out; npm test",
        "set -e\nmake\nls", "set -euo pipefail; make | tee log", "grep port a || echo none",
        "npm start & sleep 2; curl -s localhost", "python3 - <<'EOF'\nprint(1)\nEOF",
        "npm test;", "npm test && cd ..", "bash -lc 'npm test;'", "cd x || exit 1; npm test",
    ],
)  # fmt: skip
def test_exit_0_is_a_pass_where_nothing_is_hidden(command: str) -> None:
    """What only looks, or complains by name when it fails, hides nothing."""
    assert ending(command, 0, "some lines") == "passed"


def test_what_only_looks_on_windows_hides_nothing() -> None:
    """Cmdlets that read are readers too."""
    assert ending(r"Get-Content 'C:\shop\a.txt' | Select-Object -First 5", 0) == "passed"
    assert ending(r"cd C:\shop; npm test 2>&1 | Select-Object -Last 5", 0) == "unknown"
    assert ending(r"Set-Location -Path C:\shop; npm test", 0) == "passed"


def test_what_complains_in_the_middle_of_a_line_has_not_passed() -> None:
    """`cat missing | head` exits with 0."""
    assert ending("cat a | head", 0, "cat: a: No such file or directory") == "unknown"


def test_what_git_or_a_search_complains_of_is_no_answer() -> None:
    """Shells around them may make 1 of any exit code, and pipes 0."""
    assert ending("git diff HEAD~1 a.py | grep x", 0, "fatal: bad revision 'HEAD~1'") == "unknown"
    assert ending("pwsh -Command 'rg \"(\" src'", 1, "rg: regex parse error:\n  (") == "failed"
    assert ending("git diff --quiet", 1, "fatal: not a git repository") == "failed"


@pytest.mark.parametrize(
    "said",
    ["bash: line 1: cd: web: No such file or directory", "zsh:cd:1: no such file or directory: web",
     "cd: no such file or directory: web", "/bin/sh: 1: cd: can't cd to web"],
)  # fmt: skip
def test_what_could_not_go_where_it_should_answers_nothing(said: str) -> None:
    """Exit 1 is the shell's own there, and what follows a `;` ran in another folder."""
    assert ending("cd web && rg useState", 1, said) == "failed"
    assert ending("cd web; ls", 0, f"{said}\nREADME.md") == "unknown"
    assert ending("cd web && ls", 0, "abcd: 1") == "passed"


@pytest.mark.parametrize(
    "command",
    ["mv a b 2>/dev/null; echo moved", "cat a &>/dev/null || true", "rm a >/dev/null 2>&1; ls",
     "Get-Content a 2>$null; Get-Date"],
)  # fmt: skip
def test_what_may_not_complain_has_not_passed(command: str) -> None:
    """Silence says nothing when the line itself asked for it."""
    assert ending(command, 0, "moved") == "unknown"


@pytest.mark.parametrize("command", ["npm test", "npm test | tail", ""])
def test_a_call_without_a_logged_end_has_neither_passed_nor_failed(command: str) -> None:
    """Four shell calls in a hundred have none."""
    assert ending(command, None, "12 passed") == "unknown"
    assert ending_of("edit", "a.py", None, None, "done") == "unknown"


def test_a_command_that_was_stopped_on_purpose_has_not_failed() -> None:
    """`timeout 5 npm start` is how agents look at a server for a while."""
    assert ending("timeout 5 npm start", 124) == "unknown"
    assert ending("npm start", 124) == "failed"


def test_other_tools_end_as_their_log_says() -> None:
    """An edit has no exit code, and its target is no command."""
    assert ending_of("edit", "a | b", True, None, "") == "passed"
    assert ending_of("mcp", "grep x", False, 1, "") == "failed"
