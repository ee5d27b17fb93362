"""Fewer questions: a grant by kind, a plan, a learned rule, and the page that counts them, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import DESKTOP, PHONE

pytestmark = pytest.mark.e2e


KIND = "mcp:linear.create_issue"


def call(place, title: str, tool: str = "create_issue") -> dict:
    return place.gate(f"mcp__linear__{tool}", title=title)


def ask(place, title: str, tool: str = "create_issue") -> dict:
    answer = call(place, title, tool)
    assert answer["decision"] == "ask", answer
    return answer


def test_a_grant_by_kind_is_the_default_and_covers_the_next_spelling(place, sign_in):
    place.agent_at_work()
    ask(place, "Broken login")
    page = sign_in()
    page.locator("#column-queue").get_by_text("create_issue").first.click()
    card = page.locator("#card")
    expect(card.get_by_label("Until the session ends")).to_be_checked()
    expect(card).to_contain_text(f"{KIND} runs without asking until the session ends")
    page.get_by_role("button", name="Approve for the session").click()
    expect(card).to_contain_text("Approved")
    assert call(place, "Broken logout")["decision"] == "allow"
    ask(place, "x", "delete_issue")
    assert page.errors == []


def test_a_plan_is_one_card_and_ends_with_the_intent(place, sign_in):
    place.agent_at_work()
    body = {"patterns": ["docs/**"], "kinds": [KIND], "reason": "Every suite moves in small steps."}
    status, asked = place.api("agent", "POST", "sessions/s-1/request-scope", body)
    assert status == 201, asked
    page = sign_in()
    page.goto(place.address(f"approvals/{asked['id']}/"))
    card = page.locator("#card")
    for words in ("docs/**", KIND, "Every suite moves", "Never covered by a plan"):
        expect(card).to_contain_text(words)
    page.get_by_role("button", name="Approve plan").click()
    expect(card).to_contain_text("Approved")
    assert call(place, "x")["decision"] == "allow"
    assert place.gate("Write", file_path="docs/a.md", content="x")["decision"] == "allow"
    assert page.errors == []


def test_a_learned_rule_is_taken_over_and_taken_back(place, sign_in):
    place.agent_at_work()
    for number in range(12):
        held = ask(place, f"t{number}")
        role = ("reviewer", "admin")[number % 2]
        place.api(role, "POST", f"approvals/{held['approval']['id']}/decide", {"action": "approve"})
    page = sign_in("ada", "admin")
    page.goto(place.address("interruptions/"))
    row = page.get_by_role("row", name=KIND)
    expect(row).to_contain_text("12 of 12 approved by 2 people")
    row.get_by_role("link", name="Make a rule…").click()
    expect(page.get_by_text("0 rejected calls")).to_be_visible()
    page.get_by_role("button", name="Make rule 1").click()
    expect(page.locator("#rules")).to_contain_text(KIND)
    assert call(place, "new")["decision"] == "allow"
    page.reload()
    page.locator("#rules").get_by_role("button", name="Revoke").click()
    expect(page.locator("#rules")).to_contain_text("revoked by")
    ask(place, "newer")
    assert page.errors == []


@pytest.mark.parametrize(
    ("viewport", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"]
)
def test_the_page_of_interruptions_counts_and_filters(place, sign_in, viewport, scheme):
    place.agent_at_work()
    ask(place, "x")
    page = sign_in("ivy", "auditor", viewport, scheme)
    page.goto(place.address(""))
    page.get_by_role("link", name="What asks").click()
    expect(page.get_by_role("heading", name="Interruptions")).to_be_visible()
    expect(page.get_by_text("Too few calls yet")).to_be_visible()
    expect(page.get_by_role("row", name=KIND)).to_contain_text("Sends")
    page.get_by_role("link", name="24h").click()
    expect(page).to_have_url(re.compile("range=24h"))
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    assert page.get_by_role("button", name="Revoke").count() == 0
    assert page.errors == []
