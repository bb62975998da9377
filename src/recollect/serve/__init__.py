"""The faces: each talks to `Memory` and to nothing below it."""
