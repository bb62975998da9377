"""One table of a TOML file, edited in place: the rest comes out as it went in."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import FileRefused
from recollect.serve.install.toml import TomlFile

PLACE = ("mcp_servers", "recollect")
ENTRY = {"command": "/opt/my tools/recollect", "args": ["mcp"]}

# Statements that look like ours, or like the end of something, where they are not.
STATEMENTS = [
    'model = "gpt"',
    "# [mcp_servers.recollect]",
    'text = """\n[mcp_servers.recollect]\ncommand = "x"\n"""',
    "raw = '''\n[[a]] # no comment '' here\n'''",
    "list = [\n  1, # ]\n  [2, 3],\n]",
    'quoted = "a # b ] \\" c"',
    "inline = { a = [1], b.c = '#' }",
    "",
]
TABLES = [
    "[mcp_servers.other]\ncommand = 'o'",
    "[mcp_servers.'recollect too']\ncommand = 'o'",
    "[[hooks.list]]\na = 1\n[[hooks.list]]\na = 2",
    "[ projects . '/home/ada' ] # trusted\nlevel = 'trusted'",
    "[empty]",
]


@st.composite
def files(draw: st.DrawFn) -> str:
    """A config with some of these in any order, in either manner of line ends."""
    head = draw(
        st.lists(
            st.sampled_from(STATEMENTS), unique_by=lambda text: text.partition("=")[0], max_size=6
        )
    )
    tables = draw(st.lists(st.sampled_from(TABLES), unique=True, max_size=4))
    lines = draw(st.sampled_from(["\n", "\r\n"]))
    end = draw(st.sampled_from(["", "\n", "\n\n", "\n# the end"]))
    return ("\n".join([*head, *tables]) + end).replace("\n", lines)


@given(files())
def test_what_is_added_can_be_taken_away_again(text: str) -> None:
    """All but the white space at the end, which the copy beside the file has."""
    document = TomlFile(text, "config")
    held: dict[str, Any] = tomllib.loads(text)

    document.set(PLACE, ENTRY)
    added = document.values
    document.remove(PLACE)

    assert added == {**held, "mcp_servers": {**held.get("mcp_servers", {}), "recollect": ENTRY}}
    assert document.values == held
    assert document.text.rstrip() == text.rstrip()


def test_an_older_entry_is_changed_where_it_stands() -> None:
    """What somebody added to it stays, and so does its place."""
    older = (
        '[mcp_servers.recollect]\ncommand = "/old/recollect"\nenabled = false\n'
        'args = [\n  "mcp", # us\n]\n'
    )
    document = TomlFile(f"{older}\n[last]\nx = 1\n", "config")

    document.set(PLACE, ENTRY)

    assert document.text == (
        '[mcp_servers.recollect]\ncommand = "/opt/my tools/recollect"\nenabled = false\nargs = '
        '["mcp"]\n\n[last]\nx = 1\n'
    )


def test_what_others_put_below_our_table_goes_with_it() -> None:
    """Codex keeps there which of our tools may run; without the server that means nothing."""
    text = (
        'model = "gpt"\n\n[mcp_servers.recollect]\ncommand = "r"\nargs = ["mcp"]\n\n'
        "[mcp_servers.recollect.tools.search]\napproval = 'auto'\n\n# about the next\n[next]\n"
    )
    document = TomlFile(text, "config")

    document.remove(PLACE)

    assert document.text == 'model = "gpt"\n\n# about the next\n[next]\n'


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = { other = { command = 'o' } }\n",
        "mcp_servers.recollect.command = 'recollect'\n",
        "mcp_servers = 1\n",
    ],
)
def test_a_form_that_cannot_be_added_to_is_refused(text: str) -> None:
    """The file is right, but there is no line we could put ours after."""
    document = TomlFile(text, "config")

    with pytest.raises(FileRefused, match="in a form that we do not change"):
        document.set(PLACE, ENTRY)

    assert document.text == text


def test_a_file_that_does_not_parse_is_refused_with_its_line() -> None:
    """The person has to find the place."""
    with pytest.raises(FileRefused, match=r"^config, line 2: "):
        TomlFile('a = 1\nb = "no end\n', "config")
