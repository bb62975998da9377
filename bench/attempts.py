"""Attempts for measuring: made up, always the same, of the size that agents record."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recollect.memory import Memory
from recollect.model.episodes import Context, Ending, Step
from recollect.settings import Settings

STEPS = [
    Step("bash", "pytest -q tests/test_orders.py", 812, 420, False, "2 failed, 31 passed in 3.1s"),
    Step("read", "src/shop/orders.py", 14, 900, True, "214 lines"),
    Step("grep", "def total", 9, 120, True, "3 matches in 2 files"),
    Step("edit", "src/shop/orders.py", 21, 260, True, "+4 -2"),
    Step("bash", "pytest -q tests/test_orders.py", 799, 400, False, "1 failed, 32 passed in 3.0s"),
    Step("read", "src/shop/tax.py", 11, 700, True, "88 lines"),
    Step("edit", "src/shop/tax.py", 19, 180, True, "+1 -1"),
    Step("bash", "pytest -q tests/test_orders.py", 805, 400, True, "33 passed in 3.0s"),
    Step("bash", "ruff check src", 140, 60, True, "All checks passed!"),
    Step("bash", "git commit -am 'Round tax per line'", 55, 80, True, "1 file changed"),
]
TASK = "Round the tax of an order per line"
SHOP = Context(
    language="python", domain="work", tags=("tax", "orders"), project="github.com/acme/shop"
)
WELL = Ending("success", result="tax is rounded per line now", duration_ms=61_000)

_DO = (
    "fix",
    "add",
    "refactor",
    "test",
    "document",
    "remove",
    "profile",
    "debug",
    "review",
    "deploy",
)
_WHAT = (
    "login form", "tax table", "migration", "cache", "retry loop", "docker image", "billing job",
    "search index", "report",
    "api client", "parser", "webhook", "upload", "export", "permission check", "rate limit",
    "invoice", "checkout", "mailer",
)  # fmt: skip
_WHERE = (
    "the shop",
    "the backend",
    "the worker",
    "our cli",
    "the website",
    "the core",
    "the tests",
    "ci",
    "the docs",
)
_WHY = (
    "it fails on empty input", "customers wait too long", "the old way is deprecated",
    "two threads collide",
    "the numbers are wrong", "the log is full of it", "a test is flaky", "the deploy needs it",
    "it leaks memory",
)  # fmt: skip
_LANGUAGES, _OUTCOMES = (
    ("python", "go", "typescript", "rust"),
    ("success", "success", "partial", "fail"),
)


class Making:
    """Attempts one after the other, by a seed."""

    def __init__(self, seed: int = 6) -> None:
        self._chance = random.Random(seed)

    def task(self, words: int = 12) -> str:
        """A task of about so many words."""
        pick = self._chance.choice
        said: list[str] = []
        while len(said) < words:
            said += f"{pick(_DO)} the {pick(_WHAT)} in {pick(_WHERE)} because {pick(_WHY)}".split()
        return " ".join(said[:words])

    def context(self, users: int = 7) -> Context:
        """One of so many users' projects."""
        pick, user = self._chance.choice, self._chance.randrange(users)
        return Context(
            language=pick(_LANGUAGES),
            tags=(pick(_WHAT), f"user{user}"),
            project=f"github.com/acme/shop{user}",
        )

    def record(self, memory: Memory, *, words: int = 12, users: int = 7) -> str:
        """An attempt of ten steps; its id."""
        ref = memory.episodes.start(self.task(words), self.context(users))
        for step in STEPS:
            memory.episodes.log(ref, step)
        memory.episodes.complete(ref, self._chance.choice(_OUTCOMES))
        return ref


@contextmanager
def new_memory(folder: Path, *, redact: bool = True, **settings: object) -> Iterator[Memory]:
    """A memory over an empty store in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("recollect.db*"):
        path.unlink()
    values = {"redact.enabled": redact, "redact.environment": False, **settings}
    with Memory(Settings(str(folder), str(folder / "recollect.db"), values), environ={}) as memory:
        yield memory
