"""How the page says times, sums and sizes: in the zone of this machine, and never 0 for unknown."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token

TRUST = {
    "user": ("user", "you said it"),
    "tool-verified": ("tool", "proved by a tool"),
    "team": ("assistant", "a team mate says it"),
    "assistant": ("assistant", "an agent said it"),
    "external": ("external", "from outside"),
}
# Lines of an output that name an error.
_ERROR = re.compile(
    r"(?:error|exception|fatal|failed|failure|denied|not found|panicked|traceback)\b|^E  ",
    re.IGNORECASE,
)
# A browser shows no more than this of one text without becoming slow.
MOST_CHARACTERS = 40_000


def local(at: str | None) -> datetime | None:
    """A time of the memory in the zone of this machine."""
    if not at:
        return None
    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone()


def day(at: str | None) -> str:
    """Such as 3 Nov; with the year where it is another one."""
    found = local(at)
    if found is None:
        return "no date"
    year = "" if found.year == datetime.now().astimezone().year else f" {found.year}"
    return f"{found.day} {found:%b}{year}"


def clock(at: str | None) -> str:
    """Such as 13:31."""
    found = local(at)
    return f"{found:%H:%M}" if found else ""


def when(at: str | None) -> str:
    """A time today, else a date."""
    found = local(at)
    is_today = found is not None and found.date() == datetime.now().astimezone().date()
    return clock(at) if is_today else day(at)


def full(at: str | None) -> str:
    """A date and a time with its zone."""
    found = local(at)
    return f"{found:%a} {found.day} {found:%b %Y, %H:%M %Z}" if found else "no date in the log"


def ago(at: str | None) -> str:
    """How long ago, in one unit."""
    found = local(at)
    if found is None:
        return "never"
    seconds = max(0.0, (datetime.now().astimezone() - found).total_seconds())
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "just now"


def between(begun: str | None, ended: str | None) -> str:
    """How long something took, by its two times; empty where one is missing."""
    one, other = local(begun), local(ended)
    return took(1_000 * (other - one).total_seconds()) if one and other else ""


def took(milliseconds: float | None) -> str:
    """Such as 0.1 s, 53 s, 1 min 42 s, 2 h 5 min."""
    if milliseconds is None:
        return ""
    seconds = milliseconds / 1_000
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"


def number(count: float | None) -> str:
    """With separators; unknown is said."""
    return "unknown" if count is None else f"{count:,.0f}"


def short(count: float | None) -> str:
    """Such as 61 k, 2.0 M or 1.1 G."""
    if count is None:
        return "unknown"
    if count >= 999_500_000:
        return f"{count / 1e9:.1f} G"
    if count >= 999_500:
        return f"{count / 1e6:.1f} M"
    return f"{count / 1e3:.0f} k" if count >= 1_000 else f"{count:.0f}"


def money(cost: float | None) -> str:
    """In dollars; what has no price says so."""
    if cost is None:
        return "no price"
    return f"${cost:,.2f}" if cost >= 0.1 or cost == 0 else f"${cost:.3f}"


def size(count: float | None) -> str:
    """Bytes, such as 61 MB."""
    if count is None:
        return "unknown"
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= unit:
            return (
                f"{count / unit:.1f} {name}" if count < 10 * unit else f"{count / unit:.0f} {name}"
            )
    return f"{count:.0f} bytes"


def counted(count: int, one: str, several: str = "") -> str:
    """Such as 1 turn, 6 turns."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def last_name(project: str | None) -> str:
    """A project by the last part of its name."""
    return (project or "").rstrip("/\\").replace("\\", "/").rpartition("/")[2] or "no project"


def repeats(text: str, title: str | None) -> bool:
    """Whether a text says what its title says: the same words, perhaps quoted or cut."""
    said = text.strip('"“”').removesuffix("…")
    name = (title or "").removesuffix("…")
    return bool(name) and (said.startswith(name) or name.startswith(said))


def marked(text: str, wanted: Sequence[str]) -> Markup:
    """A snippet as text, with words that begin as those that were looked for marked."""
    if not wanted:
        return Markup(escape(text))
    begins = "|".join(re.escape(word) for word in sorted(wanted, key=len, reverse=True))
    parts = re.split(rf"((?<!\w)(?:{begins})\w*)", text, flags=re.IGNORECASE)
    mark = Markup("<mark>{}</mark>")
    return Markup("").join(
        mark.format(part) if place % 2 else Markup(escape(part)) for place, part in enumerate(parts)
    )


def around(text: str, quoted: str, most: int) -> Markup:
    """Some of a text with what is quoted from it marked; its beginning where nothing is."""
    place = text.find(quoted) if quoted else -1
    if place < 0:
        return Markup(escape(text if len(text) <= most else f"{text[:most]}…"))
    rest = max(40, (most - len(quoted)) // 2)
    begin, end = max(0, place - rest), place + len(quoted) + rest
    return Markup("{}{}<mark>{}</mark>{}{}").format(
        "…" if begin else "", text[begin:place], quoted, text[place + len(quoted) : end],
        "…" if end < len(text) else "",
    )  # fmt: skip


def error_lines(text: str) -> Markup:
    """An output as text, lines that name an error marked."""
    error = Markup('<span class="err">{}</span>')
    return Markup("\n").join(
        error.format(line) if _ERROR.search(line) else Markup(escape(line))
        for line in cut(text).split("\n")
    )


def cut(text: str, most: int = MOST_CHARACTERS) -> str:
    """The beginning and the end of a text that is too long to show."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n… {len(text) - most:,} characters are left out here …\n{text[-half:]}"


def shortened(text: str, most: int) -> str:
    """The beginning of a text."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def markdown(text: str) -> Markup:
    """A reply as it was meant to be read. Tags in it are text, and nothing in it is loaded."""
    # What is wider than the page is scrolled, by keyboard too.
    return Markup(_MARKDOWN.render(cut(text)).replace("<pre>", '<pre tabindex="0">'))


def code_spans(text: str) -> Markup:
    """One line with what stands between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return Markup(escape(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else Markup(escape(part))
        for place, part in enumerate(parts)
    )


def _image(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    token = tokens[place]
    return escape(f"[image: {token.content or token.attrGet('src')}]")


def _link(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    # A log may lead anywhere, and what it calls a file is none of ours: shown, not followed.
    return f'<span class="link" title="{escape(str(tokens[place].attrGet("href") or ""))}">'


def _link_end(
    self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any
) -> str:
    return "</span>"


def _heading(
    self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any
) -> str:
    # The headings of a page are ours: those of a reply are lines of it, and may be empty.
    return '<p class="md__h">'


def _heading_end(
    self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any
) -> str:
    return "</p>\n"


def _make_markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    made.add_render_rule("image", _image)
    made.add_render_rule("link_open", _link)
    made.add_render_rule("link_close", _link_end)
    made.add_render_rule("heading_open", _heading)
    made.add_render_rule("heading_close", _heading_end)
    return made


_MARKDOWN = _make_markdown()
FILTERS = {
    "day": day, "clock": clock, "when": when, "full": full, "ago": ago, "took": took,
    "number": number, "short": short, "money": money, "size": size, "counted": counted,
    "marked": marked, "markdown": markdown, "code_spans": code_spans,
    "cut": cut, "shortened": shortened, "repeats": repeats,
}  # fmt: skip
