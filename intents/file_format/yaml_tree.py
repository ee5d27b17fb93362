"""Parse YAML to a tree of nodes with line numbers, in which every scalar is the text as written.

No scalar is converted: `NO`, `1_000` and `12:30:45` stay texts. The file may come from anybody, so size,
depth, nodes and what aliases repeat are limited. libyaml does the scanning, through PyYAML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

from intents.file_format.report import Diagnostic, DiagnosticType

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 40
MAX_NODES = 100_000
"""About 3,000 intents. Checked while libyaml composes, before a document can cost seconds."""

MAX_REPEATED = 10_000
"""Nodes that aliases may repeat. More is the billion-laughs attack: a few lines that expand without end."""

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_JSON_SURROGATES = re.compile(
    r"\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|.)", re.IGNORECASE | re.DOTALL
)
_TAG = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset(
    _TAG + name for name in ("str", "int", "float", "bool", "null", "timestamp", "merge", "value")
)
_MERGE = _TAG + "merge"


class InvalidYamlError(Exception):
    """The text is not a YAML document that is accepted. `line` counts from 1."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class YamlScalar:
    """A scalar. `plain` is one without quotes, so that `null` or `3` may mean more than their letters."""

    value: str
    line: int | None
    plain: bool = False


@dataclass(frozen=True, slots=True)
class YamlList:
    items: tuple[YamlNode, ...]
    line: int | None


@dataclass(frozen=True, slots=True)
class MappingEntry:
    """A value in a mapping, and the line of its key."""

    value: YamlNode
    line: int | None


@dataclass(frozen=True, slots=True)
class YamlMapping:
    entries: Mapping[str, MappingEntry]
    line: int | None


YamlNode: TypeAlias = YamlScalar | YamlList | YamlMapping


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """`root` is None for an empty document. `repairs` report the control characters that were removed."""

    root: YamlNode | None
    repairs: tuple[Diagnostic, ...] = ()


