"""What a row of a list has no room for: long paths lose folders in the middle, long commands their end."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from controlplane.templatetags import hostile

register = template.Library()
MAX_FOLDER_LENGTH = 48  # characters
MAX_NAME_LENGTH = 64
MAX_COMMAND_LENGTH = 120
LEFT_OUT = "…"


@register.filter
def row_path(value: object) -> SafeString:
    """A file path as `path` draws it, short enough for a row; the whole one is in the tooltip."""
    whole = str(value)
    folder, slash, name = whole.rpartition("/")
    short = _folders(folder) + slash, _middle(name, MAX_NAME_LENGTH)
    title = format_html(' title="{}"', hostile.legible(whole)) if "".join(short) != whole else ""
    return format_html('<bdi class="path"{}>{}<b>{}</b></bdi>', title, *map(hostile.marked, short))


@register.filter
def row_command(value: object) -> SafeString:
    """The beginning of a command, hidden characters as marks."""
    text = str(value)
    return hostile.marked(
        text if len(text) <= MAX_COMMAND_LENGTH else text[: MAX_COMMAND_LENGTH - 1] + LEFT_OUT
    )


def _folders(folder: str) -> str:
    """The first folder and as many of the last ones as fit."""
    if len(folder) <= MAX_FOLDER_LENGTH:
        return folder
    first, *rest = folder.split("/")
    kept: list[str] = []
    room = MAX_FOLDER_LENGTH - min(len(first), MAX_FOLDER_LENGTH // 2)
    while rest and len("/".join([rest[-1], *kept])) <= room:
        kept.insert(0, rest.pop())
    return "/".join([_middle(first, MAX_FOLDER_LENGTH // 2), LEFT_OUT, *kept])


def _middle(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    end = most // 3
    return text[: most - end - 1] + LEFT_OUT + text[-end:]
