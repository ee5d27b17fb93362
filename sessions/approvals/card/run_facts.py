"""The facts of a contained run beside its card: when, on which terms, and what git says of it since."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from controlplane.policy.model import Verdict
from sessions.models import Approval, ContainedRun
from traces.entries.reconciliations import find_last_reconciliation


@dataclass(frozen=True, slots=True)
class RunFacts:
    """`checked` is what the last reconciliation says, "" before one; `agrees`: it found no fault."""

    started_at: datetime
    network: str
    hidden: int
    places: tuple[str, ...]
    kinds: tuple[str, ...]
    checked: str = ""
    agrees: bool = True


def build_run_facts(approval: Approval) -> RunFacts | None:
    """Return None for what is no run. 2 queries for one."""
    run = ContainedRun.objects.filter(approval=approval).select_related("session").first()
    if run is None:
        return None
    checked, agrees = _check(run)
    effects = (effect.get("effect", "") for effect in approval.call.get("effects", ()))
    return RunFacts(
        started_at=run.created_at,
        network=run.terms.get("network", ""),
        hidden=len(run.terms.get("hidden", ())),
        places=tuple(run.terms.get("places", ())),
        kinds=tuple(dict.fromkeys(effect.replace("_", " ") for effect in effects if effect)),
        checked=checked,
        agrees=agrees,
    )


def _check(run: ContainedRun) -> tuple[str, bool]:
    """Return what the last reconciliation about the session says of the run's files."""
    found = find_last_reconciliation(run.workspace_id, "session", run.session.session_id)
    if found is None or found.body is None:
        return "", True
    faults = sum(finding["decision_id"] == run.decision_id for finding in found.body["findings"])
    explained = sum(finding["decision_id"] == run.decision_id for finding in found.body["explained"])
    if faults:
        return f"git disagrees on {faults} file{'' if faults == 1 else 's'}", False
    landed = sum(row["verdict"] == Verdict.ALLOW.value or bool(row.get("landed")) for row in run.effects)
    return (f"git agrees: {explained} of {landed} landed", True) if explained else ("", True)
