"""Public trajectories of agents whose results are known, as the turns that our stages read.

The repositories are fetched by whoever measures and read where they are; nothing of
them is kept here. Each trajectory is one task, done by an agent alone or with a
simulated customer (tau-bench), and checked afterwards in a way that the agent did not
see. Tasks are split in two by their names: rules and weights are made with a look at
`dev` only, and all trajectories of a task are in the same half.

What belongs to the benchmark and not to the work is left out: the command that hands
the result in becomes the closing reply, and the instructions around a task are cut off
where the format marks them.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import xxhash

from recollect.model.calls import stored_ending
from recollect.model.sessions import Tokens
from recollect.reading.endings import ending_of
from recollect.store.events import events_in
from recollect.store.history import Passage

Half = Literal["dev", "test"]
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_WAITING = re.compile(r"[⠀-⣿] Waiting for the LM to respond\.\.\.")
# The fault of a library is printed between the steps.
_NOISE = re.compile(
    r"^\d\d:\d\d:\d\d - LiteLLM:ERROR.*?^ImportError: Missing dependency[^\n]*$",
    re.DOTALL | re.MULTILINE,
)
_FENCED = re.compile(r"```bash\s*\n(.*?)\n?```", re.DOTALL)
_RESULT = re.compile(
    r"<returncode>(-?\d+)</returncode>\s*(?:<output>\n?(.*?)(?:</output>|\Z))?", re.DOTALL
)
_HANDED_IN = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
_STEP = re.compile(r"^mini-swe-agent \(step \d+, \$[\d.]+\):\s*$", re.MULTILINE)
_ASKED = re.compile(
    r"<pr_description>\s*(?:Consider the following PR description:)?(.*?)</pr_description>",
    re.DOTALL,
)


class Trajectory(NamedTuple):
    """One try at a task, and whether it passed."""

    source: str
    task: str
    name: str
    passed: bool
    passages: list[Passage]

    @property
    def half(self) -> Half:
        """Which half its task is in."""
        return "dev" if xxhash.xxh3_64_intdigest(self.task.encode()) % 2 else "test"


def trajectories(mirror: Path) -> Iterator[Trajectory]:
    """Every trajectory of the repositories that were fetched into a folder."""
    for read, repository in (
        (_gemini, "gruckion+mini-swe-agent"),
        (_gpt5_mini, "RussellRyanH+CSCI-635-LiveSWE-Agent"),
        (_terminal_bench, "laude-institute+terminal-bench-leaderboard"),
        (_tau_bench, "sierra-research+tau-bench"),
    ):
        if (mirror / repository / "repo").is_dir():
            yield from read(_Repository(mirror / repository / "repo"))


class _Repository:
    """A fetched snapshot, read with git."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def names(self, folder: str) -> list[str]:
        listed = self._git("ls-tree", "-r", "--name-only", "-z", "HEAD", folder)
        return [name for name in listed.decode().split("\0") if name]

    def read(self, name: str) -> str:
        return self._git("show", f"HEAD:{name}").decode("utf-8", "replace")

    def _git(self, *words: str) -> bytes:
        return subprocess.run(
            ["git", "-C", str(self.path), *words], check=True, capture_output=True
        ).stdout


def _gemini(repository: _Repository) -> Iterator[Trajectory]:
    """mini-swe-agent with Gemini 3 Pro on SWE-bench Verified."""
    base = "swebench_results/20251118_gemini-3-pro-74pct"
    results = json.loads(repository.read(f"{base}/results_summary.json"))["instances"]
    for one in results:
        name = one["instance_id"]
        log = json.loads(repository.read(f"{base}/trajs/{name}/{name}.traj.json"))
        yield Trajectory("swe-bench gemini", name, name, one["resolved"], _mini(log))


def _gpt5_mini(repository: _Repository) -> Iterator[Trajectory]:
    """mini-swe-agent that writes its own tools, with GPT-5 mini on SWE-bench Verified."""
    base = "results/llm-ablation/gpt-5-mini"
    names = repository.names(base)
    reports = {Path(one).parent.name: one for one in names if one.endswith("report.json")}
    for one in names:
        name = Path(one).parent.name
        if one.endswith(".traj.json") and name in reports:
            passed = json.loads(repository.read(reports[name]))[name]["resolved"]
            passages = _mini(json.loads(repository.read(one)))
            yield Trajectory("swe-bench gpt-5-mini", name, name, passed, passages)


