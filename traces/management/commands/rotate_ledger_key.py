"""Sign with a new key from now on; the old one is kept to verify with."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from traces.ledger.checkpoints import rotate_key


class Command(BaseCommand):
    help = "Retire the ledger's key and make a new one. Restart the server afterwards."

    def handle(self, **_: Any) -> None:
        retired_path = rotate_key()
        self.stdout.write(
            f"The key in use is new; the old one is kept as {retired_path}. Restart the server now."
        )
