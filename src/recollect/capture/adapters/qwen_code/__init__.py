"""Qwen Code: one JSONL file per session, a tree of records; in 2025 one document."""

from __future__ import annotations

from recollect.capture.adapters.qwen_code.adapter import QwenCode

__all__ = ["QwenCode"]
