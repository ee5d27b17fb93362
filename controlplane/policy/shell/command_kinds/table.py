"""All rows of the table, by program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from controlplane.policy.effects import Effect
from controlplane.policy.shell.command_kinds.row import TableRow, parse_rows
from controlplane.policy.shell.command_kinds.rows.forges import FORGE_READ_OPTIONS, FORGE_READS
from controlplane.policy.shell.command_kinds.rows.git_commands import (
    GIT_DISCARDS,
    GIT_FETCHES,
    GIT_RECORDS,
    GIT_REMOTES,
    GIT_SENDS,
)
from controlplane.policy.shell.command_kinds.rows.machine import BROWSES, MACHINE, SENDS
from controlplane.policy.shell.command_kinds.rows.packages import INSTALL_OPTIONS, INSTALLS, PACKAGE_READS
from controlplane.policy.shell.command_kinds.rows.runners import RUNNERS, VERBOSITY
from controlplane.policy.shell.command_kinds.rows.trackers import (
    LOOKS,
    PANES,
    TRACKER_DISCARDS,
    TRACKER_OPTIONS,
    TRACKER_SENDS,
    TRACKERS,
)

TABLES = (
    (Effect.RUNS_PROJECT, "runs tests, builds or linters of the workspace", RUNNERS, VERBOSITY),
    (Effect.RECORDS, "records in git", GIT_RECORDS, ""),
    (Effect.DISCARDS, "may overwrite work that is not committed", GIT_DISCARDS, ""),
    (Effect.FETCHES, "fetches from a remote of the repository", GIT_FETCHES, ""),
    (Effect.SENDS, "sends commits to a remote", GIT_SENDS, ""),
    (Effect.SENDS, "changes where commits are sent to", GIT_REMOTES, ""),
    (Effect.FETCHES, "reads from the forge", FORGE_READS, FORGE_READ_OPTIONS),
    (Effect.FETCHES, "reads from a package registry", PACKAGE_READS, "-h --help -q --quiet"),
    (Effect.INSTALLS, "brings dependencies in", INSTALLS, INSTALL_OPTIONS),
    (Effect.MACHINE, "changes processes, services or containers", MACHINE, "--help -h"),
    (Effect.SENDS, "changes something elsewhere", SENDS, "--help"),
    (Effect.BROWSES, "reads from another machine", BROWSES, "--help"),
    (Effect.READS, "only looks", LOOKS, "-h --help"),
    (Effect.RECORDS, "records in the repository's own tracker", TRACKERS, TRACKER_OPTIONS),
    (Effect.DISCARDS, "removes issues of the tracker", TRACKER_DISCARDS, TRACKER_OPTIONS),
    (Effect.SENDS, "sends the tracker's issues to a remote", TRACKER_SENDS, TRACKER_OPTIONS),
    (Effect.MACHINE, "starts, tells or ends what runs in other panes", PANES, "-h --help"),
)


def _build_table() -> Mapping[str, tuple[TableRow, ...]]:
    rows = defaultdict(list)
    for effect, reason, text, common in TABLES:
        for row in parse_rows(effect, reason, text, common):
            rows[row.words[0]].append(row)
    # The longest kind first: `git stash drop` before `git stash`.
    return {name: tuple(sorted(found, key=lambda row: -len(row.words))) for name, found in rows.items()}


ROWS = _build_table()
