"""recollect show: read a session, one turn or a note.

recollect show 453d             a session, by the start of its id
recollect show 453d.3           its third turn
recollect show 2                the second row of the last list
recollect show last --diff      what the newest session here edited
recollect show note:k7m2        a note

REF is what the other commands print. The start of an id is enough when it fits
only one.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from recollect.errors import NotFound, RecollectError
from recollect.memory import Memory
from recollect.model.notes import Note
from recollect.model.sessions import SessionDetail, ToolCall, Turn, TurnEvent
from recollect.serve.cli import digest
from recollect.serve.cli.lists import Screen
from recollect.serve.cli.memory import text as note_text
from recollect.serve.output import Output, counted, external_mark
from recollect.serve.patches import patch_of

_OUTPUT_LINES = 12


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "ref",
        metavar="REF",
        help="a session, a turn as <session>#<number>, or note:<id>",
    )
    parser.add_argument("--all", action="store_true", help="also undone turns, and whole outputs")
    parser.add_argument("--diff", action="store_true", help="only the edits, as patches")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="also the whole id, folder, branch and log"
    )
    parser.add_argument(
        "--digest",
        action="store_true",
        help="a summary: tasks, evidence, errors, what is left to do",
    )


def run(memory: Memory, args: Namespace) -> Output:
    if args.ref.startswith("note:"):
        return Output([memory.notes.get(args.ref)], note_text)
    if args.digest:
        return Output([memory.digest(args.ref)], digest.text)
    try:
        found = memory.show(args.ref)
    except NotFound:
        if (note := _find_note(memory, args.ref)) is None:
            raise
        return Output([note], note_text)

    def screen(seen: Screen) -> Iterator[str]:
        from recollect.serve.cli.reading import read_session

        return read_session(
            seen, memory, found, whole=args.all, diff=args.diff, verbose=args.verbose
        )

    if args.diff:
        turns = [found] if isinstance(found, Turn) else found.turn_list
        return Output(
            [found] if args.json else [text for turn in turns for text in _edits(turn)],
            empty="No edits are stored of it.",
            screen=screen,
            pages=True,
        )
    return Output([found], lambda row: _text(row, whole=args.all), screen=screen, pages=True)


def _find_note(memory: Memory, ref: str) -> Note | None:
    try:
        return memory.notes.get(f"note:{ref}")
    except RecollectError:
        return None


def _edits(turn: Turn) -> Iterator[str]:
    """The edits of a turn as patches, for a program."""
    for call in turn.events:
        if isinstance(call, ToolCall) and call.tool_kind == "edit" and call.ok is not False:
            yield "\n".join([f"--- {turn.ref}  {call.target or ''}", *patch_of(call.input)])


def _text(row: SessionDetail | Turn, *, whole: bool) -> str:
    if isinstance(row, Turn):
        return _turn(row, whole=whole)
    cost = "unknown" if row.cost_usd is None else f"${row.cost_usd:.4f}"
    tokens = row.tokens
    hour = f" ({tokens.cache_write_1h} for an hour)" if tokens.cache_write_1h else ""
    hidden = sum(not turn.live for turn in row.turn_list)
    lines = [
        f"{row.id}  {row.title or '(untitled)'}{external_mark(row)}",
        f"{row.agent} {row.agent_version or ''}  {row.model or '-'}  {row.origin}  "
        f"{row.project or '-'}",
        f"{row.started_at or '-'} to {row.ended_at or '-'}  {row.cwd or ''}",
        f"tokens: input {tokens.input}, cache read {tokens.cache_read}, cache write "
        f"{tokens.cache_write}{hour},"
        f" output {tokens.output} (reasoning {tokens.reasoning}); cost {cost}",
    ]
    if row.parent:
        lines.append(f"parent: {row.parent}")
    if row.subagents:
        lines.append(
            f"{counted(row.subagents, 'sub-agent')}:"
            f" recollect sessions --subagents session:{row.id}"
        )
    if row.outcome and row.tasks:
        lines.append(f"{row.outcome}: {row.summary}")
    lines += ["", *(_turn(turn, whole=whole) for turn in row.turn_list if turn.live or whole)]
    if hidden and not whole:
        lines.append(
            f"({counted(hidden, 'undone turn is', 'undone turns are')} left out; to see "
            f"{'it' if hidden == 1 else 'them'}, add --all)"
        )
    return "\n".join(lines)


def _turn(turn: Turn, *, whole: bool) -> str:
    undone = "" if turn.live else "  (undone)"
    lines = [f"--- {turn.ref}  {turn.author}  {turn.started_at or ''}{undone}"]
    lines += [_event(event, whole=whole) for event in turn.events]
    if turn.evicted_at:
        where = (
            f"the whole turn is still in the agent's log, {turn.raw_log}"
            if turn.raw_log
            else "the agent's log is gone too"
        )
        lines.append(f"(shortened on {turn.evicted_at[:10]} to save space; {where})")
    return "\n".join(lines) + "\n"


def _event(event: TurnEvent | ToolCall, *, whole: bool) -> str:
    if not isinstance(event, ToolCall):
        mark = {
            "prompt": "> ",
            "reply": "",
            "reasoning": "~ ",
            "error": "! ",
            "abort": "! ",
            "compaction": "= ",
            "command": "",
        }[event.kind]
        return "\n".join(mark + line for line in (event.text or event.kind).splitlines())
    waits = "…" if event.output is None else "unknown"
    state = waits if event.ok is None else "ok" if event.ok else "failed"
    code = "" if event.exit_code is None else f" exit {event.exit_code}"
    took = "" if event.duration_ms is None else f" {event.duration_ms / 1000:.1f} s"
    head = f"$ {event.name} {event.target or ''}  [{state}{code}{took}]"
    patch = patch_of(event.input) if event.tool_kind == "edit" else []
    output = _shortened((event.output or "").splitlines(), whole=whole)
    return "\n".join([head, *_shortened(patch, whole=whole), *output])


def _shortened(text: list[str], *, whole: bool) -> list[str]:
    lines = ["  | " + line for line in text]
    if whole or len(lines) <= _OUTPUT_LINES:
        return lines
    half = _OUTPUT_LINES // 2
    return [*lines[:half], f"  | … {len(lines) - 2 * half} lines …", *lines[-half:]]
