"""390 px: nothing is wider than the screen, every target fits a finger, words stay whole, tables say that they scroll."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import PHONE
from tests.e2e.whole_place import fill

pytestmark = pytest.mark.e2e

# The part of the page that answers a touch as the element does: what its box holds, and what is drawn around it.
# A link in a sentence is as high as its line (the exception of WCAG 2.5.8).
SMALL_TARGETS = """(size) => {
  const inSentence = (element) => getComputedStyle(element).display === "inline"
    && element.parentElement.textContent.trim() !== element.textContent.trim();
  const answers = (element, x, y) => {
    const hit = document.elementFromPoint(x, y);
    return Boolean(hit) && (element.contains(hit) || (hit.matches("label") && hit.contains(element)));
  };
  const reach = (element, x, y, dx, dy) => {
    let steps = 0;
    while (steps < size && answers(element, x + dx * (steps + 1), y + dy * (steps + 1))) steps += 1;
    return steps;
  };
  const small = [];
  for (const element of document.querySelectorAll("a[href], button, summary, select, textarea, input:not([type=hidden])")) {
    const seen = element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    if (!seen || element.disabled || element.closest("svg, .visually-hidden, .skip") || inSentence(element)) continue;
    if (element.matches("[type=radio], [type=checkbox]") && element.closest("label")) continue;
    element.scrollIntoView({ block: "center", inline: "center" });
    const box = element.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + Math.min(box.height, 20) / 2];
    if (!box.width || !answers(element, x, y)) continue;
    const wide = Math.max(box.width, reach(element, x, y, -1, 0) + 1 + reach(element, x, y, 1, 0));
    const high = Math.max(box.height, reach(element, x, y, 0, -1) + 1 + reach(element, x, y, 0, 1));
    if (wide < size - 0.5 || high < size - 0.5) {
      small.push(`${element.outerHTML.slice(0, 90)} is ${Math.round(wide)} by ${Math.round(high)}`);
    }
  }
  return small;
}"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def test_every_page_fits_and_every_target_takes_a_finger(place, sign_in):
    pages = fill(place)
    page = sign_in("ada", "admin", viewport=PHONE)
    faults = {}
    for name, path in pages.items():
        page.goto(place.address(path))
        wide = page.evaluate(TOO_WIDE)
        faults[name] = [f"{wide} px too wide"] * (wide > 0) + page.evaluate(SMALL_TARGETS, 44)
    assert {name: found for name, found in faults.items() if found} == {}


def test_a_small_target_would_be_found(place, sign_in):
    page = sign_in(viewport=PHONE)
    page.evaluate(
        "document.getElementById('main').insertAdjacentHTML('afterbegin', '<p><a href=#x>x</a></p>')"
    )
    assert any("#x" in fault for fault in page.evaluate(SMALL_TARGETS, 44))


def test_the_states_of_intents_stay_whole_words(place, sign_in):
    fill(place)
    page = sign_in(viewport=PHONE)
    page.goto(place.address("intents/"))
    for link in page.locator(".segments > a").all():
        assert link.evaluate("link => link.getClientRects().length") == 1
        assert link.bounding_box()["height"] <= 48, link.inner_text()


def test_a_session_shows_its_rows_on_the_first_screen(place, sign_in):
    fill(place)
    page = sign_in(viewport=PHONE)
    page.goto(place.address("sessions/s-1"))
    assert page.locator(".timeline > li").first.bounding_box()["y"] < PHONE["height"] / 3


def test_a_table_that_is_cut_off_shows_it_and_is_reached_with_keys(place, sign_in):
    fill(place)
    page = sign_in(viewport=PHONE)
    for path in ("traces/", "intents/"):
        page.goto(place.address(path))
        table = page.locator("main section > .table-scroll").first
        assert table.evaluate("box => box.scrollWidth > box.clientWidth")
        assert "scroll, scroll" in table.evaluate("box => getComputedStyle(box).backgroundAttachment")
        table.focus()
        page.keyboard.press("ArrowRight")
        expect(table).not_to_have_js_property("scrollLeft", 0)


def test_the_note_is_folded_until_one_writes_in_it(place, sign_in):
    card = fill(place)["edit"]
    page = sign_in(viewport=PHONE)
    page.goto(place.address(card))
    bar, note = page.locator("#decision"), page.get_by_label("Note for the agent")
    assert bar.bounding_box()["height"] <= 70
    note.click()
    expect(note).to_be_focused()
    assert note.bounding_box()["width"] > 300
    page.keyboard.type("Keep the heading.")
    page.keyboard.press("Tab")
    assert note.bounding_box()["width"] > 300, "what was written stays in sight"
    page.get_by_role("button", name="Approve once").click()
    expect(page.locator("#card")).to_contain_text("Keep the heading.")
