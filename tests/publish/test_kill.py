"""A process that is killed while it publishes leaves whole files, and nothing
that the next one takes for an edit.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from recollect.publish import publishing
from recollect.publish.block import BEGIN, END
from recollect.serve.agents import publish_targets
from tests.builders.lessons import SENTENCE, Shop

# Dies at the n-th thing that it does to the disk outside of the store, before it or right after.
PUBLISHER = """
import os, signal, sys

store, folder, step, late = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "late"
done = 0

def dying(function):
    def call(*values, **named):
        global done
        done += 1
        if done == step and not late:
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*values, **named)
        if done == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return call

from recollect.publish import publishing
from recollect.serve.agents import publish_targets
from recollect.store import open_store

opened = open_store(store)
for name in ("fsync", "chmod", "replace", "unlink"):
    setattr(os, name, dying(getattr(os, name)))
names, rows = ["AGENTS.md", "cursor"], publish_targets()
publishing.publish(opened, folder, folder, names, str, apply=True, agent_targets=rows)
print("survived")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="nobody can be killed like that there")
@pytest.mark.parametrize("moment", ["early", "late"])
@pytest.mark.parametrize("step", range(1, 8))
def test_files_are_whole_whenever_it_is_killed(shop: Shop, step: int, moment: str) -> None:
    """They hold what they held, or what they shall hold; the next run finishes it and clears up."""
    shop.accepted()
    guide = shop.folder / "AGENTS.md"
    guide.write_text("# Shop\n")
    shop.filled.store.close()

    command = [
        sys.executable,
        "-c",
        PUBLISHER,
        str(shop.filled.path),
        str(shop.folder),
        str(step),
        moment,
    ]
    killed = subprocess.run(command, capture_output=True, text=True)

    assert killed.returncode == (-9 if step <= 6 else 0), killed.stderr
    written = guide.read_text()
    assert written == "# Shop\n" or (
        written.startswith(f"# Shop\n\n{BEGIN}\n") and written.endswith(f"{END}\n")
    )
    shop.filled.reopen()
    # The lease of one that was killed ends by itself; here nobody wants to wait for that.
    shop.db.execute("update leases set held_until = 0")
    folder = str(shop.folder)
    rows = publishing.publish(
        shop.filled.store, folder, folder, ["cursor"], str, apply=True,
        agent_targets=publish_targets(),
    )  # fmt: skip
    assert {row.state for row in rows} <= {"new", "unchanged"}
    assert SENTENCE in guide.read_text()
    left = sorted(
        str(path.relative_to(shop.folder)) for path in shop.folder.rglob("*") if path.is_file()
    )
    assert left == [".cursor/rules/recollect.mdc", "AGENTS.md"]
    assert guide.read_text().count(BEGIN) == 1


def test_what_others_call_like_our_unfinished_files_stays(shop: Shop) -> None:
    """Only what has the very name of one is cleared away."""
    shop.accepted()
    for name in (
        ".recollect-notes.md",
        ".recollect-abcd",
        "recollect-abcdefgh",
        ".recollect-abcdefgh",
    ):
        (shop.folder / name).write_text("mine")
    Path(shop.folder / ".recollect-12345678").symlink_to(shop.folder / "recollect-abcdefgh")
    folder = str(shop.folder)

    publishing.publish(shop.filled.store, folder, folder, [], str, apply=True)

    assert sorted(path.name for path in shop.folder.iterdir()) == [
        ".recollect-12345678", ".recollect-abcd", ".recollect-notes.md", "AGENTS.md",
        "recollect-abcdefgh",
    ]  # fmt: skip
