"""Words from a log, made fit to stand inside a line of ours.

What we tell an agent unasked is read as data only as long as nothing in it can
look like the end of our frame, or say something that a person does not see.
So whatever is quoted becomes one line of visible characters, without brackets
that could close the frame and without blobs that only a machine can read.

A person's prompt is quoted for what it says. A command and a path are quoted
for what was run and where, and somebody else may have had a hand in them: a
commit message, a branch or a file can be named after a sentence. Of those only
short pieces are shown, too short to ask for anything.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Wide enough for every flag and most test patterns; a sentence is longer.
# Bytes, not characters: eight Chinese characters say as much as 24 letters.
LITERAL_BYTES = 24
# A name between two slashes: the longest of ordinary source trees are near 40.
NAME_BYTES, NAME_SHOWN_BYTES = 40, 16
# Words in a row that are neither options nor paths: `docker compose up
# web` has four. A sentence has more.
PLAIN_WORDS = 4
BLOB_CHARACTERS, BLOB_PIECE, BLOB_SHOWN = 48, 24, 12
# What is read of a text, per character that may be shown: enough for
# any amount of honest white space.
READ_AHEAD = 16

# Printable by the book, but nothing is seen of them: joiners, fillers, blanks, variation selectors.
_UNSEEN = dict.fromkeys([
    0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0,
    *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0),
])  # fmt: skip
_OPENERS, _CLOSERS = "<˂ᐸ‹❬❮❰⟨〈\u2329⧼﹤＜", ">˃ᐳ›❭❯❱⟩〉\u232a⧽﹥＞"
_QUOTES = "“”„‟«»〝〞＂"
_TABLE = (
    _UNSEEN
    | dict.fromkeys(map(ord, _OPENERS), "‹")
    | dict.fromkeys(map(ord, _CLOSERS), "›")
    | dict.fromkeys(map(ord, _QUOTES), '"')
)
# A closing tag, with a bracket or a slash of whatever sort, or ours even
# without its end; `cat < /etc/hosts` is none.
_END_OF_TAG = re.compile(r"‹[ /\\⁄∕⧸／＼]+(?=[\w:-]* ?›|recalled)", re.IGNORECASE)

# Beginning or end of what we put around what is told.
_FRAME = re.compile(r"<\s*[/\\]?\s*recalled", re.IGNORECASE)
_PLAIN_CHARACTERS = 400

_BLOB = re.compile(rf"[A-Za-z0-9+/=_-]{{{BLOB_CHARACTERS + 1},}}")
_DOCUMENT = re.compile(
    r"((?<!<)<<(?!<)[-~]?[ \t]*(['\"]?)(\w+)\2)([^\n]*)\n.*?(?:\n[ \t]*\3(?!\w)|\Z)", re.DOTALL
)
_LITERAL = re.compile(r"""\\.|'[^']*'|"(?:[^"\\]|\\.)*"|(?<!\S)\#[^\n]*""", re.DOTALL)
_NAME = re.compile(r"[^\s/:=]+")
_PLAIN = re.compile(r"""["'(\[{]*[^\W\d_][\w.'’-]*[.,;:!?"')\]}\\]*""")
_OPERATORS = ("&&", "||", "|", "|&", "&", ";")
_GO_ON = ("&", "|", ";")


def is_seen(char: str) -> bool:
    """Whether a character shows; spaces other than the plain one do not."""
    return char.isprintable() and ord(char) not in _UNSEEN


def quoted(text: str, most: int) -> str:
    """A text as one line of at most so many characters, all of them
    visible, none of which can end our frame.
    """
    return _at_most(_without_blobs(_visible(" ".join(text[: most * READ_AHEAD].split()))), most)


def visible(text: str) -> str:
    """A text as one line without anything that is not seen.

    Unlike what is quoted, it may be any length and have any mark.
    """
    line = " ".join(text.split())
    return " ".join("".join(filter(str.isprintable, line)).translate(_UNSEEN).split())


def typed(prompt: str) -> str:
    """A prompt without the marks that an import left, after its words, in the place of our own."""
    return prompt.partition("\n\n[recalled")[0]


