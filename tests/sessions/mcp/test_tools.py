"""What each tool does, whose session it means, and what it refuses, without the wire."""

from __future__ import annotations

import json

import pytest
from django.utils import timezone

from controlplane.api.errors import get_status_code
from controlplane.models import Workspace
from controlplane.shared.errors import DomainError
from controlplane.shared.tokens import find_bearer
from intents.models import Intent
from intents.proposals import MAX_OPEN_PROPOSALS
from sessions.mcp import session_binding
from sessions.mcp.server import run
from sessions.mcp.session_binding import RECENT, Caller, has_intent, read_caller
from sessions.mcp.tools import TOOLS
from sessions.models import AgentSession, Approval
from tests import builders
from traces.lessons.store import load_lessons
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db

PROPOSAL = {"name": "Search", "description": "Find things", "owned_scope": ["src/search/**"]}
WAYS = {
    "request_scope_expansion": {"patterns": ["docs/**"], "reason": "The docs name it"},
    "complete_intent": {"verification_notes": "All tests pass"},
    "record_lesson": {"problems": "The fixture was stale"},
}


@pytest.fixture
def work(acme):
    return builders.intent(acme)


def caller(speaker, **headers):
    return read_caller(find_bearer(speaker.secret), {f"x-icp-{name}": text for name, text in headers.items()})


def refusal(speaker, tool, **arguments):
    with pytest.raises(DomainError) as refused:
        run(speaker if isinstance(speaker, Caller) else caller(speaker), tool, arguments)
    return refused.value


def say(speaker, tool, **arguments):
    return run(speaker if isinstance(speaker, Caller) else caller(speaker), tool, arguments)


def test_a_client_without_hooks_walks_from_the_handshake_to_completion(agent, work):
    assert "INT-001 [PENDING] Work of INT-001" in say(agent, "list_active_intents")
    taken = say(agent, "select_active_intent", intent_id="INT-001")
    session = AgentSession.objects.get()
    assert taken.startswith(f"Your session_id is {session.session_id}")
    assert '<intent_context intent_id="INT-001">' in taken
    assert "src/auth/**" in say(agent, "get_intent_context")
    asked = say(agent, "request_scope_expansion", **WAYS["request_scope_expansion"])
    approval = Approval.objects.get()
    assert approval.public_id in asked
    shown = json.loads(say(agent, "gate_status", approval_id=approval.public_id))
    assert (shown["status"], shown["patterns"]) == ("PENDING", ["docs/**"])
    assert say(agent, "record_lesson", **WAYS["record_lesson"]) == "The lesson is recorded."
    assert load_lessons(work.workspace_id)[0].intent_id == "INT-001"
    assert "A human must decide" in say(agent, "complete_intent", **WAYS["complete_intent"])
    status = json.loads(say(agent, "gate_status"))
    assert status["session"]["intent_id"] == "INT-001"
    assert {one["kind"] for one in status["newest_approvals"]} == {"scope", "completion"}


def test_the_file_of_a_lesson_is_placed_by_the_sessions_root(agent, work):
    agent.post("sessions", {"session_id": "s-1", "root": "/srv/shop"})
    agent.select("INT-001")
    for number, file in enumerate(("/srv/shop/src/auth/a.ts", "./src/auth/a.ts", "/etc/passwd")):
        say(agent, "record_lesson", problems=f"no {number}", file=file)
    assert [one.file for one in load_lessons(work.workspace_id)] == [
        "src/auth/a.ts",
        "src/auth/a.ts",
        "/etc/passwd",
    ]


def test_a_decision_is_recorded_as_one(agent, work):
    agent.select("INT-001")
    say(agent, "record_lesson", problems="Money is kept in cents", section="decision")
    [decision] = load_lessons(work.workspace_id)
    assert (decision.section, decision.session_id) == ("decision", "s-1")
    with pytest.raises(DomainError):
        say(agent, "record_lesson", problems="x", section="poem")
    assert len(load_lessons(work.workspace_id)) == 1


