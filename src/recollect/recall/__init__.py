"""Finds the exact turn again: the query language and how hits are shown."""
