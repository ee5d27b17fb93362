"""Template tags of the product: icons, meanings, times, and the safe display of hostile text.

Labels and tones come from one table, so that an outcome looks and reads the same on every page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django import template
from django.forms import BoundField
from django.template import Context
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from controlplane.templatetags import diffs, times
from controlplane.templatetags.hidden_characters import escape_hidden, spell_hidden
from controlplane.templatetags.meanings import (
    KEYS,
    KIND_ICONS,
    MARK_TONES,
    NAV_ITEMS,
    REACH_SIZES,
    SHAPES,
    NavItem,
    find_meaning,
)
from controlplane.templatetags.names import agent_letters, agent_title

register = template.Library()
EN_DASH = "\N{EN DASH}"


@register.simple_tag
def icon(name: str, size: int = 16, label: str | Promise = "") -> SafeString:
    """Render an icon of the sprite. Without a label it is decoration for the text next to it."""
    css = "icon" if size == 16 else f"icon icon-{size}"
    if label:
        return format_html(
            '<svg class="{}" role="img" aria-label="{}"><use href="#i-{}"/></svg>', css, label, name
        )
    return format_html('<svg class="{}" aria-hidden="true"><use href="#i-{}"/></svg>', css, name)


@register.simple_tag
def badge(value: object, label: str = "", *, plain: bool = False) -> SafeString:
    """Render a status as a tinted badge; plain has no fill, for the normal case in lists."""
    meaning = find_meaning(value)
    return format_html(
        '<span class="badge{}" data-tone="{}">{}{}</span>',
        " badge-plain" if plain else "",
        meaning.tone,
        icon(meaning.icon, 12),
        label or meaning.word or str(value),
    )


@register.simple_tag
def outcome(value: object) -> SafeString:
    """Render the icon of a status in its colour, with its label for screen readers."""
    meaning = find_meaning(value)
    return format_html(
        '<span class="fg" data-tone="{}">{}</span>', meaning.tone, icon(meaning.icon, label=meaning.word)
    )


@register.filter
def tone(value: object) -> str:
    return find_meaning(value).tone


@register.filter
def meaning_icon(value: object) -> str:
    return find_meaning(value).icon


@register.filter
def kind_icon(kind: str) -> str:
    return KIND_ICONS.get(kind, "ask")


@register.filter
def mark_tone(mark: str) -> str:
    return MARK_TONES.get(mark, "ask")


@register.simple_tag
def agent_mark(name: str) -> SafeString:
    """Render an agent's two letters in a square; decoration next to its name."""
    return format_html('<span class="mark" aria-hidden="true">{}</span>', agent_letters(name))


register.filter("agent_title", agent_title)


@register.simple_tag
def agent(name: str) -> SafeString:
    """Render an agent: its letters and its title, by its name or its title."""
    return format_html("{} {}", agent_mark(name), visible(agent_title(name)))


@register.simple_tag
def person(name: str) -> SafeString:
    """Render a user's initials in a circle: of the first two words, or the first two letters."""
    parts = [part for part in name.replace("-", " ").replace(".", " ").split() if part]
    letters = "".join(part[0] for part in parts[:2]) if len(parts) > 1 else name[:2]
    return format_html('<span class="person" aria-hidden="true">{}</span>', letters.upper())


@register.filter
def visible(text: object) -> SafeString:
    """Render an agent's text: isolated, with control and bidirectional characters as code points."""
    return format_html("<bdi>{}</bdi>", escape_hidden(str(text)))


@register.filter
def legible(text: object) -> str:
    """Return an agent's text for a title or a label, with hidden characters spelled out."""
    return spell_hidden(str(text))


@register.filter
def path(value: object) -> SafeString:
    """Render a file path with a muted directory and the file name in full contrast."""
    directory, slash, name = str(value).rpartition("/")
    return format_html(
        '<bdi class="path">{}<b>{}</b></bdi>', escape_hidden(directory + slash), escape_hidden(name)
    )


@register.filter
def count(value: int | None) -> SafeString | str:
    """Render a number with thousands separators; None is a dash, zero is faint."""
    if value is None:
        return EN_DASH
    return f"{value:,}" if value else format_html('<span class="faint">{}</span>', value)


@register.simple_tag
def ago(then: datetime | None, suffix: str = " ago") -> SafeString | str:
    """Render the time since, rounded up and updated by countdown.js; the exact time is in the tooltip."""
    if then is None:
        return "never"
    return _time(
        then, times.format_since(then, timezone.now(), suffix), format_html(' data-since="{}"', suffix)
    )


@register.simple_tag
def moment(then: datetime | None) -> SafeString | str:
    """Render a time: today as clock time, this week with the day, older as a date."""
    if then is None:
        return EN_DASH
    return _time(then, times.format_timestamp(timezone.localtime(then), timezone.localtime()))


def _time(then: datetime, words: str, attributes: str = "") -> SafeString:
    exact = timezone.localtime(then).strftime("%Y-%m-%d %H:%M:%S %Z")
    return format_html(
        '<time datetime="{}" title="{}"{}>{}</time>', then.isoformat(), exact, attributes, words
    )


@register.simple_tag
def scrolls() -> SafeString:
    """Render the attributes of a box that scrolls sideways, so that keys reach what is cut off."""
    return format_html(' tabindex="0" role="group" aria-label="{}"', gettext("Table, scrolls sideways"))


