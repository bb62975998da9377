"""recollect demo: try it: import, search, and what to do next.

Imports the sessions that agents left on this machine. Where there are none,
or with --sample, a few sessions of our own go into a store of their own, so
that nothing made up gets into your memory.
"""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.search import Hit
from recollect.serve.cli.background import leave_work
from recollect.serve.cli.output import Output, counted, say
from recollect.serve.cli.progress import Progress

# As many turns are made ready while somebody waits, the newest first;
# the rest is left to the background.
MOST_EMBEDDED = 5_000


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--sample", action="store_true", help="use the sample sessions even when there are others"
    )


def run(memory: Memory, args: Namespace) -> Output:
    if not args.sample and any(True for _ in memory.sources()):
        return _tried(memory, [], "")
    lead = "" if args.sample else "no agent has left sessions here; "
    say(f"{lead}trying it with sample sessions in a store of their own")
    with Memory.open(os.path.join(memory.settings.home, "demo.db")) as demo:
        return _tried(demo, [demo.sample_logs()], f" --store {demo.settings.store}")


def _tried(memory: Memory, paths: list[str], store: str) -> Output:
    """Import, embed, say what that came to, and search.

    `store` is the option that chooses this memory.
    """
    with Progress("importing") as progress:
        report = memory.import_logs(paths, progress=progress)
    _embed(memory)
    summary = memory.summary()
    problems = counted(report.problems, "problem")
    say(
        f"{report.imported} new, {report.updated} grown, {report.unchanged} unchanged logs; "
        f"{problems}"
    )
    for agent, count in summary.agents.items():
        say(f"  {agent}: {counted(count, 'session')}")
    say(
        f"  {counted(summary.turns, 'turn')} in {counted(summary.projects, 'project')},"
        f" {counted(report.redactions, 'secret')} removed, {summary.size_bytes / 1e6:.1f} MB"
    )
    question = memory.example_query()
    if not question:
        return Output([], note="nothing to search for yet; use an agent, then run this again")
    name = _command()
    say(f"\n$ {name} search {question}{store}")
    foot = (
        f"\nnext:\n  {name} search WORDS{store}\n  {name} fix ERROR{store}\n  {name} blame "
        f"FILE{store}\n"
        f"  {name} sessions{store}\n  {name} stats --by project{store}\n"
        f"  {name} install AGENT       has an agent told what was learned here, and keeps the "
        f"memory up to date\n  {name} --help"
    )
    return Output(memory.search(question, limit=3), _text, foot=foot, empty="nothing found")


def _embed(memory: Memory) -> None:
    """Make the turns findable by meaning, so that the first search is a whole one."""
    with Progress("embedding") as progress:
        for report in memory.embed(limit=MOST_EMBEDDED):
            progress(report.turns, report.turns + report.remaining, "")
    if report.remaining:
        leave_work(memory)
    else:
        memory.work()


def _command() -> str:
    """How to start recollect from here: by its name when it is on the path, else by where it is."""
    return "recollect" if shutil.which("recollect") else os.path.relpath(sys.argv[0])


def _text(hit: Hit) -> str:
    return f"{hit.ref}  {(hit.at or '')[:16].replace('T', ' ')}\n    {hit.snippet}"
