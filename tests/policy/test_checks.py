"""Steps 1 to 5 and 8: registry, session, reads, intent and mutation class."""

from __future__ import annotations

import pytest

from controlplane.policy.model import (
    IntentStatus,
    Policy,
    Registry,
    SessionState,
    ToolClass,
)
from tests.policy.builders import (
    bash,
    call,
    intent,
    judge,
    no_intent,
    said,
    snapshot,
    write,
)

ALLOW = ("allow", None, None)


IN_SRC = snapshot("src/**")


@pytest.mark.parametrize("registry", [Registry.EMPTY, Registry.MISSING, Registry.CORRUPT])
def test_without_a_registry_everything_but_the_handshake_is_denied(registry):
    for the_call in (write("src/a.ts"), call("Read", {"file_path": "src/a.ts"}), call("attempt_completion")):
        decision = judge(the_call, snapshot("**", registry=registry))
        assert said(decision) == ("deny", "ORCHESTRATION_UNAVAILABLE", registry.value)
        assert decision.action_hint == "create_intent"
    assert said(judge(call("select_active_intent"), snapshot("**", registry=registry))) == ALLOW


def test_an_empty_registry_says_how_to_create_an_intent():
    assert "Create one" in judge(write("a"), no_intent(registry=Registry.EMPTY)).error


def test_policy_may_let_reads_pass_without_a_registry():
    policy = Policy(when_unavailable="deny_destructive")
    state = no_intent(registry=Registry.MISSING, policy=policy)
    assert said(judge(call("Read", {"file_path": "a"}), state)) == ALLOW
    assert said(judge(write("a"), state))[1] == "ORCHESTRATION_UNAVAILABLE"


def test_an_ended_or_frozen_session_changes_nothing_more():
    ended = snapshot("**", state=SessionState.ENDED)
    assert said(judge(write("a"), ended)) == ("deny", "SESSION_ENDED", "ended")
    assert said(judge(write("a"), snapshot("**", frozen=True))) == ("deny", "SESSION_ENDED", "frozen")
    assert said(judge(call("Read", {"file_path": "a"}), ended)) == ALLOW


def test_safe_calls_need_no_intent():
    decision = judge(call("Read", {"file_path": "src/a.ts"}), no_intent())
    assert said(decision) == ALLOW
    assert decision.tool_class is ToolClass.SAFE
    assert [target.path for target in decision.reads] == ["src/a.ts"]
    assert decision.targets == ()


def test_reads_outside_the_workspace_are_denied_and_nobody_may_approve_them():
    for path in ("../x", "/etc/passwd", "~/.ssh/id_rsa"):
        decision = judge(call("Read", {"file_path": path}), no_intent())
        assert said(decision) == ("deny", "SCOPE_VIOLATION", "outside_workspace")
        assert decision.offending == (path,)


def test_policy_may_let_reads_leave_the_workspace_but_not_writes():
    policy = Policy(reads_outside_workspace="allow")
    assert said(judge(call("Read", {"file_path": "/etc/passwd"}), no_intent(policy=policy))) == ALLOW
    assert said(judge(call("Read", {"file_path": "a\0b"}), no_intent(policy=policy)))[2] == "invalid_path"
    assert said(judge(write("/etc/passwd"), snapshot("**", policy=policy)))[2] == "outside_workspace"


def test_ignored_files_are_not_read():
    state = no_intent(intentignore=".env\nsecret/\n")
    assert said(judge(call("Read", {"file_path": ".env"}), state))[1:] == (
        "INTENTIGNORE_PATH_BLOCKED",
        "intentignore",
    )
    assert said(judge(call("LS", {"path": "secret"}), state))[1] == "INTENTIGNORE_PATH_BLOCKED"
    assert said(judge(call("LS", {"path": "."}), state)) == ALLOW
    assert said(judge(bash("cat .env"), state))[1] == "INTENTIGNORE_PATH_BLOCKED"


def test_no_intent_selected_begins_with_the_exact_sentence_and_asks():
    decision = judge(write("src/a.ts"), no_intent())
    assert said(decision) == ("ask", "MISSING_OR_INVALID_INTENT", "none_selected")
    assert decision.error.startswith("You must cite a valid active Intent ID.")
    assert decision.action_hint == "select_active_intent"
    assert [target.path for target in decision.targets] == ["src/a.ts"]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a\0b", "~/x"])
