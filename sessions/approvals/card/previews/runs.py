"""Preview what a contained run changed and what of it waits: the real diffs, by the client's word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.urls import reverse

from sessions.approvals.card.previews.patches import parse_patch_files
from sessions.approvals.card.previews.run_values import (
    ALL,
    HeldFile,
    HeldPage,
    ListedFile,
    RunChoice,
    RunCounts,
    RunView,
)
from sessions.approvals.card.previews.values import Preview
from sessions.approvals.card.stop_reason import explain_held_file
from sessions.approvals.kinds import run_changes
from sessions.approvals.triage.dangers import find_dangers
from sessions.models import Approval, ContainedRun
from traces.models import TraceFile
from traces.timeline.describe_entries import find_seal_state

MAX_LISTED = 100  # files that landed or were thrown away, each
NOTES = {"created": "new file", "modified": "", "deleted": "deleted", "mode": "other permissions"}
GIT_FOLDER = ".git/"
SHOWN_HASH = len("sha256:") + 16
COMPLETE = "The command has run already. These are all its changes that wait, as its client reported them."
INCOMPLETE = "For some of the files there is no diff: they are binary or large."


def preview_run(approval: Approval, choice: RunChoice = ALL) -> Preview:
    """Show the run and each change that waits. At most 2 queries."""
    missing = any(
        file.get("diff") is None and file["change"] in {"created", "modified", "deleted"}
        for file in approval.call.get("files", ())
    )
    run = build_run_view(approval, choice)
    return Preview(complete=not missing, sentence=INCOMPLETE if missing else COMPLETE, run=run)


def build_run_view(approval: Approval, choice: RunChoice = ALL) -> RunView:
    """Build the view in 2 queries."""
    run = ContainedRun.objects.filter(approval=approval).first() or ContainedRun()
    effects = {effect["path"]: effect for effect in run.effects}
    rows = [file | {"effect": effects.get(file["path"], {})} for file in approval.call.get("files", ())]
    page = run_changes.bound_page(approval, choice.page)
    shown = run_changes.slice_page(rows, page)
    landed = [row for row in run.effects if row["verdict"] == "allow" and not _is_git(row)][:MAX_LISTED]
    seals = _find_seals(approval, [row["path"] for row in [*landed, *shown]])
    approved = set(run_changes.list_approved(approval))
    return RunView(
        id=run.public_id,
        command=approval.call.get("command", ""),
        exit_code=approval.call.get("exit_code"),
        duration_ms=approval.call.get("duration_ms"),
        reported_at=run.reported_at,
        started_at=run.created_at,
        network=run.terms.get("network", ""),
        hidden=len(run.terms.get("hidden", ())),
        contained_by=_describe_claim(approval.call.get("contained_by") or {}),
        counts=_count(run, rows),
        files=tuple(_build_held(row, approval, approved, choice, seals) for row in shown),
        page=_build_page(approval, page, len(rows) - len(shown), choice),
        added=sum(row.get("added") or 0 for row in rows),
        removed=sum(row.get("removed") or 0 for row in rows),
        landed=tuple(_build_listed(row, seals.get(row["path"])) for row in landed),
        discarded=_list_discarded(run),
    )


def _count(run: ContainedRun, held: list[Any]) -> RunCounts:
    quiet = [row for row in run.effects if row["verdict"] == "deny" and row.get("ignored")]
    landed = [row for row in run.effects if row["verdict"] == "allow"]
    git = sum(map(_is_git, landed))
    denied = sum(row["verdict"] == "deny" for row in run.effects) - len(quiet)
    return RunCounts(len(landed) - git, len(held), denied, git, len(quiet))


def _build_page(approval: Approval, page: int, others: int, choice: RunChoice) -> HeldPage:
    return HeldPage(page, run_changes.count_pages(approval), others, others_ticked=choice.others)


def _build_held(
    row: Mapping[str, Any],
    approval: Approval,
    approved: set[str],
    choice: RunChoice,
    seals: Mapping[str, Any],
) -> HeldFile:
    path, effect = row["path"], row["effect"]
    parsed = parse_patch_files(row["diff"]) if row.get("diff") else []
    hunks = parsed[0].hunks if parsed else ()
    call = {"offending": [path], "targets": [{"path": path, "op": _get_operation(row)}]}
    return HeldFile(
        path=path,
        note=_describe_change(row),
        hunks=hunks,
        added=row.get("added"),
        removed=row.get("removed"),
        facts=() if hunks else _list_facts(row),
        why=explain_held_file(approval, row),
        dangers=tuple(find_dangers(call)),
        state=_find_state(approval, effect, is_approved=path in approved),
        ticked=choice.ticked is None or path in choice.ticked,
        refused=effect.get("refused", ""),
        seal=seals.get(path) if effect.get("landed") else None,
    )


def _get_operation(row: Mapping[str, Any]) -> str:
    return "delete" if row["change"] == "deleted" else "write"


def _find_state(approval: Approval, effect: Mapping[str, Any], *, is_approved: bool) -> str:
    if approval.status == Approval.Status.PENDING:
        return "held"
    if effect.get("landed"):
        return "refused" if effect.get("refused") else "landed"
    return "approved" if is_approved else "discarded"


def _describe_change(row: Mapping[str, Any]) -> str:
    """Return e.g. `new file`, `symbolic link to ../x`, `other permissions: 755`."""
    if row.get("target"):
        return f"symbolic link to {row['target']}"
    note = NOTES.get(row["change"], "")
    return f"{note}: {row['mode']}" if note and row.get("mode") else note


def _list_facts(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is known of a change that has no diff: its size and its hashes."""
    facts = [f"{name} {row[name][:SHOWN_HASH]}…" for name in ("before", "after") if row.get(name)]
    return (f"{row.get('size') or 0:,} bytes", *facts) if row["change"] != "deleted" else tuple(facts)


def _build_listed(row: Mapping[str, Any], seal: Mapping[str, Any] | None = None) -> ListedFile:
    note = _describe_change(row)
    return ListedFile(row["path"], note, row.get("added"), row.get("removed"), row.get("error", ""), seal)


def _list_discarded(run: ContainedRun) -> tuple[ListedFile, ...]:
    rows = (row for row in run.effects if row["verdict"] == "deny" and not row.get("ignored"))
    return tuple(_build_listed(row) for row in rows)[:MAX_LISTED]


def _find_seals(approval: Approval, paths: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Map paths to the place in the ledger of the session's newest trace of each. 1 query."""
    rows = TraceFile.objects.filter(
        workspace_id=approval.workspace_id,
        session_id=approval.session.session_id,
        path__in=list(paths),
        entry__received_at__gte=approval.requested_at,
    ).select_related("entry__leaf")
    log = reverse("traces:list", args=[approval.workspace.slug])
    return {row.path: _build_seal(row, log) for row in rows.order_by("pk")}


def _build_seal(row: TraceFile, log: str) -> dict[str, Any]:
    seal = find_seal_state(row.entry)
    return {"state": seal.state, "number": seal.number, "url": f"{log}?entry={row.entry_id}"}


def _is_git(row: Mapping[str, Any]) -> bool:
    return bool(row["path"].startswith(GIT_FOLDER))


def _describe_claim(claim: Mapping[str, Any]) -> str:
    """Return the client's words for what contained the run, e.g. `overlay + Landlock 7`."""
    parts = ["overlay"] if claim.get("overlay") else []
    if claim.get("landlock"):
        parts.append(f"Landlock {claim['landlock']}")
    return " + ".join(parts)
