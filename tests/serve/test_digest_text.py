"""A digest as a person reads it."""

from __future__ import annotations

from typing import get_args

from recollect.model.digests import Digest, Evidence, EvidenceKind, Run, Task, Trouble
from recollect.model.sessions import Tokens
from recollect.serve.cli.digest import EVIDENCE, text


def test_a_digest_reads_from_top_to_bottom() -> None:
    """What was asked, how it went and why, what was done, what is left.

    Turns by their numbers, because the session is named.
    """
    task = Task(
        title="fix the worker", asked="fix the worker", turns=[1, 2, 3, 5], outcome="partial",
        p=0.55,
        evidence=[Evidence(kind="kept", ref="codex:a#2", text="git commit -m x"),
        Evidence(kind="admitted", ref="codex:a#5")],
        files=[f"file{number}.py" for number in range(14)],
        runs=[
            Run(ref="codex:a#1", command="pytest -q", ok=False, exit_code=1, check=True),
            Run(ref="codex:a#2", command="git commit -m " + "x" * 200, ok=True, exit_code=0),
            Run(ref="codex:a#2", command="make", ok=None),
        ],
        errors=[
            Trouble(ref="codex:a#1", error="No module named 'yaml'", steps=["uv add pyyaml"],
            worked="codex:a#2"),
            Trouble(ref="codex:a#5", error="out of memory"),
        ],
        tokens=Tokens(input=1_000, output=234), seconds=304,
    )  # fmt: skip
    other = Task(title="", asked="", turns=[4], outcome="uncertain", seconds=7)
    digest = Digest(
        session="codex:a", project=None, title="The worker", outcome="partial",
        summary="“fix the worker” partial",
        tasks=[task, other],
        open_ends=["`make` still fails (codex:a#5)"],
    )  # fmt: skip

    assert text(digest).splitlines() == [
        "codex:a  The worker",
        "partial: “fix the worker” partial",
        "",
        "1. fix the worker",
        "   partial (0.55 likely to be right), turns 1-3, 5, 5 min, 1,234 tokens",
        "   because the work was kept: git commit -m x (#2)",
        "   because the agent says that it did not manage (#5)",
        f"   changed {', '.join(f'file{number}.py' for number in range(12))} and 2 more",
        "   $ pytest -q  [failed, exit 1]",
        "   $ git commit -m " + "x" * 105 + "…  [ok]",
        "   $ make  [unclear]",
        "   ! No module named 'yaml'",
        "     fixed in #2 after 1 step",
        "     - uv add pyyaml",
        "   ! out of memory",
        "     not fixed in this session",
        "",
        "2. (nothing was asked)",
        "   uncertain, turn 4, 7 s",
        "",
        "left open:",
        "  `make` still fails (#5)",
    ]


def test_an_empty_digest_says_so() -> None:
    """A log may hold nothing but a heading."""
    assert text(
        Digest(session="codex:a", project=None, title="", outcome="uncertain", summary="")
    ) == ("codex:a  (untitled)\nuncertain: nothing was asked")


def test_every_kind_of_evidence_has_words() -> None:
    """The names of our own are no words for a reader."""
    assert set(EVIDENCE) == set(get_args(EvidenceKind))
