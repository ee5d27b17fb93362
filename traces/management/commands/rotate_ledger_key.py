"""Replace the ledger's signing key. The old key still verifies."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from traces.ledger.checkpoints import rotate_key


class Command(BaseCommand):
    help = "Retire the ledger's key and create a new one. Restart the server afterwards."

    def handle(self, **_: Any) -> None:
        retired_path = rotate_key()
        self.stdout.write(
            f"Created a new key; the old one is kept as {retired_path}. Restart the server now."
        )
