"""Preview what an approval would let happen, and say where the preview is incomplete."""

from __future__ import annotations

from controlplane.models import Workspace
from intents.models import Intent
from sessions.approvals.card.file_contents import WorkspaceFiles
from sessions.approvals.card.previews.calls import PreviewInputs, preview_call
from sessions.approvals.card.previews.plans import preview_plan
from sessions.approvals.card.previews.run_values import ALL, RunChoice
from sessions.approvals.card.previews.runs import preview_run
from sessions.approvals.card.previews.scope_and_completion import preview_completion, preview_scope
from sessions.approvals.card.previews.values import FilePreview, PatternAddition, Preview
from sessions.approvals.kinds.plans import is_plan
from sessions.core_values import load_policy
from sessions.models import Approval

__all__ = ["FilePreview", "PatternAddition", "Preview", "build_preview"]


def build_preview(
    approval: Approval, workspace: Workspace, intent: Intent | None, choice: RunChoice = ALL
) -> Preview:
    """Build the preview in at most 1 query, 3 for a run, 5 for a plan. `intent` is the session's, at its
    newest revision; `choice` says what is shown of a run.

    Files are read from the local root now, so they may differ from those that the gate checked.
    """
    scope = tuple(intent.owned_scope) if intent else ()
    if approval.kind == Approval.Kind.SCOPE and is_plan(approval):
        return preview_plan(approval, workspace, intent)
    if approval.kind == Approval.Kind.SCOPE:
        return preview_scope(approval, workspace, scope)
    if approval.kind == Approval.Kind.COMPLETION:
        return preview_completion(approval, intent)
    if approval.kind == Approval.Kind.RUN:
        return preview_run(approval, choice)
    return preview_call(PreviewInputs(approval, WorkspaceFiles(workspace), scope, load_policy(workspace)))
