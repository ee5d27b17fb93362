from __future__ import annotations

import pytest

from controlplane.client.agents import CLIENTS
from tests.client import fail_closed
from tests.client.machine import FAULTS

pytestmark = pytest.mark.deep


@pytest.fixture(scope="module")
def found():
    return fail_closed.matrix()


def test_every_fault_and_every_client_is_in_the_matrix():
    assert set(FAULTS) <= set(fail_closed.TITLES)
    assert set(fail_closed.RULES) == set(CLIENTS)


def test_no_tool_runs_whatever_fails(found):
    cells = [(fault, agent, seen) for fault, row in found.items() for agent, seen in row.items()]
    assert [cell for cell in cells if cell[2] == fail_closed.RUNS] == []


def test_the_table_in_the_documentation_is_current(found):
    assert fail_closed.DOCUMENT.read_text(encoding="utf-8") == fail_closed.document(found)
