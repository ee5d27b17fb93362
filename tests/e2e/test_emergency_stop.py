"""One click stops every agent, and every open page says so without a reload."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import PHONE
from tests.e2e.test_approving import live

pytestmark = pytest.mark.e2e


def test_a_stop_reaches_every_open_page_and_denies_until_it_is_lifted(place, sign_in):
    place.agent_at_work()
    ada, rex = sign_in("ada", "admin"), sign_in(viewport=PHONE, color_scheme="dark")
    rex.goto(place.address("intents/"))
    live(rex)
    ada.goto(place.address(""))
    ada.get_by_role("button", name="Stop every agent").click()
    expect(ada.locator("#stops")).to_contain_text("Every agent is stopped.")
    expect(rex.locator("#stops")).to_contain_text("Every agent is stopped. By Ada")
    assert rex.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert place.gate("Read", file_path="README.md")["reason"] == "stopped"
    ada.get_by_role("button", name="Start again").click()
    expect(rex.locator("#stops")).not_to_contain_text("stopped")
    assert place.gate("Read", file_path="README.md")["decision"] == "allow"
    assert ada.errors == rex.errors == []
