"""The governance section of the prompt, and which tools are offered with it."""

from __future__ import annotations

import pytest

from intents.models import Intent
from tests import builders

pytestmark = pytest.mark.django_db


def test_the_prompt_holds_the_mandate_only_before_the_selection(acme, agent):
    builders.intent(acme)
    mandate = (
        "You are an Intent-Driven Architect. You CANNOT write code immediately. Your first action MUST be to analyze"
        " the user request and call select_active_intent to load the necessary context."
    )
    relaxed = (
        "Analysis and read-only actions are permitted, but an active intent is still required for mutations"
        " (writes/commands)."
    )
    opened = agent.post("sessions", {"session_id": "s-1"}).json()
    assert mandate in opened["prompt"].splitlines()
    assert relaxed in opened["prompt"].splitlines()
    assert "INT-001" in opened["prompt"]
    assert [one["id"] for one in opened["available_intents"]] == ["INT-001"]
    agent.select("INT-001")
    prompt = agent.get("sessions/s-1/prompt").json()["prompt"]
    assert mandate not in prompt
    assert "src/auth/**" in prompt


def test_preflight_offers_only_safe_tools_and_the_handshake_before_the_selection(acme, agent):
    builders.intent(acme)
    agent.post("sessions", {"session_id": "s-1"})
    tools = [
        "Read",
        {"name": "Write"},
        {"name": "select_active_intent"},
        "Bash",
        {"function": {"name": "Grep"}},
    ]
    before = agent.post("sessions/s-1/preflight", {"tools": tools}).json()
    assert before["ok"] is True
    assert before["tools"] == ["Read", {"name": "select_active_intent"}, {"function": {"name": "Grep"}}]
    agent.select("INT-001")
    after = agent.post("sessions/s-1/preflight", {"tools": tools}).json()
    assert (after["ok"], after["tools"]) == (True, tools)


def test_preflight_says_when_the_intent_is_no_longer_active(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    Intent.objects.update(status="COMPLETED")
    answer = agent.post("sessions/s-1/preflight", {}).json()
    assert (answer["ok"], answer["error_type"]) == (False, "MISSING_OR_INVALID_INTENT")
    assert "completed" in answer["error"].lower()


def test_preflight_says_when_there_is_no_registry(agent, acme):
    agent.post("sessions", {"session_id": "s-1"})
    answer = agent.post("sessions/s-1/preflight", {}).json()
    assert (answer["ok"], answer["error_type"]) == (False, "ORCHESTRATION_UNAVAILABLE")


@pytest.mark.parametrize(("when", "may_read"), [("deny_all", False), ("deny_destructive", True)])
def test_an_empty_registry_promises_only_what_the_gate_allows(acme, agent, when, may_read):
    acme.policy = {"when_unavailable": when}
    acme.save()
    opened = agent.post("sessions", {"session_id": "s-1"}).json()
    allowed = agent.gate("Read", file_path="src/a.ts")["decision"] == "allow"
    offered = agent.post("sessions/s-1/preflight", {"tools": ["Read", "select_active_intent"]}).json()
    assert allowed is may_read
    assert ("read-only actions are permitted" in opened["prompt"]) is may_read
    assert offered["tools"] == (["Read"] if may_read else []) + ["select_active_intent"]


def test_a_session_learns_that_its_intent_was_excluded(acme, agent):
    builders.intent(acme)
    agent.select("INT-001")
    acme.intentignore = "intent: INT-001\n"
    acme.save()
    answer = agent.post("sessions/s-1/preflight", {}).json()
    assert (answer["ok"], answer["error_type"], answer["reason"]) == (False, "INTENT_IGNORED", "intentignore")
    assert "excluded by an `intent:` line" in answer["prompt"]
