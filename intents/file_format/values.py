"""An intent and a registry file as plain values, and the document form of an intent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from controlplane.policy.model import IntentStatus
from intents.file_format.field_rules import DEVIATIONS_FIELD, ID_PATTERN
from intents.statuses import parse_status

ALWAYS_WRITTEN = frozenset({"id", "status", "owned_scope", "constraints", "acceptance_criteria"})


@dataclass(frozen=True, slots=True)
class IntentValues:
    """All that a document says about one intent.

    `raw_status` is the document's own word where it differs from `status`, else "". Timestamps are the
    texts of the document. `allowed_commands` are kinds of commands (`go test`). A constraint is a text, or a
    mapping with a `type`. `acceptance_evidence` holds at most one record a criterion (`intents.evidence`).
    `extra` holds unknown fields.
    """

    intent_id: str
    name: str = ""
    description: str = ""
    status: IntentStatus = IntentStatus.PENDING
    raw_status: str = ""
    owner: str = ""
    created_at: str = ""
    updated_at: str = ""
    owned_scope: tuple[str, ...] = ()
    constraints: tuple[Any, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    acceptance_evidence: tuple[Mapping[str, Any], ...] = ()
    dependencies: tuple[str, ...] = ()
    references: tuple[Any, ...] = ()
    allowed_commands: tuple[str, ...] = ()
    blocked_reason: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def list_deviations(self) -> list[str]:
        """Return the fields, by their names in a document, that only a lenient import takes."""
        deviations = {
            "id": not ID_PATTERN.fullmatch(self.intent_id),
            "status": bool(self.raw_status) and parse_status(self.raw_status, lenient=False) is None,
            "owned_scope": not self.owned_scope,
        }
        return [name for name, deviates in deviations.items() if deviates]

    def to_document(self) -> dict[str, Any]:
        """Return the intent's mapping in `active_intents.yaml`, without empty optional fields."""
        fields: dict[str, Any] = {
            "id": self.intent_id,
            "name": self.name,
            "description": self.description,
            "status": self.raw_status or self.status.value,
            "owner": self.owner,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "owned_scope": list(self.owned_scope),
            "constraints": list(self.constraints),
            "acceptance_criteria": list(self.acceptance_criteria),
            "acceptance_evidence": list(self.acceptance_evidence),
            "dependencies": list(self.dependencies),
            "references": list(self.references),
            "allowed_commands": list(self.allowed_commands),
            "blocked_reason": self.blocked_reason,
            DEVIATIONS_FIELD: self.list_deviations(),
        }
        written = {name: value for name, value in fields.items() if value or name in ALWAYS_WRITTEN}
        return {**written, **self.extra}


@dataclass(frozen=True, slots=True)
class RegistryValues:
    """A complete `active_intents.yaml`. `extra` holds top-level keys that the product does not know."""

    intents: tuple[IntentValues, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
