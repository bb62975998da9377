"""The team on the web page: who is in it, what is out there, whom one believes, and its search."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from recollect.serve.web.app import Web
from recollect.serve.web.guard import PageKeys
from tests import npm
from tests.serve.web.conftest import Browser
from tests.serve.web.test_views import plain
from tests.share.faults import through
from tests.share.people import PROJECT, Person
from tests.share.proxy import Proxy
from tests.share.servers import Postgres


@pytest.fixture
def opens() -> Iterator[Callable[..., Browser]]:
    """Opens the page of somebody's store."""
    made: list[Web] = []

    def open_page(person: Person, *, read_only: bool = False) -> Browser:
        made.append(Web(person.memory, keys=PageKeys(), read_only=read_only))
        return Browser(made[-1])

    yield open_page
    for web in made:
        web.close()


@pytest.fixture
def bo(ana: Person, joins: Callable[..., Person]) -> Person:
    """Somebody to whom ana shared a note."""
    ana.says("Use pnpm here, never npm")
    ana.shares().syncs()
    return joins("bo").syncs()


def whole(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_the_page_says_what_is_out_there_and_who_sees_it(
    ana: Person, bo: Person, opens: Callable[..., Browser]
) -> None:
    browser = opens(ana)

    page, members = browser.get("/team"), browser.get("/team/members")

    said = plain(page.text)
    assert "acme : you are ana . Last sync: " in said
    assert "shop notes ever 1 0" in said
    assert "What you share is seen by bo." in whole(members.text)
    assert "ana you admin 1 1" in whole(members.text)
    assert "bo member 1 0" in whole(members.text)


def test_a_member_is_trusted_and_muted_on_the_page(
    bo: Person, opens: Callable[..., Browser]
) -> None:
    browser = opens(bo)

    browser.post("/team/trust", name="ana", project=PROJECT, back="/team")
    trusted = bo.knows()
    members = whole(browser.get("/team/members").text)
    browser.post("/team/distrust", name="ana", project=PROJECT, back="/team")
    waiting = bo.knows()
    gone = browser.post("/team/mute", name="ana", back="/team")
    muted = bo.knows()

    assert trusted == [("Use pnpm here, never npm", "ana", "active")]
    assert "trusted in shop" in members
    assert waiting == [("Use pnpm here, never npm", "ana", "candidate")]
    assert gone.headers["location"].startswith("/team?said=Nothing+of+ana")
    assert muted == []
    browser.post("/team/unmute", name="ana", back="/team")
    assert bo.syncs().knows() == waiting


def test_a_page_that_may_only_be_read_changes_nobodys_standing(
    bo: Person, opens: Callable[..., Browser]
) -> None:
    browser = opens(bo, read_only=True)

    members = browser.get("/team/members").text
    refused = browser.post("/team/trust", name="ana", project=PROJECT, back="/team")

    assert "<form" not in members
    assert "This page may only be read." in refused.text
    assert [status for *_, status in bo.knows()] == ["candidate"]


def test_the_team_is_searched_from_the_page_with_the_name_of_who_wrote_it(
    bo: Person, opens: Callable[..., Browser]
) -> None:
    browser = opens(bo)

    own = browser.get("/search?q=pnpm").text
    found = plain(browser.get("/search/team?q=pnpm").text)

    assert 'href="/search/team?q=pnpm"' in own
    assert "ana shared this note of shop Use pnpm here, never npm" in found


def test_with_the_hub_away_what_came_before_is_found_and_it_is_said(
    person: Callable[..., Person], postgres: Postgres, hub_url: str, opens: Callable[..., Browser]
) -> None:
    proxy = Proxy(postgres.port)
    ana = person("ana").founds(through(hub_url, postgres.port, proxy)).shares()
    ana.says("Use pnpm here, never npm")
    ana.syncs()
    bo = person("bo").joins(ana.memory.team.invite("bo")).syncs()
    proxy.cut_after(0)

    result = bo.memory.team.search("npm or pnpm")
    other = bo.memory.team.search("pnpm", author="cy")
    browser = opens(bo)
    found, page = plain(browser.get("/search/team?q=pnpm").text), browser.get("/team")
    members = whole(browser.get("/team/members").text)

    assert [(hit.text, hit.author, hit.project, hit.trust) for hit in result.hits] == [
        ("Use pnpm here, never npm", "ana", PROJECT, "team")
    ]
    assert result.remarks[0].endswith("These came with the last sync.")
    assert other.hits == []
    assert "These came with the last sync." in found
    assert "ana shared this note of shop" in found
    assert page.status == 200
    assert "The hub at 127.0.0.1" in members
    proxy.close()


def test_without_a_team_the_page_says_how_to_get_one(
    person: Callable[..., Person], opens: Callable[..., Browser]
) -> None:
    cy = person("cy")
    cy.says("Use pnpm here, never npm")
    browser = opens(cy)

    assert "This store belongs to no team" in plain(browser.get("/team").text)
    assert "This store belongs to no team" in plain(browser.get("/search/team?q=x").text)
    assert "/search/team" not in browser.get("/search?q=pnpm").text


def test_the_page_of_a_team_is_accessible_wide_and_on_a_phone(bo: Person) -> None:
    """In a real browser, with the members that the hub told."""
    playwright = pytest.importorskip("playwright.sync_api")
    from tests.serve.web.test_browser import PHONE, WIDE, Site, chromium_path

    axe = (npm.require_package("axe-core") / "axe.min.js").read_text(encoding="utf-8")
    site = Site(bo.folder / "recollect.db", bo.folder, environ=bo.environ)
    found = []
    try:
        with playwright.sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
            for size in (WIDE, PHONE):
                for scheme in ("light", "dark"):
                    context = browser.new_context(
                        viewport=size, color_scheme=scheme, bypass_csp=True
                    )
                    tab = context.new_page()
                    tab.goto(site.link)
                    for place, wait in (
                        ("/team", "text=What you share"),
                        ("/search/team?q=pnpm", "text=shared this"),
                    ):
                        tab.goto(site.base + place)
                        tab.wait_for_selector(wait)
                        tab.evaluate(axe)
                        for one in tab.evaluate("async () => (await axe.run()).violations"):
                            where = [node["target"] for node in one["nodes"][:3]]
                            found.append((place, size["width"], scheme, one["id"], where))
                    context.close()
            browser.close()
    finally:
        site.end()

    assert found == []
