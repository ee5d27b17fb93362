"""Tools of MCP servers, as servers list them and as admins judge them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models

from controlplane.models import Workspace


class McpServerToolQuerySet(models.QuerySet["McpServerTool"]):
    """Every write raises the revision of the workspace: a decision depends on whether a tool only reads.

    Call them inside a transaction.
    """

    def for_workspace(self, workspace_id: int) -> McpServerToolQuerySet:
        return self.filter(workspace_id=workspace_id)

    def add(self, workspace_id: int, tools: list[McpServerTool]) -> list[McpServerTool]:
        """Save new tools and return them."""
        created = self.bulk_create(tools)
        Workspace.objects.filter(pk=workspace_id).apply_change()
        return created

    def change(self, tool: McpServerTool, **fields: Any) -> bool:
        """Set fields of a tool."""
        changed = self.filter(pk=tool.pk).update(**fields)
        return bool(changed and Workspace.objects.filter(pk=tool.workspace_id).apply_change())


class McpServerTool(models.Model):
    """One tool of an MCP server that agents of a workspace use.

    `read_only_hint` is the server's own word (`readOnlyHint`), None where it says nothing; the first list
    that names the tool counts, so that no later one opens what was closed. `reads_only_by` is the admin who
    says that it only reads, "" where nobody does.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="mcp_tools")
    server = models.CharField(max_length=100)
    name = models.CharField(max_length=200)
    read_only_hint: models.BooleanField[bool | None, bool | None] = models.BooleanField(null=True, blank=True)
    listed_at: models.DateTimeField[datetime, datetime] = models.DateTimeField()
    listed_by = models.CharField(max_length=200, blank=True, default="")
    reads_only_by = models.CharField(max_length=200, blank=True, default="")
    judged_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, blank=True
    )

    objects = McpServerToolQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "server", "name"], name="mcp_tool_once"),
        ]

    def __str__(self) -> str:
        return self.kind

    @property
    def kind(self) -> str:
        """The kind of its calls, as grants and rules name it."""
        return f"mcp:{self.server}.{self.name}"
