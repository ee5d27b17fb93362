"""What public forks of the first prototype assert about the gate, held against the contract.

Where forks disagree, or hold what the contract settles otherwise, `SETTLED` gives the contract's
answer with its reason. Cases about other parts (traces, maps, lessons, engines, loaders) are named in
`ELSEWHERE` and tested where those parts are.
"""

from __future__ import annotations

import hashlib
import json

import pytest

from controlplane.policy.calls.targets import classify
from controlplane.policy.decision import decide
from controlplane.policy.model import (
    IntentStatus,
    Policy,
    Registry,
    SelectedIntent,
    SessionState,
    Snapshot,
    ToolCall,
    ToolClass,
)
from tests.policy.builders import NOW, FakeFilesystem
from tests.policy.gate_cases import FOLDER

CASES = json.loads((FOLDER / "from-forks.json").read_text())["cases"]

ELSEWHERE = {
    "trace-write", "intent-map", "lessons", "engine", "classifier", "drift", "selection", "payload", "id-format",
}  # fmt: skip

# The word that the contract has for a fork's code.
CODES = {
    "INTENT_REQUIRED": "MISSING_OR_INVALID_INTENT",
    "intent_mismatch": "MISSING_OR_INVALID_INTENT",
    "MALFORMED_WRITE_REQUEST": "HOOK_BLOCKED",
    "SPEC_ITERATION_REQUIRES_INTENT_EVOLUTION": "HOOK_BLOCKED",
    "DESTRUCTIVE_COMMAND": "SCOPE_VIOLATION",
}
TIERS = {
    "SAFE": ToolClass.SAFE,
    "safe": ToolClass.SAFE,
    "META": ToolClass.SAFE,
    "DESTRUCTIVE": ToolClass.DESTRUCTIVE,
    "destructive": ToolClass.DESTRUCTIVE,
    "CRITICAL": ToolClass.DESTRUCTIVE,
    "UNKNOWN": ToolClass.DESTRUCTIVE,
}

# id -> (decision, error type) by the contract, and why.
SETTLED = {
    "intent-required-09": ("deny", "MISSING_OR_INVALID_INTENT", "a person's yes is a grant, not part of this call"),
    "intent-required-13": ("deny", "MISSING_OR_INVALID_INTENT", "a citation is no selection"),
    "valid-intent-01": ("deny", "SCOPE_VIOLATION", "an empty scope matches nothing"),
    "valid-intent-03": ("deny", "SCOPE_VIOLATION", "an empty scope matches nothing"),
    "valid-intent-05": ("deny", "SCOPE_VIOLATION", "an empty scope matches nothing"),
    "valid-intent-07": ("deny", "HOOK_BLOCKED", "a shell call without a command"),
    "valid-intent-11": ("deny", "SCOPE_VIOLATION", "`src` names no folder's content"),
    "unknown-tools-01": ("deny", "MISSING_OR_INVALID_INTENT", "unknown is destructive"),
    "unknown-tools-03": ("deny", "MISSING_OR_INVALID_INTENT", "unknown is destructive, and the intent is not there"),
    "intents-file-01": ("deny", "ORCHESTRATION_UNAVAILABLE", "step 1 comes first"),
    "intents-file-03": ("deny", "ORCHESTRATION_UNAVAILABLE", "step 1 comes first"),
    "intents-file-05": ("deny", "ORCHESTRATION_UNAVAILABLE", "step 1 comes first"),
    "scope-13": ("deny", "SCOPE_VIOLATION", "an empty scope matches nothing"),
    "scope-21": ("deny", "SCOPE_VIOLATION", "a pattern that ends in a slash matches nothing"),
    "scope-23": ("deny", "SCOPE_VIOLATION", "a pattern that ends in a slash matches nothing; lenient import repairs it"),
    "scope-31": ("deny", "SCOPE_VIOLATION", "another folder either way"),
    "scope-35": ("deny", "SCOPE_VIOLATION", "a pattern that ends in a slash matches nothing"),
    "scope-37": ("deny", "MISSING_OR_INVALID_INTENT", "no intent, no scope"),
    "intentignore-03": ("allow", None, "only `intent:` lines name intents; a bare line is a path"),
    "stale-11": ("deny", "MISSING_OR_INVALID_INTENT", "no intent in this case"),
    "stale-17": ("deny", "MISSING_OR_INVALID_INTENT", "no intent in this case"),
    "stale-09": ("deny", "MISSING_OR_INVALID_INTENT", "no intent in this case"),
    "stale-19": ("allow", None, "no hash was sent"),
    "state-machine-09": ("deny", "MISSING_OR_INVALID_INTENT", "the words of the state machine are the contract's"),
    "commands-31": ("deny", "SCOPE_VIOLATION", "outside the workspace, so nobody is asked"),
    "commands-39": ("deny", "MISSING_OR_INVALID_INTENT", "no intent in this case"),
    "mutation-class-01": ("deny", "HOOK_BLOCKED", "by policy"),
    "mutation-class-05": ("allow", None, "the class is the agent's own word"),
}  # fmt: skip


