"""Notes: what is worth remembering beyond its session, found by rules, and what becomes of it."""
