"""The command line and the terminal interface, over a store of 45,000 turns with all its vectors.

Commands are new processes, against an interpreter that does nothing, by their CPU time: in a pipe,
and as a person sees them, in colours. The terminal interface is started in a terminal of its own
and left when its first list is there. A key is a letter of a query as it is typed, from the third
on, with the list that it makes; it is measured in a process that runs, all threads together.
"""

from __future__ import annotations

import asyncio
import os
import pty
import select
import statistics
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from bench.clocks import cpu_seconds
from bench.measure import Figure, absolute, alternate, compared, wall_seconds
from bench.plan import Plan
from bench.queries import Query, choose_queries, ensure_texts
from recollect.memory import Memory

BARE = "`python -c pass`"
PROGRAM = str(Path(sysconfig.get_path("scripts"), "recollect"))
FEWEST_TYPED, QUERIES_TYPED = 3, 8
# What stands above the first list, and how long it may take on the slowest of machines.
FIRST_LIST, MOST_SECONDS = b"Newest", 60.0


def figures(plan: Plan) -> list[Figure]:
    """All figures, over the same store."""
    home = plan.embedded_store()
    environ = plan.environ(home)
    queries = choose_queries(home / "recollect.db", ensure_texts(plan.texts, environ))
    return [*commands(plan, environ, queries), *screens(plan, environ), *keys(environ, queries)]


def commands(plan: Plan, environ: dict[str, str], queries: list[Query]) -> list[Figure]:
    """A cold search and the bare name, in a pipe and for a person."""
    search = ["search", "--mode", "text", *queries[0]]
    asked = {
        "terminal-search": ("`recollect search`, by word, in a pipe", [*search]),
        "terminal-search-colour": ("the same, as a person sees it", [*search, "--color", "always"]),
        "terminal-bare": ("`recollect` alone, in a pipe", []),
        "terminal-bare-colour": ("the same, as a person sees it", ["--color", "always"]),
    }
    found = []
    for name, (title, words) in asked.items():
        _cpu_of_process([PROGRAM, *words], environ)
        pairs = alternate(
            lambda words=words: _cpu_of_process([PROGRAM, *words], environ),  # type: ignore[misc]
            lambda: _cpu_of_process([sys.executable, "-c", "pass"], environ),
            plan.runs_or(11),
        )
        found.append(compared(name, title, BARE, pairs, target=None, unit="s CPU"))
    return found


def screens(plan: Plan, environ: dict[str, str]) -> list[Figure]:
    """From the start of `recollect tui` until its first list is there."""
    _first_list(environ)
    pairs = alternate(
        lambda: _first_list(environ)[1],
        lambda: _cpu_of_process([sys.executable, "-c", "pass"], environ),
        plan.runs_or(5),
    )
    seconds = [_first_list(environ)[0] for _ in range(plan.runs_or(5))]
    title = "`recollect tui`, from its start to its first list"
    return [
        absolute("terminal-first", title, seconds, target=0.9, unit="s wall"),
        compared(
            "terminal-first-cpu", "the same, and left again", BARE, pairs, target=None,
            unit="s CPU",
        ),
    ]  # fmt: skip


def keys(environ: dict[str, str], queries: list[Query]) -> list[Figure]:
    """A letter that is typed, until its hits are on the screen."""
    spent = asyncio.run(_typed(environ, [" ".join(one) for one in queries[:QUERIES_TYPED]]))
    worst = statistics.quantiles(spent, n=20)[-1]
    title = "a key in the box of `recollect tui`, p50"
    return [
        absolute("terminal-key", title, spent, target=0.1, unit="s CPU"),
        absolute("terminal-key-p95", "the same, p95", [worst], target=None, unit="s CPU"),
    ]


async def _typed(environ: dict[str, str], texts: Sequence[str]) -> list[float]:
    from recollect.serve.tui.app import RecollectApp

    spent = []
    with Memory.open(environ=environ) as memory:
        app = RecollectApp(memory)
        async with app.run_test(size=(100, 30)) as pilot:
            await _settle(app, pilot)
            for text in texts:
                for place, letter in enumerate(text):
                    start = cpu_seconds()
                    await pilot.press("space" if letter == " " else letter)
                    await _settle(app, pilot)
                    if place >= FEWEST_TYPED - 1:
                        spent.append(cpu_seconds() - start)
                await pilot.press("escape")
                await _settle(app, pilot)
    return spent


async def _settle(app: object, pilot: object) -> None:
    """Wait for the pauses after a key, and for the list and the preview that follow."""
    from recollect.serve.tui.browse import KEY_SECONDS, PREVIEW_SECONDS

    for pause in (KEY_SECONDS, PREVIEW_SECONDS):
        await pilot.pause(2 * pause)  # type: ignore[attr-defined]
        await app.workers.wait_for_complete()  # type: ignore[attr-defined]
    await pilot.pause()  # type: ignore[attr-defined]


def _cpu_of_process(command: list[str], environ: dict[str, str]) -> float:
    streams = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    process = os.posix_spawn(command[0], command, environ, file_actions=streams)
    _, status, used = os.wait4(process, 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime


def _first_list(environ: dict[str, str]) -> tuple[float, float]:
    """Wall seconds until the first list, and the CPU of it with the end."""
    start = wall_seconds()
    process, terminal = pty.fork()
    if not process:
        os.execve(PROGRAM, [PROGRAM, "tui"], environ | {"TERM": "xterm-256color"})
    seen = b""
    while FIRST_LIST not in seen:
        if wall_seconds() - start > MOST_SECONDS:
            raise RuntimeError("recollect tui shows no list")
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 65536)
    took = wall_seconds() - start
    os.write(terminal, b"\x03")
    while True:
        try:
            if not os.read(terminal, 65536):
                break
        except OSError:
            break
    _, _, used = os.wait4(process, 0)
    os.close(terminal)
    return took, used.ru_utime + used.ru_stime
