"""The page as a person meets it: a real browser, real clicks and keys, over a real server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from recollect.memory import Memory
from tests import npm
from tests.builders.claude_code import Conversation

playwright = pytest.importorskip("playwright.sync_api")

VIEWS = {
    "home": "/",
    "search": "/search?q=database+locked",
    "sessions": "/sessions",
    "session": "/s/codex:01a1a188",
    "memory": "/p/github.com/acme/webshop",
    "review": "/review",
    "told": "/told?since=",
    "file": "/file?path=feeds/cache.py",
    "files": "/file",
    "handoff": "/handoff?session=codex:01a1a188&to=claude-code",
    "usage": "/usage",
    "trouble": "/trouble",
    "team": "/team",
    "store": "/store",
}
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
# Read when the module is: every test begins by clearing our variables away.
KEEP_PICTURES = "RECOLLECT_PICTURES" in os.environ
# What a first page may load.
MOST_BYTES, MOST_SCRIPT_BYTES = 150_000, 80_000


class Site:
    """A running `recollect web`, with its link."""

    def __init__(
        self, store: Path, home: Path, *options: str, environ: Mapping[str, str] | None = None
    ) -> None:
        self.store = store
        command = [sys.executable, "-m", "recollect", "web", "--no-open", "--port", "0",
                   "--store", str(store), *options]  # fmt: skip
        environment = {"HOME": str(home), "RECOLLECT_HOME": str(home), "PATH": "/usr/bin:/bin"}
        environment |= environ or {}
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=environment, cwd=home
        )
        assert self.process.stderr is not None
        self.link = self.process.stderr.readline().strip()
        self.base = self.link.partition("/?")[0]

    def end(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=20)


def chromium_path() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("there is no chromium on this machine")
    return found


@pytest.fixture(scope="module")
def chromium() -> Iterator[playwright.Browser]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The page over the sample sessions."""
    home = tmp_path_factory.mktemp("site")
    store = home / "store.db"
    with Memory.open(store, environ={"RECOLLECT_HOME": str(home)}) as memory:
        memory.import_logs([memory.agents.sample_logs()])
        memory.jobs.work()
    running = Site(store, home)
    yield running
    running.end()


@pytest.fixture
def page(chromium: playwright.Browser, site: Site) -> Iterator[playwright.Page]:
    """A tab in which the link was opened; what it asks of others, or complains of, is a failure."""
    context = chromium.new_context(viewport=WIDE)
    tab = context.new_page()
    faults: list[str] = []

    def complain(one: playwright.ConsoleMessage) -> None:
        # Of a part that was still being asked for when the page was left. Should the server
        # fail, the browser itself says so.
        if one.type == "error" and not one.text.startswith("htmx:"):
            faults.append(one.text)

    tab.on("console", complain)
    tab.on("pageerror", lambda one: faults.append(str(one)))
    tab.on(
        "request",
        lambda one: (
            None if one.url.startswith((site.base, "data:")) else faults.append(f"asked {one.url}")
        ),
    )
    tab.goto(site.link)
    yield tab
    context.close()
    assert faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_accessible_wide_and_on_a_phone(
    chromium: playwright.Browser, site: Site, scheme: str
) -> None:
    """axe-core finds nothing in any view, and nothing is asked of any other machine."""
    axe = (npm.require_package("axe-core") / "axe.min.js").read_text(encoding="utf-8")
    found, elsewhere = [], []
    for size in (WIDE, PHONE):
        context = chromium.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)
        tab = context.new_page()
        tab.on("request", lambda one: elsewhere.append(one.url))
        tab.goto(site.link)
        for name, place in VIEWS.items():
            tab.goto(site.base + place)
            tab.wait_for_load_state("networkidle") if name == "search" else None
            tab.evaluate(axe)
            for one in tab.evaluate("async () => (await axe.run()).violations"):
                where = [node["target"] for node in one["nodes"][:3]]
                found.append((name, size["width"], one["id"], where))
        context.close()

    assert found == []
    assert [url for url in elsewhere if not url.startswith((site.base, "data:"))] == []


