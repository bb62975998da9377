"""Who said a thing, and what of it they typed."""

from __future__ import annotations

import re
from hashlib import blake2b

from recollect.capture.logs.values import Fields
from recollect.model.logs import Author

# Prompts that the program gives itself have an id that begins with the reason; a
# person's is a UUID, or what a client chose.
_OWN_PROMPTS = (
    "task-completed-", "subagent-completed-", "workflow-completed-", "notifications-",
    "goal-summary-", "goal-classifier-nudge-", "scheduler-fired-", "plan-resume-",
)  # fmt: skip
# What stands around the words that a person typed, or instead of any.
_CONTEXT = (
    "user_info", "system-reminder", "git_status", "jj_status", "agent_skills", "mcp_servers",
    "skill_information", "background_context", "fork-context", "resume-context",
)  # fmt: skip
_QUERY = ("<user_query>", "</user_query>")
# Where the rest of a prompt that was too long for the model is.
_CUT = re.compile(r"prompts[/\\]prompt_(\d+)\.txt")


def typed(text: str) -> str:
    """The words of a prompt without what the program put around them; empty when there are none."""
    start, end = text.find(_QUERY[0]), text.rfind(_QUERY[1])
    if 0 <= start < end:
        return text[start + len(_QUERY[0]) : end].strip()
    for tag in _CONTEXT:
        text = _without(text, f"<{tag}>", f"</{tag}>")
    return text.strip()


def _without(text: str, opening: str, closing: str) -> str:
    kept, done = [], 0
    while (start := text.find(opening, done)) >= 0 and (end := text.find(closing, start)) >= 0:
        kept.append(text[done:start])
        done = end + len(closing)
    return "".join([*kept, text[done:]]) if kept else text


def cut_prompt(text: str) -> int | None:
    """Which file holds a prompt of which this is only the beginning."""
    found = _CUT.search(text[-2_000:])
    return int(found[1][:9]) if found else None


def author_of(prompt_id: str, meta: Fields, *, subagent: bool) -> Author:
    """Who gave a prompt: only a person's are shown, and a sub-agent is asked by its parent."""
    if prompt_id.startswith(_OWN_PROMPTS) or meta.get("hideFromScrollback") is True:
        return "system"
    return "agent" if subagent else "human"


def key_of(*parts: object) -> str:
    """A name for something that has none of its own, made of what it is."""
    text = "\0".join(map(str, parts))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


class GrokKeys:
    """Keys that were given, so that what comes twice gets another each time."""

    def __init__(self) -> None:
        self._times: dict[str, int] = {}

    def fresh(self, key: str) -> str:
        """The key itself the first time, then with a number."""
        times = self._times[key] = self._times.get(key, 0) + 1
        return key if times == 1 else f"{key}.{times}"
