"""The settings page of MCP tools: which only read, by whose word. Members read, admins judge."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache

from controlplane.models import Role
from controlplane.pages.settings.pages import get_actor, is_change, read_posted_id, settings_page
from controlplane.shared.access import MemberRequest, display_name, has_role, member_page
from sessions.mcp_tools.store import has_writing_name, judge_tool
from sessions.models import McpServerTool


@settings_page
@never_cache
@member_page()
def mcp_tool_list(request: MemberRequest) -> HttpResponse:
    rows = McpServerTool.objects.for_workspace(request.workspace.pk).order_by("server", "name")
    if is_change(request):
        tool = rows.filter(pk=read_posted_id(request, "tool_id")).first()
        if tool is None:
            raise Http404
        reads_only = request.POST.get("action") == "reads-only"
        name, actor = display_name(request.user), get_actor(request)
        judge_tool(request.workspace, tool.kind, reads_only=reads_only, by=name, actor=actor)
        messages.success(request, gettext("Saved. It takes effect on the next call."))
        return redirect("settings:mcp-tools", request.workspace.slug)
    context = {"tools": list(map(_build_row, rows)), "may_edit": has_role(request.role, Role.ADMIN)}
    return render(request, "settings/mcp_tools.html", context)


def _build_row(tool: McpServerTool) -> dict[str, Any]:
    is_doubtful = bool(tool.read_only_hint) and has_writing_name(tool)
    return {
        "id": tool.pk,
        "server": tool.server,
        "name": tool.name,
        "hint": tool.read_only_hint,
        "is_doubtful": is_doubtful,
        "reads_only_by": tool.reads_only_by,
        "runs_freely": bool(tool.reads_only_by) or (bool(tool.read_only_hint) and not is_doubtful),
        "listed_at": tool.listed_at,
    }
