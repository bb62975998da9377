"""How the programs of agents answer one question by themselves: no tools, no hooks, no person.

Each is given the whole question on its standard input, in an empty folder of ours, and keeps
no session of it if it can be told so; the others name the session, and it is not imported.
Observed with Claude Code 2.1.197 (`--safe-mode` leaves out CLAUDE.md, hooks, plugins and
servers, and keeps the login), Codex 0.166.0 (settings that it does not know are ignored with a
word), Gemini CLI 0.61.0 (takes settings from a folder that is trusted), OpenCode 1.18.33 and
Copilot CLI 1.0.102.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from recollect.model.engines import HeadlessAgent, Reply

# Instead of pages about how to edit files with tools that it does not get.
PROMPT = "You write down what a software project's next session should know. You have no tools."


def find_headless(name: str) -> HeadlessAgent | None:
    """How an agent is asked by itself, or None."""
    return next((one for one in HEADLESS if one.agent == name), None)


def _claude_words(model: str, session: str) -> list[str]:
    return [
        "-p", "--output-format", "json", "--model", model, "--tools", "", "--safe-mode",
        "--no-session-persistence", "--session-id", session, "--system-prompt", PROMPT,
    ]  # fmt: skip


def _claude_reply(printed: str) -> Reply:
    told = _last(printed, lambda one: one.get("type") == "result")
    used = _table(told.get("usage"))
    tokens_in = sum(
        _count(used.get(name))
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )
    cost = told.get("total_cost_usd")
    return Reply(
        "" if told.get("is_error") else str(told.get("result") or ""),
        tokens_in,
        _count(used.get("output_tokens")),
        float(cost) if isinstance(cost, int | float) else None,
        str(told.get("session_id") or ""),
    )


# Off, whatever the user's own settings say; a version that does not know one ignores it.
_CODEX_OFF = (
    "hooks", "shell_tool", "unified_exec", "view_image", "multi_agent", "apps", "plugins",
    "image_generation", "sleep_tool", "goals", "memories",
)  # fmt: skip


def _codex_words(model: str, session: str) -> list[str]:
    settings = [f"features.{name}=false" for name in _CODEX_OFF]
    settings += [
        'web_search="disabled"', "mcp_servers={}", "project_doc_max_bytes=0",
        'model_reasoning_effort="low"',
    ]  # fmt: skip
    words = [
        "exec", "--json", "--ephemeral", "--skip-git-repo-check", "--sandbox", "read-only",
        "--ignore-rules",
    ]  # fmt: skip
    for setting in settings:
        words += ["-c", setting]
    return [*words, *(["-m", model] if model else []), "-"]


def _codex_reply(printed: str) -> Reply:
    text, tokens_in, tokens_out, session = "", 0, 0, ""
    for event in _objects(printed):
        item = _table(event.get("item"))
        if event.get("type") == "thread.started":
            session = str(event.get("thread_id") or "")
        elif event.get("type") == "item.completed" and item.get("type") == "agent_message":
            text = str(item.get("text") or "")
        elif event.get("type") == "turn.completed":
            used = _table(event.get("usage"))
            tokens_in = _count(used.get("input_tokens"))
            tokens_out = _count(used.get("output_tokens"))
    return Reply(text, tokens_in, tokens_out, None, session)


_GEMINI_SETTINGS = {
    "tools": {
        "core": ["none"],
        "exclude": [
            "update_topic", "enter_plan_mode", "invoke_agent", "google_web_search",
            "list_directory", "read_file", "grep_search", "glob",
        ],
    },
    "hooksConfig": {"enabled": False},
    "context": {"fileName": ["NONE.md"]},
}  # fmt: skip


def _gemini_words(model: str, session: str) -> list[str]:
    return [
        "-p", "", "-o", "json", "-m", model, "--session-id", session, "--skip-trust",
        "-e", "none", "--allowed-mcp-server-names", "none",
    ]  # fmt: skip


def _gemini_reply(printed: str) -> Reply:
    told = _last(printed, lambda one: "response" in one or "error" in one)
    tokens_in = tokens_out = 0
    for used in _table(_table(told.get("stats")).get("models")).values():
        tokens = _table(_table(used).get("tokens"))
        tokens_in += _count(tokens.get("prompt"))
        tokens_out += _count(tokens.get("candidates")) + _count(tokens.get("thoughts"))
    session = str(told.get("session_id") or "")
    return Reply(str(told.get("response") or ""), tokens_in, tokens_out, None, session)


_OPENCODE_CONFIG = {
    "permission": {"*": "deny"},
    "tools": {"*": False},
    "share": "disabled",
    "agent": {
        "recollect": {
            "mode": "primary",
            "prompt": PROMPT,
            "tools": {"*": False},
            "permission": {"*": "deny"},
        }
    },
}


def _opencode_words(model: str, session: str) -> list[str]:
    chosen = ["-m", model] if model else []
    return [
        "run", "--format", "json", "--pure", "--agent", "recollect", "--title", "recollect",
        *chosen,
    ]  # fmt: skip


def _opencode_reply(printed: str) -> Reply:
    texts, tokens_in, tokens_out, cost, session = list[str](), 0, 0, 0.0, ""
    for event in _objects(printed):
        part = _table(event.get("part"))
        session = str(event.get("sessionID") or session)
        if event.get("type") == "text":
            texts.append(str(part.get("text") or ""))
        elif event.get("type") == "step_finish":
            tokens = _table(part.get("tokens"))
            cache = _table(tokens.get("cache"))
            tokens_in += _count(tokens.get("input")) + _count(cache.get("read"))
            tokens_in += _count(cache.get("write"))
            tokens_out += _count(tokens.get("output")) + _count(tokens.get("reasoning"))
            price = part.get("cost")
            cost += price if isinstance(price, int | float) else 0.0
    return Reply("\n".join(texts), tokens_in, tokens_out, cost or None, session)


def _copilot_words(model: str, session: str) -> list[str]:
    chosen = ["--model", model] if model else []
    return [
        "--output-format", "json", "-s", "--no-custom-instructions", "--disable-builtin-mcps",
        "--no-auto-update", "--no-ask-user", "--no-color", "--available-tools", "none",
        "--session-id", session, *chosen,
    ]  # fmt: skip


def _copilot_reply(printed: str) -> Reply:
    texts, tokens_in, tokens_out = list[str](), 0, 0
    for event in _objects(printed):
        data = _table(event.get("data"))
        if event.get("type") == "assistant.message":
            texts.append(str(data.get("content") or ""))
        elif event.get("type") == "assistant.usage":
            tokens_in += _count(data.get("inputTokens")) + _count(data.get("cacheReadTokens"))
            tokens_out += _count(data.get("outputTokens"))
    return Reply("\n".join(filter(None, texts)), tokens_in, tokens_out)


HEADLESS = (
    HeadlessAgent(
        "claude-code", "claude", "haiku", ("claude-code",), _claude_words, _claude_reply
    ),
    HeadlessAgent("codex", "codex", "", ("codex",), _codex_words, _codex_reply),
    HeadlessAgent(
        "gemini-cli", "gemini", "gemini-2.5-flash", ("gemini-cli", "antigravity"),
        _gemini_words, _gemini_reply,
        files={
            os.path.join(".gemini", "settings.json"): json.dumps(_GEMINI_SETTINGS),
            "prompt.md": PROMPT,
        },
        variables=lambda folder: {"GEMINI_SYSTEM_MD": os.path.join(folder, "prompt.md")},
    ),
    HeadlessAgent(
        "opencode", "opencode", "", ("opencode",), _opencode_words, _opencode_reply,
        variables=lambda folder: {"OPENCODE_CONFIG_CONTENT": json.dumps(_OPENCODE_CONFIG)},
    ),
    HeadlessAgent(
        "copilot-cli", "copilot", "", ("copilot-cli", "vscode-copilot-chat"),
        _copilot_words, _copilot_reply,
    ),
)  # fmt: skip


def _objects(printed: str) -> Iterator[dict[str, Any]]:
    """The JSON objects that were printed, one a line, or one over several."""
    for text in [printed, *printed.splitlines()]:
        try:
            found = json.loads(text)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found
            if text is printed:
                return


def _last(printed: str, is_it: Any) -> dict[str, Any]:
    """The last object of a kind, wherever in the output it begins."""
    found = [one for one in _objects(printed) if is_it(one)]
    if found:
        return found[-1]
    start = printed.find("{")
    if start > 0:
        return next((one for one in _objects(printed[start:]) if is_it(one)), {})
    return {}


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
