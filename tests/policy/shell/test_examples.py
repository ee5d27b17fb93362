"""Many small commands with their answers, and what three shells do with them.

`examples.json` holds commands of all kinds, `options.json` the options that make a difference. A row gives the
verdict, the targets, the reads, and each unknown word with its reason; `ops` where a target is not just written,
and `marks` where the marked text is not the path itself.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controlplane.policy.shell import analyse
from tests.policy.shell.scratch import SHELLS, Scratch

HERE = Path(__file__).parent
EXAMPLES = json.loads((HERE / "examples.json").read_text())
OPTIONS = json.loads((HERE / "options.json").read_text())


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return Scratch(tmp_path_factory.mktemp("shell") / "base")


def summarise(analysis):
    if analysis.safe:
        return "safe"
    return "unknown" if analysis.unknown else "writes"


def spell(path):
    inside = path.cwd and not path.raw.startswith("/")
    return (f"{path.cwd}/" if inside else "") + path.raw + ("/**" if path.recursive else "")


def answer(command, filesystem):
    analysis = analyse(command, root="/ws", filesystem=filesystem)
    touched = [*analysis.writes, *analysis.reads]
    ops = {path.op for path in analysis.writes}
    marks = {command[path.start : path.end] for path in touched}
    answered = {
        "verdict": summarise(analysis),
        "writes": sorted({spell(path) for path in analysis.writes}),
        "ops": sorted(ops) if ops != {"write"} else [],
        "reads": sorted({spell(path) for path in analysis.reads}),
        "marks": sorted(marks) if marks != {path.raw for path in touched} else [],
        "unknown": [[unknown.text, unknown.reason] for unknown in analysis.unknown],
    }
    return {name: value for name, value in answered.items() if value}


@pytest.mark.parametrize("examples", [OPTIONS, EXAMPLES], ids=["options", "examples"])
def test_every_example_gets_its_answer(scratch, examples):
    """All differences at once: a test for each of 2,398 commands would cost more to collect than to run."""
    filesystem = scratch.filesystem()
    wrong = {}
    for example in examples:
        command = example["command"]
        answered = {"command": command, **answer(command, filesystem)}
        if answered != example:
            wrong[command] = {"expected": example, "found": answered}
    assert wrong == {}


def is_harmless(command, analysis):
    """Runs nothing but known tools of Debian, and stays in the scratch folder."""
    outside = any(path.raw.startswith(("/", "~root")) or path.raw == "." for path in analysis.writes)
    runs = any(part.verdict == "runs" for part in analysis.parts)
    return not (analysis.unknown or runs or outside or "git" in command)


@pytest.mark.deep
@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_changes_nothing_that_is_not_reported(tmp_path, shell):
    scratch = Scratch(tmp_path / "base", shell)
    missed = {}
    for example in EXAMPLES + OPTIONS:
        command = example["command"]
        analysis = scratch.analyse(command)
        if is_harmless(command, analysis) and (answered := scratch.missed(command, analysis)):
            missed[command] = answered
    assert missed == {}
