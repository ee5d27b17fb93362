"""axe-core finds nothing critical or serious on any page: desktop and phone, light and dark."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.e2e.conftest import DESKTOP, PHONE
from tests.e2e.whole_place import PAGES, fill

pytestmark = pytest.mark.e2e

GRAVE = {"critical", "serious"}
# WCAG 2.2 A and AA, what axe calls good practice, and the one rule of WCAG 2.1 A that it leaves off by default.
OPTIONS = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "rules": {"label-content-name-mismatch": {"enabled": True}},
}


# Colours do not depend on the width, the other rules not on the theme.
COLOURS = {"resultTypes": ["violations"], "runOnly": {"type": "rule", "values": ["color-contrast"]}}
WITHOUT_COLOURS = OPTIONS | {"rules": OPTIONS["rules"] | {"color-contrast": {"enabled": False}}}
QUEUE = "#rows"  # beside every card, and the same on its own page
EVERYTHING = (("light", OPTIONS), ("dark", COLOURS))
RUNS = {"desktop": (DESKTOP, EVERYTHING), "phone": (PHONE, (("light", WITHOUT_COLOURS),))}


def find_grave(page, runs=EVERYTHING, *, without: str = "") -> list[str]:
    """What axe finds critical or serious: the theme, the rule, and the elements that break it."""
    faults = []
    context = {"exclude": [without]} if without else None
    for scheme, options in runs:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # what moves has no colour yet
        violations = Axe().run(page, context, options).response["violations"]
        faults += [
            f"{scheme}, {found['id']}: {[node['html'][:120] for node in found['nodes'][:3]]}"
            for found in violations
            if found["impact"] in GRAVE
        ]
    return faults


@pytest.mark.parametrize(("viewport", "runs"), RUNS.values(), ids=RUNS)
def test_no_page_has_a_grave_fault(place, sign_in, viewport, runs):
    pages = fill(place)
    page = sign_in("ada", "admin", viewport=viewport)
    found = {}
    for name, path in pages.items():
        page.goto(place.address(path))
        found[name] = find_grave(page, runs, without="" if name in PAGES else QUEUE)
    page.goto(place.server.url + "/styleguide")
    found["styleguide"] = find_grave(page, runs)
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_signing_in_and_dialogs_have_no_grave_fault(place, sign_in, browser):
    edit = fill(place)["edit"]
    context = browser.new_context()
    stranger = context.new_page()
    stranger.goto(place.address())
    assert find_grave(stranger) == []
    context.close()
    page = sign_in("rex", "reviewer")
    page.goto(place.address(edit))
    page.get_by_role("button", name="Reject with a reason").click()
    page.locator("#reject").wait_for()
    assert find_grave(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.locator("#keys").wait_for()
    assert find_grave(page) == []


def test_a_fault_would_be_found(place, sign_in):
    page = sign_in()
    page.evaluate("document.getElementById('main').insertAdjacentHTML('beforeend', '<button></button>')")
    assert any("button-name" in fault for fault in find_grave(page))
