"""The memory as a page in the browser: `recollect web`.

    browser ─► guard ─► app ─► views ─► MemoryThread ─► Memory

A view asks the memory for what one page shows, and a template shows it: nothing
here knows the store. Every page works without script; the script draws
threads, moves the focus and has parts of a page come again. Nothing is asked
of any other machine.
"""
