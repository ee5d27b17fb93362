"""Contexts for the approvals pages: every kind of card and every state it can be in."""

from datetime import timedelta

from controlplane.pages import styleguide
from tests.ui.hostile import AGO, CRITERIA, HOSTILE, INTENT, NOW


def queue():
    rest, ending, done = styleguide.queue_samples(NOW)
    return {
        "groups": [
            {"level": "wide", "approvals": [ending]},
            {"level": "medium", "approvals": [rest | {"summary": HOSTILE}]},
        ],
        "decided": [done],
        "strip": {"pending": 2, "oldest": AGO, "next_expiry": NOW + timedelta(seconds=40)},
    }


def context_column():
    return {
        "goal": {
            **INTENT,
            "description": "Replace session cookies by signed tokens on all write routes.",
            "criteria": CRITERIA,
        },
        "session": {
            "id": "s-7f3a",
            "state": "ACTION",
            "since": AGO,
            "calls": 84,
            "refused": 5,
            "held": 2,
            "gate": "governed",
        },
        "events": [
            {"at": AGO, "outcome": "ask", "text": "This edit, held", "object": ""},
            {"at": AGO, "outcome": "allow", "text": "Edit", "object": "src/auth/jwt.ts"},
        ],
        "alert": "Similar to a call that was denied 5 min ago.",
        "others": [{"agent": "Codex", "text": "Codex, INT-003 wrote lines 40-58, 12 min ago"}],
        "others_note": "3 of 14 traces on this file came from INT-001.",
        "past": [{"at": AGO, "outcome": "approved", "text": "Once, by reviewer-2, in 31 s"}],
        "pattern": "src/billing/*.ts",
    }


def approvals(approval):
    return {
        "queue": queue(),
        "approval": approval,
        "context": context_column(),
        "position": {"index": 2, "total": 2, "previous_url": "#previous", "next_url": None},
        "batch_url": "/batch",
    }


def receipt(state, title):
    steps = [{"meaning": "approved", "title": title, "detail": "10:41:02"}]
    steps.append(
        {"meaning": "lesson", "title": "Saved as a lesson", "detail": HOSTILE, "url": "/w/x/lessons/l1/"}
    )
    return styleguide.edit_sample(NOW) | {
        "state": state,
        "receipt": {"title": title, "steps": steps if state == "approved" else []},
        "next_url": "#next",
    }


def scope_request():
    preview = {
        "note": "",
        "added": None,
        "adds": [{"pattern": "tests/billing/**", "files": ["tests/billing/a.ts"], "more": 8}],
        "criteria": CRITERIA,
        "open_criteria": 1,
        "input": HOSTILE,
        "complete": True,
        "sentence": "These are all the files it would add.",
    }
    return styleguide.edit_sample(NOW) | {"kind": "scope", "object_is": "text", "preview": preview}


def plan():
    preview = {
        "note": "1 patterns, 2 kinds",
        "added": None,
        "adds": [{"pattern": "docs/**", "files": [HOSTILE], "more": 0, "owners": HOSTILE}],
        "kinds": [{"kind": "go test", "now": "by policy", "history": "12 of 12 approved"}],
        "replay": {"questions": 38, "spared": 31, "left": HOSTILE},
        "is_plan": True,
        "complete": True,
        "sentence": "These are all the files it would add.",
    }
    wider = {"kinds": ("go test",), "called_tool": "mcp:linear.digest"}
    return styleguide.edit_sample(NOW) | {"kind": "scope", "preview": preview, "wider": wider}


PAGES = {
    "approvals/plan": ("approvals/approval_list.html", lambda: approvals(plan())),
    "approvals/edit": ("approvals/approval_list.html", lambda: approvals(styleguide.edit_sample(NOW))),
    "approvals/shell": ("approvals/approval_list.html", lambda: approvals(styleguide.shell_sample(NOW))),
    "approvals/scope": ("approvals/approval_list.html", lambda: approvals(scope_request())),
    "approvals/approved": (
        "approvals/approval_list.html",
        lambda: approvals(receipt("approved", "Approved once by you")),
    ),
    "approvals/expired": (
        "approvals/approval_list.html",
        lambda: approvals(receipt("expired", "Timed out, nobody decided")),
    ),
    "approvals/yours": (
        "approvals/approval_list.html",
        lambda: approvals(receipt("yours", "This is your agent's request")),
    ),
    "approvals/queue": (
        "approvals/approval_list.html",
        lambda: {"queue": queue(), "approval": None, "batch_url": "/batch"},
    ),
    "approvals/empty": (
        "approvals/approval_list.html",
        lambda: {
            "queue": {
                "groups": [],
                "decided": queue()["decided"],
                "strip": {"pending": 0, "last_decision": AGO},
            },
            "empty": {
                "sessions": 6,
                "grants": [
                    {
                        "pattern": "docs/auth.md",
                        "recipient": "INT-001, s-7f3a",
                        "until": None,
                        "used": 3,
                        "by": "you",
                        "revoke_url": "/r",
                    }
                ],
            },
        },
    ),
}
