"""Kinds, effects and who permits them: `controlplane.policy.effects`."""

from __future__ import annotations

import pytest

from controlplane.policy.effects import (
    DEFAULT_PERMISSIONS,
    RISKS,
    Effect,
    PartEffect,
    find_kind_problem,
    is_dangerous_form,
    suggest_kinds,
)


def part(kind, effect=Effect.RUNS_CODE):
    return PartEffect("x", kind, effect, "why")


def test_every_effect_has_a_risk_and_policy_decides_about_all_but_reads_and_writes():
    assert set(RISKS) == set(Effect)
    assert set(DEFAULT_PERMISSIONS) == set(Effect) - {Effect.READS, Effect.WRITES}
    assert part("x", Effect.SENDS).risk == "high"


def test_a_card_offers_the_kinds_of_what_was_refused():
    assert suggest_kinds(["go test", "git push", "go test"]) == ("go test", "git push")


def test_a_part_without_a_kind_can_only_be_granted_as_it_is():
    assert suggest_kinds(["go test", ""]) == ()
    assert suggest_kinds(["go test", "git push --force"]) == ()
    assert suggest_kinds([]) == ()


@pytest.mark.parametrize("kind", ["go test", "mcp:linear.get_issue", "./tool", "git push --force"])
def test_a_kind(kind):
    assert find_kind_problem(kind) is None


@pytest.mark.parametrize("kind", ["", " ", None, 7, "go  test", "go *", "a\nb", "x" * 201, " go"])
def test_what_is_no_kind(kind):
    assert find_kind_problem(kind)


@pytest.mark.parametrize(
    ("kind", "dangerous"),
    [
        ("git push --force", True),
        ("git tag -d", True),
        ("git push", False),
        ("make deploy", False),
        ("-", False),
    ],
)
def test_a_dangerous_form_is_told_by_its_option(kind, dangerous):
    assert is_dangerous_form(kind) is dangerous
