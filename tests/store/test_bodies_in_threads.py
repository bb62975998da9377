"""Bodies, read and written by several threads at once: as servers do, with a memory for each."""

from __future__ import annotations

import subprocess
import sys

WORK = """
import random, threading
from recollect.store import bodies

text = random.Random(1).randbytes(300_000).hex()
rows = [["prompt", None, text]]
faults = []

def work():
    try:
        for _ in range(40):
            assert bodies.unpack(bodies.pack(rows)) == rows
    except BaseException as error:
        faults.append(repr(error))

threads = [threading.Thread(target=work) for _ in range(4)]
for one in threads: one.start()
for one in threads: one.join()
print(faults)
"""


def test_threads_pack_and_unpack_at_once() -> None:
    """In a process of its own: where they share an object of zstandard, it ends."""
    done = subprocess.run(
        [sys.executable, "-c", WORK], capture_output=True, text=True, timeout=300, check=False
    )

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[]", "")
