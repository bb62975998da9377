"""recollect doctor: look for what is wrong.

Checks the file, its permissions and schema, the text index, the sources that
never import, and the agents that we are installed in: whether they still find
us, and when each hook last fired. Exits 65 when something needs attention.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from recollect.errors import EXIT_BAD_DATA, StoreError
from recollect.memory import Memory
from recollect.model.reports import Finding
from recollect.serve.cli.output import Output
from recollect.serve.install import installed
from recollect.serve.install.checkup import Firings, findings


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--verify",
        action="store_true",
        help="also recompute the checksum of every body, and read every digest (slow)",
    )


def run(memory: Memory, args: Namespace) -> Output:
    found = memory.doctor(verify=args.verify).findings
    found += findings(installed(memory.environ, os.getcwd()), _firings(memory))
    return Output(
        found, _text, exit_code=0 if all(finding.ok for finding in found) else EXIT_BAD_DATA
    )


def _firings(memory: Memory) -> Firings | None:
    try:
        return memory.firings()
    except StoreError:
        return None  # What ails the store is among the findings already.


def _text(finding: Finding) -> str:
    hint = f"\n       {finding.hint}" if finding.hint and not finding.ok else ""
    detail = f": {finding.detail}" if finding.detail else ""
    return f"{'ok' if finding.ok else 'LOOK':5} {finding.name}{detail}{hint}"
