"""What recollect costs on an ordinary day, as multiples of starting Python: CPU time.

    python bench/everyday.py mcp STORE [QUERY]    a server, to its tools and to its first search
    python bench/everyday.py turn STORE           a session: the hook of each turn, and what follows

STORE is a store's file; it is copied first. Each figure is the median of several runs, each
beside one of `python -c pass`. Another checkout is measured the same way with --recollect, the
path of its program.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench.corpora import generator

HERE = Path(sys.executable).parent / "recollect"


def cpu_of(command: list[str], environ: dict[str, str], data: bytes = b"") -> float:
    """The CPU seconds of a process and of those that it waited for."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=environ,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(data)
        process.stdin.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def bare() -> float:
    """What starting Python costs."""
    return cpu_of([sys.executable, "-c", "pass"], dict(os.environ))


class Server:
    """An MCP server, and what it has used so far."""

    def __init__(self, program: str, environ: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [program, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=environ,
        )  # fmt: skip

    def ask(self, number: int | None, method: str, params: dict[str, Any] | None = None) -> bytes:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        message |= {} if number is None else {"id": number}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return b"" if number is None else self.process.stdout.readline()

    def cpu(self) -> float:
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def resident_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) / 1024


def mcp(args: Namespace, environ: dict[str, str]) -> dict[str, float]:
    """One server: its handshake, its tools, a search, and the memory a second later."""
    who = {"protocolVersion": "2025-11-25", "capabilities": {}}
    server = Server(args.recollect, environ)
    server.ask(0, "initialize", {**who, "clientInfo": {"name": "bench", "version": "1"}})
    server.ask(None, "notifications/initialized")
    server.ask(1, "tools/list")
    listed = server.cpu()
    call = {"name": "search", "arguments": {"query": " ".join(args.words) or "build failed"}}
    if b'"isError":true' in server.ask(2, "tools/call", call):
        raise SystemExit("the search was not answered")
    searched = server.cpu()
    time.sleep(1)
    memory = server.resident_mb()
    server.process.kill()
    server.process.communicate()
    return {"start to tools/list (x)": listed, "to the first search (x)": searched, "MB": memory}


def turn(args: Namespace, environ: dict[str, str]) -> dict[str, float]:
    """A session of some turns; each ends with its hook, and everything is waited for."""
    home = Path(environ["HOME"])
    logs = home / "codex"
    environ = {**environ, "CODEX_HOME": str(logs)}
    make = generator()
    if not logs.exists():
        make.write_corpus(logs, "codex", 1, 2, 0.02, args.seed)
        subprocess.run([args.recollect, "import", "--wait"], env=environ, check=True,
                       capture_output=True)  # fmt: skip
    spent = 0.0
    for number in range(args.turns):
        (name,) = make.grow(logs, "codex", 1, args.seed + number)["grown"]
        log = logs / name
        given = {
            "session_id": log.stem[-36:], "transcript_path": str(log), "cwd": str(home),
            "hook_event_name": "Stop",
        }  # fmt: skip
        command = [args.recollect, "hook", "codex", "Stop"]
        spent += cpu_of(command, environ, json.dumps(given).encode())
        time.sleep(args.pause)
        spent += cpu_of_ended(wait=False)
    spent += cpu_of_ended(wait=True)
    return {f"each of {args.turns} turns, all work (x)": spent / args.turns}


def cpu_of_ended(*, wait: bool) -> float:
    """The CPU seconds of processes left behind that have ended; with `wait`, until all have."""
    total = 0.0
    while True:
        try:
            number, _, used = os.wait4(-1, 0 if wait else os.WNOHANG)
        except ChildProcessError:
            return total
        if number == 0:
            return total
        total += used.ru_utime + used.ru_stime


def adopt_orphans() -> None:
    """Have processes whose parent has ended become our children (Linux)."""
    import ctypes

    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


FIGURES = {"mcp": mcp, "turn": turn}


def main() -> None:
    """Measure one figure and print it."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("figure", choices=FIGURES)
    parser.add_argument("store", type=Path)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--recollect", default=str(HERE), help="the program to measure")
    parser.add_argument("--turns", type=int, default=20, help="turns of the session that grows")
    parser.add_argument("--pause", type=float, default=3.0, help="seconds between two turns")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    adopt_orphans()
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        shutil.copy(args.store, home / "recollect.db")
        environ = {**os.environ, "HOME": folder, "RECOLLECT_HOME": folder}
        for _ in range(args.runs):
            row = FIGURES[args.figure](args, environ)
            reference = bare()
            rows.append(
                {
                    name: value / reference if name.endswith("(x)") else value
                    for name, value in row.items()
                }
            )
    for name in rows[0]:
        values = [row[name] for row in rows]
        print(f"{name:28} {statistics.median(values):8.1f}  (n={len(rows)})")


if __name__ == "__main__":
    main()
