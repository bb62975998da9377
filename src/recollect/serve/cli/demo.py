"""recollect demo: try it: import, search, and what to do next.

Imports the sessions that agents left on this machine. Where there are none,
or with --sample, a few sessions of our own go into a store of their own, so
that nothing made up gets into your memory.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from recollect.lookup import Hit
from recollect.memory import Memory
from recollect.serve.cli.output import Output, say
from recollect.serve.cli.progress import Progress


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--sample", action="store_true", help="use the sample sessions even when there are others")


def run(memory: Memory, args: Namespace) -> Output:
    sample = args.sample or not any(True for _ in memory.sources())
    paths = []
    if sample:
        memory = Memory.open(os.path.join(memory.settings.home, "demo.db"))
        paths = [memory.sample_logs()]
        say("no agent has left sessions here; trying it with sample sessions in a store of their own" if not args.sample else "sample sessions")
    with Progress("importing") as progress:
        report = memory.import_logs(paths, progress=progress)
    summary = memory.summary()
    say(f"{report.imported} new, {report.updated} grown, {report.unchanged} unchanged logs; {report.problems} problems")
    for agent, count in summary.agents.items():
        say(f"  {agent}: {count} sessions")
    say(f"  {summary.turns} turns in {summary.projects} projects, {report.redactions} secrets removed, {summary.size_bytes / 1e6:.1f} MB")
    store = f" --store {memory.settings.store}" if sample else ""
    question = memory.example_query()
    if not question:
        return Output([], note="nothing to search for yet; use an agent, then run this again")
    say(f"\n$ recollect search {question}{store}")
    foot = (
        f"\nnext:\n  recollect search WORDS{store}\n  recollect sessions{store}\n  recollect stats --by project{store}\n"
        f"  recollect import --watch      keeps the memory up to date\n  recollect --help"
    )
    return Output(memory.search(question, limit=3), _text, foot=foot, empty="nothing found")


def _text(hit: Hit) -> str:
    return f"{hit.ref}  {(hit.at or '')[:16].replace('T', ' ')}\n    {hit.snippet}"
