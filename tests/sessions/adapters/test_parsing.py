"""Every captured payload becomes the wanted call: which session, which tool, which input, which files."""

from __future__ import annotations

import pytest

from controlplane.policy.calls.targets import find_targets
from controlplane.policy.calls.toolsets import TABLES
from controlplane.policy.model import Policy
from controlplane.templatetags.names import TITLES
from sessions.adapters.hook_call import Event
from sessions.adapters.parse import parse_hook
from sessions.adapters.registry import CLIENTS
from tests.sessions.adapters import captured

CASES = captured.everything()
OWN_EVENTS = {"beforeShellExecution", "beforeMCPExecution", "beforeReadFile"}  # of Cursor, beside its others
MAIN, SUB, OTHER_RUN = (f"00000000-0000-4000-8000-00000000000{n}" for n in "123")

# (agent, file, tool, class of the call, targets that it would write)
CALLS = [
    ("claude-code", "PreToolUse-Write", "Write", "DESTRUCTIVE", ["src/new.txt"]),
    ("claude-code", "PreToolUse-Edit", "Edit", "DESTRUCTIVE", ["app.py"]),
    ("claude-code", "PreToolUse-NotebookEdit", "NotebookEdit", "DESTRUCTIVE", ["nb.ipynb"]),
    ("claude-code", "PreToolUse-Bash", "Bash", "DESTRUCTIVE", ["sh.txt"]),
    ("claude-code", "PreToolUse-Monitor", "Monitor", "DESTRUCTIVE", ["mon.txt"]),
    ("claude-code", "PreToolUse-Read", "Read", "SAFE", []),
    ("claude-code", "PreToolUse-Agent", "Agent", "SAFE", []),
    ("claude-code", "PreToolUse-Write-subagent", "Write", "DESTRUCTIVE", ["sub.txt"]),
    ("claude-code", "PreToolUse-mcp__icp__select_active_intent", "mcp__icp__select_active_intent",
     "HANDSHAKE", []),
    ("codex", "PreToolUse-apply_patch", "apply_patch", "DESTRUCTIVE",
     ["src/new.txt", "app.py", "README.md"]),
    ("codex", "PreToolUse-apply_patch-2", "apply_patch", "DESTRUCTIVE", ["app.py", "moved.py"]),
    ("codex", "PreToolUse-Bash-subagent", "Bash", "DESTRUCTIVE", ["sub.txt"]),
    ("codex", "PreToolUse-Bash", "Bash", "SAFE", []),
    ("codex", "PreToolUse-collaborationspawn_agent", "collaborationspawn_agent", "SAFE", []),
    ("gemini-cli", "BeforeTool-write_file", "write_file", "DESTRUCTIVE", ["src/new.txt"]),
    ("gemini-cli", "BeforeTool-replace", "replace", "DESTRUCTIVE", ["app.py"]),
    ("gemini-cli", "BeforeTool-run_shell_command", "run_shell_command", "DESTRUCTIVE", ["sh.txt"]),
    ("gemini-cli", "BeforeTool-mcp_icp_select_active_intent", "mcp_icp_select_active_intent",
     "HANDSHAKE", []),
    ("qwen-code", "PreToolUse-write_file", "write_file", "DESTRUCTIVE", ["src/new.txt"]),
    ("qwen-code", "PreToolUse-monitor", "monitor", "DESTRUCTIVE", ["mon.txt"]),
    ("qwen-code", "PreToolUse-grep_search", "grep_search", "SAFE", []),
    ("opencode", "tool.execute.before-write", "write", "DESTRUCTIVE", ["src/new.txt"]),
    ("opencode", "tool.execute.before-apply_patch", "apply_patch", "DESTRUCTIVE",
     ["patched.txt", "README.md"]),
    ("opencode", "tool.execute.before-bash", "bash", "DESTRUCTIVE", ["sh.txt"]),
    ("kilo", "tool.execute.before-edit", "edit", "DESTRUCTIVE", ["app.py"]),
    ("copilot", "preToolUse-create", "create", "DESTRUCTIVE", ["src/new.txt"]),
    ("copilot", "preToolUse-apply_patch", "apply_patch", "DESTRUCTIVE",
     ["src/new.txt", "app.py", "README.md"]),
    ("copilot", "PreToolUse-Write", "Write", "DESTRUCTIVE", ["src/new.txt"]),
    ("copilot", "PreToolUse-Edit-2", "Edit", "DESTRUCTIVE", ["src/new.txt", "app.py", "README.md"]),
    ("copilot", "preToolUse-write_bash", "write_bash", "DESTRUCTIVE", []),
    ("copilot", "preToolUse-sql", "sql", "SAFE", []),
    ("cline", "PreToolUse-editor", "editor", "DESTRUCTIVE", ["src/new.txt"]),
    ("cline", "PreToolUse-run_commands", "run_commands", "DESTRUCTIVE", ["sh.txt"]),
    ("cline", "PreToolUse-read_files", "read_files", "SAFE", []),
    ("cline", "PreToolUse-icp__select_active_intent", "icp__select_active_intent", "HANDSHAKE", []),
    ("cline", "beforeTool-editor", "editor", "DESTRUCTIVE", ["src/auth/a.ts"]),
    ("cline", "beforeTool-run_commands-2", "run_commands", "DESTRUCTIVE", ["src/auth/b.ts"]),
    ("cline", "beforeTool-read_files", "read_files", "SAFE", []),
    ("cline", "beforeTool-spawn_agent", "spawn_agent", "SAFE", []),
    ("cline", "beforeTool-team_spawn_teammate", "team_spawn_teammate", "SAFE", []),
    ("cursor", "preToolUse-Write", "Write", "DESTRUCTIVE", ["src/auth/a.ts"]),
    ("cursor", "preToolUse-Write-subagent", "Write", "DESTRUCTIVE", ["docs/helper.md"]),
    ("cursor", "preToolUse-Delete", "Delete", "DESTRUCTIVE", ["README.md"]),
    ("cursor", "preToolUse-Shell", "Shell", "DESTRUCTIVE", ["docs/other.md"]),
    ("cursor", "preToolUse-Shell-2", "Shell", "DESTRUCTIVE", ["docs/other.md"]),  # in no folder of its own
    ("cursor", "preToolUse-Shell-4", "Shell", "DESTRUCTIVE", []),  # an open shell
    ("cursor", "preToolUse-WriteShellStdin", "WriteShellStdin", "DESTRUCTIVE", []),
    ("cursor", "beforeShellExecution", "Shell", "DESTRUCTIVE", ["docs/other.md"]),
    ("cursor", "preToolUse-Read", "Read", "SAFE", []),
    ("cursor", "preToolUse-Grep", "Grep", "SAFE", []),
    ("cursor", "preToolUse-List", "List", "SAFE", []),
    ("cursor", "preToolUse-MCP-select_active_intent", "MCP:select_active_intent", "HANDSHAKE", []),
    ("cursor", "beforeMCPExecution-select_active_intent", "mcp__icp__select_active_intent", "HANDSHAKE", []),
    ("cline", "beforeTool-icp__select_active_intent", "icp__select_active_intent", "HANDSHAKE", []),
]  # fmt: skip

