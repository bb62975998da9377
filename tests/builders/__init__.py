"""Builders make log lines with readable defaults; a test states only what it is about."""
