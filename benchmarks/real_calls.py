"""Replay recorded tool calls of coding agents through the gate's decision, one intent a session."""

from __future__ import annotations

import gzip
import json
import os
import re
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
    Place,
    Policy,
    Reason,
    SelectedIntent,
    SessionState,
    Snapshot,
    ToolCall,
    ToolClass,
    Verdict,
)
from controlplane.policy.rules.places import find_place_problem
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
PLACE_DEPTH = 6  # segments of a folder that is asked for: /home/NAME/projects/GROUP/REPOSITORY
DEEP = 2  # slashes of a path that is not one of many repositories by chance
MIN_SHARED = 2  # files that make a folder a work tree
ABSOLUTE = re.compile(r"/(?:home|Users)/[\w./@+-]+")
RELATIVE = re.compile(r"(?<![\w/])[\w.@+-]+(?:/[\w.@+-]+)+")
ADDED_TREE = re.compile(r"git worktree add (?:-b \S+ |--detach )*(?!-)([\w./@+-]+)")
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


@dataclass(frozen=True, slots=True)
class Mode:
    """How calls are answered: by a person's default choice, by a client that contains commands, by an intent
    that allows kinds of commands, and what policy says to effects beside the starter."""

    name: str
    approves: bool = True
    contains: bool = False
    effects: tuple[tuple[str, str], ...] = ()
    allowed_commands: tuple[str, ...] = ()


# What the session of an intent sends out, as a person writes it into the intent.
OUTWARD = (
    "git push", "gh pr create", "gh pr edit", "gh pr comment", "gh issue create", "gh issue edit",
    "gh issue comment",
)  # fmt: skip
MODES = (
    Mode("starter", approves=False),
    Mode("default_choice"),
    Mode("contained", contains=True),
    Mode("contained_unknown", contains=True, effects=(("unknown", "contain"),)),
    Mode("contained_intent", contains=True, effects=(("unknown", "contain"),), allowed_commands=OUTWARD),
)


@dataclass(slots=True)
class Tally:
    """Answers, counted. `contained` commands ran without a question; `held` is how many of them may have left
    something that one would have been asked about afterwards."""

    calls: int = 0
    contained: int = 0
    held: int = 0
    sessions: int = 0
    quiet_sessions: int = 0  # without an ask
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)  # of the parts that asked
    effects: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    denials: Counter[str] = field(default_factory=Counter)

    @property
    def questions(self) -> int:
        """Return the questions before a call, and after a run."""
        return self.verdicts[Verdict.ASK] + self.held

    def rate(self, verdict: Verdict) -> float:
        number = self.questions if verdict is Verdict.ASK else self.verdicts[verdict]
        return 100 * number / self.calls if self.calls else 0.0


def load_sessions(file: Path) -> list[RecordedSession]:
    text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return [_to_session(json.loads(line)) for line in text.splitlines() if line.strip()]


def _to_session(data: dict) -> RecordedSession:
    calls, touched = tuple(data["calls"]), tuple(data.get("touched") or ())
    root = data.get("root") or _find_root(calls, touched)
    return RecordedSession(data.get("agent") or "", root, touched, calls)


def _find_root(calls: tuple[dict, ...], touched: tuple[str, ...]) -> str:
    """Return where a session worked that does not say so: the folder below which its calls name the files
    that its commits touched, or to which they change most often, else the directory of its first command."""
    text = json.dumps([call["input"] for call in calls])
    folders = Counter(
        match[1] for path in touched for match in re.finditer(rf"(/[\w./-]+)/{re.escape(path)}\b", text)
    )
    folders = folders or Counter(re.findall(r"\bcd (/[\w./-]+) &&", text))
    first_cwd = next((call["cwd"] for call in calls if call.get("cwd")), "/home/dev/app")
    return folders.most_common(1)[0][0] if folders else first_cwd


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
    for number, tree in enumerate(_find_work_trees(repository)):
        entry = root / ".git" / "worktrees" / str(number)
        entry.mkdir(parents=True)
        (entry / "gitdir").write_text(f"{tree}/.git\n")
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


def _find_work_trees(repository: Repository) -> list[str]:
    """Return the other work trees of a repository, as its git would know them.

    They are the folders that `git worktree add` names, those of a folder `app__worktrees` or `app.worktrees`
    beside the root, and those in which calls name files by the path that the repository has them under.
    """
    known = {name for session in repository.sessions for name in session.touched}
    for session in repository.sessions:
        known.update(_list_named_files(session))
    known = {name for name in known if name.count("/") >= DEEP}
    found: Counter[str] = Counter()
    for session in repository.sessions:
        for call in session.calls:
            for tree, weight in _list_tree_hints(session, call, known):
                found[tree] += weight
    trees = {tree for tree, weight in found.items() if weight >= MIN_SHARED}
    return sorted(tree for tree in trees if not any(tree.startswith(f"{other}/") for other in trees))


