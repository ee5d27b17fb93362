from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.server import demo


class Command(BaseCommand):
    help = "Create the example workspace acme with users, tokens and intents, or find it again."

    def handle(self, *_: Any, **__: Any) -> None:
        try:
            seeded = demo.seed()
        except demo.DemoConflictError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(demo.describe_demo(seeded))
