"""Convert YAML nodes to JSON values, for fields that the product has no rule for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from intents.file_format.yaml_tree import YamlList, YamlMapping, YamlNode, YamlScalar

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
_MAX_SAFE_INTEGER = 2**53  # larger ones lose digits in JavaScript and in other readers of JSON
_MAX_NUMBER_LENGTH = 17
_CONSTANTS: Mapping[str, Any] = {"": None, "~": None, "null": None, "true": True, "false": False}


def to_json(node: YamlNode) -> Any:
    """Return the JSON value of a node.

    A plain scalar becomes a number, boolean or null only where writing that value gives the very same text
    again; `1.10`, `0o17` and `yes` stay texts.
    """
    if isinstance(node, YamlMapping):
        return {name: to_json(entry.value) for name, entry in node.entries.items()}
    if isinstance(node, YamlList):
        return [to_json(item) for item in node.items]
    return _plain_to_json(node.value) if node.plain else node.value


def is_null(node: YamlNode) -> bool:
    return isinstance(node, YamlScalar) and node.plain and node.value in {"", "~", "null"}


def _plain_to_json(text: str) -> Any:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    short = len(text) <= _MAX_NUMBER_LENGTH
    if _INTEGER.fullmatch(text) and short and abs(int(text)) <= _MAX_SAFE_INTEGER:
        return int(text) if str(int(text)) == text else text
    if _DECIMAL.fullmatch(text) and short and repr(float(text)) == text:
        return float(text)
    return text
