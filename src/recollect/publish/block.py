"""The part of a file that is ours: found, put there, and taken out again.

It stands between two lines:

    <!-- recollect:begin v1 -->
    ...
    <!-- recollect:end -->

Everything else in the file stays as it is, byte for byte, and a block that is
taken out leaves the file as it was. What the file ends with decides what is put
between that and a new block: an empty line, and a line end too where there
was none, which the first marker then says.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from recollect.errors import FileRefused

BEGIN, BEGIN_AFTER_NO_LINE_END = (
    "<!-- recollect:begin v1 -->",
    "<!-- recollect:begin v1; no line end before -->",
)
END = "<!-- recollect:end -->"

# A mention within a line, as in prose about these files, is none. Nor is the
# end of a marker without its beginning.
_BEGIN = re.compile(r"^<!-- recollect:begin\b[^\n]*?-->[ \t]*(?P<line_end>\r?\n|\Z)", re.MULTILINE)
_END = re.compile(r"^<!-- recollect:end\b[^\n]*?-->[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_TORN = re.compile(r"^<!-- recollect:(?:begin|end)\b", re.MULTILINE)


class FoundBlock(NamedTuple):
    """A file taken apart: `text` is what stands between the markers, with plain line ends."""

    before: str
    text: str
    after: str
    newline: str
    had_line_end: bool


def find(file: str, name: str) -> FoundBlock | None:
    """Our block in a file's text.

    None when there is none. `name` is the file's, for the error if its markers are no pair.
    """
    begins, ends = list(_BEGIN.finditer(file)), list(_END.finditer(file))
    marks = len(_TORN.findall(file))
    if not marks:
        return None
    if (len(begins), len(ends), marks) != (1, 1, 2) or begins[0].end() > ends[0].start():
        raise FileRefused(
            f"{name} has our markers torn, doubled or in the wrong order",
            hint=f"leave one line `{BEGIN}` and after it one line `{END}`, or neither; then run "
            "the same command again",
        )
    begin, end = begins[0], ends[0]
    return FoundBlock(
        before=file[: begin.start()],
        text=file[begin.end() : end.start()].replace("\r\n", "\n"),
        after=file[end.end() :],
        newline="\r\n" if begin["line_end"] == "\r\n" else "\n",
        had_line_end="no line end" not in begin[0],
    )


def put(file: str, text: str, name: str) -> str:
    """A file's text with our block saying this, in its place or at the end.

    Lines end as they do in the rest.
    """
    found = find(file, name)
    if found is not None:
        begin = BEGIN if found.had_line_end else BEGIN_AFTER_NO_LINE_END
        last = found.newline if found.after or _ends_line(file) else ""
        return found.before + _lines(begin, text, found.newline) + last + found.after
    newline = line_end(file)
    if not file:
        return _lines(BEGIN, text, newline) + newline
    if file.endswith("\n"):
        return file + newline + _lines(BEGIN, text, newline) + newline
    return file + newline * 2 + _lines(BEGIN_AFTER_NO_LINE_END, text, newline) + newline


def removed(file: str, name: str) -> str:
    """A file's text without our block, and without what was put before it.

    What others wrote after it stays apart.
    """
    found = find(file, name)
    if found is None:
        return file
    before = found.before
    if not found.after:
        gap = found.newline if found.had_line_end else found.newline * 2
        rest = before.removesuffix(gap)
        # Unless somebody else has been at work there.
        if rest.endswith("\n") or not found.had_line_end:
            before = rest
    return before + found.after


def line_end(file: str) -> str:
    """How lines end in a file."""
    return "\r\n" if "\r\n" in file else "\n"


def _lines(begin: str, text: str, newline: str) -> str:
    return newline.join([begin, *text.removesuffix("\n").split("\n"), END])


def _ends_line(file: str) -> bool:
    return file.endswith("\n")
