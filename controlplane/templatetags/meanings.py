"""Tables of the pages: each status with its tone, icon and label, navigation items, keyboard shortcuts.

Kept in one module so that an outcome looks and reads the same on every page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class Meaning:
    tone: str  # a data-tone of tokens.css
    icon: str  # a symbol of _icons.svg, without its prefix
    word: str | Promise


UNKNOWN_MEANING = Meaning("pending", "pending", "")

MEANINGS: Mapping[str, Meaning] = {
    # decisions and attempts
    "allow": Meaning("allow", "allow", _("Allowed")),
    "ask": Meaning("ask", "ask", _("Held")),
    "deny": Meaning("deny", "deny", _("Denied")),
    "refused": Meaning("deny", "deny", _("Refused")),
    "stale": Meaning("stale", "stale", _("Stale")),
    "override": Meaning("allow", "override", _("Override")),
    # approvals
    "approved": Meaning("allow", "allow", _("Approved")),
    "rejected": Meaning("deny", "deny", _("Rejected")),
    "expired": Meaning("pending", "timed-out", _("Timed out")),
    "cancelled": Meaning("pending", "cross", _("Cancelled")),
    "yours": Meaning("ask", "ask", _("Held")),
    "reader": Meaning("ask", "ask", _("Held")),
    # ledger
    "sealed": Meaning("sealed", "sealed", _("Sealed")),
    "sealing": Meaning("pending", "pending", _("Sealing")),
    "class_disagrees": Meaning("ask", "warning", _("Class disagrees")),
    "broken": Meaning("deny", "warning", _("Verification failed")),
    # enforcement health
    "governed": Meaning("allow", "sealed", _("Governed")),
    "degraded": Meaning("ask", "warning", _("Degraded")),
    "silent": Meaning("deny", "offline", _("Silent")),
    # intents
    "pending": Meaning("pending", "pending", _("Pending")),
    "in_progress": Meaning("accent", "terminal", _("In progress")),
    "blocked": Meaning("deny", "stop", _("Blocked")),
    "completed": Meaning("allow", "check", _("Completed")),
    "abandoned": Meaning("pending", "cross", _("Abandoned")),
    # acceptance criteria
    "open": Meaning("pending", "pending", _("Open")),
    "claimed": Meaning("ask", "flag", _("Claimed")),
    "met": Meaning("allow", "allow", _("Met")),
    # sessions
    "request": Meaning("pending", "lines", _("REQUEST")),
    "reasoning": Meaning("pending", "search", _("REASONING")),
    "action": Meaning("accent", "terminal", _("ACTION")),
    "ended": Meaning("pending", "stop", _("ENDED")),
    "frozen": Meaning("ask", "pause", _("Frozen")),
    # attention, answers, plans
    "overlap": Meaning("ask", "warning", _("Overlaps")),
    "yes": Meaning("allow", "check", _("Yes")),
    "no": Meaning("deny", "cross", _("No")),
    "unknown": Meaning("ask", "warning", _("Unknown")),
    "added": Meaning("allow", "plus", _("Added")),
    "changed": Meaning("accent", "pencil", _("Changed")),
    "removed": Meaning("deny", "bin", _("Removed")),
    "unchanged": Meaning("pending", "check", _("Unchanged")),
    "error": Meaning("deny", "warning", _("Error")),
    "warning": Meaning("ask", "warning", _("Warning")),
    "success": Meaning("allow", "allow", _("Done")),
    "info": Meaning("accent", "info", _("Note")),
    "lesson": Meaning("accent", "book", _("Lesson")),
    "live": Meaning("allow", "allow", _("Live")),
    "revoked": Meaning("pending", "cross", _("Revoked")),
    # dangers of a held call
    "secrets": Meaning("deny", "lock", _("Secrets")),
    "deletes": Meaning("deny", "bin", _("Deletes")),
    "ci": Meaning("ask", "bars", _("CI")),
    "hooks": Meaning("ask", "plug", _("Hooks")),
    "migration": Meaning("ask", "stale", _("Migration")),
    "lock_file": Meaning("ask", "lock", _("Lock file")),
    "outward": Meaning("ask", "upload", _("Outward")),
    "installs": Meaning("ask", "download", _("Installs")),
}

KIND_ICONS: Mapping[str, str] = {
    "edit": "pencil",
    "delete": "bin",
    "shell": "prompt",
    "run": "terminal",
    "scope": "scope",
    "completion": "flag",
    "stale": "stale",
    "read": "file",
    "trace": "lines",
    "approval": "person",
    "override": "override",
    "handshake": "target",
    "phase": "terminal",
}

# How much an approval could change, in the words of the reader
REACH_SIZES = {"narrow": _("Small"), "medium": _("Medium"), "wide": _("Large")}

# Tones of what a command does to a target.
MARK_TONES: Mapping[str, str] = {"deletes": "deny", "writes": "sealed", "moves": "sealed"}


@dataclass(frozen=True, slots=True)
class NavItem:
    """One item of the navigation. It is the current one under the URL names in `views`."""

    url_name: str
    label: str | Promise
    icon: str
    key: str
    views: str = ""  # a namespace with its colon, or a whole name; default: the namespace of url_name


NAV_ITEMS: tuple[NavItem, ...] = (
    NavItem("approvals:list", _("Approvals"), "inbox", "a"),
    NavItem("overview", _("Overview"), "bars", "o"),
    NavItem("intents:list", _("Intents"), "target", "i"),
    NavItem("sessions:list", _("Sessions"), "terminal", "s"),
    NavItem("traces:list", _("Traces"), "lines", "t", "traces:list"),
    NavItem("traces:map", _("Map"), "grid", "m", "traces:map traces:file"),
    NavItem("lessons:list", _("Lessons"), "book", "l"),
    NavItem("explain", _("Explain"), "flask", "x", "explain explain-preview"),
    NavItem("settings:policy", _("Settings"), "sliders", "e"),
    NavItem("connect", _("Connect"), "plug", "c"),
)

KEYS: tuple[tuple[str | Promise, str], ...] = (
    (_("Next, previous"), "J K"),
    (_("Approve"), "A"),
    (_("Reject"), "R"),
    (_("Select a row, or tick a file"), "X"),
    (_("Select a range"), "Shift X"),
    (_("Grant choice"), "1 2 3 4"),
    (_("Note for the agent"), "N"),
    (_("Unified or split"), "D"),
    (_("Context"), "C"),
    (_("Five more minutes"), "+"),
    (_("Undo a decision"), "Z"),
    (_("Search, or go to"), "/"),
    (_("Go to anything"), "Ctrl K"),
    (_("Open, close"), "Enter Esc"),
    (_("Fold all, open all"), "[ ]"),
    (_("Go to a page"), "G then A O I S T M X"),
    (_("This table"), "?"),
)


def find_meaning(value: object) -> Meaning:
    """Return the tone, icon and label of a status, ignoring case."""
    return MEANINGS.get(str(value).lower(), UNKNOWN_MEANING)


# The four states of a map cell: tone and shape, distinguishable without colour.
SHAPES: Mapping[str, tuple[str, SafeString]] = {
    "both": ("accent", mark_safe('<circle cx="6" cy="6" r="4.5"/>')),
    "owned": ("pending", mark_safe('<circle class="hollow" cx="6" cy="6" r="4"/>')),
    "outside": ("deny", mark_safe('<path d="M6 1.5 11 10.5H1z"/>')),
    "shared": (
        "ask",
        mark_safe(
            '<circle class="hollow" cx="6" cy="6" r="4.25"/><path d="M6 1.75a4.25 4.25 0 0 1 0 8.5z"/>'
        ),
    ),
}