@pytest.mark.parametrize("tool", WAYS)
def test_before_the_handshake_the_acting_tools_refuse(agent, work, tool):
    assert not has_intent(caller(agent))
    refused = refusal(agent, tool, **WAYS[tool])
    assert refused.error.startswith("You must cite a valid active Intent ID.")
    assert "select_active_intent" in refused.error
    assert not Approval.objects.exists()


def test_the_hooks_handshake_and_the_clients_call_of_it_are_one(agent, work):
    claude = {"name": "claude-code"}
    agent.gate("mcp__icp__select_active_intent", "s-1", intent_id="INT-001", agent=claude)
    assert "<intent_context" in say(agent, "select_active_intent", intent_id="INT-001")
    assert AgentSession.objects.count() == 1
    builders.intent(work.workspace, "INT-002")
    refused = refusal(agent, "select_active_intent", intent_id="INT-002")
    assert refused.error_type == "INTENT_LOCKED"


def test_of_several_sessions_the_one_whose_hook_let_the_call_pass_is_meant(agent, work):
    builders.intent(work.workspace, "INT-002", owned_scope=["lib/**"])
    agent.select("INT-001", "s-1")
    agent.select("INT-002", "s-2")
    lesson = WAYS["record_lesson"]
    ambiguous = refusal(agent, "record_lesson", **lesson)
    assert (get_status_code(ambiguous), ambiguous.error_type) == (409, "SESSION_UNKNOWN")
    assert "s-1" in ambiguous.error
    assert "s-2" in ambiguous.error
    agent.gate("mcp__icp__record_lesson", "s-2", **lesson)
    say(agent, "record_lesson", **lesson)
    assert load_lessons(work.workspace_id)[0].intent_id == "INT-002"
    agent.gate("mcp__icp__record_lesson", "s-1", **lesson)
    assert refusal(agent, "record_lesson", **lesson).error_type == "SESSION_UNKNOWN"


def test_the_same_call_of_two_sessions_is_told_apart_by_time(agent, work, monkeypatch):
    builders.intent(work.workspace, "INT-002", owned_scope=["lib/**"])
    agent.select("INT-001", "s-1")
    agent.select("INT-002", "s-2")
    agent.gate("mcp__icp__gate_status", "s-1")
    agent.gate("mcp__icp__gate_status", "s-2")
    asked = LedgerEntry.objects.filter(tool="mcp__icp__gate_status").order_by("pk")
    first, second = asked.values_list("received_at", flat=True)
    gap = second - first

    def at(moment, *windows):
        monkeypatch.setattr(timezone, "now", lambda: moment)
        monkeypatch.setattr(session_binding, "RECENT", windows)

    at(second + gap / 2, gap, RECENT[-1])  # the later one at once
    assert json.loads(say(agent, "gate_status"))["session"]["session_id"] == "s-2"
    at(second + 2 * gap, gap, RECENT[-1])  # neither at once, both within the longer time
    assert refusal(agent, "gate_status").error_type == "SESSION_UNKNOWN"
    at(second + 2 * gap, gap, 2.5 * gap)  # the later one within the longer time
    assert json.loads(say(agent, "gate_status"))["session"]["session_id"] == "s-2"


def test_a_wrapped_call_ties_as_well(agent, work):
    builders.intent(work.workspace, "INT-002", owned_scope=["lib/**"])
    agent.select("INT-001", "s-1")
    agent.select("INT-002", "s-2")
    wrapped = {"mcp_server_name": "icp", "mcp_tool_name": "record_lesson"}
    agent.gate("pre_mcp_tool_use", "s-1", **wrapped, mcp_tool_arguments=WAYS["record_lesson"])
    other = {"mcp_server_name": "other", "mcp_tool_name": "record_lesson"}
    agent.gate("pre_mcp_tool_use", "s-2", **other, mcp_tool_arguments=WAYS["record_lesson"])
    say(agent, "record_lesson", **WAYS["record_lesson"])
    assert load_lessons(work.workspace_id)[0].intent_id == "INT-001"


