"""Rules about single fields: their names, their aliases, timestamps and scope patterns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from controlplane.policy.globs import parse
from intents.file_format.yaml_tree import MappingEntry, YamlList, YamlMapping, YamlNode, YamlScalar

REFERENCE_FIELDS = ("references", "related_specifications", "related_specs")
KNOWN_FIELDS = frozenset(
    {
        "id",
        "status",
        "owned_scope",
        "constraints",
        "acceptance_criteria",
        "dependencies",
        "name",
        "description",
        "owner",
        "blocked_reason",
        "created_at",
        "updated_at",
        *REFERENCE_FIELDS,
    }
)

ID_PATTERN = re.compile(r"INT-[0-9]{3,}")
MAX_ID_LENGTH = 200

_ALIASES: Mapping[str, str] = {"title": "name", "scope": "owned_scope", "intent_id": "id"}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?)?"
)


def resolve_alias(key: str, node: YamlNode) -> str | None:
    """The known field that a key of a real file means (camelCase, `title`, `scope`); None for no such.

    `scope` counts only where it lists patterns: elsewhere it is prose, an unknown field.
    """
    name = _HUMP.sub("_", key).lower()
    name = _ALIASES.get(name, name)
    if name not in KNOWN_FIELDS or (key == "scope" and find_scope_items(node) is None):
        return None
    return name


def find_scope_items(node: YamlNode) -> tuple[YamlNode, ...] | None:
    """The patterns in a scope's value: a list, or a mapping with the list under `paths`; else None."""
    if isinstance(node, YamlMapping) and set(node.entries) == {"paths"}:
        node = node.entries["paths"].value
    return node.items if isinstance(node, YamlList) else None


def parse_timestamp(text: str) -> datetime | None:
    """An ISO 8601 date or date and time; without an offset it counts as UTC. None when it is none."""
    if not _TIMESTAMP.fullmatch(text):
        return None
    try:
        found = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def repair_pattern(pattern: str) -> str | None:
    """What a real file means by `dir/` and `/dir`; None where the pattern stays invalid."""
    sign = "!" if pattern.startswith("!") else ""
    body = pattern.removeprefix(sign).removeprefix("/")
    if body.endswith("/"):
        body += "**"
    repaired = sign + body
    return None if repaired == pattern or parse.find_problem(repaired) else repaired


def join_single_pair(node: YamlNode) -> str | None:
    """`- Rate limit: 100` is a mapping to YAML and a sentence to its author; None for anything larger."""
    if not isinstance(node, YamlMapping) or len(node.entries) != 1:
        return None
    ((name, entry),) = node.entries.items()
    return f"{name}: {entry.value.value}" if isinstance(entry.value, YamlScalar) else None


def find_dependency_id(node: YamlNode) -> str | None:
    """The id in `{intent_id: INT-002, type: BLOCKS}`; None where there is none."""
    if not isinstance(node, YamlMapping):
        return None
    entry: MappingEntry | None = node.entries.get("intent_id") or node.entries.get("id")
    return entry.value.value if entry and isinstance(entry.value, YamlScalar) else None
