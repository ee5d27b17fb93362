"""A program of the table: what a call of it reads and writes, by the roles of its options and operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from controlplane.policy.shell.options import ParsedOptions
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.mkdir import make_directory
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.table.row import (
    ANY_ARGUMENTS,
    DELETE,
    FOLDER,
    MODE,
    OPTION_SAFE,
    PATHSPEC,
    READ,
    READS_CWD,
    WORD,
    WRITE,
    TableRow,
)
from controlplane.policy.shell.word import Word

Handler = Callable[[ProgramCall, ParsedOptions], None]


@dataclass(frozen=True, slots=True)
class Program:
    """A program whose options and operands follow the usual rules.

    `handler` takes the place of the roles of the operands. `verdict` is shown on the approval page.
    """

    row: TableRow
    handler: Handler | None = None
    verdict: str = "reads"

    @property
    def is_option_safe(self) -> bool:
        return OPTION_SAFE in self.row.marks

    def record_effects(self, call: ProgramCall) -> None:
        if ANY_ARGUMENTS not in self.row.marks:
            record_row(call, self.row, self.handler)


@dataclass(frozen=True, slots=True)
class CustomProgram:
    """A program whose arguments follow rules of their own."""

    record_effects: Callable[[ProgramCall], None]
    verdict: str = "reads"
    is_option_safe: bool = False


KnownProgram = Program | CustomProgram


def record_row(call: ProgramCall, row: TableRow, handler: Handler | None = None) -> None:
    """Record what a call does by the row of its program; raises UnclearCommandError."""
    _check_first_letters(call, row)
    parsed = call.parse_options(row)
    record_option_files(call, parsed)
    check_presence(parsed)
    (handler or record_operands)(call, parsed)


def _check_first_letters(call: ProgramCall, row: TableRow) -> None:
    """Require that no argument begins, or may turn out to begin, with a letter that the row forbids."""
    for word in call.args if row.never_begins else ():
        if word.value != "" and word.prefix[:1] in ("", "*", "?", "[", *row.never_begins):
            raise UnclearCommandError(row.why, word.span)


def check_presence(parsed: ParsedOptions) -> None:
    """Require an option that keeps the command harmless, and none that makes it anything else."""
    row = parsed.row
    if (row.needs and not parsed.has(*row.needs)) or parsed.has(*row.never):
        raise UnclearCommandError(row.why)


def record_option_files(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Record the files that are values of options."""
    for name, value in parsed.options:
        if value is not None:
            _record(call, value, parsed.row.options[name], parsed)


def record_operands(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Record the files among the operands; an option may stand for the first of them (`grep -e`)."""
    row = parsed.row
    roles = row.operands[1:] if parsed.has(*row.first) else row.operands
    record_words(call, parsed.operands, roles, parsed)
    if READS_CWD in row.marks and not parsed.operands:
        call.read_cwd()


def record_words(
    call: ProgramCall, words: Sequence[Word], roles: Sequence[str], parsed: ParsedOptions
) -> None:
    """Record words by these roles; raises UnclearCommandError where the role of one is not certain."""
    for at, word in enumerate(words):
        if at >= len(roles) and not (roles and parsed.row.repeats):
            raise UnclearCommandError("more arguments than are understood", word.span)
        if word.may_split and len(set(roles[at:])) > 1:
            raise UnclearCommandError("its value could be several arguments", word.span)
        _record(call, word, roles[min(at, len(roles) - 1)], parsed)


def _record(call: ProgramCall, word: Word, role: str, parsed: ParsedOptions) -> None:
    row = parsed.row
    if role in {READ, PATHSPEC}:
        call.read(word)
    elif role == WRITE:
        call.write(word)
    elif role == FOLDER:
        make_directory(call, word, parents=parsed.has(*row.parents))
    elif role in {DELETE, MODE}:
        call.write_existing(word, role, recursive=parsed.has(*row.recursive))
    elif role == WORD and (word.has_wildcard or word.may_split):
        raise UnclearCommandError("its value could be several arguments", word.span)
