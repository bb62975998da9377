"""Keeps the store within a budget: raw events go first, what they came to stays."""
