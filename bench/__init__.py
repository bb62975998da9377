"""Measures every figure we claim: `python -m bench SUITE`, explained in docs/performance.md."""
