"""Which call on the screen is which call of the model.

Until early 2026 the screen had ids of its own for calls, and it still has them
for some; only the rest can be joined by id. What is left is joined by the
tool, and by what the call was about where both sides tell it. Calls that run
side by side are shown in the order they ended, so their order alone says little.
"""

from __future__ import annotations

from typing import NamedTuple

from recollect.capture.adapters.vscode_copilot_chat.tools import Told, Wish, plain_id, told
from recollect.capture.logs.values import Fields, text_of

INVOCATION = "toolInvocationSerialized"
FIRST = -1

# Tools that the model knows by a name of other words; the rest
# differs only in how words are joined.
_NAMES = {
    "copilot_editNotebook": "edit_notebook_file",
    "copilot_findFiles": "file_search",
    "copilot_findTestFiles": "test_search",
    "copilot_findTextInFiles": "grep_search",
    "copilot_getSearchResults": "get_search_view_results",
    "copilot_insertEdit": "insert_edit_into_file",
    "copilot_listDirectory": "list_dir",
    "copilot_multiReplaceString": "multi_replace_string_in_file",
    "copilot_replaceString": "replace_string_in_file",
    "copilot_runTests1": "run_tests",
    "copilot_searchCodebase": "semantic_search",
}
# A tool that another one calls; the screen shows both, and only the outer one is the model's.
_INNER = {
    "vscode_fetchWebPage_internal": "copilot_fetchWebPage",
    "vscode_editFile_internal": "copilot_insertEdit",
}
# How many calls of a tool may overtake each other.
_SIDE_BY_SIDE = 32


class Pairs(NamedTuple):
    """Calls as the model made them, by the number of the part that shows them."""

    shown: dict[int, Wish]
    # Those that no part shows, by the part that they come after; `FIRST` when that is none.
    hidden: dict[int, list[Wish]]
    # Parts that only show how a tool did what another part tells.
    inner: set[int]


def paired(parts: list[Fields], wishes: list[Wish]) -> Pairs:
    """Each call of the model with the part that shows it, or with its place among them."""
    calls = {number: part for number, part in enumerate(parts) if part.get("kind") == INVOCATION}
    tools = {part.get("toolId") for part in calls.values() if text_of(part.get("toolId"))}
    inner = {
        number
        for number, part in calls.items()
        if _INNER.get(text_of(part.get("toolId")) or "") in tools
    }
    left = {wish.call: wish for wish in wishes}
    shown: dict[int, Wish] = {}
    for number, part in calls.items():
        if wish := left.pop(plain_id(part.get("toolCallId")) or "", None):
            shown[number] = wish
    by_tool: dict[str, list[Wish]] = {}
    for wish in left.values():
        by_tool.setdefault(_plain(wish.name), []).append(wish)
    for number, part in calls.items():
        tool = text_of(part.get("toolId")) or ""
        waiting = by_tool.get(_plain(_NAMES.get(tool, tool)))
        # What a sub-agent called is not among the calls of the model that started it.
        if (
            waiting
            and number not in shown
            and number not in inner
            and not part.get("subAgentInvocationId")
        ):
            shown[number] = waiting.pop(_most_like(told(part, None), waiting))
    return Pairs(shown, _hidden(wishes, shown), inner)


def _most_like(seen: Told, waiting: list[Wish]) -> int:
    """Which of the calls of a tool a part shows: the one about the same thing, else the first."""
    about = (seen.target or "").strip().lower()
    near = (
        number
        for number, wish in enumerate(waiting[:_SIDE_BY_SIDE])
        if about and _about(wish) == about
    )
    return next(near, 0)


def _about(wish: Wish) -> str:
    return (told(None, wish).target or "").strip().lower()


def _hidden(wishes: list[Wish], shown: dict[int, Wish]) -> dict[int, list[Wish]]:
    places = {wish.call: number for number, wish in shown.items()}
    hidden: dict[int, list[Wish]] = {}
    place = FIRST
    for wish in wishes:
        if wish.call in places:
            place = places[wish.call]
        else:
            hidden.setdefault(place, []).append(wish)
    return hidden


def _plain(name: str) -> str:
    return name.removeprefix("copilot_").replace("_", "").replace("-", "").lower()