def test_the_pictures_of_the_pages_are_taken(
    chromium: playwright.Browser, site: Site, tmp_path: Path
) -> None:
    """What the README shows is what the page looks like; RECOLLECT_PICTURES=1 keeps it."""
    folder = PICTURES if KEEP_PICTURES else tmp_path
    context = chromium.new_context(viewport={"width": 1280, "height": 760})
    tab = context.new_page()
    tab.goto(site.link)
    tab.goto(site.base + VIEWS["memory"])
    tab.wait_for_selector(".entry.is-on .ev")
    tab.screenshot(path=folder / "memory.png")
    context.close()

    assert (folder / "memory.png").stat().st_size > 20_000
    assert (PICTURES / "memory.png").exists()


def test_a_first_page_is_small(chromium: playwright.Browser, site: Site) -> None:
    """As it goes over the wire, and its scripts as they are."""
    context = chromium.new_context()
    tab = context.new_page()
    sizes: dict[str, int] = {}
    tab.on(
        "response", lambda one: sizes.__setitem__(one.url, one.request.sizes()["responseBodySize"])
    )
    tab.goto(site.link)
    tab.wait_for_load_state("load")
    scripts = tab.evaluate(
        "async () => { let n = 0; for (const s of document.scripts)"
        " n += (await (await fetch(s.src)).text()).length; return n; }"
    )
    context.close()

    assert sum(sizes.values()) <= MOST_BYTES
    assert scripts <= MOST_SCRIPT_BYTES


def test_what_is_typed_is_searched_at_once_and_the_address_keeps_it(page: playwright.Page) -> None:
    page.keyboard.press("g")
    page.keyboard.press("f")
    page.wait_for_url("**/search")

    page.keyboard.type("deadlock")
    page.wait_for_selector("text=Deadlock while migration 0042 runs against live orders")
    page.wait_for_url("**/search?q=deadlock*")
    page.reload()

    assert page.input_value("#q") == "deadlock"
    assert page.locator(".hit mark").count() > 0


def test_the_list_is_walked_by_keys_alone(page: playwright.Page, site: Site) -> None:
    page.goto(f"{site.base}/sessions")
    page.keyboard.press("j")
    page.keyboard.press("j")
    chosen = page.locator("[data-nav][aria-current]").inner_text()
    page.keyboard.press("o")
    page.wait_for_url("**/s/*")

    assert page.locator("h1").inner_text() == chosen


