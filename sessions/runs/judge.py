"""Judge what a contained run changed: each path goes through steps 6 to 8, as a call that writes it would."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from controlplane.policy.effects import Effect, Permission
from controlplane.policy.model import Decision, Policy, ToolCall, Verdict
from sessions.gate.decide import decide_call
from sessions.gate.snapshot import SessionSnapshot

WRITE_TOOL, DELETE_TOOL = "write_to_file", "delete_file"  # every agent's table knows them
GIT_FOLDER = ".git/"
# What recording in git changes (contract 8). Its settings and hooks are not among them, nor `info/`, which
# names other object stores.
GIT_RECORDS = (".git/index", ".git/HEAD", ".git/ORIG_HEAD", ".git/COMMIT_EDITMSG", ".git/logs/HEAD")
GIT_OBJECTS, GIT_BRANCHES, GIT_LOGS = ".git/objects/", ".git/refs/heads/", ".git/logs/refs/heads/"


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """One changed file as the client reported it, and what becomes of it."""

    change: dict[str, Any]
    verdict: Verdict  # allow: it lands; ask: it is held; deny: it is thrown away
    error_type: str = ""
    reason: str = ""
    error: str = ""

    @property
    def path(self) -> str:
        return str(self.change["path"])


def judge_changes(files: Iterable[dict[str, Any]], snapshot: SessionSnapshot) -> list[JudgedChange]:
    """Judge every file. No query for paths that are allowed, up to 3 for each other one."""
    files = list(files)
    git = _judge_git([row for row in files if row["path"].startswith(GIT_FOLDER)], snapshot.core.policy)
    return [git.get(row["path"]) or _judge_file(row, snapshot) for row in files]


def _judge_file(row: dict[str, Any], snapshot: SessionSnapshot) -> JudgedChange:
    decision = decide_call(_build_call(row), snapshot).decision
    if decision.verdict is Verdict.ALLOW:
        return JudgedChange(row, Verdict.ALLOW)
    # A build or a log that the repository ignores is nobody's work: it is neither landed nor shown.
    verdict = Verdict.DENY if row.get("ignored") else decision.verdict
    return JudgedChange(row, verdict, *_describe(decision))


def _build_call(row: dict[str, Any]) -> ToolCall:
    """Return the call that would make this change: a link counts as writing what it points to."""
    path, target = row["path"], row.get("target")
    tool_input: dict[str, Any] = {"path": path}
    if isinstance(row.get("content"), str):
        tool_input["content"] = row["content"]
    deleted = row["change"] == "deleted"
    return ToolCall(
        tool=DELETE_TOOL if deleted else WRITE_TOOL,
        input={"path": path} if deleted else tool_input,
        current_content_hashes={path: row["before"] or ""},
        links={path: target} if target else {},
    )


def _describe(decision: Decision) -> tuple[str, str, str]:
    error_type = decision.error_type.value if decision.error_type else ""
    return error_type, str(decision.reason or ""), decision.error or ""


def _judge_git(rows: list[dict[str, Any]], policy: Policy) -> dict[str, JudgedChange]:
    """Judge git's own files together: objects without their refs, or the other way round, are corruption."""
    word = policy.permission_for(Effect.RECORDS)
    verdict = {Permission.DENY: Verdict.DENY, Permission.ASK: Verdict.ASK}.get(word, Verdict.ALLOW)
    branches = {row["path"] for row in rows if row["path"].startswith(GIT_BRANCHES)}
    if len(branches) > 1 or any(row["change"] == "deleted" for row in rows if row["path"] in branches):
        verdict = max(verdict, Verdict.ASK, key=[Verdict.ALLOW, Verdict.ASK, Verdict.DENY].index)
    judged = {}
    for row in rows:
        path = row["path"]
        if not _is_record(path) or row["change"] in {"link", "mode"}:
            text = f"{path} decides what git runs: a contained command may not change it."
            judged[path] = JudgedChange(row, Verdict.DENY, "SCOPE_VIOLATION", "protected_path", text)
        elif verdict is Verdict.ALLOW:
            judged[path] = JudgedChange(row, verdict)
        else:
            text = f"{path} records something in git, which policy does not permit."
            judged[path] = JudgedChange(row, verdict, "SCOPE_VIOLATION", "unknown_target", text)
    return judged


def _is_record(path: str) -> bool:
    if ".." in path.split("/") or path.startswith(GIT_OBJECTS + "info/"):
        return False
    return path in GIT_RECORDS or path.startswith((GIT_OBJECTS, GIT_BRANCHES, GIT_LOGS))
