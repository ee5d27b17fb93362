from __future__ import annotations

import pytest

from controlplane.policy.effects import DEFAULT_PERMISSIONS
from controlplane.policy.model import ErrorType, Policy, ToolClass
from controlplane.policy.rules import policy_document
from controlplane.policy.rules.policy_document import InvalidPolicyError

FULL = {
    "enforcement": "monitor",
    "when_unavailable": "deny_destructive",
    "reads_outside_workspace": "allow",
    "empty_scope": "allow",
    "shared_intents": "allow",
    "session_idle_minutes": 5,
    "completion": "agent",
    "require_mutation_class": True,
    "require_content_hash": True,
    "case_insensitive_paths": True,
    "tool_classes": {"mcp__github__get_*": "SAFE", "Read": "DESTRUCTIVE", "Lookup": "SAFE"},
    "safe_commands": ["pytest *", "npm test"],
    "effects": {"runs_project": "allow", "sends": "deny"},
    "containment": "all",
    "hosts": ["github.com", "*.example.org"],
    "places": [{"pattern": "/tmp/**", "access": "write"}],
    "protected_paths": [".git/**", "infra/{a,b}/*.tf"],
    "approvable": ["SCOPE_VIOLATION", "CONSTRAINT_VIOLATION"],
    "approval_timeout_minutes": 1,
    "conflicts": "ask",
    "freeze_after_denials": 5,
}


def wrong(document):
    return {(problem.key, problem.message) for problem in policy_document.find_problems(document)}


def test_an_empty_document_is_the_default_policy():
    assert policy_document.parse({}) == Policy()


def test_every_key_is_read():
    policy = policy_document.parse(FULL)
    assert policy.enforcement == "monitor"
    assert policy.tool_classes[0] == ("mcp__github__get_*", ToolClass.SAFE)
    assert policy.safe_commands == ("pytest *", "npm test")
    assert policy.approvable == {ErrorType.SCOPE_VIOLATION, ErrorType.CONSTRAINT_VIOLATION}
    assert policy.session_idle_minutes == 5


def test_a_policy_is_written_as_it_was_read():
    for document in ({}, FULL, {"approvable": [], "protected_paths": []}):
        policy = policy_document.parse(document)
        assert policy_document.parse(policy_document.to_document(policy)) == policy
    assert policy_document.to_document(policy_document.parse(FULL)) == {
        **FULL,
        "approvable": ["CONSTRAINT_VIOLATION", "SCOPE_VIOLATION"],
        "effects": DEFAULT_PERMISSIONS | FULL["effects"],
    }


def test_an_unknown_key_is_refused_with_the_known_ones():
    (problem,) = policy_document.find_problems({"enforcment": "off"})
    assert problem.key == "enforcment"
    assert "enforcement" in problem.allowed


def test_all_faults_are_told_at_once():
    with pytest.raises(
        InvalidPolicyError, match=r"enforcement: 'on' is not a valid value\. Allowed: enforce"
    ) as caught:
        policy_document.parse({"enforcement": "on", "completion": 1, "x": 2})
    assert [problem.key for problem in caught.value.problems] == ["enforcement", "completion", "x"]


@pytest.mark.parametrize("document", [None, [], "text", 5])
def test_a_policy_is_an_object(document):
    assert wrong(document) == {("policy", "It must be a JSON object.")}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("enforcement", None),
        ("enforcement", ["off"]),
        ("empty_scope", "permit"),
        ("session_idle_minutes", 0),
        ("session_idle_minutes", True),
        ("session_idle_minutes", "30"),
        ("approval_timeout_minutes", 10**9),
        ("conflicts", "maybe"),
        ("freeze_after_denials", -1),
        ("freeze_after_denials", True),
        ("require_content_hash", 1),
        ("tool_classes", []),
        ("tool_classes", {"Lookup": "HANDSHAKE"}),
        ("tool_classes", {"Lookup": ["SAFE"]}),
        ("tool_classes", {"": "SAFE"}),
        ("tool_classes", {"x" * 600: "SAFE"}),
        ("tool_classes", {5: "SAFE"}),
        ("tool_classes", {f"t{n}": "SAFE" for n in range(501)}),
        ("safe_commands", "pytest"),
        ("safe_commands", [""]),
        ("safe_commands", ["*"]),
        ("safe_commands", ["* *"]),
        ("safe_commands", ["npm\ntest"]),
        ("safe_commands", [5]),
        ("safe_commands", ["x"] * 501),
        ("effects", []),
        ("effects", {"reads": "allow"}),
        ("effects", {"sends": "perhaps"}),
        ("effects", {"sends": 5}),
        ("places", {}),
        ("places", [{}]),
        ("protected_paths", [".git/"]),
        ("protected_paths", ["/etc/**"]),
        ("protected_paths", {}),
        ("approvable", ["HOOK_BLOCKED"]),
        ("approvable", ["NO_SUCH"]),
        ("approvable", "SCOPE_VIOLATION"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(key, value):
    (problem,) = policy_document.find_problems({key: value})
    assert problem.key == key
    assert problem.message
    assert problem.allowed


@pytest.mark.parametrize("name", ["Write", "Bash", "*", "write_*", "run_commands", "apply_[p]atch", "create"])
def test_a_file_tool_or_shell_cannot_be_made_safe(name):
    ((key, message),) = wrong({"tool_classes": {name: "SAFE"}})
    assert key == "tool_classes"
    assert "can't be made safe" in message or "handshake" in message


def test_the_handshake_cannot_be_classed():
    assert "handshake" in next(iter(wrong({"tool_classes": {"select_active_intent": "DESTRUCTIVE"}})))[1]
    assert "handshake" in next(iter(wrong({"tool_classes": {"mcp__icp__*": "DESTRUCTIVE"}})))[1]


def test_a_file_tool_may_be_called_destructive_which_it_is():
    assert policy_document.find_problems({"tool_classes": {"Write": "DESTRUCTIVE"}}) == ()
