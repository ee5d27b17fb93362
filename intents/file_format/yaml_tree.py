"""YAML text to a tree in which every scalar is still the text that was written, with its line.

Nothing is guessed: `NO`, `1_000` and `12:30:45` stay texts, and a tree is never larger than its file by
more than `MAX_REPEATED` nodes. Scanning is left to libyaml through PyYAML.
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
"""Some 3,000 intents; more is refused while it is read, before it can cost seconds."""

MAX_REPEATED = 10_000
"""How many nodes may come from aliases before a document counts as an attack."""

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_JSON_PAIR = re.compile(r"\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|.)", re.IGNORECASE | re.DOTALL)
_TAG = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset(
    _TAG + name for name in ("str", "int", "float", "bool", "null", "timestamp", "merge", "value")
)
_MERGE = _TAG + "merge"


class InvalidYamlError(Exception):
    """The text is not a YAML document that we take. `line` counts from 1."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class YamlScalar:
    """A scalar. `plain` means that it stood without quotes, so `null` or `3` may be more than letters."""

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
    """`root` is None for an empty document. `repairs` are the control characters that were taken out."""

    root: YamlNode | None
    repairs: tuple[Diagnostic, ...] = ()


def parse_yaml(data: bytes, *, lenient: bool = False) -> YamlDocument:
    """Read one document. Raises `UnreadableError`, also for a key that occurs twice, a second document, an
    unknown tag, bytes that are not UTF-8, and control characters (which `lenient` takes out instead)."""
    builder = _Builder(lenient)
    text = builder.without_control_characters(_decoded(data))
    try:
        root = yaml.compose(_with_whole_characters(text), Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise InvalidYamlError(_sentence(error), mark.line + 1 if mark else None) from error
    except yaml.YAMLError as error:
        raise InvalidYamlError(str(error)) from error
    return YamlDocument(builder.node(root) if root else None, tuple(builder.repairs))


def tree_from_json(value: Any) -> YamlNode:
    """The same tree for a value that arrived as JSON; it has no lines. Raises `UnreadableError`."""
    builder = _Builder(lenient=False)
    return builder.json_node(value, 0)


def _decoded(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise InvalidYamlError(f"The file is larger than {MAX_BYTES // 1024 // 1024} MiB.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidYamlError(f"Byte {error.start} is not UTF-8.", line) from error


def _with_whole_characters(text: str) -> str:
    """In a document written as JSON, join `\\ud83d\\ude00`: valid JSON, but no character in YAML."""
    if text.lstrip()[:1] not in {"{", "["}:
        return text
    return _JSON_PAIR.sub(_joined, text)


def _joined(pair: re.Match[str]) -> str:
    if pair[1] is None:
        return pair[0]
    code = 0x10000 + ((int(pair[1], 16) - 0xD800) << 10) + int(pair[2], 16) - 0xDC00
    return f"\\U{code:08x}"


def _sentence(error: yaml.MarkedYAMLError) -> str:
    words = [error.context, error.problem]
    return f"Not valid YAML: {', '.join(word for word in words if word)}."


class _Loader(yaml.CSafeLoader):
    """Composes at most `MAX_NODES` nodes."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._nodes = 0

    def descend_resolver(self, current_node: yaml.Node | None, current_index: Any) -> None:
        """libyaml's binding calls this once a node; tags by path, its purpose, are not used here."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise InvalidYamlError(f"The document has more than {MAX_NODES:,} nodes.")

    def ascend_resolver(self) -> None:
        pass


class _Builder:
    """Walks what PyYAML composed, within limits on depth and on what aliases repeat."""

    def __init__(self, lenient: bool) -> None:
        self.lenient = lenient
        self.repairs: list[Diagnostic] = []
        self._seen: set[int] = set()
        self._open: set[int] = set()
        self._repeated = 0

    def node(self, node: yaml.Node) -> YamlNode:
        line = _line(node)
        self._count(node, line)
        if isinstance(node, yaml.ScalarNode):
            return self._text(node, line)
        self._enter(node, line)
        built = self._table(node, line) if isinstance(node, yaml.MappingNode) else self._listing(node, line)
        self._open.discard(id(node))
        return built

    def without_control_characters(self, text: str) -> str:
        found = _CONTROL.search(text)
        if not found:
            return text
        if not self.lenient:
            line = text.count("\n", 0, found.start()) + 1
            raise InvalidYamlError(_control_message(found[0]), line)
        lines = [number for number, part in enumerate(text.split("\n"), 1) if _CONTROL.search(part)]
        self.repairs.extend(_control_repair(line) for line in lines)
        return _CONTROL.sub("", text)

    def _count(self, node: yaml.Node, line: int) -> None:
        if id(node) in self._seen:
            self._repeated += 1
            if self._repeated > MAX_REPEATED:
                raise InvalidYamlError(f"Aliases repeat more than {MAX_REPEATED:,} nodes.", line)
        self._seen.add(id(node))

    def _enter(self, node: yaml.Node, line: int) -> None:
        if id(node) in self._open:
            raise InvalidYamlError("An alias stands inside the node that it names.", line)
        if len(self._open) >= MAX_DEPTH:
            raise InvalidYamlError(f"Nested deeper than {MAX_DEPTH} levels.", line)
        self._open.add(id(node))

    def _text(self, node: yaml.ScalarNode, line: int) -> YamlScalar:
        if node.tag not in _SCALAR_TAGS:
            raise InvalidYamlError(f"Unknown tag {node.tag}.", line)
        return YamlScalar(self._clean(node.value, line), line, plain=not node.style)

    def _listing(self, node: yaml.Node, line: int) -> YamlList:
        if node.tag != _TAG + "seq":
            raise InvalidYamlError(f"Unknown tag {node.tag}.", line)
        return YamlList(tuple(self.node(item) for item in node.value), line)

    def _table(self, node: yaml.MappingNode, line: int) -> YamlMapping:
        if node.tag != _TAG + "map":
            raise InvalidYamlError(f"Unknown tag {node.tag}.", line)
        entries: dict[str, MappingEntry] = {}
        merged: dict[str, MappingEntry] = {}
        names: set[str] = set()
        for key, value in node.value:
            name, key_line = self._key(key, names)
            if key.tag == _MERGE:
                merged = self._merged(value)
            else:
                entries[name] = MappingEntry(self.node(value), key_line)
        return YamlMapping({**merged, **entries}, line)

    def _key(self, key: yaml.Node, names: set[str]) -> tuple[str, int]:
        line = _line(key)
        if not isinstance(key, yaml.ScalarNode):
            raise InvalidYamlError("A key must be a text.", line)
        name = self._text(key, line).value
        if name in names:
            raise InvalidYamlError(f"The key {name!r} occurs twice in one mapping.", line)
        names.add(name)
        return name, line

    def _merged(self, value: yaml.Node) -> dict[str, MappingEntry]:
        """What `<<` brings in: of several mappings the first that has a key counts."""
        found: dict[str, MappingEntry] = {}
        for source in _merge_sources(value):
            table = self.node(source)
            assert isinstance(table, YamlMapping)  # _merge_sources lets only mappings through
            found = {**table.entries, **found}
        return found

    def _clean(self, text: str, line: int | None) -> str:
        """Escapes can smuggle in what the file itself may not hold."""
        found = _CONTROL.search(text)
        if not found:
            return text
        if not self.lenient:
            raise InvalidYamlError(_control_message(found[0]), line)
        self.repairs.append(_control_repair(line))
        return _CONTROL.sub("", text)

    def json_node(self, value: Any, depth: int) -> YamlNode:
        if depth > MAX_DEPTH:
            raise InvalidYamlError(f"Nested deeper than {MAX_DEPTH} levels.")
        if isinstance(value, dict):
            entries = {
                self._clean(str(name), None): MappingEntry(self.json_node(item, depth + 1), None)
                for name, item in value.items()
            }
            return YamlMapping(entries, None)
        if isinstance(value, list | tuple):
            return YamlList(tuple(self.json_node(item, depth + 1) for item in value), None)
        if isinstance(value, str):
            return YamlScalar(self._clean(value, None), None)
        return YamlScalar(json.dumps(value), None, plain=True)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _merge_sources(value: yaml.Node) -> Iterator[yaml.MappingNode]:
    sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
    for source in sources:
        if not isinstance(source, yaml.MappingNode):
            raise InvalidYamlError("A merge key (<<) needs a mapping, or a list of mappings.", _line(source))
        yield source


def _control_message(character: str) -> str:
    return f"The control character U+{ord(character):04X} is not allowed."


def _control_repair(line: int | None) -> Diagnostic:
    return Diagnostic(DiagnosticType.CONTROL_CHARACTER, "Control characters were taken out.", line=line)
