"""From what is stored to what is worth keeping.

Reads and writes the store; knows no other stage.
"""
