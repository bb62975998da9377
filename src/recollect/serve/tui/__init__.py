"""The memory in the terminal: `recollect tui`.

    keys ─► screens ─► MemoryThread ─► Memory

A screen shows one list and what is chosen in it. The memory is asked on a
thread of its own, so the screen never waits; an answer that comes after a newer
question is dropped. What a log says becomes `Content`, never markup.
"""