def test_a_missing_intent_is_told_first_but_nobody_may_approve_what_lies_outside(path):
    decision = judge(write(path), no_intent())
    assert said(decision) == ("deny", "MISSING_OR_INVALID_INTENT", "none_selected")


def test_a_citation_is_no_selection():
    assert said(judge(write("a", intent_id="INT-001"), no_intent()))[2] == "none_selected"


@pytest.mark.parametrize("cited", ["INT-002", "", "int-001", 5, ["INT-001"]])
def test_a_call_that_cites_another_intent(cited):
    assert said(judge(write("src/a.ts", intent_id=cited), IN_SRC)) == (
        "deny",
        "MISSING_OR_INVALID_INTENT",
        "mismatch",
    )


def test_a_call_may_cite_its_own_intent():
    assert said(judge(write("src/a.ts", intent_id="INT-001"), IN_SRC)) == ALLOW
    assert said(judge(write("src/a.ts", intent_id=None), IN_SRC)) == ALLOW


@pytest.mark.parametrize(
    ("own", "reason", "told"),
    [
        (None, "not_found", "no longer in the registry"),
        (intent("**", status=IntentStatus.COMPLETED), "completed", "is completed"),
        (intent("**", status=IntentStatus.ABANDONED), "abandoned", "was abandoned"),
        (
            intent("**", status=IntentStatus.BLOCKED, blocked_reason="waits for Ada"),
            "blocked",
            "(waits for Ada)",
        ),
        (intent("**", status=IntentStatus.BLOCKED), "blocked", "is blocked."),
        (intent("**", status=IntentStatus.PENDING), "blocked", "has not been started"),
    ],
)
def test_an_intent_that_is_no_longer_active(own, reason, told):
    decision = judge(write("src/a.ts"), snapshot(intent=own))
    assert said(decision) == ("deny", "MISSING_OR_INVALID_INTENT", reason)
    assert decision.error.startswith("You must cite a valid active Intent ID. INT-001")
    assert told in decision.error


def test_an_intent_that_another_session_took_in_the_meantime():
    state = snapshot("src/**", intent_held_by_other=True)
    assert said(judge(write("src/a.ts"), state)) == ("deny", "INTENT_CONFLICT", "held_by_other_session")
    assert said(judge(call("Read", {"file_path": "src/a.ts"}), state)) == ALLOW


def test_an_intent_that_intentignore_switches_off():
    state = snapshot("src/**", intentignore="intent: INT-001\n")
    assert said(judge(write("src/a.ts"), state)) == ("ask", "INTENT_IGNORED", "intentignore")
    assert said(judge(write("../a.ts"), state)) == ("deny", "INTENT_IGNORED", "intentignore")
    assert said(judge(call("Read", {"file_path": "src/a.ts"}), state)) == ALLOW


def roo(**data):
    return call("write_to_file", {"path": "src/a.ts", "content": "x", **data})


def test_policy_may_require_a_mutation_class_on_write_to_file():
    state = snapshot("src/**", policy=Policy(require_mutation_class=True))
    decision = judge(roo(), state)
    assert said(decision) == ("deny", "HOOK_BLOCKED", "mutation_class_required")
    assert "must include mutation_class" in decision.error
    assert said(judge(roo(mutation_class="REFACTOR"), state))[2] == "mutation_class_required"
    for word in ("AST_REFACTOR", "INTENT_EVOLUTION", "intent_evolution"):
        assert said(judge(roo(mutation_class=word), state)) == ALLOW
    assert said(judge(write("src/a.ts"), state)) == ALLOW  # only write_to_file has the field


def test_a_mutation_class_is_a_text():
    assert said(judge(roo(mutation_class=42), IN_SRC)) == ("deny", "HOOK_BLOCKED", "invalid_input")
    assert said(judge(roo(mutation_class="anything"), IN_SRC)) == ALLOW
    assert said(judge(call("write_to_file", "x"), IN_SRC))[2] == "invalid_input"