def _terminal_bench(repository: _Repository) -> Iterator[Trajectory]:
    """mini-swe-agent with Claude Sonnet 4 on Terminal-Bench, as its terminal was recorded."""
    base = "results/terminal-bench-core@0.1.1/20250825_swe-agent-mini_claude-4-sonnet"
    names = set(repository.names(base))
    for one in sorted(names):
        result = str(Path(one).parent.parent / "results.json")
        if one.endswith("sessions/agent.log") and result in names:
            known = json.loads(repository.read(result))
            passages = _screen(known["instruction"], repository.read(one))
            if known.get("is_resolved") is not None and passages:
                yield Trajectory(
                    "terminal-bench", known["task_id"], one, known["is_resolved"], passages
                )


def _tau_bench(repository: _Repository) -> Iterator[Trajectory]:
    """GPT-4o with a simulated customer of an airline."""
    tries = json.loads(repository.read("historical_trajectories/gpt-4o-airline.json"))
    for one in tries:
        task = f"airline {one['task_id']}"
        name = f"{task} {one['trial']}"
        passages = list(_turns(one["traj"]))
        yield Trajectory("tau-bench", task, name, one["reward"] == 1, passages)


# Formats ----------------------------------------------------------------------


def _mini(log: dict[str, Any]) -> list[Passage]:
    """A log of mini-swe-agent: one turn. Newer ones call a tool instead of writing a block."""
    rows: list[list[Any]] = []
    commands: list[str] = []
    for message in log["messages"][1:]:
        text = message["content"] or ""
        if isinstance(text, list):
            text = "\n".join(part.get("text", "") for part in text)
        called = [one["command"] for one in message.get("extra", {}).get("actions", [])]
        if message["role"] == "assistant":
            command = _said(rows, text)
            commands = [command] if command else [one for one in called if not _hands_in(one)]
        elif not rows:
            asked = _ASKED.search(text)
            rows.append(["prompt", None, (asked[1] if asked else text).strip()])
        elif commands:
            rows.append(_shell(commands.pop(0), *_result_in(text)))
    status = log["info"].get("exit_status")
    if status != "Submitted":
        rows.append(["abort", None, str(status)])
    return [_passage(1, rows)]


def _result_in(text: str) -> tuple[str, int | None]:
    found = _RESULT.search(text)
    return ((found[2] or "").strip("\n"), int(found[1])) if found else (text, None)


def _screen(instruction: str, recorded: str) -> list[Passage]:
    """The same from what stood on the terminal, which is cut into lines of its width."""
    text = _NOISE.sub("", _WAITING.sub("", _ANSI.sub("", recorded)).replace("\r", ""))
    steps = _STEP.split(text)[1:]
    rows: list[list[Any]] = [["prompt", None, instruction]]
    for step in steps:
        said, _, answer = step.partition("\nUser:\n")
        command = _said(rows, said)
        if command is not None:
            rows.append(_shell(command, *_result_in(answer)))
    if len(rows) < 3:
        return []
    if rows[-1][0] != "reply":
        rows.append(["abort", None, "it ran out of time"])
    return [_passage(1, rows)]


def _said(rows: list[list[Any]], text: str) -> str | None:
    """Keep what the agent said; the command that it wants run, unless that hands the result in."""
    found = _FENCED.search(text)
    thought = text[: found.start()] if found else text
    if thought.strip():
        rows.append(["reply", None, thought.replace("THOUGHT:", "").strip()])
    return found[1].strip() if found and not _hands_in(found[1]) else None


def _hands_in(command: str) -> bool:
    return any(one in command for one in _HANDED_IN)


def _turns(messages: list[dict[str, Any]]) -> Iterator[Passage]:
    """A talk in the form of the OpenAI interface, a turn for each message of the customer."""
    rows: list[list[Any]] = []
    number = 0
    for message in messages[1:]:
        if message["role"] == "user":
            if rows:
                number += 1
                yield _passage(number, rows)
            rows = [["prompt", None, message["content"]]]
        elif message["role"] == "assistant":
            if message.get("content"):
                rows.append(["reply", None, message["content"]])
        else:
            output = str(message.get("content") or "")
            failed = output.startswith("Error")
            rows.append(
                ["tool_call", None, "", None, message.get("name") or "tool", "mcp",
                 message.get("name") or "", {}, output, not failed, None, None, None]
            )  # fmt: skip
    if rows:
        yield _passage(number + 1, rows)


def _shell(command: str, output: str, code: int | None) -> list[Any]:
    ok = stored_ending(ending_of("shell", command, None, code, output))
    return ["tool_call", None, "", None, "bash", "shell", command, {}, output, ok, code, None, None]


def _passage(number: int, rows: list[list[Any]]) -> Passage:
    ref = f"bench:s#{number}"
    place = (number, ref, number, "human", True, None, None, None)
    return Passage(*place, Tokens(), events_in(number, rows))
