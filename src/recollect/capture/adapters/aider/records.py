"""What aider itself says in its history: the quoted lines, each told by how it begins."""

from __future__ import annotations

import re
from typing import NamedTuple

HEADER = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
TOKENS = re.compile(
    r"Tokens: (?P<sent>[\d.,]+[kM]?) sent"
    r"(?:, (?P<written>[\d.,]+[kM]?) cache write)?(?:, (?P<hit>[\d.,]+[kM]?) cache hit)?"
    r", (?P<received>[\d.,]+[kM]?) received\."
)
COST = re.compile(r"Cost: \$(?P<paid>[\d.,]+) (?:message|request|send), \$[\d.,]+ session\.")
VERSION = re.compile(r"Aider v(\S{1,100})")
MODEL = re.compile(
    r"(?:Main model|Models?): (\S{1,200})(?: with (?P<format>[\w-]{1,50}) edit format)?"
    r"(?:.*?, weak model (?P<weak>\S{1,200}))?"
)
HELPER = re.compile(r"(Weak|Editor) model: (\S{1,200})")
APPLIED = re.compile(r"Applied edit to (.+)")
CREATED = re.compile(r"Creating empty file (.+)")
DECLINED = re.compile(r"(?:Did not apply edit|Skipping edits) to (\S+)")
RUNNING = re.compile(r"Running (.+)")
LINTING = re.compile(r"## Running: (.+)")
COMMIT = re.compile(r"Commit ([0-9a-f]{6,40}) (.*)")
MISFIT = "The LLM did not conform to the edit format."
LINT_PROMPT = "# Fix any errors below, if possible."
INTERRUPT = "^C again to exit"
FAULT = re.compile(
    r"(?:Unexpected error|litellm\.[A-Z]\w+:|Exception while updating files"
    r"|Model \S+ has hit a token limit|Your estimated chat context"
    r"|Only \d+ reflections allowed|Empty response received|Unable to commit)"
)
# Questions and small talk that end what a command printed, and say nothing that lasts.
ASIDE = re.compile(
    r".*\(Y\)es/\(N\)o|Add(?:ed)? .* to the chat|You can use /undo|Add command output"
    r"|Attempt to fix|Retrying in |\^C "
)
# A question that was answered once for all is written like a prompt.
ANSWER = re.compile(r".{1,300}?\(Y\)es/\(N\)o.{0,60}\[\w+\]: \w+$")


class AiderTokens(NamedTuple):
    """A line about tokens; `rounded` when it gives thousands."""

    sent: int
    written: int
    hit: int
    received: int
    rounded: bool


def tokens_in(found: re.Match[str]) -> AiderTokens:
    """The figures of a `TOKENS` line."""
    rounded = "k " in found[0] or "M " in found[0]
    counts = {name: _number(count or "0") for name, count in found.groupdict().items()}
    return AiderTokens(**counts, rounded=rounded)


def paid(line: str) -> float:
    """What the message cost in USD; 0 when the line does not say."""
    found = COST.search(line)
    if found is None or found["paid"].count(".") > 1:
        return 0.0
    return float(found["paid"].replace(",", "").rstrip(".") or 0)


def _number(text: str) -> int:
    unit = {"k": 1_000, "M": 1_000_000}.get(text[-1], 1)
    try:
        return round(float(text.rstrip("kM").replace(",", "")) * unit)
    except (ValueError, OverflowError):
        return 0