# Which session a sub-agent's call comes under: its parent's, for each way in which clients tell.
SUB_AGENTS = [
    ("claude-code", "PreToolUse-Write-subagent", MAIN),
    ("codex", "PreToolUse-Bash-subagent", OTHER_RUN),  # that run's own session, where it was spawned
    ("qwen-code", "PreToolUse-write_file-subagent", MAIN),
    ("copilot", "preToolUse-create-subagent", MAIN),
    ("copilot", "PreToolUse-Write-subagent", MAIN),
    ("cline", "PreToolUse-editor-subagent", "session_000001"),
    ("cline", "beforeTool-editor-subagent", "session_000001"),
]


def read(case):
    return parse_hook(case.agent, case.event, case.payload, 1000)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_captured_payload_is_read(case):
    hook, request = read(case)
    assert request.session_id
    assert request.opening.agent_name == case.agent
    if hook.event in {Event.PRE_TOOL, Event.POST_TOOL}:
        assert request.call.tool != "-"
        assert isinstance(request.call.input, dict | str)
        assert request.call.call_id or case.agent in {"gemini-cli", "copilot"} or case.event in OWN_EVENTS
        assert request.call.cwd == "/workspace" or case.agent in captured.PLUGINS


def test_there_are_payloads_of_nine_clients():
    assert {case.agent for case in CASES} == set(captured.AGENTS.values())
    assert len(CASES) > 250


@pytest.mark.parametrize(("agent", "file", "tool", "cls", "writes"), CALLS)
def test_the_wanted_call(agent, file, tool, cls, writes):
    _, request = read(captured.one(agent, file))
    found = find_targets(request.call, Policy())
    assert request.call.tool == tool
    assert found.tool_class == cls
    assert [named.raw.removeprefix("/workspace/") for named in found.writes] == writes


