"""`POST /hooks/{agent}/{event}` from the outside, with what real clients send."""

from __future__ import annotations

import hashlib

import pytest
import yaml
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from sessions.gate.monitoring.health import UNGATED, GateHealth, compute_health
from sessions.models import AgentSession, Approval
from tests import builders
from tests.sessions.adapters import captured
from traces.models import LedgerEntry, TraceFile

pytestmark = pytest.mark.django_db

CLAUDE = {"session_id": "s-1", "cwd": "/workspace"}
OLD, NEW = "a = 1\nb = 2\n", "a = 10\nb = 2\n"
TWO_LINES = "export const one = 1;\nexport const two = 2;\n"


def sha(text):
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def hook(speaker, agent, event, payload, query=""):
    path = f"/hooks/{agent}/{event}{query}"
    headers = {"Authorization": f"Bearer {speaker.secret}"}
    return speaker.client.post(path, payload, content_type="application/json", headers=headers)


def replay(speaker, agent, name, **more):
    case = captured.one(agent, name)
    answer = hook(speaker, agent, case.event, case.payload | more)
    assert answer.status_code == 200, answer.content
    return answer


def write(path="src/auth/login.ts"):
    return CLAUDE | {"tool_name": "Write", "tool_input": {"file_path": path, "content": "x"}}


@pytest.fixture
def everywhere(acme):
    """An intent that may change every file of the captured payloads."""
    return builders.intent(acme, owned_scope=["**"])


