"""The handshake as a model makes it: over MCP, in the real agents, beside the hooks that hold them."""

from __future__ import annotations

import pytest

from tests.agents.clients import AGENTS
from tests.agents.model import Step
from tests.agents.toolservers import SERVERS, tool
from tests.agents.walk import TEXT, Walk

pytestmark = pytest.mark.agents

WIDER = {"patterns": ["docs/**"], "reason": "The design is written down there."}


def test_every_agent_has_its_mcp_server():
    assert set(SERVERS) == set(AGENTS)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_model_makes_the_handshake_and_asks_for_more_scope_by_tools(server, tmp_path, agent):
    walk = Walk(tmp_path, server, agent, server.workspace(f"mcp-{agent}"))
    more = SERVERS[agent](walk.machine, f"{server.url}/mcp")
    steps = [
        Step("before", walk.write("src/auth/early.ts")),
        Step("listed", tool(agent, "list_active_intents")),
        Step("handshake", tool(agent, "select_active_intent", intent_id="INT-001")),
        Step("in scope", walk.write("src/auth/a.ts")),
        Step("asks", tool(agent, "request_scope_expansion", **WIDER)),
        Step("wider", walk.write("docs/design.md"), lambda: walk.decide("approve", "scope")),
    ]
    walk.start(steps, None, *more, ICP_TOKEN=walk.tokens["agent"])
    assert not walk.there("src/auth/early.ts"), walk.output
    assert "INT-001" in walk.told["listed"]
    context = walk.told["handshake"].replace('\\"', '"')  # Cline tells its model the answer as JSON
    assert '<intent_context intent_id="INT-001">' in context
    assert (walk.machine.repository / "src/auth/a.ts").read_text() == TEXT
    assert "A human must decide this first" in walk.told["asks"]
    assert (walk.machine.repository / "docs/design.md").read_text() == TEXT, walk.told["wider"]
