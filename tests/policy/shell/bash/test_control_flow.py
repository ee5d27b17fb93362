"""Lists and branches."""

from __future__ import annotations

import pytest

from controlplane.policy.shell.bash import control_flow
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome
from tests.policy.shell.trees import STATE, leaf


def test_a_list_knows_two_operators():
    with pytest.raises(UnclearCommandError):
        control_flow.walk_and_or(CommandOutcome.from_state(STATE), "!", CommandOutcome.from_state)


def test_a_clause_needs_its_border():
    with pytest.raises(UnclearCommandError):
        control_flow._find_token(leaf("elif_clause", named=True), "then")