def _list_tree_hints(session: RecordedSession, call: dict, known: set[str]) -> Iterator[tuple[str, int]]:
    """Yield folders outside of the root that a call may show to be work trees, each with its weight."""
    text, cwd = json.dumps(call["input"]), call.get("cwd") or session.root
    is_inside = cwd == session.root or cwd.startswith(f"{session.root}/")
    if is_inside:
        yield from (
            (os.path.normpath(PurePosixPath(cwd, path)), MIN_SHARED) for path in ADDED_TREE.findall(text)
        )
    else:
        yield from ((cwd, 1) for path in set(RELATIVE.findall(text)) if path in known)
    for path in {*ABSOLUTE.findall(text), cwd}:
        beside = re.match(rf"{re.escape(session.root)}(?:__|[.-])worktrees/[^/]+", path)
        if beside is not None:
            yield beside[0], MIN_SHARED
        elif not path.startswith((f"{session.root}/", "/tmp/")):
            segments = path.split("/")
            tails = ((count, "/".join(segments[count:])) for count in range(2, len(segments) - DEEP))
            yield from (("/".join(segments[:count]), 1) for count, tail in tails if tail in known)


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
    repository: Repository, policy: Policy, intentignore: str, *, scope: str, mode: Mode, tally: Tally
) -> tuple[Grant, ...]:
    """Decide all calls of a repository in order and add them to the tally; return what was granted."""
    filesystem = repository.filesystem()
    granted: list[Grant] = []
    for session in repository.sessions:
        patterns = session.narrow_scope if scope == "narrow" else WIDE
        snapshot = Snapshot(
            policy=policy,
            state=SessionState.ACTION,
            selected_intent_id="INT-001",
            intent=SelectedIntent(
                "INT-001", IntentStatus.IN_PROGRESS, patterns, allowed_commands=mode.allowed_commands
            ),
            intentignore=intentignore,
        )
        asks, contained, named, approves = 0, 0, set[str](), mode.approves
        for call in session.calls:
            tool_call = replace(to_tool_call(session, call), can_contain=mode.contains)
            decision = decide(tool_call, snapshot, NOW, filesystem)
            _count(tally, decision)
            contained += decision.contained
            named.update(target.path for target in decision.targets)
            if decision.verdict is Verdict.ASK:
                asks += 1
                snapshot = approve_by_default(snapshot, decision) if approves else snapshot
            elif approves and decision.reason is Reason.OUTSIDE_WORKSPACE and not _writes_outside(decision):
                # The refusal says how to ask: for the folder, to read it. A person says yes.
                opened = open_place(snapshot, decision)
                if opened is not snapshot:
                    asks += 1
                    tally.verdicts[Verdict.ASK] += 1
                    tally.kinds["places to read"] += 1
                snapshot = opened
        granted.extend(snapshot.grants)
        held = min(contained, count_held(session, named, snapshot, filesystem)) if contained else 0
        tally.contained += contained
        tally.held += held
        tally.sessions += 1
        tally.quiet_sessions += not (asks or held)
    return tuple(granted)


def count_held(session: RecordedSession, named: set[str], snapshot: Snapshot, filesystem: Worktree) -> int:
    """Return how many files one would be asked about after the commands of a session.

    Nobody recorded what a command changed. What is known: the files of the session's commits that no call
    names were changed by commands. Each is judged as an effect of a run is; at most one question for each.
    """
    held = 0
    for path in set(session.touched) - named:
        write = ToolCall(tool="write_to_file", input={"path": path}, root=session.root, agent=session.agent)
        held += decide(write, snapshot, NOW, filesystem).verdict is Verdict.ASK
    return held


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


def _writes_outside(decision: Decision) -> bool:
    """Return whether a refused call changes something: no place to read would let it through."""
    return decision.tool_class is not ToolClass.SAFE


def open_place(snapshot: Snapshot, decision: Decision) -> Snapshot:
    """Return the snapshot with the folder of what was refused as a place to read, where that may be."""
    path = next((path for path in decision.offending if path.startswith("/")), "")
    folder = "/".join(path.split("/")[:PLACE_DEPTH])
    pattern = {"pattern": f"{folder}/**", "access": "read"}
    if not folder or find_place_problem(pattern) is not None:
        return snapshot
    places = tuple(dict.fromkeys((*snapshot.policy.places, Place(pattern["pattern"], "read"))))
    policy = replace(snapshot.policy, places=places)
    return snapshot if policy == snapshot.policy else replace(snapshot, policy=policy)
