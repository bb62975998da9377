"""A project's memory by somebody who reads: what they are given, what is taken of their answer."""
