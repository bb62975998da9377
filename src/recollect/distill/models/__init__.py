"""Distilling by a language model, or by the user's own agent: the
same shapes, from the whole record.
"""
