"""The first screen: the newest sessions here, and whatever is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Horizontal, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from recollect.errors import RecollectError
from recollect.model.sessions import Turn
from recollect.serve.cli.style import age, money
from recollect.serve.resume import continuation
from recollect.serve.tui.choices import ChoiceList
from recollect.serve.tui.lines import cut, hit_line, one_line, padded, session_line, turn_content

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from textual import events

    from recollect.memory import Memory
    from recollect.model.answers import Continuation, FileChange
    from recollect.model.search import Hit
    from recollect.model.sessions import Session
    from recollect.serve.tui.app import RecollectApp

# A pause after a key before it is searched, and before a preview is drawn.
KEY_SECONDS, PREVIEW_SECONDS = 0.04, 0.06
MOST_HERE, MOST_ELSEWHERE, MOST_HITS, MOST_CHANGED = 200, 20, 40, 8
# From this width on the preview stands beside the list, and below this height it is left out.
WIDE, LOW, NARROW = 110, 24, 60
MOST_PREVIEW_TURNS = 12
HINTS = "Enter resume  o open  h hand over  y copy  m memory  r review  Tab agent  ? keys"
KEYS = """\
In the box          letters are typed; ↓ or Esc goes to the list
In the list         letters act:

  ↑ ↓  j k          move                    Enter       resume: Enter again runs it
  o  →              open the session        y           copy the reference
  m                 memory of this project  r           what waits for a decision
  h                 copy the prompt that hands it over to another agent
  p                 this project, or all    Tab         only one agent, the next one
  /                 back to the box         Esc         back, clear, then leave
  q                 leave                   ?           these keys

