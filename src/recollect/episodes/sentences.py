"""One sentence about a pattern that a person understands, and an agent may be told.

It is made of the names in a signature and of words of ours. It says nothing of
how often, where and when, because that changes: the figures stand beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.episodes.error_classes import ORDINARY
from recollect.episodes.extractors import AGAIN
from recollect.reading.signatures import EDIT, FAILS, INSTEAD, READ, THEN

if TYPE_CHECKING:
    from recollect.model.episodes import PatternKind

_TOOLS = {
    "edit": "editing a file", "read": "reading a file", "search": "searching",
    "web": "fetching from the web",
    "task": "a sub-agent",
}  # fmt: skip


def sentence_of(kind: PatternKind, signature: str) -> str:
    """What a pattern says."""
    if kind == "tool_sequence":
        first, *rest = [_doing(step) for step in signature.split(THEN)]
        return f"What goes well here, in this order: {', then '.join([first, *rest])}."
    if kind == "decision_point":
        tried, _, held = signature.partition(INSTEAD)
        return f"`{tried}` fails here; `{held}` works instead."
    if kind == "error_recovery":
        return _recovery(signature)
    if kind == "failure":
        step, _, error = signature.partition(FAILS)
        return f"{_capital(_doing(step))} keeps failing: {_error(error)}."
    files, _, check = signature.partition(INSTEAD)
    return f"After a change of {_files(files)}, `{check}` is the check to run."


def condition_and_action(kind: PatternKind, signature: str) -> tuple[str, str] | None:
    """A pattern as a rule: when this, do that. None for those that give no advice."""
    if kind == "decision_point":
        tried, _, held = signature.partition(INSTEAD)
        return f"before running `{tried}`", f"run `{held}` instead"
    if kind == "error_recovery":
        step, error, fix = _parts(signature)
        return (
            f"when {_doing(step)} fails ({_error(error)})",
            "run it again" if fix == AGAIN else f"{_do(fix)}, then try again",
        )
    if kind == "context":
        files, _, check = signature.partition(INSTEAD)
        return f"after changing {_files(files)}", f"run `{check}`"
    return None


def _parts(signature: str) -> tuple[str, str, str]:
    """What failed, how, and what helped."""
    failed, _, fix = signature.partition(INSTEAD)
    step, _, error = failed.partition(FAILS)
    return step, error, fix


def _recovery(signature: str) -> str:
    step, error, fix = _parts(signature)
    met = f"{_capital(_doing(step))} fails at times ({_error(error)})"
    return (
        f"{met}, and passes when it is run again."
        if fix == AGAIN
        else f"{met}; it passes after {_doing(fix)}."
    )


def _doing(step: str) -> str:
    """A step as something that is done: a command in backticks, or `a change of package.json`."""
    if step in _TOOLS:
        return _TOOLS[step]
    if step.startswith(EDIT):
        return f"a change of {_files(step.removeprefix(EDIT))}"
    if step.startswith(READ):
        return f"a look at {_files(step.removeprefix(READ))}"
    return f"the tool `{step[4:]}`" if step.startswith("mcp ") else f"`{step}`"


def _do(step: str) -> str:
    """The same as something to do."""
    if step.startswith(EDIT):
        return f"change {_files(step.removeprefix(EDIT))}"
    return (
        f"use {_doing(step)}"
        if step.startswith("mcp ") or step in _TOOLS
        else f"run {_doing(step)}"
    )


def _files(kind: str) -> str:
    return (
        f"`{kind}` files"
        if kind.startswith(".") and kind.count(".") == 1 and len(kind) <= 6
        else f"`{kind}`"
    )


def _error(error: str) -> str:
    return (
        "its tests fail"
        if error in ("AssertionError", "failing tests")
        else "it fails"
        if error in ORDINARY
        else error
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
