"""Recorded calls under a proposal: what flips, what cannot be decided again, and what is left out."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from controlplane.policy import replay as module
from controlplane.policy.model import Policy, ToolClass, Verdict
from controlplane.policy.replay import (
    INCOMPLETE,
    OTHER_TARGETS,
    UNKNOWN_INTENT,
    RecordedCall,
    RuleSet,
    replay,
)
from tests.policy.builders import NOW, bash, call, intent, write

ASK_TO_ALLOW = (Verdict.ASK, Verdict.ALLOW)


def recorded(the_call, *targets, decision_id="d-1", intent_id="INT-001", verdict="ask", **more):
    base = {
        "decision_id": decision_id,
        "at": NOW,
        "session_id": "s-1",
        "intent_id": intent_id,
        "tool": the_call.tool if the_call else "Write",
        "verdict": verdict,
        "tool_class": "DESTRUCTIVE",
        "targets": targets,
        "call": the_call,
    }
    return RecordedCall(**{**base, **more})


def terms(*scope, **more):
    return RuleSet(**{"intents": {"INT-001": intent(*scope)}, **more})


def test_a_wider_scope_lets_through_what_was_held():
    calls = [
        recorded(write("docs/a.md"), "docs/a.md"),
        recorded(write("src/a.ts"), "src/a.ts", verdict="allow"),
    ]
    found = replay(calls, terms("src/**"), terms("src/**", "docs/**"), NOW)
    assert (found.replayed, found.total) == (2, 2)
    assert found.counts == {ASK_TO_ALLOW: 1}
    (flip,) = found.flips
    assert (flip.path, flip.calls, flip.recorded, flip.error) == ("docs/a.md", 1, "ask", "")


def test_a_narrower_scope_stops_what_was_let_through_and_says_so():
    calls = [recorded(write("src/keys/a.ts"), "src/keys/a.ts", verdict="allow")]
    found = replay(calls, terms("src/**"), terms("src/**", "!src/keys/**"), NOW)
    (flip,) = found.flips
    assert (flip.before, flip.after) == (Verdict.ALLOW, Verdict.ASK)
    assert "is not authorized to edit [src/keys/a.ts]" in flip.error


def test_an_ignore_file_stops_reads_too():
    read = recorded(
        call("Read", {"file_path": "keys/a.pem"}), tool_class="SAFE", intent_id="", verdict="allow"
    )
    found = replay([read], RuleSet(), RuleSet(intentignore="*.pem\n"), NOW)
    assert [(flip.after, flip.path) for flip in found.flips] == [(Verdict.ASK, "keys/a.pem")]


def test_what_is_answered_counts_so_that_enforcing_shows_what_it_would_stop():
    calls = [recorded(write("docs/a.md"), "docs/a.md")]
    today = terms("src/**", policy=Policy(enforcement="monitor"))
    assert replay(calls, today, terms("src/**"), NOW).counts == {(Verdict.ALLOW, Verdict.ASK): 1}
    assert replay(calls, today, today, NOW).counts == {}


def test_alike_calls_are_one_row_with_the_newest_of_them_in_whatever_order_they_come():
    old = recorded(write("docs/a.md"), "docs/a.md", decision_id="old", at=NOW - timedelta(hours=1))
    new = recorded(write("docs/a.md"), "docs/a.md", decision_id="new")
    for calls in ([old, new, old], [new, old, old]):
        found = replay(calls, terms("src/**"), terms("docs/**"), NOW)
        (flip,) = found.flips
        assert (flip.calls, flip.decision_id, flip.at) == (3, "new", NOW)
        assert found.counts == {ASK_TO_ALLOW: 3}


def test_rows_are_bounded_and_counts_are_not(monkeypatch):
    monkeypatch.setattr(module, "MAX_FLIPS", 2)
    calls = [recorded(write(f"docs/{n}.md"), f"docs/{n}.md", at=NOW + timedelta(seconds=n)) for n in range(5)]
    found = replay(calls, terms("src/**"), terms("docs/**"), NOW)
    assert [flip.path for flip in found.flips] == ["docs/1.md", "docs/0.md"]
    assert found.counts == {ASK_TO_ALLOW: 5}


def test_a_call_without_a_known_path_is_told_by_its_tool():
    calls = [recorded(bash("python x.py"), "", verdict="ask", targets=())]
    safe = terms("src/**", policy=Policy(safe_commands=("python x.py",)))
    found = replay(calls, terms("src/**"), safe, NOW)
    assert [(flip.path, flip.after) for flip in found.flips] == [("Bash", Verdict.ALLOW)]


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (recorded(None, unreplayable_reason=INCOMPLETE), INCOMPLETE),
        (recorded(write("docs/a.md"), "docs/a.md", intent_id="INT-404"), UNKNOWN_INTENT),
        (recorded(write("docs/a.md"), "elsewhere/a.md"), OTHER_TARGETS),
    ],
)
def test_what_cannot_be_decided_again_is_counted_with_its_reason(one, why):
    found = replay([one], terms("src/**"), terms("docs/**"), NOW)
    assert (found.replayed, found.not_replayable, found.flips) == (0, {why: 1}, ())
    assert found.total == 1


@pytest.mark.parametrize(
    ("reason", "intent_id"),
    [
        ("ended", "INT-001"),
        ("frozen", "INT-001"),
        ("empty", ""),
        ("missing", ""),
        ("corrupt", ""),
        ("completed", "INT-001"),
        ("abandoned", "INT-001"),
        ("blocked", "INT-001"),
        ("not_found", "INT-404"),
    ],
)
def test_what_the_session_or_the_registry_refused_no_scope_lets_through(reason, intent_id):
    one = recorded(write("docs/a.md"), reason=reason, intent_id=intent_id, verdict="deny")
    found = replay([one], terms("src/**"), terms("docs/**"), NOW)
    assert (found.replayed, found.counts) == (1, {})


def test_an_intent_that_has_been_completed_since_is_judged_as_it_was():
    done = {"INT-001": replace(intent("src/**"), status="COMPLETED")}
    one = recorded(write("docs/a.md"), "docs/a.md")
    wider = {"INT-001": replace(done["INT-001"], owned_scope=("docs/**",))}
    assert replay([one], RuleSet(intents=done), RuleSet(intents=wider), NOW).counts == {ASK_TO_ALLOW: 1}


def test_targets_are_not_compared_where_the_class_of_the_tool_has_changed_since():
    one = recorded(call("mcp__a__get_x"), "a", tool_class=ToolClass.DESTRUCTIVE)
    safe = terms("src/**", policy=Policy(tool_classes=(("mcp__a__get_*", ToolClass.SAFE),)))
    assert replay([one], safe, safe, NOW).replayed == 1
