"""One row of the table, and the notation of its options and operands.

    grep = { operands = "text read*", options = "-+ivn -m= -f=read --color?" }

An option is a name and the role of its value: `-v` and `--all` are flags, `-m=` takes any text, `-f=read` a
file that is read, `--color?` may have a value attached, `--fix^` makes the operands files that are written,
`--output='none'` is known with this value alone. `-+ivn` are flags of one letter that may be joined; `!-f`
makes a kind of its own (`git push -f`). The operands are a role each; `*` repeats the last one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from controlplane.policy.effects import Effect

FLAG, TEXT, READ, WRITE, ATTACHED = "flag", "text", "read", "write", "attached"
DELETE, MODE, FOLDER = "delete", "mode", "folder"  # what happens to a file, or a folder that is made
WORD = "word"  # text that must be exactly one word: the mode of chmod
COMMAND = "command"  # that a wrapper runs: words behind it are no options
PATH = "path"  # inside of the workspace, and not recorded
OUTPUT = "output"  # inside of the workspace or a temporary file, and written
WRITING = "writing"  # a flag: the operands are written
PATHSPEC, REMOTE, ADDRESS = "pathspec", "remote", "address"  # of git; a pathspec may be a revision
METHOD, DATA, FORM, RAW = "method", "data", "form", "raw"  # of a request
# The roles of options and of operands that the readers of a section know: another would be left out silently.
COMMON = frozenset({FLAG, TEXT, ATTACHED, READ})
FILE_ROLES = COMMON | {WRITE}, frozenset({TEXT, WORD, READ, PATHSPEC, WRITE, DELETE, MODE, FOLDER, COMMAND})
KIND_ROLES = COMMON | {PATH, OUTPUT, WRITING}, frozenset({TEXT, READ, PATH, OUTPUT, REMOTE, ADDRESS})
OTHER_ROLES = COMMON | {WRITE, PATH, METHOD, DATA, FORM, RAW}, FILE_ROLES[1]
ROLES = {"files": FILE_ROLES, "cmdlets": FILE_ROLES, "wrappers": FILE_ROLES, "kinds": KIND_ROLES}
# No option of the program writes or runs anything, so a word that is not known does no harm as an option.
OPTION_SAFE = "option_safe"
READS_CWD = "reads_cwd"  # without operands it reads the current directory
TAKES_NUMBER = "takes_number"  # it knows `-20`
STOPS_AT_OPERAND = "stops_at_operand"  # options end at the first operand, as they do before a command
PASSES = "passes_names"  # with options of `passes` it prints lines of its input as they are
ANY_ARGUMENTS = "any_arguments"  # whatever they are, it reads and writes no file
ANY_WORDS = "any_words"  # it may get words that are known only when it runs: no option of it does more harm
MARKS = frozenset({PASSES, ANY_ARGUMENTS, ANY_WORDS, OPTION_SAFE, READS_CWD, TAKES_NUMBER, STOPS_AT_OPERAND})
# Fields that name options of the row.
OPTION_NAMES = (
    *("first", "recursive", "parents", "needs", "never", "operands_with"),
    *("names", "names_but", "names_with", "passes", "nul"),
)
TOKEN = re.compile(r"(?P<name>[-+][^=?^'\s]*)(?:(?P<sign>[?^])|='(?P<literal>[^']*)'|=(?P<role>[a-z]*))?")
SIGNS = {"?": ATTACHED, "^": WRITING}


class TableError(Exception):
    """The table holds something that its notation does not have."""


@dataclass(frozen=True, slots=True)
class Options:
    """The role of each option; letters of flags that may be joined; options that make a kind of their own."""

    roles: Mapping[str, str] = field(default_factory=dict)
    joined: frozenset[str] = frozenset()
    forms: frozenset[str] = frozenset()

    def extend(self, other: Options) -> Options:
        """Return these options and others, whose roles take the place of these."""
        roles = {**self.roles, **other.roles}
        return Options(roles, self.joined | other.joined, self.forms | other.forms)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A command: the words that name it, its options, and the role of each operand.

    A kind has an `effect` and says `why`. A row of files is judged by the files that it names; there `why` is
    the reason against one of the options `never`, against a call without one that it `needs`, and against an
    argument that begins with a letter of `never_begins`. With an option of `first` there is no first operand.
    `actions` are words that the first operand may be, `operands_with` options without which there is none.
    Those of `recursive` and `parents` take along what lies below and above an operand.

    It prints nothing but file names with one of the options `names_with`, with no others than `names`, and
    with none of `names_but`; with `nul` these end in a NUL.
    """

    name: str
    options: Mapping[str, str]
    operands: tuple[str, ...] = ()
    repeats: bool = False  # the last operand
    marks: frozenset[str] = frozenset()
    joined: frozenset[str] = frozenset()
    forms: frozenset[str] = frozenset()
    effect: Effect = Effect.READS
    why: str = ""
    first: frozenset[str] = frozenset()
    recursive: frozenset[str] = frozenset()
    parents: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    never_begins: str = ""
    actions: frozenset[str] = frozenset()
    operands_with: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    names_but: frozenset[str] = frozenset()
    names_with: frozenset[str] = frozenset()
    passes: frozenset[str] = frozenset()
    nul: frozenset[str] = frozenset()

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.name.split())


def parse_options(text: str, sets: Mapping[str, Options]) -> Options:
    """Parse options; `@name` stands for a set of them. Raises TableError."""
    base, roles, joined, forms = Options(), {}, "", []
    for token in text.split():
        if token.startswith("@"):
            if token[1:] not in sets:
                raise TableError(f"{token} is not among the sets of options: {', '.join(sets) or 'none'}")
            base = base.extend(sets[token[1:]])
        elif token.startswith("-+"):
            joined += token[2:]
        elif token.startswith("!"):
            forms.append(token[1:])
        else:
            name, role = _parse_option(token)
            if name in roles:
                raise TableError(f"the option {name} stands there twice")
            roles[name] = role
    flags = {f"-{letter}": FLAG for letter in joined}
    return base.extend(Options({**flags, **roles}, frozenset(joined), frozenset(forms)))


def _parse_option(token: str) -> tuple[str, str]:
    match = TOKEN.fullmatch(token)
    if match is None:
        raise TableError(f"{token!r} is no option: write -x, --name, --name=role, --name? or --name^")
    name, sign, literal, role = match.group("name", "sign", "literal", "role")
    if literal is not None:
        return f"{name}={literal}", FLAG
    if role is None:
        return name, SIGNS.get(sign, FLAG)
    return name, role or TEXT


def parse_operands(text: str) -> tuple[tuple[str, ...], bool]:
    """Return the role of each operand, and whether the last one repeats."""
    return tuple(text.rstrip("*").split()), text.endswith("*")
