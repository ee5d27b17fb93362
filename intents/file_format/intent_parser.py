"""Parse one mapping of a registry file to an intent, with every error and warning found on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from controlplane.policy.effects import MAX_KINDS, find_kind_problem
from controlplane.policy.globs import parse
from controlplane.policy.model import IntentStatus
from controlplane.policy.rules.constraints import find_problem, find_reason_unchecked
from intents.evidence.records import map_records
from intents.evidence.schema import find_record_problem
from intents.file_format import field_rules
from intents.file_format.report import Diagnostic, DiagnosticType
from intents.file_format.values import IntentValues
from intents.file_format.yaml_json import is_null, to_json
from intents.file_format.yaml_tree import MappingEntry, YamlList, YamlMapping, YamlNode, YamlScalar
from intents.statuses import parse_status


@dataclass(frozen=True, slots=True)
class LocatedIntent:
    """An intent with the line of its mapping and of each field that the mapping has.

    `error_fields` are those that have an error in the mapping alone: their values mean nothing.
    """

    values: IntentValues
    error_fields: frozenset[str | None] = frozenset()
    line: int | None = None
    field_lines: Mapping[str, int | None] = field(default_factory=dict)


class IntentParser:
    """Parse one mapping with `parse()`; then `errors` and `warnings` hold what was found.

    `lenient` repairs what real files hold and reports each repair as a warning. `current` are the registered
    values of this intent, if it has any: an id of another form and an empty scope may stay as they are.
    """

    def __init__(
        self, mapping: YamlMapping, *, lenient: bool = False, current: IntentValues | None = None
    ) -> None:
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []
        self._mapping = mapping
        self._lenient = lenient
        self._current = current
        self._intent_id: str | None = _text_or_none(mapping.entries.get("id"))
        self._fields: dict[str, MappingEntry] = {}
        self._references: list[MappingEntry] = []
        self._extra: dict[str, Any] = {}
        self._lenient_fields = _find_lenient_fields(mapping)

    def parse(self) -> LocatedIntent:
        for key, entry in self._mapping.entries.items():
            self._add_field(key, entry)
        status, raw_status = self._status()
        values = IntentValues(
            intent_id=self._id(),
            status=status,
            raw_status=raw_status,
            name=self._text("name"),
            description=self._text("description"),
            owner=self._text("owner"),
            blocked_reason=self._text("blocked_reason"),
            created_at=self._timestamp("created_at"),
            updated_at=self._timestamp("updated_at"),
            owned_scope=self._scope(),
            constraints=self._constraints(),
            acceptance_criteria=self._text_list("acceptance_criteria"),
            acceptance_evidence=self._acceptance_evidence(),
            dependencies=self._dependencies(),
            references=self._all_references(),
            allowed_commands=self._allowed_commands(),
            extra=self._extra,
        )
        self._check_doubtful(values)
        lines = {name: entry.line for name, entry in self._fields.items()}
        error_fields = frozenset(error.field for error in self.errors)
        return LocatedIntent(values, error_fields, self._mapping.line, lines)

    # Names of fields

    def _add_field(self, key: str, entry: MappingEntry) -> None:
        name = key if key in field_rules.KNOWN_FIELDS else self._resolve_alias(key, entry)
        if name is None:
            self._extra[key] = to_json(entry.value)
            message = f"The field {key!r} is unknown; it is kept."
            self._warn(DiagnosticType.UNKNOWN_FIELD, message, key, entry.line)
        elif name in field_rules.REFERENCE_FIELDS:
            self._references.append(entry)
        elif name not in self._fields or field_rules.has_value(entry.value):
            self._fields[name] = entry

    def _resolve_alias(self, key: str, entry: MappingEntry) -> str | None:
        name = field_rules.resolve_alias(key, entry.value) if self._lenient else None
        if name is None:
            return None
        # An empty field is not exported: it must not keep out an alias that the next import would take.
        same_fields = (self._mapping.entries.get(name), self._fields.get(name))
        if any(same and field_rules.has_value(same.value) for same in same_fields):
            return None
        self._repair(f"{key!r} is read as {name!r}.", name, entry.line)
        if name == "id":
            self._intent_id = _text_or_none(entry)
        return name

    # Fields

    def _id(self) -> str:
        text = self._intent_id
        if text is None:
            message = "The intent has no id; it needs one like INT-001."
            self._error(DiagnosticType.INVALID_ID_FORMAT, message, "id")
            return ""
        if self._current or field_rules.ID_PATTERN.fullmatch(text):
            return text
        stripped = text.strip()
        if self._takes("id") and stripped.isprintable() and 0 < len(stripped) <= field_rules.MAX_ID_LENGTH:
            message = f"The id {text!r} is not of the form INT-001; it is kept."
            self._warn(DiagnosticType.ID_FORMAT, message, "id")
            return stripped
        message = f"The id {text[:200]!r} is not of the form INT-001 (ASCII digits)."
        self._error(DiagnosticType.INVALID_ID_FORMAT, message, "id")
        return text

    def _status(self) -> tuple[IntentStatus, str]:
        """Return the status and the document's own word where that differs, else ""."""
        entry = self._fields.get("status")
        if self._lenient and (entry is None or is_null(entry.value)):
            message = "There is no status; it is read as PENDING."
            self._warn(DiagnosticType.STATUS_ALIAS, message, "status")
            return IntentStatus.PENDING, ""
        word = _text_or_none(entry)
        status = parse_status(word, lenient=self._takes("status")) if word else None
        if status is None:
            subject = (
                "There is no status" if entry is None else f"The status {to_json(entry.value)!r} is unknown"
            )
            message = f"{subject}; it must be one of {', '.join(IntentStatus)}."
            self._error(DiagnosticType.INVALID_STATUS, message, "status")
            return IntentStatus.PENDING, ""
        if word == status.value:
            return status, ""
        message = f"The status {word!r} is read as {status.value}."
        self._warn(DiagnosticType.STATUS_ALIAS, message, "status")
        return status, word or ""

    def _text(self, name: str) -> str:
        entry = self._fields.get(name)
        if entry is None or is_null(entry.value):
            return ""
        if isinstance(entry.value, YamlScalar):
            return entry.value.value
        self._error(DiagnosticType.INVALID_FIELD, f"{name} must be a string.", name)
        return ""

    def _timestamp(self, name: str) -> str:
        entry = self._fields.get(name)
        if entry is None or is_null(entry.value):
            return ""
        text = _text_or_none(entry)
        if text is None or field_rules.parse_timestamp(text) is None:
            message = f"{name} is not an ISO 8601 time such as 2026-01-31T09:30:00Z."
            self._error(DiagnosticType.INVALID_TIMESTAMP_FORMAT, message, name)
            return ""
        return text

    def _scope(self) -> tuple[str, ...]:
        entry = self._fields.get("owned_scope")
        items = () if entry is None or is_null(entry.value) else self._items("owned_scope", entry)
        if not items and not self._has_error("owned_scope"):
            self._report_missing_scope()
        return tuple(self._pattern(item) for item in items)

    def _report_missing_scope(self) -> None:
        message = "owned_scope needs at least one pattern, such as src/**; an empty scope matches nothing."
        # An intent that was imported leniently without a scope must stay editable in its other fields.
        may_stay = self._takes("owned_scope") or (self._current is not None and not self._current.owned_scope)
        report = self._warn if may_stay else self._error
        report(DiagnosticType.EMPTY_SCOPE, message, "owned_scope")

    def _pattern(self, item: YamlNode) -> str:
        if not isinstance(item, YamlScalar):
            self._error(DiagnosticType.INVALID_FIELD, "A pattern must be a string.", "owned_scope", item.line)
            return ""
        problem = parse.find_problem(item.value)
        if problem is None:
            return item.value
        repaired = field_rules.repair_pattern(item.value) if self._lenient else None
        if repaired is None:
            message = f"{problem.message} {problem.suggestion or ''}".strip()
            self._error(DiagnosticType(problem.kind), message, "owned_scope", item.line)
            return item.value
        message = f"The pattern {item.value!r} is read as {repaired!r}."
        self._warn(DiagnosticType.SCOPE_ALIAS, message, "owned_scope", item.line)
        return repaired

    def _constraints(self) -> tuple[Any, ...]:
        entry = self._fields.get("constraints")
        if self._lenient and entry is not None and isinstance(entry.value, YamlMapping):
            self._repair("The mapping of constraints is read as a list.", "constraints", entry.line)
            rules = entry.value.entries.items()
            if not all(name.strip() for name, _ in rules):
                message = "A constraint under constraints needs a name."
                self._error(DiagnosticType.INVALID_FIELD, message, "constraints", entry.line)
            values = tuple({"type": name, "value": to_json(rule.value)} for name, rule in rules)
            for value, (_, rule) in zip(values, rules, strict=True):
                self._check_constraint(value, rule.line)
            return values
        items = self._items("constraints", entry)
        return tuple(self._constraint(item) for item in items)

    def _constraint(self, item: YamlNode) -> Any:
        if isinstance(item, YamlMapping):
            kind = item.entries.get("type")
            if kind is not None and _text_or_none(kind):
                constraint = {**to_json(item), "type": _text_or_none(kind)}
                self._check_constraint(constraint, item.line)
                return constraint
        return self._list_text("constraints", item, "a string, or a mapping with a type")

    def _check_constraint(self, constraint: Mapping[str, Any], line: int | None) -> None:
        """Refuse what the gate could not check: it would deny every write; warn of what it does not check."""
        unchecked = find_reason_unchecked(constraint)
        if unchecked:
            self._warn(DiagnosticType.UNKNOWN_CONSTRAINT_TYPE, unchecked, "constraints", line)
        elif problem := find_problem(constraint):
            message = f"The constraint {constraint['type']} cannot be checked: {problem}"
            self._error(DiagnosticType.INVALID_FIELD, message, "constraints", line)

    def _text_list(self, name: str) -> tuple[str, ...]:
        items = self._items(name, self._fields.get(name))
        return tuple(self._list_text(name, item, "a string") for item in items)

    def _acceptance_evidence(self) -> tuple[Mapping[str, Any], ...]:
        """Return the records as they are, with fields that the product does not know."""
        name = "acceptance_evidence"
        records: dict[str, Mapping[str, Any]] = {}
        for item in self._items(name, self._fields.get(name)):
            record = to_json(item)
            problem = find_record_problem(record)
            if problem is None and record["criterion"] in records:
                problem = f"{record['criterion']!r} has a record already."
            if problem is None:
                records[record["criterion"]] = record
            else:
                message = f"An item of {name} is not as it must be: {problem}"
                self._error(DiagnosticType.INVALID_FIELD, message, name, item.line)
        return tuple(records.values())

    def _list_text(self, name: str, item: YamlNode, expected: str) -> str:
        if isinstance(item, YamlScalar) and item.value.strip():
            return item.value
        joined = field_rules.join_single_pair(item) if self._lenient else None
        if joined is not None:
            self._repair(f"The mapping is read as the text {joined!r}.", name, item.line)
            return joined
        message = f"An item of {name} must be {expected}."
        self._error(DiagnosticType.INVALID_FIELD, message, name, item.line)
        return ""

    def _dependencies(self) -> tuple[str, ...]:
        items = self._items("dependencies", self._fields.get("dependencies"))
        return tuple(self._dependency(item) for item in items)

    def _dependency(self, item: YamlNode) -> str:
        intent_id = field_rules.find_dependency_id(item) if self._lenient else None
        if intent_id is None:
            return self._list_text("dependencies", item, "the id of an intent")
        message = f"The mapping is read as the id {intent_id!r}; the rest is left out."
        self._repair(message, "dependencies", item.line)
        return intent_id

    def _allowed_commands(self) -> tuple[str, ...]:
        entry = self._fields.get("allowed_commands")
        items = self._items("allowed_commands", entry)
        if len(items) > MAX_KINDS:
            message = f"allowed_commands holds more than {MAX_KINDS} kinds."
            self._error(DiagnosticType.INVALID_FIELD, message, "allowed_commands")
        return tuple(self._kind(item) for item in items[:MAX_KINDS])

    def _kind(self, item: YamlNode) -> str:
        kind = item.value if isinstance(item, YamlScalar) else None
        problem = find_kind_problem(kind)
        if problem is not None:
            self._error(DiagnosticType.INVALID_FIELD, problem, "allowed_commands", item.line)
        return kind or ""

    def _all_references(self) -> tuple[Any, ...]:
        references: list[Any] = []
        for entry in self._references:
            for item in self._items("references", entry):
                value = item.value if isinstance(item, YamlScalar) else to_json(item)
                if value not in references:
                    references.append(value)
        return tuple(references)

    def _items(self, name: str, entry: MappingEntry | None) -> tuple[YamlNode, ...]:
        """Return the items of a list. A lenient parse takes one text for a list of one."""
        if entry is None or is_null(entry.value):
            return ()
        if isinstance(entry.value, YamlList):
            return entry.value.items
        if self._lenient and name == "owned_scope" and field_rules.find_scope_items(entry.value):
            self._repair("The patterns under 'paths' are read as the scope.", name, entry.line)
            return field_rules.find_scope_items(entry.value) or ()
        if self._lenient and isinstance(entry.value, YamlScalar):
            self._repair(f"The text under {name!r} is read as a list of one.", name, entry.line)
            return (entry.value,)
        self._error(DiagnosticType.INVALID_FIELD, f"{name} must be a list.", name, entry.line)
        return ()

    def _takes(self, name: str) -> bool:
        """Return whether a field is read leniently: all are, or the export names it as taken in so."""
        return self._lenient or name in self._lenient_fields

    # Valid but doubtful

    def _check_doubtful(self, values: IntentValues) -> None:
        for name, kind in (
            ("constraints", DiagnosticType.MISSING_CONSTRAINTS),
            ("acceptance_criteria", DiagnosticType.MISSING_ACCEPTANCE_CRITERIA),
        ):
            if not getattr(values, name) and not self._has_error(name):
                self._warn(kind, f"The intent has no {name.replace('_', ' ')}.", name)
        self._check_evidence(values)
        created = field_rules.parse_timestamp(values.created_at)
        updated = field_rules.parse_timestamp(values.updated_at)
        if created and updated and updated < created:
            message = "updated_at is before created_at."
            self._warn(DiagnosticType.INVALID_TIMESTAMP, message, "updated_at")

    def _check_evidence(self, values: IntentValues) -> None:
        for criterion in map_records(values.acceptance_evidence):
            if criterion not in values.acceptance_criteria:
                message = f"The intent has no criterion {criterion!r}; what would prove it is kept."
                self._warn(DiagnosticType.UNKNOWN_FIELD, message, "acceptance_evidence")

    # Diagnostics

    def _has_error(self, name: str) -> bool:
        return any(error.field == name for error in self.errors)

    def _error(self, kind: DiagnosticType, message: str, name: str, line: int | None = None) -> None:
        self.errors.append(self._diagnostic(kind, message, name, line))

    def _warn(self, kind: DiagnosticType, message: str, name: str, line: int | None = None) -> None:
        self.warnings.append(self._diagnostic(kind, message, name, line))

    def _repair(self, message: str, name: str, line: int | None) -> None:
        self._warn(DiagnosticType.KEY_ALIAS, message, name, line)

    def _diagnostic(self, kind: DiagnosticType, message: str, name: str, line: int | None) -> Diagnostic:
        if line is None:
            entry = self._fields.get(name) or self._mapping.entries.get(name)
            line = entry.line if entry else self._mapping.line
        return Diagnostic(kind, message, self._intent_id, name, line)


def _find_lenient_fields(mapping: YamlMapping) -> frozenset[str]:
    entry = mapping.entries.get(field_rules.DEVIATIONS_FIELD)
    items = entry.value.items if entry and isinstance(entry.value, YamlList) else ()
    return frozenset(item.value for item in items if isinstance(item, YamlScalar))


def _text_or_none(entry: MappingEntry | None) -> str | None:
    if entry is None or is_null(entry.value) or not isinstance(entry.value, YamlScalar):
        return None
    return entry.value.value