ENDINGS = [
    ("claude-code", "PostToolUse-Bash", (False, 0, 10)), ("claude-code", "PostToolUseFailure-Bash", (True, 3, 10)),
    ("claude-code", "PostToolUse-Write", (False, None, 10)), ("claude-code", "PostToolUseFailure-WebFetch", (True, None, 10)),
    ("qwen-code", "PostToolUse-run_shell_command", (False, 0, 10)), ("qwen-code", "PostToolUseFailure-run_shell_command", (True, 3, 10)),
    ("gemini-cli", "AfterTool-run_shell_command", (False, None, None)), ("gemini-cli", "AfterTool-run_shell_command-2", (False, 3, None)),
    ("codex", "PostToolUse-Bash", (False, None, None)), ("copilot", "postToolUse-bash", (False, 0, None)),
    ("copilot", "postToolUse-bash-2", (False, 3, None)), ("copilot", "postToolUseFailure-create", (True, None, None)),
    ("cursor", "postToolUse-Shell", (False, 0, 1)), ("cursor", "postToolUseFailure-Shell", (True, 3, 1)),
    ("opencode", "tool.execute.after-bash", (False, 0, None)), ("kilo", "tool.execute.after-bash", (False, 0, None)),
    ("cline", "PostToolUse-run_commands", (False, 3, 10)), ("cline", "afterTool-run_commands-2", (False, None, None)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("agent", "file", "ending"), ENDINGS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_how_a_tool_ended_as_its_client_says(agent, file, ending):
    case = captured.one(agent, file)
    hook, _ = parse_hook(case.agent, case.event, case.payload, 0)
    assert (hook.failed, hook.exit_status, hook.duration_ms) == ending


@pytest.mark.parametrize(("agent", "file", "session"), SUB_AGENTS)
def test_a_sub_agent_acts_in_its_parents_session(agent, file, session):
    assert read(captured.one(agent, file))[1].session_id == session


def test_a_plugin_says_whose_sub_agent_a_child_session_is():
    case = captured.one("opencode", "tool.execute.before-write-2")
    assert read(case)[1].session_id == "ses_000002"
    case.payload["rootSessionID"] = "ses_000001"
    assert read(case)[1].session_id == "ses_000001"


def test_qwen_repeats_the_prompt_event_before_every_model_call_and_only_the_first_is_a_prompt():
    meanings = {case.name: read(case)[0].event for case in CASES if case.event == "UserPromptSubmit"
                and case.agent == "qwen-code"}  # fmt: skip
    assert meanings == {"UserPromptSubmit": Event.PROMPT, "UserPromptSubmit-2": Event.OTHER}


CURSOR = {"conversation_id": "c-1", "workspace_roots": ["/workspace"], "cursor_version": "3.1"}


@pytest.mark.parametrize(
    ("event", "payload", "tool", "given"),
    [
        ("preToolUse", {"tool_name": "Write", "tool_input": {"file_path": "a", "content": ""}}, "Write",
         {"file_path": "a", "content": ""}),
        ("beforeShellExecution", {"command": "rm a", "cwd": "/workspace"}, "Shell", {"command": "rm a"}),
        ("beforeMCPExecution", {"tool_name": "t", "tool_input": '{"a": 1}', "mcp_server_name": "s"},
         "mcp__s__t", {"a": 1}),
        ("beforeMCPExecution", {"tool_name": "t", "tool_input": "no JSON", "mcp_server_name": "s"},
         "mcp__s__t", "no JSON"),
        ("beforeReadFile", {"file_path": "/workspace/a", "content": "…"}, "Read",
         {"file_path": "/workspace/a"}),
    ],
)  # fmt: skip
def test_cursors_events_are_calls(event, payload, tool, given):
    _, request = parse_hook("cursor", event, CURSOR | payload, 100)
    assert (request.call.tool, request.call.input, request.opening.root) == (tool, given, "/workspace")


def test_windsurfs_events_are_the_tools():
    payload = {"agent_action_name": "post_write_code", "trajectory_id": "t", "tool_info": {"file_path": "a"}}
    hook, request = parse_hook("windsurf", "post_write_code", payload, 100)
    assert (hook.event, request.call.tool, request.call.input) == (
        Event.POST_TOOL, "pre_write_code", {"file_path": "a"},
    )  # fmt: skip


def test_one_row_for_every_agent_that_pages_and_tables_know():
    assert set(CLIENTS) == set(TITLES) == set(TABLES)
