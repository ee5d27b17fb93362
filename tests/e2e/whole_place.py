"""A workspace in which each thing that the pages show has happened, and the address of every page in it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from tests.e2e.conftest import Place

CONTAINMENT = {"overlay": True, "landlock": 7}
LONG = "src/modules/administration/components/subscriptions/InvoiceDownloadButton.module.test.tsx"
EDIT = {"file_path": "docs/design.md", "old_string": "Cookies hold the session.", "new_string": "Tokens do."}
BILLING = {
    "id": "INT-002", "name": "Bill by the seat", "description": "Count seats once a day", "status": "PENDING",
    "owned_scope": ["src/billing/**", "docs/billing.md"], "acceptance_criteria": ["Invoices add up"],
    "dependencies": ["INT-001"],
}  # fmt: skip


def fill(place: Place) -> dict[str, str]:
    """Let everything happen. Return the address of each page below the workspace, by a name."""
    place.api("admin", "POST", "intents", BILLING)
    place.agent_at_work()
    _work(place)
    held = {
        "edit": _ask(place, "Edit", **EDIT),
        "new-file": _ask(place, "Write", file_path=LONG, content="export const one = 1;\n" * 30),
        "shell": _ask(place, "Bash", command=f"rm -rf dist && cp -r {LONG} docs/other/place", description="Tidy"),
        "unknown": _ask(place, "Bash", command='python3 "$TOOL" --out "$OUT_DIR"'),
        "secret": _ask(place, "Read", file_path=".env"),
        "mcp": _ask(place, "mcp__linear__create_issue", title="Broken login"),
        "run": _run(place),
        "scope": _request(place, "request-scope", patterns=["src/billing/**"], reason="Seats are counted there."),
        "plan": _request(place, "request-scope", patterns=["docs/**"], kinds=["npm install"], reason="A release."),
        "completion": _request(place, "complete-intent", verification_notes="All 12 tests pass."),
    }  # fmt: skip
    alike = [_ask(place, "Bash", command=f"rm -rf build/{number}") for number in range(4)]
    decided = {
        "approved": _decide(place, _ask(place, "Edit", **EDIT | {"file_path": "docs/a.md"}), "approve"),
        "rejected": _decide(place, _ask(place, "Edit", **EDIT | {"file_path": "docs/b.md"}), "reject"),
    }
    place.gate("Edit", **EDIT | {"file_path": "docs/a.md"})
    shape = _find_shape(place, alike[0])
    cards = {name: f"approvals/{approval}/" for name, approval in {**held, **decided}.items()}
    return {
        **PAGES,
        **cards,
        "alike": f"approvals/alike/{shape}/",
        "split-diff": f"{cards['edit']}?diff=split",
    }


PAGES: Mapping[str, str] = {
    "overview": "", "approvals": "approvals/", "approvals-search": "approvals/?q=docs", "interruptions": "interruptions/",
    "history": "approvals/history/?range=all", "stops": "stops/", "palette": "go/?q=docs",
    "intents": "intents/", "intent": "intents/INT-001/", "intent-edit": "intents/INT-001/edit/", "intent-new": "intents/new/",
    "intent-import": "intents/import/", "sessions": "sessions/", "sessions-all": "sessions/?show=all", "session": "sessions/s-1",
    "session-reader": "sessions/s-1?show=reader", "traces": "traces/", "traces-by-kind": "traces/?kind=decision&outcome=ask",
    "entry": "traces/?entry=1", "ledger": "traces/ledger/", "map": "traces/map/", "map-search": "traces/map/?q=login",
    "file": "traces/map/file/src/auth/login.ts", "attempts": "traces/map/file/docs/design.md", "lessons": "lessons/",
    "policy": "settings/", "intentignore": "settings/intentignore/", "members": "settings/members/",
    "tokens": "settings/tokens/", "outlets": "settings/outlets/", "mcp-tools": "settings/mcp-tools/",
    "settings-ledger": "settings/ledger/", "connect": "connect/", "explain": "explain/", "missing": "traces/map/file/none.ts",
}  # fmt: skip


def _work(place: Place) -> None:
    """Calls and changes of two agents, one of them refused."""
    for name in ("login", "tokens"):
        place.gate("Write", file_path=f"src/auth/{name}.ts", content="export {}\n")
        trace = {"path": f"src/auth/{name}.ts", "content": f"export const {name} = 1;\n"}
        place.api("agent", "POST", "sessions/s-1/traces", trace | {"mutation_class": "INTENT_EVOLUTION"})
    lesson = {"path": "src/auth/login.ts", "content": "x\n", "problems": "Type error in login.ts"}
    place.api("agent", "POST", "sessions/s-1/traces", lesson)
    place.gate("Bash", command="npm test && git status")
    place.gate("Read", file_path="src/auth/login.ts")
    place.gate("Write", file_path="/etc/passwd", content="x")
    place.api(
        "agent", "POST", "sessions", {"session_id": "s-2", "agent": {"name": "codex", "version": "0.171.0"}}
    )
    place.gate(
        "apply_patch", session="s-2", input="*** Begin Patch\n*** Add File: notes.md\n+x\n*** End Patch\n"
    )


def _ask(place: Place, tool: str, **call: object) -> str:
    answer = place.gate(tool, **call)
    assert answer["decision"] == "ask", answer
    return str(answer["approval"]["id"])


def _request(place: Place, action: str, **body: object) -> str:
    status, answer = place.api("agent", "POST", f"sessions/s-1/{action}", body)
    assert status in {200, 201}, answer
    return str((answer.get("approval") or answer)["id"])


def _run(place: Place) -> str:
    """A command in containment, of whose files one waits."""
    body = {
        "session_id": "s-1",
        "tool": "Bash",
        "input": {"command": "npm run build"},
        "containment": CONTAINMENT,
    }
    allowed = place.api("agent", "POST", "gate", body)[1]
    text = "bundle();\n"
    change = {
        "path": "dist/bundle.js", "change": "created", "before": None, "size": len(text), "content": text,
        "after": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
        "diff": f"--- /dev/null\n+++ b/dist/bundle.js\n@@ -0,0 +1 @@\n+{text}",
    }  # fmt: skip
    report = {"exit_code": 0, "duration_ms": 1200, "files": [change]}
    address = f"runs/{allowed['containment']['run_id']}/effects"
    return str(place.api("agent", "POST", address, report)[1]["approval"]["id"])


def _decide(place: Place, approval: str, action: str) -> str:
    decision = {"action": action, "comment": "Say so in the changelog."}
    status, answer = place.api("reviewer", "POST", f"approvals/{approval}/decide", decision)
    assert status == 200, answer
    return approval


def _find_shape(place: Place, approval: str) -> str:
    code = f"from sessions.models import Approval; print(Approval.objects.get(public_id='{approval}').shape)"
    return place.server.manage("shell", "-v0", "-c", code).strip()