In a session        ↑ ↓ turn · Space fold · / find · n N next, previous · Esc back
Review, memory      y accept · n reject · e edit · p pin · u undo · o evidence · a add"""


class BrowseLines(NamedTuple):
    """What a question came to: lines with what is behind them, and what to say above."""

    options: list[tuple[Content, str | None]]
    head: str


class SessionList(ChoiceList):
    """A click chooses a line, a second one opens it; only Enter continues a session."""

    class Pick(Message):
        """A line was clicked twice."""

    async def _on_click(self, event: events.Click) -> None:
        event.prevent_default()
        place = event.style.meta.get("option")
        if place is None or self.get_option_at_index(place).disabled:
            return
        self.highlighted = place
        if event.chain > 1:
            self.post_message(self.Pick())


class BrowseScreen(Screen[None]):
    """A box to type in, a list, and what is chosen in it."""

    app: RecollectApp
    BINDINGS: ClassVar = [
        Binding("escape", "leave", show=False),
        # Before the box sees it: a key that follows at once would be typed there.
        Binding("down", "go_down", show=False, priority=True),
        Binding("tab", "next_agent", show=False, priority=True),
        Binding("shift+tab", "previous_agent", show=False, priority=True),
        Binding("ctrl+o", "open_session", show=False, priority=True),
        Binding("ctrl+y", "copy", show=False, priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.everywhere = False
        self.agent: str | None = None
        self.agents: list[str] = []
        self.resumes: Continuation | None = None
        self.keys_shown = False

    def compose(self) -> ComposeResult:
        yield Static("", id="head")
        with Horizontal(id="line"):
            yield Static("›", id="sign", markup=False)
            yield Input(placeholder="type to search everything", id="box", select_on_focus=False)
        with Container(id="panes"):
            yield SessionList(id="list", compact=True, markup=False)
            with VerticalScroll(id="preview", can_focus=False):
                yield Static("", id="shown", markup=False)
        yield Static(HINTS, id="foot", markup=False)

    def on_mount(self) -> None:
        self.set_focus(self.query_one("#box", Input))
        self._fit()
        self.ask("")

    def on_resize(self, event: events.Resize) -> None:
        self._fit()
        self.ask(self.typed, keep=True)

    @property
    def typed(self) -> str:
        return self.query_one("#box", Input).value

    @property
    def list_width(self) -> int:
        return 64 if self.size.width >= WIDE else max(20, self.size.width - 2)

    @property
    def preview_width(self) -> int:
        beside = self.size.width >= WIDE
        return self.size.width - (self.list_width + 6 if beside else 3)

    def _fit(self) -> None:
        panes = self.query_one("#panes")
        panes.set_class(self.size.width >= WIDE, "wide")
        panes.set_class(self.size.height < LOW or self.size.width < NARROW, "bare")

    # Asking

    def on_input_changed(self, event: Input.Changed) -> None:
        self.set_timer(KEY_SECONDS, lambda: self.ask(self.typed))

    @work(exclusive=True, group="ask")
    async def ask(self, text: str, *, keep: bool = False) -> None:
        """Fill the list with what a text finds; with nothing typed, with the newest sessions."""
        if text != self.typed:
            return
        width = self.list_width
        try:
            found = await self.app.ask(lambda memory: self._find(memory, text.strip(), width))
        except RecollectError as error:
            self.query_one("#head", Static).update(Content(f" {error}"))
            return
        listing = self.query_one("#list", OptionList)
        chosen = self._chosen() if keep else None
        listing.clear_options()
        listing.add_options(
            Option(line, id=None if ref is None else f"{number}:{ref}", disabled=ref is None)
            for number, (line, ref) in enumerate(found.options)
        )
        refs = [ref for _, ref in found.options]
        first = next((place for place, ref in enumerate(refs) if ref is not None), None)
        listing.highlighted = refs.index(chosen) if chosen and chosen in refs else first
        where = self._where()
        blanks = max(2, self.size.width - len(where) - len(found.head) - 14)
        self.query_one("#head", Static).update(
            Content.assemble(
                " ", ("recollect", "bold"), f"  {where}", " " * blanks, (found.head, "dim")
            )
        )
        if not refs:
            self._show(Content("No hits. Esc clears; p searches all projects."))

    def _where(self) -> str:
        place = "all projects" if self._all else (self.app.here or "").rpartition("/")[2]
        return f"{place} · {self.agent}" if self.agent else place

    @property
    def _all(self) -> bool:
        return self.everywhere or self.app.here is None

    def _find(self, memory: Memory, text: str, width: int) -> BrowseLines:
        """Runs on the memory's thread."""
        filters: dict[str, Any] = {} if self._all else {"project": self.app.here}
        if self.agent:
            filters["agent"] = self.agent
        if not self.agents:
            self.agents = [row.name for row in memory.stats("agent") if row.name]
        if text and not text.endswith(":"):
            return self._hits(memory, text, width, filters)
        return self._newest(memory, width, filters)

    def _hits(self, memory: Memory, text: str, width: int, filters: dict[str, Any]) -> BrowseLines:
        result = memory.search(text, limit=MOST_HITS, here=self.app.folder, **filters)
        groups: dict[str, list[Hit]] = {}
        options: list[tuple[Content, str | None]] = []
        if result.nearest is not None:
            options.append((Content.assemble((" Nearest", "dim")), None))
        for hit in result.hits or filter(None, [result.nearest]):
            groups.setdefault(hit.session, []).append(hit)
        for ref, hits in groups.items():
            session = memory.session(ref)
            options.append((session_line(session, width), hits[0].ref))
            options += [(hit_line(hit, width), hit.ref) for hit in hits[:3]]
        found = f"{len(result.hits)} hits in {len(groups)} sessions"
        count = found if result.hits else "Nothing relevant found."
        return BrowseLines(options, count)

    def _newest(self, memory: Memory, width: int, filters: dict[str, Any]) -> BrowseLines:
        page = memory.session_page(limit=MOST_HERE, **filters)
        options: list[tuple[Content, str | None]] = []
        if not self._all and self.agent is None:
            options += self._behind_changes(memory, width)
        if page.rows:
            title = "Newest" if self._all else "Newest here"
            options.append((Content.assemble((f" {title}", "dim")), None))
            options += [(session_line(one, width), one.id) for one in page.rows]
        if not self._all:
            others: dict[str, Any] = {"-project": self.app.here, "agent": self.agent}
            elsewhere = memory.session_page(limit=MOST_ELSEWHERE, **others).rows
            if elsewhere:
                options.append((Content.assemble((" Other projects", "dim")), None))
                options += [
                    (
                        session_line(one, width, project=(one.project or "").rpartition("/")[2]),
                        one.id,
                    )
                    for one in elsewhere
                ]
        waiting = memory.notes.search(status="candidate", limit=1).total
        review = f" · {waiting} to review" if waiting else ""
        empty = "No sessions yet. Import them: recollect import"
        return BrowseLines(options, f"{page.total} sessions{review} · ? keys" if options else empty)

    def _behind_changes(self, memory: Memory, width: int) -> list[tuple[Content, str | None]]:
        """The turns that last changed what is not committed here, a line a session."""
        rows = memory.uncommitted(self.app.folder, limit=MOST_CHANGED).rows
        behind: dict[str, list[FileChange]] = {}
        for row in rows:
            behind.setdefault(row.session, []).append(row)
        options: list[tuple[Content, str | None]] = []
        for session, changes in behind.items():
            names = ", ".join(row.file.rpartition("/")[2] for row in changes)
            options.append((session_line(memory.session(session), width), changes[0].ref))
            options.append((Content.assemble((f"       {cut(names, width - 8)}", "dim")), None))
        if options:
            title = Content.assemble((" Behind your uncommitted changes", "dim"))
            options.insert(0, (title, None))
        return options

    # Showing

    def _chosen(self) -> str | None:
        listing = self.query_one("#list", OptionList)
        if listing.highlighted is None:
            return None
        found = listing.get_option_at_index(listing.highlighted).id
        return found.partition(":")[2] if found else None

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._stay()
        self.set_timer(PREVIEW_SECONDS, self.preview)

    @work(exclusive=True, group="preview")
    async def preview(self) -> None:
        """Show what is chosen."""
        ref = self._chosen()
        if ref is None:
            return
        try:
            width = self.preview_width
            self._show(await self.app.ask(lambda memory: _preview(memory, ref, width)))
        except RecollectError as error:
            self._show(Content(str(error)))

    def _show(self, content: Content) -> None:
        self.query_one("#shown", Static).update(content)
        self.query_one("#preview").scroll_home(animate=False)

    def _say(self, text: str, *, asks: bool = False) -> None:
        foot = self.query_one("#foot", Static)
        shown = text if text == HINTS else cut(text, self.size.width - 2)
        foot.update(Content.styled(shown, "reverse") if asks else Content(shown))

    def _stay(self) -> None:
        """Nothing is resumed after all."""
        if self.resumes is not None:
            self.resumes = None
        self._say(HINTS)

    # Keys

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.resume()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.resume()

    def on_key(self, event: events.Key) -> None:
        box, listing = self.query_one("#box", Input), self.query_one("#list", OptionList)
        if box.has_focus:
            return
        if event.key == "up" and (listing.highlighted or 0) <= 1:
            self.set_focus(box)
        acts: dict[str, Callable[[], object]] = {
            "j": listing.action_cursor_down, "k": listing.action_cursor_up,
            "slash": lambda: self.set_focus(box), "h": self.hand_over,
            "o": self.action_open_session, "right": self.action_open_session,
            "y": self.action_copy, "p": self.action_toggle_project, "m": self.action_memory,
            "r": self.action_review, "q": self.app.exit, "question_mark": self.action_keys,
        }  # fmt: skip
        if event.key in acts:
            event.stop()
            acts[event.key]()

    def on_session_list_pick(self, event: SessionList.Pick) -> None:
        self.action_open_session()

    @work(exclusive=True, group="hand over")
    async def hand_over(self) -> None:
        """Copy the prompt with which another agent goes on."""
        from recollect.serve.handoff import handed_over

        ref = self._chosen()
        if ref is None:
            return
        try:
            found = await self.app.ask(lambda memory: handed_over(memory, ref))
        except RecollectError as error:
            self._say(str(error))
            return
        self.app.copy_to_clipboard(found.text)
        self._say(f"copied: the prompt for another agent, about {found.tokens:,} tokens")

    def action_go_down(self) -> None:
        """From the box to the list, and down in it."""
        listing = self.query_one("#list", OptionList)
        if listing.has_focus:
            listing.action_cursor_down()
        else:
            self.set_focus(listing)

    def action_leave(self) -> None:
        """Back, clear, then leave."""
        box = self.query_one("#box", Input)
        if self.resumes is not None:
            self._stay()
        elif self.keys_shown:
            self.keys_shown = False
            self.preview()
        elif box.value:
            box.value = ""
            self.set_focus(box)
        elif box.has_focus and self.query_one("#list", OptionList).option_count:
            self.set_focus(self.query_one("#list", OptionList))
        else:
            self.app.exit()

    def action_toggle_project(self) -> None:
        self.everywhere = not self.everywhere
        self.ask(self.typed)

    def action_next_agent(self) -> None:
        self._choose_agent(1)

    def action_previous_agent(self) -> None:
        self._choose_agent(-1)

    def _choose_agent(self, step: int) -> None:
        names: list[str | None] = [None, *self.agents]
        place = names.index(self.agent) if self.agent in names else 0
        self.agent = names[(place + step) % len(names)]
        self.ask(self.typed)

    def action_open_session(self) -> None:
        from recollect.serve.tui.session import SessionScreen

        if ref := self._chosen():
            session, _, number = ref.partition("#")
            self.app.push_screen(SessionScreen(session, int(number or 1), find=self.typed))

    def action_copy(self) -> None:
        if ref := self._chosen():
            self.app.copy_to_clipboard(ref)
            self._say(f"copied {ref}")

    def action_memory(self) -> None:
        from recollect.serve.tui.notes import MemoryScreen

        if self.app.here is None:
            self._say("This folder is no project that is known. Start this in a project's folder.")
        else:
            self.app.push_screen(MemoryScreen(self.app.here))

    def action_review(self) -> None:
        from recollect.serve.tui.notes import ReviewScreen

        self.app.push_screen(ReviewScreen())

    def action_keys(self) -> None:
        self.keys_shown = True
        self._show(Content(KEYS))

    @work(exclusive=True, group="resume")
    async def resume(self) -> None:
        """Ask once before a session is continued; the second time it is."""
        ref = self._chosen()
        if ref is None:
            return
        if self.app.picks:
            self.app.exit(ref)
            return
        if self.resumes is not None:
            self.app.exit(self.resumes)
            return
        try:
            session = ref.partition("#")[0]
            found = await self.app.ask(lambda memory: continuation(memory, session))
        except RecollectError as error:
            self._say(str(error))
            return
        if found.warnings:
            self._say(" ".join(found.warnings))
            return
        self.resumes = found
        where = f" in {found.cwd}" if found.cwd else ""
        self._say(f" Enter runs it, Esc stays: {' '.join(found.words)}{where}", asks=True)


