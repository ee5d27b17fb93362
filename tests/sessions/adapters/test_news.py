"""An agent hears on its next hook what people decided after the last one had stopped waiting, and once."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from sessions.approvals import lifecycle
from sessions.models import Approval
from tests import builders
from tests.sessions.adapters.test_hooks_api import CLAUDE, hook, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def reviewer(acme, rex):
    return builders.speaker(acme, "reviewer", acts_for=rex)


@pytest.fixture
def asked(acme, agent):
    """An approval that a write out of scope waits for."""
    builders.intent(acme)
    agent.select("INT-001")
    hook(agent, "claude-code", "PreToolUse", write("docs/design.md"))
    return Approval.objects.get()


def decide(reviewer, approval, action="approve"):
    body = {
        "action": action,
        "comment": "Only this once.",
        **({"grant": "once"} if action == "approve" else {}),
    }
    assert reviewer.post(f"approvals/{approval.public_id}/decide", body).status_code == 200


def ask(agent, call):
    return hook(agent, "claude-code", "PreToolUse", call).json().get("hookSpecificOutput", {})


def test_an_approval_is_told_as_context_of_the_next_call_and_once(agent, reviewer, asked):
    decide(reviewer, asked)
    said = ask(agent, write("src/auth/other.ts"))
    assert said["additionalContext"] == (
        f"Approval {asked.public_id} (Write docs/design.md): approved by reviewer token: Only this once."
        " Next: send that call again, unchanged: it runs."
    )
    assert "permissionDecision" not in said
    assert ask(agent, write("src/auth/third.ts")) == {}


def test_a_rejection_is_told_in_the_next_refusal(agent, reviewer, asked):
    decide(reviewer, asked, "reject")
    said = ask(agent, write("docs/other.md"))
    assert said["permissionDecision"] == "deny"
    assert (
        "Rejected by reviewer token: Only this once. Next: do not send it again"
        in said["permissionDecisionReason"]
    )


def test_the_call_itself_is_the_news(agent, reviewer, asked):
    decide(reviewer, asked)
    assert ask(agent, write("docs/design.md")) == {}
    assert ask(agent, write("src/auth/other.ts")) == {}


def test_a_rejected_call_sent_again_is_answered_with_the_comment_once(agent, reviewer, asked):
    decide(reviewer, asked, "reject")
    assert ask(agent, write("docs/design.md"))["permissionDecisionReason"].count("Only this once.") == 1
    assert ask(agent, write("src/auth/other.ts")) == {}


def test_an_expired_request_is_told_after_the_next_tool(agent, asked):
    Approval.objects.update(expires_at=timezone.now())
    lifecycle.expire_overdue()
    payload = CLAUDE | {
        "tool_name": "Write",
        "tool_input": {"file_path": "src/auth/a.ts"},
        "tool_response": {},
    }
    said = hook(agent, "claude-code", "PostToolUse", payload).json()["hookSpecificOutput"]
    assert "it expired before anybody decided" in said["additionalContext"]


def test_a_prompt_tells_it_beside_the_mandate(agent, reviewer, asked):
    decide(reviewer, asked)
    said = hook(agent, "claude-code", "UserPromptSubmit", CLAUDE | {"prompt": "Go on."}).json()
    context = said["hookSpecificOutput"]["additionalContext"]
    assert context.index("INT-001") < context.index("approved by reviewer token")


def test_an_answer_that_no_model_reads_tells_nothing(agent, reviewer, asked):
    """Gemini CLI takes no context before a tool; its next hook after one does."""
    decide(reviewer, asked)
    call = {"session_id": "s-1", "cwd": "/workspace", "tool_name": "write_file",
            "tool_input": {"file_path": "src/auth/b.ts", "content": "x"}}  # fmt: skip
    assert hook(agent, "gemini-cli", "BeforeTool", call).json() == {}
    said = hook(agent, "gemini-cli", "AfterTool", call | {"tool_response": {}}).json()
    assert "approved by reviewer token" in said["hookSpecificOutput"]["additionalContext"]


def test_what_the_agent_has_read_itself_is_no_news(agent, reviewer, asked):
    decide(reviewer, asked)
    assert agent.get(f"approvals/{asked.public_id}").json()["status"] == "APPROVED"
    assert ask(agent, write("src/auth/other.ts")) == {}


def test_what_a_client_may_not_show_stays_news(agent, reviewer, asked):
    decide(reviewer, asked)
    assert agent.get(f"approvals/{asked.public_id}?notice=true").json()["status"] == "APPROVED"
    assert "additionalContext" in ask(agent, write("src/auth/other.ts"))


def test_another_tokens_session_of_that_name_hears_nothing(acme, agent, reviewer, asked):
    decide(reviewer, asked)
    stranger = builders.speaker(acme)
    said = hook(stranger, "claude-code", "UserPromptSubmit", CLAUDE | {"prompt": "Tell me."}).content
    assert b"approved by reviewer token" not in said
    assert Approval.objects.get().told_at is None


def test_a_call_without_news_asks_nothing_more(agent, asked):
    ask(agent, write("src/auth/a.ts"))
    with CaptureQueriesContext(connection) as captured:
        assert ask(agent, write("src/auth/other.ts")) == {}
    assert len([query for query in captured if "SAVEPOINT" not in query["sql"]]) <= 3
