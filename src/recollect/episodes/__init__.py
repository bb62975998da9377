"""Episodes: attempts at tasks, recorded live or derived from sessions, and found again."""
