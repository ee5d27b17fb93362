"""The trace browser, a session and the map under real hands: keys, dragging, pushes, no script."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import PASSWORD, PHONE

pytestmark = pytest.mark.e2e


def busy(place, calls=4):
    place.agent_at_work()
    for number in range(calls):
        place.gate("Read", file_path=f"src/auth/{number}.ts")
        trace = {"path": f"src/auth/{number}.ts", "content": "x\n", "mutation_class": "AST_REFACTOR"}
        place.api("agent", "POST", "sessions/s-1/traces", trace)
    place.gate("Write", file_path="docs/design.md", content="<img src=x onerror=alert(1)>")


def test_keys_walk_the_list_and_escape_closes_the_drawer(place, sign_in):
    busy(place)
    page = sign_in("ivy", "auditor")
    page.goto(place.address("traces/?kind=trace"))
    page.keyboard.press("j")
    expect(page.locator("#drawer")).to_contain_text("src/auth/3.ts")
    page.keyboard.press("j")
    expect(page.locator("#drawer")).to_contain_text("src/auth/2.ts")
    assert re.search(r"entry=\d+", page.url)
    expect(page.locator(".entries [aria-current=true]")).to_contain_text("src/auth/2.ts")
    page.reload()
    expect(page.locator("#drawer")).to_contain_text("src/auth/2.ts")
    page.get_by_label("Newer entry").click()
    expect(page.locator("#drawer")).to_contain_text("src/auth/3.ts")
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()
    assert "entry=" not in page.url
    assert page.errors == []


def test_dragging_over_the_strip_zooms_and_arrows_move_in_it(place, sign_in):
    busy(place)
    page = sign_in("ivy", "auditor")
    page.goto(place.address("traces/"))
    box = page.locator("icp-strip svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 20, steps=4)
    page.mouse.up()
    page.wait_for_url(re.compile("since=.*until="))
    expect(page.locator(".list-head")).to_contain_text("entries")
    page.locator("icp-strip a").first.focus()
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement === [...document.querySelectorAll('icp-strip a')].at(-1)")
    assert page.errors == []


def test_new_entries_wait_behind_a_pill(place, sign_in):
    busy(place)
    page = sign_in("ivy", "auditor")
    page.goto(place.address("traces/?kind=decision"))
    rows = page.locator(".entries tbody tr").count()
    page.wait_for_function("document.documentElement.dataset.connection === 'live'")
    place.gate("Read", file_path="src/auth/new.ts")
    expect(page.locator("#news")).to_contain_text("1 new")
    assert page.locator(".entries tbody tr").count() == rows
    page.locator("#news a").click()
    expect(page.locator(".entries tbody")).to_contain_text("src/auth/new.ts")


def test_alt_click_leaves_a_value_out(place, sign_in):
    busy(place)
    page = sign_in("ivy", "auditor")
    page.goto(place.address("traces/"))
    page.locator("#facets").get_by_role("link", name="trace", exact=True).click(modifiers=["Alt"])
    page.wait_for_url(re.compile("-kind=trace"))
    assert page.locator("#facets").get_by_role("link", name="trace", exact=True).count() == 0


def test_a_session_zooms_and_its_runs_open(place, sign_in):
    place.agent_at_work()
    for number in range(5):
        place.gate("Read", file_path=f"src/auth/{number}.ts")
    page = sign_in("ivy", "auditor")
    page.goto(place.address("sessions/s-1"))
    expect(page.locator(".run summary")).to_contain_text("\N{MULTIPLICATION SIGN}5")
    expect(page.locator(".run ol")).to_be_hidden()
    page.keyboard.press("]")
    expect(page.locator(".run ol")).to_contain_text("src/auth/4.ts")
    page.locator(".run ol a").nth(2).click()
    expect(page.locator(".run li[aria-current=true]")).to_be_visible()
    page.locator("icp-strip a").last.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("since="))
    expect(page.get_by_role("link", name="Full session")).to_be_visible()
    assert page.errors == []


def test_everything_is_there_without_script(place, sign_in, browser):
    busy(place)
    name = place.person("ivy", "auditor")
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)
    page = context.new_page()
    page.goto(place.address("traces/"))
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.locator(".entries tbody a").first.click()
    expect(page.locator("#drawer")).to_contain_text("Received")
    page.get_by_label("Close").first.click()
    expect(page.locator("#drawer")).to_be_hidden()
    page.locator("#facets a").first.click()
    expect(page.locator(".token").first).to_be_visible()
    page.goto(place.address("traces/map/?q=auth"))
    expect(page.locator("#main")).to_contain_text("src/auth/")
    context.close()


def test_a_very_long_name_neither_hides_the_matrix_nor_fills_the_list(place, sign_in):
    place.agent_at_work()
    name = "n" * 200
    for path in (f"src/auth/{name}.ts", f"{'a-folder-of-that-name/' * 12}b.ts"):
        place.api("agent", "POST", "sessions/s-1/traces", {"path": path, "content": "x\n"})
    for viewport in (None, PHONE):
        page = sign_in("ivy", "auditor", viewport=viewport)
        page.goto(place.address("traces/map/?at=src/auth"))
        column = page.locator(".matrix thead th").nth(1).bounding_box()
        assert column["x"] < page.viewport_size["width"] - 40
        expect(page.locator(".matrix")).to_contain_text(name)
        page.goto(place.address("traces/?kind=trace"))
        for row in page.locator(".entries tbody tr").all():
            assert row.bounding_box()["height"] < 120
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.goto(place.address(f"traces/map/file/src/auth/{name}.ts"))
        if viewport is None:
            assert page.locator(".crumb").bounding_box()["height"] < 30
        assert page.errors == []


def test_on_paper_a_list_goes_on_over_the_pages(place, sign_in):
    busy(place, calls=24)
    page = sign_in("ivy", "auditor", color_scheme="dark")
    page.goto(place.address("traces/?kind=trace&kind=decision"))
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    page.emulate_media(media="print")
    assert page.locator(".entries tbody tr").count() == 49
    last = page.locator(".entries tbody tr").last
    assert page.evaluate("document.documentElement.scrollHeight > innerHeight * 1.5")
    expect(last).to_be_visible()
    expect(page.locator("#rail")).to_be_hidden()
    expect(page.get_by_role("button", name="Export")).to_be_hidden()
    expect(page.locator(".token").first).to_be_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


def test_a_session_of_any_name_is_live(place, sign_in):
    name = "a b, every 1s[alert(1)] (c)'!*?x=1#y%20"
    place.agent_at_work()
    place.gate("Read", session=name, file_path="src/auth/first.ts")
    page = sign_in("rex", "reviewer")
    page.goto(place.address("sessions/"))
    page.get_by_role("link", name="a b, every").click()
    expect(page.locator("#timeline")).to_contain_text("src/auth/first.ts")
    place.gate("Read", session=name, file_path="src/auth/second.ts")
    expect(page.locator("#timeline")).to_contain_text("second.ts")
    page.get_by_role("button", name="Freeze").click()
    expect(page.get_by_role("button", name="Unfreeze")).to_be_visible()
    assert page.errors == []
