"""Conversations in which something is done: commands that pass or fail, files that are edited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recollect.memory import Memory
from tests.builders.claude_code import Conversation
from tests.builders.homes import chat

# A memory of some pieces of work; see the fixture of that name.
Remember = Callable[..., Memory]


class Work:
    """A conversation that is told in turns of work; every call gets an id of its own."""

    def __init__(self, number: int = 1, **envelope: Any) -> None:
        self.talk: Conversation = chat(number, **envelope)
        self.number, self.calls = number, 0

    @property
    def ref(self) -> str:
        return f"claude-code:{self.talk.session}"

    def ask(self, prompt: str) -> Work:
        self.talk.user(prompt)
        return self

    def run(self, command: str, output: str = "", *, code: int = 0) -> Work:
        """A shell command, with what it printed and how it ended."""
        call = self._call("Bash", {"command": command})
        if code:
            self.talk.result(call, f"Exit code {code}\n{output}", error=True)
        else:
            self.talk.result(call, output, {"stdout": output, "stderr": "", "interrupted": False})
        return self

    def edit(self, path: str, old: str = "before", new: str = "after", *, error: str = "") -> Work:
        """An edit of a file, which may fail."""
        call = self._call("Edit", {"file_path": path, "old_string": old, "new_string": new})
        self.talk.result(call, error or f"The file {path} has been updated.", error=bool(error))
        return self

    def use(self, name: str, arguments: dict[str, Any], output: str) -> Work:
        """Any tool, with what it gave back."""
        self.talk.result(self._call(name, arguments), output)
        return self

    def done(self, text: str = "Done.") -> Work:
        self.talk.reply(text)
        return self

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        self.calls += 1
        call = f"toolu_{self.number}_{self.calls}"
        self.talk.call(name, arguments, call)
        return call
