"""Questions in plain words and the code that answers them, in the
shapes such sets are published in.

Rows, as a JSON list or as JSON Lines, with the question in `query` or `doc`,
the code in `code` and perhaps a `label`, which is 0 for code that does not
answer. Codes that no question asks for may lie beside them in
`code_idx_map.txt`, as in CoSQA, whose tests are searched in all codes.

Or a folder with `corpus.jsonl` and `queries.jsonl` (rows of `_id` and `text`)
and a `.tsv` of question id, code id and score, in it or in `qrels`.

Each distinct code is a turn in a session of its own: codes have no neighbours.
A third of the questions, by the hash of their text, is for development.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection as Group
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.judging.sets import (
    Collection,
    LabelledSet,
    Question,
    Said,
    TalkSession,
    digest_of,
    part_by_hash,
    session_id,
    talk,
    turn_ref,
)
from recollect.errors import UsageError

_MAP = "code_idx_map.txt"
_KIND = "code"

# A question's text and a code that answers it, or None when the row only brings the code.
_Pair = tuple[str, str | None]


def load(data: Path, categories: Group[str] = ()) -> LabelledSet:
    """The set in this file or folder. There is one category, so naming some changes nothing."""
    beside = data.parent / _MAP
    files = [data, beside] if data.is_file() and beside.is_file() else [data]
    left_out: Counter[str] = Counter()
    return LabelledSet("cosqa", digest_of(files), _collection(data, files[1:], left_out), left_out)


def _collection(data: Path, beside: list[Path], left_out: Counter[str]) -> Iterator[Collection]:
    codes, pairs = _folder(data) if data.is_dir() else _rows(data)
    for path in beside:
        codes += msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    sessions = {code: f"code-{number}" for number, code in enumerate(dict.fromkeys(codes), 1)}
    answers: dict[str, set[str]] = {}
    for text, code in pairs:
        found = answers.setdefault(text, set())
        if code is not None:
            found.add(sessions[code])
    questions = [_question(text, named) for text, named in answers.items() if named]
    left_out["questions that no code answers"] = len(answers) - len(questions)
    yield Collection(
        "code",
        questions,
        talk([TalkSession(name, None, [Said(code)]) for code, name in sessions.items()]),
    )


def _question(text: str, named: Iterable[str]) -> Question:
    return Question(
        id=text,
        part=part_by_hash(text),
        kind=_KIND,
        text=text,
        evidence=frozenset(turn_ref(name, 1) for name in named),
        sessions=frozenset(map(session_id, named)),
    )


def _rows(path: Path) -> tuple[list[str], list[_Pair]]:
    codes: list[str] = []
    pairs: list[_Pair] = []
    for number, row in enumerate(_decoded(path), 1):
        text, code = row.get("query") or row.get("doc"), row.get("code")
        if not (isinstance(text, str) and isinstance(code, str)):
            raise UsageError(
                f"{path}: row {number} has no question or no code",
                hint="rows need `query` or `doc`, and `code`",
            )
        codes.append(code)
        pairs.append((text, None if row.get("label") in (0, "0") else code))
    return codes, pairs


def _folder(folder: Path) -> tuple[list[str], list[_Pair]]:
    links = sorted((*folder.glob("qrels/*.tsv"), *folder.glob("*.tsv")))
    if not links:
        raise UsageError(
            f"{folder} says nowhere what answers what",
            hint="put a .tsv of question, code and score into it",
        )
    codes = {str(row["_id"]): str(row["text"]) for row in _decoded(folder / "corpus.jsonl")}
    texts = {str(row["_id"]): str(row["text"]) for row in _decoded(folder / "queries.jsonl")}
    pairs: list[_Pair] = []
    for path in links:
        with path.open(newline="", encoding="utf-8") as lines:
            for question, *_, code, score in csv.reader(
                lines, delimiter="\t", quoting=csv.QUOTE_NONE
            ):
                # The first line may name the columns, and some files have one
                # in between that is always 0.
                if question in texts and code in codes:
                    pairs.append((texts[question], codes[code] if float(score) > 0 else None))
    return list(codes.values()), pairs


def _decoded(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        raise UsageError(
            f"{path} is not there", hint="a folder holds corpus.jsonl, queries.jsonl and a .tsv"
        )
    data = path.read_bytes()
    decoder = msgspec.json.Decoder(dict[str, Any])
    try:
        if data.lstrip().startswith(b"["):
            return msgspec.json.decode(data, type=list[dict[str, Any]])
        return decoder.decode_lines(data)
    except msgspec.MsgspecError as error:
        raise UsageError(
            f"{path} is neither JSON nor JSON Lines: {error}", hint="give rows of question and code"
        ) from error
