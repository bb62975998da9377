"""The nouns, a module for each subject.

Nothing is imported here: a cold search pays for `search` alone.
"""
