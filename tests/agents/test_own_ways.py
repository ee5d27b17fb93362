"""What only one agent can do: a way of its own to write, or to have others write."""

from __future__ import annotations

import pytest

from tests.agents.clients import patch
from tests.agents.dialects import Call
from tests.agents.model import Step
from tests.agents.walk import HELP, TEXT, Walk

pytestmark = pytest.mark.agents


def test_a_teammate_in_cline_is_held_to_the_intent_of_its_session(server, tmp_path):
    walk = Walk(tmp_path, server, "cline", server.workspace("cline-team"))
    main = [
        Step("refused", walk.write("src/auth/early.ts")),
        Step("joins", Call("team_spawn_teammate", {"agentId": "mate", "rolePrompt": "You help."})),
        Step("told", Call("team_run_task", {"agentId": "mate", "task": HELP}), walk.handshake),
    ]
    helping = [
        Step("out of scope", walk.write("docs/design.md")),
        Step("around it by the shell", walk.row.shell("echo x > docs/design.md")),
        Step("in scope", walk.write("src/auth/a.ts")),
    ]
    walk.start(main, helping)
    assert "Scope Violation: INT-001" in walk.told["out of scope"], walk.output
    assert "Scope Violation" in walk.told["around it by the shell"]
    assert not walk.there("docs/design.md")
    assert (walk.machine.repository / "src/auth/a.ts").read_text() == TEXT


def test_a_patch_of_copilot_with_a_model_of_gpt_is_gated_and_recorded(server, tmp_path):
    walk = Walk(tmp_path, server, "copilot", server.workspace("copilot-patch"))
    steps = [
        Step("before", patch("src/auth/a.ts", TEXT)),
        Step("in scope", patch("src/auth/a.ts", TEXT), walk.handshake),
        Step("out of scope", patch("docs/design.md", TEXT)),
    ]
    walk.start(steps, None, "--model", "gpt-5.5")
    assert "You must cite a valid active Intent ID." in walk.told["before"], walk.output
    assert "Scope Violation: INT-001" in walk.told["out of scope"]
    assert not walk.there("docs/design.md")
    assert (walk.machine.repository / "src/auth/a.ts").read_text() == TEXT
    _, listed = walk.server.api(walk.tokens["reviewer"], "GET", "traces?path=src/auth/a.ts")
    assert len(listed["results"]) == 1
