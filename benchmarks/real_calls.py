"""Replay recorded tool calls of coding agents through the gate's decision, one intent a session."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from controlplane.policy.decision import decide
from controlplane.policy.effects import suggest_kinds
from controlplane.policy.model import (
    Decision,
    Grant,
    IntentStatus,
    Policy,
    SelectedIntent,
    SessionState,
    Snapshot,
    ToolCall,
    Verdict,
)
from sessions.worktree import Worktree

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SCOPE_DEPTH = 3  # folders deep
TESTS = (
    "tests/**",
    "test/**",
    "**/tests/**",
    "**/test/**",
    "**/__tests__/**",
    "**/*_test.*",
    "**/*.test.*",
    "**/*.spec.*",
    "**/test_*.py",
)
WIDE = ("**",)
FILE_FIELDS = ("file_path", "filePath", "path", "notebook_path")
# The starter of a project by the files that its sessions touched, as its marker files would tell.
MARKERS = {
    ".rs": "Cargo.toml",
    ".go": "go.mod",
    ".java": "pom.xml",
    ".kt": "build.gradle.kts",
    ".ts": "package.json",
    ".tsx": "package.json",
    ".js": "package.json",
    ".py": "pyproject.toml",
}


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """One conversation: its agent, root, the files of its commits, and its calls in order."""

    agent: str
    root: str
    touched: tuple[str, ...]
    calls: tuple[dict, ...]

    @property
    def narrow_scope(self) -> tuple[str, ...]:
        """The folders of the touched files, three deep, and tests."""
        patterns = dict.fromkeys(map(_to_folder_pattern, self.touched))
        return (*patterns, *TESTS)


@dataclass(slots=True)
class Repository:
    """The sessions of one file, and a directory with the files that they name, empty ones."""

    name: str
    sessions: list[RecordedSession]
    root: Path

    def filesystem(self) -> Worktree:
        return Worktree(0, str(self.root), {})


@dataclass(slots=True)
class Tally:
    """Answers, counted."""

    calls: int = 0
    sessions: int = 0
    quiet_sessions: int = 0  # without an ask
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)  # of the parts that asked
    effects: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    denials: Counter[str] = field(default_factory=Counter)

    def rate(self, verdict: Verdict) -> float:
        return 100 * self.verdicts[verdict] / self.calls if self.calls else 0.0


def load_sessions(file: Path) -> list[RecordedSession]:
    text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return [_to_session(json.loads(line)) for line in text.splitlines() if line.strip()]


def _to_session(data: dict) -> RecordedSession:
    calls = tuple(data["calls"])
    first_cwd = next((call["cwd"] for call in calls if call.get("cwd")), "/home/dev/app")
    root = data.get("root") or first_cwd
    return RecordedSession(data.get("agent") or "", root, tuple(data.get("touched") or ()), calls)


def load_repositories(folder: Path, workspace: Path) -> Iterator[Repository]:
    """Yield the repositories of a folder, each laid out below `workspace`."""
    files = sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])
    if not files:
        raise SystemExit(f"{folder} holds no *.jsonl and no *.jsonl.gz.")
    for file in files:
        name = file.name.split(".")[0]
        repository = Repository(name, load_sessions(file), workspace / name)
        _lay_out(repository)
        yield repository


def _lay_out(repository: Repository) -> None:
    root = repository.root
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    names = {name for session in repository.sessions for name in session.touched}
    for session in repository.sessions:
        names.update(_list_named_files(session))
    suffixes = Counter(Path(name).suffix for session in repository.sessions for name in session.touched)
    marker = next((MARKERS[suffix] for suffix, _ in suffixes.most_common() if suffix in MARKERS), "README.md")
    for name in sorted({*names, marker}):
        file = root / name
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        except (OSError, ValueError):
            continue  # a name that another one makes a folder, or that no disk takes


def _list_named_files(session: RecordedSession) -> Iterator[str]:
    """Yield the files below the root that file tools name."""
    for call in session.calls:
        data = call["input"] if isinstance(call["input"], dict) else {}
        for name in FILE_FIELDS:
            path = data.get(name)
            if not isinstance(path, str) or not path.startswith(f"{session.root}/"):
                continue
            relative = PurePosixPath(path).relative_to(session.root)
            if relative.suffix and ".." not in relative.parts and ".git" not in relative.parts:
                yield str(relative)


def _to_folder_pattern(path: str) -> str:
    folders = path.split("/")[:-1][:SCOPE_DEPTH]
    return "/".join((*folders, "**")) if folders else path


def replay(
    repository: Repository, policy: Policy, intentignore: str, *, scope: str, approves: bool, tally: Tally
) -> tuple[Grant, ...]:
    """Decide all calls of a repository in order and add them to the tally; return what was granted.

    `approves`: a person answers each card with its default choice.
    """
    filesystem = repository.filesystem()
    granted: list[Grant] = []
    for session in repository.sessions:
        patterns = session.narrow_scope if scope == "narrow" else WIDE
        snapshot = Snapshot(
            policy=policy,
            state=SessionState.ACTION,
            selected_intent_id="INT-001",
            intent=SelectedIntent("INT-001", IntentStatus.IN_PROGRESS, patterns),
            intentignore=intentignore,
        )
        asks = 0
        for call in session.calls:
            decision = decide(to_tool_call(session, call), snapshot, NOW, filesystem)
            _count(tally, decision)
            if decision.verdict is Verdict.ASK:
                asks += 1
                snapshot = approve_by_default(snapshot, decision) if approves else snapshot
        granted.extend(snapshot.grants)
        tally.sessions += 1
        tally.quiet_sessions += not asks
    return tuple(granted)


def to_tool_call(session: RecordedSession, call: dict) -> ToolCall:
    cwd = call.get("cwd") or session.root
    return ToolCall(tool=call["tool"], input=call["input"], root=session.root, cwd=cwd, agent=session.agent)


def _count(tally: Tally, decision: Decision) -> None:
    tally.calls += 1
    tally.verdicts[decision.verdict] += 1
    if decision.verdict is Verdict.ASK:
        tally.reasons[str(decision.reason)] += 1
        causes = list_causes(decision)
        tally.kinds.update({cause[0] for cause in causes})
        tally.effects.update({cause[1] for cause in causes})
    elif decision.verdict is Verdict.DENY:
        tally.denials[str(decision.reason)] += 1


def list_causes(decision: Decision) -> list[tuple[str, str]]:
    """Return kind and effect of what asked; the reason where the call names no such part."""
    causes = [(part.kind or f"no kind: {part.part[:40]}", part.effect.value) for part in decision.refused]
    return causes or [(str(decision.reason), "")]


def approve_by_default(snapshot: Snapshot, decision: Decision) -> Snapshot:
    """Return the snapshot after a person has taken the card's default choice.

    That is the session and the kinds of the parts that nobody had permitted, or else this very call.
    """
    kinds = suggest_kinds(part.kind for part in decision.refused)
    if decision.error_type is None or not kinds:
        return snapshot
    grant = Grant(decision.digest, "session", decision.error_type, decision.digest, kinds=kinds)
    return replace(snapshot, grants=(*snapshot.grants, grant))
