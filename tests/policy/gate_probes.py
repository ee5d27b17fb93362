"""Read tests/data/gate_probes.jsonl and lay out the disks that its lines speak of."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from controlplane.policy.model import Snapshot, ToolCall
from controlplane.policy.paths.filesystem import Filesystem, UnknownFilesystem
from tests.policy import gate_cases
from tests.policy.builders import no_intent, snapshot
from tests.policy.local_filesystem import LocalFilesystem

FILE = Path(__file__).parents[1] / "data" / "gate_probes.jsonl"
WINDOWS_ROOT = r"C:\w\acme"
AGENTS = ("gemini-cli", "copilot", "codex")
# What these need is a server with sessions: tests/sessions/gate/test_probes.py sends them.
OVER_REST = frozenset({"once.replay", "root.word"})
EXTRA_FILES = {
    "README.md": "# acme\n",
    "keys/a.pem": "secret\n",
    "src/auth/a.bak": "old\n",
    "src/auth/d/guide.md": "# mine\n",
    ".opencode/plugins/icp.js": "x\n",
    ".github/hooks/icp.json": "{}\n",
    ".cline/plugins/icp.js": "icp\n",
}
HOOKS = {"git.hooks-path": "core.hooksPath=.githooks", "git.fsmonitor": "core.fsmonitor=.githooks/fsm"}


@dataclass(frozen=True, slots=True)
class Probe:
    """One call of a line, with the state and the disk that it was made for."""

    name: str
    kind: str
    want: str
    call: ToolCall
    snapshot: Snapshot
    filesystem: Filesystem


def load() -> list[dict]:
    return [json.loads(line) for line in FILE.read_text().splitlines()]


def list_probes(base: Path) -> Iterator[Probe]:
    """Yield the calls of every line that needs no server; a line with two calls gives two."""
    root = _lay_out(base / "plain")
    hooked = {kind: _lay_out(base / kind, setting) for kind, setting in HOOKS.items()}
    for line in load():
        if line["kind"] in OVER_REST:
            continue
        inputs = line["tool_input"]
        for data in inputs if isinstance(inputs, list) else [inputs]:
            yield _build(line, data, hooked.get(line["kind"], root))


def list_attacks(base: Path) -> Iterator[Probe]:
    """Yield the calls that must not be allowed."""
    # Of two calls that are harmful together only the second has to be stopped.
    calls = {probe.name: probe for probe in list_probes(base)}
    return (probe for probe in calls.values() if probe.want != "allow")


def _build(line: dict, data: dict, root: Path) -> Probe:
    session = line["session"]
    filesystem: Filesystem = LocalFilesystem(root)
    location = str(root)
    if WINDOWS_ROOT in session:
        filesystem, location = UnknownFilesystem(), WINDOWS_ROOT
    elif "not on disk" in session:
        filesystem = UnknownFilesystem()
    agent = next((name for name in AGENTS if name in session), "claude-code")
    data = json.loads(json.dumps(data).replace("@ROOT@", location.replace("\\", "\\\\")))
    call = ToolCall(tool=line["tool"], input=data, root=location, cwd=location, agent=agent)
    return Probe(line["id"], line["kind"], line["want"], call, _snapshot(session), filesystem)


def _snapshot(session: str) -> Snapshot:
    words = [word.strip() for word in session.split(",")]
    patterns = [word for word in words if "*" in word or word.endswith((".json", ".md"))]
    state = snapshot(*patterns) if patterns else no_intent()
    return replace(state, intentignore=gate_cases.STD["intentignore"])


def _lay_out(root: Path, setting: str = "") -> Path:
    for name, text in {**gate_cases.STD["files"], **EXTRA_FILES}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for step in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run([*git, *step], check=True)
    if setting:
        subprocess.run([*git, "config", *setting.split("=", 1)], check=True)
        for name in ("post-index-change", "fsm"):
            hook = root / ".githooks" / name
            hook.parent.mkdir(exist_ok=True)
            hook.write_text("#!/bin/sh\ntouch docs/PWNED\n")
            hook.chmod(0o755)
    (root.parent / "outside").mkdir(exist_ok=True)
    return root
