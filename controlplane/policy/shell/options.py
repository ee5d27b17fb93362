"""Parse command line options as GNU getopt does, against an allowlist.

The row of a program names every option that is known to be harmless, or whose value is a file. Any other
option makes the command unclear: an allowlist stays safe when a program learns new options.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from controlplane.policy.shell.result import Span, UnclearCommandError
from controlplane.policy.shell.table.row import (
    ATTACHED,
    FLAG,
    OPTION_SAFE,
    STOPS_AT_OPERAND,
    TAKES_NUMBER,
    TEXT,
    TableRow,
)
from controlplane.policy.shell.word import Word


@dataclass(frozen=True, slots=True)
class ParsedOptions:
    """Options with their values, and operands; `after_double_dash` holds those behind `--`."""

    row: TableRow
    options: tuple[tuple[str, Word | None], ...]
    operands: tuple[Word, ...]
    after_double_dash: tuple[Word, ...] | None = None

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.options)

    def values(self, *names: str) -> list[Word]:
        return [value for name, value in self.options if name in names and value is not None]


def parse_options(args: Sequence[Word], row: TableRow) -> ParsedOptions:
    """Sort arguments into options and operands; raises UnclearCommandError for options that are not known."""
    options: list[tuple[str, Word | None]] = []
    operands: list[Word] = []
    remaining = iter(args)
    for word in remaining:
        if word.value == "--" and not word.has_wildcard:
            after = tuple(remaining)
            return ParsedOptions(row, tuple(options), (*operands, *after), after)
        if not _is_option(word, row):
            operands.append(word)
            if STOPS_AT_OPERAND in row.marks:
                operands.extend(remaining)
        elif word.prefix.startswith("--"):
            options.append(_parse_long(word, remaining, row))
        else:
            options.extend(_parse_short(word, remaining, row))
    return ParsedOptions(row, tuple(options), tuple(operands))


def _is_option(word: Word, row: TableRow) -> bool:
    if word.prefix.startswith("-"):
        return word.value != "-"
    # A word that is not known, or a wildcard at its start, may become `-o` or a file named `-o`.
    uncertain = (word.value is None and not word.prefix) or (word.has_wildcard and word.prefix[0] in "*?[")
    if uncertain and OPTION_SAFE not in row.marks:
        raise UnclearCommandError("its value could be any path or option", word.span)
    return False


def _parse_long(word: Word, remaining: Iterator[Word], row: TableRow) -> tuple[str, Word | None]:
    name, equals, _ = word.prefix.partition("=")
    role = row.options.get(name)
    location = word.span
    if role is None or (word.value is None and not equals):
        raise UnclearCommandError(f"the option {name} is not known to be safe", location)
    if equals:
        if role == FLAG:
            raise UnclearCommandError(f"the option {name} takes no value", location)
        return name, _check_attached(word.tail(len(name) + 1), role, row)
    return name, None if role in (FLAG, ATTACHED) else _require_single(_take_value(remaining, location))


def _parse_short(word: Word, remaining: Iterator[Word], row: TableRow) -> Iterator[tuple[str, Word | None]]:
    location = word.span
    if TAKES_NUMBER in row.marks and word.value is not None and word.value[1:].isdecimal():
        return
    for index in range(1, len(word.prefix)):
        name = f"-{word.prefix[index]}"
        role = row.options.get(name)
        if role is None:
            raise UnclearCommandError(f"the option {name} is not known to be safe", location)
        if role == FLAG:
            yield name, None
            continue
        attached = word.tail(index + 1)
        is_attached = attached.value != ""
        if role == ATTACHED:
            yield name, _require_single(attached) if is_attached else None
        else:
            yield name, _require_single(attached if is_attached else _take_value(remaining, location))
        return
    if word.value is None:
        raise UnclearCommandError("an option that is known only when the command runs", location)


def _take_value(remaining: Iterator[Word], location: Span) -> Word:
    word = next(remaining, None)
    if word is None:
        raise UnclearCommandError("an option without its value", location)
    return word


def _check_attached(word: Word, role: str, row: TableRow) -> Word:
    """`--include=*.ts`: each file that the pattern matches is this option again, so it does no harm."""
    return word if OPTION_SAFE in row.marks and role == TEXT and not word.may_split else _require_single(word)


def _require_single(word: Word) -> Word:
    """Require that a value stays one word: the program would take a second one for an operand."""
    if word.may_split or word.has_wildcard:
        raise UnclearCommandError("the value of an option could be several words", word.span)
    return word
