"""Short builders for tests of the core: a snapshot, a call, a file system in a dictionary."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from controlplane.policy.decision import decide
from controlplane.policy.model import IntentStatus, Policy, SelectedIntent, SessionState, Snapshot, ToolCall
from controlplane.policy.paths.filesystem import UnknownFilesystem

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROOT = "/home/ada/shop"


def intent(*scope: str, intent_id="INT-001", status=IntentStatus.IN_PROGRESS, **more) -> SelectedIntent:
    return SelectedIntent(intent_id=intent_id, status=status, owned_scope=scope, **more)


def snapshot(*scope: str, **more) -> Snapshot:
    """A session that works on INT-001 with this scope."""
    own = more.pop("intent", intent(*scope))
    base = {"state": SessionState.ACTION, "selected_intent_id": "INT-001", "intent": own, "policy": Policy()}
    return Snapshot(**{**base, **more})


def no_intent(**more) -> Snapshot:
    return Snapshot(**{"state": SessionState.REASONING, "policy": Policy(), **more})


def call(tool: str, data=None, **more) -> ToolCall:
    return ToolCall(**{"tool": tool, "input": {} if data is None else data, "root": ROOT, **more})


def write(path: str, content="x\n", **data) -> ToolCall:
    return call("Write", {"file_path": path, "content": content, **data})


def bash(command: str, **data) -> ToolCall:
    return call("Bash", {"command": command, **data})


def said(decision) -> tuple[str, str | None, str | None]:
    """Verdict, error type and reason, as plain words."""
    kind, reason = decision.error_type, decision.reason
    return decision.verdict.value, kind and kind.value, reason and str(reason)


def judge(the_call, the_snapshot, world=None, now=NOW):
    return decide(the_call, the_snapshot, now, world or UnknownFilesystem())


def sha256(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


class FakeFilesystem(UnknownFilesystem):
    """Files as a dictionary of path to text; a directory is whatever has files below it. Complete: what
    is not in it does not exist."""

    def __init__(self, **files: str):
        self.files = {name.replace("__", "/"): text for name, text in files.items()}

    @classmethod
    def from_texts(cls, files: dict[str, str]) -> FakeFilesystem:
        world = cls()
        world.files = dict(files)
        return world

    def exists(self, path):
        return path in self.files or self.is_dir(path)

    def is_dir(self, path):
        return any(name.startswith(f"{path}/") for name in self.files)

    def list_files(self, path):
        return [name for name in self.files if name.startswith(f"{path}/")]

    def content_hash(self, path):
        return sha256(self.files[path]) if path in self.files else ""


class ReadableFilesystem(FakeFilesystem):
    """The same, with the texts of its files."""

    def read_text(self, path):
        return self.files.get(path)
