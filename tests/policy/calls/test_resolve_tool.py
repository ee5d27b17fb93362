from __future__ import annotations

import pytest

from controlplane.policy.calls.resolve_tool import find_declared_class, resolve_tool, select_safe_tools
from controlplane.policy.calls.targets import classify
from controlplane.policy.calls.toolsets import COMMON, MUTATING_NAMES, TABLES
from controlplane.policy.calls.toolsets.icp import HANDSHAKE_NAMES
from controlplane.policy.calls.toolsets.kinds import ToolKind
from controlplane.policy.model import Policy, ToolCall, ToolClass
from tests.policy.builders import call

SAFE, DESTRUCTIVE, HANDSHAKE = ToolClass.SAFE, ToolClass.DESTRUCTIVE, ToolClass.HANDSHAKE


def cls(tool, data=None, *, agent="", **classes):
    declared = tuple(classes.get("classes", {}).items())
    return classify(call(tool, data, agent=agent), Policy(tool_classes=declared))


@pytest.mark.parametrize(
    "name",
    [
        "select_active_intent",
        "mcp__icp__select_active_intent",
        "mcp_icp_select_active_intent",
        "icp_select_active_intent",
        "icp__select_active_intent",
        "icp-select_active_intent",
        "icp/select_active_intent",
        "MCP:select_active_intent",
    ],
)
def test_the_handshake_is_known_under_every_name_that_clients_give_it(name):
    assert cls(name) is HANDSHAKE
    assert cls(name, classes={name: DESTRUCTIVE}) is HANDSHAKE


@pytest.mark.parametrize("name", HANDSHAKE_NAMES)
def test_the_tools_of_the_handshake_are_so_under_every_name(name):
    assert cls(name, {"path": "/etc/passwd"}) is HANDSHAKE


@pytest.mark.parametrize("name", ["attempt_completion", "mcp__icp__get_intent_context", "icp_propose_intent"])
def test_closing_words_and_our_own_tools_are_safe(name):
    assert cls(name, {"path": "/etc/passwd"}) is SAFE


@pytest.mark.parametrize(
    "name",
    ["read", "Read ", " Read", "READ", "R\u0435ad", "Read\n", "mcp__github__get_issue", "mcp__icp__rm"],
)
def test_names_match_exactly_and_anything_else_is_destructive(name):
    assert cls(name, {}) is DESTRUCTIVE


@pytest.mark.parametrize("name", [None, "", 5, {"name": "Read"}, ["Read"]])
def test_a_name_that_is_no_text_is_destructive(name):
    assert cls(name, {}) is DESTRUCTIVE


def test_closing_words_that_carry_a_command_are_judged_by_it():
    assert cls("attempt_completion", {"result": "done", "command": None}) is SAFE
    assert cls("attempt_completion", {"result": "done", "command": "ls"}) is SAFE
    for classes in ({}, {"attempt_completion": SAFE}):
        assert cls("attempt_completion", {"command": "rm -rf src"}, classes=classes) is DESTRUCTIVE
    assert cls("attempt_completion", {"command": 5}) is DESTRUCTIVE
    assert cls("attempt_completion", {}, classes={"attempt_completion": DESTRUCTIVE}) is DESTRUCTIVE


def test_an_agent_brings_its_own_names():
    assert cls("read", {"filePath": "a.ts"}, agent="opencode") is SAFE
    assert cls("Read", {"file_path": "a.ts"}, agent="opencode") is SAFE
    assert cls("create", {"path": "a", "file_text": ""}, agent="copilot") is DESTRUCTIVE


def test_a_workspace_declares_tools_safe_by_name_or_anchored_glob():
    classes = {"mcp__github__get_*": SAFE}
    assert cls("mcp__github__get_issue", classes=classes) is SAFE
    assert cls("mcp__github__delete_repo", classes=classes) is DESTRUCTIVE
    assert cls("xmcp__github__get_issue", classes=classes) is DESTRUCTIVE
    assert cls("MCP__github__get_issue", classes=classes) is DESTRUCTIVE


def test_the_exact_name_comes_before_globs_and_of_globs_the_stricter_wins():
    policy = Policy(tool_classes=(("mcp__*", SAFE), ("mcp__a__*", DESTRUCTIVE), ("mcp__a__get", SAFE)))
    assert find_declared_class("mcp__b__x", policy) is SAFE
    assert find_declared_class("mcp__a__x", policy) is DESTRUCTIVE
    assert find_declared_class("mcp__a__get", policy) is SAFE
    assert find_declared_class("other", policy) is None


@pytest.mark.parametrize("name", ["Write", "Bash", "apply_patch", "write_stdin", "editor", "Monitor"])
def test_a_file_tool_or_shell_is_never_safe_whatever_policy_says(name):
    assert name in MUTATING_NAMES
    assert cls(name, {"command": "make", "path": "a"}, classes={"*": SAFE, name: SAFE}) is DESTRUCTIVE


def test_a_tool_that_leaves_the_machine_may_be_declared_safe():
    assert cls("PushNotification", {}) is DESTRUCTIVE
    assert cls("PushNotification", {}, classes={"PushNotification": SAFE}) is SAFE


def test_a_reading_tool_may_be_distrusted():
    assert cls("Read", {"file_path": "a.ts"}, classes={"Read": DESTRUCTIVE}) is DESTRUCTIVE


def test_a_carried_mcp_call_is_judged_as_the_call_that_it_is():
    data = {"server_name": "github", "tool_name": "get_issue", "arguments": '{"path": "a.ts"}'}
    resolved = resolve_tool(ToolCall("use_mcp_tool", data))
    assert (resolved.name, resolved.input) == ("mcp__github__get_issue", {"path": "a.ts"})
    assert cls("use_mcp_tool", data, classes={"mcp__github__get_*": SAFE}) is SAFE
    ours = {"mcp_server_name": "icp", "mcp_tool_name": "select_active_intent", "mcp_tool_arguments": {}}
    assert cls("pre_mcp_tool_use", ours, agent="windsurf") is HANDSHAKE


@pytest.mark.parametrize(
    ("arguments", "expected"), [(None, {}), ("", {}), ("{", "{"), ({"a": 1}, {"a": 1}), ("[1]", [1])]
)
def test_carried_arguments_come_as_json_or_as_they_are(arguments, expected):
    data = {"server_name": "s", "tool_name": "t", "arguments": arguments}
    assert resolve_tool(ToolCall("use_mcp_tool", data)).input == expected


@pytest.mark.parametrize("data", [{}, {"server_name": 1, "tool_name": "t"}, "text", None])
def test_a_carrier_without_its_fields_stays_unknown(data):
    assert resolve_tool(ToolCall("use_mcp_tool", data)).tool is None


def test_before_an_intent_is_selected_safe_tools_and_the_handshake_are_shown():
    offered = ["Read", "Write", "Bash", "select_active_intent", "mcp__x__y", "attempt_completion", "Lookup"]
    policy = Policy(tool_classes=(("Lookup", SAFE),))
    assert select_safe_tools(offered, policy) == [
        "Read",
        "select_active_intent",
        "attempt_completion",
        "Lookup",
    ]
    assert select_safe_tools(["read", "Shell", "mcp__x"], policy, "opencode") == ["read"]
    assert select_safe_tools(["FetchMcpResource", "Shell"], policy, "cursor") == ["FetchMcpResource"]


@pytest.mark.parametrize("agent", TABLES)
def test_every_table_knows_the_common_tools_and_our_own(agent):
    assert set(COMMON) <= set(TABLES[agent])
    assert TABLES[agent]["select_active_intent"].kind is ToolKind.HANDSHAKE
