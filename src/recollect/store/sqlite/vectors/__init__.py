"""The vectors of turns: written, found, and kept in the memory of a process that stays."""
