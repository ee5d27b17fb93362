"""A real agent's call waits in its hook until a person decides it in a real browser."""

from __future__ import annotations

import threading
import uuid

import pytest
from playwright.sync_api import expect

from tests.agents.model import Step
from tests.agents.walk import TEXT, Walk

pytestmark = pytest.mark.agents


def test_approving_in_the_browser_lets_the_agents_waiting_call_run(server, place, sign_in, tmp_path):
    walk = Walk(tmp_path, server, "claude-code", place.tokens, "--wait", "50")
    session = str(uuid.uuid4())
    page = sign_in()
    expect(page.locator("icp-live")).to_contain_text("Live")
    steps = [
        Step("held", walk.write("docs/design.md"), lambda: server.select(place.tokens["agent"], session)),
    ]
    agent = threading.Thread(target=walk.start, args=(steps, None, "--session-id", session), daemon=True)
    agent.start()
    page.locator("#column-queue").get_by_text("docs/design.md").click(timeout=60_000)
    assert not walk.there("docs/design.md")
    page.get_by_role("button", name="Approve once").click()
    agent.join(60)
    assert "File created" in walk.told["held"], walk.output
    assert (walk.machine.repository / "docs/design.md").read_text() == TEXT
