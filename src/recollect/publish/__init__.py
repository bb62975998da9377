"""Publish: what was learned is reviewed, written where agents read it, and measured."""
