"""Every adapter keeps the promises of `recollect.testing`, over our own
logs and over the public samples.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from recollect.capture.adapters import BUILT_IN, get_adapter
from recollect.testing import AdapterContract, Sample
from tests.golden_logs import laid_out

GOLDEN = Path(__file__).parents[1] / "golden"
# Samples in which nobody says anything: a description alone, a database
# without messages, requests to a model.
SILENT = {
    "codex": {"AcidicSoil+codex-session-view"},
    "crush": {"LarsArtmann+go-filewatcher"},
    "goose": {"jwp23+dotfiles"},
    "openhands": {"OpenHands+software-agent-sdk"},
}
CORPUS = Path(__file__).parents[3] / "shared" / "corpus"


def samples_of(agent: str) -> list[Sample]:
    """Our own logs of an agent, and the public ones where they are beside the project."""
    module = f"tests.capture.counts.{BUILT_IN[agent][0]}"
    count = import_module(module).tokens if find_spec(module) else None
    own = [
        Sample(case, case.parent.name, count, lay_out=laid_out)
        for case in sorted((GOLDEN / agent).glob("*/root"))
    ]
    public = [
        Sample(
            folder,
            count=count,
            has_turns=folder.name not in SILENT.get(agent, ()),
            distinct_ids=False,
        )
        for folder in sorted((CORPUS / agent).glob("*"))
        if folder.is_dir()
    ]
    return [*own, *public]


for _agent in BUILT_IN:
    _name = "Test" + _agent.title().replace("-", "")
    _made = type(
        _name,
        (AdapterContract,),
        {"make": staticmethod(partial(get_adapter, _agent)), "samples": samples_of(_agent)},
    )
    globals()[_name] = pytest.mark.store(_made)
