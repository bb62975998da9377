"""Antigravity, the CLI and the editor: a conversation is spread over files that go by its id.

The words are in a transcript of steps, the tokens in a database, and of old
conversations only the documents that the agent wrote are left in plain text.
`database` reads the database: it is a store of its own, which knows no words.
What we rely on, and how we know, is written down in docs/formats/antigravity.md.
"""

from __future__ import annotations

from recollect.capture.adapters.antigravity.adapter import Antigravity

__all__ = ["Antigravity"]
