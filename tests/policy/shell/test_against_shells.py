"""Generated commands, run by bash, dash and zsh in a scratch folder: the shell changes nothing that was not reported."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, assume, given, settings

from controlplane.policy.shell import analyse
from controlplane.policy.shell.shells import SHELLS_BY_NAME
from tests.policy.shell.grammar import COMMANDS
from tests.policy.shell.scratch import SHELLS, Scratch

pytestmark = pytest.mark.deep

EXAMPLES = int(os.environ.get("SHELL_EXAMPLES", "150"))


@pytest.fixture(scope="module", params=SHELLS)
def scratch(request, tmp_path_factory):
    return Scratch(tmp_path_factory.mktemp(request.param) / "base", request.param)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(command=COMMANDS)
def test_the_shell_changes_nothing_that_is_not_reported(scratch, command):
    analysis = scratch.analyse(command)
    assume(not analysis.unknown)
    assert scratch.missed(command, analysis) == set(), analysis.writes


@settings(max_examples=EXAMPLES, deadline=None)
@given(command=COMMANDS)
def test_without_a_disk_nothing_more_is_called_safe(scratch, command):
    blind = analyse(command, root=str(scratch.root), shells=SHELLS_BY_NAME[scratch.shell])
    seeing = scratch.analyse(command)
    assert blind.safe == seeing.safe or blind.unknown or seeing.unknown
