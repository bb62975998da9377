"""What people tell the program around an agent, and not the agent: `/clear`, `/context`, `/rename`.

Nothing comes of it that anybody would look for. `/review` and `/plan` are not
among them: those are requests, in other words.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

_NAMES = frozenset(
    [
        "add-dir",
        "agents",
        "allowed-tools",
        "bashes",
        "bug",
        "chrome",
        "clear",
        "color",
        "compact",
        "config",
        "context",
        "copy",
        "cost",
        "desktop",
        "doctor",
        "effort",
        "exit",
        "export",
        "extra-usage",
        "fast",
        "feedback",
        "fork",
        "help",
        "hooks",
        "ide",
        "insights",
        "install-github-app",
        "install-slack-app",
        "keybindings",
        "login",
        "logout",
        "mcp",
        "memory",
        "mobile",
        "mode",
        "model",
        "new",
        "output-style",
        "passes",
        "permissions",
        "plugin",
        "plugins",
        "privacy-settings",
        "quit",
        "rate-limit-options",
        "release-notes",
        "reload-plugins",
        "remote-control",
        "remote-env",
        "rename",
        "reset",
        "resume",
        "rewind",
        "sandbox",
        "session",
        "settings",
        "skills",
        "stats",
        "status",
        "statusline",
        "stickers",
        "tag",
        "tasks",
        "terminal-setup",
        "theme",
        "think-back",
        "todos",
        "undo",
        "upgrade",
        "usage",
        "vim",
        "voice",
    ]
)


def is_client_command(text: str) -> bool:
    """Whether a typed line is said to the program alone."""
    typed = text.strip()
    if typed[:1] != "/" or "\n" in typed:
        return False
    # A name ends where no path, no longer name and no `/plugin:command` goes on. A pattern of
    # them all takes longer to compile than the rest of a list takes.
    end = next(
        (at for at, char in enumerate(typed[1:]) if not (char.isalnum() or char in "_:/.-")),
        len(typed) - 1,
    )
    return typed[1 : end + 1].lower() in _NAMES
