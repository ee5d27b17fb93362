"""Who permits an effect: deny first, then the intent, the workspace's rules, policy."""

from __future__ import annotations

from dataclasses import replace

from controlplane.policy.effects import CommandRule, Effect, PartEffect, Permission
from controlplane.policy.model import ErrorType, Grant, Policy
from controlplane.policy.rules.effect_rules import find_permission, find_refused, grants_cover
from tests.policy.builders import snapshot

TEST = PartEffect("go test ./x", "go test", Effect.RUNS_PROJECT, "runs tests")
PUSH = PartEffect("git push", "git push", Effect.SENDS, "sends")
UNNAMED = PartEffect("$X", "", Effect.UNKNOWN, "cannot be told")


def state(*rules, allowed=(), **effects):
    found = snapshot("src/**")
    permissions = tuple((Effect(name), Permission(word)) for name, word in effects.items())
    policy = Policy(effects=(*permissions, *Policy().effects))
    intent = replace(found.intent, allowed_commands=allowed)
    rows = tuple(CommandRule(kind, Permission(word)) for kind, word in rules)
    return replace(found, policy=policy, intent=intent, command_rules=rows)


def test_policy_decides_where_nobody_else_does():
    assert find_permission(TEST, state()) is Permission.CONTAIN
    assert find_permission(PUSH, state(sends="allow")) is Permission.ALLOW


def test_the_nearest_one_decides():
    rules = (("go test", "ask"),)
    assert find_permission(TEST, state(*rules, runs_project="allow")) is Permission.ASK
    assert find_permission(TEST, state(*rules, allowed=("go test",))) is Permission.ALLOW


def test_deny_beats_everything():
    assert find_permission(TEST, state(("go test", "deny"), allowed=("go test",))) is Permission.DENY
    assert find_permission(TEST, state(runs_project="deny", allowed=("go test",))) is Permission.DENY


def test_a_part_without_a_kind_is_in_no_list():
    assert find_permission(UNNAMED, state(("", "allow"), allowed=("",))) is Permission.ASK


def test_known_paths_are_not_refused_here():
    assert find_refused([PartEffect("cat a", "cat", Effect.READS, "")], state(unknown="deny")) == []


def test_grants_cover_all_refused_parts_together():
    grants = [
        Grant("g", "session", ErrorType.SCOPE_VIOLATION, "d", kinds=(kind,))
        for kind in ("go test", "git push")
    ]
    assert grants_cover([TEST, PUSH], grants)
    assert not grants_cover([TEST, PUSH], grants[:1])
    assert not grants_cover([TEST, UNNAMED], grants)
