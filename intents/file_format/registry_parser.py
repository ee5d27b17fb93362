"""Parse and check `active_intents.yaml`, or one intent that arrived as JSON, to values and a report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from intents.file_format import cross_checks, field_rules
from intents.file_format.intent_parser import IntentParser, LocatedIntent
from intents.file_format.report import Diagnostic, DiagnosticType, ValidationReport
from intents.file_format.values import IntentValues, RegistryValues
from intents.file_format.yaml_json import is_null, to_json
from intents.file_format.yaml_tree import (
    InvalidYamlError,
    MappingEntry,
    YamlList,
    YamlMapping,
    YamlNode,
    YamlScalar,
    parse_yaml,
    tree_from_json,
)

ROOT_KEY = "active_intents"
MAX_INTENTS = 5_000
_ID = re.compile(rb"""(?:^|[{,-])[ \t]{0,40}["']?id["']?[ \t]{0,8}:""", re.MULTILINE)
MAX_BRACE_PATTERNS = 200
"""Patterns with braces in one file: each can expand to hundreds."""

_METADATA_TEXTS = frozenset({"version", "last_updated", "schema_version"})


@dataclass(frozen=True, slots=True)
class ParsedRegistry:
    """`values` is None where the report holds an error: an invalid file changes nothing."""

    report: ValidationReport
    values: RegistryValues | None = None


@dataclass(frozen=True, slots=True)
class ParsedIntent:
    """`values` is None where the report holds an error."""

    report: ValidationReport
    values: IntentValues | None = None


class _ReportBuilder:
    def __init__(self) -> None:
        self.brace_patterns = 0
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []

    def error(
        self, kind: DiagnosticType, message: str, *, line: int | None = None, field: str | None = None
    ) -> None:
        self.errors.append(Diagnostic(kind, message, line=line, field=field))

    def warn(
        self, kind: DiagnosticType, message: str, *, line: int | None = None, field: str | None = None
    ) -> None:
        self.warnings.append(Diagnostic(kind, message, line=line, field=field))

    def build(self) -> ValidationReport:
        return ValidationReport(tuple(self.errors), tuple(self.warnings))


def parse_registry(
    data: bytes, *, lenient: bool = False, others: Sequence[IntentValues] = (), ignore_case: bool = False
) -> ParsedRegistry:
    """Parse and check a complete file.

    `others` are registered intents that stay next to those of the file. `ignore_case` is how the workspace
    compares paths.
    """
    report = _ReportBuilder()
    if _has_too_many_intents(data):
        message = f"The file holds more than {MAX_INTENTS:,} intents. Split it."
        report.error(DiagnosticType.YAML_PARSE_ERROR, message)
        return ParsedRegistry(report.build())
    try:
        document = parse_yaml(data, lenient=lenient)
    except InvalidYamlError as error:
        report.error(DiagnosticType.YAML_PARSE_ERROR, error.message, line=error.line)
        return ParsedRegistry(report.build())
    report.warnings.extend(document.repairs)
    root = _find_root(document.root, lenient, report)
    intent_list = _find_intent_list(root, report)
    items = intent_list.items if intent_list else ()
    parsed = [intent for item in items if (intent := _parse_item(item, lenient, report)) is not None]
    report.errors.extend(cross_checks.find_errors(parsed, others))
    report.warnings.extend(cross_checks.find_warnings(parsed, others, ignore_case=ignore_case))
    result = report.build()
    return ParsedRegistry(result, _to_registry(root, parsed) if result.valid else None)


def parse_intent(
    document: Mapping[str, Any],
    *,
    current: IntentValues | None = None,
    others: Sequence[IntentValues] = (),
) -> ParsedIntent:
    """Parse and check one intent that arrived as JSON; `current` are its registered values, if it has any."""
    report = _ReportBuilder()
    try:
        # The mark of an export: JSON comes from people and agents, for whom the strict rules hold.
        fields = {name: item for name, item in document.items() if name != field_rules.DEVIATIONS_FIELD}
        mapping = tree_from_json(fields)
    except InvalidYamlError as error:
        report.error(DiagnosticType.INVALID_FIELD, error.message)
        return ParsedIntent(report.build())
    assert isinstance(mapping, YamlMapping)  # the tree of a JSON object
    parsed = _run(IntentParser(mapping, current=current), report)
    report.errors.extend(cross_checks.find_errors([parsed], others))
    report.warnings.extend(cross_checks.find_warnings([parsed], others))
    result = report.build()
    return ParsedIntent(result, parsed.values if result.valid else None)


def _has_too_many_intents(data: bytes) -> bool:
    """Count the ids in the text, before a tree is built: 20,000 intents would take seconds."""
    ids = islice(_ID.finditer(data), MAX_INTENTS + 1)
    return sum(1 for _ in ids) > MAX_INTENTS


def _find_root(root: YamlNode | None, lenient: bool, report: _ReportBuilder) -> YamlMapping | None:
    """Return the top mapping with the list under `ROOT_KEY`.

    A lenient parse also accepts the key `intents`, or a bare list.
    """
    if lenient and isinstance(root, YamlList):
        message = "The list at the top is read as active_intents."
        report.warn(DiagnosticType.KEY_ALIAS, message, line=root.line)
        return YamlMapping({ROOT_KEY: MappingEntry(root, root.line)}, root.line)
    if not isinstance(root, YamlMapping):
        return None
    entry = root.entries.get("intents") if lenient and ROOT_KEY not in root.entries else None
    if entry is None:
        return root
    message = "The key 'intents' is read as 'active_intents'."
    report.warn(DiagnosticType.KEY_ALIAS, message, line=entry.line)
    other_entries = {name: value for name, value in root.entries.items() if name != "intents"}
    return YamlMapping({ROOT_KEY: entry, **other_entries}, root.line)


def _find_intent_list(root: YamlMapping | None, report: _ReportBuilder) -> YamlList | None:
    entry = root.entries.get(ROOT_KEY) if root else None
    if root is None or entry is None or not isinstance(entry.value, YamlList):
        line = entry.line if entry else None
        message = "The file needs the key active_intents with a list of intents."
        report.error(DiagnosticType.MISSING_ACTIVE_INTENTS, message, line=line)
        return None
    _check_other_keys(root, report)
    return entry.value


def _check_other_keys(root: YamlMapping, report: _ReportBuilder) -> None:
    for name, entry in root.entries.items():
        if name == "metadata":
            if not (isinstance(entry.value, YamlMapping) or is_null(entry.value)):
                message = "metadata must be a mapping."
                report.error(DiagnosticType.INVALID_FIELD, message, field="metadata", line=entry.line)
        elif name != ROOT_KEY:
            message = f"The key {name!r} is unknown; it is kept."
            report.warn(DiagnosticType.UNKNOWN_FIELD, message, field=name, line=entry.line)


def _parse_item(item: YamlNode, lenient: bool, report: _ReportBuilder) -> LocatedIntent | None:
    if not isinstance(item, YamlMapping):
        message = "An intent must be a mapping of fields."
        report.error(DiagnosticType.INVALID_FIELD, message, line=item.line)
        return None
    # Counted before the patterns are parsed: expanding their braces is the cost to bound.
    report.brace_patterns += _count_brace_patterns(item)
    if report.brace_patterns > MAX_BRACE_PATTERNS:
        message = f"The file holds more than {MAX_BRACE_PATTERNS:,} patterns with braces."
        report.error(DiagnosticType.INVALID_GLOB, message, line=item.line)
        return None
    return _run(IntentParser(item, lenient=lenient), report)


def _count_brace_patterns(mapping: YamlMapping) -> int:
    """Count as the export of a lenient import will be counted, whatever form the scope has here."""
    nodes = [entry.value for name, entry in mapping.entries.items() if _is_scope(name, entry.value)]
    items = [item for node in nodes for item in field_rules.find_scope_items(node) or (node,)]
    return sum(isinstance(item, YamlScalar) and "{" in item.value for item in items)


def _is_scope(name: str, node: YamlNode) -> bool:
    return field_rules.resolve_alias(name, node) == "owned_scope"


def _run(parser: IntentParser, report: _ReportBuilder) -> LocatedIntent:
    parsed = parser.parse()
    report.errors.extend(parser.errors)
    report.warnings.extend(parser.warnings)
    return parsed


def _to_registry(root: YamlMapping | None, parsed: Sequence[LocatedIntent]) -> RegistryValues:
    entries = dict(root.entries) if root else {}
    metadata = entries.pop("metadata", None)
    entries.pop(ROOT_KEY, None)
    return RegistryValues(
        tuple(item.values for item in parsed),
        _metadata_to_json(metadata.value) if metadata else {},
        {name: to_json(entry.value) for name, entry in entries.items()},
    )


def _metadata_to_json(node: YamlNode) -> dict[str, Any]:
    """Keep the known fields as texts, so that a version `1.10` does not become a number."""
    if not isinstance(node, YamlMapping):
        return {}
    return {
        name: _to_text(entry.value) if name in _METADATA_TEXTS else to_json(entry.value)
        for name, entry in node.entries.items()
    }


def _to_text(node: YamlNode) -> Any:
    return node.value if isinstance(node, YamlScalar) and not is_null(node) else to_json(node)
