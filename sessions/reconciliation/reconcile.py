"""Compare the changes in git with the record: explained, unexplained or out of scope.

A file is explained when a trace ends in its present content, the gate allowed a call of that session to
change the path, and the trace's intent may change it (or a person approved it). Everything else is a finding.
Scopes, `.intentignore` and protected paths count as they are now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from controlplane.models import Workspace
from intents.models import Intent
from sessions.reconciliation.current_rules import CurrentRules
from sessions.reconciliation.diff import EXECUTABLE_MODE, LINK_MODE, DiffEntry, DiffRange
from sessions.reconciliation.evidence import Evidence, TraceRecord, gather_evidence
from sessions.reconciliation.runs import RunEffect
from traces.entry_schema import to_canonical_path

MAX_FILES = 10_000
EXPLAINED, UNEXPLAINED, OUT_OF_SCOPE = "explained", "unexplained", "out_of_scope"
OUTCOMES = (EXPLAINED, UNEXPLAINED, OUT_OF_SCOPE)
BESIDE_OTHERS = (
    "A trace of a governed call ends in this content. It started from one that neither the base nor a trace "
    "left, so some lines are of a person, a formatter, a merge or an ungoverned tool."
)
CHANGED_AFTER = (
    "changed_after_trace",
    "It was changed after it was traced: by hand, by a formatter or by an ungoverned tool.",
)
CHANGED_BEFORE = (
    "changed_before_trace",
    "It was changed before it was traced, by hand or by a tool: the call wrote what was there already.",
)
DECISION_ARCHIVED = (
    "A trace records this content, but decisions of its session are in an archive or were redacted, and what "
    "they allowed cannot be read. Bring the archive back, and release it again: then it can."
)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result for one file. `entry_id` is its trace, `decision_id` the gate's decision on it."""

    path: str
    status: str
    outcome: str
    reason: str
    text: str
    entry_id: str = ""
    decision_id: str = ""
    session_id: str = ""
    intent_id: str = ""

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) or None for name in self.__slots__}


def reconcile(workspace: Workspace, diff: DiffRange) -> dict[str, Any]:
    """Return the full answer, findings in the order of the files. Write nothing.

    Queries: 1 for 500 paths and their old names, 3 for intents, denials and runs, 1 for 500 sessions.
    """
    files = [_with_canonical_paths(file) for file in diff.files]
    names = [name for file in files if file.readable for name in (file.path, file.old_path) if name]
    evidence = gather_evidence(workspace.pk, names, session_id=diff.session_id, intent_id=diff.intent_id)
    intents = {row.intent_id: row for row in Intent.objects.filter(workspace=workspace)}
    rules = CurrentRules(workspace, intents)
    findings = [_classify(file, diff, evidence, rules) for file in files]
    return _render_answer(diff, findings)


def _render_answer(diff: DiffRange, findings: Sequence[Finding]) -> dict[str, Any]:
    counts = Counter(one.outcome for one in findings)
    return {
        "base": diff.base,
        "head": diff.head,
        "session_id": diff.session_id or None,
        "intent_id": diff.intent_id or None,
        "counts": {"files": len(findings), **{outcome: counts[outcome] for outcome in OUTCOMES}},
        "findings": [one.as_json() for one in findings if one.outcome != EXPLAINED],
        "explained": [one.as_json() for one in findings if one.outcome == EXPLAINED],
    }


def _with_canonical_paths(file: DiffEntry) -> DiffEntry:
    """Return the entry with canonical paths; unreadable where a name is no path of the workspace."""
    try:
        old = to_canonical_path(file.old_path) if file.old_path else ""
        return replace(file, path=to_canonical_path(file.path), old_path=old)
    except ValueError:
        return replace(file, readable=False)


def _classify(file: DiffEntry, diff: DiffRange, evidence: Evidence, rules: CurrentRules) -> Finding:
    finding = Finding(
        file.path, file.status, UNEXPLAINED, "unreadable_path", "Its name is not a path of a workspace."
    )
    if not file.readable:
        return finding
    if diff.intent_id:
        objection = rules.find_objection(file, diff.intent_id)
        if objection is not None and not evidence.is_overridden(file.path):
            return replace(
                finding,
                outcome=OUT_OF_SCOPE,
                reason=objection[0],
                text=objection[1],
                intent_id=diff.intent_id,
            )
    traces = [
        one for one in evidence.list_current(file.path, file.committed_at) if _matches_content(one, file)
    ]
    if file.old_path and file.content_hash:
        current = evidence.list_current(file.old_path, file.committed_at)
        traces += [one for one in current if one.content_hash == file.content_hash]
    governed_traces = [
        one for one in traces if not one.imported and evidence.find_decision(one.session_id, file.path)
    ]
    if not governed_traces:
        return _classify_ungoverned(finding, file, traces, evidence)
    findings = [_classify_traced(finding, one, file, evidence, rules) for one in governed_traces]
    best = next((one for one in findings if one.outcome == EXPLAINED), findings[0])
    unrecorded = _find_unrecorded_part(file, evidence)
    if best.reason == "traced" and not unrecorded and _has_other_lines(best, file, diff, evidence):
        return replace(best, reason="traced_beside_others", text=BESIDE_OTHERS)
    if unrecorded and (best.outcome == EXPLAINED or file.mode_only):
        reason, text = unrecorded
        return replace(_with_trace(finding, governed_traces[0]), reason=reason, text=text)
    return best


