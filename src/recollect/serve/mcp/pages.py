"""Sessions, turns and notes as pages, for `get` and the resources.

A session is read as its turns in short; a turn as everything in it, piece by
piece, however long. A cursor says where the next page begins: the number of the
last turn that was shown, or of a turn's piece and how much of it was shown.
Logs grow at their ends, so a cursor stays good while the agent is writing.
"""

from __future__ import annotations

from collections.abc import Iterator

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.answers import PackLine
from recollect.model.notes import Note
from recollect.model.sessions import Session, ToolCall, Turn, TurnEvent
from recollect.serve.mcp.answers import Page, ToolAnswer, ToolHit, harmless, hit, result
from recollect.serve.output import counted

# Of a session's turn this much of the prompt and of the last reply is shown.
LEAD_CHARACTERS = 400
TURNS_AT_ONCE = 20
# A page holds about two of these.
PIECE_CHARACTERS = 4_000

_NOTE_SAYERS = {"tool-verified": "tool", "assistant": "assistant", "external": "tool"}
_NOTE_WRITERS = {
    "person": "user", "agent": "assistant", "model": "assistant", "engine": "assistant",
    "rules": "tool", "pattern": "tool", "member": "user",
}  # fmt: skip


def read(memory: Memory, ref: str, cursor: str | None) -> tuple[Page, str | None]:
    """The page of whatever a reference means, and where the next one begins."""
    if ref.startswith("note:"):
        page = Page()
        page.add(note_hit(memory.notes.get(ref)))
        return page, None
    ref = memory.whole_ref(ref)
    if "#" in ref:
        found = memory.show(ref)
        assert isinstance(found, Turn)
        return _turn_page(found, cursor, by_person=_by_person(memory.session(ref), found))
    return read_session(memory, ref, cursor)


def handoff_page(memory: Memory, ref: str) -> Page:
    """What a session leaves behind for whoever goes on with it."""
    made = memory.handoff(ref)
    # Without its frame: that of the page stands around it.
    lines = made.text.partition("\n\n")[2].strip().split("\n")[1:-1]
    at, page = memory.session(made.session).ended_at, Page()
    text = "\n".join(lines)
    page.add(hit(made.session, text, project=made.project, at=at, provenance="assistant"))
    return page


def told_hit(line: PackLine) -> ToolHit:
    """A line of a pack: a note, or the user's words and facts about a turn."""
    # A line may stand on several turns; all of them are named in it.
    ref, head = line.ref.split()[0], f" {line.ref}: "
    return hit(
        ref,
        line.text.partition(head)[2] or line.text,
        project=line.project,
        at=line.at,
        provenance=_NOTE_SAYERS.get(line.trust, "user") if ref.startswith("note:") else "user",
        trust=line.trust,
    )


def note_hit(note: Note) -> ToolHit:
    """A note, with what it is and whether it counts."""
    text = f"{note.category} ({note.status}): {note.text}"
    return hit(
        note.ref,
        text,
        project=note.project,
        at=note.at,
        provenance=_NOTE_WRITERS[note.author],
        trust=note.trust,
    )


def read_session(memory: Memory, ref: str, cursor: str | None = None) -> tuple[Page, str | None]:
    """A session's turns in short."""
    session, page, (shown,) = memory.session(ref), Page(), _position(cursor, 1)
    if not shown:
        page.add(_heading(session))
    while turns := memory.turns(session.id, after=shown, limit=TURNS_AT_ONCE):
        for turn in turns:
            hits = list(_in_short(turn, by_person=_by_person(session, turn)))
            # A turn is shown whole or on the next page.
            if page.hits and not page.has_room(hits):
                return page, str(shown)
            page.add_all(hits)
            shown = turn.ordinal
    return page, None


def _heading(session: Session) -> ToolHit:
    parts = [
        session.title or "(untitled)",
        session.agent,
        session.model,
        f"{counted(session.turns, 'turn')}; get one by its id",
        counted(session.subagents, "sub-agent") if session.subagents else None,
    ]
    text = " · ".join(part for part in parts if part)
    return hit(
        session.id, text, project=session.project, at=session.started_at, provenance="assistant"
    )


def _in_short(turn: Turn, *, by_person: bool) -> Iterator[ToolHit]:
    asked = _piece(turn, _lead(turn.prompt), "user" if by_person else "assistant")
    yield asked if turn.live else {**asked, "text": f"(undone) {asked['text']}"}
    if turn.reply:
        yield _piece(turn, _lead(turn.reply), "assistant")


