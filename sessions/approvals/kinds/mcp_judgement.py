"""An admin's word, given with an approval, that the MCP tool of the call only reads."""

from __future__ import annotations

from controlplane.shared.errors import NotPermittedError
from sessions.approvals.decision_input import Decider
from sessions.errors import InvalidGrantError
from sessions.mcp_tools.store import MCP_PREFIX, judge_tool
from sessions.models import Approval


def find_called_tool(approval: Approval) -> str:
    """Return the kind of the MCP tool that was called, "" for any other call."""
    kinds = [part["kind"] for part in approval.refused]
    return kinds[0] if len(kinds) == 1 and kinds[0].startswith(MCP_PREFIX) else ""


def validate_judgement(approval: Approval, decider: Decider) -> None:
    """Raise NotPermittedError for a reviewer, InvalidGrantError where no MCP tool was called."""
    if not decider.is_admin:
        raise NotPermittedError("Only an admin can say that a tool only reads.")
    if not find_called_tool(approval):
        raise InvalidGrantError("tool_reads_only: this call is not one of an MCP tool alone.")


def judge_called_tool(approval: Approval, decider: Decider) -> None:
    """Record the admin's word, in the transaction of the decision."""
    kind = find_called_tool(approval)
    judge_tool(approval.workspace, kind, reads_only=True, by=decider.name, actor=decider.actor)
