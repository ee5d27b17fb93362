"""Commands that try to get around the gate, by the kinds of the public reports, and those that only look.

The agent owns `src/**`. It has prepared what it may: links in its folder that lead out of it, and a folder
that git would take for a repository. Every command of `attacks.json` changes more than that, or nobody can
tell what it changes; `disk` marks those whose trick lies on the disk alone. None of these is run.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from controlplane.policy.decision import decide
from controlplane.policy.model import Verdict
from controlplane.policy.world import NoWorld
from tests.policy.disk import DiskWorld
from tests.policy.shell.scratch import Scratch
from tests.policy.workspace import NOW, bash, no_intent, snapshot

HERE = Path(__file__).parent
ATTACKS = json.loads((HERE / "attacks.json").read_text())
READERS = json.loads((HERE / "readers.json").read_text())
LINKS = {
    "src/in": "../docs",
    "src/b/a.ts": "../../docs/g.md",
    "src/c/auth/a.ts": "../../../docs/g.md",
    "src/tored": "repo/deep",
}
FILES = {
    ".git/config": "",
    "src/repo/HEAD": "ref: x\n",
    "src/repo/deep/x": "",
    "src/tmpl/HEAD": "",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = Scratch(tmp_path_factory.mktemp("attacks") / "base").root
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name, target in LINKS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(target)
    return folder


def verdict(command, state, root, world):
    return decide(replace(bash(command), root=str(root)), state, NOW, world).verdict


def test_no_attack_is_allowed(root):
    allowed = [
        (case["command"], type(world).__name__)
        for case in ATTACKS
        for world in ([DiskWorld(root)] if case.get("disk") else [DiskWorld(root), NoWorld()])
        for state in (snapshot("src/**"), no_intent())
        if verdict(case["command"], state, root, world) is Verdict.ALLOW
    ]
    assert allowed == []


def test_whoever_only_looks_is_let_through_without_an_intent(root):
    refused = [
        (command, type(world).__name__)
        for command in READERS
        for world in (DiskWorld(root), NoWorld())
        if verdict(command, no_intent(), root, world) is not Verdict.ALLOW
    ]
    assert refused == []
