"""Every status word of the product with its colour, icon and word, and other tables of the pages.

One place, so that an outcome looks and reads the same wherever it is met.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe


@dataclass(frozen=True, slots=True)
class Meaning:
    tone: str  # a data-tone of tokens.css
    icon: str  # a symbol of _icons.svg, without its prefix
    word: str


UNKNOWN_MEANING = Meaning("pending", "pending", "")

MEANINGS: Mapping[str, Meaning] = {
    # decisions and attempts
    "allow": Meaning("allow", "allow", "Allowed"),
    "ask": Meaning("ask", "ask", "Held"),
    "deny": Meaning("deny", "deny", "Denied"),
    "refused": Meaning("deny", "deny", "Refused"),
    "stale": Meaning("stale", "stale", "Stale"),
    "override": Meaning("allow", "override", "Override"),
    # approvals
    "approved": Meaning("allow", "allow", "Approved"),
    "rejected": Meaning("deny", "deny", "Rejected"),
    "expired": Meaning("pending", "timed-out", "Timed out"),
    "cancelled": Meaning("pending", "cross", "Cancelled"),
    "yours": Meaning("ask", "ask", "Held"),
    "reader": Meaning("ask", "ask", "Held"),
    # ledger
    "sealed": Meaning("sealed", "sealed", "Sealed"),
    "sealing": Meaning("pending", "pending", "Sealing"),
    "class_disagrees": Meaning("ask", "warning", "Class disagrees"),
    "broken": Meaning("deny", "warning", "Does not hold"),
    # enforcement health
    "governed": Meaning("allow", "sealed", "Governed"),
    "degraded": Meaning("ask", "warning", "Degraded"),
    "silent": Meaning("deny", "offline", "Silent"),
    # intents
    "pending": Meaning("pending", "pending", "Pending"),
    "in_progress": Meaning("accent", "terminal", "In progress"),
    "blocked": Meaning("deny", "stop", "Blocked"),
    "completed": Meaning("allow", "check", "Completed"),
    "abandoned": Meaning("pending", "cross", "Abandoned"),
    # sessions
    "request": Meaning("pending", "lines", "REQUEST"),
    "reasoning": Meaning("pending", "search", "REASONING"),
    "action": Meaning("accent", "terminal", "ACTION"),
    "ended": Meaning("pending", "stop", "ENDED"),
    "frozen": Meaning("ask", "pause", "Frozen"),
    # attention, answers, plans
    "overlap": Meaning("ask", "warning", "Overlaps"),
    "yes": Meaning("allow", "check", "Yes"),
    "no": Meaning("deny", "cross", "No"),
    "unknown": Meaning("ask", "warning", "Cannot be known"),
    "added": Meaning("allow", "plus", "Added"),
    "changed": Meaning("accent", "pencil", "Changed"),
    "removed": Meaning("deny", "bin", "Removed"),
    "unchanged": Meaning("pending", "check", "Unchanged"),
    "error": Meaning("deny", "warning", "Error"),
    "warning": Meaning("ask", "warning", "Warning"),
    "success": Meaning("allow", "allow", "Done"),
    "info": Meaning("accent", "info", "Note"),
    "lesson": Meaning("accent", "book", "Lesson"),
    "live": Meaning("allow", "allow", "Live"),
    "revoked": Meaning("pending", "cross", "Revoked"),
}

KIND_ICONS: Mapping[str, str] = {
    "edit": "pencil",
    "delete": "bin",
    "shell": "prompt",
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

# What a command does to a target, as its mark in the command says.
MARK_TONES: Mapping[str, str] = {"deletes": "deny", "writes": "sealed", "moves": "sealed"}

AGENT_MARKS: Mapping[str, str] = {
    "claude code": "CC",
    "codex": "CX",
    "gemini cli": "GM",
    "cursor": "CU",
    "copilot cli": "CP",
    "opencode": "OC",
    "cline": "CL",
    "roo code": "RC",
    "qwen code": "QW",
    "windsurf": "WS",
}


@dataclass(frozen=True, slots=True)
class NavItem:
    """One item of the rail. `views` are the URL names under which it is the current one."""

    url_name: str
    label: str
    icon: str
    key: str
    views: str = ""  # a namespace with its colon, or a whole name; default: the namespace of url_name


NAV_ITEMS: tuple[NavItem, ...] = (
    NavItem("approvals:list", "Approvals", "inbox", "a"),
    NavItem("overview", "Overview", "bars", "o"),
    NavItem("intents:list", "Intents", "target", "i"),
    NavItem("sessions:list", "Sessions", "terminal", "s"),
    NavItem("traces:list", "Traces", "lines", "t", "traces:list"),
    NavItem("traces:map", "Map", "grid", "m", "traces:map traces:file"),
    NavItem("lessons:list", "Lessons", "book", "l"),
    NavItem("explain", "Explain", "flask", "x", "explain explain-preview"),
    NavItem("settings:policy", "Settings", "sliders", "e"),
    NavItem("connect", "Connect", "plug", "c"),
)

KEYS: tuple[tuple[str, str], ...] = (
    ("Next, previous", "J K"),
    ("Approve", "A"),
    ("Reject", "R"),
    ("Select", "X"),
    ("Select a range", "Shift X"),
    ("Grant choice", "1 2 3 4"),
    ("Note for the agent", "N"),
    ("Unified or split", "D"),
    ("Context", "C"),
    ("Five more minutes", "+"),
    ("Search", "/"),
    ("Open, close", "Enter Esc"),
    ("Fold all, open all", "[ ]"),
    ("Go to a page", "G then A O I S T M X"),
    ("This table", "?"),
)


def find_meaning(value: object) -> Meaning:
    """The meaning behind any status word of the product, whatever its case."""
    return MEANINGS.get(str(value).lower(), UNKNOWN_MEANING)


# The four states of a map cell: tone and drawing, so that they can be told apart without colour.
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
