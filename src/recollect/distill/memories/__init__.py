"""Trace memories of sessions, and the memory of a project that is made of them."""
