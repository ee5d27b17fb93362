"""The tools of the handshake by their own names, sent to the gate by REST and by the hooks of clients."""

from __future__ import annotations

import pytest

from intents.models import Intent
from sessions.models import Approval
from tests import builders
from tests.sessions.adapters import captured
from tests.sessions.mcp.in_process import ask, stay_in_the_transaction
from traces.lessons.store import load_lessons
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

# A captured call of a tool of ours in each client: the name of the tool in it is replaced.
CAPTURED = {
    "claude-code": "PreToolUse-mcp__icp__select_active_intent",
    "codex": "PreToolUse-mcp__icp__select_active_intent",
    "qwen-code": "PreToolUse-mcp__icp__select_active_intent",
    "gemini-cli": "BeforeTool-mcp_icp_select_active_intent",
    "opencode": "tool.execute.before-icp_select_active_intent",
    "kilo": "tool.execute.before-icp_select_active_intent",
    "copilot": "preToolUse-icp-select_active_intent",
    "cline": "PreToolUse-icp__select_active_intent",
    "cursor": "preToolUse-MCP-select_active_intent",
}
PATTERNS = {"patterns": ["docs/**"], "reason": "The design"}
NOTES = {"verification_notes": "All tests pass"}
LESSON = {"file": "src/auth/a.ts", "problems": "Lint failed"}


@pytest.fixture
def auth(acme):
    return builders.intent(acme)


@pytest.fixture
def working(auth, agent):
    agent.select("INT-001")
    return agent


def test_the_list_needs_no_intent_and_asks_nobody(auth, agent):
    answer = agent.gate("list_active_intents")
    assert (answer["decision"], answer["classification"]) == ("allow", "handshake")
    assert "INT-001 [PENDING]" in answer["context"]
    assert not Approval.objects.exists()


def test_the_list_is_filtered_by_status(auth, agent):
    builders.intent(auth.workspace, "INT-002", owned_scope=["b/**"])
    Intent.objects.filter(intent_id="INT-002").update(status="COMPLETED")
    assert "INT-002" in agent.gate("list_active_intents", status_filter="DONE")["context"]
    assert "INT-002" not in agent.gate("list_active_intents", status_filter="pending")["context"]
    refused = agent.gate("list_active_intents", status_filter="NONSENSE")
    assert (refused["decision"], refused["error_type"]) == ("deny", "HOOK_BLOCKED")


def test_a_scope_is_asked_for(working):
    answer = working.gate("request_scope_expansion", **PATTERNS)
    approval = Approval.objects.get()
    assert (answer["decision"], answer["approval"]["id"]) == ("allow", approval.public_id)
    assert (approval.kind, approval.call["patterns"]) == (Approval.Kind.SCOPE, ["docs/**"])


def test_an_intent_is_completed_by_a_person_or_by_policy(acme, working):
    answer = working.gate("complete_intent", intent_id="INT-001", **NOTES)
    assert answer["approval"]["id"] == Approval.objects.get(kind=Approval.Kind.COMPLETION).public_id
    acme.policy = {"completion": "agent"}
    acme.save()
    assert working.gate("complete_intent", **NOTES)["decision"] == "allow"
    assert Intent.objects.get().status == "COMPLETED"
    assert working.gate("complete_intent", **NOTES)["decision"] == "allow", "a call that comes twice"


def test_a_lesson_is_recorded(working):
    assert working.gate("record_lesson", **LESSON)["decision"] == "allow"
    (lesson,) = load_lessons(Intent.objects.get().workspace_id, limit=10)
    assert (lesson.file, lesson.problems) == ("src/auth/a.ts", "Lint failed")


@pytest.mark.parametrize("tool", ["request_scope_expansion", "complete_intent", "record_lesson"])
def test_without_an_intent_they_are_refused(auth, agent, tool):
    answer = agent.gate(tool, **PATTERNS, **NOTES, **LESSON)
    assert (answer["decision"], answer["reason"]) == ("deny", "none_selected")
    assert answer["error"].startswith("You must cite a valid active Intent ID.")


@pytest.mark.parametrize(
    ("tool", "data"),
    [
        ("complete_intent", {}),
        ("complete_intent", {"verification_notes": 5}),
        ("complete_intent", NOTES | {"intent_id": "INT-002"}),
        ("request_scope_expansion", {"patterns": "docs/**", "reason": "x"}),
        ("request_scope_expansion", {"patterns": [1], "reason": "x"}),
        ("request_scope_expansion", {"patterns": ["docs/"], "reason": "x"}),
        ("record_lesson", {"problems": "\x00"}),
        ("record_lesson", {"problems": "x", "section": ["lesson"]}),
    ],
)
def test_malformed_arguments_are_a_denial_and_do_nothing(working, tool, data):
    answer = working.gate(tool, **data)
    assert answer["decision"] == "deny"
    assert answer["error"]
    assert not Approval.objects.exists()


def test_an_empty_registry_denies_all_but_the_selection(acme, agent):
    answer = agent.gate("list_active_intents")
    assert (answer["decision"], answer["error_type"]) == ("deny", "ORCHESTRATION_UNAVAILABLE")


def test_a_dry_run_does_nothing(working):
    for tool, data in (("request_scope_expansion", PATTERNS), ("complete_intent", NOTES)):
        assert working.gate(tool, dry_run=True, **data)["decision"] == "allow"
    assert not Approval.objects.exists()


def rename(value, tool):
    """The captured payload with another of our tools in it."""
    if isinstance(value, dict):
        return {key: rename(item, tool) for key, item in value.items()}
    return value.replace("select_active_intent", tool) if isinstance(value, str) else value


def with_arguments(value, arguments):
    """The captured payload with other arguments of the tool."""
    if not isinstance(value, dict):
        return value
    if "intent_id" in value:
        return arguments
    return {key: with_arguments(item, arguments) for key, item in value.items()}


@pytest.mark.parametrize("client", CAPTURED)
def test_the_hook_of_every_client_does_their_work(acme, auth, agent, client):
    case = captured.one(client, CAPTURED[client])
    headers = {"Authorization": f"Bearer {agent.secret}"}

    def send(tool, arguments):
        payload = with_arguments(rename(case.payload, tool), arguments)
        path = f"/hooks/{client}/{case.event}"
        answer = agent.client.post(path, payload, content_type="application/json", headers=headers)
        assert (answer.status_code, answer["X-ICP-Decision"]) == (200, "allow"), (tool, answer.content)
        entry = LedgerEntry.objects.filter(kind="decision").latest("pk")
        assert entry.outcome == "allow"

    send("list_active_intents", {})
    send("select_active_intent", {"intent_id": "INT-001"})
    send("record_lesson", LESSON)
    send("request_scope_expansion", PATTERNS)
    send("complete_intent", NOTES)
    kinds = set(Approval.objects.values_list("kind", flat=True))
    assert kinds == {Approval.Kind.SCOPE.value, Approval.Kind.COMPLETION.value}
    assert len(load_lessons(acme.pk, limit=10)) == 1


def test_the_hook_and_the_mcp_call_after_it_do_the_work_once(acme, working, monkeypatch):
    stay_in_the_transaction(monkeypatch)
    acme.policy = {"completion": "agent"}
    acme.save()
    for tool, data in (("request_scope_expansion", PATTERNS), ("complete_intent", NOTES)):
        assert working.gate(f"mcp__icp__{tool}", **data)["decision"] == "allow"
        text, is_error = ask({"authorization": f"Bearer {working.secret}"}, tool, data).said
        assert not is_error, text
    assert Approval.objects.count() == 1
