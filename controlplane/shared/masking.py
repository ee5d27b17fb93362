"""Mask secrets and cut long texts before anything from an agent is stored.

Only known formats of credentials are masked: a guess could hide the change that a reviewer must see.
"""

from __future__ import annotations

import math
import re
from typing import Any

MASK = "•••masked•••"
MAX_TEXT_LENGTH = 200_000  # characters of one field
_MAX_NUMBER = 2**53 - 1
CUT_MARK = "… [cut: {left} more characters are not stored]"

# Lower-case hints (every match contains one), pattern, replacement. The gate masks every input: looking for a
# hint is much cheaper than matching the pattern, and most texts contain none.
_SECRET_PATTERNS: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = tuple(
    (signs, re.compile(form), place)
    for signs, form, place in (
        (
            ("-----begin ",),
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{0,20000}?-----END [A-Z ]*PRIVATE KEY-----",
            MASK,
        ),
        (("akia", "asia"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", MASK),  # AWS access key
        (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b", MASK),  # GitHub
        (("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b", MASK),
        (("glpat-",), r"\bglpat-[A-Za-z0-9_-]{20,64}\b", MASK),  # GitLab
        (("xox",), r"\bxox[abprs]-[A-Za-z0-9-]{10,250}\b", MASK),  # Slack
        (("sk-",), r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,250}\b", MASK),  # model providers
        (("aiza",), r"\bAIza[0-9A-Za-z_-]{35}\b", MASK),  # Google
        (("k_live_", "k_test_"), r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,250}\b", MASK),  # Stripe
        (("npm_",), r"\bnpm_[A-Za-z0-9]{36}\b", MASK),
        (("pypi-",), r"\bpypi-[A-Za-z0-9_-]{50,250}", MASK),
        (("icp_",), r"\bicp_[A-Za-z0-9_-]{43}\b", MASK),  # our own tokens
        (
            ("eyj",),  # JWT
            r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,2000}\b",
            MASK,
        ),
        (("bearer", "basic"), r"(?i)(\b(?:bearer|basic)\s+)([A-Za-z0-9._~+/=-]{16,2000})", rf"\1{MASK}"),
        (("://",), r"(?i)(\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,200}:)([^\s/@]{1,200})(@)", rf"\1{MASK}\3"),
        (
            ("passw", "secret", "key", "token"),
            (
                r"(?i)\b([a-z0-9_]{0,40}(?:password|passwd|secret|api_?key|access_?token|auth_?token|private_?key)"
                r"[\"']?\s{0,5}[=:]\s{0,5}[\"']?)([^\s\"',;&)(<>{}\[\]$]{8,200})"
            ),
            rf"\1{MASK}",
        ),
    )
)


def mask_text(text: str) -> str:
    """Return `text` with known secrets replaced by MASK."""
    lowered = text.lower()
    for hints, pattern, replacement in _SECRET_PATTERNS:
        if any(sign in lowered for sign in hints):
            text = pattern.sub(replacement, text)
    return text


def cut_text(text: str, max_length: int = MAX_TEXT_LENGTH) -> str:
    return (
        text if len(text) <= max_length else text[:max_length] + CUT_MARK.format(left=len(text) - max_length)
    )


def is_cut(text: str) -> bool:
    return text.endswith("more characters are not stored]")


def to_storable(value: Any) -> Any:
    """Return a JSON value with every text in it masked and cut.

    A number that JSON readers disagree on (RFC 8259, section 6) becomes text: an entry that canonical JSON
    cannot represent would make the gate deny the call.
    """
    if isinstance(value, str):
        return mask_text(cut_text(value)) if len(value) > 7 else value
    if isinstance(value, int | float) and not -_MAX_NUMBER <= value <= _MAX_NUMBER:
        return value if isinstance(value, float) and math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {str(key): to_storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [to_storable(item) for item in value]
    return value
