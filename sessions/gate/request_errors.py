"""Say what is wrong with the body of a gate request, for a person or a model that has to correct it."""

from __future__ import annotations

import json
from collections.abc import Iterable

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sessions.gate.limits import MAX_LINKS
from sessions.live.hold_open import MAX_WAIT_SECONDS

REQUIRED_TEXTS = frozenset({"session_id", "tool"})
TEXTS = {
    "input": "The field input is missing: send the tool's input as a JSON object.",
    "agent": "The field agent must be an object with name, version, model and hook.",
    "as": "The field as must be an object with intent_id, session_id or both.",
    "current_content_hashes": (
        "current_content_hashes must be an object: path to sha256:… (or null for a missing file)."
    ),
    "links": f"links must be an object of at most {MAX_LINKS} paths: link to where it leads.",
    "wait_seconds": f"wait_seconds must be a number from 0 to {MAX_WAIT_SECONDS}.",
    "dry_run": "dry_run must be true or false.",
}


def describe_body_error(error: ValidationError, fields: Iterable[str]) -> str:
    """Describe an unknown field, else the first wrong one in the order of the model's `fields`."""
    errors = error.errors(include_url=False, include_input=False)
    top_level = (e["loc"][0] for e in errors if e["type"] == "extra_forbidden" and len(e["loc"]) == 1)
    unknown = sorted(map(str, top_level))
    if unknown:
        return f"Unknown field {unknown[0]!r}. Known are: {', '.join(sorted(fields))}."
    name, *rest = map(str, errors[0]["loc"])
    if name == "current_content_hashes" and rest:
        return f"{name}[{json.dumps(rest[0])}] is not sha256: and 64 hex digits."
    if rest and name in {"agent", "as"} and errors[0]["type"] != "extra_forbidden":
        return describe_text_error(rest[0], errors[0])
    return TEXTS.get(name) or describe_text_error(name, errors[0], required=name in REQUIRED_TEXTS)


def describe_text_error(name: str, error: ErrorDetails, *, required: bool = False) -> str:
    if error["type"] == "string_too_long":
        return f"The field {name} is longer than {error['ctx']['max_length']} characters."
    if error["type"] == "not_printable":
        return f"The field {name} holds control or invisible characters."
    return f"The field {name} must be a {'non-empty ' if required else ''}string."
