"""JSON schemas of what proves acceptance criteria: as agents send it, and as documents hold it."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from jsonschema import Draft202012Validator

from controlplane.shared.masking import mask_text

MAX_CLAIMS = 50  # in one call
MAX_EVIDENCE = 20  # of one criterion
MAX_NOTE = 2_000
MAX_PROBLEM = 300

Schema = dict[str, Any]


class CriterionStatus(StrEnum):
    OPEN = "open"  # nobody has claimed it
    CLAIMED = "claimed"
    MET = "met"


class EvidenceType(StrEnum):
    TRACE = "trace"
    COMMAND = "command"
    NOTE = "note"


def _text(about: str, max_length: int) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": max_length, "description": about}


EVIDENCE: Schema = {
    "type": {"type": "string", "enum": [kind.value for kind in EvidenceType]},
    "id": _text("trace: its entry; command: the decision_id of the gate's answer", 200),
    "path": _text("trace: the file, for its newest change", 1_000),
    "command": _text("command: as it was sent to the gate, for its newest run", 20_000),
    "run_id": _text("command: the contained run", 200),
    "exit_status": {
        "type": "integer",
        "minimum": -(2**31),
        "maximum": 2**32 - 1,
        "description": "command: how it ended; a contained run has reported it",
    },
    "text": _text("note: the agent's own words", MAX_NOTE),
}
# A masked text may be longer than the one that was sent: what is stored has no limits of its own.
_STORED_EVIDENCE: Schema = {
    name: {key: value for key, value in field.items() if not key.startswith(("min", "max"))}
    for name, field in EVIDENCE.items()
}
CLAIM: Schema = {
    "type": "object",
    "properties": {
        "criterion": {
            "anyOf": [{"type": "string"}, {"type": "integer"}],
            "description": "The criterion's own words, or its number, from 1",
        },
        "evidence": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": EVIDENCE,
                "required": ["type"],
                "additionalProperties": False,
            },
            "minItems": 1,
            "maxItems": MAX_EVIDENCE,
        },
    },
    "required": ["criterion", "evidence"],
    "additionalProperties": False,
}
CLAIMS: Schema = {
    "type": "array",
    "items": CLAIM,
    "maxItems": MAX_CLAIMS,
    "description": "What proves each criterion: changes, commands that ran, notes",
}
RECORD: Schema = {
    "type": "object",
    "properties": {
        "criterion": {"type": "string", "description": "The criterion's own words"},
        "status": {"type": "string", "enum": [CriterionStatus.CLAIMED.value, CriterionStatus.MET.value]},
        "claimed_by": {"type": "string", "description": "The agent"},
        "session_id": {"type": "string"},
        "claimed_at": {"type": "string"},
        "confirmed_by": {"type": "string", "description": "A person, or `policy`"},
        "confirmed_at": {"type": "string"},
        "evidence": {
            "type": "array",
            "items": {"type": "object", "properties": _STORED_EVIDENCE, "required": ["type"]},
        },
    },
    "required": ["criterion", "status", "evidence"],
}
RECORDS: Schema = {
    "type": "array",
    "items": RECORD,
    "description": "What proves the acceptance criteria. One that is not named is open.",
}

_claims, _record = Draft202012Validator(CLAIMS), Draft202012Validator(RECORD)


def find_claim_problem(claims: Any) -> str | None:
    """Return what is wrong with the form of an agent's claims, with the place; None where nothing is."""
    return _find_problem(_claims, claims)


def find_record_problem(record: Any) -> str | None:
    """Return what is wrong with the form of one record of a document; None where nothing is."""
    return _find_problem(_record, record)


def _find_problem(validator: Any, value: Any) -> str | None:
    problem = next(validator.iter_errors(value), None)
    if problem is None:
        return None
    place = ".".join(map(str, problem.absolute_path))
    message = mask_text(problem.message)[-MAX_PROBLEM:]
    return f"{place}: {message}" if place else message