def test_the_palette_jumps_to_a_page_a_project_and_a_session(page: playwright.Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("deadlock")
    page.wait_for_selector("#palette .opt:visible >> text=Deadlock while migration")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/*")

    page.keyboard.press("Control+k")
    page.keyboard.type("usage")
    page.keyboard.press("Enter")
    page.wait_for_url("**/usage")


def test_the_keys_are_listed_and_letters_do_nothing_while_somebody_types(
    page: playwright.Page,
) -> None:
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.wait_for_url("**/search")
    page.keyboard.type("g h ? j")

    assert page.input_value("#q") == "g h ? j"
    assert not page.locator("#help").is_visible()


def test_a_session_is_found_in_and_folded(page: playwright.Page, site: Site) -> None:
    page.goto(f"{site.base}/s/codex:01a1a188")
    page.fill("#find", "locked")
    page.wait_for_selector("#found >> text=/\\d turns? with/")
    assert page.locator(".spine details.call[open]").count() > 0
    page.locator("main").click(position={"x": 5, "y": 5})
    page.keyboard.press(".")

    assert page.locator(".spine details.call[open]").count() == 0


def test_a_session_that_is_being_written_grows_on_the_page(
    chromium: playwright.Browser, tmp_path: Path
) -> None:
    log = Conversation()
    log.user("first question")
    log.reply("first answer")
    path = tmp_path / ".claude" / "projects" / "shop" / f"{log.session}.jsonl"
    log.write(path)
    store = tmp_path / "store.db"
    environ = {"RECOLLECT_HOME": str(tmp_path), "HOME": str(tmp_path)}
    with Memory.open(store, environ=environ) as memory:
        memory.import_logs([tmp_path / ".claude"])
        site = Site(store, tmp_path)
        try:
            context = chromium.new_context()
            tab = context.new_page()
            tab.goto(site.link)
            tab.goto(f"{site.base}/s/claude-code:{log.session}")
            assert tab.locator("article.turn").count() == 1

            log.user("second question")
            log.reply("second answer")
            log.write(path)
            memory.import_logs([tmp_path / ".claude"])

            tab.wait_for_selector("text=second answer", timeout=10_000)
            assert tab.locator("article.turn").count() == 2
            context.close()
        finally:
            site.end()


def test_it_ends_with_ctrl_c(site: Site, tmp_path: Path) -> None:
    """A stream of events that a tab keeps open is no reason to stay."""
    import signal
    import time
    import urllib.request

    running = Site(site.store, tmp_path)
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    opener.open(running.link)
    stream = opener.open(f"{running.base}/events")
    began = time.monotonic()

    running.process.send_signal(signal.SIGINT)

    running.process.communicate(timeout=20)
    assert running.process.returncode == 0
    assert time.monotonic() - began < 10
    stream.close()


def test_a_wrong_line_is_rejected_by_one_key_and_taken_back_by_another(
    page: playwright.Page, site: Site
) -> None:
    """As a person would who never saw the page: the line, why it is there, away with it."""
    page.goto(f"{site.base}/p/github.com/acme/webshop")
    line = page.locator(".pack .line__t").first.inner_text()
    page.wait_for_selector(".entry.is-on .ev")
    page.keyboard.press("x")
    page.wait_for_selector("text=Rejected. It will not come back.")
    assert line not in page.locator(".pack").inner_text()

    page.keyboard.press("z")
    page.wait_for_selector("text=Undone.")
    assert line in page.locator(".pack").inner_text()


def test_a_line_is_edited_in_place_and_ones_own_is_added(page: playwright.Page, site: Site) -> None:
    page.goto(f"{site.base}/p/github.com/acme/infra")
    page.wait_for_selector(".entry.is-on .btns")
    page.keyboard.press("e")
    page.keyboard.press("Control+a")
    page.keyboard.type("Drills run on a copy, never on prod.")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Saved in your words.")
    assert "Drills run on a copy, never on prod." in page.locator(".pack").inner_text()

    page.keyboard.press("n")
    page.keyboard.type("Ask Tomasz before a reboot.")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Added.")
    assert "Ask Tomasz before a reboot." in page.locator(".pack").inner_text()


def test_what_waits_is_decided_one_after_the_other(page: playwright.Page, site: Site) -> None:
    environ = {"RECOLLECT_HOME": str(site.store.parent)}
    with Memory.open(site.store, environ=environ) as memory:
        for text in ("the coffee is black", "the tea is green"):
            memory.notes.add(text, project="github.com/acme/tidepool", by="agent")
    page.goto(f"{site.base}/review")
    first = page.locator(".review__line").inner_text()
    page.keyboard.press("a")
    page.wait_for_selector("text=Accepted. Agents are told from the next session on.")
    second = page.locator(".review__line").inner_text()
    assert {first, second} >= {"the coffee is black", "the tea is green"}
    page.keyboard.press("x")
    page.wait_for_selector("text=Rejected. It will not come back.")

    page.goto(f"{site.base}/p/github.com/acme/tidepool")
    told = page.locator(".pack").inner_text()
    assert first in told
    assert second not in told


def test_what_is_new_here_is_found_without_help_and_a_wrong_line_is_rejected(
    page: playwright.Page,
) -> None:
    """The script of docs/web.md: yesterday's session, what changed a file, what agents know
    about a project, and away with one wrong line. Clicks alone, on what can be seen.
    """
    page.goto(page.url)
    page.click("text=Restore drill for the shop database")
    page.wait_for_selector("h1:has-text('Restore drill')")
    page.click(".rail a.mono >> nth=0")
    page.wait_for_selector("text=changed it")
    assert page.locator(".change .prompt").first.is_visible()
    page.click(".projects >> text=webshop")
    page.wait_for_selector("text=Told at the start of a session")
    assert "uv" in page.locator(".pack").inner_text()

    wrong = page.locator(".pack .line").nth(1)
    said = wrong.locator(".line__t").inner_text()
    wrong.click()
    page.wait_for_selector(".entry.is-on .ev")
    page.click(".entry.is-on >> text=Reject")
    page.wait_for_selector("text=Rejected. It will not come back.")
    assert said not in page.locator(".pack").inner_text()
    page.click(".toast >> text=Undo")
    page.wait_for_selector("text=Undone.")


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("h", "/"), ("f", "/search"), ("s", "/sessions"), ("r", "/review"), ("t", "/told"),
        ("i", "/file"), ("u", "/usage"), ("e", "/trouble"), ("o", "/store"),
        ("m", "/team"),
    ],
)  # fmt: skip
def test_g_and_a_letter_go_to_every_page(
    page: playwright.Page, site: Site, key: str, place: str
) -> None:
    page.goto(f"{site.base}{'/usage' if place == '/' else '/'}")
    page.keyboard.press("g")
    page.keyboard.press(key)

    page.wait_for_url(f"{site.base}{place}")


