"""Names are made of words that the glossary explains, or that need no explaining."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

from recollect.capture.adapters import find_adapters
from tests.docs.conftest import ROOT

PACKAGE = ROOT / "src" / "recollect"


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def words_of(name: str) -> set[str]:
    """The words of a name such as `TurnPart` or `text_index`, in lower case."""
    parts = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+", name)
    return {part.lower() for part in parts}


def classes() -> dict[str, list[str]]:
    """Every public class, with the modules that define one of that name."""
    found = defaultdict(list)
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(PACKAGE)))
    return found


def tables() -> set[str]:
    scripts = (PACKAGE / "store" / "sqlite" / "migrations").glob("*.sql")
    made = re.findall(r"create (?:virtual )?table (\w+)", "\n".join(map(Path.read_text, scripts)))
    return set(made)


def explained() -> set[str]:
    """The words of the glossary: the first column of its tables, and its list of ordinary words."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms, _, ordinary = text.partition("## Ordinary words")
    first_columns = re.findall(r"^\| ([^|]+) \|", terms, re.M)
    return set(re.findall(r"[a-z]+", " ".join(first_columns) + ordinary))


def named() -> set[str]:
    """The words that classes, modules and tables are named with."""
    names = set(classes()) | tables()
    for path in modules():
        names |= set(path.relative_to(PACKAGE).with_suffix("").parts) - {"__init__", "__main__"}
    agents = {word for adapter in find_adapters() for word in words_of(adapter.agent)}
    return {word for name in names for word in words_of(name)} - agents


def singular(word: str) -> set[str]:
    """A word and what it may be the plural of."""
    return {word, word.removesuffix("s"), word.removesuffix("es"), re.sub("ies$", "y", word)}


def test_classes_modules_and_tables_are_named_with_words_of_the_glossary() -> None:
    """Whoever reads the glossary once can read the names."""
    known = explained()

    assert sorted(word for word in named() if not singular(word) & known) == []


def test_the_glossary_lists_no_word_that_nothing_is_named_with() -> None:
    """A list that only grows is soon read by nobody."""
    used = {form for word in named() for form in singular(word)}
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    ordinary = set(re.findall(r"[a-z]+", text.partition("everybody uses them.")[2]))

    assert sorted(ordinary - used) == []


def test_a_public_class_name_stands_for_one_thing() -> None:
    """Otherwise a reader has to know the module to know the word."""
    twice = {name: places for name, places in classes().items() if len(places) > 1}

    assert twice == {}
