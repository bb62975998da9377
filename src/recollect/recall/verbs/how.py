"""How a tool is used here: the invocations that worked, grouped by what they are for.

The exit code in a log is that of a whole line, so it tells about one command
in it only where the shell passes it on (`told` in shell.py). Everything else
is counted as unclear, not as a success: it is only told when nothing is known
to have worked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.errors import UsageError
from recollect.model.answers import Answers, Invocation
from recollect.model.search import Query, Scope
from recollect.reading.programs import find_use, use_of
from recollect.reading.quoting import as_run
from recollect.reading.shell import grammar, pieces, told
from recollect.system.clock import iso

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recollect.model.calls import Call, Scene
    from recollect.store import Store

# Enough to know how a tool is used; the newest are looked at first.
NEWEST_CALLS = 5_000
NEWEST_INPUTS = 200
EXAMPLE_CHARACTERS = 400


class Uses:
    """The uses for one purpose, added up."""

    def __init__(self, shape: str) -> None:
        self.shape = shape
        self.counts = {True: 0, False: 0, None: 0}
        self.example: tuple[tuple[object, ...], str, Scene] | None = None
        self.agents: dict[str, None] = {}
        self.projects: dict[str, None] = {}
        self.times: list[int] = []

    def add(self, ok: bool | None, text: str, scene: Scene) -> None:
        """One more use. The best example worked, in a turn that counts, lately, and is short."""
        self.counts[ok] += 1
        self.agents[scene.agent] = None
        if scene.project:
            self.projects[scene.project] = None
        if scene.at is not None:
            self.times.append(scene.at)
        worth = (
            ok is True,
            ok is None,
            scene.live and not scene.subagent and not scene.external,
            -(len(text) // 80),
            scene.at or 0,
        )
        if self.example is None or worth > self.example[0]:
            self.example = (worth, text, scene)

    def row(self, tool: str) -> Invocation:
        """The answer."""
        assert self.example is not None
        _, text, scene = self.example
        return Invocation(
            tool=tool, shape=self.shape, ok=self.counts[True], failed=self.counts[False],
            unclear=self.counts[None],
            example=text, ref=scene.ref, external=scene.external,
            agents=sorted(self.agents), projects=sorted(self.projects),
            first_at=iso(min(self.times, default=None)), last_at=iso(max(self.times, default=None)),
        )  # fmt: skip


def how(
    store: Store,
    scope: Scope,
    *,
    own: str | None,
    limit: int | None = 10,
    failed: bool = False,
) -> Answers[Invocation]:
    """What a tool was used for and worked, the most used first; or what never worked.

    The words of the query are the tool, its filters choose the turns; `own`
    is the project among them that nobody named, so that it must be said.
    """
    # Half a character cannot be looked up, and is in no tool's name.
    words = [
        word
        for term in scope.query.terms
        for word in term.text.encode("utf-8", "replace").decode().split()
    ]
    if not words:
        raise UsageError(
            "Which tool?",
            hint="Try: recollect how pytest",
        )
    tool = " ".join(words)
    scope = Scope(Query([], scope.query.filters), scope.domains)
    calls = store.calls.of_program(words[0], scope)
    newest = calls[:NEWEST_CALLS]
    rows = [uses.row(tool) for uses in _by_shape(store, newest, words)]
    rows.sort(key=lambda row: (row.ok, -row.failed, row.last_at or ""), reverse=True)
    worked = [row for row in rows if row.ok]
    unclear = [row for row in rows if row.unclear and not row.ok]
    never = [row for row in rows if not row.ok and not row.unclear]
    remarks = []
    if own:
        remarks.append(f"Only in {own}, the project of this folder. All projects: --everywhere")
    if unclear and not failed:
        remarks.append(
            f"{len(unclear)} more whose outcome the logs do not tell."
            if worked
            else "None of these is known to have worked: the logs do not tell."
        )
    # A line that uses the tool twice stands for its more frequent use.
    lines: dict[str, Invocation] = {}
    for row in never if failed else worked or unclear:
        lines.setdefault(row.example, row)
    worked = list(lines.values())
    answers = Answers(worked[:limit], remarks)
    if never and not failed:
        answers.remarks.append(
            f"{len(never)} more that never worked: recollect how {tool} --failed"
        )
    if len(worked) > len(answers):
        answers.remarks.append(f"{len(worked) - len(answers)} more. To see them, raise --limit.")
    if len(calls) > len(newest):
        answers.remarks.append(
            f"Counted the newest {NEWEST_CALLS:,} of {len(calls):,} calls. For older ones, add "
            "until:DATE."
        )
    return answers


def _by_shape(store: Store, calls: list[Call], tool: list[str]) -> Iterable[Uses]:
    """The uses of a tool in some calls, the newest first, put together by their shape."""
    scenes = store.turns.scenes(list(dict.fromkeys(call.turn for call in calls)))
    found: dict[str, Uses] = {}
    copies: set[tuple[object, ...]] = set()
    for call in reversed(calls):
        scene = scenes[call.turn]
        if (*scene.copy_of, call.ordinal) not in copies:
            copies.add((*scene.copy_of, call.ordinal))
            for shape, ok, text in _uses(call, tool):
                found.setdefault(shape, Uses(shape)).add(ok, text, scene)
    for shape, ok, text, scene in _tool_calls(store, calls, tool, scenes):
        found.setdefault(shape, Uses(shape)).add(ok, text, scene)
    return found.values()


def _uses(call: Call, tool: list[str]) -> Iterator[tuple[str, bool | None, str]]:
    """The uses of a program in a shell command: shape, whether it worked, and the command."""
    if call.kind != "shell" or not call.target:
        return
    run = pieces(call.target)
    loose = grammar(call.target)
    for index, piece in enumerate(run):
        start = find_use(piece.words, tool) if piece.words else None
        if start is not None:
            ok = None if loose else told(call.exited_well, run, index)
            yield use_of(piece.words, start, tool), ok, as_run(call.target, EXAMPLE_CHARACTERS)


def _tool_calls(
    store: Store, calls: list[Call], tool: list[str], scenes: dict[int, Scene]
) -> Iterator[tuple[str, bool | None, str, Scene]]:
    """The uses of an agent's own tool: its name with the names of its arguments."""
    named = [call for call in calls if len(tool) == 1 and call.name.lower() == tool[0].lower()]
    for call in store.calls.whole(named[:NEWEST_INPUTS]):
        given = call.input
        shape = f"{call.name}({', '.join(given)})" if isinstance(given, dict) else call.name
        yield (
            shape,
            call.ok,
            as_run(call.target or call.name, EXAMPLE_CHARACTERS),
            scenes[call.turn],
        )
