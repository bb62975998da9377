"""Reads bare mirrors of the repositories and writes their pairs.

    python -m train.extract MIRRORS RAW [REPOSITORY ...]

MIRRORS holds a bare git directory for each repository, named owner+name. Only
the newest tree is read, and the commit messages where the table asks for them.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import threading
from collections.abc import Iterator
from multiprocessing import Pool
from pathlib import Path

from train.code_pairs import braces_pairs, python_pairs
from train.page_pairs import cheat_pairs, dialogue_pairs, intent_pairs, page_pairs, tldr_pairs
from train.pairs import Pair, fits, squeeze, write_pairs
from train.repositories import REPOSITORIES, Repository

# Larger sources are generated or data; the dialogue sets are a few large files.
MAX_SOURCE_BYTES = 250_000
MAX_SET_BYTES = 60_000_000
TEST_PATH = re.compile(r"(^|/)(tests?|testing|__tests__|spec)/|_test\.|test_|\.spec\.")
SETS = {
    "google-research-datasets+Taskmaster",
    "clinc+oos-eval",
    "PolyAI-LDN+task-specific-datasets",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("raw", type=Path)
    parser.add_argument("repositories", nargs="*", help="all of the table unless some are named")
    args = parser.parse_args()
    args.raw.mkdir(parents=True, exist_ok=True)

    names = args.repositories or list(REPOSITORIES)
    with Pool() as pool:
        for name, count in pool.imap_unordered(
            _extract, [(name, args.mirrors, args.raw) for name in names]
        ):
            print(
                name, "is not among the mirrors" if count is None else f"{count} pairs", flush=True
            )


def _extract(job: tuple[str, Path, Path]) -> tuple[str, int | None]:
    name, mirrors, raw = job
    if not (mirrors / name).is_dir():
        return name, None
    found = list(pairs_of(name, REPOSITORIES[name], mirrors / name))
    write_pairs(raw / f"{name}.jsonl", found)
    return name, len(found)


def pairs_of(name: str, repository: Repository, mirror: Path) -> Iterator[Pair]:
    """Everything a mirror gives; the same mirror gives the same pairs."""
    rng = random.Random(name)
    limit = MAX_SET_BYTES if name in SETS else MAX_SOURCE_BYTES
    for path, source in files(mirror, repository, limit):
        yield from _file_pairs(name, path, source, rng)
    if repository.commits:
        yield from commit_pairs(mirror, repository.commits)


def _file_pairs(name: str, path: str, source: str, rng: random.Random) -> Iterator[Pair]:
    extension = path.rsplit(".", 1)[-1].lower()
    is_test = TEST_PATH.search(path) is not None
    if name == "tldr-pages+tldr":
        yield from tldr_pairs(source, rng)
    elif name == "cheat+cheatsheets":
        yield from cheat_pairs(source)
    elif name == "google-research-datasets+Taskmaster":
        yield from dialogue_pairs(source)
    elif name in SETS:
        yield from intent_pairs(source, path, rng)
    elif extension == "py":
        yield from python_pairs(source, rng, is_test=is_test)
    elif extension in ("go", "rs", "js", "ts", "tsx", "java"):
        if not is_test:
            yield from braces_pairs(source, "js" if extension in ("ts", "tsx") else extension, rng)
    elif extension in ("md", "mdx", "rst", "adoc", "txt"):
        yield from page_pairs(source, path, rng)


def files(mirror: Path, repository: Repository, limit: int) -> Iterator[tuple[str, str]]:
    """Path and text of each wanted file in the newest tree.

    What is missing or not UTF-8 is left out.
    """
    include, exclude = re.compile(repository.include), re.compile(repository.exclude)
    wanted = []
    for line in git(mirror, "ls-tree", "-r", "-l", "HEAD").splitlines():
        about, path = line.split("\t", 1)
        _, kind, blob, size = about.split()
        if (
            kind == "blob"
            and include.search(path)
            and not exclude.search(path)
            and size.isdigit()
            and 30 < int(size) < limit
        ):
            wanted.append((blob, path))

    with subprocess.Popen(
        ["git", "-C", str(mirror), "cat-file", "--batch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        asking, answers = process.stdin, process.stdout
        assert asking is not None
        assert answers is not None

        def ask() -> None:
            with asking:
                asking.writelines(f"{blob}\n".encode() for blob, _ in wanted)

        # From another thread: both pipes fill up, and git waits for us to read.
        threading.Thread(target=ask, daemon=True).start()
        for _, path in wanted:
            answer = answers.readline().split()
            if answer[1] == b"missing":
                continue
            data = answers.read(int(answer[2]) + 1)[:-1]
            try:
                yield path, data.decode()
            except UnicodeDecodeError:
                continue


def commit_pairs(mirror: Path, count: int) -> Iterator[Pair]:
    """A commit's subject with its body, and with the paths it touched."""
    log = git(
        mirror, "log", "--no-merges", "-n", str(count), "--name-only", "--format=%x01%s%x02%b%x02"
    )
    for commit in log.split("\x01")[1:]:
        subject, body, names = [*commit.split("\x02"), "", ""][:3]
        subject = re.sub(r"\(?#\d+\)?", "", subject).strip()
        body = squeeze(
            re.sub(r"^[A-Z][\w-]+: .*$|https?://\S+|Co-authored.*", "", body, flags=re.M)
        )
        paths = names.split()
        if fits(subject, body + " ".join(paths), least_asked=12):
            if len(body) > 60:
                yield Pair("cbody", subject, body[:600])
            if 1 <= len(paths) <= 8:
                yield Pair("cpath", subject, " ".join(paths)[:300])


def git(mirror: Path, *arguments: str) -> str:
    answer = subprocess.run(["git", "-C", str(mirror), *arguments], capture_output=True, check=True)
    return answer.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
