"""Template tags of the product: icons, meanings, times, and the safe display of hostile text.

Words and their tones follow one table, so that an outcome looks and reads the same on every page.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import template
from django.forms import BoundField
from django.template import Context
from django.urls import reverse
from django.utils import timezone
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from controlplane.templatetags import diffs, times

register = template.Library()
NONE = "\N{EN DASH}"

# What changes how text reads without being seen: controls but tab and newline, format and bidirectional
# characters, surrogates, private use, line and paragraph separators.
_HOSTILE = re.compile(
    "([\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\ud800-\udfff\ue000-\uf8ff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff])"
)


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
class Place:
    """One item of the rail. `views` are the URL names under which it is the current one."""

    url_name: str
    label: str
    icon: str
    key: str
    views: str = ""  # a namespace with its colon, or a whole name; default: the namespace of url_name


PLACES: tuple[Place, ...] = (
    Place("approvals:list", "Approvals", "inbox", "a"),
    Place("overview", "Overview", "bars", "o"),
    Place("intents:list", "Intents", "target", "i"),
    Place("sessions:list", "Sessions", "terminal", "s"),
    Place("traces:list", "Traces", "lines", "t", "traces:list"),
    Place("traces:map", "Map", "grid", "m", "traces:map traces:file"),
    Place("lessons:list", "Lessons", "book", "l"),
    Place("settings:policy", "Settings", "sliders", "e"),
    Place("connect", "Connect", "plug", "c"),
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
    ("Go to a page", "G then A O I S T M"),
    ("This table", "?"),
)


def meaning_of(value: object) -> Meaning:
    """The meaning behind any status word of the product, whatever its case."""
    return MEANINGS.get(str(value).lower(), UNKNOWN_MEANING)


@register.simple_tag
def icon(name: str, size: int = 16, label: str = "") -> SafeString:
    """An icon of the sprite; with a label it speaks for itself, without one a word must stand beside it."""
    css = "icon" if size == 16 else f"icon icon-{size}"
    if label:
        return format_html(
            '<svg class="{}" role="img" aria-label="{}"><use href="#i-{}"/></svg>', css, label, name
        )
    return format_html('<svg class="{}" aria-hidden="true"><use href="#i-{}"/></svg>', css, name)


@register.simple_tag
def badge(value: object, label: str = "", *, plain: bool = False) -> SafeString:
    """Icon and word of a status, tinted; plain has no fill and is for the normal case in lists."""
    meaning = meaning_of(value)
    return format_html(
        '<span class="badge{}" data-tone="{}">{}{}</span>',
        " badge-plain" if plain else "",
        meaning.tone,
        icon(meaning.icon, 12),
        label or meaning.word or str(value),
    )


@register.simple_tag
def outcome(value: object) -> SafeString:
    """Only the icon of a status in its colour, with its word for those who listen."""
    meaning = meaning_of(value)
    return format_html(
        '<span class="fg" data-tone="{}">{}</span>', meaning.tone, icon(meaning.icon, label=meaning.word)
    )


@register.filter
def tone(value: object) -> str:
    return meaning_of(value).tone


@register.filter
def meaning_icon(value: object) -> str:
    return meaning_of(value).icon


@register.filter
def kind_icon(kind: str) -> str:
    return KIND_ICONS.get(kind, "ask")


@register.filter
def mark_tone(mark: str) -> str:
    return MARK_TONES.get(mark, "ask")


@register.simple_tag
def agent_mark(name: str) -> SafeString:
    """Two letters in a square; decoration, as the agent's name stands beside it."""
    letters = AGENT_MARKS.get(name.lower()) or name[:2].upper() or "?"
    return format_html('<span class="mark" aria-hidden="true">{}</span>', letters)


@register.simple_tag
def person(name: str) -> SafeString:
    """Two letters in a circle: the initials of the first two words, or the first two letters."""
    parts = [part for part in name.replace("-", " ").replace(".", " ").split() if part]
    letters = "".join(part[0] for part in parts[:2]) if len(parts) > 1 else name[:2]
    return format_html('<span class="person" aria-hidden="true">{}</span>', letters.upper())


@register.filter
def visible(text: object) -> SafeString:
    """Text of an agent: isolated, control and bidirectional characters drawn as marks."""
    return format_html("<bdi>{}</bdi>", _marked(str(text)))


@register.filter
def path(value: object) -> SafeString:
    """A file path, folder part muted, file name in full contrast."""
    folder, slash, name = str(value).rpartition("/")
    return format_html('<bdi class="path">{}<b>{}</b></bdi>', _marked(folder + slash), _marked(name))


def _marked(text: str) -> SafeString:
    if not _HOSTILE.search(text):
        return conditional_escape(text)
    pieces = ((_mark(piece) if _HOSTILE.fullmatch(piece) else piece,) for piece in _HOSTILE.split(text))
    return format_html_join("", "{}", pieces)


def _mark(character: str) -> SafeString:
    name = unicodedata.name(character, "control character")
    return format_html(
        '<span class="control-character" data-tone="ask" title="{}">U+{}</span>',
        name.lower(),
        f"{ord(character):04X}",
    )


@register.filter
def count(value: int | None) -> SafeString | str:
    """A number with thin grouping; none is a dash, zero is faint."""
    if value is None:
        return NONE
    return format_html('<span class="faint">0</span>') if value == 0 else f"{value:,}"


@register.simple_tag
def ago(then: datetime | None, suffix: str = " ago") -> SafeString | str:
    """How long since, rounded up, kept current by countdown.js; the exact instant is in the tooltip."""
    if then is None:
        return "never"
    return _time(then, times.since(then, timezone.now(), suffix), format_html(' data-since="{}"', suffix))


