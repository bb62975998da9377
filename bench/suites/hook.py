"""Hooks in a store of 45,000 turns: what an agent waits for at each
event, and whether it ever waits long.

Each hook is a new process, started by the installed command with what an agent
passes it on its standard input, against an interpreter that does nothing. The
sample sessions are in the store too, because the generated logs say nothing
that somebody would ask about; and one in which a command worked in another form.

Then the worst case, as one number each: hooks one after another while a process
imports logs that keep growing, and while the store is locked for everybody. An
answer that is no answer, an exit code and a word on stderr are failures; to say
nothing is not.
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from bench.corpora import Shape, ensure_corpus
from bench.measure import Figure, absolute, alternate, compared, wall_of_process, wall_seconds
from bench.plan import Plan, child_process, say
from bench.suites.search import BARE
from recollect import Memory

AGENT = "codex"
SAMPLE_PROJECT = "github.com/acme/webshop"
SILENT_PROMPT = (
    "add a retry to the upload of large pictures and write a test for the case that the network "
    "goes away"
)
TOLD_PROMPT = "the new migration deadlocks with the checkout worker"
FAILED_FORM, OTHER_FORM = "pytest -q", "uv run pytest -q"
# What is started for later gets out of the way before the next one is measured.
SETTLE_SECONDS = 0.5
# Further logs, which grow while hooks run; another seed than the corpus
# has, so that these are other sessions.
GROWING, SEED = Shape(files=400, turns=1_600, mb=11), 2
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Hook:
    """One event of an agent, as it passes it to us."""

    event: str
    folder: Path
    speaks: bool
    log: str = "/nowhere/rollout.jsonl"
    fields: dict[str, object] = field(default_factory=dict)

    def passed(self, path: Path) -> str:
        """Where the input of one run lies.

        Each is a session of its own, because a session is told nothing twice.
        """
        common = {
            "session_id": f"bench-{next(_numbers)}",
            "transcript_path": self.log,
            "cwd": str(self.folder),
        }
        path.write_text(json.dumps({**common, "hook_event_name": self.event, **self.fields}))
        return str(path)

    @property
    def command(self) -> list[str]:
        return [str(Path(sysconfig.get_path("scripts"), "recollect")), "hook", AGENT, self.event]


# A hook, the seconds of a run, and whether it told something; None when it failed.
Sample = tuple[Hook, float, bool | None]


class Bench:
    """A store that is ready to be told of, and folders of two of its projects."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.home = plan, plan.home("hook", redact=False)
        self.store, self.input = self.home / "recollect.db", plan.work / "hook.json"
        # Without the corpus: what a hook starts is to find nothing new.
        self.environ = plan.environ(self.home) | {"CODEX_HOME": str(plan.work / "nobody")}
        shutil.copy(plan.full_store() / "recollect.db", self.store)
        say("preparing what hooks tell")
        with Memory.open(environ=self.environ) as memory:
            memory.import_logs(
                [
                    memory.agents.sample_logs(),
                    _session_with_another_form(plan.work / "another-form"),
                ]
            )
            memory.jobs.work()
            if memory.jobs.all():
                raise RuntimeError("some jobs still wait")
            # Any will do: the generator's projects are alike.
            key = min(
                project.key
                for project in memory.projects.all()
                if not project.key.startswith("github.com/acme/")
            )
            self.known, self.shop = (
                self._checkout("known", key),
                self._checkout("shop", SAMPLE_PROJECT),
            )
        log = plan.corpus.paths()[0]
        self.prompt = Hook(
            "UserPromptSubmit", self.known, speaks=False, fields={"prompt": SILENT_PROMPT}
        )
        self.prompt_told = Hook(
            "UserPromptSubmit", self.shop, speaks=True, fields={"prompt": TOLD_PROMPT}
        )
        self.command = Hook(
            "PreToolUse", self.shop, speaks=False, fields=_shell("git status --short")
        )
        self.command_told = Hook(
            "PreToolUse", self.shop, speaks=True, fields=_shell(f"{FAILED_FORM} --lf")
        )
        self.start = Hook("SessionStart", self.known, speaks=True, fields={"source": "startup"})
        self.stop = Hook("Stop", self.known, speaks=False, log=log)

    def _checkout(self, name: str, key: str) -> Path:
        """A repository whose remote is a project of the store."""
        folder = self.plan.work / "checkouts" / name
        (folder / ".git").mkdir(parents=True)
        (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = https://{key}.git\n')
        return folder

    def say_when(self, last_firing_ms: int) -> None:
        """Have the last hook have run at that time, as far as the store knows."""
        db = apsw.Connection(str(self.store))
        db.execute(
            "insert or replace into hook_runs values (?, 'Stop', ?, null)", (AGENT, last_firing_ms)
        )
        db.close()

    def turns(self) -> int:
        """How many are in the store."""
        with Memory.open(environ=self.environ) as memory:
            return memory.summary().turns

    def runs(self, hook: Hook) -> float:
        """Seconds of one run."""
        return wall_of_process(hook.command, self.environ, stdin=hook.passed(self.input))

    def answers(self, hook: Hook) -> bool | None:
        """Whether one run told something; None when it failed."""
        with open(hook.passed(self.input), "rb") as passed:
            done = subprocess.run(hook.command, stdin=passed, capture_output=True, env=self.environ)
        if done.returncode or done.stderr:
            return None
        try:
            return bool(
                done.stdout and json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
            )
        except (ValueError, KeyError, TypeError):
            return None


def figures(plan: Plan) -> list[Figure]:
    """What each event costs, then what happens when others write."""
    bench = Bench(plan)
    bench.say_when(_now_ms())
    runs = plan.runs_or(60)
    quick = [
        compared_with_bare(
            bench, "hook-prompt", "hook at a prompt, silent", bench.prompt, runs, 2.5
        ),
        compared_with_bare(
            bench,
            "hook-prompt-told",
            "hook at a prompt that calls something up",
            bench.prompt_told,
            runs,
            2.5,
        ),
        compared_with_bare(
            bench, "hook-command", "hook before a command, silent", bench.command, runs, 2.5
        ),
        compared_with_bare(
            bench,
            "hook-command-told",
            "hook before a command that failed before",
            bench.command_told,
            runs,
            2.5,
        ),
        compared_with_bare(
            bench, "hook-start", "hook at the start of a session", bench.start, runs, 3
        ),
        start_when_due(bench, min(runs, 20)),
        stop(bench, min(runs, 20)),
    ]
    bench.say_when(_now_ms())
    return [
        *quick,
        *while_importing(bench, plan.runs_or(60)),
        *while_locked(bench, plan.runs_or(30)),
    ]


def compared_with_bare(
    bench: Bench,
    name: str,
    title: str,
    hook: Hook,
    runs: int,
    target: float | None,
    before: Callable[[], None] | None = None,
) -> Figure:
    """One event against an interpreter that does nothing.

    Whether it speaks is looked at beforehand.
    """
    if bench.answers(hook) != hook.speaks:
        raise RuntimeError(f"{hook.event} {'is silent' if hook.speaks else 'speaks'}, or failed")

    def ours() -> float:
        if before:
            before()
        return bench.runs(hook)

    pairs = alternate(
        ours, lambda: wall_of_process([sys.executable, "-c", "pass"], bench.environ), runs
    )
    return compared(name, title, BARE, pairs, target=target, unit="s wall")


def start_when_due(bench: Bench, runs: int) -> Figure:
    """No hook has run for long, so every log is looked at, by a process that is left behind."""

    def before() -> None:
        time.sleep(SETTLE_SECONDS)
        bench.say_when(0)

    return compared_with_bare(
        bench, "hook-start-due", "the same, with work to start", bench.start, runs, None, before
    )


def stop(bench: Bench, runs: int) -> Figure:
    """The log is handed to a process that is left behind."""
    measured = compared_with_bare(
        bench,
        "hook-stop",
        "hook at the end of a turn",
        bench.stop,
        runs,
        None,
        lambda: time.sleep(SETTLE_SECONDS),
    )
    time.sleep(SETTLE_SECONDS)
    return measured


def while_importing(bench: Bench, seconds: float) -> list[Figure]:
    """Hooks one after another while a process imports logs that keep growing."""
    logs = ensure_corpus(bench.plan.work, GROWING, seed=SEED)
    before = bench.turns()
    say(f"hooks during an import of {seconds:g} s")
    with child_process(["grow", logs.folder, str(seconds)], bench.environ) as importing:
        samples = list(_kept_up(bench, lambda: importing.poll() is None))
        if importing.wait():
            raise RuntimeError("the import failed")
    say(f"{bench.turns() - before:,} turns were imported")
    told = absolute(
        "hook-importing-told",
        "their answers that were given",
        [_told(samples)],
        target=None,
        unit="share",
        better="higher",
    )
    return [*_worst("importing", "while an import writes", samples), told]


def while_locked(bench: Bench, seconds: float) -> list[Figure]:
    """Hooks one after another while nobody else may read or write the store."""
    say(f"hooks while the store is locked for {seconds:g} s")
    with _locked(bench.store):
        if bench.answers(bench.prompt_told):
            raise RuntimeError("the store is not locked")
        end = wall_seconds() + seconds
        samples = list(_kept_up(bench, lambda: wall_seconds() < end))
    return _worst("locked", "while the store is locked", samples)


def _kept_up(bench: Bench, goes_on: Callable[[], bool]) -> Iterator[Sample]:
    """Hooks of every kind in turn, as long as it goes on."""
    for hook in itertools.cycle(
        [bench.prompt_told, bench.command_told, bench.start, bench.prompt, bench.command]
    ):
        if not goes_on():
            return
        start = wall_seconds()
        answer = bench.answers(hook)
        yield hook, wall_seconds() - start, answer


def _worst(name: str, when: str, samples: list[Sample]) -> list[Figure]:
    failed = sum(answer is None for _, _, answer in samples)
    seconds = [seconds for _, seconds, _ in samples]
    return [
        absolute(f"hook-{name}", f"slowest hook {when}", seconds, target=1, unit="s wall", of=max),
        absolute(
            f"hook-{name}-failed", f"hooks that failed {when}", [failed], target=0, unit="hooks"
        ),
    ]


def _told(samples: list[Sample]) -> float:
    """How many of those that have something to tell told it."""
    answers = [bool(answer) for hook, _, answer in samples if hook.speaks]
    return sum(answers) / len(answers)


@contextmanager
def _locked(store: Path) -> Iterator[None]:
    db = apsw.Connection(str(store))
    db.set_busy_timeout(60_000)
    # Before the first look into the file, or others could still share its index.
    db.execute("pragma locking_mode = exclusive")
    db.execute("begin exclusive")
    try:
        yield
    finally:
        db.execute("rollback")
        db.close()


def _shell(command: str) -> dict[str, object]:
    return {"tool_name": "Bash", "tool_input": {"command": command}}


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _session_with_another_form(folder: Path) -> Path:
    """A session of the sample project in which a command was not found,
    and then worked in another form.
    """
    path = (
        folder
        / "sessions"
        / "2026"
        / "11"
        / "01"
        / "rollout-2026-11-01T09-00-00-01a19be8-0000-7000-8000-000000000001.jsonl"
    )
    git = {"repository_url": f"https://{SAMPLE_PROJECT}.git"}
    records: list[tuple[str, dict[str, object]]] = [
        (
            "session_meta",
            {
                "id": "01a19be8-0000-7000-8000-000000000001",
                "cwd": "/home/mara/code/webshop",
                "git": git,
            },
        ),
        ("event_msg", {"type": "user_message", "message": "run the tests of the feeds"}),
    ]
    for call, command, output, code in [
        ("1", FAILED_FORM, "bash: pytest: command not found", 127),
        ("2", OTHER_FORM, "3 passed", 0),
    ]:
        given = {"name": "shell", "arguments": json.dumps({"command": ["bash", "-lc", command]})}
        result = json.dumps({"output": output, "metadata": {"exit_code": code}})
        records.append(("response_item", {"type": "function_call", "call_id": call, **given}))
        records.append(
            ("response_item", {"type": "function_call_output", "call_id": call, "output": result})
        )
    path.parent.mkdir(parents=True)
    lines = [
        json.dumps(
            {"timestamp": f"2026-11-01T09:00:{second:02}.000Z", "type": kind, "payload": payload}
        )
        for second, (kind, payload) in enumerate(records)
    ]
    path.write_text("\n".join([*lines, ""]))
    return folder
