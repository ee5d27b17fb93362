"""Many small commands: what was judged right for each, and what bash does with it.

`examples.json` holds commands of all kinds, `options.json` walks through the options that decide something. Each
says the verdict, the targets, what is read, which words are unknown for which reason, what happens to targets where
that is more than writing, and which parts of the command are marked where they are not the paths themselves.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controlplane.policy.shell import analyse
from tests.policy.shell.scratch import Scratch

HERE = Path(__file__).parent
EXAMPLES = json.loads((HERE / "examples.json").read_text())
OPTIONS = json.loads((HERE / "options.json").read_text())


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


def answer(command, world):
    analysis = analyse(command, root="/ws", filesystem=world)
    touched = [*analysis.writes, *analysis.reads]
    ops = {path.op for path in analysis.writes}
    marks = {command[path.start : path.end] for path in touched}
    found = {
        "verdict": verdict_of(analysis),
        "writes": sorted({spelled(path) for path in analysis.writes}),
        "ops": sorted(ops) if ops != {"write"} else [],
        "reads": sorted({spelled(path) for path in analysis.reads}),
        "marks": sorted(marks) if marks != {path.raw for path in touched} else [],
        "unknown": [[unknown.text, unknown.reason] for unknown in analysis.unknown],
    }
    return {name: value for name, value in found.items() if value}


@pytest.mark.parametrize("examples", [OPTIONS, EXAMPLES], ids=["options", "examples"])
def test_every_example_gets_its_answer(scratch, examples):
    world = scratch.world()
    for example in examples:
        assert {"command": example["command"], **answer(example["command"], world)} == example


def is_harmless(command, analysis):
    """Runs nothing but known tools of Debian, and stays in the scratch folder."""
    outside = any(path.raw.startswith(("/", "~root")) or path.raw == "." for path in analysis.writes)
    runs = any(part.verdict == "runs" for part in analysis.parts)
    return not (analysis.unknown or runs or outside or "git" in command)


@pytest.mark.deep
def test_bash_changes_nothing_that_is_not_reported(scratch):
    world = scratch.world()
    missed = {}
    for example in EXAMPLES + OPTIONS:
        command = example["command"]
        analysis = analyse(command, root=str(scratch.root), filesystem=world)
        if is_harmless(command, analysis) and (found := scratch.missed(command, analysis)):
            missed[command] = found
    assert missed == {}
