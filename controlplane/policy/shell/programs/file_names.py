"""Programs that print only names of files that they have looked through, or that filter such names.

Their rows say with which options they do: `names`, `names_but` and `names_with`, `passes` and `nul`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from controlplane.policy.shell.options import ParsedOptions, parse_options
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import StreamContent
from controlplane.policy.shell.table.load import load_table
from controlplane.policy.shell.table.row import ATTACHED, PASSES, TEXT
from controlplane.policy.shell.word import Word

PARENT_SEGMENT = re.compile(r"(?:^|/)\.\.(?:/|$)")
# Actions of find that print other text, or run a program that does.
OTHER_OUTPUT = frozenset({"-printf", "-fprintf", "-ls", "-fls", "-exec", "-execdir", "-ok", "-okdir"})
TRANSLATIONS = ([r"\n", r"\0"], [r"\n", " "])  # of `tr`, between names
XARGS_OPTIONS = re.compile(r"-[0rt]+|-[nPL]\d*|\d+")
NO_PAGER = ("--no-pager", "-P")
ANYTHING, BY_LINE, BY_NUL = StreamContent.ANYTHING, StreamContent.NAMES_BY_LINE, StreamContent.NAMES_BY_NUL


def classify_output(words: Sequence[str], stdin: StreamContent) -> StreamContent:
    """Return what a program prints, given its words without quotes and what it reads on standard input."""
    name, *args = words
    if any(PARENT_SEGMENT.search(arg) for arg in args):
        return ANYTHING  # from another directory such names lead elsewhere
    if name == "xargs" and stdin is not ANYTHING:
        while args and XARGS_OPTIONS.fullmatch(args[0]):
            args.pop(0)
        return classify_output(args, ANYTHING) if args else ANYTHING
    if name == "find":
        content = BY_LINE if OTHER_OUTPUT.isdisjoint(args) else ANYTHING
        ends_in_nul = not {"-print0", "-fprint0"}.isdisjoint(args)
    elif name == "tr":
        content = stdin if args in TRANSLATIONS else ANYTHING
        ends_in_nul = r"\0" in args
    else:
        content, ends_in_nul = _classify_by_row(name, args, stdin)
    return BY_NUL if ends_in_nul and content is BY_LINE else content


def _classify_by_row(name: str, args: list[str], stdin: StreamContent) -> tuple[StreamContent, bool]:
    if name == "git":
        first, *args = [arg for arg in args if arg not in NO_PAGER] or [""]
        name = f"git {first}"
    row = load_table().files.get(name)
    if row is None:
        return ANYTHING, False
    try:
        parsed = parse_options([Word(arg, arg, 0, 0) for arg in args], row)
    except UnclearCommandError:
        return ANYTHING, False
    content = BY_LINE if _prints_names(parsed) else stdin if _passes_names(parsed) else ANYTHING
    return content, parsed.has(*row.nul)


def _prints_names(parsed: ParsedOptions) -> bool:
    """Return whether the row says that nothing but names is printed with these options."""
    row = parsed.row
    if not (row.names or row.names_but or row.names_with) or parsed.has(*row.names_but):
        return False
    # `--relative=folder`: the value may make other names of them.
    if row.names and any(
        name not in row.names or (value is not None and row.options[name] == ATTACHED)
        for name, value in parsed.options
    ):
        return False
    return not row.names_with or parsed.has(*row.names_with)


def _passes_names(parsed: ParsedOptions) -> bool:
    """Return whether lines of standard input are printed as they are: of a file it would print the text."""
    row = parsed.row
    texts = sum(role == TEXT for role in row.operands)
    reads_input = len(parsed.operands) >= texts and all(word.value == "-" for word in parsed.operands[texts:])
    return PASSES in row.marks and reads_input and all(name in row.passes for name, _ in parsed.options)
