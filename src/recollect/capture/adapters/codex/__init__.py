"""OpenAI Codex CLI: one JSONL file per thread ("rollout"), appended to while it runs.

A call may be told three times over, and `calls` joins what is told of it; `tools`
knows the tools, and `scripts` takes JavaScript apart that calls them. There is no
public description; what we rely on, and how we know, is written down in docs/formats/codex.md.
"""

from __future__ import annotations

from recollect.capture.adapters.codex.adapter import Codex

__all__ = ["Codex"]
