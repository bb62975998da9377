"""Cline, Roo Code and what Kilo Code was made of: a folder for
each task, and Cline's new sessions.
"""

from __future__ import annotations

from recollect.capture.adapters.cline_roo.adapter import ClineRoo

__all__ = ["ClineRoo"]
