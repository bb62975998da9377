"""recollect patterns: list, accept, reject, edit or retire patterns.

recollect patterns                          those to review, and those in use
recollect patterns show 3f2a                one of them with its evidence
recollect patterns accept 3f2a              it is right, or its proposed new words are
recollect patterns reject 3f2a --why ...    it is wrong, unless the evidence doubles
recollect patterns edit 3f2a better words   say it better and accept it
recollect patterns retire 3f2a              it is no longer useful
recollect patterns history 3f2a             every version: who, when and why

Only a person accepts. An accepted pattern never changes by itself: newer
sessions propose other words, and you accept or reject them. `recollect
publish` writes accepted patterns into the files that agents read.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.patterns import Pattern, PatternVersion, Sighting
from recollect.model.publications import is_harmful
from recollect.serve.cli import count
from recollect.serve.output import Output, counted, short_date, short_time

ACTIONS = ["list", "show", "accept", "reject", "edit", "retire", "history"]
STATUSES = ["candidate", "accepted", "published", "rejected", "retired"]
# What somebody wants to see who does not say.
STANDING = STATUSES[:3]
# What these say to do is to go well; that a task fails does not
# speak against the check in a context.
ADVISING = ("tool_sequence", "decision_point", "error_recovery")
# Enough to judge by; all of it is in `show --json`.
EVIDENCE_SHOWN, EVIDENCE_LISTED = 1_000, 3


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=ACTIONS, default="list", help="what to do (default: list)"
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="patterns, by id or the start of it; for edit one, then the words",
    )
    parser.add_argument(
        "--status", action="append", choices=STATUSES, help="only these (may be repeated)"
    )
    parser.add_argument("--all", action="store_true", help="also rejected and retired ones")
    parser.add_argument("--why", default="", metavar="TEXT", help="your reason, for the history")
    parser.add_argument("--limit", type=count, metavar="N", help="at most N patterns")


def run(memory: Memory, args: Namespace) -> Output:
    if (args.action == "list") != (not args.words) or (
        args.action == "edit" and len(args.words) < 2
    ):
        wanted = {"list": "no words", "edit": "a pattern and its new words"}.get(
            args.action, "at least one pattern"
        )
        raise UsageError(
            f"`recollect patterns {args.action}` takes {wanted}.",
            hint="See recollect patterns --help",
        )
    if args.action == "list":
        return _listed(memory, args)
    if args.action == "history":
        return Output(
            [version for ref in args.words for version in memory.old.pattern_history(ref)], _version
        )
    if args.action == "show":
        found = [memory.old.pattern(ref, evidence=EVIDENCE_SHOWN) for ref in args.words]
        return Output(found, lambda one: text(one, memory.old.proposed_words(), whole=True))
    return Output(
        _decided(memory, args), lambda one: text(one, memory.old.proposed_words()), note=_note(args)
    )


def _listed(memory: Memory, args: Namespace) -> Output:
    statuses = args.status or (STATUSES if args.all else STANDING)
    proposed = memory.old.proposed_words()
    rows = memory.old.patterns(*statuses, limit=args.limit, evidence=EVIDENCE_LISTED)
    waiting = sum(row.status == "candidate" or row.id in proposed for row in rows)
    note = f"{waiting} to review: accept, reject or edit" if waiting else ""
    empty = "No patterns yet. Look for some: recollect learn, then recollect detect"
    return Output(rows, lambda one: text(one, proposed), empty=empty, note=note)


def _decided(memory: Memory, args: Namespace) -> list[Pattern]:
    if args.action == "edit":
        return [memory.old.edit_pattern(args.words[0], " ".join(args.words[1:]), why=args.why)]
    # All of them are looked up first, so that a slip changes nothing.
    refs = [memory.old.pattern(ref).id for ref in args.words]
    change = {
        "accept": memory.old.accept_pattern,
        "reject": memory.old.reject_pattern,
        "retire": memory.old.retire_pattern,
    }[args.action]
    return [change(ref, why=args.why) for ref in refs]


def _note(args: Namespace) -> str:
    if args.action in ("accept", "edit"):
        return "See what changes in the project's files: recollect publish"
    return (
        "Take it out of the project's files: recollect publish --apply"
        if args.action == "retire"
        else ""
    )


def text(row: Pattern, proposed: dict[str, str], *, whole: bool = False) -> str:
    """A pattern for a person: what it says, how sure that is, and where it was seen."""
    across = "  [CROSS-AGENT]" if row.cross_agent else ""
    known = row.went_well + row.went_wrong
    agents = f" of {', '.join(row.agents)}" if row.agents else ""
    went = f", went well in {row.went_well} of {known}" if known else ""
    judged = f"; helpful {row.helpful}, harmful {row.harmful}" if row.helpful or row.harmful else ""
    lines = [
        f"pattern:{row.id}  {row.status}  {row.kind}{across}",
        f"    {row.sentence}",
        f"    {counted(row.sessions, 'session')}{agents}{went}, confidence {row.confidence:.2f},"
        f" trust {row.trust}, last {short_date(row.last_at)}{judged}",
    ]
    if row.id in proposed:
        lines.append(f"    proposed: {proposed[row.id]}")
    if is_harmful(row.helpful, row.harmful):
        lines.append(
            "    does more harm than good, and agents are no longer told it: recollect patterns "
            f"retire {row.id}"
        )
    if row.status in STANDING and row.kind in ADVISING and row.went_wrong > row.went_well:
        lines.append(f"    now goes wrong more often than well: recollect patterns retire {row.id}")
    evidence = row.evidence if whole else row.evidence[:EVIDENCE_LISTED]
    return "\n".join([*lines, *map(_sighting, evidence)])


def _sighting(one: Sighting) -> str:
    ended = {True: "went well", False: "went wrong", None: "open"}[one.went_well]
    where = f"  {one.project}" if one.project else ""
    undone = "" if one.live else "  (undone)"
    return f"      {one.ref}  {short_time(one.at)}  {ended}{where}{undone}"


def _version(row: PatternVersion) -> str:
    why = f"\n    why: {row.why}" if row.why else ""
    seen = counted(row.sessions, "session")
    made = f"{row.version}  {row.status}  by {row.author}  {short_time(row.at)}  {seen}"
    return f"{made}\n    {row.sentence}{why}"
