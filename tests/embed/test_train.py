"""The tools that made the model: what can be checked without a graphics card."""

from __future__ import annotations

import random
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from recollect.embed.static import StaticEncoder
from train import pack
from train.ask import questions, thin
from train.code_pairs import braces_pairs, python_pairs
from train.extract import pairs_of
from train.filter import Evaluation, divide
from train.page_pairs import page_pairs, tldr_pairs
from train.pairs import Pair, read_pairs, write_pairs
from train.prepare import choose_words, tokenise
from train.repositories import DEVELOPMENT, REPOSITORIES, Repository

WORDS = ["parse", "the", "rollout", "漢字", "file"]


def toy_table() -> tuple[np.ndarray, np.ndarray]:
    """Five words and seven buckets of 128 numbers."""
    return pack.quantise(
        np.random.default_rng(0).normal(size=(len(WORDS) + 7, 128)).astype(np.float32)
    )


def old_layout(path: Path, scales: np.ndarray, rows: np.ndarray) -> None:
    """A file as the first layout had it: the words in the order of the rows, joined by newlines."""
    words = "\n".join(WORDS).encode()
    sections = [
        struct.pack(
            "<8s4I", b"RCSTAT01", rows.shape[1], len(WORDS), len(rows) - len(WORDS), len(words)
        )
        + words
    ]
    sections += [scales.tobytes(), rows.tobytes()]
    path.write_bytes(
        b"".join(section + bytes(-len(section) % 64) for section in sections[:2]) + sections[2]
    )


def test_a_packed_table_gives_the_sums_of_its_rows(tmp_path: Path) -> None:
    """Sorting the words must take their rows along."""
    scales, rows = toy_table()
    path = tmp_path / "toy.bin"

    pack.write(path, WORDS, scales, rows)

    expected = rows[0] * scales[0] + rows[2] * scales[2] + rows[3] * scales[3]
    vector = np.array(StaticEncoder(str(path)).encode_query("parseRollout 漢字"))
    assert vector == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)


def test_an_old_file_and_a_fresh_table_pack_alike(tmp_path: Path) -> None:
    """A file in the first layout can be carried over without training again."""
    scales, rows = toy_table()
    old_layout(tmp_path / "old.bin", scales, rows)
    pack.write(tmp_path / "fresh.bin", WORDS, scales, rows)

    pack.write(tmp_path / "carried.bin", *pack.read_old(tmp_path / "old.bin"))

    assert (tmp_path / "carried.bin").read_bytes() == (tmp_path / "fresh.bin").read_bytes()


def test_a_shortened_table_is_the_nested_one(tmp_path: Path) -> None:
    """Half the file for nearly the same vectors; only the rounding is new."""
    scales, rows = toy_table()
    pack.write(tmp_path / "whole.bin", WORDS, scales, rows)
    pack.write(tmp_path / "short.bin", WORDS, *pack.shorten(scales, rows, 64))

    nested = StaticEncoder(str(tmp_path / "whole.bin"), dimensions=64).encode_query("the rollout")
    short = StaticEncoder(str(tmp_path / "short.bin")).encode_query("the rollout")

    assert list(short) == pytest.approx(list(nested), abs=0.01)


def test_a_list_with_doubles_is_not_packed(tmp_path: Path) -> None:
    """Of two equal words one would never be found."""
    scales, rows = toy_table()

    with pytest.raises(SystemExit, match="not distinct"):
        pack.write(tmp_path / "toy.bin", ["the", "the"], scales, rows)


def test_rows_and_weights_of_training_are_those_of_the_encoder() -> None:
    """A table is trained on sums; the encoder must make the same ones."""
    prepared = tokenise(["the rollout the file", "", "zxq"], WORDS, 7, 0.0)

    assert prepared["starts"].tolist() == [0, 3, 4, 10]
    assert prepared["rows"].tolist()[:3] == [1, 2, 4]
    assert prepared["weights"].tolist() == pytest.approx([2**0.5, 1, 1, 1e-6, *[1 / 6] * 6])


def test_frequent_words_are_listed_and_wholes_only_when_common() -> None:
    """The list is short: an identifier earns its place by being seen often."""
    texts = ["dataFrame of rows"] * 20 + ["rareName of rows"]

    words, seen_in = choose_words(texts, 20)

    assert words == ["of", "rows", "data", "dataframe", "frame", "name", "rare"]
    assert seen_in == [21, 21, 20, 20, 20, 1, 1]


def test_python_gives_what_it_does_and_what_it_raises() -> None:
    """The pairs are how the table learns that prose and code are about the same thing."""
    source = '''
def parse_rollout(path):
    """Read a rollout file and return its turns."""
    lines = path.read_text().splitlines()
    if not lines:
        raise ValueError("the rollout file has no complete line")
    return [parse(line) for line in lines]
'''
    found = list(python_pairs(source, random.Random(0), is_test=False))

    assert [(pair.kind, pair.asked) for pair in found] == [
        ("pydoc", "Read a rollout file and return its turns."),
        ("ident", "parse_rollout"),
        ("err", "the rollout file has no complete line"),
    ]
    assert '"""' not in found[0].answer


