"""Every page in a real browser: no error in the console, nothing cut off, on a desktop and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import DESKTOP, PHONE

pytestmark = pytest.mark.e2e

PAGES = (
    "", "approvals/", "intents/", "intents/INT-001/", "intents/import/", "sessions/", "traces/", "traces/ledger/", "traces/map/",
    "lessons/", "settings/", "settings/intentignore/", "settings/members/", "settings/tokens/", "settings/ledger/", "connect/", "explain/",
)  # fmt: skip
EDIT = {"file_path": "docs/design.md", "old_string": "Cookies hold the session.", "new_string": "Tokens do."}


def busy(place):
    """A workspace in which something has happened."""
    place.agent_at_work()
    place.gate("Write", file_path="src/auth/login.ts", content="export {}\n")
    trace = {"path": "src/auth/login.ts", "content": "export {}\n", "mutation_class": "INTENT_EVOLUTION"}
    place.api("agent", "POST", "sessions/s-1/traces", trace)
    place.gate("Edit", **EDIT)
    place.gate("Bash", command="npm run build > docs/log.txt")


@pytest.mark.parametrize(
    ("viewport", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"]
)
def test_every_page_is_drawn_without_an_error(place, sign_in, viewport, scheme):
    busy(place)
    page = sign_in("ada", "admin", viewport=viewport, color_scheme=scheme)
    for path in PAGES:
        answer = page.goto(place.address(path))
        assert answer.status == 200, path
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{path} is {wide} px too wide"
        assert page.locator("h1").count() == 1, path
    assert page.errors == []


def test_an_admin_narrows_a_scope_and_the_next_call_is_stopped(place, sign_in):
    busy(place)
    page = sign_in("ada", "admin")
    page.goto(place.address("intents/INT-001/"))
    page.locator("textarea[name=owned_scope], textarea[name=scope], textarea[name=patterns]").first.fill(
        "src/other/**"
    )
    page.get_by_role("button", name="Save as revision").click()
    expect(page.locator("#main")).to_contain_text("src/other/**")
    assert place.gate("Write", file_path="src/auth/a.ts", content="x")["decision"] == "ask"


def test_an_admin_imports_intents_after_looking_at_the_plan(place, sign_in):
    page = sign_in("ada", "admin")
    page.goto(place.address("intents/import/"))
    document = (
        "active_intents:\n  - id: INT-002\n    name: Billing\n    status: PENDING\n"
        "    owned_scope: ['src/billing/**']\n    constraints: [Keep totals]\n    acceptance_criteria: [It adds up]\n"
    )
    page.locator("textarea").first.fill(document)
    page.get_by_role("button", name="Check").first.click()
    expect(page.locator("#main")).to_contain_text("INT-002")
    assert len(place.api("admin", "GET", "intents")[1]["results"]) == 1, "nothing is changed before apply"
    page.get_by_role("button", name="Apply").first.click()
    page.wait_for_load_state()
    assert {row["id"] for row in place.api("admin", "GET", "intents")[1]["results"]} == {"INT-001", "INT-002"}


def test_a_token_is_shown_once(place, sign_in):
    page = sign_in("ada", "admin")
    page.goto(place.address("settings/tokens/"))
    page.get_by_label("Name").fill("Laptop of Ada")
    page.get_by_role("button", name="Create a token").click()
    expect(page.locator("#main")).to_contain_text("icp_")
    page.goto(place.address("settings/tokens/"))
    expect(page.locator("#main")).to_contain_text("Laptop of Ada")
    assert "icp_" not in page.locator(".callout").all_inner_texts().__str__()


def test_an_admin_sets_up_an_anchor_and_switches_it_off(place, sign_in):
    page = sign_in("ada", "admin")
    page.goto(place.address("settings/ledger/"))
    page.get_by_label("Address").fill("http://keep.example/")
    page.get_by_role("button", name="Add an anchor").click()
    expect(page.locator(".callout")).to_contain_text("https://")
    page.get_by_label("Address").fill("https://keep.invalid/heads")
    page.get_by_role("button", name="Add an anchor").click()
    expect(page.locator("#main")).to_contain_text("https://keep.invalid/heads")
    page.get_by_role("button", name="Disable").click()
    expect(page.locator("table").first).to_contain_text("Off")
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("#main")).to_contain_text("No anchors yet.")


def test_a_reviewer_freezes_a_session(place, sign_in):
    busy(place)
    page = sign_in()
    page.goto(place.address("sessions/s-1"))
    expect(page.locator("#main")).to_contain_text("src/auth/login.ts")
    page.get_by_role("button", name="Freeze").click()
    answer = place.gate("Write", file_path="src/auth/a.ts", content="x")
    assert (answer["decision"], answer["reason"]) == ("deny", "frozen")


def test_an_auditor_may_look_but_not_decide(place, sign_in):
    busy(place)
    page = sign_in("ivy", "auditor")
    page.locator("#column-queue").get_by_text("docs/design.md").click()
    expect(page.locator("#card")).to_contain_text("Tokens do.")
    assert page.get_by_role("button", name="Approve once").count() == 0


def test_the_map_answers_where_something_is(place, sign_in):
    busy(place)
    page = sign_in()
    page.goto(place.address("traces/map/?q=login"))
    expect(page.locator("#main")).to_contain_text("src/auth/login.ts")
    expect(page.locator("#main")).to_contain_text("INT-001")


def test_hostile_texts_stay_texts(place, sign_in):
    place.agent_at_work()
    place.gate(
        "Write", file_path="docs/<img src=x onerror=alert(1)>.md", content="<script>alert(1)</script>\u202e"
    )
    page = sign_in()
    page.locator("#column-queue a").first.click()
    expect(page.locator("#card")).to_contain_text("<script>alert(1)</script>")
    assert page.locator("#card img[src=x]").count() == 0
    assert page.errors == []
