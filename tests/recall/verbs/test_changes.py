"""What an edit changed, whatever the agent calls its arguments."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.recall.verbs.changes import change_in

PATCH = """*** Begin Patch
*** Update File: src/a.py
@@
-old line
+new line
*** Update File: src/b.py
+other
*** End Patch"""


@pytest.mark.parametrize(
    ("given", "added", "removed", "excerpt"),
    [
        ({"old_string": "a = 1\nb = 2\nc = 3", "new_string": "a = 1\nb = total\nc = 3"},
        ["b = total"], ["b = 2"], "+ b = total"),
        ({"edits": [{"old_string": "x", "new_string": "first"}, {"old_string": "y",
        "new_string": ""}]},
         ["first"], ["x", "y"], "+ first"),
        ({"content": "import os\n\nprint(os.name)\n"}, ["import os", "", "print(os.name)"], [],
        "+ print(os.name)"),
        ({"file_path": "src/a.py", "old_string": "gone for good\n", "new_string": ""}, [],
        ["gone for good"], "- gone for good"),
        (PATCH, ["new line"], ["old line"], "+ new line"),
        ({"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]}, ["new line"],
        ["old line"], "+ new line"),
        ({"src/a.py": {"update": {"unified_diff": "@@ -1 +1 @@\n-was\n+is now"}}}, ["is now"],
        ["was"], "+ is now"),
    ],
)  # fmt: skip
def test_lines_that_came_and_went_are_told(
    given: Any, added: list[str], removed: list[str], excerpt: str
) -> None:
    """Of a patch only the part that concerns the file."""
    change = change_in(given, "src/a.py")

    assert (change.added, change.removed, change.known, change.excerpt()) == (
        added,
        removed,
        True,
        excerpt,
    )


@pytest.mark.parametrize(
    "given", [None, "sed -i s/a/b/ src/a.py", {"command": "make"}, {"path": 3}, []]
)
def test_what_the_input_does_not_tell_is_unknown(given: Any) -> None:
    """Zero lines and no idea are two answers."""
    change = change_in(given, "src/a.py")

    assert (change.added, change.removed, change.known, change.excerpt()) == ([], [], False, "")
