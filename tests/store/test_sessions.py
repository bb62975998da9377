"""Sessions as they are listed."""

from __future__ import annotations

import pytest

from recollect.lookup import Query
from tests.store.conftest import Filled, facts, turn


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("mend the door\nand paint it", "mend the door"),
        ('<teammate-message id="lead" color="green">\nCheck the docs.\n</teammate-message>', "Check the docs."),
        ("<command-name>/init</command-name>", "/init"),
        ("<div> is not closed", "is not closed"),
        ("compare a < b", "compare a < b"),
        ("return a List<String>", "return a List<String>"),
        ("<note>\n</note>", None),
    ],
)
def test_a_session_without_a_title_is_known_by_what_was_asked(filled: Filled, prompt: str, title: str | None) -> None:
    """Programs frame what they ask; a list of their tags says nothing."""
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", prompt))

    (session,) = filled.store.list_sessions(Query(), {}, limit=None)

    assert session.title == title
