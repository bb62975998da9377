"""How fast secrets are taken out, and how many: `python bench/redaction.py --corpus DIR`.

Prints one JSON object: megabytes per second of CPU time for each engine, over
batches of about a megabyte of the strings of a log, and the shares on labelled
cases when they are there. Without a corpus, a small generated log is measured.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from recollect.redact import Redactor, hyper, table_version  # noqa: E402

RUNS = 7
WORDS = """
    the a to of and in is for with that this it on be as are from not when by if or an can we use
    file test error function
    value return code should run add check set get type call path list name data line build config
    default option result
    change update module class import output input index query search store cache key read write
    open close parse format
    string number time user session turn agent tool message event log record table row column field
    schema migration
    transaction commit branch merge rebase diff patch review issue request response server client
    socket port host timeout
    retry queue worker thread process lock race async await stream buffer chunk byte memory leak
    trace exception handler
    router endpoint token auth header cookie proxy network latency benchmark profile sample vector
    distance recall rank
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--corpus", type=Path, help="a folder of JSON Lines files to take strings from"
    )
    parser.add_argument(
        "--labels",
        type=Path,
        default=ROOT.parent / "shared" / "redaction",
        help="the labelled cases",
    )
    parser.add_argument(
        "--mb", type=int, default=8, help="how many megabytes of strings to measure"
    )
    args = parser.parse_args()

    engines = ["hyperscan", "python"] if hyper.available else ["python"]
    texts = list(first(strings(args.corpus) if args.corpus else generated(), args.mb * 1_000_000))
    with tempfile.TemporaryDirectory() as cache:
        redactors = {
            engine: Redactor(b"bench", engine=engine, cache=Path(cache)) for engine in engines
        }
        report = {
            "table": table_version(),
            "corpus": str(args.corpus) if args.corpus else "generated",
            "megabytes": round(sum(map(len, texts)) / 1e6, 2),
            "strings": len(texts),
            "mb_per_second": {
                engine: round(speed(redactor, texts), 1) for engine, redactor in redactors.items()
            },
            "replaced": dict(redactors["python"].counts),
            "labels": {
                path.stem: shares(redactors[engines[0]], path)
                for path in sorted(args.labels.glob("*.jsonl"))
            },
        }
    print(json.dumps(report, indent=2))


def speed(redactor: Redactor, texts: list[str]) -> float:
    """Megabytes per second of CPU time, the median of several runs."""
    redactor.redact("the first call compiles")
    size = sum(map(len, texts)) / 1e6
    runs = []
    for _ in range(RUNS):
        start = time.process_time()
        redactor.redact_all(texts)
        runs.append(size / (time.process_time() - start))
    redactor.counts = {kind: count // RUNS for kind, count in redactor.counts.items()}
    return statistics.median(runs)


def shares(redactor: Redactor, path: Path) -> dict[str, float]:
    """How many positives lost all their secrets, and how many negatives were touched."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    pairs = list(zip(rows, redactor.redact_all([row["text"] for row in rows]), strict=True))
    gone = [
        not any(secret in text for secret in row["secrets"])
        for row, text in pairs
        if row["expect_secret"]
    ]
    changed = [text != row["text"] for row, text in pairs if not row["expect_secret"]]
    return {
        "positives": len(gone),
        "gone": round(sum(gone) / len(gone), 4),
        "negatives": len(changed),
        "negatives_changed": sum(changed),
    }


def first(texts: Iterator[str], size: int) -> Iterator[str]:
    """Texts up to so many characters."""
    for text in texts:
        yield text
        size -= len(text)
        if size <= 0:
            return


def strings(folder: Path) -> Iterator[str]:
    """Every string in the records of a folder of logs, decoded."""
    for path in sorted(folder.rglob("*.jsonl")):
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue  # Real logs have broken lines.
                yield from inside(record)


def inside(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from inside(item)


def generated() -> Iterator[str]:
    """Prose, code, paths and hashes, without end."""
    chance = random.Random(1)
    while True:
        lines = []
        for _ in range(chance.randint(1, 60)):
            words = chance.choices(WORDS.split(), k=chance.randint(3, 14))
            lines.append(
                chance.choice(
                    [
                        " ".join(words),
                        f"    {words[0]}_{words[1]} = self.{words[2]}({words[0]}, "
                        f"{words[1]}={chance.randint(0, 999)})",
                        f"src/{words[0]}/{words[1]}_{words[2]}.py:{chance.randint(1, 900)}: "
                        f"{' '.join(words)}",
                        f"{chance.getrandbits(160):040x} {words[0]}: {' '.join(words)}",
                        json.dumps({words[0]: words[1], words[2]: chance.random()}),
                    ]
                )
            )
        yield "\n".join(lines)


if __name__ == "__main__":
    main()
