"""Make agents' text safe to read: show characters that hide, reorder or imitate text as code points."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

# Invisible characters that change how text reads ("Trojan Source", CVE-2021-42574): controls except tab and
# newline, format and bidirectional characters, surrogates, private use, line and paragraph separators.
_HIDDEN = re.compile(
    "([\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\ud800-\udfff\ue000-\uf8ff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff])"
)


# Letters that look like ASCII ones (UTS 39): fullwidth and mathematical ones anywhere, those of other scripts
# in a word that has ASCII letters, too. A word of one script is what it seems.
_WIDE, _ROMAN, _MATHEMATICAL = (
    "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a",
    "\u2160-\u217f",
    "\U0001d400-\U0001d7ff",
)
_IMITATION = re.compile(f"([{_WIDE}{_ROMAN}{_MATHEMATICAL}])")
_FOREIGN = re.compile(
    "([\u0251\u0261\u026a\u0370-\u03ff\u0400-\u058f\u13a0-\u13ff\u1d00-\u1d7f\u1f00-\u1fff\u2c80-\u2cff"
    "\ua4d0-\ua4ff])"
)
_WORD = re.compile(r"([\w.-]+)")
_ASCII_LETTER = re.compile("[A-Za-z]")


def escape_hidden(text: str) -> SafeString:
    """Return escaped HTML with each hidden or imitating character as a marked code point."""
    if text.isascii() and not _HIDDEN.search(text):
        return conditional_escape(text)
    pieces = _split_marked(text)
    return format_html_join("", "{}", ((_mark(piece) if marked else piece,) for piece, marked in pieces))


def spell_hidden(text: str) -> str:
    """Return plain text with such characters as `[U+202E]`, for titles and labels."""
    pieces = _split_marked(text)
    return "".join(f"[U+{ord(piece):04X}]" if marked else piece for piece, marked in pieces)


def _split_marked(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the text in pieces, and whether each is one character to be marked."""
    for word in _WORD.split(text):
        is_mixed = not word.isascii() and _ASCII_LETTER.search(word) is not None
        for piece in _HIDDEN.split(word):
            if _HIDDEN.fullmatch(piece):
                yield piece, True
                continue
            for part in _IMITATION.split(piece):
                if _IMITATION.fullmatch(part):
                    yield part, True
                elif is_mixed:
                    yield from ((letter, bool(_FOREIGN.fullmatch(letter))) for letter in _FOREIGN.split(part))
                else:
                    yield part, False


def _mark(character: str) -> SafeString:
    name = unicodedata.name(character, "control character")
    return format_html(
        '<span class="control-character" data-tone="ask" title="{}">U+{}</span>',
        name.lower(),
        f"{ord(character):04X}",
    )
