"""Expand nodes of the tree to the words that bash would pass to a program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from controlplane.policy.shell.bash.arithmetic import is_number
from controlplane.policy.shell.bash.brace_expansion import CharKind, WordChar, expand_braces
from controlplane.policy.shell.bash.command_output import is_name_list
from controlplane.policy.shell.bash.syntax_tree import SyntaxTree
from controlplane.policy.shell.bash.walker import Walker
from controlplane.policy.shell.lexical_path import is_inside
from controlplane.policy.shell.programs.mktemp import find_new_name
from controlplane.policy.shell.result import Span, UnclearCommandError
from controlplane.policy.shell.shells import ZSH
from controlplane.policy.shell.state import Constant, State
from controlplane.policy.shell.word import PIPE_PATH, Word

PLAIN = re.compile(r"[A-Za-z0-9_./:,@%+=-]*")
PLAIN_VALUE = re.compile(r"[A-Za-z0-9_./:,@%+={}-]*")  # braces out of a variable are not expanded
SPECIAL = re.compile(r"[~\\$`]")  # in quotes, text that must be read character by character
MAX_WORD = 8_192
WORD_CHARS = re.compile(r"""[^\s'"$`;&|<>()\\]|\\[^\n]""")
ANSI = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<short>[0-9A-Fa-f]{1,4})"
    r"|U(?P<long>[0-9A-Fa-f]{1,8})|(?P<plain>.))",
    re.DOTALL,
)
ANSI_PLAIN = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))
DYNAMIC = WordChar("", CharKind.DYNAMIC)
SPLIT = WordChar(" ", CharKind.DYNAMIC)  # not quoted, so bash may split it
FILE_NAME = WordChar("", CharKind.LISTED)
FILE_NAMES = WordChar(" ", CharKind.LISTED)
UNKNOWN = frozenset({CharKind.DYNAMIC, CharKind.LISTED})
LITERAL_DOLLAR = re.compile(rb"[ \t\n;|&)]|\Z")  # what follows a `$` that is plain text
CURRENT_DIRECTORY = frozenset({"$(pwd)", "`pwd`"})
ZSH_SUFFIX = re.compile(rb"\[|:[A-Za-z&]")  # `$x[3,6]` is a part of x, `$x:h` its folder
EXPANSIONS = frozenset({"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"})


@dataclass(frozen=True, slots=True)
class WordContext:
    """Where a word stands: the walker for the commands inside of it, the state for its variables."""

    walker: Walker
    state: State

    @property
    def tree(self) -> SyntaxTree:
        return self.walker.tree

    def constant(self, name: str) -> Constant | None:
        if name == "PWD":
            return self._current_directory()
        return self.state.constants.get(name)

    def _current_directory(self) -> Constant | None:
        """Return `$PWD`, where the shell is certainly in one directory of the workspace."""
        root, directories = self.walker.recorder.root, self.state.directories
        if root is None or directories is None or len(directories) != 1 or not is_inside(directories[0]):
            return None
        return Constant(f"{root}/{directories[0]}" if directories[0] else root)

    def check_expansion(self, node: Node) -> None:
        """Record what an expansion in the word runs; raises UnclearCommandError."""
        self.walker.check_expansion(node, self.state)


def expand_words(node: Node, context: WordContext) -> list[Word]:
    """Return the words that a node expands to: several where it holds braces."""
    text = context.tree.node_text(node)
    if node.type in ("word", "number") and PLAIN.fullmatch(text):
        return [Word(text, text, node.start_byte, node.end_byte)]
    if node.type in ("raw_string", "string") and not SPECIAL.search(text, 1):
        return [Word(text[1:-1], text[1:-1], node.start_byte, node.end_byte)]
    if len(text) > MAX_WORD and node.type in ("word", "concatenation"):
        raise UnclearCommandError("a word that is too long for a path", node.byte_range)
    chars = list(_read_node(node, context))
    words = expand_braces(chars) if context.walker.recorder.reading.braces else [chars]
    return [_build_word(word, node) for word in words]


def expand_word(node: Node, context: WordContext) -> Word:
    """Return the one word that bash allows here, as for the target of a redirect."""
    words = expand_words(node, context)
    if len(words) != 1:
        raise UnclearCommandError("several words where one is allowed", node.byte_range)
    return words[0]


