"""OpenAI Codex CLI: one JSONL file per thread ("rollout"), appended to while it runs."""

from __future__ import annotations

from recollect.capture.adapters.codex.adapter import Codex

__all__ = ["Codex"]
