"""What a command is for, as far as its words tell.

Two commands that are for the same are alternatives: where one failed and the
other worked, somebody had to choose.
"""

from __future__ import annotations

import re
from functools import lru_cache

from recollect.reading.programs import names

_WORDS = re.compile(r"[^A-Za-z0-9]+")
# The first of these that has a word of the command counts: `npm run lint:types` is for linting.
_BY_WORD = (
    ("install", names("install add sync ci i restore bootstrap")),
    ("format", names("format fmt black prettier gofmt rustfmt isort")),
    (
        "lint",
        names(
            "lint eslint ruff flake8 pylint clippy oxlint rubocop shellcheck golangci stylelint "
            "biome"
        ),
    ),
    ("types", names("mypy pyright basedpyright tsc typecheck types vue-tsc pyrefly")),
    (
        "test",
        names(
            "test tests pytest tox nox unittest jest vitest mocha rspec phpunit ctest nextest spec "
            "e2e gotestsum playwright"
        ),
    ),
    ("build", names("build compile bundle webpack rollup tsup esbuild ninja cmake javac")),
    ("start", names("up start serve dev uvicorn gunicorn runserver")),
    ("deploy", names("deploy apply release publish")),
)
# Only there the word means that: `git add` and `docker ps` are for something else.
_INSTALLERS = names(
    "pip pip3 uv poetry pdm pipenv conda npm pnpm yarn bun cargo go gem bundle apt apt-get brew "
    "dnf apk composer"
)
_NOT_FOR_IT = names("git gh ls cat grep rg cd mkdir rm cp mv echo")


@lru_cache(4_096)
def purpose_of(name: str) -> str | None:
    """What a command, by its name, is for; None when nothing tells."""
    program = name.partition(" ")[0]
    if program in _NOT_FOR_IT:
        return None
    words = {name, *_WORDS.split(name.lower())}
    for purpose, known in _BY_WORD:
        if words & known and (purpose != "install" or program in _INSTALLERS):
            return purpose
    return None


def are_alternatives(one: list[str], other: list[str], one_name: str, other_name: str) -> bool:
    """Whether two commands were meant to do the same, one after the other: by
    purpose, by program or by their arguments.
    """
    if one_name == other_name or (len(one) > 1 and one[1:] == other[1:]):
        return True
    purpose = purpose_of(one_name)
    return purpose is not None and purpose == purpose_of(other_name)
