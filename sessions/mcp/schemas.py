"""Pieces of the tools' input schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]


def text(about: str, max_length: int = 2000) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": max_length, "description": about}


def texts(about: str, min_items: int = 0) -> Schema:
    items = {"type": "string", "minLength": 1, "maxLength": 512}
    return {"type": "array", "items": items, "minItems": min_items, "maxItems": 50, "description": about}


def choice(about: str, values: list[str]) -> Schema:
    return {"type": "string", "enum": values, "description": about}


SESSION_ID = text("Your session, where the control plane told you its id. Leave it out otherwise.", 200)
INTENT_ID = text("Such as INT-001", 200)
PROPOSAL_FIELDS: Mapping[str, Schema] = {
    "name": text("What the work is called", 200),
    "description": text("What is to be done, and why"),
    "owned_scope": texts("Globs of the files that the work may change, such as src/auth/**", 1),
    "constraints": texts("What must not happen"),
    "acceptance_criteria": texts("How one sees that it is done"),
}
