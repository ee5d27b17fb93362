"""Settings that take a call out of its client's bounds are told, and statements that reach files."""

from __future__ import annotations

import pytest

from controlplane.policy.calls.settings import list_effects
from controlplane.policy.model import ErrorType, Grant
from tests.policy.builders import bash, call, judge, no_intent, said, snapshot


@pytest.mark.parametrize(
    ("tool", "data", "kinds"),
    [
        ("Bash", {"command": "ls", "dangerouslyDisableSandbox": True}, ["leave sandbox"]),
        ("Bash", {"command": "ls", "dangerouslyDisableSandbox": False}, []),
        ("exec_command", {"cmd": "ls", "sandbox_permissions": "require_escalated"}, ["leave sandbox"]),
        ("exec_command", {"cmd": "ls", "sandbox_permissions": "use_default"}, []),
        ("shell", {"command": ["ls"], "with_escalated_permissions": "true"}, ["leave sandbox"]),
        ("Agent", {"prompt": "x", "isolation": "remote"}, ["remote agent"]),
        ("Agent", {"prompt": "x", "isolation": "worktree"}, []),
        ("Agent", {"prompt": "x", "mode": "bypassPermissions"}, ["unasked agent"]),
        ("sql", {"query": "SELECT * FROM todos"}, []),
        ("sql", {"query": "ATTACH DATABASE 'docs/p.db' AS x"}, [""]),
        ("sql", {"query": "VACUUM main INTO 'docs/p'"}, [""]),
        ("sql", {"query": "select 1;\n.output docs/p"}, [""]),
        ("sql", {"query": ["x"]}, [""]),
        ("sql", "text", []),
        (7, {"mode": "bypassPermissions"}, []),
    ],
)
def test_a_setting_has_an_effect_of_its_own(tool, data, kinds):
    assert [effect.kind for effect in list_effects(tool, data)] == kinds


def test_a_command_out_of_its_sandbox_asks_even_in_scope_and_a_grant_covers_it():
    the_call = bash("touch src/a", dangerouslyDisableSandbox=True)
    decision = judge(the_call, snapshot("src/**"))
    assert said(decision) == ("ask", "SCOPE_VIOLATION", "unknown_target")
    assert "sandbox" in decision.error
    grant = Grant("g", "session", ErrorType.SCOPE_VIOLATION, "", kinds=("leave sandbox",))
    assert said(judge(the_call, snapshot("src/**", grants=(grant,))))[0] == "allow"


def test_a_safe_tool_is_not_safe_with_such_a_setting():
    remote = call("Agent", {"prompt": "x", "isolation": "remote"})
    assert judge(remote, no_intent()).verdict == "ask"
    assert judge(call("Agent", {"prompt": "x"}), no_intent()).verdict == "allow"
    assert judge(remote, snapshot("src/**")).refused[0].kind == "remote agent"
