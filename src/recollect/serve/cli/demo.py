"""recollect demo: try recollect with your sessions or with samples.

recollect demo               import what is on this machine, then search it
recollect demo --sample      the same with sample sessions
recollect --demo sessions    ask the samples afterwards; every command takes --demo

Sample sessions go into a separate store, so nothing made up gets into your
memory. They are also used when no agent has left logs on this machine.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.search import Hit
from recollect.serve.background import leave_work
from recollect.serve.cli.import_ import logs_read
from recollect.serve.cli.lists import project_names
from recollect.serve.cli.progress import ProgressBar
from recollect.serve.output import Output, and_subagents, counted, say, short_time

# So many turns are embedded while the person waits, the newest first;
# the rest is done in the background.
MOST_EMBEDDED = 5_000


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--sample", action="store_true", help="use the sample sessions, even if you have your own"
    )


def run(memory: Memory, args: Namespace) -> Output:
    if not (args.sample or args.demo) and any(True for _ in memory.agents.sources()):
        return _tried(memory, [], "")
    lead = "" if args.sample else "No agent logs on this machine. "
    with Memory.open(os.path.join(memory.settings.home, "demo.db")) as demo:
        logs = demo.agents.sample_logs()
        say(f"{lead}Importing sample sessions so that you can try it.")
        return _tried(demo, [logs], " --demo")


def _tried(memory: Memory, paths: list[str], option: str) -> Output:
    """Import, embed, say what is stored now, and search.

    `option` chooses this memory.
    """
    with ProgressBar("Reading", " logs") as progress:
        report = memory.import_logs(paths, progress=progress)
    _embed(memory)
    summary = memory.summary()
    say(f"{logs_read(report)} {counted(report.problems, 'problem')}.")
    sessions = counted(summary.sessions, "session") + and_subagents(summary.subagents)
    say(f"  {sessions}: {', '.join(f'{agent} {n}' for agent, n in summary.agents.items())}")
    say(
        f"  {counted(summary.turns, 'turn')} in {counted(summary.projects, 'project')},"
        f" {counted(report.redactions, 'secret')} removed, {summary.size_bytes / 1e6:.1f} MB"
    )
    question = memory.store.example_query()
    if not question:
        return Output([], note="Nothing to search yet. Use an agent, then run this again.")
    name = f"{_command()}{option}"
    say(f"\n$ {name} search {question}")
    busiest = max(memory.projects.all(), key=lambda one: one.sessions, default=None)
    project = (
        f" --project {shlex.quote(project_names([busiest.key])[busiest.key])}" if busiest else ""
    )
    told = (
        ("search WORDS", ""),
        ("fix ERROR", "what got past it before"),
        ("blame FILE", "which sessions changed it, and why"),
        (f"memory{project}", "what the next session there is told"),
        ("stats --by project", ""),
        ("tui", "browse it in the terminal"),
        ("web", "or in your browser"),
    )
    width = max(len(words) for words, _ in told) + 2
    foot = "\n".join(
        [
            "\nNext:",
            *(f"  {name} {words:<{width}}{said}".rstrip() for words, said in told),
            f"  {_command()} install AGENT   tell an agent what was learned",
            f"  {_command()} --help",
        ]
    )
    return Output(
        memory.search(question, limit=3),
        _text,
        foot=foot,
        empty=f'Nothing found for "{question}".',
    )


def _embed(memory: Memory) -> None:
    """Embed the turns, so that the first search finds by meaning too."""
    with ProgressBar("Preparing search by meaning", " turns") as progress:
        for report in memory.store.embed(limit=MOST_EMBEDDED):
            progress(report.turns, report.turns + report.remaining, "")
    if report.remaining:
        leave_work(memory)
    else:
        memory.jobs.work(at_once=True)


def _command() -> str:
    """How to start recollect from here: by name when it is on the PATH, else by its path."""
    return "recollect" if shutil.which("recollect") else os.path.relpath(sys.argv[0])


def _text(hit: Hit) -> str:
    return f"{hit.ref}  {short_time(hit.at)}\n    {hit.snippet}"
