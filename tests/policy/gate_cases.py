"""Reading the gate cases under tests/data/gate_cases, and laying out the workspaces that they speak of."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path

from controlplane.policy.model import (
    IntentStatus,
    Policy,
    SelectedIntent,
    SessionState,
    Snapshot,
    ToolCall,
    ToolClass,
)

FOLDER = Path(__file__).parents[1] / "data" / "gate_cases"
FILES = (
    "path",
    "glob",
    "tools",
    "shell-readonly",
    "shell-writes",
    "shell-tricks",
    "ignore",
    "stale",
    "session",
)
STD = json.loads((FOLDER / "workspaces" / "std.json").read_text())

# Words of the cases -> error types and reasons of the contract; None is any reason.
WORDS = {
    "NO_ACTIVE_INTENT": [("MISSING_OR_INVALID_INTENT", None)],
    "INTENT_NOT_FOUND": [("MISSING_OR_INVALID_INTENT", None)],
    "INTENT_NOT_ACTIVE": [("MISSING_OR_INVALID_INTENT", None)],
    "INTENT_IGNORED": [("INTENT_IGNORED", None)],
    "SESSION_CLOSED": [("SESSION_ENDED", None)],
    "CONFIG_INVALID": [("ORCHESTRATION_UNAVAILABLE", None)],
    "INVALID_INPUT": [("HOOK_BLOCKED", {"invalid_input", "invalid_path"})],
    "INVALID_PATH": [("HOOK_BLOCKED", {"invalid_path", "invalid_input"})],
    "INVALID_HASH": [("HOOK_BLOCKED", {"invalid_input"})],
    "PATH_ESCAPE": [("SCOPE_VIOLATION", {"outside_workspace"})],
    "PROTECTED_PATH": [("SCOPE_VIOLATION", {"protected_path"})],
    "SCOPE_VIOLATION": [("SCOPE_VIOLATION", {"not_in_scope", "empty_scope"})],
    "UNKNOWN_TARGETS": [("SCOPE_VIOLATION", {"unknown_target"})],
    "IGNORED_PATH": [("INTENTIGNORE_PATH_BLOCKED", None)],
    "STALE_FILE": [("STALE_FILE", None)],
    "HASH_REQUIRED": [("STALE_FILE", {"hash_required"})],
    "APPROVAL_REJECTED": [("SCOPE_VIOLATION", {"unknown_target"})],
}


# Work that is not committed may be lost, also in scope: contract 7 asks, the older case allows.
SUPERSEDED = {"sh-066": {"decision": "ask", "error_type": "UNKNOWN_TARGETS"}}


def load(name: str) -> list[dict]:
    cases = json.loads((FOLDER / f"{name}.json").read_text())
    return [case | {"expect": case["expect"] | SUPERSEDED.get(case["id"], {})} for case in cases]


def filled_in(value, base: Path):
    """The case with its tokens replaced by the folders that stand for them."""
    table = {"@ROOT@": base / "acme", "@OUTSIDE@": base / "outside", "@HOME@": base / "home"}
    if isinstance(value, str):
        for token, path in table.items():
            value = value.replace(token, str(path))
        return value
    if isinstance(value, list):
        return [filled_in(item, base) for item in value]
    if isinstance(value, dict):
        return {filled_in(key, base): filled_in(item, base) for key, item in value.items()}
    return value


def emptied(value, base: Path):
    """The other way round: the folders replaced by their tokens."""
    text = json.dumps(value, ensure_ascii=False)
    for token, path in {
        "@ROOT@": base / "acme",
        "@OUTSIDE@": base / "outside",
        "@HOME@": base / "home",
        "@BASE@": base,
    }.items():
        text = text.replace(str(path), token)
    return json.loads(text)


def layout_key(case: dict) -> str:
    return json.dumps(
        [case["workspace"].get("files_extra"), case["workspace"].get("symlinks")], sort_keys=True
    )


def lay_out(base: Path, case: dict) -> None:
    """The files, links and folders that a (filled in) case speaks of, below `base`."""
    shutil.rmtree(base, ignore_errors=True)
    root = base / "acme"
    _write(root, STD["files"])
    git = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for step in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run([*git, *step], check=True)
    for folder in ("outside/dir", "acme-evil/src/auth", "home/.ssh"):
        (base / folder).mkdir(parents=True)
    _write(base, {"outside/keep": "keep\n", "acme-evil/src/auth/login.ts": "x\n"})
    _write(root, case["workspace"].get("files_extra", {}))
    for name, target in case["workspace"].get("symlinks", {}).items():
        link = root / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, newline="")


def snapshot_of(case: dict, **policy) -> Snapshot:
    """What the gate knows when the case's call comes in."""
    workspace, session = case["workspace"], case["session"]
    selected = session.get("intent")
    extra = workspace.get("policy_extra", {})
    return Snapshot(
        policy=Policy(
            **{
                "tool_classes": tuple((name, ToolClass.SAFE) for name in extra.get("safe_tools_add", [])),
                "require_content_hash": extra.get("require_content_hash", False),
                **policy,
            }
        ),
        state=SessionState.ENDED if session.get("state") == "closed" else SessionState.ACTION,
        selected_intent_id=selected,
        intent=_intent(workspace.get("intents", STD["intents"]), selected),
        intentignore=_ignore_of(workspace),
    )


def _intent(intents: list[dict], selected: str | None) -> SelectedIntent | None:
    found = next((i for i in intents if i["id"] == selected), None)
    if found is None:
        return None
    status = {"DONE": "COMPLETED", "DRAFT": "PENDING"}.get(found["status"], found["status"])
    return SelectedIntent(found["id"], IntentStatus(status), tuple(found["owned_scope"]))


def _ignore_of(workspace: dict) -> str:
    if "intentignore_b64" in workspace:
        return base64.b64decode(workspace["intentignore_b64"]).decode("utf-8", "replace")
    return workspace.get("intentignore", STD["intentignore"])


def call_of(case: dict, root: Path) -> ToolCall:
    tool, data = case["call"]["tool"], case["call"]["input"]
    hashes = case["call"].get("current_content_hashes", {})
    tool = "select_active_intent" if tool == "select_intent" else tool
    return ToolCall(tool=tool, input=data, root=str(root), cwd=str(root), current_content_hashes=hashes)


def is_right(case: dict, verdict: str, error_type: str | None, reason: str | None) -> str | None:
    """What is wrong with an answer: `bypass`, `false block`, `wrong reason`, or None."""
    expect = case["expect"]
    wanted = expect.get("decision_in") or [expect["decision"]]
    if verdict == "allow":
        return None if "allow" in wanted else "bypass"
    if set(wanted) == {"allow"}:
        return "false block"
    words = expect.get("error_type_in") or ([expect["error_type"]] if expect.get("error_type") else [])
    pairs = [pair for word in words for pair in WORDS[word]]
    if not pairs or any(error_type == kind and (why is None or reason in why) for kind, why in pairs):
        return None
    return "wrong reason"
