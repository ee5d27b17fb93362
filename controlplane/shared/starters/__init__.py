"""Recommended settings for a new workspace: by kind of project, and by coding agent.

A new workspace gets the secrets; the rest is set when somebody applies it. Safe commands are complete:
`pytest *` would allow options that write anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from controlplane.shared.starters.agents import AGENT_STARTERS
from controlplane.shared.starters.projects import PROJECT_STARTERS
from controlplane.shared.starters.remotes import find_remote_hosts, find_work_trees
from controlplane.shared.starters.starter import Starter

__all__ = ["AGENT_STARTERS", "SECRETS_STARTER", "STARTERS", "Starter", "detect_starter"]

# What every new workspace gets unless it is told otherwise.
SECRETS_STARTER = Starter("secrets", "Secrets", only_secrets=True)
STARTERS: Mapping[str, Starter] = {starter.kind: starter for starter in PROJECT_STARTERS}


def detect_starter(root: Path) -> Starter:
    """Return the starter for a local repository, by the files at its top and with its remotes."""
    try:
        names = {entry.name for entry in root.iterdir()}
    except OSError:
        names = set()
    matches = (starter for starter in PROJECT_STARTERS if names.intersection(starter.marker_files))
    starter = next(matches, STARTERS["generic"])
    return replace(starter, remotes=find_remote_hosts(root), work_trees=find_work_trees(root))
