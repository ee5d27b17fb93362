from __future__ import annotations

from dataclasses import dataclass

import pytest

from controlplane.policy.explain import append_available_intents, explain
from controlplane.policy.model import Grant, Policy, Registry, RejectedPath
from tests.policy.builders import (
    NOW,
    FakeFilesystem,
    bash,
    call,
    intent,
    judge,
    no_intent,
    sha256,
    snapshot,
    write,
)


def outcomes(the_call, the_snapshot, world=None):
    steps = explain(the_call, the_snapshot, NOW, *([world] if world else []))
    assert [step.number for step in steps] == list(range(1, 11))
    return [step.outcome for step in steps]


def step(number, the_call, the_snapshot):
    return explain(the_call, the_snapshot, NOW)[number - 1]


def test_an_allowed_write_passes_every_step():
    assert outcomes(write("src/a.ts"), snapshot("src/**")) == [
        *["pass"] * 3,
        "skip",
        *["pass"] * 4,
        "skip",
        "pass",
    ]


def test_a_safe_call_ends_at_step_4():
    assert outcomes(bash("ls"), no_intent()) == [*["pass"] * 3, "allow", *["skip"] * 5, "pass"]
    ignored = outcomes(call("Read", {"file_path": ".env"}), no_intent(intentignore=".env"))
    assert ignored == [*["pass"] * 3, "deny", *["skip"] * 4, "ask", "pass"]


def test_the_handshake_ends_at_step_3():
    assert outcomes(call("select_active_intent"), no_intent()) == [*["pass"] * 3, *["skip"] * 6, "pass"]


def test_a_closed_registry_ends_at_step_1():
    assert outcomes(bash("ls"), no_intent(registry=Registry.EMPTY)) == ["deny", *["skip"] * 7, "deny", "pass"]


def test_a_denial_is_told_where_it_was_found():
    told = step(6, write("docs/a.md"), snapshot("src/**"))
    assert (told.name, told.observed, told.outcome) == ("Targets", "changes docs/a.md; scope src/**", "deny")
    assert told.text.startswith("Scope Violation: INT-001")
    assert outcomes(write("docs/a.md"), snapshot("src/**"))[4:] == [
        "pass",
        "deny",
        "pass",
        "pass",
        "ask",
        "pass",
    ]


def test_a_missing_intent_is_told_with_what_else_speaks_against_the_call():
    assert outcomes(write("src/a.ts"), no_intent()) == [
        *["pass"] * 3,
        "skip",
        "deny",
        *["pass"] * 3,
        "ask",
        "pass",
    ]
    gone = snapshot(intent=None)
    assert outcomes(write("src/a.ts"), gone) == [*["pass"] * 3, "skip", "deny", *["skip"] * 3, "deny", "pass"]


def test_a_grant_is_named():
    the_call = bash("make all")
    digest = judge(the_call, snapshot("src/**")).digest
    granted = snapshot(
        "src/**", grants=(Grant("g-1", "once", judge(the_call, snapshot("src/**")).error_type, digest),)
    )
    told = step(9, the_call, granted)
    assert (told.observed, told.outcome) == ("grant g-1", "allow")


def test_what_could_not_be_known_is_told_with_the_class():
    assert "make" in step(3, bash("make all"), snapshot("src/**")).observed


def test_what_each_step_saw():
    hashed = write("src/a.ts", expected_content_hash=sha256("x"))
    assert step(7, hashed, snapshot("src/**")).observed.startswith("expected_content_hash sha256:")
    assert step(7, call("Write", "text"), snapshot("src/**")).observed.startswith(
        "expected_content_hash None"
    )
    assert step(5, write("a"), snapshot(intent=None)).observed == "INT-001, not in the registry"
    assert step(5, write("a"), no_intent()).observed == "no intent selected"
    assert step(6, write("a"), no_intent()).observed == "changes a; scope none"
    assert step(6, write("a"), snapshot()).observed == "changes a; scope empty"
    assert step(2, bash("ls"), no_intent(frozen=True)).observed == "session REASONING, frozen"
    assert step(8, write("a"), snapshot(intent=intent("**", constraints=("fast",)))).observed.endswith(
        "1 constraints"
    )


def test_a_link_is_shown_with_where_it_leads():
    class Linked(FakeFilesystem):
        def resolve(self, path):
            return super().resolve("docs/a.md")

    steps = explain(write("src/a.md"), snapshot("src/**"), NOW, Linked())
    assert "src/a.md -> docs/a.md" in steps[5].observed


@pytest.mark.parametrize("the_snapshot", [None, "text"])
def test_an_error_inside_is_told_as_the_last_step(the_snapshot):
    (only,) = explain(write("a"), the_snapshot, NOW)
    assert (only.number, only.outcome) == (10, "deny")


def test_policy_may_let_nobody_approve():
    assert outcomes(write("docs/a"), snapshot("src/**", policy=Policy(approvable=frozenset())))[8] == "deny"


@dataclass
class Row:
    intent_id: str
    name: str
    note: str = ""


def test_the_intents_that_could_be_taken_are_listed():
    text = append_available_intents("You must.", [Row("INT-001", "Log in"), Row("INT-002", "Docs")])
    assert text == "You must.\nAvailable intents:\n- INT-001: Log in\n- INT-002: Docs"
    marked = append_available_intents("You must.", [Row("INT-001", "Log in", "waits for INT-002")])
    assert marked.endswith("- INT-001: Log in (waits for INT-002)")
    assert append_available_intents("You must.", []) == (
        "You must.\nNo intent is available: a person must create or unblock one first."
    )


def test_a_reviewers_refusal_is_told_as_what_it_is():
    refused = (RejectedPath("docs/a.md", "Rejected by rex: no."),)
    steps = explain(write("docs/a.md"), snapshot("src/**", rejected_paths=refused), NOW)
    assert (steps[8].observed, steps[8].outcome) == ("a reviewer has rejected it before", "deny")
    assert "Rejected by rex" in steps[8].text


def test_a_path_that_has_no_place_is_told_beside_those_that_have_one():
    the_call = call("MultiEdit", {"file_path": "src/a", "edits": [{"path": "../x"}, {"path": "a:b"}]})
    (targets,) = (step for step in explain(the_call, snapshot("src/**"), NOW) if step.number == 6)
    assert targets.observed == "changes src/a; not in the workspace: ../x, a:b; scope src/**"
