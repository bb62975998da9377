"""Recorded logs and the items each should give.

`tests/golden/<agent>/<case>/root/` is an agent's root folder with a log of our
own in it; `items.jsonl` beside it is what the adapter reads, one item a line.
Run with `--update-golden` to rewrite them, and review the diff like code.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from recollect.capture.adapters import ProjectAdapter, get_adapter
from recollect.model.logs import Checkpoint
from tests.golden_logs import laid_out

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = sorted(folder for folder in GOLDEN.glob("*/*") if (folder / "root").is_dir())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_a_recorded_log_gives_its_items(
    case: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The whole reading of a format, pinned down item by item."""
    expected = case / "items.jsonl"

    found = "".join(_lines(case.parent.name, laid_out(case / "root", tmp_path / "root")))
    if request.config.getoption("--update-golden"):
        expected.write_text(found)

    assert found == expected.read_text()


def _lines(agent: str, folder: Path) -> list[str]:
    adapter = get_adapter(agent)
    root = str(folder)
    lines = []
    sources = list(adapter.sources(root))
    if isinstance(adapter, ProjectAdapter):
        sources += [source for source in adapter.in_project(root) if source not in sources]
    for source in sources:
        for item in adapter.read(source, None):
            # States are an adapter's private affair, so only positions are pinned.
            shown = Checkpoint(item.position) if isinstance(item, Checkpoint) else item
            told = {
                name: value
                for name, value in msgspec.structs.asdict(shown).items()
                # Hardly a format tells what is cached for an hour.
                if value is not None and (value or name != "cache_write_1h")
            }
            text = msgspec.json.encode({type(shown).__name__: told}).decode()
            lines.append(text.replace(root, "ROOT") + "\n")
    return lines
