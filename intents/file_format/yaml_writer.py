"""Write `active_intents.yaml` such that parsing it gives the same values again.

Every string is quoted: no parser of any YAML version can read it as a number or a boolean.
"""

from __future__ import annotations

from typing import Any

import yaml

from intents.file_format.values import RegistryValues

_TAG = "tag:yaml.org,2002:"
_WIDTH = 1_000_000  # no folding: a line of the file is a line of the value
_NOT_IN_BLOCKS = frozenset("\r\x85\u2028\u2029\ufeff")


def write_registry(registry: RegistryValues) -> str:
    """Return the file: intents in their order, then metadata and unknown keys."""
    document: dict[str, Any] = {"active_intents": [values.to_document() for values in registry.intents]}
    if registry.metadata:
        document["metadata"] = dict(registry.metadata)
    document.update(registry.extra)
    return write_mapping(document)


def write_mapping(document: dict[str, Any]) -> str:
    """Return the file of a mapping of JSON values, in the same style as `write_registry`."""
    return str(
        yaml.serialize(_node(document), Dumper=yaml.CSafeDumper, allow_unicode=True, width=_WIDTH, indent=2)
    )


def _node(value: Any) -> yaml.Node:
    if isinstance(value, dict):
        pairs = [(yaml.ScalarNode(_TAG + "str", str(name)), _node(item)) for name, item in value.items()]
        return yaml.MappingNode(_TAG + "map", pairs, flow_style=not pairs)
    if isinstance(value, list | tuple):
        return yaml.SequenceNode(_TAG + "seq", [_node(item) for item in value], flow_style=not value)
    if isinstance(value, str):
        return yaml.ScalarNode(_TAG + "str", value, style="|" if _is_block(value) else '"')
    return _plain(value)


def _plain(value: bool | float | None) -> yaml.ScalarNode:
    if value is None:
        return yaml.ScalarNode(_TAG + "null", "null")
    if isinstance(value, bool):
        return yaml.ScalarNode(_TAG + "bool", "true" if value else "false")
    return yaml.ScalarNode(_TAG + ("int" if isinstance(value, int) else "float"), repr(value))


def _is_block(text: str) -> bool:
    """Return whether a literal block (`|`) suits a text and a parser gives it back unchanged."""
    lines = text.split("\n")
    return (
        len(lines) > 1
        and text[0] not in " \n\t"
        and not _NOT_IN_BLOCKS.intersection(text)
        and not any(line.endswith((" ", "\t")) for line in lines)
    )
