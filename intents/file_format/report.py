"""What reading or checking intents can find, in the words of the import report."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class DiagnosticType(StrEnum):
    """Errors first, then warnings, then the repairs of a lenient import (warnings too)."""

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
    LARGE_FILE = "LARGE_FILE"

    KEY_ALIAS = "KEY_ALIAS"
    ID_FORMAT = "ID_FORMAT"
    SCOPE_ALIAS = "SCOPE_ALIAS"
    CONTROL_CHARACTER = "CONTROL_CHARACTER"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `line` counts from 1; None where there is no file. `path` and `other_intent_id` belong
    to `SCOPE_OVERLAP`: a path that both intents own, and the second of the two."""

    type: DiagnosticType
    message: str
    intent_id: str | None = None
    field: str | None = None
    line: int | None = None
    path: str | None = None
    other_intent_id: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields that are known, as the import report shows them."""
        facts = {
            "type": self.type.value,
            "message": self.message,
            "intent_id": self.intent_id,
            "field": self.field,
            "line": self.line,
            "path": self.path,
            "other_intent_id": self.other_intent_id,
        }
        return {name: value for name, value in facts.items() if value is not None}


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
            "errors": [problem.to_json() for problem in self.errors],
            "warnings": [problem.to_json() for problem in self.warnings],
        }
