"""The tokens in aider's histories, counted from what is known of the format and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from recollect.model.sessions import Tokens

REPORT = re.compile(
    rb"^> Tokens: ([\d.,]+[kM]?) sent(?:, ([\d.,]+[kM]?) cache write)?(?:, ([\d.,]+[kM]?) cache "
    rb"hit)?, ([\d.,]+[kM]?) received\.",
    re.MULTILINE,
)


def tokens(folder: Path) -> Tokens:
    """Every report of a message; what was sent includes what went to a cache and came from it."""
    total = Tokens()
    for path in sorted(folder.rglob("*.md")):
        data = path.read_bytes()
        if b"# aider chat started at " not in data:
            continue
        for report in REPORT.findall(data):
            sent, written, hit, received = map(_number, report)
            total.input += max(0, sent - written - hit)
            total.cache_write += written
            total.cache_read += hit
            total.output += received
    return total


def _number(text: bytes) -> int:
    unit = {b"k": 1_000, b"M": 1_000_000}.get(text[-1:], 1)
    return round(float(text.rstrip(b"kM").replace(b",", b"") or 0) * unit)
