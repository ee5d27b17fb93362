"""A context for each page, in the shapes that the templates write down, with hostile text where agents speak."""

from dataclasses import replace
from datetime import date

from django import forms
from django.contrib.auth.models import AnonymousUser, User

from controlplane.models import Workspace
from controlplane.pages import styleguide
from controlplane.pages.connect.progress import ConnectStep
from controlplane.pages.settings.policy_form import PolicyForm
from controlplane.pages.trends import BarPart, ContestedFile, DayBar
from controlplane.policy.model import Policy
from controlplane.policy.rules.policy_document import to_document
from intents.lessons.lesson_list import LessonRow
from intents.lessons.pages import LessonForm
from sessions.approvals.history.reviewers import ReviewerFigures
from tests.ui import approval_samples, explain_samples, intent_samples, interruption_samples, trace_samples
from tests.ui.hostile import AGO, HOSTILE, INTENT, NOW, PAGER, SEALED
from traces.lessons.store import Lesson, LessonSource, Retirement
from traces.timeline.minimap import Slot


class SignInForm(forms.Form):
    username = forms.CharField()
    password = forms.CharField(widget=forms.PasswordInput)


def session():
    return {
        "key": 7,
        "id": "s-7f3a",
        "agent": "Claude Code",
        "version": HOSTILE,
        "state": "ACTION",
        "frozen": False,
        "intent": INTENT,
        "calls": 84,
        "refused": 5,
        "held": 0,
        "writes": 19,
        "alerts": 1,
        "health": {"state": "degraded", "why": "Its hook before tools does not run."},
        "hook": HOSTILE,
        "opened_at": AGO,
        "last_call": AGO,
        "intent_revision": 7,
        "selected_at": AGO,
    }


def timeline_row(**changes):
    return {
        "id": "entry-1",
        "number": 1,
        "members": [],
        "at": AGO,
        "kind": "call",
        "outcome": "allow",
        "verb": "Edit",
        "note": "",
        "object": "src/auth/jwt.ts",
        "object_is": "path",
        "meta": "allowed",
        "took_ms": 30,
        "times": 3,
        "seal": None,
        "approval_id": "",
        "ran": None,
    } | changes


def session_detail():
    rows = [
        timeline_row(kind="phase", verb="ACTION", note="INT-001 selected", outcome=""),
        timeline_row(members=[timeline_row(id="entry-90"), timeline_row(id="entry-91", object=HOSTILE)]),
        timeline_row(kind="trace", verb="", seal=SEALED),
        timeline_row(kind="trace", verb="Changed", computed="AST_REFACTOR", disagrees=True, seal=SEALED),
        timeline_row(
            outcome="deny", verb="Shell command denied", object=HOSTILE, object_is="command", ran=False
        ),
        timeline_row(outcome="stale", verb="Edit refused, stale", note="Changed by Gemini CLI", ran=False),
        timeline_row(
            outcome="ask", verb="Edit held", note="Outside INT-001.", approval_id="A-1", took_ms=72_000
        ),
        timeline_row(
            kind="approval",
            outcome="approved",
            verb="Approved once",
            object="by reviewer-2",
            object_is="text",
        ),
    ]
    for number, row in enumerate(rows):
        row["id"] = f"entry-{number}"
    return {
        "session": session(),
        "timeline": {"rows": rows, "earlier_url": "#earlier", "later_url": None, "entry": 1},
        "map": {
            "width": 960,
            "height": 45,
            "step": 10,
            "lanes": ["Calls"],
            "paths": [("other", "M0 0h1v1h-1z")],
            "slots": [Slot("?since=a", "10:00:00: 3 allowed", 0)],
            "window": {"x": 1, "width": 2},
            "ticks": ["10:00"],
        },
        "zoomed": True,
        "missing": True,
        "may_end": True,
        "hook_is_old": True,
        "filters": {"q": "", "show": "everything"},
    }


def policy():
    document = to_document(Policy()) | {"safe_commands": [HOSTILE]}
    form = PolicyForm({"session_idle_minutes": HOSTILE, "protected_paths": ".git/**"}, document=document)
    return {"fieldsets": form.fieldsets(), "version": 12, "revision": 12, "may_edit": True}


