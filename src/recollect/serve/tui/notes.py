"""The memory of a project, and what waits for a decision, in the terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from recollect.errors import RecollectError
from recollect.model.memories import TITLES
from recollect.serve.cli.style import age
from recollect.serve.output import counted
from recollect.serve.tui.choices import ChoiceList
from recollect.serve.tui.lines import cut, one_line
from recollect.serve.tui.session import SessionScreen, leave

if TYPE_CHECKING:
    from typing import ClassVar

    from textual import events

    from recollect.memory import Memory
    from recollect.model.notes import Note
    from recollect.serve.tui.app import RecollectApp

MOST_NOTES, MOST_EVIDENCE = 500, 4
TRUST = {"user": "you", "tool-verified": "proved", "team": "team", "assistant": "agent"}


class NotesScreen(Screen[None]):
    """A list of notes with what the chosen one rests on."""

    app: RecollectApp
    hints = ""
    BINDINGS: ClassVar = [Binding("escape", "leave", show=False)]

    def __init__(self) -> None:
        super().__init__()
        self.notes: dict[str, Note] = {}
        self.decided: list[str] = []
        # What the box is for: a note to edit, or none for a new line.
        self.edits: str | None = None

    def compose(self) -> ComposeResult:
        yield Static("", id="head", markup=False)
        with Container(id="panes"):
            yield ChoiceList(id="list", compact=True, markup=False)
            with VerticalScroll(id="preview", can_focus=False):
                yield Static("", id="shown", markup=False)
        box = Input(id="box")
        box.display = False
        yield box
        yield Static(self.hints, id="foot", markup=False)

    def on_mount(self) -> None:
        self.query_one("#list", OptionList).focus()
        self.query_one("#panes").set_class(self.size.width >= 110, "wide")
        self.fill()

    def lines(self, memory: Memory) -> tuple[str, list[tuple[Content, Note | None]]]:
        """What to say above, and the lines; runs on the memory's thread."""
        raise NotImplementedError

    @work(exclusive=True, group="fill")
    async def fill(self) -> None:
        """Show the notes as they are now."""
        listing = self.query_one("#list", OptionList)
        place = listing.highlighted
        head, found = await self.app.ask(self.lines)
        self.query_one("#head", Static).update(Content(f" {head}"))
        self.notes = {note.ref: note for _, note in found if note is not None}
        listing.clear_options()
        listing.add_options(
            Option(line, id=None if note is None else note.ref, disabled=note is None)
            for line, note in found
        )
        first = next((n for n, (_, note) in enumerate(found) if note is not None), None)
        if place is not None and place < len(found) and found[place][1] is not None:
            first = place
        listing.highlighted = first
        if first is None:
            self.query_one("#shown", Static).update("")

    def chosen(self) -> Note | None:
        """The note under the cursor."""
        listing = self.query_one("#list", OptionList)
        if listing.highlighted is None:
            return None
        return self.notes.get(listing.get_option_at_index(listing.highlighted).id or "")

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self.show_note()

    @work(exclusive=True, group="evidence")
    async def show_note(self) -> None:
        """What the chosen note rests on."""
        note = self.chosen()
        if note is not None:
            content = await self.app.ask(lambda memory: _note(memory, note))
            # The answer may come when the screen is left already.
            if self.is_attached:
                self.query_one("#shown", Static).update(content)

    def say(self, text: str) -> None:
        """A word about what was done."""
        self.query_one("#foot", Static).update(Content(cut(text, self.size.width - 2)))

    @work(group="change")
    async def decide(self, said: str, make: Callable[[Memory, str], Note | None]) -> None:
        """Change the chosen note, and show what became of it."""
        note = self.chosen()
        if note is None:
            return
        try:
            after = await self.app.ask(lambda memory: make(memory, note.ref))
        except RecollectError as error:
            self.say(str(error))
            return
        self.decided.append(after.ref if after is not None else note.ref)
        self.say(f"{said}: {one_line(note.text)}   u undo")
        self.fill()

    @work(group="change")
    async def undo(self) -> None:
        """Take back the last decision."""
        if not self.decided:
            self.say("Nothing to undo.")
            return
        ref = self.decided.pop()
        try:
            await self.app.ask(lambda memory: memory.notes.undo(ref))
        except RecollectError as error:
            self.say(str(error))
            return
        self.say("Undone.")
        self.fill()

    def ask_text(self, value: str, ref: str | None) -> None:
        """Have a line typed."""
        self.edits = ref
        box = self.query_one("#box", Input)
        box.value, box.display = value, True
        box.focus()

    @work(group="change")
    async def take_text(self, text: str) -> None:
        """A line was typed: another wording, or a new note."""
        ref = self.edits

        def change(memory: Memory) -> Note:
            if ref is not None:
                return memory.notes.edit(ref, text)
            return memory.notes.add(text, project=self.project, everywhere=self.project is None)

        try:
            note = await self.app.ask(change)
        except RecollectError as error:
            self.say(str(error))
            return
        self.decided.append(note.ref)
        self.say("Saved.   u undo")
        self.fill()

    @property
    def project(self) -> str | None:
        """Where a new line holds."""
        return self.app.here

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.input.display = False
        self.query_one("#list", OptionList).focus()
        if event.value.strip():
            self.take_text(event.value.strip())

    def on_key(self, event: events.Key) -> None:
        if self.query_one("#box", Input).has_focus:
            return
        listing = self.query_one("#list", OptionList)
        acts: dict[str, Callable[[], object]] = {
            "j": listing.action_cursor_down, "k": listing.action_cursor_up,
            "o": self.open_evidence, "u": self.undo, "q": self.app.exit, **self.acts(),
        }  # fmt: skip
        if event.key in acts:
            event.stop()
            acts[event.key]()

    def acts(self) -> dict[str, Callable[[], object]]:
        """What the keys of this screen do."""
        return {}

    def edit(self) -> None:
        """Say the chosen note better."""
        if note := self.chosen():
            self.ask_text(note.text, note.ref)

    def open_evidence(self) -> None:
        """The session that the chosen note came from."""
        note = self.chosen()
        if note is None or not note.turns:
            self.say("You wrote this one here.")
            return
        session, _, number = note.turns[0].partition("#")
        self.app.push_screen(SessionScreen(session, int(number or 1)))

    def action_leave(self) -> None:
        leave(self)


