"""Prompts and replies taken apart into sentences that can stand alone in a line.

Editors and agents wrap what people type, and people paste logs, code and reviews into it;
agents write Markdown. What is left is said by somebody, in any language: a clause of a
prompt, a sentence of a reply with the heading it stands under and the commands in the
block after it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

# A line that is told: one fact. The same limit holds for every finder.
LINE_CHARACTERS = 220
# Longer prompts, and those with more lines of code or log, were pasted: only how they begin
# and how they end is the person's own.
TYPED_CHARACTERS, PROSE_CHARACTERS, CODE_LINES, OWN_LINES = 6_000, 1_800, 4, 3
# With so many headings it is a document: a command's template, a plan, a review.
DOCUMENT_HEADINGS = 3
# A sentence that is too short to say something leans on the next.
LEANING_CHARACTERS, JOINED_CHARACTERS, TOGETHER_CHARACTERS = 45, 200, 120
BLOCK_COMMANDS, BLOCK_CHARACTERS = 4, 180

_WRAPPED = re.compile(
    r"<(system-reminder|environment_context|user_instructions|INSTRUCTIONS|local-command-\w+"
    r"|command-contents|ide_\w+|permissions instructions|collaboration_mode|turn_aborted|skill"
    r"|bash-std\w+|task-notification|post-tool-use-hook|subagent_notification)[^>]*>.*?</\1>",
    re.DOTALL | re.IGNORECASE,
)
_TAG = re.compile(
    r"</?(?:command-(?:name|message|args)|bash-input|user-prompt-submit-hook|user_query|user_action"
    r"|image|context|action|results?)(?:\s[^<>]*)?>",
    re.IGNORECASE,
)
_EDITOR = re.compile(
    r"^# (?:Context from my IDE setup|Files mentioned by the user):.*?## My request[^\n]*:\s*",
    re.DOTALL,
)
_ATTACHED = re.compile(r"\[(?:Image|image/|Pasted|Request interrupted)[^\]]*\]")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_HARD_WRAP = re.compile(r"(?<=[a-z,—–])\n\s{0,4}(?=[a-z(])")
# Prompts that no person wrote although they stand where one does.
_NOT_TYPED = ("This session is being continued", "Caveat:", "<", "[SUGGESTION MODE", "Warmup")
# How reviews by programs name a place.
_REVIEW = re.compile(r"(?:^|\n)In @?\S+ around lines? \d")
_BULLET = re.compile(
    r"^\s*(?:[-*•▪◦·–—]|\d{1,2}[.)、]|[①-⑳]|\([a-z0-9]\)|\[[ xX]\]|Q\d+[:.])\s+"
)  # fmt: skip
_CODE = re.compile(
    r"[{};]\s*$|^\s*(?:import (?:[\w.]+(?: as \w+)?|[{*'\"].*);?$|import .+ from ['\"]"
    r"|from [\w.]+ import\b"
    r"|(?:const|let|var) [\w{\[][^.?!]*=|def \w+\(|class \w+ ?[({:]|class \w+ (?:extends"
    r"|implements)\b"
    r"|return(?:;|$| [^ ]+;?$| .*[;({\[])|if \(|for \(|(?:async )?function\b ?\w*\("
    r"|export (?:default|const|function|class|type|interface|async|\{|\w+=)|(?:public|private"
    r"|protected) \w+[ (<]\w*.*[({;=]"
    r"|#include|at [\w.$]+ \(|File \"|Traceback|</?[a-zA-Z]+|\}|\{|\$ |PS [A-Z]:"
    r"|\[?\d{4}-\d\d-\d\d[T ]|\d+:\d+:\d+|npm (?:ERR|WARN)|\w+Error:|\S+@\S+[:~][^ ]*[$#] )"
)
_END = re.compile(
    r"(?<=[.!?…])\s+(?=[\"'`(\[A-Z0-9\u00c0-\u1ef9А-Я])|(?<=[。！？；])\s*(?=\S)"
    r"|(?<=[a-zà-ỹ][.])\s{2,}|\s+(?=-\s)"
)
# Many type without capitals: there a sentence ends after a word of three letters, which no usual
# abbreviation has.
_END_OF_TYPED = re.compile(r"(?<=[a-z]{3}[.!?])(?<!etc\.)(?<!resp\.)(?<!approx\.)\s+(?=[a-z])")
_LEANS = re.compile(
    r"^(?:(?:It|This|That|So|Because|Otherwise|Therefore|Thus|They|These|Instead|Then|But|However"
    r"|Also|Nên|Vì|Do đó|Nếu|Поэтому)\b|これ|それ|そのため|ただし|因此|所以|但|而)"
)
_TYPED_LEANS = re.compile(r"(?:it|this|that|so|because|otherwise|they|i will|i'll|then)\b")
_CLAUSE_END = ("; ", "；", "。", ", ", "，", "、", " – ", " — ", ". ", " (")
_IMAGE, _LINK = re.compile(r"!\[[^\]]*\]\([^)]*\)"), re.compile(r"\[([^\]]+)\]\([^)\s]+[^)]*\)")
_CITED = re.compile(r"【F?:?([^†】]+)†[^】]*】")
_BOLD = re.compile(r"\*\*|(?<!\S)__(?=\w)|(?<=\w)__(?!\S)")
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b50\u2b55\ufe0f\u200d]")
# What a person gave to a command whose body stands around it.
_ARGUMENT = re.compile(r"#+ (?:User Input|Arguments?|Input)\s+```\w*\n(.*?)\n```", re.DOTALL)
_HEADINGS = re.compile(r"^(?:#{1,6} |-{3}\s*$)", re.MULTILINE)
_RULER = re.compile(r"[-=*_ |:]{3,}")
_HEADING = re.compile(r"^#{1,6}\s+(.*)|^\*\*([^*]{2,70})\*\*[:：]?$")
_SHELL = frozenset(("bash", "sh", "shell", "console", "zsh", "powershell", "pwsh", "cmd", ""))
_RUNS = re.compile(r"^[\w./~\\:\"'=$-]+(\s|$)")
# What makes a sentence under a heading more than the sentence: `Cause: ...`.
_TELLING_HEADING = re.compile(
    r"cause|reason|why|how to|note|caveat|important|limit|known|gotcha|原因|注意|手順|nguyên nhân"
    r"|lưu ý",
    re.IGNORECASE,
)
_TICKED = re.compile(r"`[^`]+`")
_PATH = re.compile(
    r"(?:[\w.~@-]+/)+[\w.@-]+|[A-Za-z]:[\\/][^\s`\"']+"
    r"|\b[\w-]+\.(?:py|ts|tsx|js|mjs|json|md|sh|ps1|rs|toml|ya?ml|csv|html|css|sql|go|env|launch"
    r"|cpp|h)\b"
)
_NAME = re.compile(r"\b[a-z]+[A-Z]\w+\b|\b[A-Z][a-z]+[A-Z]\w+\b|\b\w+_\w+\b|\b[A-Z]{2,}_[A-Z_]+\b")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD = re.compile(
    r"[a-z0-9_à-ỹа-яё][a-z0-9_.\-/à-ỹа-яё]*[a-z0-9_à-ỹа-яё]|[a-z0-9à-ỹ]"
    r"|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)


class Clause(NamedTuple):
    """Some words of a person: how long the prompt is, and whether they begin it."""

    text: str
    prompt_characters: int
    opens: bool
    listed: bool


class Sentence(NamedTuple):
    """Some words of an agent, where they stand in the text, and under what."""

    text: str
    heading: str
    place: float
    has_block: bool


class _Unit(NamedTuple):
    text: str
    listed: bool
    heading: str
    place: float
    has_block: bool = False


def typed(prompt: str) -> str:
    """A prompt without what the client put around it; empty where no person wrote it."""
    text = _EDITOR.sub("", _WRAPPED.sub(" ", prompt)).strip()
    if text.startswith(_NOT_TYPED):
        return ""
    return _ATTACHED.sub(" ", _TAG.sub(" ", text)).strip()


def is_document(prompt: str) -> bool:
    """Whether a prompt is a text from elsewhere: a command's template, a plan, a review."""
    headings = len(_HEADINGS.findall(prompt))
    if _REVIEW.search(prompt):
        return True
    return headings >= DOCUMENT_HEADINGS or (headings > 1 and prompt.startswith("#"))


