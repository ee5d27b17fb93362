"""The handshake as a model makes it: over MCP, in the real agents, beside the hooks that hold them.

Nothing but `icp connect` has configured either, and no token is in the agents' environment.
"""

from __future__ import annotations

import pytest

from tests.agents.clients import AGENTS, tool
from tests.agents.model import Step
from tests.agents.walk import TEXT, Walk

pytestmark = pytest.mark.agents

WIDER = {"patterns": ["docs/**"], "reason": "The design is written down there."}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_model_makes_the_handshake_and_asks_for_more_scope_by_tools(server, tmp_path, agent):
    walk = Walk(tmp_path, server, agent, server.workspace(f"mcp-{agent}"))
    for other in ("other-1", "other-2"):  # live sessions of the same token and agent
        opened = {"session_id": other, "agent": {"name": agent}}
        assert server.api(walk.tokens["agent"], "POST", "sessions", opened)[0] < 300
    steps = [
        Step("before", walk.write("src/auth/early.ts")),
        Step("listed", tool(agent, "list_active_intents")),
        Step("handshake", tool(agent, "select_active_intent", intent_id="INT-001")),
        Step("in scope", walk.write("src/auth/a.ts")),
        Step("asks", tool(agent, "request_scope_expansion", **WIDER)),
        Step("wider", walk.write("docs/design.md"), lambda: walk.decide("approve", "scope")),
    ]
    walk.start(steps)
    assert not walk.there("src/auth/early.ts"), walk.output
    assert "INT-001" in walk.told["listed"]
    context = walk.told["handshake"].replace('\\"', '"')  # Cline tells its model the answer as JSON
    assert '<intent_context intent_id="INT-001">' in context
    assert (walk.machine.repository / "src/auth/a.ts").read_text() == TEXT
    assert "A human must decide this first" in walk.told["asks"]
    assert (walk.machine.repository / "docs/design.md").read_text() == TEXT, walk.told["wider"]
    for other in ("other-1", "other-2"):
        assert server.api(walk.tokens["reviewer"], "GET", f"sessions/{other}")[1]["intent_id"] is None
