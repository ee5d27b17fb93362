"""What a denial carries, word for word: step, paths, text, and what a grant keeps of it."""

from __future__ import annotations

import pytest

from controlplane.policy.explain import explain
from controlplane.policy.model import ErrorType, Grant, IntentStatus, Policy, ToolClass
from tests.policy.builders import (
    NOW,
    FakeFilesystem,
    bash,
    call,
    intent,
    judge,
    no_intent,
    said,
    sha256,
    snapshot,
    write,
)


def stopped(the_call, the_snapshot, world=None) -> dict[int, str]:
    """The steps that denied, with their texts."""
    steps = explain(the_call, the_snapshot, NOW, world) if world else explain(the_call, the_snapshot, NOW)
    return {step.number: step.text for step in steps if step.outcome == "deny" and step.number < 9}


def test_an_override_keeps_the_whole_denial_and_the_digest():
    held = judge(write("docs/a.md"), snapshot("src/**"))
    grant = Grant("g-1", "session", ErrorType.SCOPE_VIOLATION, "", patterns=("docs/**",))
    allowed = judge(write("docs/a.md"), snapshot("src/**", grants=(grant,)))
    assert allowed.denial.error == held.error
    assert allowed.denial.offending == ("docs/a.md",)
    assert allowed.digest == held.digest != ""


def test_a_failure_inside_is_a_destructive_call_refused_with_words():
    class Broken(FakeFilesystem):
        def resolve(self, path):
            raise RuntimeError("disk on fire")

    failed = judge(write("src/a.ts"), snapshot("src/**"), Broken())
    assert said(failed) == ("deny", "HOOK_BLOCKED", "internal_error")
    assert failed.tool_class is ToolClass.DESTRUCTIVE
    assert failed.error.startswith("The gate failed while it checked this call")


def test_of_a_scope_and_a_stale_file_what_nobody_may_approve_is_told():
    policy = Policy(approvable=frozenset({ErrorType.SCOPE_VIOLATION}))
    one = write("docs/a.md", expected_content_hash=sha256("other"))
    told = judge(one, snapshot("src/**", policy=policy), FakeFilesystem.from_texts({"docs/a.md": "x"}))
    assert said(told) == ("deny", "STALE_FILE", "hash_mismatch")


def test_an_intent_that_was_not_started_is_told_so():
    own = intent("src/**", status=IntentStatus.PENDING)
    told = judge(write("src/a.ts"), snapshot(intent=own)).error
    assert "INT-001 is blocked because it has not been started. Wait" in told


def test_a_malformed_read_stops_at_the_safe_step_and_says_what_is_wrong():
    (text,) = (steps := stopped(call("Read", {"file_path": 7}), snapshot("src/**"))).values()
    assert list(steps) == [4]
    assert not text.startswith(("None", " "))
    assert text.endswith("Send the call again with input as the tool describes it.")


def test_a_path_that_is_none_is_shown_with_the_reason():
    refused = judge(write("src/a\x00.ts"), snapshot("src/**"))
    assert said(refused) == ("deny", "HOOK_BLOCKED", "invalid_path")
    assert len(refused.offending) == 1
    assert refused.error not in {"None", ""}


def test_a_missing_hash_names_the_file_at_step_seven():
    policy = Policy(require_content_hash=True)
    world = FakeFilesystem.from_texts({"src/a.ts": "x"})
    told = judge(write("src/a.ts"), snapshot("src/**", policy=policy), world)
    assert told.offending == ("src/a.ts",)
    assert "[src/a.ts]" in told.error
    assert list(stopped(write("src/a.ts"), snapshot("src/**", policy=policy), world)) == [7]


def write_to_file(**data):
    return call("write_to_file", {"path": "src/a.ts", "content": "x", **data})


def test_a_mutation_class_that_is_no_text_is_refused_at_step_eight():
    (text,) = (steps := stopped(write_to_file(mutation_class=7), snapshot("src/**"))).values()
    assert list(steps) == [8]
    assert text.startswith("mutation_class must be a string.")


@pytest.mark.parametrize("given", [{}, {"mutation_class": None}, {"mutation_class": ""}])
def test_a_mutation_class_that_is_missing_is_asked_for_at_step_eight(given):
    demanding = snapshot("src/**", policy=Policy(require_mutation_class=True))
    assert list(stopped(write_to_file(**given), demanding)) == [8]


def test_texts_without_details_have_no_filler():
    assert "[src/a.ts]" in judge(write("src/a.ts"), snapshot("docs/**")).error
    done = snapshot(intent=intent("src/**", status=IntentStatus.BLOCKED))
    assert "INT-001 is blocked. Wait" in judge(write("src/a.ts"), done).error
    assert "None" not in judge(bash("rm -rf src"), no_intent()).error
