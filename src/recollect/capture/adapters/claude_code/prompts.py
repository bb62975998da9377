"""What a user record says: one record type, many meanings, told apart by shape.

A prompt, a slash command, a typed `!command` and its output, an interruption,
a summary after compaction and a good deal of injected context all come as
`user` records, and some as other types too.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from recollect.capture.adapters.claude_code.records import ClaudeBlock, picture
from recollect.model.client_commands import is_client_command
from recollect.model.logs import Author


class ClaudeUserText(NamedTuple):
    """What a user record turns out to be, with the text that is left of it.

    `shape` is prompt, command (said to the client alone), shell (a typed
    `!command`), shell_output, compaction, abort, or nothing. `author` is None
    where the record's fields decide.
    """

    shape: str
    text: str = ""
    author: Author | None = None


NOTHING = ClaudeUserText("nothing")

# Context that the client puts around what was typed, in the same text.
_CONTEXT = re.compile(
    r"<(system-reminder|ide_opened_file|ide_selection|ide_diagnostics|user-prompt-submit-hook"
    r"|local-command-caveat)>.*?</\1>\s*",
    re.DOTALL,
)
_REMINDER = "</system-reminder>"
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_CAVEATS = ("<local-command-caveat>", "Caveat: The messages below")
_DROPPED = (
    "<local-command-stdout>",
    "<local-command-stderr>",
    "[Image: ",
    *_CAVEATS,
)
# Before the flag existed (1.0.x) only this sentence told a summary from a prompt.
_CONTINUED = "This session is being continued from a previous conversation"


_SENT = re.compile(
    r"Another Claude session sent a message:\s*(?:<cross-session-message[^>]*>)?(.*?)"
    r"(?:</cross-session-message>.*|\n\s*This came from another Claude session.*)?\Z",
    re.DOTALL,
)


def prompt_of(content: object) -> ClaudeUserText:
    """What a user record's content says, told by its shape alone."""
    if isinstance(content, str):
        text = _typed(content)
    elif isinstance(content, list):
        text = "\n\n".join(part for part in map(_part, content) if part)
    else:
        return NOTHING
    return _shape(text) if text else NOTHING


def without_frame(text: str) -> str:
    """What another session sends, without what the client says of it."""
    framed = _SENT.match(text)
    return framed[1].strip() or text if framed else text


def is_caveat(content: object) -> bool:
    """Whether a record only warns the model that local commands follow."""
    return isinstance(content, str) and content.startswith(_CAVEATS)


def _part(block: object) -> str:
    if isinstance(block, str):
        return _typed(block)
    if isinstance(block, dict):
        kind, text = block.get("type"), block.get("text")
    elif isinstance(block, ClaudeBlock):
        kind, text = block.type, block.text
    else:
        return ""
    if kind == "text":
        return _typed(text) if isinstance(text, str) else ""
    return picture(block) if kind in ("image", "document") else ""


def _typed(text: str) -> str:
    """Text without the context tags around it; one that a person quotes inside stays."""
    text = text.strip()
    while text.startswith("<") and (context := _CONTEXT.match(text)):
        text = text[context.end() :]
    while text.endswith(_REMINDER) and (start := text.rfind("<system-reminder>")) >= 0:
        text = text[:start].rstrip()
    return text


def _shape(text: str) -> ClaudeUserText:
    if text.startswith(_DROPPED):
        return NOTHING
    if text.startswith("[Request interrupted by user"):
        return ClaudeUserText("abort", text)
    if text.startswith(_CONTINUED):
        return ClaudeUserText("compaction", text)
    return _tagged(text) if text.startswith("<") else ClaudeUserText("prompt", text)


def _tagged(text: str) -> ClaudeUserText:
    if text.startswith(("<command-name>", "<command-message>", "<command-args>")):
        return _command(text)
    if text.startswith("<bash-input>"):
        return ClaudeUserText("shell", _inside(text, "bash-input"))
    if text.startswith(("<bash-stdout>", "<bash-stderr>")):
        streams = (_inside(text, "bash-stdout"), _inside(text, "bash-stderr"))
        return ClaudeUserText("shell_output", "\n".join(stream for stream in streams if stream))
    if text.startswith("<user-memory-input>"):
        return ClaudeUserText("prompt", "# " + _inside(text, "user-memory-input"))
    if text.startswith("<task-notification>"):
        return ClaudeUserText("prompt", text, "system")
    if text.startswith("<teammate-message"):
        return ClaudeUserText("prompt", text, "agent")
    return ClaudeUserText("prompt", text)


def _command(text: str) -> ClaudeUserText:
    name, arguments = _COMMAND.search(text), _ARGUMENTS.search(text)
    if name is None or not name[1].strip():
        return NOTHING
    typed = f"/{name[1].strip().lstrip('/')} {arguments[1].strip() if arguments else ''}"
    typed = typed.rstrip()
    return ClaudeUserText("command" if is_client_command(typed) else "prompt", typed)


def _inside(text: str, tag: str) -> str:
    start = text.find(f"<{tag}>")
    end = text.rfind(f"</{tag}>")
    return text[start + len(tag) + 2 : end if end > start else None].strip() if start >= 0 else ""
