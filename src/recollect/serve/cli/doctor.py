"""recollect doctor: look for what is wrong.

Checks the file, its permissions and schema, the text index, and the sources
that never import. Exits 65 when something needs attention.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.errors import EXIT_BAD_DATA
from recollect.memory import Memory
from recollect.reports import Finding
from recollect.serve.cli.output import Output


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--verify", action="store_true", help="also recompute the checksum of every body (slow)")


def run(memory: Memory, args: Namespace) -> Output:
    health = memory.doctor(verify=args.verify)
    return Output(health.findings, _text, exit_code=0 if health.ok else EXIT_BAD_DATA)


def _text(finding: Finding) -> str:
    hint = f"\n       {finding.hint}" if finding.hint and not finding.ok else ""
    detail = f": {finding.detail}" if finding.detail else ""
    return f"{'ok' if finding.ok else 'LOOK':5} {finding.name}{detail}{hint}"
