"""What logs hold is shown as text, whatever it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.serve.web import words
from recollect.serve.web.app import Web
from recollect.serve.web.guard import PageKeys
from tests.builders.claude_code import Conversation
from tests.serve.web.conftest import Browser

PLANTS = [
    "<script>alert(1)</script>",
    '<img src="http://evil.example/x.png" onerror="alert(1)">',
    "<svg onload=alert(1)>",
    "[click](javascript:alert(1))",
    "![pixel](http://evil.example/pixel.png)",
    "[a](http://evil.example/)",
    '"><iframe src="http://evil.example">',
    "<style>body{background:url(http://evil.example)}</style>",
    "{{ 7 * 7 }} {% include '/etc/passwd' %}",
]


@pytest.mark.parametrize("plant", PLANTS)
def test_markdown_loads_nothing_and_runs_nothing(plant: str) -> None:
    shown = str(words.markdown(plant))

    for tag in ("<script", "<img", "<svg", "<iframe", "<style", "<a "):
        assert tag not in shown
    assert 'href="' not in shown


def test_headings_of_a_reply_are_lines_of_it() -> None:
    """An empty one would be announced as a heading of the page that says nothing."""
    shown = str(words.markdown("# Done\n\nAll of it.\n\n##\n"))

    assert '<p class="md__h">Done</p>' in shown
    assert "<h" not in shown


def test_a_log_full_of_tags_shows_them_as_text(tmp_path: Path) -> None:
    """In prompts, replies, thoughts, commands, outputs, edits, titles and file names."""
    log = Conversation()
    for number, plant in enumerate(PLANTS):
        log.user(f"please {plant}")
        log.call("Bash", {"command": f"echo '{plant}'"}, f"b{number}")
        log.result(f"b{number}", f"Error: {plant}", error=True)
        edit = {
            "file_path": f"/home/ada/shop/{number}<b>.py",
            "old_string": "a",
            "new_string": plant,
        }
        log.call("Edit", edit, f"e{number}")
        log.result(f"e{number}", plant)
        log.reply(f"# {plant}\n\n`{plant}`\n\n| a |\n|---|\n| {plant} |")
    log.write(tmp_path / ".claude" / "projects" / "shop" / f"{log.session}.jsonl")
    store = tmp_path / "store.db"
    with Memory.open(store, environ={"RECOLLECT_HOME": str(tmp_path)}) as memory:
        memory.import_logs([tmp_path])
        memory.jobs.work()
        web = Web(memory, keys=PageKeys())
        try:
            browser = Browser(web)
            session = f"claude-code:{log.session}"
            pages = [
                browser.get(place).text
                for place in (
                    "/",
                    "/sessions",
                    f"/s/{session}",
                    "/search?q=evil+onerror+alert",
                    f"/export/{session}.html",
                    "/file?path=0<b>.py",
                    "/file",
                    f"/handoff?session={session}&to=codex",
                    "/usage?by=tool",
                    "/store/task",
                    "/preview?ref=" + session + "%231&q=<script>alert(1)</script>",
                    "/trouble?error=<script>alert(1)</script>",
                    "/nothing?said=<script>alert(1)</script>",
                    "/?said=<script>alert(1)</script>",
                )
            ]
        finally:
            web.close()
    for page in pages:
        for tag in (
            "<script>alert",
            "<img src=",
            "<svg onload",
            "<iframe",
            'javascript:alert(1)">',
        ):
            assert tag not in page
        assert "49" not in page.partition("7 * 7")[2][:20]
