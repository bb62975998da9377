"""Learn: attempts, what recurs in them over sessions and agents, and what follows from it."""
