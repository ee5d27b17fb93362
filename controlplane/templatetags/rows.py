"""Shorten text for list rows: long paths lose directories in the middle, long commands their end."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from controlplane.templatetags.hidden_characters import escape_hidden, spell_hidden

register = template.Library()
MAX_FOLDER_LENGTH = 48  # characters
MAX_NAME_LENGTH = 64
MAX_COMMAND_LENGTH = 120
ELLIPSIS = "…"


@register.filter
def row_path(value: object) -> SafeString:
    """Render a file path as `path` does, shortened for a row; the full path is in the tooltip."""
    full_path = str(value)
    directory, slash, name = full_path.rpartition("/")
    short = _shorten_directories(directory) + slash, _shorten_middle(name, MAX_NAME_LENGTH)
    title = format_html(' title="{}"', spell_hidden(full_path)) if "".join(short) != full_path else ""
    return format_html('<bdi class="path"{}>{}<b>{}</b></bdi>', title, *map(escape_hidden, short))


@register.filter
def row_command(value: object) -> SafeString:
    """Render the beginning of a command, with hidden characters as code points."""
    text = str(value)
    return escape_hidden(
        text if len(text) <= MAX_COMMAND_LENGTH else text[: MAX_COMMAND_LENGTH - 1] + ELLIPSIS
    )


def _shorten_directories(directory: str) -> str:
    """Return the first directory and as many of the last ones as fit."""
    if len(directory) <= MAX_FOLDER_LENGTH:
        return directory
    first, *rest = directory.split("/")
    last_parts: list[str] = []
    room = MAX_FOLDER_LENGTH - min(len(first), MAX_FOLDER_LENGTH // 2)
    while rest and len("/".join([rest[-1], *last_parts])) <= room:
        last_parts.insert(0, rest.pop())
    return "/".join([_shorten_middle(first, MAX_FOLDER_LENGTH // 2), ELLIPSIS, *last_parts])


def _shorten_middle(text: str, max_length: int) -> str:
    if len(text) <= max_length:
        return text
    end = max_length // 3
    return text[: max_length - end - 1] + ELLIPSIS + text[-end:]
