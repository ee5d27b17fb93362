"""Calls that once got around the gate, or that it once stopped in vain: each line answers as its `want`.

A line that answers otherwise stands in gate_probes_open.json with the reason.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from controlplane.policy.decision import decide
from tests.policy import gate_probes
from tests.policy.builders import NOW, said

OPEN = json.loads((Path(__file__).parents[1] / "data" / "gate_probes_open.json").read_text())
IDS = [line["id"] for line in gate_probes.load() if line["kind"] not in gate_probes.OVER_REST]


@pytest.fixture(scope="module")
def probes(tmp_path_factory):
    by_id = defaultdict(list)
    for probe in gate_probes.list_probes(tmp_path_factory.mktemp("probes")):
        by_id[probe.name].append(probe)
    return by_id


def has_answer(probe, verdict: str) -> bool:
    return verdict in {word for word in ("allow", "ask", "deny") if word in probe.want}


@pytest.mark.parametrize("name", IDS)
def test_a_probe(name, probes):
    decisions = [decide(probe.call, probe.snapshot, NOW, probe.filesystem) for probe in probes[name]]
    if len(decisions) == 2:  # harmful together: one of them has to be stopped
        right = any(decision.verdict != "allow" for decision in decisions)
    else:
        right = has_answer(probes[name][0], decisions[0].verdict)
    assert right is (name not in OPEN), (probes[name][0].call.input, [said(item) for item in decisions])


def test_every_line_that_answers_otherwise_has_its_reason():
    assert OPEN.keys() <= set(IDS)
    assert all(len(reason) > 20 for reason in OPEN.values())
