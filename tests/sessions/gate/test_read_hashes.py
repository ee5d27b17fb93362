"""An allowed read brings the file's hash, so that a client can send it back with a write."""

from __future__ import annotations

import pytest

from tests import builders
from tests.sessions.adapters import captured

pytestmark = pytest.mark.django_db


@pytest.fixture
def known(acme, agent):
    """A file whose newest hash the ledger knows; the answer to its trace holds the hash."""
    builders.intent(acme, owned_scope=["**"])
    agent.post("sessions", {"session_id": "s-1", "agent": {"name": "claude-code"}, "root": "/workspace"})
    agent.select("INT-001")
    agent.post("sessions/s-1/traces", {"path": "app.py", "content": "x"})
    return agent


def test_the_hash_of_a_read_lets_a_write_pass_until_the_file_changes(known):
    answer = known.gate("Read", file_path="app.py")
    digest = answer["content_hashes"]["app.py"]
    assert answer["context"] == f"[content_hash: {digest}] app.py"
    write = {"file_path": "app.py", "content": "y", "expected_content_hash": digest}
    assert known.gate("Write", **write)["decision"] == "allow"
    known.post("sessions/s-1/traces", {"path": "app.py", "content": "z"})
    assert known.gate("Write", **write)["error_type"] == "STALE_FILE"


def test_an_unknown_file_and_a_denied_one_have_no_hash(known):
    assert "content_hashes" not in known.gate("Read", file_path="other.py")
    assert "content_hashes" not in known.gate("Write", file_path="app.py", content="y")


def test_a_hook_hands_it_to_the_model(known):
    case = captured.one("claude-code", "PreToolUse-Read")
    payload = case.payload | {"session_id": "s-1", "tool_input": {"file_path": "/workspace/app.py"}}
    headers = {"Authorization": f"Bearer {known.secret}"}
    path = f"/hooks/claude-code/{case.event}"
    answer = known.client.post(path, payload, content_type="application/json", headers=headers).json()
    assert answer["hookSpecificOutput"]["additionalContext"].startswith("[content_hash: sha256:")
