"""Draw the rows of the queue that an event changes, for every page that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.template.loader import render_to_string

from controlplane.models import Workspace
from sessions.approvals.queue import QueueTotals, build_item, load_item, load_totals
from sessions.live.events import LiveEvent, QueueChange
from sessions.models import Approval

ROW = "approvals/_queue_card.html"


class Nobody:
    """The reader of a row that is drawn for everybody: no decision is "yours"."""

    pk = None


class Reader:
    """The person who decided, for whom the receipt says "you"."""

    def __init__(self, user_id: int) -> None:
        self.pk = user_id


def render_queue_changes(
    workspace_id: int, events: Sequence[LiveEvent], *, with_rows: bool
) -> dict[int, QueueChange]:
    """Return what each approval event changes, by its number: the count, and the rows where pages show them.

    Of several events of one row the newest draws it, so a burst costs each page one row.
    """
    workspace = Workspace.objects.get(pk=workspace_id)
    totals = load_totals(workspace)
    changes = {event.seq: QueueChange(totals.pending) for event in events}
    return changes | _render_rows(workspace, events, totals) if with_rows else changes


def _render_rows(
    workspace: Workspace, events: Sequence[LiveEvent], totals: QueueTotals
) -> dict[int, QueueChange]:
    newest = {str(event.data.get("approval_id")): event.seq for event in events}
    rows = Approval.objects.with_card_relations().for_workspace(workspace.pk)
    approvals = {approval.public_id: approval for approval in rows.filter(public_id__in=newest)}
    last_of_shape = {approvals[each].shape or each: seq for each, seq in newest.items() if each in approvals}
    strip = render_to_string("approvals/_strip.html", {"strip": totals})
    changes = {}
    for approval_id, seq in newest.items():
        approval = approvals.get(approval_id)
        if approval is None:
            continue
        values: dict[str, Any] = {"strip": strip}
        if last_of_shape[approval.shape or approval_id] == seq:
            values |= {"key": approval.shape or approval_id, "row": _render_pending(workspace, approval)}
        own = _render_ended(workspace, approval, values) if approval.status != Approval.Status.PENDING else {}
        changes[seq] = QueueChange(totals.pending, values, approval.decided_by_id, values | own)
    return changes


def _render_pending(workspace: Workspace, approval: Approval) -> str:
    item = load_item(approval)
    return _render(workspace, item) if item else ""


def _render_ended(workspace: Workspace, approval: Approval, values: dict[str, Any]) -> dict[str, Any]:
    """Put the receipt's row into the values; return what the decider sees instead."""
    values |= {"ended": _render(workspace, build_item(approval, Nobody)), "id": approval.public_id}
    if approval.decided_by_id is None:
        return {}
    return {"ended": _render(workspace, build_item(approval, Reader(approval.decided_by_id)))}


def _render(workspace: Workspace, item: Any) -> str:
    return render_to_string(ROW, {"workspace": workspace, "item": item, "may_decide": True}).strip()