def clauses(prompt: str) -> Iterator[Clause]:
    """What a person says in a prompt, a sentence or an item at a time."""
    text = typed(prompt)
    if argument := _ARGUMENT.match(text):
        text = argument[1].strip()
    if is_document(text):
        return
    body = _HARD_WRAP.sub(" ", _FENCED.sub("\n\n", text))
    lines = body.split("\n")
    code = sum(_CODE.search(line) is not None for line in lines)
    is_pasted = (
        code > CODE_LINES
        or len(body) > TYPED_CHARACTERS
        or (len(body) > PROSE_CHARACTERS and not any(map(_BULLET.match, lines)))
    )
    for number, line in enumerate(lines):
        if (
            "\ufffd" in line
            or _CODE.search(line)
            or (is_pasted and OWN_LINES <= number < len(lines) - OWN_LINES)
        ):
            continue
        listed = _BULLET.match(line) is not None
        # A quote has the words as they were typed; only what makes them bold goes.
        for said in sentences(" ".join(_BOLD.sub("", _BULLET.sub("", line)).split())):
            for sentence in _typed_sentences(said):
                for piece in pieces(sentence):
                    yield Clause(piece, len(text), number == 0, listed)


def spoken(text: str) -> Iterator[Sentence]:
    """What an agent says in a reply, a sentence at a time."""
    for unit in _units(text):
        said = [unit.text] if unit.has_block else _joined(sentences(unit.text))
        for sentence in said:
            if (
                unit.listed
                and len(unit.heading) <= 40
                and len(sentence) < 150
                and _TELLING_HEADING.search(unit.heading)
            ):
                sentence = f"{unit.heading}: {sentence}"
            for piece in pieces(sentence):
                yield Sentence(piece, unit.heading, unit.place, unit.has_block)


