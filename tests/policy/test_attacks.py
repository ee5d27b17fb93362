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
from controlplane.policy.paths.filesystem import UnknownFilesystem
from tests.policy.builders import NOW, bash, call, no_intent, said, snapshot
from tests.policy.local_filesystem import LocalFilesystem
from tests.policy.shell.scratch import Scratch

DATA = Path(__file__).parent / "data"
ATTACKS = json.loads((DATA / "attacks.json").read_text())
TOOL_ATTACKS = json.loads((DATA / "tool_attacks.json").read_text())
AGENTS = (
    "",
    "claude-code",
    "codex",
    "roo",
    "cline",
    "gemini-cli",
    "copilot",
    "opencode",
    "cursor",
    "qwen-code",
)
READERS = json.loads((DATA / "readers.json").read_text())
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
        for world in (
            [LocalFilesystem(root)] if case.get("disk") else [LocalFilesystem(root), UnknownFilesystem()]
        )
        for state in (snapshot("src/**"), no_intent())
        if verdict(case["command"], state, root, world) is Verdict.ALLOW
    ]
    assert allowed == []


def test_no_input_of_a_tool_is_allowed_more_than_it_names(root):
    allowed = [
        (case, agent)
        for case in TOOL_ATTACKS
        for agent in AGENTS
        for state in (snapshot("src/**"), no_intent())
        if judged(case["tool"], case["input"], root, state, agent=agent).verdict is Verdict.ALLOW
    ]
    assert allowed == []


def judged(tool, data, root, state=None, **more):
    the_call = replace(call(tool, data), root=str(root), **more)
    return decide(the_call, state or snapshot("src/**"), NOW, LocalFilesystem(root))


@pytest.mark.parametrize(
    ("tool", "data"),
    [
        ("exec_command", {"cmd": "touch src/x", "shell": "/bin/zsh", "login": True}),
        ("Bash", {"command": "touch src/x", "shell": True, "env": {"LANG": "C"}}),
        ("MultiEdit", {"file_path": "src/a", "edits": [{"old_string": "a", "new_string": "b"}, "docs/x"]}),
        ("MultiEdit", {"file_path": "src/a", "edits": [{"file_path": "src/auth/a.ts", "source": "docs/x"}]}),
        ("WebFetch", {"url": "https://example.com/?x=file:///etc"}),
        ("WebFetch", {"url": 7}),
        (
            "apply_patch",
            {
                "patch": "*** Begin Patch\n*** Update File: src/b.txt\n@@\n *** a\n+*** b\n*** End of File\n*** End Patch"
            },
        ),
    ],
)
def test_the_usual_settings_of_a_call_are_no_trick(root, tool, data):
    assert judged(tool, data, root, agent="codex" if tool == "exec_command" else "").verdict is Verdict.ALLOW


@pytest.mark.parametrize("url", ["file:///etc/passwd", "file://{root}/top.txt", " FILE:/etc/passwd"])
def test_the_address_of_a_file_is_refused_where_a_page_is_fetched(root, url):
    """It would be read past .intentignore and out of the workspace; a plain path can be judged."""
    decision = judged("WebFetch", {"url": url.format(root=root)}, root)
    assert said(decision) == ("deny", "HOOK_BLOCKED", "invalid_path")
    assert "Send the plain path" in decision.error


def test_whoever_only_looks_is_let_through_without_an_intent(root):
    refused = [
        (command, type(world).__name__)
        for command in READERS
        for world in (LocalFilesystem(root), UnknownFilesystem())
        if verdict(command, no_intent(), root, world) is not Verdict.ALLOW
    ]
    assert refused == []
