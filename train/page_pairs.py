"""Pairs out of documentation, command collections and dialogues."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath

from train.pairs import Pair, first_sentence, fits, squeeze

NOT_PROSE = re.compile(r"```.*?```|\{%.*?%\}|\{\{.*?\}\}|<[^>\n]{1,200}>", re.S)
CODE_BLOCK = re.compile(r"```.*?```|^(?:    |\t)[^\n]+(?:\n(?:    |\t)[^\n]+)*", re.S | re.M)
HEADING = re.compile(r"^(#{1,5} [^\n]+|\*\*[^*\n]{8,200}\*\*\s*)$", re.M)
UNDERLINED = re.compile(r"^([^\s.\n][^\n]{2,120})\n([=\-~^\"'*#+])\2{3,}\s*$", re.M)


def page_pairs(source: str, path: str, rng: random.Random) -> Iterator[Pair]:
    """Heading and section, first sentence and rest, text and code
    block of one page of documentation.
    """
    title = PurePosixPath(path).stem.replace("-", " ").replace("_", " ")
    if front := re.match(r"---\n(.*?)\n---\n", source, re.S):
        if named := re.search(r"^title:\s*[\"']?(.*?)[\"']?\s*$", front[1], re.M):
            title = named[1]
        if intro := re.search(
            r"^(?:intro|description):\s*[\"']?(.{20,}?)[\"']?\s*$", front[1], re.M
        ):
            yield Pair("sec", title, _prose(intro[1]))
        source = source[front.end() :]
    if path.endswith(".adoc"):
        source = re.sub(r"^(=+) ", lambda found: "#" * len(found[1]) + " ", source, flags=re.M)
    parts = HEADING.split(UNDERLINED.sub(r"# \1", source))
    for heading, body in zip(["", *parts[1::2]], parts[0::2], strict=True):
        yield from _section_pairs(title, re.sub(r"\{#.*?\}|[`*#]", "", heading).strip(), body, rng)


def _section_pairs(title: str, heading: str, body: str, rng: random.Random) -> Iterator[Pair]:
    text = squeeze(_prose(body))
    asked = heading or title
    if heading and title.lower() not in heading.lower() and len(title) < 60:
        asked = f"{title}: {heading}"
    if len(text) > 60 and fits(asked, text, least_asked=6):
        yield Pair("sec", asked, text[:700])
        if len(heading.split()) >= 3:
            yield Pair("head", heading, text[:500])
        sentence = first_sentence(text)
        if 30 < len(sentence) < 300 and len(text) - len(sentence) > 80:
            yield Pair("sent", sentence, text[len(sentence) :][:500])
        if len(text) > 900 and rng.random() < 0.7:
            yield Pair("sec", asked, text[700:1400])

    code = " ".join(block.strip("`") for block in CODE_BLOCK.findall(body))[:700]
    if len(code) > 15 and fits(heading or asked, code, least_asked=6, least_answer=15):
        before = squeeze(_prose(body.split("```")[0]))[-250:]
        yield Pair("mdcode", before if len(before) > 20 else heading or asked, code)


def _prose(marked: str) -> str:
    """Text without the marks of Markdown and reStructuredText."""
    text = NOT_PROSE.sub(" ", marked)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r":[\w:+.-]+:`~?([^`<]*)(?:<[^`]*>)?`", r"\1", text)
    return re.sub(r"^\.\. [^\n]*$|^\s+:\w+:[^\n]*$", "", text, flags=re.M)


def tldr_pairs(source: str, rng: random.Random) -> Iterator[Pair]:
    """What a command line does, and the command line."""
    name = source.split("\n", 1)[0].strip("# ").strip()
    source = source.replace("{{", "").replace("}}", "")
    commands = re.findall(r"^- ([^\n]+):\n+`([^\n]+)`", source, re.M)
    for description, command in commands:
        plain = re.sub(r"\[(\w+)\](\w+)", r"\1\2", description)
        yield Pair("cmd", plain, command)
        if name and rng.random() < 0.3:
            yield Pair("cmd", f"{plain} {name.split()[0]}", command)
    if about := " ".join(re.findall(r"^> (?!More info|See also)([^\n]+)", source, re.M)):
        yield Pair("cmdp", about, f"{name} {' ; '.join(command for _, command in commands)}"[:400])


def cheat_pairs(source: str) -> Iterator[Pair]:
    for match in re.finditer(r"^# ?(?:To )?([^\n]{8,150}):?\n([^#\n][^\n]{3,300})", source, re.M):
        yield Pair("cmd", match[1].rstrip(":"), match[2])


def dialogue_pairs(source: str) -> Iterator[Pair]:
    """Taskmaster: what was said and what was said next."""
    try:
        dialogues = json.loads(source)
    except ValueError:
        return  # a pointer to a file that the mirror does not hold
    for dialogue in dialogues if isinstance(dialogues, list) else []:
        if isinstance(dialogue, dict):
            said = [turn.get("text", "") for turn in dialogue.get("utterances", [])]
            for one, following in pairwise(said):
                if min(len(one), len(following)) > 25:
                    yield Pair("chat", one[:300], following[:300])
            if len(said) > 6:
                yield Pair("chatctx", " ".join(said[:3])[:400], " ".join(said[3:9])[:600])


def intent_pairs(source: str, path: str, rng: random.Random) -> Iterator[Pair]:
    """Two ways of asking for the same thing; `oos` is the set's word for "none of them"."""
    if path.endswith(".csv"):
        labelled = [(row[0], row[1]) for row in csv.reader(io.StringIO(source)) if len(row) == 2]
    else:
        labelled = [
            (text, label)
            for part in json.loads(source).values()
            for text, label in part
            if label != "oos"
        ]
    by_label: dict[str, list[str]] = {}
    for text, label in labelled:
        by_label.setdefault(label, []).append(text)
    for texts in by_label.values():
        rng.shuffle(texts)
        for one, other in zip(texts[::2], texts[1::2], strict=False):
            yield Pair("intent", one, other)
