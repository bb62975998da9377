"""A session's digest: its tasks, what was done in each, and what is left to do."""
