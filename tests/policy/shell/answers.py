"""Short forms of what the analysis answers, for comparing."""

from __future__ import annotations

from controlplane.policy.shell import analyse


def writes(command, **where):
    return [(path.cwd, path.raw) for path in analyse(command, **where).writes]


def reads(command, **where):
    return [(path.cwd, path.raw) for path in analyse(command, **where).reads]


def reasons(command, **where):
    return [unknown.reason for unknown in analyse(command, **where).unknown]