def _lead(text: str) -> str:
    line = " ".join(text[: 4 * LEAD_CHARACTERS].split())
    if len(line) <= LEAD_CHARACTERS and len(text) <= 4 * LEAD_CHARACTERS:
        return line
    return line[:LEAD_CHARACTERS] + "…"


def _turn_page(turn: Turn, cursor: str | None, *, by_person: bool) -> tuple[Page, str | None]:
    page, (first, skipped) = Page(), _position(cursor, 2)
    pieces = _pieces(turn, by_person=by_person)
    for number in range(first, len(pieces)):
        text, provenance = pieces[number]
        left = harmless(text)[skipped:]
        taken = page.add_beginning(_piece(turn, left, provenance))
        if taken < len(left):
            return page, f"{number}.{skipped + taken}"
        skipped = 0
    return page, None


def _pieces(turn: Turn, *, by_person: bool) -> list[tuple[str, str]]:
    """Everything in a turn as texts that fit on a page, each with who wrote it."""
    pieces = [
        piece
        for event in turn.events
        for part in _parts(event, by_person=by_person)
        for piece in _cut(*part)
    ]
    if turn.evicted_at:
        # Not the path: what is there has its secrets still in it.
        where = "; the agent's own log still has all of it, `recollect show` says where"
        left = (
            "(this turn was shortened to save space: inputs and outputs of its calls were "
            f"removed{where if turn.raw_log else ''})"
        )
        pieces.append((left, "tool"))
    return pieces


def _cut(text: str, provenance: str) -> Iterator[tuple[str, str]]:
    """A text in pieces, so that of megabytes only what is shown has to be looked through."""
    for start in range(0, len(text), PIECE_CHARACTERS):
        yield text[start : start + PIECE_CHARACTERS], provenance


def _parts(event: TurnEvent | ToolCall, *, by_person: bool) -> Iterator[tuple[str, str]]:
    """What an event holds, each part with who wrote it."""
    if not isinstance(event, ToolCall):
        writers = {
            "prompt": "user" if by_person else "assistant",
            "command": "user",
            "error": "tool",
            "abort": "tool",
        }
        yield f"{event.kind}: {event.text}".rstrip(": "), writers.get(event.kind, "assistant")
        return
    ended = {True: "ok", False: "failed", None: "outcome unknown"}[event.ok]
    code = "" if event.exit_code is None else f", exit {event.exit_code}"
    yield (
        f"{event.name or 'tool'} ({ended}{code}): {event.target or _arguments(event)}",
        "assistant",
    )
    if event.output:
        yield f"output: {event.output}", "web" if event.tool_kind == "web" else "tool"


def _arguments(event: ToolCall) -> str:
    import msgspec

    return msgspec.json.encode(event.input).decode() if event.input is not None else ""


def _piece(turn: Turn, text: str, provenance: str) -> ToolHit:
    return hit(turn.ref, text, project=turn.project, at=turn.started_at, provenance=provenance)


def _by_person(session: Session, turn: Turn) -> bool:
    return turn.author == "human" and session.origin != "subagent"


def _position(cursor: str | None, parts: int) -> list[int]:
    """The numbers in a cursor; the beginning without one."""
    if cursor is None:
        return [0] * parts
    numbers = cursor.split(".")
    if len(numbers) != parts or not all(
        number.isdecimal() and len(number) <= 15 for number in numbers
    ):
        raise UsageError(
            f'"{cursor[:50]}" is not a cursor of this.',
            hint="Use the one that the last page ended with.",
        )
    return [int(number) for number in numbers]


def team_page(memory: Memory, query: str, limit: int, project: str | None) -> ToolAnswer:
    """What the team shares about a query: whoever wrote it, it is a team mate's to us."""
    found = memory.team.search(query, limit=limit, project=project)
    page = Page()
    page.add_all(
        hit(
            f"team:{one.author}", f"{one.kind} of {one.author}: {one.text}",
            project=one.project, at=one.at, provenance="user", trust="team",
        )
        for one in found.hits
    )  # fmt: skip
    nothing = [] if page.hits else ["Your team shares nothing about that."]
    return result(memory, page, remark=" ".join([*found.remarks, *nothing]))
