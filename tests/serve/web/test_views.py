"""What each page shows, of the sample sessions."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from recollect.recall import rank
from tests.builders.claude_code import Conversation
from tests.serve.web.conftest import Browser


def plain(page: str) -> str:
    """The text of a page."""
    body = page[page.index('<div class="page') : page.index("</main>")]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("/", "24 sessions"),
        ("/sessions", "Release webshop 2.14.0 and the flaky checkout test"),
        ("/sessions?outcome=partial", "3 sessions pass the filters"),
        ("/sessions?q=deadlock", "Deadlock while migration 0042 runs against live orders"),
        ("/search?q=database+locked", "Cache supplier price feeds in SQLite instead of Redis"),
        ("/search", "Type words, an error, a file."),
        ("/file?path=feeds/cache.py", "3 turns changed it"),
        ("/handoff?session=codex:01a1a188&to=claude-code", "Go on with the work of session codex"),
        ("/file", "Name a file, or the end of its path. These were changed last."),
        ("/usage", "of the input from cache"),
        ("/usage?by=model&what=tokens&since=90d", "gpt-5"),
        ("/trouble", "openssl-sys"),
        ("/trouble?error=database+is+locked", "What helped against this error"),
        ("/store", "Agents on this machine"),
    ],
)
def test_each_page_answers_its_question(browser: Browser, place: str, said: str) -> None:
    reply = browser.get(place)

    assert reply.status == 200
    assert said in plain(reply.text)


def test_a_session_shows_what_was_asked_done_and_said(browser: Browser) -> None:
    link = re.search(r'href="(/s/codex[^"]+)"[^>]*>Cache supplier', browser.get("/sessions").text)
    assert link is not None

    text = plain(browser.get(link[1]).text)

    for said in (
        "command should be `flask feeds refresh`",
        "sqlite3.OperationalError: database is locked",
        "exit 1",
        "codex resume",
        "A worker starts in 1.2 s instead of 41 s.",
    ):
        assert said in text


def test_a_long_session_comes_in_windows(browser: Browser) -> None:
    """What is asked for is there, and what brings the rest."""
    link = re.search(r'href="/s/([^"]+)"', browser.get("/sessions").text)
    assert link is not None

    part = browser.get(f"/turns?session={link[1]}&after=2", **{"HX-Request": "true"}).text

    assert 'id="turn-3"' in part
    assert 'id="turn-2"' not in part
    assert "<html" not in part


def test_what_is_typed_brings_the_hits_alone(browser: Browser) -> None:
    part = browser.get("/search?q=deadlock", **{"HX-Request": "true"}).text

    assert 'id="results"' in part
    assert "<mark>" in part
    assert "<html" not in part


def test_when_nothing_is_relevant_the_page_says_so_and_what_came_nearest(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The sample sessions are so few that every question is answered.
    monkeypatch.setattr(rank, "relevant", lambda *_: 99.0)

    part = browser.get("/search?q=submarine+periscope", **{"HX-Request": "true"}).text

    assert "<h2>Nothing relevant found</h2>" in part
    assert re.search(r'Nearest: <a href="/s/[^"]+">[^<]+</a>', part)


@pytest.mark.parametrize("ending", ["html", "md"])
def test_a_session_is_shared_as_one_file_that_needs_nothing_else(
    browser: Browser, ending: str
) -> None:
    link = re.search(r'href="/s/([^"]+)"', browser.get("/sessions").text)
    assert link is not None

    reply = browser.get(f"/export/{link[1]}.{ending}")

    assert reply.headers["content-disposition"].startswith("attachment")
    assert "Restore drill" in reply.text
    assert "src=" not in reply.text


def test_what_is_not_there_is_said_with_what_to_do(browser: Browser) -> None:
    reply = browser.get("/s/nobody")

    assert reply.status == 404
    assert "There is no session" in plain(reply.text)


def test_an_address_that_leads_nowhere_is_answered_by_a_page(browser: Browser) -> None:
    """Somebody mistyped it; the menu is there to go on."""
    reply = browser.get("/sesions")

    assert reply.status == 404
    assert "There is no such page." in plain(reply.text)
    assert 'href="/sessions"' in reply.text


def test_sums_are_saved_as_rows(browser: Browser) -> None:
    lines = browser.get("/usage.csv?by=project").text.splitlines()

    assert lines[0].startswith("name,sessions,turns")
    assert len(lines) == 5


def test_all_pages_count_sessions_alike(browser: Browser) -> None:
    """One number means one thing."""
    from recollect.memory import Memory

    with Memory.open(browser.web.like.settings.store) as memory:
        count = memory.summary().sessions

    for place in ("/", "/sessions", "/store"):
        text = plain(browser.get(place).text)
        assert f"{count} sessions" in text or f"Sessions {count}" in text


def test_a_memory_shows_the_very_pack_that_an_agent_gets(browser: Browser) -> None:
    from recollect.memory import Memory

    with Memory.open(browser.web.like.settings.store) as memory:
        found = memory.remember(project="github.com/acme/webshop")
    assert found is not None

    assert found.pack in unescape(browser.get("/p/github.com/acme/webshop").text)


def test_a_note_is_shown_with_the_words_it_rests_on(browser: Browser) -> None:
    page = browser.get("/p/github.com/acme/webshop").text
    link = re.search(r'data-trust="user"[^>]*>\s*<a class="entry__top" href="([^"]+)"', page)
    assert link is not None

    text = browser.get(unescape(link[1])).text

    assert '<li class="ev"><p class="ev__m"><b>You</b>' in text
    assert "<mark>" in text


@pytest.mark.parametrize("name", ["accept", "reject", "edit", "pin", "forget", "undo", "add"])
def test_a_change_from_another_page_is_refused(browser: Browser, name: str) -> None:
    """It holds the cookie, and not what only our forms hold."""
    reply = browser.ask(
        "POST", f"/notes/{name}", headers={"cookie": browser.cookie}, body="ref=note:x&text=evil"
    )

    assert reply.status == 400
    assert "This form is not from this page." in plain(reply.text)


def test_a_change_leads_back_to_where_it_was_made_and_nowhere_else(browser: Browser) -> None:
    page = browser.get("/p/github.com/acme/webshop").text
    ref = re.search(r"ref=(note:\w+)", page)
    assert ref is not None

    for back, place in (
        ("/review?after=2", "/review?after=2&said="),
        ("//evil.example/", "/?said="),
    ):
        reply = browser.post("/notes/pin", ref=ref[1], back=back)
        assert reply.status == 303
        assert reply.headers["location"].startswith(place)
        browser.post("/notes/unpin", ref=ref[1])


def test_a_page_that_may_only_be_read_changes_nothing(samples: Path) -> None:
    from recollect.memory import Memory
    from recollect.serve.web.app import Web
    from recollect.serve.web.guard import PageKeys

    with Memory.open(samples, environ={"RECOLLECT_HOME": str(samples.parent)}) as memory:
        web = Web(memory, keys=PageKeys(), read_only=True)
        try:
            reader = Browser(web)
            assert reader.post("/notes/add", text="x", project="").status == 400
            assert '<form method="post"' not in reader.get("/p/github.com/acme/webshop").text
        finally:
            web.close()


def test_what_was_told_is_listed_and_judged(samples: Path, tmp_path: Path) -> None:
    """When, in which session, how many lines; a click says that it helped."""
    import shutil

    from recollect.memory import Memory
    from recollect.serve.web.app import Web
    from recollect.serve.web.guard import PageKeys

    shutil.copy(samples, tmp_path / "store.db")
    environ = {"RECOLLECT_HOME": str(tmp_path)}
    with Memory.open(tmp_path / "store.db", environ=environ) as memory:
        found = memory.remember(project="github.com/acme/webshop")
        assert found is not None
        session = next(iter(memory.sessions("deadlock"))).id
        refs = [note.ref for note in found.notes[:3]]
        memory.injections.record("hook", "SessionStart", refs, agent="claude-code", session=session)
        web = Web(memory, keys=PageKeys())
        try:
            page = Browser(web)
            told = page.get("/told?since=")
            link = re.search(r'href="(/told\?since=&id=([\w-]+))"', told.text)
            assert link is not None
            text = plain(page.get(unescape(link[1])).text)
            page.post("/told/helpful", ref=link[2], back="/told?since=")
            facts = page.get(f"/note?ref={refs[0]}").text
        finally:
            web.close()
        assert "1 session was told 3 lines" in plain(told.text)
        assert "told 1 time, used in 0" in plain(facts)
        assert found.notes[0].text.strip('"')[:30] in text
        assert memory.injections.feedback(refs[0]) == (1, 0)


def test_two_lines_that_say_the_same_become_one_with_what_both_rest_on(
    samples: Path, tmp_path: Path
) -> None:
    import shutil

    from recollect.memory import Memory
    from recollect.serve.web.app import Web
    from recollect.serve.web.guard import PageKeys

    shutil.copy(samples, tmp_path / "store.db")
    with Memory.open(tmp_path / "store.db", environ={"RECOLLECT_HOME": str(tmp_path)}) as memory:
        found = memory.remember(project="github.com/acme/webshop")
        assert found is not None
        one, other = [note for note in found.notes if note.trust == "user"][:2]
        web = Web(memory, keys=PageKeys())
        try:
            page = Browser(web)
            offered = page.get(f"/note?ref={one.ref}").text
            page.post("/notes/merge", ref=one.ref, into=other.ref, back="/")
        finally:
            web.close()
        merged = memory.notes.get(other.ref)

        assert f'<option value="{other.ref}">' in offered
        assert set(merged.turns) == {*one.turns, *other.turns}
        assert memory.notes.get(one.ref).replaced_by == other.ref
        memory.notes.undo(other.ref)
        assert memory.notes.get(one.ref).status == "active"


def test_a_part_of_a_page_is_a_page_for_whoever_has_no_script(browser: Browser) -> None:
    for place in ("/home/kept", "/home/year", "/store/health", "/store/task"):
        assert "<html" in browser.get(place).text
        assert "<html" not in browser.get(place, **{"HX-Request": "true"}).text


def test_a_period_is_compared_with_the_one_before_it(browser: Browser) -> None:
    text = plain(browser.get("/usage?since=30d").text)

    assert "In the 30 days before:" in text
    assert "Cost before" in text


def test_what_somebody_means_to_spend_is_a_line_in_usage(samples: Path, tmp_path: Path) -> None:
    import shutil

    from recollect.memory import Memory
    from recollect.serve.web.app import Web
    from recollect.serve.web.guard import PageKeys

    shutil.copy(samples, tmp_path / "store.db")
    (tmp_path / "config.toml").write_text("[cost]\nmonth_usd = 5.0\n")
    with Memory.open(tmp_path / "store.db", environ={"RECOLLECT_HOME": str(tmp_path)}) as memory:
        web = Web(memory, keys=PageKeys())
        try:
            page = Browser(web).get("/usage").text
        finally:
            web.close()

    assert "of $5.00 that you mean to spend" in plain(page)
    assert 'class="budget"' in page


def test_what_sessions_came_to_is_shown_by_week(browser: Browser) -> None:
    page = browser.get("/trouble").text

    assert "What sessions came to, by week" in plain(page)
    assert re.search(r'aria-label="Week of 9 Nov[^"]*: [^"]*success', page)


def test_every_setting_is_shown_as_the_line_that_changes_it(browser: Browser) -> None:
    text = plain(browser.get("/store").text)

    assert "[recall] pack_tokens = 600" in text
    assert "[cost] month_usd = 0.0" in text


def test_review_shows_what_would_change_in_files_and_writes_what_it_showed(
    samples: Path, tmp_path: Path
) -> None:
    """Files that agents read, in the folders that were published to before."""
    import shutil

    from recollect.memory import Memory
    from recollect.serve.web.app import Web
    from recollect.serve.web.guard import PageKeys

    shutil.copy(samples, tmp_path / "store.db")
    project = tmp_path / "shop"
    project.mkdir()
    log = Conversation(cwd=str(project))
    log.user("first question")
    log.reply("first answer")
    log.write(tmp_path / ".claude" / "projects" / "shop" / f"{log.session}.jsonl")
    with Memory.open(tmp_path / "store.db", environ={"RECOLLECT_HOME": str(tmp_path)}) as memory:
        memory.import_logs([tmp_path / ".claude"])
        memory.notes.add("the tea is green", project=memory.projects.of(str(project)))
        memory.publish.update(folder=str(project), apply=True)
        web = Web(memory, keys=PageKeys())
        try:
            page = Browser(web)
            quiet = plain(page.get("/review").text)
            memory.notes.add("the coffee is black", project=memory.projects.of(str(project)))
            shown = page.get("/review").text
            mark = re.search(r'name="shown" value="(\w+)"', shown)
            assert mark is not None
            old = page.post("/publish", folder=str(project), shown="another", back="/review")
            untouched = (project / "AGENTS.md").read_text()
            said = page.post("/publish", folder=str(project), shown=mark[1], back="/review")
            afterwards = plain(page.get("/review").text)
            elsewhere = page.post("/publish", folder=str(tmp_path), shown=mark[1], back="/review")
        finally:
            web.close()

    assert "AGENTS.md" not in quiet
    assert re.search(r"AGENTS.md would change .*\+ - the coffee is black", plain(shown))
    assert (old.status, elsewhere.status) == (400, 400)
    assert "coffee" not in untouched
    assert said.headers["location"] == "/review?said=Written%3A+AGENTS.md."
    assert "the coffee is black" in (project / "AGENTS.md").read_text()
    assert "AGENTS.md" not in afterwards


def test_the_page_adds_little_to_what_is_installed() -> None:
    """Its files as a wheel holds them, compressed each."""
    import zlib
    from importlib.resources import files

    folder = Path(str(files("recollect.serve.web")))
    shipped = [one for one in folder.rglob("*") if one.is_file() and one.suffix != ".pyc"]

    assert folder / "static" / "htmx.min.js" in shipped
    assert sum(len(zlib.compress(one.read_bytes(), 6)) for one in shipped) <= 600_000


def test_two_projects_that_end_alike_are_told_apart_and_months_are_shown_by_week(
    tmp_path: Path,
) -> None:
    from recollect.memory import Memory
    from recollect.serve.web.app import Web
    from recollect.serve.web.guard import PageKeys

    for number, (folder, month) in enumerate((("/home/ada/shop", 1), ("/srv/shop", 9))):
        log = Conversation(f"5e551011-0000-4000-8000-{number:012d}", prefix=f"s{number}-",
                           cwd=folder)  # fmt: skip
        log.user("first question")
        log.reply("first answer")
        log.lines = [line.replace("2026-01-01T", f"2026-0{month}-01T") for line in log.lines]
        log.write(tmp_path / ".claude" / "projects" / f"shop-{number}" / f"{log.session}.jsonl")
    with Memory.open(tmp_path / "store.db", environ={"RECOLLECT_HOME": str(tmp_path)}) as memory:
        memory.import_logs([tmp_path / ".claude"])
        web = Web(memory, keys=PageKeys())
        try:
            page = Browser(web).get("/usage").text
        finally:
            web.close()

    assert {"ada/shop", "srv/shop"} <= set(re.findall(r'data-nav title="[^"]+">([^<]+)<', page))
    assert "Cost by week" in page
    weeks = re.findall(r'href="(/sessions[^"]+)" aria-label="Week of ', page)
    assert unescape(weeks[0]) == "/sessions?since=2025-12-29&until=2026-01-04"
    assert unescape(weeks[-1]) == "/sessions?since=2026-08-31&until=2026-09-06"
