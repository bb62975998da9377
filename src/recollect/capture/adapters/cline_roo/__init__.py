"""Cline, Roo Code and what Kilo Code was made of: a folder for each task, and new sessions.

A task is told in two places: `screen` reads what was shown, `reader` what was
sent to the model. What we rely on, and the versions we saw it in, is in
docs/formats/cline-roo.md.
"""

from __future__ import annotations

from recollect.capture.adapters.cline_roo.adapter import ClineRoo

__all__ = ["ClineRoo"]