class MemoryScreen(NotesScreen):
    """What agents are told in a project."""

    hints = "e edit  p pin  x reject  f forget  u undo  o evidence  a add  Esc back"

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key

    @property
    def project(self) -> str | None:
        return self.key

    def lines(self, memory: Memory) -> tuple[str, list[tuple[Content, Note | None]]]:
        found = memory.remember(project=self.key)
        name = self.key.rpartition("/")[2]
        if found is None or not found.notes:
            return f"Memory of {name}: nothing is known yet. a adds a line.", []
        told = [note for note in found.notes if note.in_pack]
        rest = [note for note in found.notes if not note.in_pack]
        lines: list[tuple[Content, Note | None]] = []
        for section, title in TITLES.items():
            some = [note for note in told if note.section == section]
            if some:
                lines.append((Content.assemble((f" {title}", "bold")), None))
                lines += [(_line(note, self.size.width), note) for note in some]
        if rest:
            lines.append((Content.assemble((" Known, and found when asked", "bold")), None))
            lines += [(_line(note, self.size.width), note) for note in rest]
        tokens = memory.recall(project=self.key).tokens
        size = f"{len(told)} lines, {tokens} of 600 tokens"
        return f"Memory of {name}   told at a start: {size}", lines

    def acts(self) -> dict[str, Callable[[], object]]:
        return {
            "e": self.edit,
            "p": self.pin,
            "x": lambda: self.decide("Rejected", lambda memory, ref: memory.notes.reject(ref)),
            "a": lambda: self.ask_text("", None),
            "f": lambda: self.say("Forget cannot be undone: press F to forget this line for good."),
            "F": lambda: self.decide("Forgotten", lambda memory, ref: memory.notes.forget(ref)),
        }

    def pin(self) -> None:
        """Tell the chosen note first, or in its own place again."""
        note = self.chosen()
        if note is not None and note.pinned:
            self.decide("Unpinned", lambda memory, ref: memory.notes.unpin(ref))
        else:
            self.decide("Pinned", lambda memory, ref: memory.notes.pin(ref))


class ReviewScreen(NotesScreen):
    """What was proposed and waits for a person."""

    hints = "y accept  n reject  e edit  o evidence  u undo  Esc back"

    def lines(self, memory: Memory) -> tuple[str, list[tuple[Content, Note | None]]]:
        waiting = memory.notes.search(status="candidate", limit=MOST_NOTES)
        lines: list[tuple[Content, Note | None]] = [
            (_line(note, self.size.width), note) for note in waiting
        ]
        return f"Review  {waiting.total} waiting for you" if lines else "Nothing to review.", lines

    def acts(self) -> dict[str, Callable[[], object]]:
        return {
            "y": lambda: self.decide("Accepted", lambda memory, ref: memory.notes.accept(ref)),
            "n": lambda: self.decide("Rejected", lambda memory, ref: memory.notes.reject(ref)),
            "e": self.edit,
        }


def _line(note: Note, width: int) -> Content:
    trust = TRUST.get(note.trust, note.trust)
    room = (62 if width >= 110 else width) - 14
    pin = "▲ " if note.pinned else "  "
    return Content.assemble("  ", pin, cut(note.text, room), "  ", (trust, "dim"))


def _note(memory: Memory, note: Note) -> Content:
    """A note whole, with the words that it rests on."""
    who = TRUST.get(note.trust, note.trust)
    seen = counted(note.sessions, "session")
    facts = f"{note.category} · {who} · {seen} · {age(note.at)} · {note.ref}"
    parts = [Content.assemble((one_line(note.text), "bold")), Content.assemble((facts, "dim"))]
    if note.stale:
        parts.append(Content.assemble((f"not told: {one_line(note.stale)}", "$warning")))
    for turn in memory.notes.evidence(note, MOST_EVIDENCE):
        said = turn.reply if note.trust == "assistant" else turn.prompt
        short = f"{turn.ref.rpartition(':')[2][:8]}.{turn.ordinal}"
        parts.append(
            Content.assemble(("\n" + short, "$accent"), "  ", cut(said or turn.reply or "", 600))
        )
    return Content("\n").join(parts)
