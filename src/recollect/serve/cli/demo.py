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
from collections.abc import Iterator

from msgspec import Struct

from recollect.memory import Memory
from recollect.model.answers import Fix
from recollect.model.reports import ImportReport
from recollect.model.search import Hit
from recollect.serve.background import leave_work
from recollect.serve.cli.lists import Screen, agent_name, heading, project_names, turn_name
from recollect.serve.cli.progress import ProgressBar
from recollect.serve.cli.style import Style, age, style_of
from recollect.serve.install import installable
from recollect.serve.output import Output, and_subagents, counted, say

# So many turns are embedded while the person waits, the newest first;
# the rest is done in the background.
MOST_EMBEDDED = 5_000
MOST_ERROR, MOST_LINES = 100, 5


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--sample", action="store_true", help="use the sample sessions, even if you have your own"
    )


def run(memory: Memory, args: Namespace) -> Output:
    if not (args.sample or args.demo) and any(True for _ in memory.agents.sources()):
        return _tried(memory, args, [], "")
    lead = "" if args.sample else "No agent logs on this machine. "
    with Memory.open(os.path.join(memory.settings.home, "demo.db")) as demo:
        logs = demo.agents.sample_logs()
        say(f"{lead}Importing 24 sample sessions so that you can try it.")
        return _tried(demo, args, [logs], " --demo")


def _tried(memory: Memory, args: Namespace, paths: list[str], option: str) -> Output:
    """Import, embed, say what is stored now, and show what can be asked.

    `option` chooses this memory.
    """
    with ProgressBar("Reading", " logs") as progress:
        report = memory.import_logs(paths, progress=progress)
    _embed(memory)
    _say_stored(memory, report)
    tried = _own(memory) if not option else SAMPLES
    if args.json:
        return Output(memory.search(tried.words, limit=3) if tried.words else [])
    return Output(
        [tried],
        lambda tried: "\n".join(_screen(Screen(Style()), memory, tried, option)),
        screen=lambda screen: _screen(screen, memory, tried, option),
    )


def _say_stored(memory: Memory, report: ImportReport) -> None:
    summary = memory.summary()
    sign = (style_of(sys.stderr) or Style()).glyph("✓")
    read = "" if report.imported or report.updated else "Nothing new. "
    agents = " and ".join(memory.agents.adapters([agent])[0].name for agent in summary.agents)
    sessions = counted(summary.sessions, "session") + and_subagents(summary.subagents)
    of = f" of {agents}" if 0 < len(summary.agents) < 3 else ""
    secrets = f" {counted(report.redactions, 'secret')} removed." if report.redactions else ""
    say(
        f"{sign} {read}{sessions}{of}, {counted(summary.turns, 'turn')}, "
        f"{counted(summary.projects, 'project')} in {report.seconds:.1f} s.{secrets}"
    )


class DemoSample(Struct, kw_only=True):
    """What the demo asks: words, an error that was overcome, a project; what there is none of
    is left out.
    """

    words: str = ""
    remark: str = ""
    error: str = ""
    project: str = ""


SAMPLES = DemoSample(
    words="database hung because both waited on each other",
    remark='You wrote "hung", the session says "deadlock".',
    error="database is locked",
    project="webshop",
)


def _own(memory: Memory) -> DemoSample:
    """What there is to ask of somebody's own sessions."""
    overcome = next((row for row in memory.friction(sessions=2, limit=20) if row.fixed), None)
    here = memory.projects.of(os.getcwd())
    busiest = max(memory.projects.all(), key=lambda one: one.sessions, default=None)
    key = here or (busiest.key if busiest else None)
    error = overcome.example.splitlines()[0][:MOST_ERROR] if overcome else ""
    return DemoSample(
        words=memory.store.example_query(), error=error,
        project=project_names([key])[key] if key else "",
    )  # fmt: skip


