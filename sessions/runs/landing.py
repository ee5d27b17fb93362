"""Let go of what waited for a person: the client asks, and lands what was approved."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from controlplane.policy.model import Verdict
from controlplane.shared.masking import to_storable
from controlplane.shared.tokens import Bearer
from sessions.approvals.kinds.run_changes import list_approved
from sessions.errors import RunNotReportedError
from sessions.lifecycle.open import record_session_event
from sessions.models import Approval, ContainedRun
from sessions.runs.report import MAX_LISTED, render_answer
from sessions.runs.traces import record_landings

LANDED, REFUSED = "landed", "refused"


def note_refused(bearer: Bearer, run: ContainedRun, refused: list[dict[str, str]]) -> None:
    """Record once what the client was to land and could not: the traces say that it changed."""
    if not refused:
        return
    with transaction.atomic():
        locked = ContainedRun.objects.select_for_update().select_related("session").get(pk=run.pk)
        landed = {row["path"]: row for row in locked.effects if was_to_land(row) and not row.get(REFUSED)}
        new = [file for file in refused if file["path"] in landed]
        for file in new:
            landed[file["path"]][REFUSED] = to_storable(file["reason"])
        if new:
            locked.save(update_fields=["effects"])
            files = [{"path": file["path"], "reason": to_storable(file["reason"])} for file in new]
            record_session_event(
                locked.session, "not_landed", bearer.actor, run_id=run.public_id, files=files[:MAX_LISTED]
            )
    run.refresh_from_db(fields=["effects"])


def was_to_land(effect: dict[str, Any]) -> bool:
    return effect["verdict"] == Verdict.ALLOW.value or bool(effect.get(LANDED))


def land_held(bearer: Bearer, run: ContainedRun) -> dict[str, Any]:
    """Return what may land now, and record it once. Raise RunNotReportedError before the report came."""
    if run.status != ContainedRun.Status.REPORTED:
        raise RunNotReportedError(run.public_id)
    held = [effect for effect in run.effects if effect["verdict"] == Verdict.ASK.value]
    paths = [effect["path"] for effect in held]
    status = run.approval.status if run.approval else Approval.Status.REJECTED
    answer = render_answer(run) | {"land": [], "hold": [], "discard": []}
    if status == Approval.Status.PENDING:
        return answer | {"hold": paths}
    if status != Approval.Status.APPROVED:
        return answer | {"decision": Verdict.DENY.value, "discard": paths}
    approved = set(list_approved(run.approval)) if run.approval else set()
    with transaction.atomic():
        # Once: the client asks again after a crash, and the ledger must not tell of two landings.
        locked = ContainedRun.objects.select_for_update().select_related("session").get(pk=run.pk)
        new = [row for row in locked.effects if row["path"] in approved and not row.get(LANDED)]
        record_landings(locked, new, bearer.actor)
        for effect in new:
            effect[LANDED] = True
        locked.save(update_fields=["effects"])
    return answer | {
        "decision": Verdict.ALLOW.value,
        "land": [path for path in paths if path in approved],
        "discard": [path for path in paths if path not in approved],
    }
