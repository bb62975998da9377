"""What the notes that rules take are worth: `python bench/notes.py LOGS… >
notes.jsonl`, then `--labels notes.jsonl`.

The first call imports logs into a store that is thrown away, takes notes, and
prints a line of JSON for each. Somebody reads them and sets `label` to what a
note is:

    useful      a later session in this project would act better for knowing it
    useless     true, perhaps, but of no help: a moment's task, half a sentence, a guess
    duplicate   another note in the list says the same of the same project
    secret      it holds something that must not be kept
    recalled    it repeats what a memory had told the agent

The second call sums up one file of labels or more. Whoever improves the rules
looks at the notes of some logs, and measures with those of others.

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

from recollect.distill.notes import extract  # noqa: E402
from recollect.memory import Memory  # noqa: E402
from recollect.store import open_store  # noqa: E402

LABELS = ("useful", "useless", "duplicate", "secret", "recalled")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logs", nargs="*", type=Path, help="files or folders of logs")
    parser.add_argument("--labels", nargs="+", type=Path, help="files of labelled notes to sum up")
    parser.add_argument("--short", action="store_true", help="take notes from short sessions too")
    args = parser.parse_args()

    if args.labels:
        print(json.dumps({str(path): summed_up(read(path)) for path in args.labels}, indent=2))
    elif args.logs:
        for row in found(args.logs, short=args.short):
            print(json.dumps(row, ensure_ascii=False))
    else:
        parser.error("name logs to take notes from, or files of --labels")


def found(logs: list[Path], *, short: bool) -> Iterator[dict[str, Any]]:
    """The notes of these logs, those of one session after those of another."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {"RECOLLECT_HOME": folder, "HOME": folder}
        with Memory.open(environ=environ) as memory:
            memory.import_logs(logs)
            list(memory.digest_new())
            path = memory.settings.store
        if short:
            _take_all(path)
        with Memory.open(environ=environ) as memory:
            notes = sorted(memory.old.notes(), key=lambda note: int(note.ref.removeprefix("note:")))
        for note in notes:
            yield {
                "label": "", "category": note.category, "trust": note.trust, "status": note.status,
                "text": note.text,
                "project": note.project, "turn": f"{note.session}#{note.turn}",
            }  # fmt: skip


def _take_all(path: str) -> None:
    """Take notes from every session with a person in it."""
    store = open_store(path)
    for number, ref in store.db.rows("select id, ref from sessions order by started_at, id"):
        digest = store.digests.find(ref)
        if digest is not None and store.old.is_with_a_person(number):
            passages = store.digests.passages(number)
            extract.keep(store, passages, extract.Rules().extract(passages, digest), by="rules")
    store.close()


def read(path: Path) -> list[dict[str, Any]]:
    """Labelled notes; one without a label, or with another, ends the run."""
    rows = [
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    wrong = [row["text"] for row in rows if row["label"] not in LABELS]
    if wrong:
        sys.exit(
            f"{path}: {len(wrong)} notes have no label, or none of {', '.join(LABELS)}; the first "
            f"is: {wrong[0]}"
        )
    return rows


def summed_up(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How many notes there are, how many of each label, and the shares that are promised."""
    counts = Counter(row["label"] for row in rows)
    return {
        "notes": len(rows), **{label: counts[label] for label in LABELS},
        "useful_share": share(counts["useful"], len(rows)),
        "duplicate_share": share(counts["duplicate"], len(rows)),
    }  # fmt: skip


def share(part: int, whole: int) -> float | None:
    """A share of nothing is none."""
    return round(part / whole, 3) if whole else None


if __name__ == "__main__":
    main()