def test_an_argument_or_a_header_names_the_session(agent, work):
    agent.select("INT-001", "s-1")
    agent.gate("Read", "s-2", file_path="a.md")
    assert json.loads(say(agent, "gate_status", session_id="s-1"))["session"]["session_id"] == "s-1"
    assert json.loads(say(caller(agent, session="s-2"), "gate_status"))["session"]["session_id"] == "s-2"
    say(caller(agent, session="s-9", agent="my-agent"), "gate_status")
    assert AgentSession.objects.get(session_id="s-9").agent_name == "my-agent"


def test_the_agents_header_tells_its_sessions_from_others_of_the_token(agent, work):
    agent.select("INT-001", "s-1")  # of claude-code
    agent.gate("Read", "s-2", file_path="a.md", agent={"name": "codex"})
    told = json.loads(say(caller(agent, agent="codex"), "gate_status"))
    assert told["session"]["session_id"] == "s-2"
    assert has_intent(caller(agent, agent="claude-code"))
    assert not has_intent(caller(agent, agent="codex"))


def test_a_header_that_the_client_did_not_fill_in_is_refused(agent, work):
    for text in ("${CLAUDE_SESSION}", "$SESSION", "{env:SESSION}"):
        assert "Remove the header" in refusal(caller(agent, session=text), "gate_status").error
    assert not AgentSession.objects.exists()


@pytest.mark.parametrize("tool", ["gate_status", "select_active_intent", *WAYS])
def test_another_tokens_session_is_never_meant(acme, agent, work, tool):
    other = builders.speaker(acme)
    agent.select("INT-001", "s-1")
    arguments = {"select_active_intent": {"intent_id": "INT-001"}, "gate_status": {}} | WAYS
    named = refusal(other, tool, session_id="s-1", **arguments[tool])
    assert get_status_code(named) == 403
    headed = refusal(caller(other, session="s-1"), tool, **arguments[tool])
    assert get_status_code(headed) == 403
    assert get_status_code(refusal(other, tool, **arguments[tool])) == 409
    assert not Approval.objects.exists()
    assert not load_lessons(acme.pk)


def test_a_session_of_the_same_id_elsewhere_is_another_one(agent, work, max_):
    stranger = builders.speaker(Workspace.objects.get(slug="elsewhere"))
    agent.select("INT-001", "s-1")
    assert get_status_code(refusal(stranger, "gate_status", session_id="s-1")) == 404
    missing = refusal(stranger, "get_intent_context", intent_id="INT-001")
    assert missing.error.endswith("Known intents: none.")


def test_an_unknown_session_is_refused_but_opened_by_the_handshake(agent, work):
    assert get_status_code(refusal(agent, "gate_status", session_id="made-up")) == 404
    assert not AgentSession.objects.exists()
    say(agent, "select_active_intent", intent_id="INT-001", session_id="mine")
    assert AgentSession.objects.get().session_id == "mine"


def test_an_ended_session_refuses_with_what_to_do(agent, work):
    agent.select("INT-001", "s-1")
    agent.post("sessions/s-1/end")
    refused = refusal(agent, "complete_intent", session_id="s-1", **WAYS["complete_intent"])
    assert "Start a new session" in refused.error


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("select_active_intent", {}, "'intent_id' is a required property"),
        ("select_active_intent", {"intent_id": 7}, "intent_id: 7 is not of type 'string'"),
        ("select_active_intent", {"intent_id": "INT-001", "force": True}, "'force' was unexpected"),
        ("request_scope_expansion", {"patterns": [], "reason": "x"}, "patterns: [] should be non-empty"),
        ("gate_status", {"session_id": "a" * 201}, "session_id:"),
        ("no_such_tool", {}, "There is no tool 'no_such_tool'"),
    ],
)
def test_bad_arguments_are_told_apart(agent, work, tool, arguments, said):
    assert said in refusal(agent, tool, **arguments).error
    assert not AgentSession.objects.exists()


