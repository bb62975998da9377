"""A history as aider writes it: each thing that happens is appended, its own
lines with two spaces at their ends.
"""

from __future__ import annotations

from pathlib import Path

STARTED = "2026-03-01 09:00:00"
NAME = ".aider.chat.history.md"


def started(at: str = STARTED, *notices: str) -> str:
    """A session begins; aider introduces itself."""
    return f"\n# aider chat started at {at}\n\n" + said(*notices)


def introduced(at: str = STARTED, *, options: str = "", model: str = "gpt-4o") -> str:
    """A session begins as it mostly does."""
    command = f"/usr/bin/aider {options}".strip()
    return started(
        at,
        command,
        "Aider v0.85.1",
        f"Main model: {model} with diff edit format",
        "Weak model: gpt-4o-mini",
        "Git repo: .git with 16 files",
        "Repo-map: using 4096 tokens, auto refresh",
    )


def prompt(text: str) -> str:
    """What a person types."""
    return "\n#### " + "  \n#### ".join(text.split("\n")) + "  \n"


def answer(text: str) -> str:
    """What the model says."""
    return f"\n{text.strip()}\n\n"


def said(*lines: str) -> str:
    """Notices of aider's, a line each."""
    return "".join(f"> {line}  \n" for line in lines)


def printed(text: str) -> str:
    """A notice of several lines: only its beginning and its end are marked."""
    return f"> {text}  \n"


def tokens(sent: str = "3.2k", received: str = "66", cost: str = "0.0086", more: str = "") -> str:
    return said(
        f"Tokens: {sent} sent{more}, {received} received. Cost: ${cost} message, $0.50 session."
    )


def block(path: str, old: str, new: str, language: str = "python") -> str:
    """An edit that the model proposes."""
    return f"{path}\n```{language}\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```"


def history(folder: Path, *happened: str, name: str = NAME) -> Path:
    """A file in which all this happened."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("".join(happened), encoding="utf-8")
    return path
