"""recollect detect: list what keeps coming back over sessions and agents.

recollect detect                          in all projects
recollect detect --project webshop        only in one
recollect patterns accept 3f2a            confirm a pattern

A pattern needs at least 3 sessions (or what config.toml says), more than
chance explains. Patterns that several agents share come first.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.patterns import Pattern, Sighting
from recollect.serve.cli import count
from recollect.serve.output import Output, counted, short_date


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--min-frequency",
        type=count,
        metavar="N",
        help="in at least N sessions; with fewer than usual, some are chance",
    )
    parser.add_argument("--agent", metavar="NAME", help="only in sessions of this agent")
    parser.add_argument("--project", metavar="NAME", help="only in sessions of this project")
    parser.add_argument(
        "--since", metavar="TIME", help="only in sessions since then: 2026-11-18, yesterday, 30d"
    )
    parser.add_argument(
        "--limit",
        type=count,
        default=20,
        metavar="N",
        help="how many patterns (default: %(default)s)",
    )


def run(memory: Memory, args: Namespace) -> Output:
    found = memory.old.detect(
        min_frequency=args.min_frequency,
        agent=args.agent,
        project=args.project,
        since=args.since,
        limit=args.limit,
    )
    return Output(
        found, text, empty="Nothing keeps coming back yet.", note="\n".join(found.remarks)
    )


def text(pattern: Pattern) -> str:
    """A pattern for a person: the sentence, how sure it is, and where it was seen."""
    shared = "[CROSS-AGENT] " if pattern.cross_agent else ""
    ended = [f"{pattern.went_well} went well"] * bool(pattern.went_well) + [
        f"{pattern.went_wrong} badly"
    ] * bool(pattern.went_wrong)
    seen = ", ".join(
        [counted(pattern.sessions, "session"), *ended, f"last {short_date(pattern.last_at)}"]
    )
    lines = [
        f"{shared}{pattern.sentence}",
        f"    {pattern.id}  {pattern.kind}  {pattern.status}  "
        f"confidence {pattern.confidence:.2f}, strength {pattern.strength:.2f}",
        f"    {seen}; {', '.join(pattern.agents) or 'no agent'}; "
        f"{', '.join(pattern.projects) or 'no project'}",
    ]
    return "\n".join([*lines, *(f"    {_evidence(one)}" for one in pattern.evidence)])


def _evidence(one: Sighting) -> str:
    ended = {True: "  went well", False: "  went badly", None: ""}[one.went_well]
    return f"- {short_date(one.at)}  {one.ref}{ended}{'' if one.live else '  (undone)'}"