def value(data):
    """`{"sha256_of": text}` stands for the hash of a text."""
    if isinstance(data, dict) and set(data) == {"sha256_of"}:
        return "sha256:" + hashlib.sha256(data["sha256_of"].encode()).hexdigest()
    return {key: value(item) for key, item in data.items()} if isinstance(data, dict) else data


def answer(case):
    """Decision and error type of the gate, with nothing approvable; `asked` people are not part of it."""
    given = case["input"]
    selected = given.get("session", {}).get("active_intent")
    registry = Registry.CORRUPT if "intents_file" in given else Registry.OK
    state = Snapshot(
        policy=Policy(approvable=frozenset(), require_mutation_class=case["group"] == "mutation-class"),
        registry=registry,
        state=SessionState.ACTION if selected else SessionState.REASONING,
        selected_intent_id=selected,
        intent=intent_of(given, selected),
        intentignore=given.get("intentignore", ""),
    )
    decision = decide(
        call_of(given),
        state,
        NOW,
        FakeFilesystem.from_texts(given["disk"]) if "disk" in given else FakeFilesystem.from_texts({}),
    )
    return decision.verdict.value, decision.error_type and decision.error_type.value


def intent_of(given, selected):
    intents = given.get("intents")
    if intents is None and selected and selected.startswith(("INT-001", "intent_1", "INT-1")):
        intents = [{"id": selected, "owned_scope": ["**"]}]
    found = next((i for i in intents or [] if i["id"] == selected), None)
    status = {"ACTIVE": "IN_PROGRESS"}.get(
        (found or {}).get("status", "IN_PROGRESS"), (found or {}).get("status", "IN_PROGRESS")
    )
    return found and SelectedIntent(found["id"], IntentStatus(status), tuple(found.get("owned_scope", ())))


def call_of(given):
    return ToolCall(given["call"]["tool"], value(given["call"]["args"]), root="/work", cwd=None)


def expected(case):
    if case["id"] in SETTLED:
        return SETTLED[case["id"]][:2]
    expect = case["expect"]
    code = expect.get("code")
    return expect["decision"], CODES.get(code, code)


def of(test):
    return [
        pytest.param(case, id=case["id"]) for case in CASES if case["group"] not in ELSEWHERE and test(case)
    ]


@pytest.mark.parametrize(
    "case", of(lambda c: "call" in c["input"] and ("decision" in c["expect"] or c["id"] in SETTLED))
)
def test_a_call(case):
    verdict, kind = answer(case)
    wanted, code = expected(case)
    assert verdict == wanted, (kind, case)
    assert code is None or kind == code, case


@pytest.mark.parametrize("case", of(lambda c: c["group"] == "scope"))
def test_a_scope(case):
    given = case["input"]
    paths = given.get("paths") or [given["path"]]
    selected = "INT-001" if "owned_scope" in given else None
    own = SelectedIntent("INT-001", IntentStatus.IN_PROGRESS, tuple(given.get("owned_scope", ())))
    state = Snapshot(
        policy=Policy(approvable=frozenset()), selected_intent_id=selected, intent=own if selected else None
    )
    call = ToolCall("editFiles", {"files": paths}, root=given.get("cwd", "/work"), agent="vscode")
    decision = decide(call, state, NOW)
    wanted = (
        SETTLED[case["id"]][0]
        if case["id"] in SETTLED
        else ("allow" if case["expect"]["in_scope"] else "deny")
    )
    assert decision.verdict.value == wanted, case


@pytest.mark.parametrize("case", of(lambda c: "classify_tool" in c["input"]))
def test_a_class(case):
    tool = case["input"]["classify_tool"]
    found = classify(ToolCall(tool, {}), Policy())
    wanted = ToolClass.HANDSHAKE if tool == "select_active_intent" else TIERS[case["expect"]["tier"]]
    assert found is wanted


@pytest.mark.parametrize("case", of(lambda c: c["group"] == "target-paths"))
def test_the_targets_of_a_call(case):
    own = SelectedIntent("INT-001", IntentStatus.IN_PROGRESS, ("**",))
    decision = decide(call_of(case["input"]), Snapshot(selected_intent_id="INT-001", intent=own), NOW)
    assert [target.path for target in decision.targets] == case["expect"]["paths"]


@pytest.mark.parametrize("case", of(lambda c: "command" in c["input"] and "tier" in c["expect"]))
def test_the_class_of_a_command(case):
    found = classify(ToolCall("execute_command", {"command": case["input"]["command"]}), Policy())
    harmless = {"git status": ToolClass.SAFE}  # disputed; contract 2.3: known read-only commands are safe
    assert found is harmless.get(case["input"]["command"], TIERS[case["expect"]["tier"]])


def test_no_group_is_forgotten():
    run = {"intent-required", "valid-intent", "safe-tools", "unknown-tools", "tool-tiers", "scope", "scope-gate",
           "target-paths", "intentignore", "stale", "state-machine", "commands", "mutation-class", "intents-file"}  # fmt: skip
    assert {case["group"] for case in CASES} == run | ELSEWHERE
