"""A session in the terminal, turn by turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from recollect.errors import RecollectError
from recollect.serve.cli.style import age, money
from recollect.serve.tui.choices import ChoiceList
from recollect.serve.tui.lines import one_line, turn_content

if TYPE_CHECKING:
    from typing import ClassVar

    from textual import events

    from recollect.model.sessions import Session, Turn
    from recollect.serve.tui.app import RecollectApp

# So many turns are read at once; more when the last one is reached.
WINDOW = 60
HINTS = "↑↓ turn  Space fold  / find  n N next  y copy  Esc back"


def leave(screen: Screen[None]) -> None:
    """From its box back to its list, and from there to the screen before."""
    box = screen.query_one("#box", Input)
    if box.has_focus:
        box.display = False
        screen.query_one("#list", OptionList).focus()
    else:
        screen.app.pop_screen()


class SessionScreen(Screen[None]):
    """The turns of a session; one opens with its outputs."""

    app: RecollectApp
    BINDINGS: ClassVar = [Binding("escape", "leave", show=False)]

    def __init__(self, ref: str, at: int = 1, *, find: str = "") -> None:
        super().__init__()
        self.ref, self.at, self.find = ref, at, find
        self.turns: list[Turn] = []
        self.open: set[int] = set()
        self.session: Session | None = None

    def compose(self) -> ComposeResult:
        yield Static("", id="head", markup=False)
        yield ChoiceList(id="list", compact=True, markup=False)
        box = Input(placeholder="find in this session", id="box")
        box.display = False
        yield box
        yield Static(HINTS, id="foot", markup=False)

    def on_mount(self) -> None:
        self.query_one("#list", OptionList).focus()
        self.read(max(0, self.at - 6))

    @work(exclusive=True, group="read")
    async def read(self, after: int) -> None:
        """Read the turns after one of them."""
        try:
            if self.session is None:
                self.session = await self.app.ask(lambda memory: memory.session(self.ref))
            found = await self.app.ask(
                lambda memory: memory.turns(self.ref, after=after, limit=WINDOW)
            )
        except RecollectError as error:
            self.query_one("#foot", Static).update(Content(str(error)))
            return
        session = self.session
        facts = " · ".join(
            one_line(part)
            for part in (
                (session.project or "").rpartition("/")[2], session.agent, age(session.started_at),
                f"{session.turns} turns", money(session.cost_usd), session.outcome or "",
            )
            if part
        )  # fmt: skip
        self.query_one("#head", Static).update(
            Content.assemble(
                " ‹ ", (one_line(session.title or self.ref), "bold"), "  ", (facts, "dim")
            )
        )
        self.turns += [turn for turn in found if turn.live]
        self._draw()

    def _draw(self) -> None:
        listing = self.query_one("#list", OptionList)
        before = listing.highlighted
        listing.clear_options()
        listing.add_options(Option(self._turn(turn), id=str(turn.ordinal)) for turn in self.turns)
        place = next((n for n, turn in enumerate(self.turns) if turn.ordinal >= self.at), 0)
        listing.highlighted = before if before is not None else place

    def _turn(self, turn: Turn) -> Content:
        head = Content.assemble(
            (f"{turn.ordinal:>3}  ", "$accent"), (age(turn.started_at), "dim"), "\n"
        )
        return head + turn_content(turn, whole=turn.ordinal in self.open) + Content("\n")

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if self.turns and event.option_index == len(self.turns) - 1:
            last = self.turns[-1].ordinal
            if self.session is not None and last < self.session.turns:
                self.read(last)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._fold()

    def _fold(self) -> None:
        listing = self.query_one("#list", OptionList)
        if listing.highlighted is not None:
            self.open ^= {self.turns[listing.highlighted].ordinal}
            self._draw()

    def on_key(self, event: events.Key) -> None:
        if self.query_one("#box", Input).has_focus:
            return
        listing = self.query_one("#list", OptionList)
        acts = {
            "j": listing.action_cursor_down, "k": listing.action_cursor_up, "space": self._fold,
            "slash": self._ask_what, "n": lambda: self._next(1), "N": lambda: self._next(-1),
            "y": self._copy, "q": self.app.exit,
        }  # fmt: skip
        if event.key in acts:
            event.stop()
            acts[event.key]()

    def _ask_what(self) -> None:
        box = self.query_one("#box", Input)
        box.display = True
        box.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.find = event.value
        event.input.display = False
        self.query_one("#list", OptionList).focus()
        self._next(1)

    def _next(self, step: int) -> None:
        """Go to the next turn that holds the words."""
        listing = self.query_one("#list", OptionList)
        words = [word.casefold() for word in self.find.split() if ":" not in word]
        count, place = len(self.turns), listing.highlighted or 0
        for far in range(1, count + 1):
            number = (place + step * far) % count
            text = turn_content(self.turns[number], whole=True).plain.casefold()
            if words and all(word in text for word in words):
                listing.highlighted = number
                return
        self.query_one("#foot", Static).update(Content(f"No other turn has {self.find!r}."))

    def _copy(self) -> None:
        listing = self.query_one("#list", OptionList)
        if listing.highlighted is not None:
            ref = self.turns[listing.highlighted].ref
            self.app.copy_to_clipboard(ref)
            self.query_one("#foot", Static).update(Content(f"copied {ref}"))

    def action_leave(self) -> None:
        leave(self)