@register.simple_tag
def moment(then: datetime | None) -> SafeString | str:
    """An instant: today by the clock, this week by day, older by date."""
    if then is None:
        return NONE
    return _time(then, times.moment(timezone.localtime(then), timezone.localtime()))


def _time(then: datetime, words: str, attributes: str = "") -> SafeString:
    exact = timezone.localtime(then).strftime("%Y-%m-%d %H:%M:%S %Z")
    return format_html(
        '<time datetime="{}" title="{}"{}>{}</time>', then.isoformat(), exact, attributes, words
    )


@register.inclusion_tag("components/countdown.html")
def countdown(until: datetime, since: datetime | None = None) -> dict[str, Any]:
    """Time left in words; with `since` a bar as well. Static without script."""
    now = timezone.now()
    left = max(0, int((until - now).total_seconds()))
    whole = int((until - since).total_seconds()) if since else 0
    return {
        "until": until,
        "words": times.left(until, now),
        "left": left,
        "whole": whole,
        "tone": "deny" if left < 90 else "ask",
        "urgent": left < (90 if since else 60),
    }


@register.inclusion_tag("components/reach.html")
def reach(level: str, why: str = "") -> dict[str, str]:
    return {"level": level, "why": why}


@register.inclusion_tag("components/rail_items.html", takes_context=True)
def rail_items(context: Context) -> dict[str, Any]:
    """The places of the workspace in the context, the current one marked by the resolved URL name."""
    match = getattr(context.get("request"), "resolver_match", None)
    current = match.view_name if match else ""
    slug = context["workspace"].slug
    items = [(place, reverse(place.url_name, args=[slug]), _is_current(place, current)) for place in PLACES]
    return {"items": items, "pending_count": context.get("pending_count", 0)}


def _is_current(place: Place, view_name: str) -> bool:
    if place.views:
        return view_name in place.views.split()
    namespace, colon, _ = place.url_name.partition(":")
    return view_name.startswith(namespace + colon) if colon else view_name == place.url_name


@register.inclusion_tag("components/keys_rows.html")
def keys_rows() -> dict[str, Any]:
    return {"rows": [(what, keys.split()) for what, keys in KEYS]}


SIGN_CLASSES: Mapping[str, str] = {"+": "add", "-": "del", " ": ""}


@register.filter
def sign_class(line: diffs.Line | None) -> str:
    """The class of a diff cell or row: add, del, missing (a half of the split view without a line) or none."""
    return SIGN_CLASSES[line.sign] if line else "missing"


@register.simple_tag
def diff_line(line: diffs.Line | None) -> SafeString | str:
    """The code of a line, its changed words as `<ins>` or `<del>` so that they are heard as well."""
    if line is None:
        return ""
    change = "ins" if line.sign == "+" else "del"
    pieces = ((_part(part, change),) for part in line.parts)
    return format_html("<bdi>{}</bdi>", format_html_join("", "{}", pieces))


def _part(part: diffs.Part, change: str) -> SafeString:
    text = _marked(part.text)
    return format_html("<{0}>{1}</{0}>", change, text) if part.changed else text


@register.filter
def split_rows(lines: Iterable[diffs.Line]) -> list[tuple[diffs.Line | None, diffs.Line | None]]:
    """The lines of a hunk as pairs for the split view."""
    return diffs.split_rows(lines)


@register.simple_tag
def field_input(field: BoundField, mono: object = None, error: str = "") -> SafeString:
    """The control of a form field, styled, with its hint and error tied to it for those who listen."""
    invalid = bool(field.errors or error)
    attributes = {
        "class": "input mono" if mono else "input",
        "aria-describedby": f"{field.id_for_label}-hint {field.id_for_label}-error",
    }
    return field.as_widget(attrs=attributes | ({"aria-invalid": "true"} if invalid else {}))


@register.filter
def line_count(text: str) -> int:
    """Rows for a textarea that shows its whole text and a line to write on, within reason."""
    return min(24, max(3, text.count("\n") + 2))


@register.filter
def duration(milliseconds: int) -> str:
    """`22 ms`, `8.4 s`, `2 min`."""
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min"


@register.inclusion_tag("components/seal.html")
def seal(value: object) -> dict[str, Any]:
    return {"seal": value}


# The four states of a map cell: tone and drawing, so that they can be told apart without colour.
SHAPES: Mapping[str, tuple[str, SafeString]] = {
    "both": ("accent", mark_safe('<circle cx="6" cy="6" r="4.5"/>')),  # noqa: S308  constants
    "owned": ("pending", mark_safe('<circle class="hollow" cx="6" cy="6" r="4"/>')),  # noqa: S308  constants
    "outside": ("deny", mark_safe('<path d="M6 1.5 11 10.5H1z"/>')),  # noqa: S308  constants
    "shared": (
        "ask",
        mark_safe(
            '<circle class="hollow" cx="6" cy="6" r="4.25"/><path d="M6 1.75a4.25 4.25 0 0 1 0 8.5z"/>'
        ),  # noqa: S308  constants
    ),
}


@register.filter
def shape_tone(state: str) -> str:
    return SHAPES[state][0]


@register.simple_tag
def shape(state: str, label: str = "") -> SafeString:
    """The mark of a map cell; with a label it is the name of the link around it."""
    drawing = SHAPES[state][1]
    if label:
        return format_html(
            '<svg class="shape" viewBox="0 0 12 12" role="img" aria-label="{}">{}</svg>', label, drawing
        )
    return format_html('<svg class="shape" viewBox="0 0 12 12" aria-hidden="true">{}</svg>', drawing)
