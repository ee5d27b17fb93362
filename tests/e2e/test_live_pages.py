"""Pages that look live: a push changes one row in them, and they fetch nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.test_approving import live

pytestmark = pytest.mark.e2e


@pytest.fixture
def watch(place, sign_in):
    """`watch(path)`: a live page there, with what it fetches from then on in `page.fetched`."""

    def open_page(path):
        page = sign_in()
        page.goto(place.address(path))
        live(page)
        page.fetched = []
        page.on("request", lambda request: page.fetched.append(request.url))
        return page

    place.agent_at_work()
    return open_page


def open_session(place, session):
    place.api("agent", "POST", "sessions", {"session_id": session, "agent": {"name": "codex"}})


def mark(page, selector):
    page.evaluate("selector => document.querySelector(selector).marked = true", selector)


def is_marked(page, selector):
    return page.evaluate("selector => document.querySelector(selector).marked === true", selector)


def test_the_list_of_sessions_changes_one_row(place, watch):
    open_session(place, "s-2")
    page = watch("sessions/")
    rows = page.locator("#session-rows > tr")
    expect(rows).to_have_count(2)
    page.evaluate("for (const row of document.querySelectorAll('#session-rows > tr')) row.marked = true")
    place.gate("Read", session="s-1", file_path="src/a.ts")
    row = page.locator("#session-rows > tr", has_text="s-1")
    expect(row.locator("td.num").first).to_have_text("1")
    assert not row.evaluate("row => row.marked === true")
    assert page.locator("#session-rows > tr", has_text="s-2").evaluate("row => row.marked === true")
    open_session(place, "s-3")
    expect(rows.first).to_contain_text("s-3")
    expect(page.locator("#sessions-alive")).to_contain_text("3")
    place.api("agent", "POST", "sessions/s-3/end", {})
    expect(rows.first).to_contain_text("ENDED")
    expect(page.locator("#sessions-alive")).to_contain_text("2")
    assert page.fetched == []
    assert page.errors == []


def test_a_timeline_gets_its_rows_and_a_held_call_stays_one(place, watch):
    page = watch("sessions/s-1")
    mark(page, "#timeline-rows > li")
    place.gate("Read", file_path="src/a.ts")
    place.gate("Read", file_path="src/b.ts")
    expect(page.locator("#timeline-rows")).to_contain_text("\N{MULTIPLICATION SIGN}2")
    page.locator("#timeline-rows summary").click()
    place.gate("Read", file_path="src/c.ts")
    expect(page.locator("#timeline-rows")).to_contain_text("\N{MULTIPLICATION SIGN}3")
    expect(page.locator("#timeline-rows details")).to_have_attribute("open", "")
    asked = place.gate("Write", file_path="docs/x.md", content="x")["approval"]["id"]
    held = page.locator("#timeline-rows > li", has_text="docs/x.md")
    expect(held).to_contain_text("Decide")
    place.api("reviewer", "POST", f"approvals/{asked}/decide", {"action": "reject", "comment": "not there"})
    expect(held).to_contain_text("not there")
    expect(held).to_have_count(1)
    expect(page.locator("#session-summary")).to_contain_text("4 calls")
    assert is_marked(page, "#timeline-rows > li"), "the first row was not drawn anew"
    place.api("agent", "POST", "sessions/s-1/end", {})
    expect(page.locator("#session-state")).to_contain_text("ENDED")
    assert page.fetched == []
    assert page.errors == []


def test_only_changes_means_only_changes(place, watch):
    page = watch("sessions/s-1?show=changes")
    place.gate("Read", file_path="src/a.ts")
    place.gate("Write", file_path="docs/x.md", content="x")
    expect(page.locator("#timeline-rows")).to_contain_text("docs/x.md")
    expect(page.locator("#timeline-rows")).not_to_contain_text("src/a.ts")
    assert page.fetched == []


def test_the_overview_and_the_connect_page_get_calls(place, watch):
    place.gate("Read", file_path="src/first.ts")
    pages = [watch(""), watch("connect/")]
    mark(pages[0], "#waiting")
    for number in range(10):
        place.gate("Read", file_path=f"src/file{number}.ts")
    for page in pages:
        expect(page.locator("#recent-calls > li").first).to_contain_text("src/file9.ts")
        expect(page.locator("#recent-calls > li")).to_have_count(8)
    place.gate("Write", file_path="docs/x.md", content="x")
    expect(pages[0].locator("#waiting")).to_contain_text("docs/x.md")
    expect(pages[0].locator("#figure-pending")).to_contain_text("1")
    assert pages[1].fetched == []
    assert {url.partition("?")[2] for url in pages[0].fetched} <= {"fragment=figures"}
    assert pages[0].errors == pages[1].errors == []


def test_the_list_of_intents_shows_who_holds_one_and_what_is_new(place, watch):
    page = watch("intents/")
    expect(page.locator("#intent-rows")).to_contain_text("s-1")
    mark(page, "#intents")
    place.api("agent", "POST", "sessions/s-1/end", {})
    expect(page.locator("#intent-rows")).to_contain_text("nobody")
    intent = {"id": "INT-002", "name": "Another", "status": "PENDING", "owned_scope": ["docs/**"]}
    place.api("admin", "POST", "intents", intent)
    expect(page.locator("#intent-rows > tr").nth(1)).to_contain_text("Another")
    expect(page.locator("#intents-strip")).to_contain_text("2 intents")
    assert is_marked(page, "#intents")
    assert page.fetched == []
    assert page.errors == []


def test_the_first_call_appears_where_there_was_none(watch, place):
    page = watch("connect/")
    expect(page.locator("#calls")).to_contain_text("Waiting for the first call")
    place.gate("Read", file_path="src/first.ts")
    expect(page.locator("#recent-calls > li")).to_contain_text("src/first.ts")
    expect(page.locator("#calls")).not_to_contain_text("Waiting for the first call")


def test_the_ledger_counts_what_is_new(place, watch):
    page = watch("traces/")
    place.gate("Read", file_path="src/a.ts")
    intent = {"id": "INT-002", "name": "Another", "status": "PENDING", "owned_scope": ["docs/**"]}
    assert place.api("admin", "POST", "intents", intent)[0] == 201
    expect(page.locator("#news")).to_contain_text("2 new")
    assert page.fetched == []
    page.locator("#news a").click()
    expect(page.locator("#column-list")).to_contain_text("src/a.ts")


def test_what_was_missed_is_fetched_once(place, watch):
    page = watch("sessions/")
    page.context.set_offline(True)
    page.evaluate("document.querySelector('icp-live').socket.close()")
    open_session(place, "s-2")
    place.gate("Read", session="s-2", file_path="src/a.ts")
    page.context.set_offline(False)
    expect(page.locator("#session-rows")).to_contain_text("s-2")
    assert len([url for url in page.fetched if url.endswith("/sessions/")]) == 1
