"""Generated commands, run by bash in a scratch folder: it changes nothing that was not reported."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, assume, given, settings

from controlplane.policy.shell import analyse
from tests.policy.shell.grammar import COMMANDS
from tests.policy.shell.scratch import Scratch

pytestmark = pytest.mark.deep

EXAMPLES = int(os.environ.get("SHELL_EXAMPLES", "150"))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return Scratch(tmp_path_factory.mktemp("bash") / "base")


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(command=COMMANDS)
def test_bash_changes_nothing_that_is_not_reported(scratch, command):
    analysis = analyse(command, root=str(scratch.root), filesystem=scratch.filesystem())
    assume(not analysis.unknown)
    assert scratch.missed(command, analysis) == set(), analysis.writes


@settings(max_examples=EXAMPLES, deadline=None)
@given(command=COMMANDS)
def test_without_a_disk_nothing_more_is_called_safe(scratch, command):
    blind = analyse(command, root=str(scratch.root))
    seeing = analyse(command, root=str(scratch.root), filesystem=scratch.filesystem())
    assert blind.safe == seeing.safe or blind.unknown or seeing.unknown