def members():
    member = {
        "user_id": 1,
        "name": "Rex Reviewer",
        "username": "rex",
        "role": "reviewer",
        "is_you": False,
        "last_login": None,
    }
    roles = [{"value": "reviewer", "label": "Reviewer", "says": "Decides approvals."}]
    return {
        "members": [member, member | {"is_you": True}],
        "roles": roles,
        "may_edit": True,
        "error": HOSTILE,
    }


def outlets():
    outlet = {
        "id": 1,
        "form": "Webhook",
        "url": HOSTILE,
        "kinds": "approval, decision",
        "whole": True,
        "waiting": 12,
        "delivered_at": AGO,
        "failures": 0,
        "next_try_at": AGO,
        "error": "",
    }
    return {
        "outlets": [outlet, outlet | {"failures": 3, "error": HOSTILE, "delivered_at": None}],
        "forms": [{"value": "webhook", "label": "Webhook", "says": "Posts entries."}],
        "kinds": [{"value": "approval", "label": "Approval"}],
        "may_edit": True,
        "fresh": {"url": HOSTILE, "secret": "whsec_x"},
        "error": HOSTILE,
        "posted": {"form": "webhook", "url": HOSTILE},
    }


def tokens():
    token = {
        "id": 1,
        "name": HOSTILE,
        "role": "agent",
        "hint": "icp_7Qd4",
        "acts_for": "",
        "created_at": AGO,
        "last_used_at": None,
        "revoked_at": None,
    }
    fresh = {"name": "Laptop", "role": "agent", "text": "icp_secret"}
    return {
        "tokens": [token, token | {"revoked_at": AGO}],
        "roles": members()["roles"],
        "may_edit": True,
        "fresh": fresh,
    }


def ledger_settings():
    anchor = {
        "id": 1,
        "kind": "Webhook",
        "target": HOSTILE,
        "every_minutes": 10,
        "enabled": True,
        "health": "failing",
        "badge": "deny",
        "message": HOSTILE,
        "size": 1842,
        "anchored_at": AGO,
        "secret": "5f3c",
    }
    archive = {
        "name": HOSTILE,
        "first_seq": 0,
        "last_seq": 511,
        "size_bytes": 18_000,
        "digest_hex": "ab" * 32,
        "created_at": AGO,
    }
    return {
        "anchors": [
            anchor,
            anchor | {"enabled": False, "anchored_at": None, "health": "off", "badge": "cancelled"},
        ],
        "archives": [archive],
        "kinds": members()["roles"],
        "given": {"target": HOSTILE, "minutes": ""},
        "minutes": 10,
        "has_root": False,
        "may_edit": True,
        "error": HOSTILE,
    }


def mcp_tools():
    tool = {
        "id": 1,
        "server": HOSTILE,
        "name": HOSTILE,
        "hint": True,
        "is_doubtful": True,
        "reads_only_by": HOSTILE,
        "runs_freely": True,
        "listed_at": AGO,
    }
    other = tool | {"hint": None, "reads_only_by": "", "runs_freely": False}
    return {"tools": [tool, other, other | {"hint": False}], "may_edit": True}


def recent_call():
    return {
        "number": 7,
        "at": AGO,
        "outcome": "deny",
        "agent": "Codex",
        "session_id": "s-1",
        "text": "Shell command denied",
        "object": HOSTILE,
        "object_is": "command",
    }


def overview():
    rest, ending, _ = styleguide.queue_samples(NOW)
    waiting = [item | {"agent": "Codex"} for item in (rest, ending)]
    return {
        "interruptions": interruption_samples.figures(),
        "has_enough_calls": True,
        "figures": {
            "waiting": 2,
            "oldest": AGO,
            "decisions": 1842,
            "allowed_percent": 92,
            "sessions": 6,
            "holding": 5,
            "intents": 13,
            "open_intents": 7,
        },
        "waiting": waiting,
        "recent": [recent_call()],
        "agents": [
            {
                "name": "Codex",
                "version": HOSTILE,
                "state": "silent",
                "last_call": AGO,
                "calls": 18,
                "denied": 0,
            }
        ],
        "denials": [{"reason": "Not in scope", "number": 34, "most": 34}],
        "days": [
            DayBar(
                date(2025, 11, day),
                40.0 * day,
                28.0,
                {"allow": 3, "ask": 1, "deny": 0},
                (BarPart("allow", 30.0, 90.0), BarPart("ask", 0.0, 30.0)),
            )
            for day in range(1, 15)
        ],
        "contested": [ContestedFile(HOSTILE, 2, AGO)],
        "reviewers": [ReviewerFigures(HOSTILE, 12, 3, 9, 1, 48_000)],
        "enforcement": "enforce",
        "sealed": 18_240,
    }