def parse_yaml(data: bytes, *, lenient: bool = False) -> YamlDocument:
    """Parse one document.

    Raises InvalidYamlError, also for duplicate keys, a second document, unknown tags, bytes that are not
    UTF-8, and control characters (which `lenient` removes instead).
    """
    builder = _TreeBuilder(lenient)
    text = builder.remove_control_characters(_decode(data))
    try:
        root = yaml.compose(_join_surrogates(text), Loader=_LimitedLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise InvalidYamlError(_describe(error), mark.line + 1 if mark else None) from error
    except yaml.YAMLError as error:
        raise InvalidYamlError(str(error)) from error
    return YamlDocument(builder.build(root) if root else None, tuple(builder.repairs))


def tree_from_json(value: Any) -> YamlNode:
    """Build the same tree, without lines, from a value that arrived as JSON. Raises InvalidYamlError."""
    return _TreeBuilder(lenient=False).build_from_json(value, 0)


def _decode(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise InvalidYamlError(f"The file is larger than {MAX_BYTES // 1024 // 1024} MiB.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidYamlError(f"Byte {error.start} is not UTF-8.", line) from error


def _join_surrogates(text: str) -> str:
    """Join `\\ud83d\\ude00` in a document written as JSON: valid there, but no character in YAML."""
    if text.lstrip()[:1] not in {"{", "["}:
        return text
    return _JSON_SURROGATES.sub(_join_pair, text)


def _join_pair(pair: re.Match[str]) -> str:
    if pair[1] is None:
        return pair[0]
    code = 0x10000 + ((int(pair[1], 16) - 0xD800) << 10) + int(pair[2], 16) - 0xDC00
    return f"\\U{code:08x}"


def _describe(error: yaml.MarkedYAMLError) -> str:
    parts = [error.context, error.problem]
    return f"Not valid YAML: {', '.join(part for part in parts if part)}."


class _LimitedLoader(yaml.CSafeLoader):
    """Compose at most `MAX_NODES` nodes."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._nodes = 0

    def descend_resolver(self, current_node: yaml.Node | None, current_index: Any) -> None:
        # libyaml's binding calls this once per node, to resolve tags by path, which nothing here needs.
        # It is the only hook in which composing can be stopped.
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise InvalidYamlError(f"The document has more than {MAX_NODES:,} nodes.")

    def ascend_resolver(self) -> None:
        pass


class _TreeBuilder:
    """Convert PyYAML's nodes, within the limits on depth and on what aliases repeat."""

    def __init__(self, lenient: bool) -> None:
        self.lenient = lenient
        self.repairs: list[Diagnostic] = []
        self._seen: set[int] = set()
        self._ancestors: set[int] = set()
        self._repeated = 0

    def build(self, node: yaml.Node) -> YamlNode:
        line = _line_number(node)
        self._count_repeated(node, line)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, line)
        self._enter(node, line)
        result = self._mapping(node, line) if isinstance(node, yaml.MappingNode) else self._list(node, line)
        self._ancestors.discard(id(node))
        return result

    def remove_control_characters(self, text: str) -> str:
        match = _CONTROL.search(text)
        if not match:
            return text
        if not self.lenient:
            line_number = text.count("\n", 0, match.start()) + 1
            raise InvalidYamlError(_describe_control(match[0]), line_number)
        lines = enumerate(text.split("\n"), 1)
        self.repairs.extend(_control_repair(number) for number, line in lines if _CONTROL.search(line))
        return _CONTROL.sub("", text)

    def _count_repeated(self, node: yaml.Node, line: int) -> None:
        # An alias is composed to the very node of its anchor: a node met again was reached through an alias.
        if id(node) in self._seen:
            self._repeated += 1
            if self._repeated > MAX_REPEATED:
                raise InvalidYamlError(f"Aliases repeat more than {MAX_REPEATED:,} nodes.", line)
        self._seen.add(id(node))

    def _enter(self, node: yaml.Node, line: int) -> None:
        if id(node) in self._ancestors:
            raise InvalidYamlError("An alias is inside the node that it refers to.", line)
        if len(self._ancestors) >= MAX_DEPTH:
            raise InvalidYamlError(f"Nested deeper than {MAX_DEPTH} levels.", line)
        self._ancestors.add(id(node))

    def _scalar(self, node: yaml.ScalarNode, line: int) -> YamlScalar:
        if node.tag not in _SCALAR_TAGS:
            raise InvalidYamlError(f"Unknown tag {node.tag}.", line)
        return YamlScalar(self._clean(node.value, line), line, plain=not node.style)

    def _list(self, node: yaml.Node, line: int) -> YamlList:
        if node.tag != _TAG + "seq":
            raise InvalidYamlError(f"Unknown tag {node.tag}.", line)
        return YamlList(tuple(self.build(item) for item in node.value), line)

    def _mapping(self, node: yaml.MappingNode, line: int) -> YamlMapping:
        if node.tag != _TAG + "map":
            raise InvalidYamlError(f"Unknown tag {node.tag}.", line)
        entries: dict[str, MappingEntry] = {}
        merged: dict[str, MappingEntry] = {}
        names: set[str] = set()
        for key, value in node.value:
            name, key_line = self._key(key, names)
            if key.tag == _MERGE:
                merged = self._merge_values(value)
            else:
                entries[name] = MappingEntry(self.build(value), key_line)
        return YamlMapping({**merged, **entries}, line)

    def _key(self, key: yaml.Node, names: set[str]) -> tuple[str, int]:
        line = _line_number(key)
        if not isinstance(key, yaml.ScalarNode):
            raise InvalidYamlError("A key must be a string.", line)
        name = self._scalar(key, line).value
        # Most loaders silently let the last of two equal keys win: a second `owned_scope` could hide one.
        if name in names:
            raise InvalidYamlError(f"The key {name!r} occurs twice in one mapping.", line)
        names.add(name)
        return name, line

    def _merge_values(self, value: yaml.Node) -> dict[str, MappingEntry]:
        """Return the entries that `<<` brings in: of several mappings, the first that has a key wins."""
        merged: dict[str, MappingEntry] = {}
        for source in _merge_sources(value):
            mapping = self.build(source)
            assert isinstance(mapping, YamlMapping)  # _merge_sources yields mappings only
            merged = {**mapping.entries, **merged}
        return merged

    def _clean(self, text: str, line: int | None) -> str:
        # The file was checked before parsing, but a quoted "\a" is a control character only after it.
        match = _CONTROL.search(text)
        if not match:
            return text
        if not self.lenient:
            raise InvalidYamlError(_describe_control(match[0]), line)
        self.repairs.append(_control_repair(line))
        return _CONTROL.sub("", text)

    def build_from_json(self, value: Any, depth: int) -> YamlNode:
        if depth > MAX_DEPTH:
            raise InvalidYamlError(f"Nested deeper than {MAX_DEPTH} levels.")
        if isinstance(value, dict):
            entries = {
                self._clean(str(name), None): MappingEntry(self.build_from_json(item, depth + 1), None)
                for name, item in value.items()
            }
            return YamlMapping(entries, None)
        if isinstance(value, list | tuple):
            return YamlList(tuple(self.build_from_json(item, depth + 1) for item in value), None)
        if isinstance(value, str):
            return YamlScalar(self._clean(value, None), None)
        return YamlScalar(json.dumps(value), None, plain=True)


def _line_number(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _merge_sources(value: yaml.Node) -> Iterator[yaml.MappingNode]:
    sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
    for source in sources:
        if not isinstance(source, yaml.MappingNode):
            message = "A merge key (<<) needs a mapping, or a list of mappings."
            raise InvalidYamlError(message, _line_number(source))
        yield source


def _describe_control(character: str) -> str:
    return f"The control character U+{ord(character):04X} is not allowed."


def _control_repair(line: int | None) -> Diagnostic:
    return Diagnostic(DiagnosticType.CONTROL_CHARACTER, "Control characters were removed.", line=line)
