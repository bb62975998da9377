"""What a model is given of a project, before any model: `python bench/engine.py LOGS`.

LOGS is what `lay_out.py` of the open judgement makes, as for `bench/worth.py`. The logs of each
repository are imported into a store that is thrown away, and `recollect memory --record` is
asked for each project. Printed are

    ceiling    the share of the facts that some line of the records holds, by keys and weight
    bytes      of the largest record (60,000 at most), and CPU seconds to make it
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.worth import JUDGEMENT, RESULTS, Judgement, by_repository  # noqa: E402
from recollect.memory import Memory  # noqa: E402


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="the record's ceiling, size and time")
    parser.add_argument("logs", type=Path, help="the laid-out logs")
    parser.add_argument("--worth", type=Path, default=JUDGEMENT, help="the open judgement")
    parser.add_argument("--only", nargs="+", metavar="PROJECT")
    parser.add_argument("--out", type=Path, default=RESULTS / "engine-records")
    args = parser.parse_args(argv)
    judgement = Judgement(args.worth)
    projects = judgement.projects(args.logs, args.only or ())
    rows = []
    for some in by_repository(projects).values():
        with tempfile.TemporaryDirectory(prefix="recollect-engine-") as home:
            environ = {"HOME": home, "RECOLLECT_HOME": home}
            with Memory.open(environ=environ) as memory:
                memory.import_logs([str(path) for one in some for path in one.logs.iterdir()])
                for project in some:
                    folder = args.out / project.name
                    folder.mkdir(parents=True, exist_ok=True)
                    keys = dict.fromkeys(filter(None, map(memory.projects.of, project.folders)))
                    texts = []
                    for key in keys:
                        began = time.process_time()
                        record = memory.engines.record(project=key)
                        spent = time.process_time() - began
                        if record is not None:
                            texts.append(record.text)
                            size = len(record.text.encode())
                            rows.append((project.name, size, spent, record.left_out))
                    (folder / "record.txt").write_text("\n".join(texts), encoding="utf-8")
    facts = judgement.facts(projects)
    judgement.score.score(facts, args.out)
    for name, size, spent, left_out in rows:
        print(f"{name:24}{size:8,} bytes {spent:6.2f} s{f'  {left_out} left out' * bool(left_out)}")
    print(
        json.dumps(
            {
                "ceiling": round(judgement.score.share(facts, "record")[2], 3),
                "largest_bytes": max(row[1] for row in rows),
                "most_cpu_seconds": round(max(row[2] for row in rows), 2),
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
