"""Store what MCP servers list of their tools, and an admin's word that a tool only reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.models import Workspace
from controlplane.policy.calls.external_tools import describe_tool
from controlplane.policy.effects import Effect
from controlplane.shared.errors import ConflictError, InvalidInputError
from sessions.models import McpServerTool
from traces.ledger.append import NewEntry, append

MAX_TOOLS = 5_000  # of a workspace
MCP_PREFIX = "mcp:"


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as its server lists it."""

    name: str
    read_only_hint: bool | None = None


def load_read_only_hints(workspace_id: int) -> dict[str, bool]:
    """Map the kinds of tools to whether they only read, where that is known. 1 query.

    An admin's word counts. A server's word counts unless the tool's own name says that it changes something:
    hints come from the agent's machine.
    """
    hints: dict[str, bool] = {}
    for tool in McpServerTool.objects.for_workspace(workspace_id):
        if tool.reads_only_by:
            hints[tool.kind] = True
        elif tool.read_only_hint is False or (tool.read_only_hint and not has_writing_name(tool)):
            hints[tool.kind] = tool.read_only_hint
    return hints


def has_writing_name(tool: McpServerTool) -> bool:
    """Return whether the name of a tool says that it changes something."""
    return describe_tool(f"mcp__{tool.server}__{tool.name}", {}, {}).effect is Effect.SENDS


def save_listed_tools(
    workspace: Workspace, server: str, listed: Iterable[ListedTool], *, actor: str
) -> list[McpServerTool]:
    """Add the tools that are not known yet and return them. Raise ConflictError for too many."""
    with transaction.atomic():
        Workspace.objects.select_for_update().only("pk").get(pk=workspace.pk)
        rows = McpServerTool.objects.for_workspace(workspace.pk)
        known = set(rows.filter(server=server).values_list("name", flat=True))
        unknown = {tool.name: tool for tool in listed if tool.name not in known}
        if not unknown:
            return []
        if rows.count() + len(unknown) > MAX_TOOLS:
            raise ConflictError(f"A workspace holds at most {MAX_TOOLS} MCP tools.")
        now = timezone.now()
        tools = [
            McpServerTool(
                workspace=workspace,
                server=server,
                name=tool.name,
                read_only_hint=tool.read_only_hint,
                listed_at=now,
                listed_by=actor[:200],
            )
            for tool in unknown.values()
        ]
        created = McpServerTool.objects.add(workspace.pk, tools)
        hints = {tool.name: tool.read_only_hint for tool in created}
        _record(workspace, "listed", {"server": server, "tools": hints}, actor)
    return created


def judge_tool(workspace: Workspace, kind: str, *, reads_only: bool, by: str, actor: str) -> McpServerTool:
    """Record an admin's word that a tool only reads, or take it back. Raise InvalidInputError."""
    server, name = split_kind(kind)
    with transaction.atomic():
        tool, _ = McpServerTool.objects.get_or_create(
            workspace=workspace, server=server, name=name, defaults={"listed_at": timezone.now()}
        )
        McpServerTool.objects.change(
            tool, reads_only_by=by[:200] if reads_only else "", judged_at=timezone.now()
        )
        tool.refresh_from_db()
        event = "reads_only" if reads_only else "may_write"
        _record(workspace, event, {"server": server, "tool": name}, actor)
    return tool


def split_kind(kind: str) -> tuple[str, str]:
    """Return server and tool of `mcp:server.tool`. Raise InvalidInputError for another kind."""
    server, dot, name = kind.removeprefix(MCP_PREFIX).partition(".")
    if not kind.startswith(MCP_PREFIX) or not (server and dot and name):
        raise InvalidInputError(f"{kind!r} is not a tool of an MCP server, like mcp:linear.get_issue.")
    return server, name


def represent_tool(tool: McpServerTool) -> dict[str, Any]:
    return {
        "kind": tool.kind,
        "server": tool.server,
        "name": tool.name,
        "read_only_hint": tool.read_only_hint,
        "hint_counts": tool.read_only_hint is not None
        and not (tool.read_only_hint and has_writing_name(tool)),
        "reads_only_by": tool.reads_only_by or None,
        "listed_at": tool.listed_at.isoformat().replace("+00:00", "Z"),
    }


def _record(workspace: Workspace, event: str, details: Mapping[str, Any], actor: str) -> None:
    body = {"what": "mcp_tool", **details}
    append(NewEntry(workspace_id=workspace.pk, kind="policy", body=body, outcome=event, actor=actor))