def _screen(screen: Screen, memory: Memory, tried: DemoSample, option: str) -> Iterator[str]:
    """Three things that can be asked, each with its answer, and what to do next."""
    style = screen.style

    def asked(title: str, words: str) -> str:
        shown = style.cut(f"$ recollect{option} {words}", style.width - len(title) - 2)
        return f"\n{style.paint('bold', title)}  {style.paint('accent', shown)}"

    found = memory.search(tried.words, limit=1).hits if tried.words else []
    for hit in found:
        yield asked("Find by meaning" if tried.remark else "Find anything", f"search {tried.words}")
        yield from _hit(screen, memory, hit)
        if tried.remark:
            yield f"     {style.paint('dim', tried.remark)}"
    fixes = memory.fix(tried.error, limit=1).rows if tried.error else []
    for fix in fixes:
        yield asked("Get past an error", f"fix {shlex.quote(tried.error)}")
        yield from _fix(screen, memory, fix)
    known = memory.remember(project=tried.project) if tried.project else None
    told = [line for line in (known.pack if known else "").splitlines() if line[:2] == "- "]
    if told:
        yield asked(
            f"What your next agent is told in {tried.project}",
            f"memory --project {shlex.quote(tried.project)}",
        )
        bullet = style.glyph("  • ")
        yield from (
            bullet + style.cut(style.clean(line[2:]), style.width - 4) for line in told[:MOST_LINES]
        )
    if not (found or fixes or told):
        yield "Nothing to show yet. Use an agent, then run this again."
    yield f"\n{style.paint('bold', 'Now with your own work' if option else 'Go on')}"
    for words, said in _next_steps(option):
        yield style.cut(f"  recollect {words:<18} {said}", style.width)
    if shutil.which("recollect") is None:
        yield f"\n  alias recollect={shlex.quote(os.path.abspath(sys.argv[0]))}"


def _next_steps(option: str) -> list[tuple[str, str]]:
    first = ("import", "read your sessions (nothing leaves this machine)")
    agents = ", ".join(agent.partition("-")[0] for agent in installable())
    return [
        *([first] if option else [("", "the newest sessions here, and what to do next")]),
        ("install AGENT", f"tell them at the start of each session: {agents}"),
        ("web", "search, read and correct it in your browser"),
        ("tui", "the same in the terminal"),
    ]


def _hit(screen: Screen, memory: Memory, hit: Hit) -> Iterator[str]:
    style = screen.style
    name = memory.names([hit.session])[hit.session]
    project = project_names([hit.project])[hit.project]
    where = [style.clean(project), agent_name(hit.agent), style.glyph(age(hit.at))]
    number = screen.number(hit.session)
    yield from heading(screen, number, style.clean(name.title or "(no prompt)"), where, name.short)
    said = style.cut(style.clean(hit.snippet), style.width - 9)
    yield f"     {style.paint('accent', f'.{hit.turn}')} {said}"


def _fix(screen: Screen, memory: Memory, fix: Fix) -> Iterator[str]:
    style = screen.style
    name = memory.names([fix.session])[fix.session]
    project = project_names([fix.project])[fix.project]
    where = [style.clean(project), agent_name(fix.agent), style.glyph(age(fix.at))]
    ref = turn_name(fix.ref, lambda session: name.short)
    number = screen.number(fix.ref)
    yield from heading(screen, number, style.clean(name.title or "(no prompt)"), where, ref)
    edited = [step.text for step in fix.steps if step.kind == "edit"]
    steps = [f"edited {edited[0]}"] if edited else []
    if fix.proof:
        steps.append(f"{fix.proof.text.splitlines()[0]} passed")
    said = style.cut(style.clean(", then ".join(steps) or fix.why), style.width - 7)
    yield f"     {style.paint('ok', style.glyph('✓'))} {said}"


def _embed(memory: Memory) -> None:
    """Embed the turns, so that the first search finds by meaning too."""
    with ProgressBar("Preparing search by meaning", " turns") as progress:
        for report in memory.store.embed(limit=MOST_EMBEDDED):
            progress(report.turns, report.turns + report.remaining, "")
    if report.remaining:
        leave_work(memory)
    else:
        memory.jobs.work(at_once=True)
