"""What is said of each kind of pattern."""

from __future__ import annotations

import pytest

from recollect.episodes.sentences import condition_and_action, sentence_of
from recollect.model.episodes import PatternKind


@pytest.mark.parametrize(
    ("kind", "signature", "sentence"),
    [
        (
            "tool_sequence", "alembic upgrade > edit package.json > flask seed",
            "What goes well here, in this order: `alembic upgrade`, then a change of "
            "`package.json`, then `flask seed`.",
        ),
        ("decision_point", "pytest => uv run pytest",
        "`pytest` fails here; `uv run pytest` works instead."),
        (
            "error_recovery", "npm test ! cannot find module left-pad => npm install",
            "`npm test` fails at times (cannot find module left-pad); it passes after `npm "
            "install`.",
        ),
        (
            "error_recovery", "npm test ! failing tests => again",
            "`npm test` fails at times (its tests fail), and passes when it is run again.",
        ),
        (
            "failure", "edit ! the text to change is not there",
            "Editing a file keeps failing: the text to change is not there.",
        ),
        ("failure", "mcp tracker__get ! connection refused",
        "The tool `tracker__get` keeps failing: connection refused."),
        ("context", ".tf => terraform validate",
        "After a change of `.tf` files, `terraform validate` is the check to run."),
        ("context", "package.json => npm test",
        "After a change of `package.json`, `npm test` is the check to run."),
    ],
)  # fmt: skip
def test_a_sentence_is_made_of_names_and_words_of_ours(
    kind: PatternKind, signature: str, sentence: str
) -> None:
    """A person understands it, and nobody else's words are in it."""
    assert sentence_of(kind, signature) == sentence


@pytest.mark.parametrize(
    ("kind", "signature", "advice"),
    [
        ("decision_point", "pytest => uv run pytest", ("before running `pytest`",
        "run `uv run pytest` instead")),
        (
            "error_recovery", "rspec ! LoadError => edit Gemfile",
            ("when `rspec` fails (LoadError)", "change `Gemfile`, then try again"),
        ),
        ("error_recovery", "rspec ! failed => again", ("when `rspec` fails (it fails)",
        "run it again")),
        ("context", ".tf => terraform validate", ("after changing `.tf` files",
        "run `terraform validate`")),
        ("failure", "rspec ! LoadError", None),
        ("tool_sequence", "buf generate > protolint", None),
    ],
)  # fmt: skip
def test_advice_says_when_and_what(
    kind: PatternKind, signature: str, advice: tuple[str, str] | None
) -> None:
    """What only says that something happens is no advice."""
    assert condition_and_action(kind, signature) == advice
