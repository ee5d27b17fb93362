"""Make agents' text safe to read: show characters that hide or reorder text as code points."""

from __future__ import annotations

import re
import unicodedata

from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

# Invisible characters that change how text reads ("Trojan Source", CVE-2021-42574): controls except tab and
# newline, format and bidirectional characters, surrogates, private use, line and paragraph separators.
_HIDDEN = re.compile(
    "([\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\ud800-\udfff\ue000-\uf8ff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff])"
)


def escape_hidden(text: str) -> SafeString:
    """Return escaped HTML with each hidden character as a marked code point."""
    if not _HIDDEN.search(text):
        return conditional_escape(text)
    pieces = ((_mark(piece) if _HIDDEN.fullmatch(piece) else piece,) for piece in _HIDDEN.split(text))
    return format_html_join("", "{}", pieces)


def spell_hidden(text: str) -> str:
    """Return plain text with hidden characters as `[U+202E]`, for titles and labels."""
    return _HIDDEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)


def _mark(character: str) -> SafeString:
    name = unicodedata.name(character, "control character")
    return format_html(
        '<span class="control-character" data-tone="ask" title="{}">U+{}</span>',
        name.lower(),
        f"{ord(character):04X}",
    )