def test_a_session_is_walked_by_its_keys(page: playwright.Page, site: Site) -> None:
    """Turns, errors, calls, and the command that resumes it."""
    page.goto(f"{site.base}/s/codex:01a1a188")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.locator(".spine [data-nav][aria-current]").inner_text() == "2"
    page.keyboard.press("k")
    assert page.locator(".spine [data-nav][aria-current]").inner_text() == "1"
    page.keyboard.press("n")
    page.wait_for_function(
        "document.querySelector('.turn--bad').getBoundingClientRect().top < innerHeight"
    )
    page.keyboard.press("r")
    page.wait_for_selector(".toast >> text=Copied")


def test_a_line_is_pinned_looked_into_and_its_turn_opened_by_keys(
    page: playwright.Page, site: Site
) -> None:
    page.goto(f"{site.base}/p/github.com/acme/fieldnotes")
    page.wait_for_selector(".entry.is-on .btns")
    page.keyboard.press("p")
    page.wait_for_selector("text=Pinned: told first.")
    page.wait_for_selector(".entry.is-on .btns")
    page.keyboard.press("h")
    page.wait_for_selector(".versions >> text=pinned")
    page.keyboard.press("z")
    page.wait_for_selector("text=Undone.")
    page.wait_for_selector(".entry.is-on .ev a")
    page.keyboard.press("o")
    page.wait_for_url("**/s/*")


