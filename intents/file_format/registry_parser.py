"""`active_intents.yaml`: reading, checking and writing it. Text in, values and a report out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from intents.file_format import cross_checks
from intents.file_format.intent_parser import IntentReader, ReadIntent
from intents.file_format.report import Problem, ProblemType, Report
from intents.file_format.values import IntentValues, RegistryValues, is_null, json_of
from intents.file_format.yaml_tree import (
    Entry,
    Listing,
    Node,
    Table,
    Text,
    UnreadableError,
    read_tree,
    tree_of_json,
)

ROOT = "active_intents"
_METADATA_TEXTS = frozenset({"version", "last_updated", "schema_version"})


@dataclass(frozen=True, slots=True)
class Reading:
    """`values` is None where the report holds an error: an invalid file changes nothing."""

    report: Report
    values: RegistryValues | None = None


@dataclass(frozen=True, slots=True)
class IntentReading:
    report: Report
    values: IntentValues | None = None


MAX_BRACES = 200
"""Patterns with braces in one file: each can stand for hundreds."""


class _Findings:
    def __init__(self) -> None:
        self.braces = 0
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []

    def report(self) -> Report:
        return Report(tuple(self.errors), tuple(self.warnings))


def read_document(
    data: bytes, *, lenient: bool = False, kept: Sequence[IntentValues] = (), ignore_case: bool = False
) -> Reading:
    """Read and check a whole file. `kept` are registered intents that will stand beside those of the file;
    `ignore_case` says how the workspace compares paths."""
    found = _Findings()
    try:
        tree = read_tree(data, lenient=lenient)
    except UnreadableError as error:
        found.errors.append(Problem(ProblemType.YAML_PARSE_ERROR, error.message, line=error.line))
        return Reading(found.report())
    found.warnings.extend(tree.repairs)
    root = _root(tree.root, lenient, found)
    listing = _listing(root, found)
    read = [_one(item, lenient, found) for item in listing.items] if listing else []
    intents = [item for item in read if item is not None]
    found.errors.extend(cross_checks.errors_between(intents, kept))
    found.warnings.extend(cross_checks.warnings_between(intents, kept, ignore_case=ignore_case))
    report = found.report()
    return Reading(report, _registry(root, intents) if report.valid else None)


def read_intent(
    document: Mapping[str, Any],
    *,
    registered: IntentValues | None = None,
    kept: Sequence[IntentValues] = (),
) -> IntentReading:
    """Read and check one intent that arrived as JSON; `registered` is what it was before, if it was."""
    found = _Findings()
    try:
        table = tree_of_json(document)
    except UnreadableError as error:
        return IntentReading(Report((Problem(ProblemType.INVALID_FIELD, error.message),)))
    assert isinstance(table, Table)  # a mapping becomes a table
    read = _read(IntentReader(table, registered=registered), found)
    found.errors.extend(cross_checks.errors_between([read], kept))
    found.warnings.extend(cross_checks.warnings_between([read], kept))
    report = found.report()
    return IntentReading(report, read.values if report.valid else None)


def _root(root: Node | None, lenient: bool, found: _Findings) -> Table | None:
    """The top mapping, under its proper key. A lenient read also takes `intents`, or a bare list."""
    if lenient and isinstance(root, Listing):
        message = "The list at the top is read as active_intents."
        found.warnings.append(Problem(ProblemType.KEY_ALIAS, message, line=root.line))
        return Table({ROOT: Entry(root, root.line)}, root.line)
    if not isinstance(root, Table):
        return None
    entry = root.entries.get("intents") if lenient and ROOT not in root.entries else None
    if entry is None:
        return root
    message = "The key 'intents' is read as 'active_intents'."
    found.warnings.append(Problem(ProblemType.KEY_ALIAS, message, line=entry.line))
    others = {name: value for name, value in root.entries.items() if name != "intents"}
    return Table({ROOT: entry, **others}, root.line)


def _listing(root: Table | None, found: _Findings) -> Listing | None:
    entry = root.entries.get(ROOT) if root else None
    if entry is None or not isinstance(entry.value, Listing):
        line = entry.line if entry else None
        message = "The file needs the key active_intents with a list of intents."
        found.errors.append(Problem(ProblemType.MISSING_ACTIVE_INTENTS, message, line=line))
        return None
    _look_beside(root, found)
    return entry.value


def _look_beside(root: Table | None, found: _Findings) -> None:
    for name, entry in root.entries.items() if root else ():
        if name == "metadata":
            if not (isinstance(entry.value, Table) or is_null(entry.value)):
                message = "metadata must be a mapping."
                found.errors.append(
                    Problem(ProblemType.INVALID_FIELD, message, field="metadata", line=entry.line)
                )
        elif name != ROOT:
            message = f"The key {name!r} is unknown; it is kept."
            found.warnings.append(Problem(ProblemType.UNKNOWN_FIELD, message, field=name, line=entry.line))


def _one(item: Node, lenient: bool, found: _Findings) -> ReadIntent | None:
    if not isinstance(item, Table):
        message = "An intent must be a mapping of fields."
        found.errors.append(Problem(ProblemType.INVALID_FIELD, message, line=item.line))
        return None
    found.braces += _braces(item)
    if found.braces > MAX_BRACES:
        message = f"The file holds more than {MAX_BRACES:,} patterns with braces."
        found.errors.append(Problem(ProblemType.INVALID_GLOB, message, line=item.line))
        return None
    return _read(IntentReader(item, lenient=lenient), found)


def _braces(table: Table) -> int:
    lists = [entry.value for entry in table.entries.values() if isinstance(entry.value, Listing)]
    return sum(isinstance(item, Text) and "{" in item.value for listing in lists for item in listing.items)


def _read(reader: IntentReader, found: _Findings) -> ReadIntent:
    read = reader.read()
    found.errors.extend(reader.errors)
    found.warnings.extend(reader.warnings)
    return read


def _registry(root: Table | None, intents: Sequence[ReadIntent]) -> RegistryValues:
    entries = dict(root.entries) if root else {}
    metadata = entries.pop("metadata", None)
    entries.pop(ROOT, None)
    return RegistryValues(
        tuple(item.values for item in intents),
        _metadata(metadata.value) if metadata else {},
        {name: json_of(entry.value) for name, entry in entries.items()},
    )


def _metadata(node: Node) -> dict[str, Any]:
    """Its three known fields are texts; anything else keeps its JSON value."""
    if not isinstance(node, Table):
        return {}
    return {
        name: _written(entry.value) if name in _METADATA_TEXTS else json_of(entry.value)
        for name, entry in node.entries.items()
    }


def _written(node: Node) -> Any:
    value = getattr(node, "value", None)
    return value if isinstance(value, str) and not is_null(node) else json_of(node)
