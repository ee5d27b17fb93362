"""An intent and a registry file as plain values, and their form as a document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from controlplane.policy.model import IntentStatus
from intents.file_format.yaml_tree import YamlList, YamlMapping, YamlNode, YamlScalar

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
_SAFE_WHOLE = 2**53
_WORDS: Mapping[str, Any] = {"": None, "~": None, "null": None, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class IntentValues:
    """Everything that a document says about one intent.

    `raw_status` is the document's own word where it differs from `status`, else "". Timestamps are the
    texts of the document. A constraint is a text, or a mapping with a `type`. `extra` keeps unknown fields.
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
    dependencies: tuple[str, ...] = ()
    references: tuple[Any, ...] = ()
    blocked_reason: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        """The mapping that stands in `active_intents.yaml`; empty optional fields are left out."""
        facts: dict[str, Any] = {
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
            "dependencies": list(self.dependencies),
            "references": list(self.references),
            "blocked_reason": self.blocked_reason,
        }
        kept = {name: value for name, value in facts.items() if value or name in ALWAYS_WRITTEN}
        return {**kept, **self.extra}


ALWAYS_WRITTEN = frozenset({"id", "status", "owned_scope", "constraints", "acceptance_criteria"})


@dataclass(frozen=True, slots=True)
class RegistryValues:
    """A whole `active_intents.yaml`. `extra` keeps unknown keys beside `active_intents` and `metadata`."""

    intents: tuple[IntentValues, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


def to_json(node: YamlNode) -> Any:
    """The JSON value of a field that the product has no rule for.

    A plain scalar becomes a number, a truth value or null only where writing that value gives the very same
    text back; `1.10`, `0o17` and `yes` stay texts.
    """
    if isinstance(node, YamlMapping):
        return {name: to_json(entry.value) for name, entry in node.entries.items()}
    if isinstance(node, YamlList):
        return [to_json(item) for item in node.items]
    return _json_of_plain(node.value) if node.plain else node.value


def is_null(node: YamlNode) -> bool:
    return isinstance(node, YamlScalar) and node.plain and node.value in {"", "~", "null"}


def _json_of_plain(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text) and len(text) < 18 and abs(int(text)) <= _SAFE_WHOLE:
        return int(text) if str(int(text)) == text else text
    if _DECIMAL.fullmatch(text) and len(text) < 18 and repr(float(text)) == text:
        return float(text)
    return text
