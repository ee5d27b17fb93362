"""Every write that a decision depends on raises a revision, because only a few methods may write at all.

A forgotten revision is a stale allow: the gate would go on deciding on a snapshot that no longer holds. So this
test reads the source, and fails on any write to `revision`, and on any `update` of a field that a decision
depends on, outside of the QuerySets of the models.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = ("controlplane", "intents", "sessions", "traces", "demo")
# Where the revisions are raised: QuerySet methods, by file.
WRITERS = {
    "controlplane/models.py": {"apply_change"},
    "sessions/models/sessions.py": {"apply_change", "touch"},
    "sessions/models/grants.py": {"spend", "revoke", "end_reported"},
    "intents/models.py": {"remove"},
    "sessions/models/mcp_tools.py": {"change"},
}
DECISIVE = {
    "Workspace": {"revision", "policy", "intentignore", "local_root"},
    "AgentSession": {
        "revision", "workspace", "session_id", "token", "agent_name", "root", "cwd", "state", "frozen", "intent",
        "selected_intent_id", "ended_at", "ended_by", "repository", "resumed_from",
    },
    "ApprovalGrant": {
        "session", "kind", "error_type", "digest", "patterns", "expires_at", "used_at", "used_by", "revoked_at",
        "kinds", "places", "intent_id",
    },
    "WorkspaceRule": {"kind", "permission", "removed_at"},
    "McpServerTool": {"server", "name", "read_only_hint", "reads_only_by"},
}  # fmt: skip
RAW_WRITE = re.compile(
    r"(?is)\b(update|delete\s+from)\s+\S*(workspace|agentsession|approvalgrant)\b|revision\s*=\s*\S*revision\s*\+"
)
WRITES = ("update", "bulk_update", "update_or_create", "aupdate", "abulk_update", "aupdate_or_create")


def sources():
    for app in APPS:
        for file in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in file.parts:
                yield file.relative_to(ROOT).as_posix(), file.read_text()


def model_of(node: ast.expr) -> str | None:
    """The model whose manager a chain of calls starts with; None where it starts with a variable."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            if node.attr == "objects" and isinstance(node.value, ast.Name):
                return node.value.id
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            return None
    return None


def faults_of_call(call: ast.Call) -> str | None:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in WRITES:
        return None
    model, names = model_of(call.func.value), {keyword.arg for keyword in call.keywords}
    if model is not None and model not in DECISIVE:
        return None
    decisive = DECISIVE[model] if model else set().union(*DECISIVE.values())
    if call.func.attr != "update":
        return f"{call.func.attr}() of {model}" if model else None
    if None in names:  # **fields: may be any
        return f"update(**…) of {model or 'a variable'}"
    return f"update of {', '.join(sorted(names & decisive))}" if names & decisive else None


class Finder(ast.NodeVisitor):
    def __init__(self, path: str) -> None:
        self.path, self.faults, self.functions = path, [], []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.functions.append(node.name)
        self.generic_visit(node)
        self.functions.pop()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def found(self, node: ast.AST, what: str) -> None:
        if not WRITERS.get(self.path, set()).intersection(self.functions):
            self.faults.append(f"{self.path}:{node.lineno}: {what}")

    def visit_Call(self, node: ast.Call) -> None:
        fault = faults_of_call(node)
        if fault:
            self.found(node, fault)
        named_f = getattr(node.func, "id", getattr(node.func, "attr", "")) == "F"
        if named_f and node.args and getattr(node.args[0], "value", "") == "revision":
            self.found(node, "F('revision')")
        self.generic_visit(node)

    def _visit_targets(self, node: ast.stmt, targets: list[ast.expr]) -> None:
        for target in targets:
            if isinstance(target, ast.Attribute) and target.attr == "revision":
                self.found(node, "assignment to .revision")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._visit_targets(node, node.targets)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._visit_targets(node, [node.target])

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and RAW_WRITE.search(node.value) and "\n" not in node.value.strip():
            self.found(node, "raw SQL")


def faults(path: str, source: str) -> list[str]:
    finder = Finder(path)
    finder.visit(ast.parse(source))
    return finder.faults


def test_only_the_querysets_write_what_a_decision_depends_on():
    assert [fault for path, source in sources() for fault in faults(path, source)] == []


@pytest.mark.parametrize(
    "line",
    [
        "AgentSession.objects.filter(pk=1).update(revision=F('revision') + 1)",
        "AgentSession.objects.filter(pk=1).update(frozen=True)",
        "AgentSession.objects.exclude(pk=1).filter(a=2).update(**news)",
        "Workspace.objects.filter(pk=1).update(policy={})",
        "ApprovalGrant.objects.update(revoked_at=now)",
        "rows.update(selected_intent_id='')",
        "models.F('revision')",
        "workspace.revision += 1",
        "session.revision = 3",
        "ApprovalGrant.objects.bulk_update(rows, ['used_at'])",
        "cursor.execute('UPDATE agent_sessions_agentsession SET frozen = 1')",
        "cursor.execute(f'UPDATE {table} SET revision = revision + 1')",
    ],
)
def test_a_write_elsewhere_is_found(line):
    assert faults("sessions/gate/other.py", line)


@pytest.mark.parametrize(
    "line",
    [
        "AgentSession.objects.filter(pk=1).apply_change(frozen=True)",
        "Outlet.objects.update(state='x')",
        "values.update(other)",
        "body = {'revision': intent.revision}",
        "Token.objects.filter(pk=1).update(revoked_at=now)",
    ],
)
def test_what_no_decision_depends_on_is_free(line):
    assert faults("sessions/gate/other.py", line) == []


def test_every_writer_is_still_there():
    for path, names in WRITERS.items():
        tree = ast.parse((ROOT / path).read_text())
        assert names <= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, path
