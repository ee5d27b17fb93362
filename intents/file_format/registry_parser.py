"""`active_intents.yaml`: reading, checking and writing it. Text in, values and a report out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from intents.file_format import cross_checks
from intents.file_format.intent_parser import IntentParser, LocatedIntent
from intents.file_format.report import Diagnostic, DiagnosticType, ValidationReport
from intents.file_format.values import IntentValues, RegistryValues, is_null, to_json
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
_METADATA_TEXTS = frozenset({"version", "last_updated", "schema_version"})


@dataclass(frozen=True, slots=True)
class ParsedRegistry:
    """`values` is None where the report holds an error: an invalid file changes nothing."""

    report: ValidationReport
    values: RegistryValues | None = None


@dataclass(frozen=True, slots=True)
class ParsedIntent:
    report: ValidationReport
    values: IntentValues | None = None


MAX_BRACE_PATTERNS = 200
"""Patterns with braces in one file: each can stand for hundreds."""


class _ReportBuilder:
    def __init__(self) -> None:
        self.braces = 0
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []

    def report(self) -> ValidationReport:
        return ValidationReport(tuple(self.errors), tuple(self.warnings))


def parse_registry(
    data: bytes, *, lenient: bool = False, others: Sequence[IntentValues] = (), ignore_case: bool = False
) -> ParsedRegistry:
    """Read and check a whole file. `kept` are registered intents that will stand beside those of the file;
    `ignore_case` says how the workspace compares paths."""
    found = _ReportBuilder()
    try:
        tree = parse_yaml(data, lenient=lenient)
    except InvalidYamlError as error:
        found.errors.append(Diagnostic(DiagnosticType.YAML_PARSE_ERROR, error.message, line=error.line))
        return ParsedRegistry(found.report())
    found.warnings.extend(tree.repairs)
    root = _root(tree.root, lenient, found)
    listing = _listing(root, found)
    read = [_one(item, lenient, found) for item in listing.items] if listing else []
    intents = [item for item in read if item is not None]
    found.errors.extend(cross_checks.find_errors(intents, others))
    found.warnings.extend(cross_checks.find_warnings(intents, others, ignore_case=ignore_case))
    report = found.report()
    return ParsedRegistry(report, _registry(root, intents) if report.valid else None)


def parse_intent(
    document: Mapping[str, Any],
    *,
    current: IntentValues | None = None,
    others: Sequence[IntentValues] = (),
) -> ParsedIntent:
    """Read and check one intent that arrived as JSON; `registered` is what it was before, if it was."""
    found = _ReportBuilder()
    try:
        table = tree_from_json(document)
    except InvalidYamlError as error:
        return ParsedIntent(ValidationReport((Diagnostic(DiagnosticType.INVALID_FIELD, error.message),)))
    assert isinstance(table, YamlMapping)  # a mapping becomes a table
    read = _read(IntentParser(table, current=current), found)
    found.errors.extend(cross_checks.find_errors([read], others))
    found.warnings.extend(cross_checks.find_warnings([read], others))
    report = found.report()
    return ParsedIntent(report, read.values if report.valid else None)


def _root(root: YamlNode | None, lenient: bool, found: _ReportBuilder) -> YamlMapping | None:
    """The top mapping, under its proper key. A lenient read also takes `intents`, or a bare list."""
    if lenient and isinstance(root, YamlList):
        message = "The list at the top is read as active_intents."
        found.warnings.append(Diagnostic(DiagnosticType.KEY_ALIAS, message, line=root.line))
        return YamlMapping({ROOT_KEY: MappingEntry(root, root.line)}, root.line)
    if not isinstance(root, YamlMapping):
        return None
    entry = root.entries.get("intents") if lenient and ROOT_KEY not in root.entries else None
    if entry is None:
        return root
    message = "The key 'intents' is read as 'active_intents'."
    found.warnings.append(Diagnostic(DiagnosticType.KEY_ALIAS, message, line=entry.line))
    others = {name: value for name, value in root.entries.items() if name != "intents"}
    return YamlMapping({ROOT_KEY: entry, **others}, root.line)


def _listing(root: YamlMapping | None, found: _ReportBuilder) -> YamlList | None:
    entry = root.entries.get(ROOT_KEY) if root else None
    if entry is None or not isinstance(entry.value, YamlList):
        line = entry.line if entry else None
        message = "The file needs the key active_intents with a list of intents."
        found.errors.append(Diagnostic(DiagnosticType.MISSING_ACTIVE_INTENTS, message, line=line))
        return None
    _look_beside(root, found)
    return entry.value


def _look_beside(root: YamlMapping | None, found: _ReportBuilder) -> None:
    for name, entry in root.entries.items() if root else ():
        if name == "metadata":
            if not (isinstance(entry.value, YamlMapping) or is_null(entry.value)):
                message = "metadata must be a mapping."
                found.errors.append(
                    Diagnostic(DiagnosticType.INVALID_FIELD, message, field="metadata", line=entry.line)
                )
        elif name != ROOT_KEY:
            message = f"The key {name!r} is unknown; it is kept."
            found.warnings.append(
                Diagnostic(DiagnosticType.UNKNOWN_FIELD, message, field=name, line=entry.line)
            )


def _one(item: YamlNode, lenient: bool, found: _ReportBuilder) -> LocatedIntent | None:
    if not isinstance(item, YamlMapping):
        message = "An intent must be a mapping of fields."
        found.errors.append(Diagnostic(DiagnosticType.INVALID_FIELD, message, line=item.line))
        return None
    found.braces += _braces(item)
    if found.braces > MAX_BRACE_PATTERNS:
        message = f"The file holds more than {MAX_BRACE_PATTERNS:,} patterns with braces."
        found.errors.append(Diagnostic(DiagnosticType.INVALID_GLOB, message, line=item.line))
        return None
    return _read(IntentParser(item, lenient=lenient), found)


def _braces(table: YamlMapping) -> int:
    lists = [entry.value for entry in table.entries.values() if isinstance(entry.value, YamlList)]
    return sum(
        isinstance(item, YamlScalar) and "{" in item.value for listing in lists for item in listing.items
    )


def _read(reader: IntentParser, found: _ReportBuilder) -> LocatedIntent:
    read = reader.parse()
    found.errors.extend(reader.errors)
    found.warnings.extend(reader.warnings)
    return read


def _registry(root: YamlMapping | None, intents: Sequence[LocatedIntent]) -> RegistryValues:
    entries = dict(root.entries) if root else {}
    metadata = entries.pop("metadata", None)
    entries.pop(ROOT_KEY, None)
    return RegistryValues(
        tuple(item.values for item in intents),
        _metadata(metadata.value) if metadata else {},
        {name: to_json(entry.value) for name, entry in entries.items()},
    )


def _metadata(node: YamlNode) -> dict[str, Any]:
    """Its three known fields are texts; anything else keeps its JSON value."""
    if not isinstance(node, YamlMapping):
        return {}
    return {
        name: _written(entry.value) if name in _METADATA_TEXTS else to_json(entry.value)
        for name, entry in node.entries.items()
    }


def _written(node: YamlNode) -> Any:
    value = getattr(node, "value", None)
    return value if isinstance(value, str) and not is_null(node) else to_json(node)