def _typed_sentences(said: str) -> Iterator[str]:
    """What somebody types without capitals, by sentences; a short one that leans on the one
    before stays with it.
    """
    held = ""
    for sentence in _END_OF_TYPED.split(said) if "`" not in said else [said]:
        if held and (
            len(held) + len(sentence) > TOGETHER_CHARACTERS or not _TYPED_LEANS.match(sentence)
        ):
            yield held
            held = ""
        held = f"{held} {sentence}".strip()
    if held:
        yield held


def _joined(said: Iterator[str]) -> list[str]:
    """Sentences, those that lean on another one with it."""
    found: list[str] = []
    for sentence in said:
        if (
            found
            and len(found[-1]) + len(sentence) < JOINED_CHARACTERS
            and (len(found[-1]) < LEANING_CHARACTERS or _LEANS.match(sentence))
        ):
            space = "" if found[-1].endswith(("。", "！", "？")) else " "
            found[-1] += space + sentence
        else:
            found.append(sentence)
    return found


def _units(text: str) -> Iterator[_Unit]:
    """Bullets, rows and paragraphs of Markdown; a block of commands stays with what it follows."""
    heading, language = "", None
    block: list[str] = []
    last: _Unit | None = None
    lines = text.replace("\r", "").split("\n")
    for number, raw in enumerate(lines):
        line = raw.strip()
        place = number / len(lines)
        if line.startswith("```"):
            if language is None:
                language, block = line[3:].strip().lower().partition(" ")[0], []
            else:
                if last and (told := _with_block(last, language, block)):
                    yield told
                language = None
        elif language is not None:
            block.append(raw)
        elif not line or _RULER.fullmatch(line):
            continue
        elif title := _HEADING.match(line):
            heading = without_marks(title[1] or title[2]).rstrip(":：")
            last = _Unit(heading, False, "", place)
        elif line.startswith("|"):
            cells = [without_marks(cell) for cell in line.strip("|").split("|")]
            cells = [cell for cell in cells if cell and not re.fullmatch(r"[-: ]+", cell)]
            if len(cells) > 1:
                yield _Unit(" — ".join(cells), True, heading, place)
        else:
            listed = _BULLET.match(raw) is not None
            body = without_marks(_BULLET.sub("", raw))
            if len(body) > 1:
                last = _Unit(body, listed, heading, place)
                yield last


