"""Answers to the questions people have: who changed this, what fixed it,
how is it used, what keeps failing.
"""
