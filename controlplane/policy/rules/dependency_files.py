"""Dependency files in JSON and TOML, read as what they are. For whole files only."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

PARSERS: Mapping[str, Callable[[str], Any]] = {
    "package.json": json.loads,
    "composer.json": json.loads,
    "deno.json": json.loads,
    "import_map.json": json.loads,
    "pyproject.toml": tomllib.loads,
    "cargo.toml": tomllib.loads,
    "pipfile": tomllib.loads,
}

# Where libraries are listed, besides everything that ends in `dependencies`.
_LISTS = frozenset(
    {"require", "require-dev", "imports", "dependency-groups", "requires", "packages", "dev-packages"}
)
_REQUIREMENT = re.compile(r"\s*(?P<name>[A-Za-z0-9][\w.\-]*)\s*(?:\[[^\]]*\])?(?P<version>.*)", re.DOTALL)

# `tomllib` walks through the parts of a key (`a.a.a…`) for each of its parts, and through those of the table
# that it stands in for each key.
_MAX_STEPS = 2_000_000

Library = tuple[str, str]


@lru_cache(maxsize=4)
def parse_libraries(name: str, text: str) -> list[Library] | None:
    """Name and version of every library that a file lists; None where it cannot be parsed, or its format is
    none of these. `name` is that of the file, in lower case."""
    parser = PARSERS.get(name)
    if parser is None:
        return None
    if parser is tomllib.loads and _steps(text) > _MAX_STEPS:
        return None
    try:
        tree = parser(text)
        return list(_listed(tree)) if isinstance(tree, dict) else None
    except (ValueError, RecursionError):
        return None


def _steps(toml: str) -> int:
    lines = [(line.lstrip(" \t")[:1] == "[", line.count(".")) for line in toml.split("\n")]
    deepest = max(dots for is_table, dots in [*lines, (True, 0)] if is_table)
    return sum((deepest + dots) * (dots + 1) for _, dots in lines)


def _listed(tree: Mapping[str, Any]) -> Iterator[Library]:
    for key, value in tree.items():
        name = key.casefold()
        if name in _LISTS or name.endswith("dependencies"):
            yield from _libraries(value)
        elif isinstance(value, dict):
            yield from _listed(value)


def _libraries(value: Any) -> Iterator[Library]:
    """A list of requirements, or names with a version, a table or, in groups, such a list each."""
    if isinstance(value, list):
        found = (_REQUIREMENT.fullmatch(item) for item in value if isinstance(item, str))
        yield from ((match["name"], match["version"]) for match in found if match)
    elif isinstance(value, dict):
        for name, wanted in value.items():
            if isinstance(wanted, list) and all(isinstance(item, str) for item in wanted):
                yield from _libraries(wanted)
            else:
                yield name, _version(wanted)


def _version(wanted: Any) -> str:
    table = wanted[0] if isinstance(wanted, list) else wanted
    version = table.get("version", "") if isinstance(table, dict) else table
    return version if isinstance(version, str) else ""
