"""Contexts for the pages of intents."""

from django import forms

from tests.ui.hostile import AGO, CRITERIA, HOSTILE, INTENT


class IntentForm(forms.Form):
    name = forms.CharField(help_text="What people call it.")
    scope = forms.CharField(widget=forms.Textarea)


def intent_detail():
    intent = INTENT | {
        "status": "BLOCKED",
        "description": HOSTILE,
        "owner": "admin-1",
        "blocked_reason": HOSTILE,
        "revision": 7,
        "created_at": AGO,
        "updated_at": None,
        "scope": ["src/auth/**", "!src/auth/legacy/**"],
        "references": ["docs/adr/014-jwt.md"],
        "extra": [("team", HOSTILE)],
        "constraints": [{"text": "Keep the cookie", "type": ""}, {"text": "limit 12", "type": "max_files"}],
        "criteria": CRITERIA,
        "criteria_met": 1,
        "depends_on": [{"id": "INT-007", "status": "COMPLETED"}],
        "needed_by": [{"id": "INT-005", "status": "BLOCKED"}],
        "held_by": {"agent": "Codex", "session_id": "s-c91e", "since": AGO},
    }
    preview = {
        "matches": ["src/auth/jwt.ts"],
        "more": 3,
        "new_overlaps": [{"id": "INT-003", "name": HOSTILE, "path": "src/billing/invoice.ts"}],
        "flips": [{"before": "ask", "after": "allow", "path": "src/a.ts", "calls": 7, "last": AGO}],
        "replayed": 2316,
        "days": 14,
        "errors": [{"line": 2, "message": "Ends in a slash."}],
    }
    return {
        "intent": intent,
        "moves": [{"status": "IN_PROGRESS", "label": "Resume", "danger": False}],
        "may_edit": True,
        "revisions": [{"number": 7, "summary": "criterion 4 added", "at": AGO, "by": "admin-1"}],
        "sessions": [{"id": "s-7f3a", "agent": "Codex", "state": "ENDED", "at": AGO}],
        "overlaps": [{"id": "INT-006", "name": "Migrate tests", "path": "tests/auth/login.test.ts"}],
        "scope_form": {"text": "src/auth/**", "version": 7, "errors": [], "preview_url": "/preview"},
        "scope_preview": preview,
    }


def intent_list():
    row = INTENT | {
        "key": 1,
        "position": 1,
        "scope": ["src/auth/**", "src/x.ts"],
        "files": 32,
        "held_by": {"agent": "Claude Code", "session_id": "s-7f3a"},
        "overlaps": ["INT-006"],
        "unmet": ["INT-005"],
        "owner": "",
        "criteria_met": 2,
        "criteria": 4,
        "writes": 0,
        "last_activity": AGO,
    }
    return {
        "intents": [
            row,
            row | {"key": 2, "id": "INT-007", "name": "Drop Node 18", "status": "COMPLETED", "held_by": None},
        ],
        "total": 2,
        "in_progress": 1,
        "overlaps": 1,
        "filters": {"q": "", "status": "", "owner": ""},
        "statuses": [
            {"value": "", "label": "All", "count": 2},
            {"value": "PENDING", "label": "Pending", "count": 0},
        ],
        "may_edit": True,
    }


def intent_import():
    problem = {"type": "EMPTY_SCOPE", "message": HOSTILE, "intent_id": "INT-001", "field": "", "line": 7}
    return {
        "text": "active_intents: []",
        "mode": "merge",
        "report": {"valid": True, "errors": [], "warnings": [problem]},
        "plan": [{"intent_id": "INT-001", "name": HOSTILE, "change": "added", "fields": ["owned_scope"]}],
    }


def invalid(form):
    form.is_valid()
    return form


PAGES = {
    "intents/list": ("intents/intent_list.html", intent_list),
    "intents/detail": ("intents/intent_detail.html", intent_detail),
    "intents/import": ("intents/intent_import.html", intent_import),
    "intents/new": ("intents/intent_form.html", lambda: {"form": invalid(IntentForm({"name": ""}))}),
}