def _build_word(chars: list[WordChar], node: Node) -> Word:
    known_count = next((index for index, char in enumerate(chars) if char.kind in UNKNOWN), len(chars))
    prefix = "".join(char.char for char in chars[:known_count])
    bare = "".join(char.char if char.kind is CharKind.BARE else "\0" for char in chars)
    # In assignments, and in arguments that look like one, bash also expands a ~ behind `=` and `:`.
    if "=~" in bare or ":~" in bare:
        raise UnclearCommandError("a ~ that bash may expand", node.byte_range)
    # `~+` is $PWD, `~-` is $OLDPWD, `~1` an entry of the directory stack.
    if re.match(r"~[-+0-9]", bare):
        raise UnclearCommandError("a ~ that stands for another directory", node.byte_range)
    has_tilde = bare.startswith("~")
    if prefix.startswith("~") and not has_tilde:
        prefix = "./" + prefix  # a quoted ~ is a plain name; programs must not resolve it as a home
    from_variable = any(char.kind is CharKind.WILD for char in chars)
    has_wildcard = from_variable or bool(re.search(r"[*?]|\[.*\]", bare))
    value = prefix if known_count == len(chars) else None
    may_split = SPLIT in chars or FILE_NAMES in chars
    is_file_name = chars in ([FILE_NAME], [FILE_NAMES])
    return Word(
        value,
        prefix,
        node.start_byte,
        node.end_byte,
        has_wildcard,
        has_tilde,
        may_split,
        is_file_name,
        from_variable,
    )


def _read_node(node: Node, context: WordContext) -> Iterator[WordChar]:
    """Yield the characters of one node; nodes that are not known are unclear."""
    if node.type in EXPANSIONS:
        yield from _read_expansion(node, context, quoted=False)
        return
    reader = READERS.get(node.type)
    if reader is None:
        raise UnclearCommandError(
            f"bash syntax that is not supported in a word: {node.type}", node.byte_range
        )
    yield from reader(node, context)


def _read_bare(node: Node, context: WordContext) -> Iterator[WordChar]:
    text = context.tree.node_text(node)
    index = 0
    while index < len(text):
        match = WORD_CHARS.match(text, index)
        if match is None:  # an unquoted blank or operator: the grammar joined two words
            raise UnclearCommandError("a word that bash would split", node.byte_range)
        token = match.group()
        yield WordChar(token[-1], CharKind.QUOTED if len(token) > 1 else CharKind.BARE)
        index = match.end()


def _read_raw(node: Node, context: WordContext) -> Iterator[WordChar]:
    return (WordChar(char, CharKind.QUOTED) for char in context.tree.node_text(node)[1:-1])


def _read_ansi(node: Node, context: WordContext) -> Iterator[WordChar]:
    raw = context.tree.node_text(node)[2:-1]
    # For dash the dollar sign is one of the text, and so is each backslash.
    is_decoded = context.walker.recorder.reading.escapes
    text = ANSI.sub(_decode_escape, raw) if is_decoded else f"${raw}"
    if "\0" in text:
        raise UnclearCommandError("a NUL or byte escape", node.byte_range)
    return (WordChar(char, CharKind.QUOTED) for char in text)


def _decode_escape(match: re.Match[str]) -> str:
    """Return one escape of `$'…'`; NUL for what bash would turn into a byte or cut short."""
    if plain := match["plain"]:
        return ANSI_PLAIN.get(plain, "\0")
    if match["octal"] or match["hex"]:
        code = int(match["octal"], 8) if match["octal"] else int(match["hex"], 16)
        return chr(code) if code < 0x80 else "\0"
    code = int(match["short"] or match["long"], 16)
    return chr(code) if code < 0xD800 else "\0"


def _read_double(node: Node, context: WordContext) -> Iterator[WordChar]:
    """Read `"…"` from its text, as the grammar drops blanks between the children."""
    end = node.end_byte - 1
    yield from read_double_quoted(node, (node.start_byte + 1, end), context)


