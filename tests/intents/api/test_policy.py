"""REST for the policy."""

from __future__ import annotations

from dataclasses import fields

import pytest

from controlplane.policy.model import Policy
from intents.api.policy import PolicyAnswer


def test_the_policy_is_whole_and_changes_by_key(admin, agent, acme):
    assert agent.get("policy").json()["enforcement"] == "enforce"
    answer = admin.patch("policy", {"enforcement": "monitor", "safe_commands": ["pytest *"]})
    assert (answer.status_code, answer.json()["enforcement"]) == (200, "monitor")
    assert agent.get("policy").json()["safe_commands"] == ["pytest *"]
    acme.refresh_from_db()
    assert acme.revision == 2
    admin.patch("policy", {"enforcement": "monitor"})
    acme.refresh_from_db()
    assert acme.revision == 2


@pytest.mark.parametrize(
    "change",
    [{"enforce": True}, {"enforcement": "maybe"}, [], {"tool_classes": {"Bash": "SAFE"}}],
    ids=["unknown key", "unknown word", "no object", "tool that writes made safe"],
)
def test_a_policy_that_is_none_is_refused(admin, acme, change):
    answer = admin.patch("policy", change)
    assert (answer.status_code, answer.json()["error_type"]) == (400, "INVALID_POLICY")
    assert answer.json()["problems"]
    acme.refresh_from_db()
    assert acme.policy == {}


def test_openapi_describes_every_key_of_the_policy():
    assert set(PolicyAnswer().fields) == {field.name for field in fields(Policy)}
