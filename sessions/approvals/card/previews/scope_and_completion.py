"""Preview a scope request and the completion of an intent."""

from __future__ import annotations

from controlplane.models import Workspace
from intents.criteria import list_criteria
from intents.known_files import load_known_files
from intents.models import Intent
from sessions.approvals.card.previews.values import PatternAddition, Preview
from sessions.models import Approval

MAX_FILES = 8
ALL_FILES = "These are the known files that the patterns would allow. Files created later are allowed too."
SOME_FILES = "Not every file was checked; the patterns may allow others as well."
NOT_VERIFIED = (
    "Changes and commands are in the ledger. Notes, and exit statuses that no contained run has reported, "
    "are the agent's own words and were not verified."
)


def preview_scope(approval: Approval, workspace: Workspace, scope: tuple[str, ...]) -> Preview:
    """List the files that the patterns would add to `scope`, the current one. 1 query."""
    patterns = approval.call.get("patterns", [])
    known = load_known_files(workspace)
    return Preview(
        complete=known.complete,
        sentence=ALL_FILES if known.complete else SOME_FILES,
        note=f"{len(patterns)} pattern{'' if len(patterns) == 1 else 's'} for {approval.intent_id}",
        adds=tuple(build_addition(pattern, known.find_added([pattern], scope)) for pattern in patterns),
    )


def build_addition(pattern: str, files: list[str], owners: str = "") -> PatternAddition:
    return PatternAddition(pattern, tuple(files[:MAX_FILES]), max(0, len(files) - MAX_FILES), owners)


def preview_completion(approval: Approval, intent: Intent | None) -> Preview:
    """List the acceptance criteria, at their newest revision, with the evidence that the approval confirms.

    At most 1 query.
    """
    is_confirmed = approval.status == Approval.Status.APPROVED
    records = None if is_confirmed else approval.call.get("acceptance_evidence", ())
    criteria = list_criteria(intent, records) if intent else ()
    return Preview(
        complete=True,
        sentence=NOT_VERIFIED,
        note=f"{approval.intent_id} becomes COMPLETED; this is final",
        criteria=criteria,
        open_criteria=sum(not criterion.evidence for criterion in criteria),
        input=approval.call.get("verification_notes", ""),
    )
