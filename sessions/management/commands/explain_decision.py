from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.models import Workspace
from sessions.explain.steps import Explanation, explain_call, find_or_build_session, read_session_snapshot
from traces.entries.recorded_calls import to_recorded_call
from traces.ledger.append import read_body
from traces.models import EntryKind, LedgerEntry

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

# Fields of the record, printed in this order where the ledger has them.
PRINTED_FIELDS = (
    "decision",
    "answered",
    "error_type",
    "reason",
    "error",
    "classification",
    "targets",
    "cwd",
    "approval_id",
)


class Command(BaseCommand):
    help = "Print a recorded decision, and each step of deciding the same call today."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("decision_id", help="`decision_id` of the gate's answer.")
        parser.add_argument(
            "--workspace",
            default="",
            help="The workspace's slug; needed where two workspaces have a decision of this id.",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        entry = self._find_entry(options["decision_id"], options["workspace"])
        workspace = Workspace.objects.get(pk=entry.workspace_id)
        self._print_record(entry, workspace)
        call = to_recorded_call(entry, root=workspace.local_root)
        if call.call is None:
            self.stdout.write(f"\nIt cannot be decided again: {call.unreplayable_reason}.")
            return
        session = find_or_build_session(workspace, entry.session_id, agent=entry.agent)
        self._print_explanation(explain_call(call.call, read_session_snapshot(session)))

    def _find_entry(self, decision_id: str, slug: str) -> LedgerEntry:
        entries = LedgerEntry.objects.select_related("body").filter(
            kind=EntryKind.DECISION, entry_id=decision_id
        )
        if slug:
            workspace = Workspace.objects.filter(slug=slug).first()
            if workspace is None:
                raise CommandError(f"There is no workspace {slug!r}.")
            entries = entries.filter(workspace_id=workspace.pk)
        matches = list(entries[:2])
        if len(matches) > 1:
            raise CommandError("Two workspaces have a decision of this id. Name one with --workspace.")
        if not matches:
            raise CommandError(f"No decision {decision_id!r} is in the ledger.")
        return matches[0]

    def _print_record(self, entry: LedgerEntry, workspace: Workspace) -> None:
        body = read_body(entry) or {}
        self.stdout.write(
            f"Recorded {entry.received_at.isoformat()} in {workspace.slug}, session {entry.session_id}"
        )
        self.stdout.write(f"  {'intent':<15}{entry.intent_id or 'none'}")
        self.stdout.write(f"  {'tool':<15}{entry.tool}")
        for name in PRINTED_FIELDS:
            if body.get(name):
                value = body[name]
                text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                self.stdout.write(f"  {name:<15}{text}")

    def _print_explanation(self, explanation: Explanation) -> None:
        self.stdout.write(f"\nToday: {explanation.decision.verdict}")
        for step in explanation.steps:
            self.stdout.write(f"{step.number:>3}  {step.outcome:<5} {step.name}: {step.observed}")
            if step.text:
                self.stdout.write(f"{'':11}{step.text}")
