"""Judge what a contained run changed: each path goes through steps 6 to 8, as a call that writes it would."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from posixpath import dirname, join, normpath
from typing import Any

from controlplane.policy.decision import enforce
from controlplane.policy.effects import Effect, Permission
from controlplane.policy.model import Decision, ErrorType, Policy, Reason, ToolCall, Verdict
from sessions.gate.decide import decide_without_lists
from sessions.gate.snapshot import SessionSnapshot
from sessions.runs.traces import GIT_FOLDER

WRITE_TOOL, DELETE_TOOL = "write_to_file", "delete_file"  # every agent's table knows them
CHUNK = 500  # paths a query: SQLite allows a limited number of parameters
# What recording in git changes (contract 8). Its settings and hooks are not among them, nor `info/`, which
# names other object stores.
GIT_RECORDS = (".git/index", ".git/HEAD", ".git/ORIG_HEAD", ".git/COMMIT_EDITMSG", ".git/logs/HEAD")
GIT_OBJECTS, GIT_BRANCHES, GIT_LOGS = ".git/objects/", ".git/refs/heads/", ".git/logs/refs/heads/"
# What is wrong with the session, not with the file: the work is done, so a person is asked instead.
OF_THE_SESSION = frozenset(
    {
        ErrorType.SESSION_ENDED,
        ErrorType.MISSING_OR_INVALID_INTENT,
        ErrorType.INTENT_IGNORED,
        ErrorType.INTENT_CONFLICT,
        ErrorType.ORCHESTRATION_UNAVAILABLE,
    }
)
CHANGED_BELOW = (
    "Stale File: {path} was changed while the command ran, so nothing was written over it. Run it again."
)


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
    """Judge every file. 1 query for 500 of them, and a few for each that other sessions have changed."""
    files, policy = list(files), snapshot.core.policy
    git = _judge_git([row for row in files if row["path"].startswith(GIT_FOLDER)], policy)
    # Nobody can say what class a program's changes are of; it is computed from the texts.
    core = replace(snapshot.core, policy=replace(policy, require_mutation_class=False))
    unclassed, judged = replace(snapshot, core=core), list[JudgedChange]()
    for start in range(0, len(files), CHUNK):
        chunk = files[start : start + CHUNK]
        if snapshot.other_changes is not None:  # what it knows of a path costs the judgement no query
            snapshot.other_changes.find_changes_by_others([row["path"] for row in chunk])
        judged += [git.get(row["path"]) or _judge_file(row, unclassed) for row in chunk]
    return judged


def _judge_file(row: dict[str, Any], snapshot: SessionSnapshot) -> JudgedChange:
    if row.get("stale"):
        text = CHANGED_BELOW.format(path=row["path"])
        return JudgedChange(row, Verdict.DENY, ErrorType.STALE_FILE.value, Reason.HASH_MISMATCH.value, text)
    decision = decide_without_lists(_build_call(row), snapshot).decision
    verdict = _choose_verdict(decision, snapshot.core.policy)
    if verdict is not Verdict.ALLOW and row.get("ignored"):
        # A build or a log that the repository ignores is nobody's work: it is neither landed nor shown.
        verdict = Verdict.DENY
    return JudgedChange(row, verdict, *_describe(decision))


def _choose_verdict(decision: Decision, policy: Policy) -> Verdict:
    if decision.reason is Reason.OUTSIDE_WORKSPACE or decision.error_type is ErrorType.HOOK_BLOCKED:
        return Verdict.DENY  # also where policy only monitors: there is no place to land it
    answered, _ = enforce(decision, policy)
    if answered is Verdict.DENY and decision.error_type in OF_THE_SESSION:
        return Verdict.ASK
    return answered


def _build_call(row: dict[str, Any]) -> ToolCall:
    """Return the call that would make this change: a link counts as writing what it points to."""
    path, target = row["path"], row.get("target")
    tool_input: dict[str, Any] = {"path": path}
    if row["before"]:
        tool_input["expected_content_hash"] = row["before"]
    if isinstance(row.get("content"), str):
        tool_input["content"] = row["content"]
    return ToolCall(
        tool=DELETE_TOOL if row["change"] == "deleted" else WRITE_TOOL,
        input=tool_input,
        current_content_hashes={path: row["before"] or ""},
        # The text of a link is relative to its folder; an absolute one stays as it is.
        links={path: normpath(join(dirname(path), target))} if target else {},
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
