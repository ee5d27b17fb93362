"""Edit one value of a JSON text; comments, order and layout of everything else stay unchanged.

Comments and trailing commas are parsed; the table of clients says which clients allow them.
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

BLANK = r"(?s:(?:\s|//[^\n]*|/\*.*?\*/)*)"  # compiled on use: every hook imports this module
SCALARS = json.JSONDecoder()
INDENT = "  "


class JsonNode:
    """A value at `text[start:end]`. `members` are those of an object or a list."""

    __slots__ = ("end", "members", "start", "value")

    def __init__(self, value: Any, start: int, end: int, members: list[JsonMember]) -> None:
        self.value, self.start, self.end, self.members = value, start, end, members


class JsonMember:
    """A member begins at `at`; `comma` is the position of the comma after it, -1 without one."""

    __slots__ = ("at", "comma", "key", "node")

    def __init__(self, key: Any, at: int, node: JsonNode, comma: int) -> None:
        self.key, self.at, self.node, self.comma = key, at, node, comma


def read_json(text: str) -> JsonNode:
    """Parse a complete text. Raise ValueError for invalid JSON and for deep nesting."""
    try:
        node = read_value(text, skip_blank(text, 0))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if (rest := skip_blank(text, node.end)) != len(text):
        raise json.JSONDecodeError("Extra data", text, rest)
    return node


def skip_blank(text: str, at: int) -> int:
    match = re.compile(BLANK).match(text, at)
    return match.end() if match else at


def read_value(text: str, at: int) -> JsonNode:
    closing = {"{": "}", "[": "]"}.get(text[at : at + 1])
    if closing is None:
        value, end = SCALARS.raw_decode(text, at)
        return JsonNode(value, at, end, [])
    members: list[JsonMember] = []
    position = skip_blank(text, at + 1)
    while text[position : position + 1] != closing:
        if members and members[-1].comma < 0:
            raise json.JSONDecodeError("Expecting ',' delimiter", text, position)
        members.append(read_member(text, position, len(members) if closing == "]" else None))
        position = skip_blank(text, max(members[-1].node.end, members[-1].comma + 1))
    pairs = [(member.key, member.node.value) for member in members]
    return JsonNode(
        dict(pairs) if closing == "}" else [value for _, value in pairs], at, position + 1, members
    )


def read_member(text: str, at: int, key: Any) -> JsonMember:
    """Parse an element of a list, whose `key` is its index, or for None a member of an object."""
    position = at
    if key is None:
        key, position = SCALARS.raw_decode(text, at)
        position = skip_blank(text, position)
        if not isinstance(key, str) or text[position : position + 1] != ":":
            raise json.JSONDecodeError("Expecting a name and ':'", text, position)
        position = skip_blank(text, position + 1)
    node = read_value(text, position)
    comma = skip_blank(text, node.end)
    return JsonMember(key, at, node, comma if text[comma : comma + 1] == "," else -1)


def set_value(text: str, path: list[str], value: Any, *, members: bool = False) -> str:
    """Return the text with `value` added at `path`, or with `listed` appended to the list there.

    Missing objects on the way are created. Raise ValueError if the path leads to anything else.
    """
    text = text or "{}\n"
    node, names = read_json(text), list(path)
    unit = line_indent(text, node.members[0].at) if node.members else ""
    while names and isinstance(node.value, dict) and names[0] in node.value:
        node = next(member.node for member in reversed(node.members) if member.key == names[0])
        names.pop(0)
    if not (isinstance(node.value, dict) if names else members and isinstance(node.value, list)):
        raise ValueError(f"it contains something else at {'.'.join(path)}")
    if names and members:
        value = [value]
    for name in reversed(names[1:]):
        value = {name: value}
    return insert_member(text, node, json.dumps(names[0]) + ": " if names else "", value, unit or INDENT)


def insert_member(text: str, node: JsonNode, name: str, value: Any, unit: str) -> str:
    """Insert a member at the end of an object or list, on its own line. `unit` is one indentation step."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    base = line_indent(text, node.start)
    pad = line_indent(text, node.members[0].at) if node.members else base
    pad = pad if len(pad) > len(base) else base + unit
    rendered = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", line_end + pad)
    content = text[node.start : node.end - 1].rstrip()  # up to its last value or comment
    position = node.start + len(content)
    before, tail = text[:position], text[position:]
    between = ""
    if not node.members:
        between = "" if tail[:1].isspace() else line_end + base
    elif node.members[-1].comma >= 0:
        between = ","
    else:
        end = node.members[-1].node.end
        before = f"{text[:end]},{text[end:position]}"
    return f"{before}{line_end}{pad}{name}{rendered}{between}{tail}"


def line_indent(text: str, at: int) -> str:
    """Return the indentation of the line at a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def remove_values(text: str, is_cut: Callable[[Any, Any], bool]) -> str:
    """Return the text without the members for which `is_cut(before, after)` is true, innermost first.

    `after` is what remains of the value once inner members are removed.
    """
    cuts: list[tuple[int, int]] = []
    collect_cuts(text, read_json(text), is_cut, cuts)
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    return text


def collect_cuts(
    text: str, node: JsonNode, is_cut: Callable[[Any, Any], bool], cuts: list[tuple[int, int]]
) -> Any:
    """Return what remains of the value; append the intervals to cut, none inside another."""
    remaining: list[tuple[Any, Any]] = []
    comma = -1  # after the last member that stays
    for member in node.members:
        inner_cuts: list[tuple[int, int]] = []
        after = collect_cuts(text, member.node, is_cut, inner_cuts)
        if not is_cut(member.node.value, after):
            cuts += inner_cuts
            remaining.append((member.key, after))
            comma = member.comma
            continue
        end = max(member.node.end, member.comma + 1)
        cuts.append((find_cut_start(text, member.at, end), end))
        if member.comma < 0 and comma >= 0:
            cuts.append((comma, comma + 1))
    if isinstance(node.value, dict):
        return dict(remaining)
    return [value for _, value in remaining] if isinstance(node.value, list) else node.value


def find_cut_start(text: str, at: int, end: int) -> int:
    """Return where a cut starts: before its white space, unless the rest would join a line comment."""
    start = len(text[:at].rstrip())
    commented = "//" in text[text.rfind("\n", 0, start) + 1 : start]
    return at if commented and text[end:].lstrip(" \t\r")[:1] != "\n" else start
