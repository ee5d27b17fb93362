"""Words as bash would pass them to a program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from controlplane.policy.shell.bash.braces import CharKind, WordChar, expand_braces
from controlplane.policy.shell.bash.command_output import is_name_list
from controlplane.policy.shell.bash.expansions import is_number
from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.bash.walker import Walker
from controlplane.policy.shell.lexical_path import is_inside
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import Constant, State
from controlplane.policy.shell.word import PIPE_PATH, Word

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
DYNAMIC = WordChar("", CharKind.DYNAMIC)
SPLIT = WordChar(" ", CharKind.DYNAMIC)  # not quoted: may become no word, or several
LISTED = WordChar("", CharKind.LISTED)
LISTED_SPLIT = WordChar(" ", CharKind.LISTED)
UNKNOWN = frozenset({CharKind.DYNAMIC, CharKind.LISTED})
LITERAL_DOLLAR = re.compile(rb"[ \t\n;|&)]|\Z")  # behind a $ that ends a word
ASKS_FOLDER = frozenset({"$(pwd)", "`pwd`"})
EXPANSIONS = frozenset({"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"})


@dataclass(frozen=True, slots=True)
class WordContext:
    """Where a word stands: who judges the commands inside it, and what its variables hold."""

    walker: Walker
    state: State

    @property
    def tree(self) -> SyntaxTree:
        return self.walker.tree

    def constant(self, name: str) -> Constant | None:
        if name == "PWD":
            return self._folder()
        return self.state.constants.get(name)

    def _folder(self) -> Constant | None:
        """`$PWD`, where the shell is for certain in one folder of the workspace."""
        root, folders = self.walker.scene.root, self.state.directories
        if root is None or folders is None or len(folders) != 1 or not is_inside(folders[0]):
            return None
        return Constant(f"{root}/{folders[0]}" if folders[0] else root)

    def judge(self, node: Node) -> None:
        """Judge an expansion that stands in the word; raises UnclearError."""
        self.walker.expansion(node, self.state)


def expand_word(node: Node, context: WordContext) -> list[Word]:
    """The words that one node of the tree stands for: several when it holds braces."""
    text = context.tree.node_text(node)
    if node.type in ("word", "number") and PLAIN.fullmatch(text):
        return [Word(text, text, node.start_byte, node.end_byte)]
    if node.type in ("raw_string", "string") and not UNPLAIN.search(text, 1):
        return [Word(text[1:-1], text[1:-1], node.start_byte, node.end_byte)]
    if len(text) > MAX_WORD and node.type in ("word", "concatenation"):
        raise UnclearCommandError("a word longer than any path", node.byte_range)
    cells = list(_cells(node, context))
    return [_word(found, node) for found in expand_braces(cells)]


def expand_single_word(node: Node, context: WordContext) -> Word:
    """A place where bash allows exactly one word, such as the target of a redirect."""
    words = expand_word(node, context)
    if len(words) != 1:
        raise UnclearCommandError("several words where one is allowed", node.byte_range)
    return words[0]


def _word(cells: list[WordChar], node: Node) -> Word:
    known = next((at for at, cell in enumerate(cells) if cell.kind in UNKNOWN), len(cells))
    prefix = "".join(cell.char for cell in cells[:known])
    bare = "".join(cell.char if cell.kind is CharKind.BARE else "\0" for cell in cells)
    if "=~" in bare or ":~" in bare:
        raise UnclearCommandError("a ~ that bash may expand", node.byte_range)
    if re.match(r"~[-+0-9]", bare):
        raise UnclearCommandError("a ~ that stands for another folder", node.byte_range)
    tilde = bare.startswith("~")
    if prefix.startswith("~") and not tilde:
        prefix = "./" + prefix
    carried = any(cell.kind is CharKind.WILD for cell in cells)
    wild = carried or bool(re.search(r"[*?]|\[.*\]", bare))
    value = prefix if known == len(cells) else None
    many = SPLIT in cells or LISTED_SPLIT in cells
    listed = cells in ([LISTED], [LISTED_SPLIT])
    return Word(value, prefix, node.start_byte, node.end_byte, wild, tilde, many, listed, carried)


def _cells(node: Node, context: WordContext) -> Iterator[WordChar]:
    """Characters of one node; the closed list of what may stand in a word."""
    if node.type in EXPANSIONS:
        yield from _expansion(node, context, quoted=False)
        return
    reader = READERS.get(node.type)
    if reader is None:
        raise UnclearCommandError(f"{node.type} is not understood in a word", node.byte_range)
    yield from reader(node, context)


def _bare(node: Node, context: WordContext) -> Iterator[WordChar]:
    text = context.tree.node_text(node)
    at = 0
    while at < len(text):
        match = WORD_CHARS.match(text, at)
        if match is None:  # an unquoted blank or operator: the grammar glued two things together
            raise UnclearCommandError("a word that bash would split", node.byte_range)
        found = match.group()
        yield WordChar(found[-1], CharKind.QUOTED if len(found) > 1 else CharKind.BARE)
        at = match.end()


def _raw(node: Node, context: WordContext) -> Iterator[WordChar]:
    return (WordChar(char, CharKind.QUOTED) for char in context.tree.node_text(node)[1:-1])


def _ansi(node: Node, context: WordContext) -> Iterator[WordChar]:
    text = ANSI.sub(_ansi_escape, context.tree.node_text(node)[2:-1])
    if "\0" in text:
        raise UnclearCommandError("a NUL or byte escape", node.byte_range)
    return (WordChar(char, CharKind.QUOTED) for char in text)


def _ansi_escape(match: re.Match[str]) -> str:
    """One escape of `$'…'`; NUL for what bash would turn into a byte or cut short."""
    if plain := match["plain"]:
        return ANSI_PLAIN.get(plain, "\0")
    if match["octal"] or match["hex"]:
        code = int(match["octal"], 8) if match["octal"] else int(match["hex"], 16)
        return chr(code) if code < 0x80 else "\0"
    code = int(match["short"] or match["long"], 16)
    return chr(code) if code < 0xD800 else "\0"


def _double(node: Node, context: WordContext) -> Iterator[WordChar]:
    """`"…"`: the grammar hides blanks between its children, so the text itself is read."""
    end = node.end_byte - 1
    yield from double_quoted(node, (node.start_byte + 1, end), context)


def double_quoted(node: Node, span: tuple[int, int], context: WordContext) -> Iterator[WordChar]:
    """Text under double-quote rules between two byte offsets of a node."""
    at, end = span
    for child in node.children:
        if child.type not in EXPANSIONS:
            continue
        start = _dollar(child, context.tree)
        yield from _escaped(context.tree.slice(at, start), node)
        yield from _expansion(child, context, quoted=True)
        at = child.end_byte
    yield from _escaped(context.tree.slice(at, end), node)


def _dollar(node: Node, tree: SyntaxTree) -> int:
    """Where an expansion really starts: its first token may have swallowed blanks."""
    match = re.compile(rb"[$`]").search(tree.data, node.start_byte, node.end_byte)
    return match.start() if match else node.start_byte


def _escaped(text: str, node: Node) -> Iterator[WordChar]:
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\" and text[at + 1 : at + 2] in ('"', "\\", "$", "`", "\n"):
            char = text[at + 1].replace("\n", "")
            at += 1
        elif char == "`" or (char == "$" and re.match(r"[\w({\[@*#?$!-]", text[at + 1 : at + 2])):
            raise UnclearCommandError("an expansion that was not understood", node.byte_range)
        if char:
            yield WordChar(char, CharKind.QUOTED)
        at += 1


def _expansion(node: Node, context: WordContext, *, quoted: bool) -> Iterator[WordChar]:
    context.judge(node)
    text = context.tree.node_text(node).strip()
    name = "PWD" if text in ASKS_FOLDER else text.lstrip("$").strip("{}")
    is_variable = name == "PWD" or node.type in ("simple_expansion", "expansion")
    constant = context.constant(name) if is_variable else None
    if (constant is not None and constant.is_file_name) or (not quoted and is_name_list(node, context.tree)):
        yield LISTED if quoted else LISTED_SPLIT
        return
    if constant is None or not (quoted or PLAIN.fullmatch(constant.text or " ")):
        is_one = (quoted and "@" not in name) or is_number(node, name, context.walker)
        yield DYNAMIC if is_one else SPLIT
        return
    for char in constant.text:
        wild = constant.has_wildcard and char in "*?["
        yield WordChar(char, CharKind.WILD if wild else CharKind.QUOTED)


def _brace_sequence(node: Node, context: WordContext) -> Iterator[WordChar]:
    return (WordChar(char, CharKind.BARE) for char in context.tree.node_text(node))


def _concatenation(node: Node, context: WordContext) -> Iterator[WordChar]:
    at = node.start_byte
    for child in node.children:
        if child.start_byte != at:
            raise UnclearCommandError("a word that bash would split", node.byte_range)
        at = child.end_byte
        if child.type == "$" and at == node.end_byte and LITERAL_DOLLAR.match(context.tree.data, at):
            yield WordChar("$", CharKind.QUOTED)
        else:
            yield from _cells(child, context)


def _process(node: Node, context: WordContext) -> Iterator[WordChar]:
    context.judge(node)
    return (WordChar(char, CharKind.QUOTED) for char in PIPE_PATH)


READERS: dict[str, Callable[[Node, WordContext], Iterator[WordChar]]] = {
    "word": _bare,
    "number": _bare,
    "raw_string": _raw,
    "ansi_c_string": _ansi,
    "string": _double,
    "concatenation": _concatenation,
    "brace_expression": _brace_sequence,
    "process_substitution": _process,
}
