"""What may and what must run over a view of the workspace: policy `containment`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controlplane.policy.decision import decide
from controlplane.policy.effects import Effect, Permission
from controlplane.policy.model import ErrorType, Grant, Policy
from tests.policy.builders import NOW, bash, call, snapshot

CONTAINED = (Effect.RUNS_CODE, Permission.CONTAIN)


def run(the_call, *, containment="unknown", effects=(CONTAINED,), can_contain=True, grants=()):
    policy = Policy(containment=containment, effects=effects)
    state = replace(snapshot("src/**"), policy=policy, grants=grants)
    return decide(replace(the_call, can_contain=can_contain), state, NOW)


def grant(kind: str, *kinds: str) -> Grant:
    return Grant("g", kind, ErrorType.SCOPE_VIOLATION, "", kinds=kinds)


def test_a_part_that_policy_contains_runs_contained():
    decision = run(bash("node build.js"))
    assert (decision.verdict.value, decision.contained) == ("allow", True)


@pytest.mark.parametrize(
    "terms",
    [{"can_contain": False}, {"containment": "off"}, {"effects": ((Effect.RUNS_CODE, Permission.ASK),)}],
)
def test_without_containment_the_same_part_asks(terms):
    assert run(bash("node build.js"), **terms).verdict.value == "ask"


def test_a_grant_for_the_session_is_nearer_than_containment():
    (part,) = run(bash("node build.js"), can_contain=False).refused
    assert not run(bash("node build.js"), grants=(grant("session", part.kind),)).contained
    assert run(bash("node build.js"), grants=(grant("once", part.kind),)).contained
    assert run(bash("node build.js"), grants=(grant("session", "npm test"),)).contained


def test_all_commands_that_change_something_run_contained_where_policy_says_all():
    assert run(bash("echo x > src/a.txt"), containment="all").contained
    assert not run(bash("cat src/a.txt"), containment="all").contained


def test_what_policy_denies_is_denied_in_containment_too_and_nobody_may_approve_it():
    decision = run(bash("node build.js"), effects=((Effect.RUNS_CODE, Permission.DENY),))
    assert decision.verdict.value == "deny"
    assert "nobody can approve it" in decision.error


def test_a_tool_that_is_no_shell_is_never_contained():
    decision = run(call("Write", {"file_path": "src/a.txt", "content": "x"}), containment="all")
    assert (decision.verdict.value, decision.contained) == ("allow", False)