@register.inclusion_tag("components/countdown.html")
def countdown(until: datetime, since: datetime | None = None) -> dict[str, Any]:
    """Render the remaining time; with `since` as a bar too. Static without JavaScript."""
    now = timezone.now()
    left = max(0, int((until - now).total_seconds()))
    total = int((until - since).total_seconds()) if since else 0
    return {
        "until": until,
        "words": times.format_remaining(until, now) if since else times.format_expiry(until, now),
        "left": left,
        "whole": total,
        "tone": "deny" if left < 90 else "ask",
        "urgent": left < (90 if since else 60),
    }


@register.inclusion_tag("components/reach.html")
def reach(level: str, reason: str = "") -> dict[str, str | Promise]:
    return {"level": level, "size": REACH_SIZES[level], "why": reason}


@register.inclusion_tag("components/rail_items.html", takes_context=True)
def rail_items(context: Context) -> dict[str, Any]:
    """Render the navigation of the workspace in the context; the resolved URL name marks the current item."""
    match = getattr(context.get("request"), "resolver_match", None)
    current = match.view_name if match else ""
    slug = context["workspace"].slug
    items = [
        (place, reverse(place.url_name, args=[slug]), _is_current(place, current)) for place in NAV_ITEMS
    ]
    return {"items": items, "pending_count": context.get("pending_count", 0)}


def _is_current(place: NavItem, view_name: str) -> bool:
    if place.views:
        return view_name in place.views.split()
    namespace, colon, _ = place.url_name.partition(":")
    return view_name.startswith(namespace + colon) if colon else view_name == place.url_name


@register.inclusion_tag("components/keys_rows.html")
def keys_rows() -> dict[str, Any]:
    return {"rows": [(description, keys.split()) for description, keys in KEYS]}


SIGN_CLASSES: Mapping[str, str] = {"+": "add", "-": "del", " ": ""}


@register.filter
def sign_class(line: diffs.DiffLine | None) -> str:
    """Return the CSS class of a diff line: add, del, none, or missing for the empty half of a split row."""
    return SIGN_CLASSES[line.sign] if line else "missing"


@register.simple_tag
def diff_line(line: diffs.DiffLine | None) -> SafeString | str:
    """Render a line's code, changed words as `<ins>` or `<del>`, which screen readers announce."""
    if line is None:
        return ""
    change = "ins" if line.sign == "+" else "del"
    pieces = ((_part(part, change),) for part in line.parts)
    return format_html("<bdi>{}</bdi>", format_html_join("", "{}", pieces))


def _part(part: diffs.DiffPart, change: str) -> SafeString:
    text = escape_hidden(part.text)
    return format_html("<{0}>{1}</{0}>", change, text) if part.changed else text


@register.filter
def split_rows(lines: Iterable[diffs.DiffLine]) -> list[tuple[diffs.DiffLine | None, diffs.DiffLine | None]]:
    """Return the lines of a hunk as pairs for the split view."""
    return diffs.split_rows(lines)


@register.simple_tag
def field_input(field: BoundField, mono: object = None, error: str = "") -> SafeString:
    """Render the control of a form field, associated with its hint and error for screen readers."""
    invalid = bool(field.errors or error)
    attributes: dict[str, str | bool] = {
        "class": "input mono" if mono else "input",
        "aria-describedby": f"{field.id_for_label}-hint {field.id_for_label}-error",
    }
    if invalid:
        attributes["aria-invalid"] = "true"
    return field.as_widget(attrs=attributes)


@register.filter
def line_count(text: str) -> int:
    """Return the rows of a textarea for its text and one more line, from 3 to 24."""
    return min(24, max(3, text.count("\n") + 2))


@register.filter
def duration(milliseconds: int) -> str:
    return times.format_duration(milliseconds)


@register.simple_tag(takes_context=True)
def intent_tag(context: Context, intent_id: str) -> SafeString:
    """Render an intent id, as a link if it fits the URL pattern; traces may contain any text."""
    try:
        url = reverse("intents:detail", args=[context["workspace"].slug, intent_id])
    except NoReverseMatch:
        return format_html('<span class="tag">{}</span>', visible(intent_id))
    return format_html('<a class="tag" href="{}">{}</a>', url, visible(intent_id))


@register.simple_tag(takes_context=True)
def file_link(context: Context, file: str, text: str = "") -> SafeString:
    """Render a path, as a link if it fits the URL pattern; an agent's path may contain anything."""
    label = visible(text) if text else path(file)
    try:
        url = reverse("traces:file", args=[context["workspace"].slug, file])
    except NoReverseMatch:
        return label
    return format_html('<a href="{}">{}</a>', url, label)


@register.inclusion_tag("components/seal.html")
def seal(value: object) -> dict[str, Any]:
    return {"seal": value}


@register.filter
def shape_tone(state: str) -> str:
    return SHAPES[state][0]


@register.simple_tag
def shape(state: str, label: str = "") -> SafeString:
    """Render the shape of a map cell; a label names the link around it."""
    drawing = SHAPES[state][1]
    if label:
        return format_html(
            '<svg class="shape" viewBox="0 0 12 12" role="img" aria-label="{}">{}</svg>', label, drawing
        )
    return format_html('<svg class="shape" viewBox="0 0 12 12" aria-hidden="true">{}</svg>', drawing)
