"""Repositories as git leaves them on disk, as far as we read them."""

from __future__ import annotations

from pathlib import Path


def repository(folder: Path, *tracked: str, remote: str = "", version: int = 2) -> Path:
    """A repository in which git tracks these files, named from its top."""
    dot_git = folder / ".git"
    dot_git.mkdir(parents=True, exist_ok=True)
    config = f'[remote "origin"]\n\turl = {remote}\n' if remote else "[core]\n"
    (dot_git / "config").write_text(config)
    (dot_git / "HEAD").write_text("ref: refs/heads/main\n")
    (dot_git / "index").write_bytes(index(*tracked, version=version))
    return folder


def index(*tracked: str, version: int = 2, hash_bytes: int = 20) -> bytes:
    """What git tracks; in version 4 a name leaves out how the last one begins, too."""
    data = b"DIRC" + version.to_bytes(4) + len(tracked).to_bytes(4)
    last = b""
    for name in sorted(tracked):
        text = name.encode()
        entry = b"\1" * (40 + hash_bytes) + min(len(text), 0xFFF).to_bytes(2)
        if version == 4:
            same = next(
                (n for n, (a, b) in enumerate(zip(text, last, strict=False)) if a != b),
                min(len(text), len(last)),
            )
            entry += _number(len(last) - same) + text[same:] + b"\0"
        else:
            entry += text
            entry += b"\0" * (8 - len(entry) % 8)
        last = text
        data += entry
    return data + b"\2" * hash_bytes


def _number(value: int) -> bytes:
    made = [value & 0x7F]
    while value := value >> 7:
        value -= 1
        made.append(0x80 | value & 0x7F)
    return bytes(reversed(made))
