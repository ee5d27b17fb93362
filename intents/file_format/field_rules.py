"""Rules for single fields: names and aliases, ids, timestamps, repairs of scope patterns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from controlplane.policy.globs import parse
from intents.file_format.yaml_json import is_null
from intents.file_format.yaml_tree import MappingEntry, YamlList, YamlMapping, YamlNode, YamlScalar

DEVIATIONS_FIELD = "accepted_as_is"
"""Names the fields that a lenient import took in and a strict one refuses. An export writes it, so that the
file is taken by a strict import; it is derived from the values and never stored."""

REFERENCE_FIELDS = ("references", "related_specifications", "related_specs")
KNOWN_FIELDS = frozenset(
    {
        "id",
        "status",
        "owned_scope",
        "constraints",
        "acceptance_criteria",
        "acceptance_evidence",
        "dependencies",
        "allowed_commands",
        "name",
        "description",
        "owner",
        "blocked_reason",
        "created_at",
        "updated_at",
        DEVIATIONS_FIELD,
        *REFERENCE_FIELDS,
    }
)

ID_PATTERN = re.compile(r"INT-[0-9]{3,}")
MAX_ID_LENGTH = 200

_ALIASES: Mapping[str, str] = {"title": "name", "scope": "owned_scope", "intent_id": "id"}
_CAMEL_CASE_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?)?"
)


def resolve_alias(key: str, node: YamlNode) -> str | None:
    """Return the known field that a key stands for (camelCase, `title`, `scope`), or None.

    `scope` is an alias only where it lists patterns: in many files it is prose, an unknown field.
    """
    name = _CAMEL_CASE_BREAK.sub("_", key).lower()
    name = _ALIASES.get(name, name)
    if name not in KNOWN_FIELDS or (key == "scope" and find_scope_items(node) is None):
        return None
    return name


def find_scope_items(node: YamlNode) -> tuple[YamlNode, ...] | None:
    """Return the patterns of a scope: a list, or a mapping with the list under `paths`; else None."""
    if isinstance(node, YamlMapping) and set(node.entries) == {"paths"}:
        node = node.entries["paths"].value
    return node.items if isinstance(node, YamlList) else None


def parse_timestamp(text: str) -> datetime | None:
    """Parse an ISO 8601 date or date-time, UTC where it has no offset. Return None for anything else."""
    if not _TIMESTAMP.fullmatch(text):
        return None
    try:
        timestamp = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    return timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC)


def repair_pattern(pattern: str) -> str | None:
    """Return the pattern that `dir/` or `/dir` stands for; None where no repair makes it valid."""
    prefix = "!" if pattern.startswith("!") else ""
    path = pattern.removeprefix(prefix).removeprefix("/")
    if path.endswith("/"):
        path += "**"
    repaired = prefix + path
    return None if repaired == pattern or parse.find_problem(repaired) else repaired


def join_single_pair(node: YamlNode) -> str | None:
    """Return `- Rate limit: 100`, a mapping to YAML and a sentence to its author, as a text; else None."""
    if not isinstance(node, YamlMapping) or len(node.entries) != 1:
        return None
    ((name, entry),) = node.entries.items()
    return f"{name}: {entry.value.value}" if isinstance(entry.value, YamlScalar) else None


def find_dependency_id(node: YamlNode) -> str | None:
    """Return the id in `{intent_id: INT-002, type: BLOCKS}`, or None."""
    if not isinstance(node, YamlMapping):
        return None
    entry: MappingEntry | None = node.entries.get("intent_id") or node.entries.get("id")
    if entry is None or not isinstance(entry.value, YamlScalar) or is_null(entry.value):
        return None
    return entry.value.value if entry.value.value.strip() else None


def has_value(node: YamlNode) -> bool:
    """Return whether a field says anything: no null, empty text or empty list, which exports leave out."""
    if isinstance(node, YamlList):
        return bool(node.items)
    return not isinstance(node, YamlScalar) or (bool(node.value) and not is_null(node))