def as_run(command: str, most: int) -> str:
    """A command with its line ends, which are part of what it says; cut where it gets long."""
    text = "\n".join(line.rstrip() for line in command[: most * READ_AHEAD].strip().splitlines())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def quoted_command(command: str, most: int) -> str:
    """A command with what it runs and on what; its texts, comments and here-documents are left out.

    It can stand between backticks.
    """
    bare = _LITERAL.sub(_literal, _DOCUMENT.sub(r"\1\4 …", command[: most * READ_AHEAD]))
    line = _without_blobs(_visible(_on_one_line(bare))).replace("`", "'")
    return _at_most(_few_plain_words(_NAME.sub(_name, line)), most)


@lru_cache(8192)
def is_plain_command(command: str) -> bool:
    """Whether a command can be told whole, as it was run, whoever wrote it: nothing in it is long
    enough to ask for something, and nothing looks like our frame.
    """
    if "\n" in command.strip() or len(command) > _PLAIN_CHARACTERS or _FRAME.search(command):
        # In one line it would be another command.
        return False
    line = " ".join(command.split())
    told = quoted_command(line, _PLAIN_CHARACTERS).replace("‹", "<").replace("›", ">")
    return told == line.replace("`", "'")


def quoted_path(path: str, most: int) -> str:
    """A path, or several with commas between them, whose names are too short for a sentence.

    A long one keeps its end.
    """
    names = _visible(" ".join(path[-most * READ_AHEAD :].split())).split(", ")
    line = _without_blobs(", ".join("/".join(map(_path_part, name.split("/"))) for name in names))
    return line if len(line) <= most else "…" + line[len(line) - most + 1 :].lstrip()


def _at_most(line: str, most: int) -> str:
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _visible(line: str) -> str:
    """A line without what cannot be seen, its brackets and quotation
    marks ones that mean nothing to us.
    """
    if not line.isprintable():
        line = "".join(filter(str.isprintable, line))
    # The one is the other as far as ASCII goes, and ten times as fast.
    line = line.replace("<", "‹").replace(">", "›") if line.isascii() else line.translate(_TABLE)
    return _END_OF_TAG.sub("‹", line) if "‹" in line else line


def _without_blobs(line: str) -> str:
    if len(line) <= BLOB_CHARACTERS or max(map(len, line.split()), default=0) <= BLOB_CHARACTERS:
        return line
    return _BLOB.sub(_blob, line)


def _blob(match: re.Match[str]) -> str:
    """The head of what reads like base64 or hexadecimal digits.

    A long path has short names and stays.
    """
    run = match[0]
    is_blob = any(len(piece) > BLOB_PIECE for piece in re.split("[/_-]", run))
    return f"{run[:BLOB_SHOWN]}…" if is_blob else run


def _literal(match: re.Match[str]) -> str:
    text = match[0]
    if text[0] == "#" or text == "\\\n":
        return " "
    return text if _size(text) <= LITERAL_BYTES + 2 else f"{text[0]}…{text[0]}"


def _on_one_line(script: str) -> str:
    """A script with line ends as what they mean within a line."""
    line = ""
    for text in filter(None, (" ".join(one.split()) for one in script.splitlines())):
        line += ("" if not line else " " if line.endswith(_GO_ON) else "; ") + text
    return line


def _name(match: re.Match[str]) -> str:
    return _cut(match[0]) if _size(match[0]) > NAME_BYTES else match[0]


def _path_part(name: str) -> str:
    words = name.split()
    return (
        _cut(" ".join(words[:PLAIN_WORDS]))
        if len(words) > PLAIN_WORDS or _size(name) > NAME_BYTES
        else name
    )


def _cut(name: str) -> str:
    return (
        name.encode("utf-8", "replace")[:NAME_SHOWN_BYTES].decode("utf-8", "ignore").rstrip() + "…"
    )


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _few_plain_words(line: str) -> str:
    """A command that says little: what `echo` prints needs no quotation
    marks, and is cut like what has them.
    """
    kept: list[str] = []
    run, is_cut = 0, False
    for word in line.split(" "):
        ends = word in _OPERATORS or word.endswith(";")
        if any(map(str.isalnum, word)):
            run = run + 1 if _PLAIN.fullmatch(word) else 0
        if run > PLAIN_WORDS and not is_cut:
            kept.append("…")
            is_cut = True
        if not is_cut:
            kept.append(word)
        elif ends:
            kept.append(word if word in _OPERATORS else ";")
        if ends:
            run, is_cut = 0, False
    return " ".join(kept)
