"""Replace the ledger's signing key. The old key still verifies."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.models import Workspace
from traces.ledger.checkpoints import KeyFileError
from traces.ledger.keys.rotation import rotate_key


class Command(BaseCommand):
    help = "Take a new key into use, and tell it in every ledger: signed by the old key and the new one."

    def handle(self, **_: Any) -> None:
        workspace_ids = list(Workspace.objects.order_by("pk").values_list("pk", flat=True))
        try:
            retired_path = rotate_key(workspace_ids, actor="command:rotate_ledger_key")
        except KeyFileError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"A new key signs from now on, as an entry of each ledger tells. The old one is {retired_path}."
        )
