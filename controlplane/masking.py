"""Secrets are masked and long texts cut before anything from an agent is stored.

Known forms of credentials only: a mask that guesses hides the change that a reviewer must see.
"""

from __future__ import annotations

import re
from typing import Any

MASK = "•••masked•••"
TEXT_MOST = 200_000  # characters of one field
CUT_MARK = "… [cut: {left} more characters are not stored]"

_FORMS = [
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{0,20000}?-----END [A-Z ]*PRIVATE KEY-----",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",  # AWS access key
    r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b",  # GitHub
    r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b",
    r"\bglpat-[A-Za-z0-9_-]{20,64}\b",  # GitLab
    r"\bxox[abprs]-[A-Za-z0-9-]{10,250}\b",  # Slack
    r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,250}\b",  # model providers
    r"\bAIza[0-9A-Za-z_-]{35}\b",  # Google
    r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,250}\b",  # Stripe
    r"\bnpm_[A-Za-z0-9]{36}\b",
    r"\bpypi-[A-Za-z0-9_-]{50,250}",
    r"\bicp_[A-Za-z0-9_-]{43}\b",  # our own tokens
    r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,2000}\b",  # JWT
]
_WHOLE = re.compile("|".join(_FORMS))
_NAMED = re.compile(
    r"(?i)\b([a-z0-9_]{0,40}(?:password|passwd|secret|api_?key|access_?token|auth_?token|private_?key)"
    r"[\"']?\s{0,5}[=:]\s{0,5}[\"']?)([^\s\"',;&)(<>{}\[\]$]{8,200})"
)
_BASIC = re.compile(r"(?i)(\b(?:bearer|basic)\s+)([A-Za-z0-9._~+/=-]{16,2000})")
_URL = re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,200}:)([^\s/@]{1,200})(@)")


def mask_text(text: str) -> str:
    """`text` without known forms of secrets."""
    text = _WHOLE.sub(MASK, text)
    text = _BASIC.sub(rf"\1{MASK}", text)
    text = _URL.sub(rf"\1{MASK}\3", text)
    return _NAMED.sub(rf"\1{MASK}", text)


def cut_text(text: str, most: int = TEXT_MOST) -> str:
    return text if len(text) <= most else text[:most] + CUT_MARK.format(left=len(text) - most)


def was_cut(text: str) -> bool:
    return text.endswith("more characters are not stored]")


def storable(value: Any) -> Any:
    """The same JSON value with every text in it masked and cut."""
    if isinstance(value, str):
        return mask_text(cut_text(value)) if len(value) > 7 else value
    if isinstance(value, dict):
        return {str(key): storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable(item) for item in value]
    return value
