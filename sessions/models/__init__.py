"""Agent sessions, approvals and grants. What happened is in the ledger; this is what holds now."""

from sessions.models.approvals import UNIQUE_PENDING_APPROVAL, Approval, ApprovalOpening, new_id
from sessions.models.grants import ApprovalGrant
from sessions.models.mcp_tools import McpServerTool
from sessions.models.runs import ContainedRun
from sessions.models.sessions import AgentSession

__all__ = [
    "UNIQUE_PENDING_APPROVAL",
    "AgentSession",
    "Approval",
    "ApprovalGrant",
    "ApprovalOpening",
    "ContainedRun",
    "McpServerTool",
    "new_id",
]
