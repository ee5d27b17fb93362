"""Calls that real agents sent to their hooks (tests/data/captured_calls.json): each is understood."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controlplane.policy.calls.targets import find_targets
from controlplane.policy.model import Policy, ToolCall

CALLS = json.loads((Path(__file__).parents[1] / "data" / "captured_calls.json").read_text())


@pytest.mark.parametrize("row", CALLS, ids=lambda row: f"{row['agent']}-{row['tool']}")
def test_a_captured_call(row):
    call = ToolCall(row["tool"], row["input"], root="/workspace", cwd="/workspace", agent=row["agent"])
    found = find_targets(call, Policy())
    assert found.input_error is None
    assert found.tool_class.value == row["class"]
    assert sorted(named.raw for named in found.writes) == sorted(row["writes"])
    assert sorted(named.raw for named in found.reads) == sorted(row["reads"])
    assert bool(found.unknown) is row["unknown"]
