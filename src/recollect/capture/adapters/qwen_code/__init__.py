"""Qwen Code: one JSONL file per session, a tree of records; in 2025 one document.

A line may open a new branch and leave the old one behind, so a file is always
read whole. `documents` reads what the first versions left. What we rely on, and
the versions we saw it in, is written down in docs/formats/qwen-code.md.
"""

from __future__ import annotations

from recollect.capture.adapters.qwen_code.adapter import QwenCode

__all__ = ["QwenCode"]
