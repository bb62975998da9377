"""Reads what people and agents wrote: commands, error messages, and what of it may be quoted."""
