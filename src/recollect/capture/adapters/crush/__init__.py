"""Crush: a database in each project, with a row for every message.

The Go program OpenCode of 2025, which became Crush, left the same tables in
`.opencode/opencode.db`; its sessions are Crush's. What we rely on is written
down in docs/formats/crush.md.
"""

from __future__ import annotations

from recollect.capture.adapters.crush.adapter import Crush

__all__ = ["Crush"]
