"""recollect doctor: check that everything works.

recollect doctor                a few seconds at most
recollect doctor --verify       also every checksum; slow
recollect doctor --repair       save what can be saved of a damaged store

It checks the store and its permissions, the text index, logs that cannot be
read, and the connected agents: whether they still find recollect, and when
each hook last ran. It exits with 65 when something needs attention.

--repair makes a new file, keeps the damaged one beside it, and prints what could not
be saved; `recollect import` then reads again what was lost, from logs that still exist.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from recollect.errors import EXIT_BAD_DATA, StoreError
from recollect.memory import Memory
from recollect.model.reports import HealthCheck
from recollect.serve.cli import repair
from recollect.serve.install import installed
from recollect.serve.install.checkup import HookRuns, findings
from recollect.serve.output import Output


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--verify",
        action="store_true",
        help="also check every stored text against its checksum, and read every digest (slow)",
    )
    parser.add_argument(
        "--repair",
        action="store_true",
        help="save what can be saved; a store that is fine stays as it is",
    )
    parser.add_argument(
        "--rebuild-text",
        action="store_true",
        help="repair, and build the text index again even when the store is fine",
    )


def run(memory: Memory, args: Namespace) -> Output:
    if args.repair or args.rebuild_text:
        return Output([memory.store.repair(rebuild_text=args.rebuild_text)], repair.text)
    found = memory.store.doctor(verify=args.verify).findings
    found += _leaving(memory) + _engine(memory)
    found += findings(installed(memory.environ, os.getcwd()), _hook_runs(memory))
    return Output(
        found, _text, exit_code=0 if all(finding.ok for finding in found) else EXIT_BAD_DATA
    )


def _engine(memory: Memory) -> list[HealthCheck]:
    try:
        check = memory.engines.health()
    except StoreError:
        return []
    return [check] if check else []


def _leaving(memory: Memory) -> list[HealthCheck]:
    """What agents delete soon is well as long as it was read before."""
    try:
        rows = memory.agents.leaving()
    except StoreError:
        return []
    return [
        HealthCheck(
            name="logs about to be deleted",
            ok=not row.unread_logs,
            detail=str(row).replace("\n", "; "),
            hint="Read them: recollect import" if row.unread_logs else "",
        )
        for row in rows
        if row.sessions or row.unread_logs
    ]


def _hook_runs(memory: Memory) -> HookRuns | None:
    try:
        return memory.injections.hook_runs()
    except StoreError:
        return None  # What ails the store is among the findings already.


def _text(finding: HealthCheck) -> str:
    hint = f"\n       {finding.hint}" if finding.hint and not finding.ok else ""
    detail = f": {finding.detail}" if finding.detail else ""
    return f"{'ok' if finding.ok else 'LOOK':5} {finding.name}{detail}{hint}"
