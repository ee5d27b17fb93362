"""The palette by keys alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import DESKTOP, PHONE

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize(
    ("viewport", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"]
)
def test_ctrl_k_finds_and_enter_opens(place, sign_in, viewport, scheme):
    place.agent_at_work()
    page = sign_in(viewport=viewport, color_scheme=scheme)
    page.goto(place.address("intents/"))
    palette = page.locator("#palette")
    page.keyboard.press("Control+k")
    expect(palette.get_by_role("textbox")).to_be_focused()
    expect(palette).to_contain_text("Emergency stop")
    page.keyboard.type("int-001")
    expect(palette.get_by_role("link")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(palette.get_by_role("link")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/intents/INT-001/")
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(palette).to_be_hidden()
    assert page.errors == []


def test_slash_opens_it_where_a_page_has_no_search(place, sign_in):
    page = sign_in("ada", "admin")
    page.goto(place.address("settings/"))
    page.keyboard.press("/")
    expect(page.locator("#palette")).to_be_visible()
    page.goto(place.address("traces/"))
    page.keyboard.press("/")
    expect(page.locator("#palette")).to_be_hidden()
