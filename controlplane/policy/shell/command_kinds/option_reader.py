"""Read the arguments of a command by its row: which options it has, what they write, what is left."""

from __future__ import annotations

import re

from controlplane.policy.shell.command_kinds.words import is_inner_path
from controlplane.policy.shell.names import to_names
from controlplane.policy.shell.table.row import (
    ANY_WORDS,
    ATTACHED,
    FLAG,
    OUTPUT,
    PATH,
    READ,
    TEXT,
    WRITING,
    TableRow,
)
from controlplane.policy.shell.word import Word

# Outputs outside of the workspace that the rules for paths decide about.
TEMPORARY = re.compile(r"/dev/null|/tmp/(?!.*\.\.).+")
# With one of these a formatter only says what it would do.
CHECKING = to_names("--check --check-only --diff --dry-run --check-formatted --list-different")


class OptionReader:
    """Walks over the words once; `problem` says why the row does not cover them."""

    def __init__(self, row: TableRow, words: list[Word], root: str) -> None:
        self.row, self.rest, self.root = row, words, root
        self.forms: list[str] = []
        self.inputs: list[Word] = []
        self.outputs: list[Word] = []
        self.problem = ""
        self.writes_operands = OUTPUT in row.operands

    def read_all(self) -> list[Word]:
        """Return the operands."""
        operands: list[Word] = []
        only_operands = False
        while self.rest and not self.problem:
            word = self.rest.pop(0)
            value = word.value
            if value is None and self._is_text_option(word):
                continue
            if value is None and ANY_WORDS in self.row.marks:
                operands.append(word)
            elif value is None or word.has_tilde or word.may_split:
                self.problem = f"{self.row.name} with an argument that is known only when it runs"
            elif only_operands or not value.startswith("-") or value == "-":
                operands.append(word)
            elif value == "--":
                only_operands = True
            else:
                self._read_option(word, value)
        return operands

    def _is_text_option(self, word: Word) -> bool:
        """Return whether a word is `--message=…` with a text that is one word, whatever it will be."""
        name, equals, _ = word.prefix.partition("=")
        return bool(equals) and self.row.options.get(name) == TEXT and not word.may_split

    def _read_option(self, word: Word, value: str) -> None:
        name, equals, attached = value.partition("=")
        row = self.row
        if name in row.forms:
            self.forms.append(name)
            return
        role = row.options.get(value if value in row.options else name)
        if role is None and not value.startswith("--"):
            if set(value[1:]) <= row.joined:
                return
            if value[:2] in row.forms and set(value[2:]) <= row.joined:
                self.forms.append(value[:2])
                return
            last = row.options.get(f"-{value[-1:]}", FLAG)
            if last == TEXT and set(value[1:-1]) <= row.joined:  # `-pt NAME`
                role, attached, equals = last, "", ""
            else:
                role, attached, equals = row.options.get(value[:2]), value[2:], "="
        if role is None or (role in {FLAG, WRITING} and equals and value not in row.options):
            self.problem = f"{row.name} with {name[:40]} is not known"
        elif role in {FLAG, ATTACHED, WRITING}:
            self.writes_operands |= role == WRITING
            if OUTPUT in self.row.operands and name in CHECKING:
                self.writes_operands = False
        else:
            self._read_value(role, word.tail(len(value) - len(attached)) if equals else None, name)

    def _read_value(self, role: str, attached: Word | None, name: str) -> None:
        """Take the value of an option: any text, a path of the workspace, or a file that is written."""
        argument = attached if attached is not None else (self.rest.pop(0) if self.rest else None)
        if argument is not None and role == TEXT and ANY_WORDS in self.row.marks:
            return
        if argument is None or argument.may_split:
            self.problem = f"{self.row.name} with {name[:40]} whose value is known only when it runs"
        elif role == TEXT:
            return
        elif role == READ:
            self.inputs.append(argument)
        elif role == OUTPUT and TEMPORARY.fullmatch(argument.value or ""):
            self.outputs.append(argument)
        elif argument.has_tilde or not is_inner_path(argument.value, self.root):
            self.problem = f"{self.row.name} with {name[:40]} that names a path outside of the workspace"
        elif role == OUTPUT:
            self.outputs.append(argument)
        else:
            assert role == PATH
