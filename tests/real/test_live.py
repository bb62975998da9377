"""A session on the page while its agent writes it: nobody imports, nobody reloads."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable

import pytest

from tests.real.agents import Agent
from tests.real.machine import Machine
from tests.real.steps import Say

playwright = pytest.importorskip("playwright.sync_api")

Start = Callable[[str], Agent]

# The agent waits so long for its command; the page shows the prompt meanwhile.
PATIENCE_SECONDS = 6


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_what_an_agent_writes_is_on_the_page_before_it_has_ended(
    name: str, start: Start, machine: Machine
) -> None:
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("there is no chromium on this machine")
    from tests.serve.web.test_browser import Site

    agent = start(name)
    agent.stub.will(Say("There are twelve pots."))
    agent.run("is there paint?", machine.shop)
    machine.recollect("import", "--wait")
    (session,) = machine.rows("sessions")
    command = machine.rows("resume", session["id"])[0]["words"]
    agent.stub.will(
        agent.shell(f"./bin/shopctl check blue; sleep {PATIENCE_SECONDS}"), Say("Blue as well.")
    )
    goes_on = threading.Thread(
        target=agent.go_on, args=(command, "and which colours?", machine.shop)
    )
    (store,) = machine.home.rglob("recollect.db")
    site = Site(store, machine.home)
    try:
        with playwright.sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
            tab = browser.new_page()
            tab.goto(site.link)
            tab.goto(f"{site.base}/s/{session['id']}")
            assert tab.locator("article.turn").count() == 1

            goes_on.start()
            tab.wait_for_selector("text=and which colours?", timeout=60_000)
            was_running = goes_on.is_alive()
            goes_on.join()
            tab.wait_for_selector("text=Blue as well.", timeout=10_000)
            assert tab.locator("article.turn").count() == 2
            browser.close()
    finally:
        if goes_on.is_alive():
            goes_on.join()
        site.end()
    assert was_running
