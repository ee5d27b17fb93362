"""Hold a ledger against what callers were told."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.live import LiveServer

SCRIPT = """
import json
from controlplane.models import Workspace
from traces.models import LedgerEntry
workspace = Workspace.objects.get(slug={slug!r})
entries = LedgerEntry.objects.filter(workspace_id=workspace.pk, kind="decision").select_related("body")
print(json.dumps([
    (json.loads(bytes(entry.body.body))["tool_use_id"], entry.entry_id, entry.outcome) for entry in entries
]))
"""

Recorded = tuple[str, str, str]  # call id, decision id, decision


@dataclass(frozen=True, slots=True)
class Comparison:
    lost: list[str]  # calls that were acknowledged, and are not recorded as they were
    twice: list[str]  # calls that are recorded more than once

    @property
    def holds(self) -> bool:
        return not (self.lost or self.twice)


def read_decisions(node: LiveServer, slug: str) -> list[Recorded]:
    lines = node.manage("shell", "-v0", "-c", SCRIPT.format(slug=slug)).strip().splitlines()
    return [tuple(row) for row in json.loads(lines[-1])]


def compare(acknowledged: Mapping[str, tuple[str, str]], recorded: Sequence[Recorded]) -> Comparison:
    """Everything that a caller was told is recorded, under its id and as it was told; no call is there twice."""
    entries = set(recorded)
    lost = [call_id for call_id, told in acknowledged.items() if (call_id, *told) not in entries]
    twice = [
        call_id for call_id, number in Counter(call_id for call_id, *_ in recorded).items() if number > 1
    ]
    return Comparison(lost, twice)
