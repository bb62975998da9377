"""JSON with comments, edited in place: what is not ours comes out as it went in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import FileRefused
from recollect.serve.install.jsonc import JsonFile

ENTRY = {"command": "/opt/my tools/recollect", "args": ["mcp"]}

names = st.text(st.sampled_from('ab"\\/*é{[,: '), max_size=4)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
# What may stand between two tokens; a line comment needs its line.
gaps = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", "/* c, } */", " // c ] \n", "\n\n"])


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A value as somebody might have written it, with comments and commas where they like them."""

    def gap() -> str:
        return draw(gaps)

    if not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    made = []
    for item in value.items() if isinstance(value, dict) else value:
        label = ""
        if isinstance(value, dict):
            name, item = item
            label = f"{json.dumps(name)}{gap()}:{gap()}"
        made.append(f"{gap()}{label}{draw(written(item))}{gap()}")
    trailing = "," + gap() if made and draw(st.booleans()) else ""
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + (",".join(made) + trailing or gap()) + closing


@st.composite
def files(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A settings file and what it holds; sometimes it has other servers and hooks already."""
    held: dict[str, Any] = draw(
        st.dictionaries(names.filter(lambda name: name not in ("mcp", "hooks")), values, max_size=3)
    )
    if draw(st.booleans()):
        held["mcp"] = draw(st.dictionaries(names, values, min_size=1, max_size=2))
    if draw(st.booleans()):
        held["hooks"] = {"Stop": draw(st.lists(values, min_size=1, max_size=2))}
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return mark + draw(gaps) + draw(written(held)) + draw(gaps), held


@given(files())
def test_it_reads_what_was_written(file: tuple[str, dict[str, Any]]) -> None:
    """Comments and commas are no part of what a file holds."""
    text, held = file

    assert JsonFile(text, "settings").root.value == held


@given(values)
def test_it_reads_plain_json_as_the_standard_library_does(value: Any) -> None:
    """The check of every edit rests on our own reading."""
    text = json.dumps({"value": value}, indent=2)

    assert JsonFile(text, "settings").root.value == json.loads(text)


@given(files())
def test_what_is_added_can_be_taken_away_without_a_trace(file: tuple[str, dict[str, Any]]) -> None:
    """Byte for byte, wherever comments, commas and line ends are."""
    text, held = file
    document = JsonFile(text, "settings")

    document.set(("mcp", "recollect"), ENTRY)
    document.append(("hooks", "Stop"), ENTRY)
    added = dict(document.root.value)
    document.remove(
        ("hooks", "Stop", len(document.get("hooks", "Stop")) - 1) if "hooks" in held else ("hooks",)
    )
    document.remove(("mcp", "recollect") if "mcp" in held else ("mcp",))

    assert added == {
        **held,
        "mcp": {**held.get("mcp", {}), "recollect": ENTRY},
        "hooks": {"Stop": [*held.get("hooks", {"Stop": []})["Stop"], ENTRY]},
    }
    # An object with nothing but space in it is the one that loses something: the space.
    assert document.text == text if held else document.root.value == {}


@given(files(), st.data())
def test_any_entry_can_be_taken_away_alone(
    file: tuple[str, dict[str, Any]], data: st.DataObject
) -> None:
    """Others may have put theirs before, behind and around ours."""
    text, held = file
    if not held:
        return
    name = data.draw(st.sampled_from(sorted(held)))
    document = JsonFile(text, "settings")

    document.remove((name,))

    assert document.root.value == {key: value for key, value in held.items() if key != name}


def test_an_edit_takes_over_the_manner_of_the_file() -> None:
    """Tabs, line ends, a comma at the end, a comment that belongs to its line."""
    document = JsonFile(
        '{\r\n\t"mcp": {\r\n\t\t"other": {}, // theirs\r\n\t},\r\n}\r\n', "settings"
    )

    document.set(("mcp", "recollect"), {"args": ["mcp"]})

    assert document.text == (
        '{\r\n\t"mcp": {\r\n\t\t"other": {}, // theirs\r\n'
        '\t\t"recollect": {\r\n\t\t\t"args": [\r\n\t\t\t\t"mcp"\r\n\t\t\t]\r\n\t\t},\r\n'
        "\t},\r\n}\r\n"
    )


def test_a_file_on_one_line_stays_on_one_line() -> None:
    """Some programs write it so."""
    document = JsonFile('{"a":1}', "settings")

    document.set(("mcp", "recollect"), {"args": ["mcp"]})

    assert document.text == '{"a":1, "mcp": {"recollect": {"args": ["mcp"]}}}'


@pytest.mark.parametrize("text", ["", "\n", "// nothing yet\n", "\ufeff", "/* later */"])
def test_a_file_without_a_value_is_an_empty_object(text: str) -> None:
    """Agents take it as that."""
    document = JsonFile(text, "settings")

    document.set(("a",), 1)

    assert document.root.value == {"a": 1}
    assert document.text.startswith(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "settings, line 3: a comma or } is missing here"),
        ('{\n  "a": \n}', "settings, line 3: a value is missing here"),
        ("{\n  a: 1\n}", "settings, line 2: a key in quotes is missing here"),
        ('{"a" 1}', "settings, line 1: a colon is missing here"),
        ('{"a": 1\n', "settings, line 2: the file ends too early"),
        ("{} {}", "settings, line 1: more after the end"),
        ('{"a": 1, "a": 2}', "settings, line 1: the key a appears twice"),
        ('{"a": "\\x"}', "settings, line 1: not a JSON escape, or too long a number"),
        ("{\n/* no end", "settings, line 2: a key in quotes is missing here"),
        ("[1]", "settings is not a JSON object."),
        ('{"a": ' + "[" * 500 + "]" * 500 + "}", "settings, line 1: nested too deeply"),
    ],
)
def test_a_file_that_does_not_parse_is_refused_with_its_line(text: str, complaint: str) -> None:
    """The person has to find the place."""
    with pytest.raises(FileRefused) as refused:
        JsonFile(text, "settings")

    assert str(refused.value) == complaint


def test_an_entry_goes_only_where_an_object_or_a_list_is() -> None:
    """Somebody's `"mcp": null` means something; we do not decide what."""
    document = JsonFile('{"mcp": null, "hooks": {"Stop": {}}}', "settings")

    with pytest.raises(FileRefused, match="mcp is not what the agent expects there"):
        document.set(("mcp", "recollect"), ENTRY)
    with pytest.raises(FileRefused, match=r"hooks.Stop is not what the agent expects there"):
        document.append(("hooks", "Stop"), ENTRY)


def test_what_follows_a_removed_entry_does_not_slip_into_a_comment() -> None:
    """A comment ends where its line does."""
    document = JsonFile('{\n  "a": 1, // mine\n  "b": 2 }', "settings")

    document.remove(("b",))

    assert document.root.value == {"a": 1}