def connect():
    return {
        "agents": [{"key": "claude-code", "name": "Claude Code", "says": "fails closed", "current": True}],
        "snippets": [{"title": ".claude/settings.json", "text": '{"hooks": {}}'}],
        "agent": {"key": "claude-code", "name": "Claude Code", "stays_open": "A hook that is killed."},
        "fresh": False,
        "may_make": True,
        "steps": [
            ConnectStep("Token created", "Create a token.", AGO),
            ConnectStep("First call", "Start it.", None),
        ],
        "calls": [recent_call()],
    }


def lessons():
    by_agent = Lesson(
        "l1",
        date(2025, 11, 24),
        HOSTILE,
        HOSTILE,
        "s-1",
        HOSTILE,
        source=LessonSource.SESSION,
        again=3,
        more_files=(HOSTILE,) * 4,
    )
    gone = Retirement(AGO, HOSTILE, HOSTILE)
    by_rex = replace(
        by_agent,
        lesson_id="l2",
        file="",
        more_files=(),
        source=LessonSource.APPROVAL,
        source_id="a1",
        by=HOSTILE,
        retired=gone,
    )
    tab = {"label": "All", "url": "?", "count": 2, "current": True}
    return {
        "rows": [LessonRow(by_agent, ["INT-001"], 7), LessonRow(by_rex, [], 0)],
        "tabs": [tab],
        "form": LessonForm(),
        "may_edit": True,
        "none_yet": False,
        **PAGER,
    }


PAGES = {
    **approval_samples.PAGES,
    **intent_samples.PAGES,
    **explain_samples.PAGES,
    "sessions/list": ("sessions/session_list.html", lambda: {"sessions": [session()], "alive": 1, **PAGER}),
    "sessions/detail": ("sessions/session_detail.html", session_detail),
    **trace_samples.PAGES,
    "settings/policy": ("settings/policy.html", policy),
    "settings/intentignore": (
        "settings/intentignore.html",
        lambda: {
            "text": HOSTILE,
            "version": 3,
            "may_edit": True,
            "files": [
                {"path": ".intentignore", "text": HOSTILE, "error": ""},
                {"path": ".orchestration/.intentignore", "text": "", "error": "Line 1 is not UTF-8."},
            ],
            "test": {"path": HOSTILE, "line": HOSTILE, "source": ".intentignore"},
            "intents": ["INT-007"],
        },
    ),
    "settings/members": ("settings/members.html", members),
    "settings/tokens": ("settings/tokens.html", tokens),
    "settings/outlets": ("settings/outlets.html", outlets),
    "settings/mcp-tools": ("settings/mcp_tools.html", mcp_tools),
    "settings/ledger": ("settings/ledger.html", ledger_settings),
    "overview": ("overview.html", overview),
    "interruptions": ("interruptions/interruptions.html", interruption_samples.page),
    "interruptions-empty": ("interruptions/interruptions.html", interruption_samples.empty_page),
    "connect": ("connect/connect.html", connect),
    "lessons": ("lessons/lesson_list.html", lessons),
    "no-workspace": ("no_workspace.html", lambda: {"workspace": None}),
    "login": (
        "registration/login.html",
        lambda: {"form": intent_samples.invalid(SignInForm({"username": "rex"})), "user": AnonymousUser()},
    ),
    "error-404": ("404.html", lambda: {"workspace": None}),
    "error-500": ("500.html", dict),
}


def frame():
    """What the context processors give."""
    storefront = Workspace(slug="storefront", name="Storefront")
    return {
        "workspace": storefront,
        "workspaces": [storefront, Workspace(slug="billing", name="Billing")],
        "pending_count": 2,
        "theme": "system",
        "live_seq": 7,
        "user": User(username="reviewer-1"),
    }
