"""Episodes: attempts at tasks, recorded as they happen or derived from sessions, and found again."""
