"""Find secrets that older rules let into the ledger, and take them out."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from intents.management.workspaces import find_workspace
from sessions.approvals.stored_calls import mask_stored_calls
from traces.ledger.redaction import find_entries_with_secrets, redact

REASON = "It holds what the present rules mask as a secret."


class Command(BaseCommand):
    help = "List the ledger entries that hold what is masked as a secret today; with --apply redact them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workspace", required=True, help="the workspace's slug")
        parser.add_argument("--apply", action="store_true", help="redact them: this cannot be undone")
        parser.add_argument("--actor", default="command", help="who is recorded as having done it")

    def handle(self, *, workspace: str, apply: bool, actor: str, **_: Any) -> None:
        found = find_workspace(workspace)
        number = 0
        for entry in list(find_entries_with_secrets(found.pk)):
            number += 1
            self.stdout.write(f"{entry.entry_id} {entry.kind} {entry.session_id}")
            if apply:
                redact(entry, reason=REASON, actor=actor)
        calls = mask_stored_calls(found.pk, apply=apply)
        done = "redacted" if apply else "found; --apply redacts them"
        self.stdout.write(f"{number} entries and {calls} calls of approvals {done}")
