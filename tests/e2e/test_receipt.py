"""The receipt of a decided card goes on by itself: the agent came back, the call ran, how it ended, what landed."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import PHONE
from tests.e2e.test_approving import live

pytestmark = pytest.mark.e2e

CALL = {
    "tool_name": "Bash", "tool_input": {"command": "rm -rf docs/old", "description": "Tidy"}, "tool_use_id": "toolu_1",
}  # fmt: skip


def approve(place, page, *, grant: str = "once") -> None:
    page.goto(place.address(f"approvals/{place.api('reviewer', 'GET', 'approvals')[1]['results'][0]['id']}/"))
    live(page)
    page.locator(f"#card [name=grant][value={grant}]").check()
    page.wait_for_timeout(600)  # two presses that approve need a pause
    for _ in range(2):
        page.keyboard.press("a")
        page.wait_for_timeout(600)
    expect(page.locator("#receipt")).to_contain_text("Agent notified")


@pytest.mark.parametrize("grant", ["once", "session"])
def test_the_receipt_follows_the_call_to_its_end(place, sign_in, grant):
    place.agent_at_work()
    assert place.hook("PreToolUse", **CALL)["X-ICP-Decision"] == "ask"
    page = sign_in()
    approve(place, page, grant=grant)
    page.evaluate("document.getElementById('decision').marked = true")
    assert place.hook("PreToolUse", **CALL)["X-ICP-Decision"] == "allow"
    expect(page.locator("#receipt")).to_contain_text("Agent retried the call")
    place.hook("PostToolUseFailure", **CALL, error="Exit code 3", duration_ms=1200)
    expect(page.locator("#receipt")).to_contain_text("Ran and failed")
    expect(page.locator("#receipt")).to_contain_text("exit status 3 after 1.2 s")
    assert page.evaluate("document.getElementById('decision').marked"), "the card was not drawn anew"
    page.reload()
    expect(page.locator("#receipt")).to_contain_text("exit status 3 after 1.2 s")
    assert page.errors == []


def test_calls_of_other_sessions_fetch_nothing_and_the_end_stops_it(place, sign_in):
    place.agent_at_work()
    place.hook("PreToolUse", **CALL)
    page = sign_in(viewport=PHONE)
    approve(place, page)
    fetched = []
    page.on("request", lambda request: "fragment=receipt" in request.url and fetched.append(request.url))
    place.gate("Read", session="s-2", file_path="src/auth/a.ts")
    place.hook("PreToolUse", **CALL)
    place.hook("PostToolUse", **CALL, tool_response={"stdout": "", "interrupted": False}, duration_ms=20)
    expect(page.locator("#receipt")).to_contain_text("exit status 0 after 20 ms")
    number = len(fetched)
    assert number in {1, 2}, fetched
    place.gate("Read", file_path="src/auth/b.ts")
    place.gate("Edit", file_path="docs/b.md", old_string="a", new_string="b")
    expect(page.locator("#pending-count")).to_have_attribute("data-count", "1")
    assert len(fetched) == number
    assert page.errors == []


def test_what_landed_is_told_by_the_event_of_the_change(place, sign_in):
    place.agent_at_work()
    edit = {"file_path": "docs/a.md", "old_string": "one", "new_string": "two"}
    place.gate("Edit", **edit)
    page = sign_in()
    page.goto(place.address(f"approvals/{place.api('reviewer', 'GET', 'approvals')[1]['results'][0]['id']}/"))
    live(page)
    page.get_by_role("button", name="Approve once").click()
    expect(page.locator("#receipt")).to_contain_text("Agent notified")
    place.gate("Edit", **edit)
    place.api("agent", "POST", "sessions/s-1/traces", {"path": "docs/a.md", "content": "two\n"})
    expect(page.locator("#receipt")).to_contain_text("Recorded docs/a.md")
    assert page.errors == []