def _with_block(unit: _Unit, language: str, block: list[str]) -> _Unit | None:
    """A sentence with the commands that follow it: "To test it: `npm test`"."""
    if language not in _SHELL or (unit.text.endswith((".", "。")) and len(unit.text) > 120):
        return None
    lines = [line.strip().removeprefix("$ ").removeprefix("> ").strip() for line in block]
    commands = [
        line
        for line in lines
        if line and line[0] != "#" and _RUNS.match(line) and len(line) < BLOCK_CHARACTERS
    ]
    # A block that is more than commands is output.
    if (
        not commands
        or len(commands) > BLOCK_COMMANDS
        or len(commands) < len(list(filter(None, lines))) / 2
    ):
        return None
    told = unit.text.rstrip(" :：") + ": " + " ; ".join(f"`{command}`" for command in commands)
    return unit._replace(text=told, has_block=True) if len(told) <= LINE_CHARACTERS else None


def sentences(paragraph: str) -> Iterator[str]:
    """The sentences of a paragraph; none ends between backticks."""
    held = ""
    for part in _END.split(paragraph):
        held = f"{held} {part.strip()}".strip()
        if held and held.count("`") % 2 == 0:
            yield held
            held = ""
    if held:
        yield held


def pieces(said: str) -> Iterator[str]:
    """A sentence as lines: whole where it fits, else cut where a clause ends."""
    rest = said
    while len(rest) > LINE_CHARACTERS:
        head = cut(rest)
        if not head or head.endswith("…"):
            return
        yield head
        rest = rest[len(head) :].lstrip(" .,;:，、；。–—")
    if rest:
        yield rest


def cut(text: str, most: int = LINE_CHARACTERS) -> str:
    """At most so many characters, up to where a clause ends; with "…" where none does."""
    if len(text) <= most:
        return text
    head = text[:most]
    places = [head.rfind(end) for end in _CLAUSE_END]
    place = max((one for one in places if head[:one].count("`") % 2 == 0), default=-1)
    if place > most * 0.4:
        return head[: place + (head[place] in "；。，、")].rstrip(" ,;，、(–—")
    space = head.rfind(" ")
    return (head[:space] if space > most * 0.6 else head[: most - 1]).rstrip() + "…"


def without_marks(text: str) -> str:
    """Markdown as plain words; what stands between backticks stays."""
    text = _CITED.sub(r"`\1`", _LINK.sub(r"\1", _IMAGE.sub("", text)))
    return " ".join(_EMOJI.sub("", _BOLD.sub("", text)).split())


def size(text: str) -> float:
    """How much a text says, in letters: a Chinese or Japanese character counts for two."""
    return len(text) + 1.2 * len(_CJK.findall(text))


def names_in(text: str) -> int:
    """How many things a text names: code, paths, identifiers."""
    return len(_TICKED.findall(text)) + len(_PATH.findall(text)) + len(_NAME.findall(text))


def words(text: str) -> list[str]:
    """A text's words, those of languages without spaces as pairs of characters."""
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _CJK.match(word):
            found += [word[place : place + 2] for place in range(len(word) - 1)] or [word]
        else:
            found.append(word)
    return found
