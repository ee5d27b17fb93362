"""The settings page of MCP tools."""

from __future__ import annotations

import pytest

from sessions.mcp_tools.store import ListedTool, save_listed_tools
from sessions.models import McpServerTool
from tests import builders

pytestmark = pytest.mark.django_db
PAGE = "/w/acme/settings/mcp-tools/"


@pytest.fixture
def tool(acme):
    save_listed_tools(acme, "linear", [ListedTool("digest"), ListedTool("delete_issue", True)], actor="test")
    return McpServerTool.objects.get(name="digest")


def test_every_member_sees_what_servers_say(tool, ivy):
    page = builders.signed_in(ivy).get(PAGE).content.decode()
    assert "its name says otherwise" in page
    assert "It only reads" not in page


def test_an_admin_says_that_a_tool_only_reads_and_takes_it_back(tool, ada, rex):
    admin = builders.signed_in(ada)
    assert builders.signed_in(rex).post(PAGE, {"tool_id": tool.pk, "action": "reads-only"}).status_code == 403
    admin.post(PAGE, {"tool_id": tool.pk, "action": "reads-only"})
    tool.refresh_from_db()
    assert tool.reads_only_by == "Ada"
    admin.post(PAGE, {"tool_id": tool.pk, "action": "may-write"})
    tool.refresh_from_db()
    assert tool.reads_only_by == ""
    assert admin.post(PAGE, {"tool_id": 999, "action": "reads-only"}).status_code == 404
