"""Reads every agent's logs and hands sessions and turns to the store."""
