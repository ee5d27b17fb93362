"""The report of an import or a check: errors and warnings, each with its type, field and line."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class DiagnosticType(StrEnum):
    """Errors first, then warnings, then repairs of a lenient import (which are warnings too)."""

    YAML_PARSE_ERROR = "YAML_PARSE_ERROR"
    MISSING_ACTIVE_INTENTS = "MISSING_ACTIVE_INTENTS"
    INVALID_ID_FORMAT = "INVALID_ID_FORMAT"
    DUPLICATE_ID = "DUPLICATE_ID"
    INVALID_STATUS = "INVALID_STATUS"
    EMPTY_SCOPE = "EMPTY_SCOPE"
    INVALID_GLOB = "INVALID_GLOB"
    ABSOLUTE_PATH = "ABSOLUTE_PATH"
    INVALID_TIMESTAMP_FORMAT = "INVALID_TIMESTAMP_FORMAT"
    INVALID_DEPENDENCY = "INVALID_DEPENDENCY"
    CIRCULAR_DEPENDENCY = "CIRCULAR_DEPENDENCY"
    INVALID_FIELD = "INVALID_FIELD"

    STATUS_ALIAS = "STATUS_ALIAS"
    INVALID_TIMESTAMP = "INVALID_TIMESTAMP"
    SCOPE_OVERLAP = "SCOPE_OVERLAP"
    DEPENDENCY_NOT_READY = "DEPENDENCY_NOT_READY"
    MISSING_CONSTRAINTS = "MISSING_CONSTRAINTS"
    MISSING_ACCEPTANCE_CRITERIA = "MISSING_ACCEPTANCE_CRITERIA"
    UNKNOWN_FIELD = "UNKNOWN_FIELD"
    UNKNOWN_CONSTRAINT_TYPE = "UNKNOWN_CONSTRAINT_TYPE"
    LARGE_FILE = "LARGE_FILE"

    KEY_ALIAS = "KEY_ALIAS"
    ID_FORMAT = "ID_FORMAT"
    SCOPE_ALIAS = "SCOPE_ALIAS"
    CONTROL_CHARACTER = "CONTROL_CHARACTER"


REPAIRS = frozenset(
    {
        DiagnosticType.EMPTY_SCOPE,
        DiagnosticType.STATUS_ALIAS,
        DiagnosticType.KEY_ALIAS,
        DiagnosticType.ID_FORMAT,
        DiagnosticType.SCOPE_ALIAS,
        DiagnosticType.CONTROL_CHARACTER,
    }
)
"""What a lenient import takes in with a warning, and a strict one refuses or reads otherwise."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error or warning. `line` counts from 1; None where there is no file.

    `path` and `other_intent_id` belong to `SCOPE_OVERLAP`: a path that both intents own, and the second one.
    """

    type: DiagnosticType
    message: str
    intent_id: str | None = None
    field: str | None = None
    line: int | None = None
    path: str | None = None
    other_intent_id: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the fields that have a value."""
        fields = {
            "type": self.type.value,
            "message": self.message,
            "intent_id": self.intent_id,
            "field": self.field,
            "line": self.line,
            "path": self.path,
            "other_intent_id": self.other_intent_id,
        }
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ValidationReport:
    errors: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def valid(self) -> bool:
        return not self.errors

    def to_json(self) -> dict[str, Any]:
        return {
            "valid": self.valid,
            "errors": [diagnostic.to_json() for diagnostic in self.errors],
            "warnings": [diagnostic.to_json() for diagnostic in self.warnings],
        }
