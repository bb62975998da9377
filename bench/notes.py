"""What the notes that rules take are worth: `python bench/notes.py LOGS… > notes.jsonl`, then `--labels notes.jsonl`.

The first call imports logs into a store that is thrown away, takes notes, and
prints a line of JSON for each. Somebody reads them and sets `label` to what a
note is:

    useful      a later session in this project would act better for knowing it
    useless     true, perhaps, but of no help: a moment's task, half a sentence, a guess
    duplicate   another note in the list says the same
    secret      it holds something that must not be kept
    recalled    it repeats what a memory had told the agent

The second call sums the labels up. Lines alternate between the half that the
rules may be improved on and the half that only measures.

With `--short`, notes are taken from sessions that are too short for that as well: there
are never enough logs, and what a rule finds does not depend on how long a session is.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from recollect.distill import extract  # noqa: E402
from recollect.memory import Memory  # noqa: E402
from recollect.store import open_store  # noqa: E402

LABELS = ("useful", "useless", "duplicate", "secret", "recalled")
HALVES = ("improved on", "measured")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logs", nargs="*", type=Path, help="files or folders of logs")
    parser.add_argument("--labels", type=Path, help="a file of labelled notes to sum up")
    parser.add_argument("--short", action="store_true", help="take notes from short sessions too")
    args = parser.parse_args()

    if args.labels:
        lines = args.labels.read_text(encoding="utf-8").splitlines()
        print(json.dumps(summed_up([json.loads(line) for line in lines if line.strip()]), indent=2))
    elif args.logs:
        for row in found(args.logs, short=args.short):
            print(json.dumps(row, ensure_ascii=False))
    else:
        parser.error("name logs to take notes from, or a file of --labels")


def found(logs: list[Path], *, short: bool) -> Iterator[dict[str, Any]]:
    """The notes of these logs, those of one session after those of another."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {"RECOLLECT_HOME": folder, "HOME": folder}
        with Memory.open(environ=environ) as memory:
            memory.import_logs(logs)
            list(memory.digest_sessions())
            path = memory.settings.store
        if short:
            _take_all(path)
        with Memory.open(environ=environ) as memory:
            rows = sorted(memory.notes(), key=lambda note: int(note.ref.removeprefix("note:")))
        for number, note in enumerate(rows):
            yield {
                "half": HALVES[number % 2], "label": "", "category": note.category, "trust": note.trust, "status": note.status,
                "text": note.text, "project": note.project, "turn": f"{note.session}#{note.turn}",
            }  # fmt: skip


def _take_all(path: str) -> None:
    """Take notes from every session with a person in it."""
    store = open_store(path)
    for number, ref in store.db.rows("select id, ref from sessions order by started_at, id"):
        digest = store.find_digest(ref)
        if digest is not None and store.is_with_a_person(number):
            passages = store.passages(number)
            extract.keep(store, passages, extract.Rules().extract(passages, digest), by="rules")
    store.close()


def summed_up(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The share of each label, in each half and in all."""
    wrong = [row["text"] for row in rows if row["label"] not in LABELS]
    if wrong:
        sys.exit(f"{len(wrong)} notes have no label, or none of {', '.join(LABELS)}; the first is: {wrong[0]}")
    parts = {half: [row for row in rows if row["half"] == half] for half in HALVES}
    return {name: _shares(part) for name, part in {**parts, "all": rows}.items()}


def _shares(rows: list[dict[str, Any]]) -> dict[str, Any]:
    counts = Counter(row["label"] for row in rows)
    return {"notes": len(rows), **{label: counts[label] for label in LABELS}, "useful_share": share(counts["useful"], len(rows))}


def share(part: int, whole: int) -> float | None:
    """A share of nothing is none."""
    return round(part / whole, 3) if whole else None


if __name__ == "__main__":
    main()
