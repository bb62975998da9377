"""Pairs out of source code: what a comment says and what the code does,
an error text and what raises it.
"""

from __future__ import annotations

import ast
import random
import re
import textwrap
from collections.abc import Iterator

from train.pairs import Pair, first_sentence, fits, spell_out, squeeze

PYTHON_RAISE = re.compile(r"raise (\w+)\(\s*f?[\"']([^\"'\n]{25,200})[\"']")
OTHER_ERROR = re.compile(
    r"(?:Errorf|errors\.New|new "
    r"\w*(?:Error|Exception)|panic!|bail!|expect)\(\s*[`\"']([^`\"'\n]{25,200})[`\"']"
)

# A doc comment, then the lines of what it documents up to an end that is good enough.
GO = re.compile(r"((?:^//[^\n]*\n)+)^((?:func|type) [^\n]*\{\n(?:[^\n]*\n){1,30}?)(?=^\})", re.M)
RUST = re.compile(
    r"((?:^[ \t]*///[^\n]*\n)+)"
    r"((?:^[ \t]*#\[[^\n]*\n)*^[ \t]*(?:pub[^\n]* )?(?:async |const |unsafe "
    r")*(?:fn|struct|enum|trait) [^\n]*\n"
    r"(?:[^\n]*\n){1,25}?)(?=^[ \t]*\n|^[ \t]*\})",
    re.M,
)
BLOCK = re.compile(
    r"/\*\*((?:[^*]|\*(?!/)){20,2500})\*/\s*\n((?:[^\n]*\n){2,28}?)(?=^[ \t]*\n|^[ \t]{0,4}\})",
    re.M,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


def python_pairs(source: str, rng: random.Random, *, is_test: bool) -> Iterator[Pair]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return  # a template, or another version of the language
    lines = source.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and not is_test:
            yield from _class_pairs(node)
        elif isinstance(node, Function):
            yield from (
                _test_pairs(node, lines, rng) if is_test else _function_pairs(node, lines, rng)
            )
    if not is_test:
        yield from _raise_pairs(source)


def _test_pairs(node: Function, lines: list[str], rng: random.Random) -> Iterator[Pair]:
    if node.name.startswith("test") and len(node.name) > 14 and rng.random() < 0.25:
        body = "\n".join(lines[node.lineno : node.end_lineno])[:900]
        if len(body) > 60:
            yield Pair("test", spell_out(node.name[4:]), textwrap.dedent(body))


def _class_pairs(node: ast.ClassDef) -> Iterator[Pair]:
    documented = ast.get_docstring(node)
    if documented and _is_question(sentence := first_sentence(documented)):
        yield Pair(
            "pycls", sentence, f"class {node.name}\n{squeeze(documented[len(sentence) :])[:500]}"
        )


def _function_pairs(node: Function, lines: list[str], rng: random.Random) -> Iterator[Pair]:
    documented = ast.get_docstring(node)
    if not documented or not _is_question(sentence := first_sentence(documented)):
        return
    docstring = node.body[0]
    without = (
        lines[node.lineno - 1 : docstring.lineno - 1]
        + lines[docstring.end_lineno : node.end_lineno]
    )
    code = textwrap.dedent("\n".join(without))[:1500]
    if len(node.body) > 1 and len(code) > 60 and fits(sentence, code):
        yield Pair("pydoc", sentence, code)
    if len(node.name) > 5:
        yield Pair("ident", node.name, squeeze(documented)[:400])
    yield from _rest_of(documented, sentence, 80, rng)


def _is_question(sentence: str) -> bool:
    return 3 <= len(sentence.split()) <= 40 and ">>>" not in sentence


def _rest_of(comment: str, sentence: str, least: int, rng: random.Random) -> Iterator[Pair]:
    rest = squeeze(comment[len(sentence) :])
    if len(rest) > least and rng.random() < 0.4:
        yield Pair("docbody", sentence, rest[:600])


def _raise_pairs(source: str) -> Iterator[Pair]:
    for match in PYTHON_RAISE.finditer(source):
        start = source.rfind("def ", 0, match.start())
        if start >= 0 and match.start() - start < 1500:
            yield Pair("err", match[2], source[start : match.start()][-700:])


def braces_pairs(source: str, language: str, rng: random.Random) -> Iterator[Pair]:
    """Go, Rust, and what has comments like Java's."""
    for match in {"go": GO, "rs": RUST}.get(language, BLOCK).finditer(source):
        comment = _plain_comment(match[1], language)
        sentence, code = first_sentence(comment), textwrap.dedent(match[2])[:1200]
        if "opyright" in sentence or "icense" in sentence:
            continue
        if 4 <= len(sentence.split()) <= 40 and fits(
            sentence, code, least_asked=12, least_answer=40
        ):
            yield Pair(f"{language}doc", sentence, code)
            yield from _rest_of(comment, sentence, 100, rng)
    for match in OTHER_ERROR.finditer(source):
        yield Pair("err", match[1], source[max(0, match.start() - 500) : match.start()])


def _plain_comment(comment: str, language: str) -> str:
    if language == "go":
        return re.sub(r"^//\s?", "", comment, flags=re.M)
    if language == "rs":
        return re.sub(r"^[ \t]*///\s?", "", comment, flags=re.M)
    comment = re.sub(r"^\s*\*\s?", "", comment, flags=re.M)
    comment = re.sub(r"<[^>]{1,20}>|\{@\w+ ?([^}]*)\}", r"\1", comment)
    return re.split(r"^\s*@\w", comment, flags=re.M)[0]
