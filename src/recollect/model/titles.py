"""What a session is called: the title that its agent gave it, else its first real request.

No title: a slash command, what a program framed a prompt in, the heading of a
template, a path that was pasted, a warm-up. A line that is too long ends at a
word, with `…`.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

import re

from recollect.model.client_commands import is_client_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TITLE_CHARACTERS = 80
# A word that is cut where less than this is left of the line was no word, such as in Japanese.
_LEAST_KEPT = 50
# An image or a file, as imports leave them in a prompt, and what clients write for what was pasted.
_PLACEHOLDER = re.compile(
    r"\[(?:image|file|document)(?: [^\]\n]*)?\]|\[(?:Image|Pasted text|Audio) #\d+[^\]\n]*\]"
)
_TAGGED = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>.*?</\1>", re.DOTALL)
_CODE = ("```", "~~~", "{/*", "/*", "//", "<!--", "<?")
_TAG = re.compile(r"</?[A-Za-z!][^<>]*>")
_HEADING = re.compile(r"#{1,6}\s+")
# Lists, quotes and numbers before what is said.
_LEADING = re.compile(r"(?:[-*+>]\s+|\d{1,2}[.)]\s+)+")
_COMMAND = re.compile(r"[/$][A-Za-z][\w:.-]*(?=\s|$)(?:\s*[-–—:]\s)?")
# An absolute path, also with spaces escaped, or one mentioned with @.
_PATH = re.compile(
    r"(?<![\w.:/\\~])@?(?:~|[A-Za-z]:)?(?:[/\\](?:[^\s/\\'\"`<>|()（）「」、。,;]|\\ )+){2,}[/\\]?"
)
# Keys and encoded files: their beginning says as much.
_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{60,}")
# What ends a sentence, or a phrase, and no path.
_ENDS = ".,:;!?"
_WORDS = re.compile(r"[^\W_]{2,}|[^\W_a-zA-Z0-9]")
# Nobody finds a session again that is called "hello".
_GREETING = re.compile(r"(?:hi|hello|hey|hallo|hola|test|start)\W*", re.IGNORECASE)
_TELLING = re.compile(r"[^\W_]{2,}.*?[\W_]+[^\W_]+|[^\W_a-zA-Z0-9]{4}")
# Headings that a form has, whatever is filled in.
_FORM = re.compile(
    r"(?:user |my |the )?(?:input|request)|(?:your |the )?tasks?|context|background|role|goals?|"
    r"objective|instructions?|overview|description|summary|(?:the )?problem(?: statement)?|issue|"
    r"error(?: type| message)?|prompt|questions?|requirements|system(?: prompt)?|outline|identity|"
    r"persona|arguments|details",
    re.IGNORECASE,
)
# What stands in a form that was left empty, and what programs ask to be ready sooner.
_FILLER = re.compile(
    r"warm[- ]?up|you \*\*must\*\* consider the user input\b.*|\$arguments|n/?a|none|"
    r"(?:current )?working directory: .*|\[request interrupted.*|\[suggestion mode: .*",
    re.IGNORECASE,
)
# What agents call a session before they know better.
_UNNAMED = re.compile(
    r"(?:new|untitled)(?: (?:chat|session|conversation|agent|thread|composer|task))?"
    r"(?: - .*| *\d*)|(?:chat|session|conversation) \d*|warm[- ]?up",
    re.IGNORECASE,
)
_INPUT_FORM = re.compile(
    r"\s*#+\s+user input\s*\n+\s*(`{3,}|~{3,})[^\n]*\n(.*?)(?:\1|\Z)", re.I | re.S
)


def title_of(own: str | None, prompts: Iterable[str]) -> str | None:
    """The title of a session: its agent's own, else what the first prompt says that says something.

    `prompts` are what people asked, in order; of a session of an agent, what the agent asked.
    """
    short = left = None
    if own is not None and not _UNNAMED.fullmatch(own.strip()):
        short = _line_in(own)
        if short and not _GREETING.fullmatch(short):
            return short
    for prompt in prompts:
        title = request_in(prompt)
        if title and _TELLING.search(title):
            return title
        short = short or title
        left = left or _cut(" ".join(_TAG.sub(" ", prompt).split()))
    # Better than nothing: a session is told from another by it.
    if not short and left and _says_something(left) and not _FILLER.fullmatch(left):
        return left
    return short


def without_pictures(prompt: str) -> str:
    """A prompt without the marks of the pictures and files in it, unless it is nothing else."""
    return _PLACEHOLDER.sub(" ", prompt).strip() or prompt


def request_in(prompt: str) -> str | None:
    """The first line of a prompt that says what is wanted, as a title has it."""
    if is_client_command(prompt):
        return None
    form = _INPUT_FORM.match(prompt)
    # Of a form that was left empty the rest is the form's.
    return _line_in(form[2] if form else prompt)


def _line_in(text: str) -> str | None:
    text = _PLACEHOLDER.sub(" ", text)
    lead = text.lstrip()
    if lead.startswith("<"):
        rest = _TAGGED.sub("\n", lead)
        text = rest if any(map(_says_something, rest.splitlines())) else lead
        text = _TAG.sub(" ", text)
    for line in text.splitlines():
        if title := _said_in(line):
            return title
    return None


def _said_in(line: str) -> str | None:
    line = line.strip()
    if line.startswith(_CODE) or _FILLER.fullmatch(line):
        return None
    heading = _HEADING.match(line)
    if heading:
        line = line[heading.end() :].strip("# ")
        if _FORM.fullmatch(line.rstrip(":：")):
            return None
    line = _LEADING.sub("", line, count=1) if _LEADING.match(line) else line
    line = line.replace("**", "").replace("__", "").strip()
    command = _COMMAND.match(line)
    if command:
        line = line[command.end() :].strip()
        if not _TELLING.search(line):
            # `/review 151` says more than 151.
            return None
    short = _PATH.sub(_last_name, line)
    if short != line and not _says_something(_PATH.sub(" ", line)):
        return None
    short = _BLOB.sub(lambda found: found[0][:12] + "…", short)
    return _cut(" ".join(short.split())) if _says_something(short) else None


def _last_name(path: re.Match[str]) -> str:
    name = path[0].rstrip(_ENDS)
    # A backslash before a space is no separator.
    return re.split(r"[/\\](?! )", name.rstrip("/\\"))[-1] + path[0][len(name) :]


def _says_something(text: str) -> bool:
    return _WORDS.search(text) is not None


def _cut(text: str) -> str:
    if len(text) <= TITLE_CHARACTERS:
        return text
    kept = text[: TITLE_CHARACTERS - 1]
    if not text[TITLE_CHARACTERS - 1].isspace() and kept.rfind(" ") >= _LEAST_KEPT:
        kept = kept[: kept.rfind(" ")]
    return kept.rstrip(" ,;:.-–—([{\"'`") + "…"