def _has_other_lines(finding: Finding, file: DiffEntry, diff: DiffRange, evidence: Evidence) -> bool:
    """Return whether the file held lines that neither git's base nor a trace knows when it was changed.

    False where that is not known: without the content before, or where only some traces count.
    """
    base = file.old_content_hash or ("none" if file.status == "A" else "")
    if not base or file.status in {"R", "C"} or diff.session_id or diff.intent_id:
        return False
    traces = evidence.traces_for(file.path)
    return any(one.entry_id == finding.entry_id and evidence.starts_elsewhere(one, base) for one in traces)


def _find_unrecorded_part(file: DiffEntry, evidence: Evidence) -> tuple[str, str] | None:
    """Return (reason, text) for the part of a change that a trace of its content does not record."""
    run = evidence.find_run_effect(file.path, file.content_hash, landed=True)
    if run is not None and _is_recorded_by(run, file):
        return None
    if file.is_type_changed:
        return "type_changed", "It is or was a symbolic link, and the trace records a text."
    if file.mode_only:
        return "mode_changed", "Its content is as it was, its mode is not, and traces do not record modes."
    if file.is_mode_changed:
        return (
            "mode_changed",
            "The trace records its content, but not who changed whether it can be executed.",
        )
    if file.status == "R" and not _is_removal_recorded(file, evidence):
        return (
            "removal_not_traced",
            f"Its old name {file.old_path} is gone, and no trace of a call records that.",
        )
    return None


def _is_recorded_by(run: RunEffect, file: DiffEntry) -> bool:
    """Return whether a contained run reported the link or the mode that git shows."""
    if file.is_type_changed:
        return run.change == "link" or file.new_mode != LINK_MODE
    return file.is_mode_changed and run.is_executable == (file.new_mode == EXECUTABLE_MODE)


def _is_removal_recorded(file: DiffEntry, evidence: Evidence) -> bool:
    """Return whether a governed call removed the old name: one that moved it, or one traced as a deletion."""
    if evidence.has_call_on_both(file.old_path, file.path):
        return True
    newest = next((one for one in evidence.traces_for(file.old_path) if not one.imported), None)
    if newest is None or not newest.deleted:
        return False
    return bool(evidence.find_decision(newest.session_id, file.old_path))


def _matches_content(trace: TraceRecord, file: DiffEntry) -> bool:
    if file.content_hash is None:
        return file.status == "D" and trace.deleted
    return not trace.deleted and trace.content_hash == file.content_hash


def _classify_traced(
    finding: Finding, trace: TraceRecord, file: DiffEntry, evidence: Evidence, rules: CurrentRules
) -> Finding:
    decision_id = evidence.find_decision(trace.session_id, file.path)
    finding = replace(_with_trace(finding, trace), decision_id=decision_id)
    override = evidence.overrides.get((trace.session_id, file.path))
    objection = rules.find_objection(file, trace.intent_id)
    if objection is not None and not override:
        return replace(finding, outcome=OUT_OF_SCOPE, reason=objection[0], text=objection[1])
    if objection is not None:
        text = f"{objection[1]} A person approved this call."
        return replace(finding, outcome=EXPLAINED, reason="approved", text=text, decision_id=override or "")
    text = "A trace of a governed call ends in this content."
    return replace(finding, outcome=EXPLAINED, reason="traced", text=text)


def _classify_ungoverned(
    finding: Finding, file: DiffEntry, traces: Sequence[TraceRecord], evidence: Evidence
) -> Finding:
    """Return the finding for a file that no governed call explains, by the best evidence there is."""
    run = evidence.find_run_effect(file.path, file.content_hash, landed=False)
    if run is not None:
        return replace(
            finding,
            outcome=OUT_OF_SCOPE,
            reason="run_not_landed",
            text="A contained run left this content, and it was not to land, yet it is here.",
            decision_id=run.decision_id,
            session_id=run.session_id,
            intent_id=run.intent_id,
        )
    if traces:
        live_traces = [one for one in traces if not one.imported]
        reason = "traced_without_decision" if live_traces else "imported_trace"
        text = "A trace records this content, but the gate allowed no call of its session on this path."
        trace = (live_traces or traces)[0]
        if live_traces and trace.session_id in evidence.unreadable_sessions:
            reason, text = "decision_archived", DECISION_ARCHIVED
        return replace(_with_trace(finding, trace), reason=reason, text=text)
    newest = next(iter(evidence.traces_for(file.path)), None)
    if newest is not None:
        is_before = _matches_content(newest, file) and evidence.is_empty(newest)
        reason, text = CHANGED_BEFORE if is_before else CHANGED_AFTER
        return replace(_with_trace(finding, newest), reason=reason, text=text)
    denied = evidence.denied.get(file.path)
    if denied is not None:
        text = "The gate denied a call on this path, yet it changed."
        return replace(finding, outcome=OUT_OF_SCOPE, reason="denied", text=text, **denied)
    allowed = evidence.find_allowed(file.path)
    if allowed is not None:
        text = "The gate allowed a call on this path, but no trace records the result."
        return replace(finding, reason="not_traced", text=text, **allowed)
    return replace(finding, reason="no_trace", text="No decision and no trace names this path.")


def _with_trace(finding: Finding, trace: TraceRecord) -> Finding:
    return replace(finding, entry_id=trace.entry_id, session_id=trace.session_id, intent_id=trace.intent_id)
