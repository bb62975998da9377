"""The memory as tools that an agent can call: `recollect mcp`.

    client ─► pipes ─► tools ─► MemoryThread ─► Memory
    client ─► stdio or http ─► server ─► tools, resources ─► MemoryThread ─► Memory

The protocol is the SDK's business; ours is what is asked and answered. Tools
ask the memory on a thread of its own, put what they get into one shape
(answers.py) and cut it to a page. The SDK takes most of a second to
import: nothing outside this package imports it, and over pipes only what is unusual
has it loaded (pipes.py).
"""
