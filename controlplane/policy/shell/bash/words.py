"""Words as bash would pass them to a program."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from controlplane.policy.shell.bash.arithmetic import is_number
from controlplane.policy.shell.bash.braces import Cell, Kind, expand
from controlplane.policy.shell.bash.name_lists import is_list
from controlplane.policy.shell.result import UnclearError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node

    from controlplane.policy.shell.bash.parse import Source

PLAIN = re.compile(r"[A-Za-z0-9_./:,@%+=-]*")
UNPLAIN = re.compile(r"[~\\$`]")  # in quotes, what has to be looked at character by character
MAX_WORD = 8_192
WORD_CHARS = re.compile(r"""[^\s'"$`;&|<>()\\]|\\[^\n]""")
ANSI = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<short>[0-9A-Fa-f]{1,4})"
    r"|U(?P<long>[0-9A-Fa-f]{1,8})|(?P<plain>.))",
    re.DOTALL,
)
ANSI_PLAIN = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))
DYNAMIC = Cell("", Kind.DYNAMIC)
SPLIT = Cell(" ", Kind.DYNAMIC)  # not quoted: may become no word, or several
LISTED = Cell("", Kind.LISTED)
LISTED_SPLIT = Cell(" ", Kind.LISTED)
UNKNOWN = frozenset({Kind.DYNAMIC, Kind.LISTED})
LITERAL_DOLLAR = re.compile(rb"[ \t\n;|&)]|\Z")  # behind a $ that ends a word
PIPE = "/dev/fd/63"  # what bash passes for <(…) and >(…)
ASKS_FOLDER = frozenset({"$(pwd)", "`pwd`"})
EXPANSIONS = frozenset({"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"})


@dataclass(frozen=True, slots=True)
class Word:
    """One argument. `value` is None when only running can tell it; `prefix` is what stands for
    certain in front. `wild` means that bash would match it against file names, or has done so for a
    variable in it (`carried`), `many` that it may become any number of words, `listed` that it is a
    name, or names, of files that were looked through. Span in bytes."""

    value: str | None
    prefix: str
    start: int
    end: int
    wild: bool = False
    tilde: bool = False
    many: bool = False
    listed: bool = False
    carried: bool = False

    def tail(self, count: int) -> Word:
        """The word without its first `count` characters, an option's attached value."""
        value = None if self.value is None else self.value[count:]
        return Word(value, self.prefix[count:], self.start, self.end, self.wild, many=self.many)


@dataclass(frozen=True, slots=True)
class Constant:
    """What a variable is known to hold."""

    text: str
    wild: bool = False  # one of the files that match `text`
    listed: bool = False  # one of the files that a command has listed; `text` is empty


class Scope(Protocol):
    """Where a word stands: what its variables hold, and who judges the commands inside it."""

    @property
    def source(self) -> Source: ...

    def constant(self, name: str) -> Constant | None: ...

    def judge(self, node: Node) -> None:
        """Judge an expansion that stands in the word; raises UnclearError."""


def decode(node: Node, scope: Scope) -> list[Word]:
    """The words that one node of the tree stands for: several when it holds braces."""
    text = scope.source.of(node)
    if node.type in ("word", "number") and PLAIN.fullmatch(text):
        return [Word(text, text, node.start_byte, node.end_byte)]
    if node.type in ("raw_string", "string") and not UNPLAIN.search(text, 1):
        return [Word(text[1:-1], text[1:-1], node.start_byte, node.end_byte)]
    if len(text) > MAX_WORD and node.type in ("word", "concatenation"):
        raise UnclearError("a word longer than any path", (node.start_byte, node.end_byte))
    cells = list(_cells(node, scope))
    return [_word(found, node) for found in expand(cells)]


def decode_one(node: Node, scope: Scope) -> Word:
    """A place where bash allows exactly one word, such as the target of a redirect."""
    words = decode(node, scope)
    if len(words) != 1:
        raise UnclearError("several words where one is allowed", (node.start_byte, node.end_byte))
    return words[0]


def _word(cells: list[Cell], node: Node) -> Word:
    known = next((at for at, cell in enumerate(cells) if cell.kind in UNKNOWN), len(cells))
    prefix = "".join(cell.char for cell in cells[:known])
    bare = "".join(cell.char if cell.kind is Kind.BARE else "\0" for cell in cells)
    if "=~" in bare or ":~" in bare:
        raise UnclearError("a ~ that bash may expand", (node.start_byte, node.end_byte))
    if re.match(r"~[-+0-9]", bare):
        raise UnclearError("a ~ that stands for another folder", (node.start_byte, node.end_byte))
    tilde = bare.startswith("~")
    if prefix.startswith("~") and not tilde:
        prefix = "./" + prefix
    carried = any(cell.kind is Kind.WILD for cell in cells)
    wild = carried or bool(re.search(r"[*?]|\[.*\]", bare))
    value = prefix if known == len(cells) else None
    many = SPLIT in cells or LISTED_SPLIT in cells
    listed = cells in ([LISTED], [LISTED_SPLIT])
    return Word(value, prefix, node.start_byte, node.end_byte, wild, tilde, many, listed, carried)