def test_before_the_handshake_a_write_is_refused_in_the_clients_words(agent, everywhere):
    answer = hook(agent, "claude-code", "PreToolUse", write())
    said = answer.json()["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert said["permissionDecisionReason"].startswith("You must cite a valid active Intent ID.")
    assert Approval.objects.get().public_id in said["permissionDecisionReason"]
    assert answer["X-ICP-Decision"] == "ask"


def test_no_objection_leaves_the_clients_own_prompt_in_place(agent, everywhere):
    agent.select("INT-001")
    answer = hook(agent, "claude-code", "PreToolUse", write())
    assert (answer.json(), answer["X-ICP-Decision"]) == ({}, "allow")


def test_an_allowed_call_takes_no_more_statements_than_at_the_gate(agent, everywhere):
    agent.select("INT-001")
    hook(agent, "claude-code", "PreToolUse", write())
    with CaptureQueriesContext(connection) as captured_queries:
        assert hook(agent, "claude-code", "PreToolUse", write("src/auth/other.ts")).json() == {}
    assert len([query for query in captured_queries if "SAVEPOINT" not in query["sql"]]) <= 3


def test_out_of_scope_then_approved_the_same_call_runs(acme, agent, rex):
    builders.intent(acme)
    agent.select("INT-001")
    call = write("docs/design.md")
    refused = hook(agent, "claude-code", "PreToolUse", call).json()["hookSpecificOutput"]
    assert "Scope Violation: INT-001 is not authorized to edit [docs/design.md]" in str(refused)
    assert "send the same call again" in refused["permissionDecisionReason"]
    reviewer = builders.speaker(acme, "reviewer", acts_for=rex)
    approval = Approval.objects.get().public_id
    decided = reviewer.post(f"approvals/{approval}/decide", {"action": "approve", "grant": "once"})
    assert decided.status_code == 200, decided.content
    assert hook(agent, "claude-code", "PreToolUse", call).json() == {}


@pytest.mark.parametrize(
    ("name", "query", "seconds"),
    [("copilot", "?wait_seconds=50", "25"), ("claude-code", "?wait_seconds=50", "50"), ("cline", "", None)],
)
def test_a_hook_is_held_no_longer_than_the_client_waits(agent, everywhere, name, query, seconds):
    payload = write() if name != "cline" else captured.one("cline", "PreToolUse-editor").payload
    answer = hook(agent, name, "PreToolUse", payload, query)
    approval = Approval.objects.get().public_id
    assert answer.get("X-ICP-Hold") == (f"{approval};{float(seconds)}" if seconds else None)


def test_the_handshake_is_made_by_the_hook_and_its_context_reaches_the_model(agent, everywhere):
    payload = CLAUDE | {
        "tool_name": "mcp__icp__select_active_intent",
        "tool_input": {"intent_id": "INT-001"},
    }
    said = hook(agent, "claude-code", "PreToolUse", payload).json()["hookSpecificOutput"]
    assert '<intent_context intent_id="INT-001">' in said["additionalContext"]
    assert "permissionDecision" not in said
    assert AgentSession.objects.get().selected_intent_id == "INT-001"


def test_start_and_prompt_bring_the_governance_section(agent, everywhere):
    started = replay(agent, "codex", "SessionStart").json()["hookSpecificOutput"]
    asked = replay(agent, "codex", "UserPromptSubmit").json()["hookSpecificOutput"]
    assert "You are an Intent-Driven Architect." in started["additionalContext"]
    assert asked == started | {"hookEventName": "UserPromptSubmit"}
    session = AgentSession.objects.get()
    assert (session.agent_name, session.agent_model, session.root) == ("codex", "gpt-5.5", "/workspace")


def test_the_end_ends_the_session(agent, everywhere):
    replay(agent, "codex", "SessionStart")
    replay(agent, "codex", "SessionEnd")
    assert AgentSession.objects.get().ended


def recorded():
    return {row.path: (row.content_hash, row.deleted) for row in TraceFile.objects.order_by("pk")}


@pytest.mark.parametrize(
    ("name", "file", "wanted"),
    [
        ("claude-code", "PostToolUse-Write", {"src/new.txt": sha("hi\n")}),
        ("claude-code", "PostToolUse-Edit", {"app.py": sha(NEW)}),
        ("gemini-cli", "AfterTool-replace", {"app.py": sha(NEW)}),
        ("qwen-code", "PostToolUse-edit", {"app.py": sha(NEW)}),
        ("opencode", "tool.execute.after-write", {"src/new.txt": sha("hi\n")}),
        ("codex", "PostToolUse-apply_patch", {"src/new.txt": sha("hi\n"), "README.md": None}),
        ("copilot", "postToolUse-create-subagent", {"sub.txt": sha("from the sub-agent\n")}),
        ("copilot", "postToolUse-edit", {}),
        ("cursor", "postToolUse-Write", {"src/auth/a.ts": sha(TWO_LINES)}),
        ("cursor", "postToolUse-Write-subagent", {"docs/helper.md": sha("hi\n")}),
        ("cursor", "postToolUse-Delete", {"README.md": None}),
        ("cursor", "postToolUse-Shell-2", {}),
        ("cline", "PostToolUse-read_files", {}),
        ("cline", "PostToolUse-editor", {"src/new.txt": sha("hi\n")}),
        ("cline", "afterTool-editor", {"src/auth/a.ts": sha(TWO_LINES)}),
        ("cline", "afterTool-editor-2", {}),
        ("cline", "afterTool-editor-3", {}),
        ("claude-code", "PostToolUseFailure-Bash", {}),
    ],
)
def test_what_was_written_is_recorded_with_its_hash(agent, everywhere, name, file, wanted):
    place = {"directory": "/workspace"} if name == "opencode" else {}
    replay(agent, name, file, **place)
    found = recorded()
    assert set(found) == set(wanted)
    for path, content_hash in wanted.items():
        assert found[path] == ((content_hash, False) if content_hash else (found[path][0], True))


def test_only_the_lines_that_changed_are_meant(agent, everywhere):
    replay(agent, "claude-code", "PostToolUse-Edit")
    entries = builders.speaker(AgentSession.objects.get().workspace, "reviewer").get("traces").json()
    (file,) = entries["results"][0]["files"]
    (told,) = file["conversations"][0]["ranges"]
    assert (told["start_line"], told["end_line"]) == (1, 1)


def test_what_the_hooks_client_measured_stands_for_what_no_payload_holds(agent, everywhere):
    measured = {"current_content_hashes": {"sh.txt": sha("hi\n")}, "revision_id": "c0ffee"}
    replay(agent, "claude-code", "PostToolUse-Bash", icp=measured)
    assert recorded() == {"sh.txt": (sha("hi\n"), False)}
    assert AgentSession.objects.get().revision_id == "c0ffee"


def report_failure(agent, command, **hashes):
    payload = {
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "error": "Exit code 1",
        "session_id": "s-1",
    }
    fields = {"root": "/workspace", "current_content_hashes": hashes}
    return hook(agent, "claude-code", "PostToolUseFailure", payload | {"cwd": "/workspace", "icp": fields})


def test_a_failed_command_is_recorded_with_what_it_had_written(agent, everywhere):
    command = "echo x > app.py && false"
    assert report_failure(agent, command, **{"app.py": sha("x\n")}).status_code == 200
    assert recorded() == {"app.py": (sha("x\n"), False)}
    report_failure(agent, command, **{"app.py": sha("x\n")})
    assert LedgerEntry.objects.filter(kind="trace").count() == 1, "what the ledger has is not news"


@pytest.mark.parametrize("command", ["cat app.py; false", "rm app.py"])
def test_of_a_failed_command_only_writes_count(agent, everywhere, command):
    report_failure(agent, command, **{"app.py": sha("x\n")})
    assert recorded() == {}


def test_a_formatter_that_ran_afterwards_is_believed_before_the_payload(agent, everywhere):
    measured = {"current_content_hashes": {"src/new.txt": sha("formatted")}}
    replay(agent, "claude-code", "PostToolUse-Write", icp=measured)
    assert recorded()["src/new.txt"] == (sha("formatted"), False)


def test_traces_without_gate_calls_are_an_alarm(agent, everywhere, caplog):
    replay(agent, "claude-code", "SessionStart")
    session = AgentSession.objects.get()
    assert compute_health(session).state is GateHealth.SILENT
    replay(agent, "claude-code", "PostToolUse-Write")
    assert compute_health(session) == UNGATED
    assert "run only in part" in caplog.text
    replay(agent, "claude-code", "PostToolUse-Edit")
    assert LedgerEntry.objects.filter(kind="session", outcome="alert").count() == 1
    replay(agent, "claude-code", "PreToolUse-Read")
    assert compute_health(session).state is GateHealth.GOVERNED


DENIALS = {
    ("claude-code", "PreToolUse"): ("hookSpecificOutput", "permissionDecisionReason"),
    ("qwen-code", "PreToolUse"): ("hookSpecificOutput", "permissionDecisionReason"),
    ("copilot", "preToolUse"): ("permissionDecisionReason",),
    ("gemini-cli", "BeforeTool"): ("reason",),
    ("cursor", "preToolUse"): ("user_message",),
    ("cline", "PreToolUse"): ("errorMessage",),
    ("cline", "beforeTool"): ("reason",),
    ("opencode", "tool.execute.before"): ("throw",),
    ("windsurf", "pre_run_command"): ("stderr",),
}


def reason_in(answer, way):
    found = answer.json()
    for step in way:
        found = found[step]
    return found


@pytest.mark.parametrize(("name", "event"), DENIALS)
def test_a_bad_token_is_a_denial_in_the_clients_form(agent, client, name, event):
    agent.secret = "icp_wrong"
    answer = hook(agent, name, event, write())
    assert (answer.status_code, answer["X-ICP-Decision"]) == (200, "deny")
    assert "unknown or was revoked" in reason_in(answer, DENIALS[name, event])
    without = client.post(f"/hooks/{name}/{event}", write(), content_type="application/json")
    assert "Send a token" in reason_in(without, DENIALS[name, event])


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '{"session_id": 5, "tool_name": "Write"}'])
def test_a_malformed_body_is_a_denial(agent, body):
    answer = hook(agent, "claude-code", "PreToolUse", body)
    assert answer.json()["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert answer["X-ICP-Error"]


def test_results_of_a_tool_may_be_longer_than_an_input(agent, everywhere):
    long = "x" * 700_000
    told = {"filePath": "src/long.txt", "content": long, "originalFile": None}
    report = CLAUDE | {"tool_name": "Write", "tool_input": {"file_path": "src/long.txt", "content": long}}
    assert hook(agent, "claude-code", "PostToolUse", report | {"tool_response": told}).status_code == 200
    assert recorded() == {"src/long.txt": (sha(long), False)}
    padded = write() | {"tool_response": long * 2}
    refused = hook(agent, "claude-code", "PreToolUse", padded).json()["hookSpecificOutput"]
    assert "over 1048576 bytes" in refused["permissionDecisionReason"]


def test_an_error_of_the_server_is_a_denial(agent, everywhere, monkeypatch):
    monkeypatch.setattr("sessions.gate.check.check_steps", lambda *_: 1 / 0)
    answer = hook(agent, "claude-code", "PreToolUse", write())
    assert answer.json()["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_misspelled_or_mistaken_event_lets_nothing_through(agent, everywhere):
    misspelled = hook(agent, "claude-code", "pretooluse", write())
    mistaken = hook(agent, "claude-code", "Stop", write() | {"hook_event_name": "PreToolUse"})
    assert "no event" in misspelled.json()["hookSpecificOutput"]["permissionDecisionReason"]
    assert "correct the hook's address" in mistaken.json()["hookSpecificOutput"]["permissionDecisionReason"]
    turned = hook(agent, "claude-code", "PreToolUse", write() | {"hook_event_name": "Stop"})
    assert (turned.status_code, turned.json()["decision"]) == (400, "deny")


def test_a_prompt_that_cannot_be_answered_tells_the_model_so(agent):
    agent.secret = "icp_wrong"
    answer = replay(agent, "claude-code", "UserPromptSubmit")
    assert "unknown or was revoked" in answer.json()["hookSpecificOutput"]["additionalContext"]


def test_another_tokens_session_stays_its_own(acme, agent, everywhere):
    replay(agent, "claude-code", "SessionStart")
    other = builders.speaker(acme)
    said = replay(other, "claude-code", "PreToolUse-Write").json()["hookSpecificOutput"]
    assert "another token" in said["permissionDecisionReason"]
    case = captured.one("claude-code", "SessionEnd")
    assert hook(other, "claude-code", case.event, case.payload).status_code == 403


def test_an_unknown_agent_is_404_and_still_a_denial(agent):
    answer = hook(agent, "nobody", "PreToolUse", write())
    assert (answer.status_code, answer.json()["decision"]) == (404, "deny")


def test_a_canary_changes_nothing(agent, everywhere):
    answer = hook(agent, "claude-code", "PreToolUse", write("../canary") | {"icp": {"dry_run": True}})
    assert answer.json()["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert not AgentSession.objects.exists()


@pytest.mark.parametrize("icp", [5, {"unknown": 1}, {"wait_seconds": "long"}, {"wait_seconds": 1e9}])
def test_what_stands_beside_the_payload_is_checked(agent, icp):
    said = hook(agent, "claude-code", "PreToolUse", write() | {"icp": icp}).json()
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.deep
def test_every_captured_payload_is_answered(agent, everywhere):
    for case in captured.everything():
        answer = hook(agent, case.agent, case.event, case.payload | {"directory": "/workspace"})
        assert isinstance(answer.json(), dict)
        assert answer.status_code == 200 or answer.json()["decision"] == "deny", (case.id, answer.content)


@pytest.mark.deep
def test_the_api_document_has_the_route(client):
    document = yaml.safe_load(client.get(reverse("schema")).content)
    operation = document["paths"]["/hooks/{agent}/{event}"]["post"]
    assert operation["operationId"] == "hooks"


BAD_LINES = {
    "a list": ["a.ts"],
    "line 0": {"a.ts": [0, 1]},
    "backwards": {"a.ts": [2, 1]},
    "one": {"a.ts": [1]},
    "a text": {"a.ts": ["x", 1]},
    "beyond": {"a.ts": [1, 2**31]},
    "too many files": {f"{number}.ts": [1, 1] for number in range(501)},
}


@pytest.mark.parametrize("lines", BAD_LINES.values(), ids=BAD_LINES)
def test_changed_lines_that_cannot_be_are_refused_and_nothing_is_recorded(agent, everywhere, lines):
    case = captured.one("claude-code", "PostToolUse-Edit")
    answer = hook(agent, "claude-code", case.event, case.payload | {"icp": {"changed_lines": lines}})
    assert answer.status_code == 400
    assert "changed_lines must be an object" in answer.json()["error"]
    assert recorded() == {}


def test_the_texts_of_a_payload_count_more_than_the_lines_of_the_hook(agent, everywhere):
    replay(agent, "claude-code", "PostToolUse-Edit", icp={"changed_lines": {"app.py": [7, 9]}})
    (lines,) = TraceFile.objects.get().ranges.values_list("start_line", "end_line")
    assert lines == (1, 1)
