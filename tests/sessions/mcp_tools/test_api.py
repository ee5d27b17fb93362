"""What MCP servers list of their tools, and what an admin says of one."""

from __future__ import annotations

import pytest

from sessions.models import McpServerTool
from traces.models import LedgerEntry

pytestmark = pytest.mark.django_db


def listed(*tools):
    return {
        "server": "linear",
        "tools": [{"name": name, "annotations": {"readOnlyHint": hint}} for name, hint in tools],
    }


def run(agent, tool):
    return agent.gate(f"mcp__linear__{tool}", id="ENG-1")["decision"]


def test_a_tool_whose_server_says_that_it_reads_runs_without_asking(at_work, reviewer):
    assert run(at_work, "digest") == "ask"
    answer = at_work.post("mcp-tools", listed(("digest", True), ("archive_all", False)))
    assert (answer.status_code, answer.json()["added"]) == (200, 2)
    assert run(at_work, "digest") == "allow"
    rows = {row["name"]: row for row in reviewer.get("mcp-tools").json()["results"]}
    assert rows["digest"]["read_only_hint"] is True
    assert LedgerEntry.objects.filter(kind="policy", outcome="listed").count() == 1


def test_a_hint_opens_no_tool_whose_name_says_that_it_writes(at_work):
    at_work.post("mcp-tools", listed(("delete_issue", True)))
    assert run(at_work, "delete_issue") == "ask"
    assert McpServerTool.objects.get().read_only_hint is True


def test_no_later_list_opens_what_was_closed(at_work):
    at_work.post("mcp-tools", listed(("digest", False)))
    assert at_work.post("mcp-tools", listed(("digest", True))).json()["added"] == 0
    assert run(at_work, "digest") == "ask"


@pytest.mark.parametrize("name", ["Bash", "Write", "run_shell_command"])
def test_a_hint_never_makes_a_known_file_or_shell_tool_safe(at_work, name):
    at_work.post(
        "mcp-tools", {"server": "x", "tools": [{"name": name, "annotations": {"readOnlyHint": True}}]}
    )
    data = {"command": "make all", "file_path": "docs/x", "content": "x"}
    assert at_work.gate(name, **data)["decision"] == "ask"


def test_an_admin_says_that_a_tool_only_reads_and_takes_it_back(at_work, admin, reviewer):
    body = {"kind": "mcp:linear.digest", "reads_only": True}
    assert reviewer.patch("mcp-tools", body).status_code == 403
    assert admin.patch("mcp-tools", body).json()["reads_only_by"] == "admin token"
    assert run(at_work, "digest") == "allow"
    admin.patch("mcp-tools", body | {"reads_only": False})
    assert run(at_work, "digest") == "ask"
    assert admin.patch("mcp-tools", body | {"kind": "go test"}).status_code == 400


def test_an_admin_says_so_on_the_approval(at_work, admin, reviewer):
    approval = at_work.gate("mcp__linear__digest", id="ENG-1")["approval"]["id"]
    body = {"action": "approve", "tool_reads_only": True}
    assert reviewer.post(f"approvals/{approval}/decide", body).status_code == 403
    assert admin.post(f"approvals/{approval}/decide", body).status_code == 200
    assert McpServerTool.objects.get().reads_only_by == "admin token"
    assert at_work.gate("mcp__linear__digest", id="ENG-2")["decision"] == "allow"


def test_only_a_tool_of_a_server_can_be_said_to_read(at_work, admin):
    approval = at_work.gate("Bash", command="git push")["approval"]["id"]
    answer = admin.post(f"approvals/{approval}/decide", {"action": "approve", "tool_reads_only": True})
    assert answer.status_code == 400