def test_control_characters_in_a_session_id_are_refused(agent, work):
    assert "control" in refusal(agent, "gate_status", session_id="s\u202e1").error
    assert refusal(agent, "gate_status", session_id="s\x00").error_type == "INVALID_INPUT"
    assert refusal(agent, "select_active_intent", intent_id="INT-001\x00").error_type == "INVALID_INPUT"


def test_refusals_repeat_no_secret(agent, work):
    secret = "ghp_" + "a" * 36
    refused = refusal(agent, "select_active_intent", intent_id=[secret])
    assert secret not in refused.error


def test_a_bad_pattern_is_told(agent, work):
    agent.select("INT-001", "s-1")
    refused = refusal(agent, "request_scope_expansion", patterns=["docs/"], reason="why")
    assert "[docs/] ends in a slash" in refused.error
    assert not Approval.objects.exists()


def test_a_proposed_intent_waits_for_an_admin(acme, agent, admin, ada, work):
    agent.gate("Read", "s-1", file_path="a.md", agent={"name": "claude-code"})
    said = say(agent, "propose_intent", **PROPOSAL)
    proposed = Intent.objects.get(intent_id="INT-002")
    assert proposed.intent_id in said
    assert (proposed.status, proposed.extra["proposed_by"]) == ("BLOCKED", "claude-code")
    entry = LedgerEntry.objects.filter(kind="intent", intent_id="INT-002").get()
    assert entry.workspace_id == acme.pk
    refused = refusal(agent, "select_active_intent", intent_id="INT-002")
    assert "Proposed by claude-code: an admin has not accepted it yet." in refused.error
    assert "INT-002" not in say(agent, "list_active_intents")
    page = builders.signed_in(ada).get("/w/acme/intents/")
    assert "proposed by <" in page.content.decode(), page.content.decode()[
        page.content.decode().find("proposed by") - 200 :
    ][:400]
    assert agent.patch("intents/INT-002", {"status": "IN_PROGRESS", "version": 1}).status_code == 403
    accepted = admin.patch("intents/INT-002", {"status": "IN_PROGRESS", "version": proposed.version})
    assert accepted.status_code == 200, accepted.content
    assert "<intent_context" in say(agent, "select_active_intent", intent_id="INT-002")


def test_no_proposal_makes_an_empty_registry_available(acme, agent):
    assert refusal(agent, "propose_intent", **PROPOSAL).error_type == "PROPOSAL_REFUSED"
    assert not Intent.objects.exists()


def test_proposals_are_masked_checked_and_few(agent, work):
    bad = refusal(agent, "propose_intent", **PROPOSAL | {"owned_scope": ["/etc/**"]})
    assert bad.error_type == "PROPOSAL_REFUSED"
    assert refusal(agent, "propose_intent", **PROPOSAL, status="IN_PROGRESS").error_type == "INVALID_INPUT"
    secret = "ghp_" + "a" * 36
    for number in range(MAX_OPEN_PROPOSALS):
        say(agent, "propose_intent", **PROPOSAL | {"name": f"{secret} {number}"})
    assert "wait for an admin" in refusal(agent, "propose_intent", **PROPOSAL).error
    assert not Intent.objects.filter(name__contains=secret).exists()
    assert Intent.objects.filter(status="BLOCKED").count() == MAX_OPEN_PROPOSALS


def test_by_cursors_name_of_the_tool_another_server_may_run_commands(agent, work):
    answer = agent.gate("MCP:run_command", "s-1", session_id="s-1", dry_run=True)
    assert answer["classification"] == "destructive"


def test_commands_are_run_by_the_clients_program_only(agent, work):
    agent.gate("Read", "s-1", session_id="s-1")
    assert refusal(agent, "run_command", command="ls").error_type == "NO_PROGRAM"


