"""The style guide: every component and state on one page, rendered from the samples below."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from controlplane.models import Workspace
from controlplane.templatetags.diffs import compute_hunks, count_changes
from controlplane.templatetags.meanings import MEANINGS

BEFORE = """\
async function refresh(t: string) {
  const s = await store.get(t);
  if (!s) throw new Expired();
  return rotate(s);
}
"""
AFTER = """\
async function refresh(t: string) {
  const c = await verify(t);
  const s = await store.get(c.sid);
  if (!s) throw new Expired();
  return rotate(s);
}
"""
PART_COLUMNS = ("number", "what", "target", "note", "in_scope", "pattern")
WHY = {
    "rule": "Not in scope.",
    "sentence": "src/auth/session.ts is outside INT-001.",
    "intent_revision": 7,
    "policy_revision": 12,
    "nearest": "src/api/**",
    "nearest_note": "differs at auth",
    "owner": "INT-003 Billing domain boundaries owns src/auth/**, held by Codex now",
}
PRESETS = (
    "Not yours: leave this file to INT-003.",
    "Ask for the scope first.",
    "Too much at once: split it.",
    "Stop, and wait for me.",
)


@login_required
def styleguide(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    context = {
        "workspace": Workspace(slug="example", name="Example"),
        "meanings": MEANINGS,
        "rows": queue_samples(now),
        "approval": edit_sample(now),
        "shell": shell_sample(now),
        "now": now,
        "hostile": "invoice\u202etxt.exe",
        "tokens": [{"name": "intent", "value": "INT-001", "remove_url": "#tokens", "excluded": False}],
        "tabs": [
            {"label": "Matches now", "url": "#tabs", "count": 34, "current": True},
            {"label": "Would flip", "url": "#tabs", "count": 13, "current": False},
        ],
    }
    return render(request, "styleguide.html", context)


def queue_samples(now: datetime) -> list[dict[str, Any]]:
    """Rows of the queue: at rest, ending, and decided."""
    rest = {
        "id": "sample-rest",
        "key": "sample-rest",
        "kind": "edit",
        "object": "src/auth/session.ts",
        "object_is": "path",
        "alike": 3,
        "summary": "Outside INT-001; owned by INT-003",
        "agent": {"name": "Claude Code"},
        "intent_id": "INT-001",
        "opened_at": now - timedelta(minutes=2),
        "expires_at": now + timedelta(minutes=3, seconds=30),
        "state": "pending",
    }
    ending = rest | {
        "id": "sample-ending",
        "key": "sample-ending",
        "kind": "shell",
        "object": "rm -rf dist && node scripts/codegen.mjs",
        "object_is": "command",
        "alike": 0,
        "summary": "Script may write anywhere; deletes dist/",
        "dangers": [{"name": "deletes"}],
        "expires_at": now + timedelta(seconds=45),
    }
    done = rest | {
        "id": "sample-done",
        "key": "sample-done",
        "alike": 0,
        "summary": "Rejected by you · did not run",
        "state": "rejected",
        "decided_at": now - timedelta(minutes=5),
    }
    return [rest, ending, done]


def edit_sample(now: datetime) -> dict[str, Any]:
    """An approval of an edit, as the card takes it."""
    change = compute_hunks(BEFORE, AFTER)
    added, removed = count_changes(change)
    return {
        "id": "sample-rest",
        "key": "sample-rest",
        "dangers": [],
        "agent_reason": "Sign sessions with the new key",
        "kind": "edit",
        "verb": "Edit",
        "object": "src/auth/session.ts",
        "object_is": "path",
        "agent": {"name": "Claude Code"},
        "session_id": "s-7f3a",
        "decision_id": "0199f3c2",
        "intent": {"id": "INT-001", "name": "Implement JWT authentication"},
        "reach": {"level": "medium", "why": "1 file, held by another intent"},
        "opened_at": now - timedelta(minutes=2),
        "expires_at": now + timedelta(minutes=3, seconds=30),
        "can_extend": False,
        "preview": {
            "note": "1 file changed",
            "added": added,
            "removed": removed,
            "files": [{"path": "src/auth/session.ts", "note": "", "hunks": change}],
            "complete": True,
            "sentence": "This is the complete change.",
        },
        "why": WHY,
        "grants": grant_samples("src/auth/*.ts"),
        "minutes": 30,
        "effects": {"reject": "Nothing is written. The agent is told not to retry and receives your note."},
        "ids": [
            {"name": "approval", "value": "A-318"},
            {"name": "", "value": "SCOPE_VIOLATION / not_in_scope"},
            {"name": "digest", "value": "sha256:41d0…a92f"},
        ],
        "state": "pending",
        "irreversible": False,
        "presets": PRESETS,
        "next_url": None,
    }


def grant_samples(pattern: str) -> list[dict[str, Any]]:
    """The four ways to approve; the last one prints what it would let through."""
    once = {
        "value": "once",
        "label": "This edit once",
        "button": "Approve once",
        "effect": "This exact edit runs once, recorded as an override. INT-001 stays at revision 7.",
        "pattern": "",
        "detail": "These bytes, this file, this revision. A changed edit asks again.",
        "files": [],
        "more": 0,
        "warning": "",
        "enabled": True,
        "disabled_reason": "",
        "checked": True,
    }
    session = once | {
        "value": "session",
        "label": "Until the session ends",
        "button": "Approve for the session",
        "effect": "This and later edits of the pattern run, each recorded as an override.",
        "pattern": pattern,
        "detail": "by this session",
        "checked": False,
    }
    minutes = session | {
        "value": "minutes",
        "label": "For 30 minutes",
        "button": "Approve for 30 min",
        "detail": "by this session, until 11:10 at the latest",
    }
    scope = session | {
        "value": "scope",
        "label": "Widen the scope",
        "button": "Widen the scope",
        "effect": "INT-001 gets revision 8. Nothing is recorded as an override.",
        "detail": "Added to INT-001 as revision 8. Allows 2 known files:",
        "files": ["src/auth/session.ts", "src/auth/jwt.ts"],
        "warning": "Overlaps INT-003: some files would have two owners",
    }
    return [once, session, minutes, scope]


def shell_sample(now: datetime) -> dict[str, Any]:
    """An approval of a shell command whose targets cannot all be known."""
    sample = edit_sample(now)
    once, session, _, scope = grant_samples("dist/**")
    once |= {"label": "This command once", "detail": "This text, this folder.", "effect": "Both parts run."}
    denied = {"enabled": False, "pattern": "", "files": [], "warning": ""}
    return sample | {
        "id": "sample-ending",
        "key": "sample-ending",
        "kind": "shell",
        "verb": "Shell command",
        "object": "rm -rf dist && node scripts/codegen.mjs",
        "object_is": "command",
        "reach": {"level": "wide", "why": "deletes a folder, runs a script"},
        "expires_at": now + timedelta(seconds=45),
        "can_extend": True,
        "irreversible": True,
        "grants": [
            once,
            session | denied | {"disabled_reason": "the command deletes files"},
            scope | denied | {"disabled_reason": "no pattern covers unknown targets"},
        ],
        "preview": {
            "note": "2 parts, run in / of the workspace",
            "added": None,
            "command": command_sample(),
            "complete": False,
            "sentence": "scripts/codegen.mjs may write anywhere it can reach.",
        },
    }


def command_sample() -> dict[str, Any]:
    """Two parts: one deletes a folder, one runs a script and writes where it cannot be told."""
    return {
        "text": "rm -rf dist && node scripts/codegen.mjs",
        "lines": [
            [{"text": "rm -rf ", "mark": ""}, {"text": "dist", "mark": "deletes"}],
            [
                {"text": "&& ", "mark": "operator"},
                {"text": "node ", "mark": ""},
                {"text": "scripts/codegen.mjs", "mark": "runs"},
                {"text": " > ", "mark": "operator"},
                {"text": "src/gen/rates.ts", "mark": "writes"},
                {"text": " ", "mark": ""},
                {"text": '"$OUT_DIR"', "mark": "unknown"},
            ],
        ],
        "parts": [
            dict(zip(PART_COLUMNS, row, strict=True))
            for row in (
                (1, "Destructive", "dist/**", "312 files", "no", ""),
                (2, "Runs a script", "", "unknown; the script decides", "unknown", ""),
                (2, "Destructive", "src/gen/rates.ts", "", "yes", "src/gen/**"),
                (3, "Safe", "", "none; reads only", "", ""),
            )
        ],
    }
