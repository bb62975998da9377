"""What every adapter promises, as tests that anybody's adapter can run.

An adapter in a package of its own, plugged in by the entry point
`recollect.adapters`, shows with these that it keeps the promises which the
ones that come with recollect keep:

    from pathlib import Path

    from recollect.model.sessions import Tokens
    from recollect.testing import AdapterContract, Sample

    class TestScribe(AdapterContract):
        make = Scribe
        samples = [Sample(Path("tests/logs/monday"), count=lambda folder: Tokens(input=120))]

pytest collects the class. A sample is a log, or a folder laid out as the agent
lays it out; it is copied before anything is done to it.
"""

from __future__ import annotations

from recollect.testing.contract import AdapterContract
from recollect.testing.imports import everything, imported, sources
from recollect.testing.samples import Sample

__all__ = ["AdapterContract", "Sample", "everything", "imported", "sources"]