def read_double_quoted(node: Node, span: Span, context: WordContext) -> Iterator[WordChar]:
    """Yield the characters of a node between two byte offsets under double-quote rules."""
    index, end = span
    for child in node.children:
        if child.type not in EXPANSIONS:
            continue
        start = _find_dollar(child, context.tree)
        yield from _read_escaped(context.tree.slice(index, start), node)
        yield from _read_expansion(child, context, quoted=True)
        index = child.end_byte
    yield from _read_escaped(context.tree.slice(index, end), node)


def _find_dollar(node: Node, tree: SyntaxTree) -> int:
    """Return where an expansion starts: the grammar may count the blanks in front of it as its own."""
    match = re.compile(rb"[$`]").search(tree.data, node.start_byte, node.end_byte)
    return match.start() if match else node.start_byte


def _read_escaped(text: str, node: Node) -> Iterator[WordChar]:
    index = 0
    while index < len(text):
        char = text[index]
        if char == "\\" and text[index + 1 : index + 2] in ('"', "\\", "$", "`", "\n"):
            char = text[index + 1].replace("\n", "")
            index += 1
        elif char == "`" or (char == "$" and re.match(r"[\w({\[@*#?$!-]", text[index + 1 : index + 2])):
            raise UnclearCommandError("an expansion that is not understood", node.byte_range)
        if char:
            yield WordChar(char, CharKind.QUOTED)
        index += 1


def _read_expansion(node: Node, context: WordContext, *, quoted: bool) -> Iterator[WordChar]:
    context.check_expansion(node)
    text = context.tree.node_text(node).strip()
    new_name = find_new_name(text)
    if new_name is not None:
        yield from (WordChar(char, CharKind.QUOTED) for char in new_name[0])
        return
    name = "PWD" if text in CURRENT_DIRECTORY else text.lstrip("$").strip("{}")
    is_variable = name == "PWD" or node.type in ("simple_expansion", "expansion")
    constant = context.constant(name) if is_variable else None
    if (constant is not None and constant.is_file_name) or (not quoted and is_name_list(node, context.tree)):
        yield FILE_NAME if quoted else FILE_NAMES
        return
    # Without quotes bash splits the value at blanks and matches its wildcards: only plain text stays itself.
    if constant is None or not (quoted or PLAIN_VALUE.fullmatch(constant.text or " ")):
        # `"$@"` and `"${a[@]}"` are several words; a quoted `$(…)` is one, whatever stands in it.
        is_single = (quoted and not (is_variable and "@" in name)) or is_number(node, name, context.walker)
        yield DYNAMIC if is_single else SPLIT
        return
    has_suffix = node.type == "simple_expansion" and ZSH_SUFFIX.match(context.tree.data, node.end_byte)
    if has_suffix and ZSH in context.walker.recorder.shells:
        raise UnclearCommandError("zsh takes a part of the variable here", node.byte_range)
    for char in constant.text:
        has_wildcard = constant.has_wildcard and char in "*?["
        yield WordChar(char, CharKind.WILD if has_wildcard else CharKind.QUOTED)


def _read_braces(node: Node, context: WordContext) -> Iterator[WordChar]:
    return (WordChar(char, CharKind.BARE) for char in context.tree.node_text(node))


def _read_concatenation(node: Node, context: WordContext) -> Iterator[WordChar]:
    index = node.start_byte
    for child in node.children:
        if child.start_byte != index:
            raise UnclearCommandError("a word that bash would split", node.byte_range)
        index = child.end_byte
        if child.type == "$" and index == node.end_byte and LITERAL_DOLLAR.match(context.tree.data, index):
            yield WordChar("$", CharKind.QUOTED)
        else:
            yield from _read_node(child, context)


def _read_process(node: Node, context: WordContext) -> Iterator[WordChar]:
    context.check_expansion(node)
    return (WordChar(char, CharKind.QUOTED) for char in PIPE_PATH)


READERS: dict[str, Callable[[Node, WordContext], Iterator[WordChar]]] = {
    "word": _read_bare,
    "number": _read_bare,
    "raw_string": _read_raw,
    "ansi_c_string": _read_ansi,
    "string": _read_double,
    "concatenation": _read_concatenation,
    "brace_expression": _read_braces,
    "process_substitution": _read_process,
}
