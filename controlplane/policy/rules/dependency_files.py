"""Parse full dependency files in JSON and TOML."""

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

# Keys under which libraries are listed, besides all that end in `dependencies`.
_LIST_KEYS = frozenset(
    {"require", "require-dev", "imports", "dependency-groups", "requires", "packages", "dev-packages"}
)
_REQUIREMENT = re.compile(r"\s*(?P<name>[A-Za-z0-9][\w.\-]*)\s*(?:\[[^\]]*\])?(?P<version>.*)", re.DOTALL)

# `tomllib` takes quadratic time: for each part of a dotted key (`a.a.a…`) it walks the parts before it, and
# for each key the parts of its table.
_MAX_STEPS = 2_000_000

Library = tuple[str, str]


@lru_cache(maxsize=4)
def parse_libraries(name: str, text: str) -> list[Library] | None:
    """Return name and version of every library that a file lists.

    None where it cannot be parsed, or its format is none of these. `name` is the file's, in lower case.
    """
    parser = PARSERS.get(name)
    if parser is None:
        return None
    if parser is tomllib.loads and _count_steps(text) > _MAX_STEPS:
        return None
    try:
        tree = parser(text)
        return list(_list_tree(tree)) if isinstance(tree, dict) else None
    except (ValueError, RecursionError):
        return None


def _count_steps(toml: str) -> int:
    lines = [(line.lstrip(" \t")[:1] == "[", line.count(".")) for line in toml.split("\n")]
    deepest = max(dots for is_table, dots in [*lines, (True, 0)] if is_table)
    return sum((deepest + dots) * (dots + 1) for _, dots in lines)


def _list_tree(tree: Mapping[str, Any]) -> Iterator[Library]:
    for key, value in tree.items():
        normalized_key = key.casefold()
        if normalized_key in _LIST_KEYS or normalized_key.endswith("dependencies"):
            yield from _list_libraries(value)
        elif isinstance(value, dict):
            yield from _list_tree(value)


def _list_libraries(value: Any) -> Iterator[Library]:
    """Yield the libraries of a list of requirements, or of a mapping of names to a version, a table or such a
    list (dependency groups)."""
    if isinstance(value, list):
        matches = (_REQUIREMENT.fullmatch(item) for item in value if isinstance(item, str))
        yield from ((match["name"], match["version"]) for match in matches if match)
    elif isinstance(value, dict):
        for name, requirement in value.items():
            if isinstance(requirement, list) and all(isinstance(item, str) for item in requirement):
                yield from _list_libraries(requirement)
            else:
                yield name, _get_version(requirement)


def _get_version(requirement: Any) -> str:
    table = requirement[0] if isinstance(requirement, list) else requirement
    version = table.get("version", "") if isinstance(table, dict) else table
    return version if isinstance(version, str) else ""