def _preview(memory: Memory, ref: str, width: int) -> Content:
    """A session by its prompts, or the turn that was found in it."""
    session = memory.session(ref.partition("#")[0])
    short = memory.names([session.id])[session.id].short
    title = padded(session.title or "(no prompt)", width - len(short) - 1)
    head = Content.assemble(
        (title, "bold"), " ", (short, "$accent"), "\n",
        (cut(_facts(session), width), "dim"), "\n\n",
    )  # fmt: skip
    if "#" in ref:
        turn = memory.show(ref)
        return head + turn_content(turn) if isinstance(turn, Turn) else head
    lines = [
        Content.assemble((f"{turn.ordinal:>3} ", "$accent"), cut(turn.prompt or "", width - 4))
        for turn in memory.turns(session.id, limit=MOST_PREVIEW_TURNS)
        if turn.live
    ]
    if session.summary:
        lines.append(Content.assemble(("\n" + one_line(session.summary), "dim")))
    return head + Content("\n").join(lines)


def _facts(session: Session) -> str:
    parts = [
        age(session.started_at), session.agent, session.git.branch or "", f"{session.turns} turns",
        f"{session.errors} of {session.tool_calls} calls failed" if session.errors else "",
        money(session.cost_usd), session.outcome or "",
    ]  # fmt: skip
    return " · ".join(one_line(part) for part in parts if part)