def test_the_program_is_told_on_which_terms_it_may_run_a_command(agent, work):
    machine = {"root": "/srv/acme", "containment": {"overlay": True, "landlock": 7}}
    program = caller(agent, client=json.dumps(machine))
    say(program, "select_active_intent", intent_id="INT-001")
    terms = json.loads(say(program, "run_command", command="npm test"))["containment"]
    assert (terms["network"], terms["writable"]) == ("none", ["src/auth/**"])
    assert json.loads(say(program, "run_command", command="echo x > src/auth/a.ts"))["containment"]
    assert json.loads(say(program, "run_command", command="ls"))["containment"] is None
    assert refusal(program, "run_command", command="touch docs/x.md").error_type == "SCOPE_VIOLATION"


@pytest.mark.parametrize("client", ["{", "[]", '{"token": "x"}'])
def test_what_a_program_says_of_its_machine_is_checked(agent, client):
    with pytest.raises(DomainError, match="X-ICP-Client"):
        caller(agent, client=client)


@pytest.mark.parametrize("tool", [name for name in TOOLS if name != "run_command"])
def test_the_gate_lets_our_own_tools_pass_before_the_handshake(agent, work, tool):
    for spelled in (
        f"mcp__icp__{tool}",
        f"mcp_icp_{tool}",
        f"icp_{tool}",
        f"icp-{tool}",
        f"icp__{tool}",
        f"MCP:{tool}",
    ):
        answer = agent.gate(spelled, "s-1", session_id="s-1", dry_run=True)
        assert answer["classification"] in {"safe", "handshake"}, (spelled, answer)
        if answer["classification"] == "safe":
            assert answer["decision"] == "allow"


def test_the_hooks_own_tool_is_not_for_models(agent, work):
    assert agent.gate("mcp__icp__gate_tool_call", hook_event_name="PostToolUse")["decision"] != "allow"


def test_a_model_proves_criteria_and_is_told_what_is_missing(acme, agent):
    builders.intent(acme, acceptance_criteria=["It works", "It is fast"])
    agent.select("INT-001")
    agent.post("sessions/s-1/traces", {"path": "src/auth/a.ts", "content": "x\n"})
    assert agent.gate("Bash", command="git status")["decision"] == "allow"
    evidence = [
        {"type": "trace", "path": "src/auth/a.ts"},
        {"type": "command", "command": "git status", "exit_status": 0},
        {"type": "note", "text": "Read\nthrough it"},
    ]
    claims = [{"criterion": 1, "evidence": evidence}]
    said = say(agent, "complete_intent", **WAYS["complete_intent"], acceptance_evidence=claims)
    proof = "changed src/auth/a.ts; git status ended with 0; Read through it"
    assert said.splitlines()[-2:] == [
        f"[claimed] It works: {proof}",
        "[open] It is fast: no evidence",
    ]
    approval = json.loads(say(agent, "gate_status"))["newest_approvals"][0]
    assert [piece["type"] for piece in approval["acceptance_evidence"][0]["evidence"]] == [
        "trace",
        "command",
        "note",
    ]
    assert '<criterion status="claimed">It works</criterion>' in say(agent, "get_intent_context")


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ([{"criterion": "It flies", "evidence": [{"type": "note", "text": "x"}]}], "1. It works"),
        ([{"criterion": 1, "evidence": [{"type": "trace", "path": "a.ts"}]}], "no change of 'a.ts'"),
        ([{"criterion": 1}], "'evidence' is a required property"),
        ("done", "is not of type 'array'"),
    ],
    ids=["criterion", "evidence", "form", "no list"],
)
def test_a_model_is_told_why_a_claim_does_not_hold(agent, work, claims, words):
    agent.select("INT-001")
    refused = refusal(agent, "complete_intent", **WAYS["complete_intent"], acceptance_evidence=claims)
    assert (get_status_code(refused), words in refused.error) == (400, True), refused.error
    assert not Approval.objects.exists()
