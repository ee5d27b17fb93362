"""REST for the tools of MCP servers: what a server lists, and whether a tool only reads."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.fields import BoolField, IntField, StrField
from controlplane.api.views import WorkspaceView
from sessions.api_schema import Body, responses_for
from sessions.mcp_tools.store import ListedTool, judge_tool, represent_tool, save_listed_tools
from sessions.models import McpServerTool

MAX_LISTED = 500


class ToolAnnotations(Body):
    readOnlyHint = BoolField(required=False, allow_null=True)  # noqa: N815  the protocol's own name


class ListedToolBody(Body):
    name = StrField(max_length=200)
    annotations = ToolAnnotations(required=False, allow_null=True)


class ToolListBody(Body):
    server = StrField(max_length=100, help_text="As the agent's configuration names it.")
    tools = s.ListField(
        child=ListedToolBody(), max_length=MAX_LISTED, help_text="As `tools/list` answers them."
    )


class ToolJudgementBody(Body):
    kind = StrField(max_length=310, help_text="`mcp:server.tool`")
    reads_only = BoolField()


class ServerToolAnswer(Body):
    kind = StrField(help_text="As grants and rules name it.")
    server = StrField()
    name = StrField()
    read_only_hint = BoolField(allow_null=True, help_text="The server's own word.")
    hint_counts = BoolField(help_text="False where its name says that it changes something.")
    reads_only_by = StrField(allow_null=True, help_text="The admin who says that it only reads.")
    listed_at = s.DateTimeField()


class ServerToolsAnswer(Body):
    results = ServerToolAnswer(many=True)
    next = StrField(allow_null=True)
    added = IntField(required=False, help_text="How many of a list were not known yet.")


class McpToolsView(WorkspaceView):
    required_role = {"GET": "reviewer", "POST": "agent", "PATCH": "admin"}

    @extend_schema(
        operation_id="mcp_tools_list", summary="The tools of MCP servers that are known",
        responses=responses_for(200, ServerToolsAnswer),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        return Response(self._represent_all())

    @extend_schema(
        operation_id="mcp_tools_add", summary="Report the tools of a server, once",
        description=(
            "The first list that names a tool counts: no later one opens what was closed. A hint never makes "
            "a file or shell tool safe, nor a tool whose name says that it changes something."
        ),
        request=ToolListBody, responses=responses_for(200, ServerToolsAnswer, 409, 415),
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        body = ToolListBody(data=request.data)
        body.is_valid(raise_exception=True)
        data = body.validated_data
        listed = [ListedTool(tool["name"], _read_hint(tool)) for tool in data["tools"]]
        added = save_listed_tools(self.workspace, data["server"], listed, actor=self.actor)
        return Response(self._represent_all(data["server"]) | {"added": len(added)})

    @extend_schema(
        operation_id="mcp_tools_judge", summary="Say that a tool only reads, or revoke that",
        request=ToolJudgementBody, responses=responses_for(200, ServerToolAnswer, 415),
    )  # fmt: skip
    def patch(self, request: Request) -> Response:
        body = ToolJudgementBody(data=request.data)
        body.is_valid(raise_exception=True)
        data = body.validated_data
        tool = judge_tool(
            self.workspace,
            data["kind"],
            reads_only=data["reads_only"],
            by=self.bearer.name,
            actor=self.actor,
        )
        return Response(represent_tool(tool))

    def _represent_all(self, server: str = "") -> dict[str, Any]:
        rows = McpServerTool.objects.for_workspace(self.bearer.workspace_id).order_by("server", "name")
        rows = rows.filter(server=server) if server else rows
        return {"results": [represent_tool(tool) for tool in rows], "next": None}


def _read_hint(tool: dict[str, Any]) -> bool | None:
    hint = (tool.get("annotations") or {}).get("readOnlyHint")
    return hint if isinstance(hint, bool) else None