def test_forgetting_asks_first(page: playwright.Page, site: Site) -> None:
    """It is the one thing that cannot be taken back."""
    page.goto(f"{site.base}/p/github.com/acme/fieldnotes")
    asked: list[str] = []

    def refuse(dialog: playwright.Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    page.wait_for_selector(".entry.is-on .btns")
    line = page.locator(".entry.is-on .entry__say").inner_text()
    page.keyboard.press("f")
    page.wait_for_timeout(200)

    assert len(asked) == 1
    assert line in page.locator(".entry.is-on").inner_text()


def test_a_line_of_a_file_leads_to_the_change_that_wrote_it(
    page: playwright.Page, site: Site
) -> None:
    page.goto(f"{site.base}/file?path=feeds/cache.py")
    page.click(".blame >> text=#4")

    assert "the last one in the file counts" in page.locator(".change.is-on").inner_text()
    assert page.locator(".blame li.is-on").count() == 2
    page.keyboard.press("o")
    page.wait_for_url("**/s/*turn-4")


def test_a_session_is_handed_over(page: playwright.Page, site: Site) -> None:
    page.goto(f"{site.base}/s/codex:01a1a188")
    page.click(".rail >> text=Gemini CLI")
    page.wait_for_selector("text=What this session leaves behind")

    assert "gemini --prompt-interactive" in page.locator(".copy code").inner_text()
    assert "Anything you left open?" in page.locator("pre.out").inner_text()


def test_filters_follow_what_is_typed_and_a_search_is_kept(
    page: playwright.Page, site: Site
) -> None:
    page.goto(f"{site.base}/search")
    page.fill("#q", "deadlock")
    page.wait_for_selector("#chips .chip")
    page.click("text=Save this search")
    page.wait_for_selector("text=Saved. It stands under the field.")
    page.goto(f"{site.base}/search")
    page.click(".chip--saved >> text=deadlock")
    page.wait_for_url("**/search?q=deadlock")
    page.locator(".hit").nth(1).click()
    page.wait_for_selector("text=Why it ranks here")
    page.click("text=Forget this search")
    page.wait_for_selector("text=No longer saved.")

    assert page.locator(".chip--saved").count() == 0


def test_logs_are_imported_and_the_store_is_copied_from_the_page(
    chromium: playwright.Browser, tmp_path: Path
) -> None:
    """With their progress, and what each log came to."""
    log = Conversation()
    log.user("first question")
    log.reply("first answer")
    store = tmp_path / "store.db"
    with Memory.open(store, environ={"RECOLLECT_HOME": str(tmp_path)}) as memory:
        memory.import_logs([memory.agents.sample_logs()])
    log.write(tmp_path / ".claude" / "projects" / "shop" / f"{log.session}.jsonl")
    site = Site(store, tmp_path)
    try:
        tab = chromium.new_context().new_page()
        tab.goto(site.link)
        tab.goto(f"{site.base}/store")
        tab.wait_for_selector("text=All is well.")
        tab.click("text=Import now")
        tab.wait_for_selector("text=1 sessions with 1 turns are new", timeout=60_000)
        tab.click("text=1 log with something new")
        assert f"{log.session}.jsonl" in tab.locator("#task").inner_text()
        tab.click("text=Back up")
        tab.wait_for_selector("text=Copied to", timeout=60_000)
        (copied,) = (tmp_path / "backups").glob("*.db")
        with Memory.open(copied) as memory:
            assert memory.session_page(limit=1).total == 25
        tab.context.close()
    finally:
        site.end()


def test_a_page_that_may_only_be_read_has_no_buttons_that_change(
    chromium: playwright.Browser, site: Site, tmp_path: Path
) -> None:
    reader = Site(site.store, tmp_path, "--read-only")
    try:
        tab = chromium.new_context().new_page()
        tab.goto(reader.link)
        for place in (*VIEWS.values(), "/note?ref=none"):
            tab.goto(reader.base + place)
            assert tab.locator("form[method=post]").count() == 0, place
        assert "Nothing can be changed here." in tab.locator(".side__foot").inner_text()
        tab.context.close()
    finally:
        reader.end()


def test_a_session_of_thousands_of_turns_opens_anywhere_and_goes_on(
    chromium: playwright.Browser, tmp_path: Path
) -> None:
    """The page holds the turns around the one that was asked for, and more as somebody scrolls."""
    log = Conversation()
    for number in range(1, 5_001):
        log.user(f"question {number}")
        log.reply(f"answer {number}")
    log.write(tmp_path / ".claude" / "projects" / "shop" / f"{log.session}.jsonl")
    store = tmp_path / "store.db"
    with Memory.open(store, environ={"RECOLLECT_HOME": str(tmp_path)}) as memory:
        memory.import_logs([tmp_path / ".claude"])
    site = Site(store, tmp_path)
    try:
        tab = chromium.new_context(viewport=WIDE).new_page()
        tab.goto(site.link)
        tab.goto(f"{site.base}/s/claude-code:{log.session}?at=4711#turn-4711")
        assert tab.locator("#turn-4711").is_visible()
        assert tab.locator("article.turn").count() <= 60
        tab.evaluate("scrollTo(0, document.body.scrollHeight)")
        tab.wait_for_selector("#turn-4747", state="attached")
        tab.goto(f"{site.base}/s/claude-code:{log.session}?at=4300")
        while not tab.locator("#turn-4900").count():
            tab.evaluate("scrollTo(0, document.body.scrollHeight)")
            tab.wait_for_timeout(30)
        # Those far above the view are gone, and a link brings them back.
        assert tab.locator("article.turn").count() <= 440
        assert not tab.locator("#turn-4301").count()
        assert tab.locator(".spine > .window").first.inner_text() == "Earlier turns"
        tab.locator(".spine > .window a").first.click()
        tab.wait_for_url("**#turn-4*")
        assert tab.locator("article.turn").count() <= 60
        tab.fill("#find", '"question 17"')
        tab.click("#found >> text=/^17: /")
        tab.wait_for_selector("#turn-17")
        tab.context.close()
    finally:
        site.end()


def test_on_a_phone_a_line_leads_to_its_page_and_everything_is_a_tap_away(
    chromium: playwright.Browser, site: Site
) -> None:
    """There is no room for two panes."""
    tab = chromium.new_context(viewport=PHONE).new_page()
    tab.goto(site.link)
    tab.goto(f"{site.base}/p/github.com/acme/webshop")
    tab.click("text=Everything")
    assert tab.locator(".pane--r").is_visible()
    tab.click("text=What is told")
    tab.locator(".pack .line").first.click()
    tab.wait_for_selector(".ev")
    tab.wait_for_selector("text=Reject")
    assert "/note?ref=" in tab.url
    tab.context.close()


@pytest.fixture(scope="module")
def large_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The page over 2,000 turns of forty sessions in five projects."""
    home = tmp_path_factory.mktemp("large")
    for number in range(40):
        log = Conversation(f"5e551011-0000-4000-8000-{number:012d}", prefix=f"s{number}-",
                           cwd=f"/home/ada/shop-{number % 5}")  # fmt: skip
        for turn in range(50):
            log.user(f"step {turn} of errand {number}: mend the http://elsewhere.example/{turn}")
            log.call("Bash", {"command": f"make check-{turn % 7}"}, f"c{turn}")
            log.result(f"c{turn}", "cannot find -lssl" if turn % 7 == 0 else "ok",
                       error=turn % 7 == 0)  # fmt: skip
            log.reply(f"Done with **step {turn}**: ![seen](http://elsewhere.example/{turn}.png)")
        log.write(home / ".claude" / "projects" / f"shop-{number % 5}" / f"{log.session}.jsonl")
    store = home / "store.db"
    with Memory.open(store, environ={"RECOLLECT_HOME": str(home)}) as memory:
        memory.import_logs([home / ".claude"])
    running = Site(store, home)
    yield running
    running.end()


def test_nothing_is_asked_of_other_machines_over_a_larger_store(
    chromium: playwright.Browser, large_site: Site
) -> None:
    """In no view, with everything that comes after it, and with logs full of addresses."""
    session = "claude-code:5e551011-0000-4000-8000-000000000007"
    views = {
        "/": "2,000 turns since", "/sessions": "40 sessions", "/search?q=errand": "errand",
        f"/s/{session}": "step 0 of errand 7", "/p//home/ada/shop-1": "make check-1",
        "/review": "Nothing waits", "/told?since=": "No agent was told", "/file": "Name a file",
        f"/handoff?session={session}&to=codex": "leaves behind", "/usage": "40 sessions",
        "/usage?by=tool": "Bash", "/trouble": "cannot find -lssl", "/store": "All is well.",
    }  # fmt: skip
    tab = chromium.new_context(viewport=WIDE).new_page()
    asked: list[str] = []
    tab.on("request", lambda one: asked.append(one.url))
    tab.goto(large_site.link)
    for place, said in views.items():
        tab.goto(large_site.base + place)
        tab.wait_for_function("said => document.body.innerText.includes(said)", arg=said)
        assert tab.evaluate("document.fonts.size") == 0, place
    tab.context.close()

    assert [url for url in asked if not url.startswith((large_site.base, "data:"))] == []


def test_a_larger_store_is_searched_walked_and_summed_up(
    chromium: playwright.Browser, large_site: Site
) -> None:
    tab = chromium.new_context(viewport=WIDE).new_page()
    tab.goto(large_site.link)
    tab.keyboard.press("/")
    tab.wait_for_url("**/search")
    tab.keyboard.type('"errand 23" "step 41"')
    tab.wait_for_selector(".hit >> text=step 41 of errand 23")
    tab.goto(f"{large_site.base}/sessions")
    assert tab.locator("main [data-nav]").count() == 40
    tab.locator("main [data-nav]").first.click()
    tab.wait_for_url("**/s/*")
    assert tab.locator("article.turn").count() >= 30
    tab.evaluate("scrollTo(0, document.body.scrollHeight)")
    tab.wait_for_selector("#turn-50", state="attached")
    tab.goto(f"{large_site.base}/trouble")
    tab.wait_for_selector("text=320 times in 40 sessions")
    tab.context.close()
