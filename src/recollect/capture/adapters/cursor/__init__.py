"""Cursor: one chat in up to three places, under one id.

`editor` reads the SQLite file of the editor, with `bubbles` for the chats in it
and `workspaces` for what else it notes; `command_line` the file that each chat of
the command line has; `transcripts` what the agent leaves for other programs. The
messages of the last two are the same, and `reader` makes items of them. What we
rely on, and how we know it, is in docs/formats/cursor.md.
"""

from __future__ import annotations

from recollect.capture.adapters.cursor.adapter import Cursor

__all__ = ["Cursor"]
