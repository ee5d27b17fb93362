"""One mapping of a registry file to one intent, with every problem found on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from controlplane.policy.globs import parse
from controlplane.policy.model import IntentStatus
from intents.file_format import field_rules
from intents.file_format.report import Problem, ProblemType
from intents.file_format.values import IntentValues, is_null, json_of
from intents.file_format.yaml_tree import Entry, Listing, Node, Table, Text
from intents.statuses import status_of


@dataclass(frozen=True, slots=True)
class ReadIntent:
    """`lines` names the line of each field that the mapping has. `sound`: no error was found in it."""

    values: IntentValues
    sound: bool
    line: int | None = None
    lines: Mapping[str, int | None] = field(default_factory=dict)


class IntentReader:
    """Reads one mapping; afterwards `errors` and `warnings` say what was found.

    `lenient` repairs what real files hold and lists each repair as a warning. `registered` is what the
    registry says about this intent so far: an id of another form and an empty scope may stay as they are.
    """

    def __init__(
        self, table: Table, *, lenient: bool = False, registered: IntentValues | None = None
    ) -> None:
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []
        self._table = table
        self._lenient = lenient
        self._registered = registered
        self._intent_id: str | None = _text_or_none(table.entries.get("id"))
        self._fields: dict[str, Entry] = {}
        self._references: list[Entry] = []
        self._extra: dict[str, Any] = {}

    def read(self) -> ReadIntent:
        for key, entry in self._table.entries.items():
            self._sort_in(key, entry)
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
            acceptance_criteria=self._sentences("acceptance_criteria"),
            dependencies=self._dependencies(),
            references=self._all_references(),
            extra=self._extra,
        )
        self._doubts(values)
        lines = {name: entry.line for name, entry in self._fields.items()}
        return ReadIntent(values, not self.errors, self._table.line, lines)

    # Which field a key is

    def _sort_in(self, key: str, entry: Entry) -> None:
        name = key if key in field_rules.KNOWN_FIELDS else self._alias(key, entry)
        if name is None:
            self._extra[key] = json_of(entry.value)
            self._warn(
                ProblemType.UNKNOWN_FIELD, f"The field {key!r} is unknown; it is kept.", key, entry.line
            )
        elif name in field_rules.REFERENCE_FIELDS:
            self._references.append(entry)
        else:
            self._fields[name] = entry

    def _alias(self, key: str, entry: Entry) -> str | None:
        name = field_rules.canonical_name(key, entry.value) if self._lenient else None
        if name is None or name in self._table.entries or name in self._fields:
            return None
        self._repair(f"{key!r} is read as {name!r}.", name, entry.line)
        if name == "id":
            self._intent_id = _text_or_none(entry)
        return name

    # Fields

    def _id(self) -> str:
        text = self._intent_id
        if text is None:
            self._error(
                ProblemType.INVALID_ID_FORMAT, "The intent has no id; it needs one like INT-001.", "id"
            )
            return ""
        if self._registered or field_rules.ID_FORM.fullmatch(text):
            return text
        kept = text.strip()
        if self._lenient and kept.isprintable() and 0 < len(kept) <= field_rules.MAX_ID_LENGTH:
            self._warn(ProblemType.ID_FORMAT, f"The id {text!r} has not the form INT-001; it is kept.", "id")
            return kept
        self._error(
            ProblemType.INVALID_ID_FORMAT,
            f"The id {text[:200]!r} has not the form INT-001 (ASCII digits).",
            "id",
        )
        return text

    def _status(self) -> tuple[IntentStatus, str]:
        entry = self._fields.get("status")
        if self._lenient and (entry is None or is_null(entry.value)):
            self._warn(ProblemType.STATUS_ALIAS, "There is no status; it is read as PENDING.", "status")
            return IntentStatus.PENDING, ""
        word = _text_or_none(entry)
        status = status_of(word, lenient=self._lenient) if word else None
        if status is None:
            words = ", ".join(IntentStatus)
            found = (
                "There is no status" if entry is None else f"The status {json_of(entry.value)!r} is unknown"
            )
            self._error(ProblemType.INVALID_STATUS, f"{found}; it must be one of {words}.", "status")
            return IntentStatus.PENDING, ""
        if word == status.value:
            return status, ""
        self._warn(ProblemType.STATUS_ALIAS, f"The status {word!r} is read as {status.value}.", "status")
        return status, word or ""

    def _text(self, name: str) -> str:
        entry = self._fields.get(name)
        if entry is None or is_null(entry.value):
            return ""
        if isinstance(entry.value, Text):
            return entry.value.value
        self._error(ProblemType.INVALID_FIELD, f"{name} must be a text.", name)
        return ""

    def _timestamp(self, name: str) -> str:
        entry = self._fields.get(name)
        if entry is None or is_null(entry.value):
            return ""
        text = _text_or_none(entry)
        if text is None or field_rules.moment(text) is None:
            self._error(
                ProblemType.INVALID_TIMESTAMP_FORMAT,
                f"{name} is not an ISO 8601 time such as 2026-01-31T09:30:00Z.",
                name,
            )
            return ""
        return text

    def _scope(self) -> tuple[str, ...]:
        entry = self._fields.get("owned_scope")
        items = () if entry is None or is_null(entry.value) else self._items("owned_scope", entry)
        if not items and not self._has_error("owned_scope"):
            self._miss_scope()
        return tuple(self._pattern(item) for item in items)

    def _miss_scope(self) -> None:
        """An error; a doubt only where real files are taken as they are, or nothing is lost by saving."""
        message = (
            "owned_scope needs at least one pattern, such as src/**; without one nothing may be changed."
        )
        may_stay = self._lenient or (self._registered is not None and not self._registered.owned_scope)
        note = self._warn if may_stay else self._error
        note(ProblemType.EMPTY_SCOPE, message, "owned_scope")

    def _pattern(self, item: Node) -> str:
        if not isinstance(item, Text):
            self._error(ProblemType.INVALID_FIELD, "A pattern must be a text.", "owned_scope", item.line)
            return ""
        found = parse.find_problem(item.value)
        if found is None:
            return item.value
        repaired = field_rules.repaired_pattern(item.value) if self._lenient else None
        if repaired is None:
            message = f"{found.message} {found.suggestion or ''}".strip()
            self._error(ProblemType(found.kind), message, "owned_scope", item.line)
            return item.value
        message = f"The pattern {item.value!r} is read as {repaired!r}."
        self._warn(ProblemType.SCOPE_ALIAS, message, "owned_scope", item.line)
        return repaired

    def _constraints(self) -> tuple[Any, ...]:
        entry = self._fields.get("constraints")
        if self._lenient and entry is not None and isinstance(entry.value, Table):
            self._repair("The mapping of constraints is read as a list.", "constraints", entry.line)
            rules = entry.value.entries.items()
            return tuple({"type": name, "value": json_of(rule.value)} for name, rule in rules)
        items = self._items("constraints", entry)
        return tuple(self._constraint(item) for item in items)

    def _constraint(self, item: Node) -> Any:
        if isinstance(item, Table):
            kind = item.entries.get("type")
            if kind is not None and _text_or_none(kind):
                return {**json_of(item), "type": _text_or_none(kind)}
        return self._sentence("constraints", item, "a text, or a mapping with a type")

    def _sentences(self, name: str) -> tuple[str, ...]:
        items = self._items(name, self._fields.get(name))
        return tuple(self._sentence(name, item, "a text") for item in items)

    def _sentence(self, name: str, item: Node, wanted: str) -> str:
        if isinstance(item, Text) and item.value.strip():
            return item.value
        joined = field_rules.one_line_mapping(item) if self._lenient else None
        if joined is not None:
            self._repair(f"The mapping is read as the text {joined!r}.", name, item.line)
            return joined
        self._error(ProblemType.INVALID_FIELD, f"An item of {name} must be {wanted}.", name, item.line)
        return ""

    def _dependencies(self) -> tuple[str, ...]:
        items = self._items("dependencies", self._fields.get("dependencies"))
        return tuple(self._dependency(item) for item in items)

    def _dependency(self, item: Node) -> str:
        found = field_rules.dependency_id(item) if self._lenient else None
        if found is None:
            return self._sentence("dependencies", item, "the id of an intent")
        self._repair(
            f"The mapping is read as the id {found!r}; the rest is left out.", "dependencies", item.line
        )
        return found

    def _all_references(self) -> tuple[Any, ...]:
        found: list[Any] = []
        for entry in self._references:
            for item in self._items("references", entry):
                value = item.value if isinstance(item, Text) else json_of(item)
                if value not in found:
                    found.append(value)
        return tuple(found)

    def _items(self, name: str, entry: Entry | None) -> tuple[Node, ...]:
        """The items of a list. A lenient read takes one text for a list of one."""
        if entry is None or is_null(entry.value):
            return ()
        if isinstance(entry.value, Listing):
            return entry.value.items
        if self._lenient and name == "owned_scope" and field_rules.scope_items(entry.value):
            self._repair("The patterns under 'paths' are read as the scope.", name, entry.line)
            return field_rules.scope_items(entry.value) or ()
        if self._lenient and isinstance(entry.value, Text):
            self._repair(f"The text under {name!r} is read as a list of one.", name, entry.line)
            return (entry.value,)
        self._error(ProblemType.INVALID_FIELD, f"{name} must be a list.", name, entry.line)
        return ()

    # What is valid but doubtful

    def _doubts(self, values: IntentValues) -> None:
        for name, kind in (
            ("constraints", ProblemType.MISSING_CONSTRAINTS),
            ("acceptance_criteria", ProblemType.MISSING_ACCEPTANCE_CRITERIA),
        ):
            if not getattr(values, name) and not self._has_error(name):
                self._warn(kind, f"The intent has no {name.replace('_', ' ')}.", name)
        created, updated = field_rules.moment(values.created_at), field_rules.moment(values.updated_at)
        if created and updated and updated < created:
            self._warn(ProblemType.INVALID_TIMESTAMP, "updated_at is before created_at.", "updated_at")

    # Noting problems

    def _has_error(self, name: str) -> bool:
        return any(problem.field == name for problem in self.errors)

    def _error(self, kind: ProblemType, message: str, name: str, line: int | None = None) -> None:
        self.errors.append(self._problem(kind, message, name, line))

    def _warn(self, kind: ProblemType, message: str, name: str, line: int | None = None) -> None:
        self.warnings.append(self._problem(kind, message, name, line))

    def _repair(self, message: str, name: str, line: int | None) -> None:
        self._warn(ProblemType.KEY_ALIAS, message, name, line)

    def _problem(self, kind: ProblemType, message: str, name: str, line: int | None) -> Problem:
        if line is None:
            entry = self._fields.get(name) or self._table.entries.get(name)
            line = entry.line if entry else self._table.line
        return Problem(kind, message, self._intent_id, name, line)


def _text_or_none(entry: Entry | None) -> str | None:
    if entry is None or is_null(entry.value) or not isinstance(entry.value, Text):
        return None
    return entry.value.value
