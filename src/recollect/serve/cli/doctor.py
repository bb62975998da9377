"""recollect doctor: check that everything works.

recollect doctor                a few seconds at most
recollect doctor -v             every check
recollect doctor --verify       also every checksum; slow
recollect doctor --repair       save what can be saved of a damaged store

It checks the store and its permissions, the text index, logs that cannot be
read, and the connected agents: whether they still find recollect, and when
each hook last ran. It exits with 65 when something is broken; warnings are none.

--repair makes a new file, keeps the damaged one beside it, and prints what could not
be saved; `recollect import` then reads again what was lost, from logs that still exist.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence

from recollect.errors import EXIT_BAD_DATA, StoreError
from recollect.memory import Memory
from recollect.model.reports import HealthCheck
from recollect.serve.cli import repair
from recollect.serve.cli.lists import Screen, agent_name
from recollect.serve.cli.style import Style, cells, fill, number, pad
from recollect.serve.install import installed
from recollect.serve.install.checkup import HookRuns, findings
from recollect.serve.output import Output, and_subagents, counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--verify",
        action="store_true",
        help="also check every stored text against its checksum, and read every digest (slow)",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="show every check")
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
        found,
        _text,
        exit_code=EXIT_BAD_DATA if any(_is_fault(finding) for finding in found) else 0,
        screen=None
        if args.verbose or args.verify
        else lambda screen: _screen(screen, memory, found),
    )


# Which checks a person sees as one; the others are about the store.
_PARTS = {
    "Search": ("text index", "text index rows", "vectors"),
    "Import": (
        "logs that cannot be read", "logs with problems", "logs deleted by their agents",
        "logs about to be deleted",
    ),
    "Jobs": ("jobs", "engine"),
}  # fmt: skip
_AGENT = "connected to "


def _is_fault(finding: HealthCheck) -> bool:
    return not (finding.ok or finding.warning)


def _screen(screen: Screen, memory: Memory, found: Sequence[HealthCheck]) -> Iterator[str]:
    """A row for each part: whether it is well, and if not what to do."""
    parts: dict[str, list[HealthCheck]] = {name: [] for name in ("Store", *_PARTS)}
    for one in found:
        part = next((part for part, names in _PARTS.items() if one.name in names), "Store")
        if one.name.startswith(_AGENT):
            part = agent_name(one.name.removeprefix(_AGENT)).capitalize()
        parts.setdefault(part, []).append(one)
    wide = max(map(cells, parts))
    for part, checks in parts.items():
        bad = [one for one in checks if not one.ok]
        for one in bad:
            sign, role = ("!", "warn") if one.warning else ("✗", "fail")
            about = "" if one.name.startswith(_AGENT) else f"{one.name}: "
            yield from _row(screen.style, role, sign, part, wide, f"{about}{one.detail}")
            hint = screen.style.clean(one.hint)
            for line in fill(hint, screen.style.width - wide - 5):
                yield screen.style.paint("accent", f"{'':{wide + 4}} {line}")
        if not bad:
            yield from _row(screen.style, "ok", "✓", part, wide, _well(memory, part, checks))
    faults = sum(_is_fault(one) for one in found)
    warnings = sum(one.warning and not one.ok for one in found)
    if faults or warnings:
        yield f"{counted(faults, 'problem')}, {counted(warnings, 'warning')}"
    yield from screen.hint("Every check: recollect doctor -v")


def _row(style: Style, role: str, sign: str, part: str, wide: int, said: str) -> Iterator[str]:
    first, *rest = fill(style.clean(said), style.width - wide - 5) or [""]
    yield f"{style.paint(role, style.glyph(sign))} {pad(part, wide)}   {first}".rstrip()
    for line in rest:
        yield f"{'':{wide + 5}}{line}"


def _well(memory: Memory, part: str, checks: Sequence[HealthCheck]) -> str:
    """What to say of a part in which all is well."""
    said = {one.name: one.detail for one in checks}
    if part == "Store":
        summary = memory.summary()
        sessions = f"{number(summary.sessions)} sessions{and_subagents(summary.subagents)}"
        return f"{summary.size_bytes / 1e6:.1f} MB, {sessions}, {number(summary.turns)} turns"
    if part == "Import":
        gone = said.get("logs deleted by their agents", "").partition(";")[0]
        return f"every log could be read; {gone} deleted by their agents"
    if part == "Search":
        return said.get("vectors", "")
    if part == "Jobs":
        return "; ".join(filter(None, ["nothing failed", said.get("engine", "")]))
    return "; ".join(filter(None, said.values()))


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
            warning=bool(row.unread_logs),
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
