"""A thousand small commands: the verdict that was judged right for each, and what bash does with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controlplane.policy.shell import analyse
from tests.policy.shell.scratch import Scratch

EXAMPLES = json.loads((Path(__file__).parent / "examples.json").read_text())


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return Scratch(tmp_path_factory.mktemp("shell") / "base")


def verdict_of(analysis):
    if analysis.safe:
        return "safe"
    return "unknown" if analysis.unknown else "writes"


def spelled(path):
    inside = path.cwd and not path.raw.startswith("/")
    return (f"{path.cwd}/" if inside else "") + path.raw + ("/**" if path.recursive else "")


def test_every_example_gets_its_verdict_and_targets(scratch):
    world = scratch.world()
    wrong = []
    for example in EXAMPLES:
        analysis = analyse(example["command"], root="/ws", world=world)
        writes = sorted({spelled(path) for path in analysis.writes})
        if (verdict_of(analysis), writes) != (example["verdict"], example.get("writes", [])):
            wrong.append((example["command"], verdict_of(analysis), writes))
    assert wrong == []


def is_harmless(command, analysis):
    """Runs nothing but known tools of Debian, and stays in the scratch folder."""
    outside = any(path.raw.startswith(("/", "~root")) or path.raw == "." for path in analysis.writes)
    runs = any(part.verdict == "runs" for part in analysis.parts)
    return not (analysis.unknown or runs or outside or "git" in command)


def test_bash_changes_nothing_that_is_not_reported(scratch):
    world = scratch.world()
    missed = {}
    for example in EXAMPLES:
        command = example["command"]
        analysis = analyse(command, root=str(scratch.root), world=world)
        if is_harmless(command, analysis) and (found := scratch.missed(command, analysis)):
            missed[command] = found
    assert missed == {}
