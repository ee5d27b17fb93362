"""Alert the reviewers about contained runs whose effects never came.

What such a command changed is not known: its client was killed, lost its way here, or did not contain it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from controlplane.shared.masking import cut_text
from sessions.models import AgentSession, ContainedRun
from traces.ledger.append import NewEntry, append
from traces.models import EntryKind

REPORT_TIME = timedelta(minutes=5)  # after the time that the command had, or the end of its session
MAX_RUNS = 500  # of one look, the oldest
SHOWN_COMMAND = 120  # characters
ACTOR = "gate"
TEXT = "The effects of a contained run never came, so nobody knows what it changed: {command}"


def alert_on_missing_effects() -> int:
    """Mark overdue runs and alert on each, once, for the server's background loop; return how many."""
    now = timezone.now()
    waiting = ContainedRun.objects.filter(
        status=ContainedRun.Status.ALLOWED, created_at__lt=now - REPORT_TIME
    )
    runs = waiting.select_related("session").order_by("created_at")[:MAX_RUNS]
    return sum(_alert(run) for run in runs if is_overdue(run, now))


def is_overdue(run: ContainedRun, now: datetime) -> bool:
    """Return whether no report can be under way: the command's time is up, or its session is over."""
    ended_at = run.session.ended_at
    is_over = ended_at is not None and ended_at + REPORT_TIME < now and ended_at > run.created_at
    return is_over or run.created_at + timedelta(seconds=run.terms["seconds"]) + REPORT_TIME < now


def _alert(run: ContainedRun) -> bool:
    with transaction.atomic():
        # A report that comes at the same moment wins, or finds the run overdue and is taken all the same.
        rows = ContainedRun.objects.filter(pk=run.pk, status=ContainedRun.Status.ALLOWED)
        if not rows.update(status=ContainedRun.Status.OVERDUE):
            return False
        append(_build_alert(run, run.session))
    return True


def _build_alert(run: ContainedRun, session: AgentSession) -> NewEntry:
    return NewEntry(
        workspace_id=run.workspace_id,
        kind=EntryKind.SESSION,
        idempotency_key=f"run:{run.public_id}:overdue",
        session_id=session.session_id,
        intent_id=session.selected_intent_id,
        outcome="alert",
        agent=session.agent_name,
        tool=run.tool,
        reason="effects_missing",
        actor=ACTOR,
        body={
            "event": "alert",
            "session_id": session.session_id,
            "run_id": run.public_id,
            "decision_id": run.decision_id,
            "command": run.command,
            "contained_by": run.claim,
            "text": TEXT.format(command=cut_text(" ".join(run.command.split()), SHOWN_COMMAND)),
        },
    )