def _cells(node: Node, scope: Scope) -> Iterator[Cell]:
    """Characters of one node; the closed list of what may stand in a word."""
    if node.type in EXPANSIONS:
        yield from _expansion(node, scope, quoted=False)
        return
    reader = READERS.get(node.type)
    if reader is None:
        raise UnclearError(f"{node.type} is not understood in a word", (node.start_byte, node.end_byte))
    yield from reader(node, scope)


def _bare(node: Node, scope: Scope) -> Iterator[Cell]:
    text = scope.source.of(node)
    at = 0
    while at < len(text):
        match = WORD_CHARS.match(text, at)
        if match is None:  # an unquoted blank or operator: the grammar glued two things together
            raise UnclearError("a word that bash would split", (node.start_byte, node.end_byte))
        found = match.group()
        yield Cell(found[-1], Kind.QUOTED if len(found) > 1 else Kind.BARE)
        at = match.end()


def _raw(node: Node, scope: Scope) -> Iterator[Cell]:
    return (Cell(char, Kind.QUOTED) for char in scope.source.of(node)[1:-1])


def _ansi(node: Node, scope: Scope) -> Iterator[Cell]:
    text = ANSI.sub(_ansi_escape, scope.source.of(node)[2:-1])
    if "\0" in text:
        raise UnclearError("a NUL or byte escape", (node.start_byte, node.end_byte))
    return (Cell(char, Kind.QUOTED) for char in text)


def _ansi_escape(match: re.Match[str]) -> str:
    """One escape of `$'…'`; NUL for what bash would turn into a byte or cut short."""
    if plain := match["plain"]:
        return ANSI_PLAIN.get(plain, "\0")
    if match["octal"] or match["hex"]:
        code = int(match["octal"], 8) if match["octal"] else int(match["hex"], 16)
        return chr(code) if code < 0x80 else "\0"
    code = int(match["short"] or match["long"], 16)
    return chr(code) if code < 0xD800 else "\0"


def _double(node: Node, scope: Scope) -> Iterator[Cell]:
    """`"…"`: the grammar hides blanks between its children, so the text itself is read."""
    end = node.end_byte - 1
    yield from double_quoted(node, (node.start_byte + 1, end), scope)


def double_quoted(node: Node, span: tuple[int, int], scope: Scope) -> Iterator[Cell]:
    """Text under double-quote rules between two byte offsets of a node."""
    at, end = span
    for child in node.children:
        if child.type not in EXPANSIONS:
            continue
        start = _dollar(child, scope.source)
        yield from _escaped(scope.source.slice(at, start), node)
        yield from _expansion(child, scope, quoted=True)
        at = child.end_byte
    yield from _escaped(scope.source.slice(at, end), node)


def _dollar(node: Node, source: Source) -> int:
    """Where an expansion really starts: its first token may have swallowed blanks."""
    match = re.compile(rb"[$`]").search(source.data, node.start_byte, node.end_byte)
    return match.start() if match else node.start_byte


def _escaped(text: str, node: Node) -> Iterator[Cell]:
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\" and text[at + 1 : at + 2] in ('"', "\\", "$", "`", "\n"):
            char = text[at + 1].replace("\n", "")
            at += 1
        elif char == "`" or (char == "$" and re.match(r"[\w({\[@*#?$!-]", text[at + 1 : at + 2])):
            raise UnclearError("an expansion that was not understood", (node.start_byte, node.end_byte))
        if char:
            yield Cell(char, Kind.QUOTED)
        at += 1


def _expansion(node: Node, scope: Scope, *, quoted: bool) -> Iterator[Cell]:
    scope.judge(node)
    text = scope.source.of(node).strip()
    name = "PWD" if text in ASKS_FOLDER else text.lstrip("$").strip("{}")
    is_variable = name == "PWD" or node.type in ("simple_expansion", "expansion")
    constant = scope.constant(name) if is_variable else None
    if (constant is not None and constant.listed) or (not quoted and is_list(node, scope.source)):
        yield LISTED if quoted else LISTED_SPLIT
        return
    if constant is None or not (quoted or PLAIN.fullmatch(constant.text or " ")):
        is_one = (quoted and "@" not in name) or is_number(node, name, scope.source)
        yield DYNAMIC if is_one else SPLIT
        return
    for char in constant.text:
        wild = constant.wild and char in "*?["
        yield Cell(char, Kind.WILD if wild else Kind.QUOTED)


def _brace_sequence(node: Node, scope: Scope) -> Iterator[Cell]:
    return (Cell(char, Kind.BARE) for char in scope.source.of(node))


def _concatenation(node: Node, scope: Scope) -> Iterator[Cell]:
    at = node.start_byte
    for child in node.children:
        if child.start_byte != at:
            raise UnclearError("a word that bash would split", (node.start_byte, node.end_byte))
        at = child.end_byte
        if child.type == "$" and at == node.end_byte and LITERAL_DOLLAR.match(scope.source.data, at):
            yield Cell("$", Kind.QUOTED)
        else:
            yield from _cells(child, scope)


def _process(node: Node, scope: Scope) -> Iterator[Cell]:
    scope.judge(node)
    return (Cell(char, Kind.QUOTED) for char in PIPE)


READERS: dict[str, Callable[[Node, Scope], Iterator[Cell]]] = {
    "word": _bare,
    "number": _bare,
    "raw_string": _raw,
    "ansi_c_string": _ansi,
    "string": _double,
    "concatenation": _concatenation,
    "brace_expression": _brace_sequence,
    "process_substitution": _process,
}