def test_doc_comments_of_other_languages_are_pairs() -> None:
    """Not everybody writes Python."""
    comment = "Open reads the store at path and checks it."
    code = "func Open(path string) error {\n\treturn check(read(path))\n"

    found = list(braces_pairs(f"// {comment}\n{code}}}\n", "go", random.Random(0)))

    assert found == [Pair("godoc", comment, code)]


def test_pages_and_commands_are_pairs() -> None:
    """A heading asks for its section; a description for its command."""
    page = (
        "# Install the tool\n\n"
        "It needs a recent Python and nothing else at all, so one command is enough.\n"
    )
    tldr = "# tar\n\n> Archiving utility.\n\n- E[x]tract an archive:\n\n`tar xf {{archive.tar}}`\n"

    sections = list(page_pairs(page, "docs/set-up.md", random.Random(0)))
    commands = list(tldr_pairs(tldr, random.Random(1)))

    answer = "It needs a recent Python and nothing else at all, so one command is enough."
    assert sections == [
        Pair("sec", "set up: Install the tool", answer),
        Pair("head", "Install the tool", answer),
    ]
    assert Pair("cmdp", "Archiving utility.", "tar tar xf archive.tar") in commands
    assert commands[0].answer == "tar xf archive.tar"


def test_a_mirror_is_read_file_by_file_and_commit_by_commit(tmp_path: Path) -> None:
    """From a bare repository, so that nothing needs to be checked out."""
    work, mirror = tmp_path / "work", tmp_path / "mirror"
    work.mkdir()
    (work / "guide.md").write_text(
        "# Keep a log\n\nA log that rotates every night never fills the disk, whatever is "
        "written.\n"
    )
    (work / "skipped.md").write_text(
        "# Left out\n\nThis page is excluded by its name, so nothing of it may come back.\n"
    )
    (work / "binary.md").write_bytes(b"\xff\xfe" * 40)
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    message = [
        "-m",
        "Explain how logs rotate",
        "-m",
        "Nobody knew when the old files go away, so the guide now says it plainly.",
    ]
    for arguments in (
        ["init"],
        ["add", "."],
        [*identity, "commit", *message],
        ["clone", "--bare", str(work), str(mirror)],
    ):
        subprocess.run(["git", *arguments], cwd=work, check=True, capture_output=True)

    found = list(pairs_of("toy", Repository("MIT", r"\.md$", r"skipped", commits=5), mirror))

    assert [(pair.kind, pair.asked) for pair in found] == [
        ("sec", "guide: Keep a log"),
        ("head", "Keep a log"),
        ("cbody", "Explain how logs rotate"),
        ("cpath", "Explain how logs rotate"),
    ]


def test_what_is_measured_is_never_learned() -> None:
    """A model that has seen the exam proves nothing."""
    exam = "the quick brown fox jumps over the lazy dog while nobody is looking at it"
    raw = {
        "some+repository": [
            Pair("sec", "a fox", f"{exam}!"),
            Pair("sec", "a cat", "sleeps all day on the warm roof of the shed"),
            Pair("sec", "A cat?", "sleeps all day, on the warm roof of the shed"),
            Pair("sec", "part", exam.replace("lazy dog", "lazy cat")),
        ],
        "simonw+datasette": [
            Pair("sec", "held back", "a page of a repository for development only")
        ],
    }

    train, development, dropped = divide(raw, Evaluation([exam]))

    assert train == [
        Pair("sec", "a cat", "sleeps all day on the warm roof of the shed"),
        Pair(*raw["some+repository"][3]),
    ]
    assert development == [(raw["simonw+datasette"][0], "simonw+datasette")]
    assert dropped == 1


def test_a_made_question_keeps_words_of_its_answer() -> None:
    """And only those that carry meaning."""
    rng = random.Random(0)
    statement = "I walked to the harbour with my brother and the old dog yesterday morning"

    (asked,) = questions([Pair("chat", "What did you do?", statement)], rng)

    assert asked.answer.endswith(f": {statement}")
    assert set(thin(statement, 0.5, rng).split()) <= set(statement.split()) - {
        "I",
        "to",
        "the",
        "with",
        "my",
        "and",
    }
    assert thin("it is what it is", 0.5, rng) == ""


def test_pairs_survive_their_file(tmp_path: Path) -> None:
    """Every step reads what the one before wrote."""
    pairs = [Pair("sec", "naïve\nquestion", "antwort"), Pair("plain", "alone")]

    write_pairs(tmp_path / "pairs.jsonl", pairs)

    assert list(read_pairs(tmp_path / "pairs.jsonl")) == pairs


def test_every_repository_is_named_with_its_licence_on_the_page() -> None:
    """Attribution is a condition of some of the licences."""
    page = (Path(pack.__file__).with_name("README.md")).read_text(encoding="utf-8")

    assert [name for name in REPOSITORIES if name.replace("+", "/") not in page] == []
    assert set(REPOSITORIES) >= DEVELOPMENT
