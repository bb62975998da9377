"""The number of a tag is another in every store, and so no word of a text."""

from __future__ import annotations

from recollect.store.text import prepare, words

TAGS = [f"use [REDACTED:github-pat:{number}] here" for number in ("0a1b2c3d", "99887766")]


def test_two_stores_index_the_same_text_alike() -> None:
    one, other = map(prepare, TAGS)

    assert one == other
    assert len(one) == len(TAGS[0])


def test_a_number_of_a_tag_is_no_word_to_look_for() -> None:
    assert words(TAGS[0]) == ["use", "REDACTED", "github", "pat", "here"]
