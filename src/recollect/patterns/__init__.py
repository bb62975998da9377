"""Patterns: what recurs over sessions, attempts and agents, and what follows from it."""
