"""The command line: Django's, without checks that no command but a few needs.

The checks of routes and templates import every view with all that views need, which takes several times as
long as most commands.
"""

from __future__ import annotations

import gc
from functools import partial

from django.core.checks import Tags
from django.core.management import BaseCommand, ManagementUtility

# These serve the routes, or are asked to check everything.
FULLY_CHECKED = frozenset({"check", "serve", "demo", "runserver", "test", "testserver", "spectacular"})
CHECKED_TAGS = (Tags.models, Tags.database, Tags.files, Tags.security, Tags.caches, Tags.translation)


# Starting creates some 500,000 objects that stay: looking through them again and again finds nothing.
GC_THRESHOLD = 50_000


class CommandLine(ManagementUtility):
    def execute(self) -> None:
        gc.set_threshold(GC_THRESHOLD)
        super().execute()

    def fetch_command(self, subcommand: str) -> BaseCommand:
        command = super().fetch_command(subcommand)
        if subcommand not in FULLY_CHECKED:
            if command.requires_system_checks == "__all__":
                command.requires_system_checks = CHECKED_TAGS
            command.check = partial(command.check, tags=CHECKED_TAGS)  # type: ignore[method-assign]  # as `migrate` calls it
        return command
