"""Who may see the page, and what it may do."""

from __future__ import annotations

import pytest

from tests.serve.web.conftest import PORT, Browser


def test_the_link_becomes_a_cookie_that_no_script_and_no_other_site_can_use(
    browser: Browser,
) -> None:
    token = browser.web.keys.token

    reply = browser.ask("GET", f"/search?q=lock&token={token}", headers={})

    assert (reply.status, reply.headers["location"]) == (303, "/search?q=lock")
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert token not in cookie


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"cookie": ""}, 403),
        ({"cookie": f"recollect-{PORT}=guessed"}, 403),
        ({"host": "evil.example"}, 421),
        ({"host": f"evil.example:{PORT}"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
    ],
)
def test_whoever_has_no_link_or_comes_from_another_page_is_turned_away(
    browser: Browser, headers: dict[str, str], status: int
) -> None:
    """A name that was pointed at this machine is no way in either."""
    reply = browser.ask("GET", "/", headers={"cookie": browser.cookie, **headers})

    assert reply.status == status
    assert "Restore drill" not in reply.text


def test_a_redirect_after_the_link_leads_to_this_machine_alone(browser: Browser) -> None:
    reply = browser.ask("GET", f"//evil.example/?token={browser.web.keys.token}", headers={})

    assert reply.headers["location"] == "/evil.example/"


def test_a_page_may_load_nothing_from_elsewhere_and_run_no_script_of_a_log(
    browser: Browser,
) -> None:
    policy = browser.get("/").headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_no_page_holds_a_style_or_a_handler_of_its_own(browser: Browser) -> None:
    """The policy would stop them, and the page would look broken."""
    for place in ("/", "/sessions", "/search?q=lock", "/usage", "/trouble", "/store"):
        text = browser.get(place).text
        assert " style=" not in text
        assert " onclick=" not in text
        assert "<script>" not in text
