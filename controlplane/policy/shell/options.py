"""Command line options, vetted one by one.

A `Spec` names every option of a program that is known to be harmless, or whose value is a file. An
option that it does not name makes the command unclear: safe is a list, never what a bad list leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

READ = "r"
WRITE = "w"
VALUE = "-"
FLAG = ""
OPTIONAL = "?"


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """`options` maps `-x` or `--name` to what its value is: FLAG (none), OPTIONAL (attached only),
    NOTHING (a value that is no file), READ, WRITE. `operands` is a role for each operand, the last
    one for all the rest when `*` follows. `open` programs have no option that writes or runs
    anything, so words that are not known cannot do harm as options. `here`: reads the current folder
    when no file is named. `digits`: takes `-20`. `stops`: options end at the first operand."""

    options: Mapping[str, str]
    operands: str = "r*"
    option_safe: bool = False
    reads_cwd: bool = False
    takes_number: bool = False
    stops_at_operand: bool = False


@dataclass(frozen=True, slots=True)
class ParsedOptions:
    """`after_dashes`: the operands that stood behind `--`."""

    options: tuple[tuple[str, Word | None], ...]
    operands: tuple[Word, ...]
    after_double_dash: tuple[Word, ...] | None = None

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.options)

    def values(self, *names: str) -> list[Word]:
        return [value for name, value in self.options if name in names and value is not None]


def build_spec(text: str, operands: str = "r*", *, marks: str = "") -> OptionSpec:
    """Build an `OptionSpec` from its notation.

    `-abc` are flags, `-n=` and `--name=` take a value, `-f=r` and `-o=w` a file that is read or written,
    `-i?` and `--color?` an optional value. `marks` names fields that are true, parted by blanks.
    """
    options = {"--help": FLAG, "--version": FLAG}
    for token in text.split():
        options.update(_parse_token(token))
    flags = dict.fromkeys(marks.split(), True)
    return OptionSpec(options, operands, **flags)


def _parse_token(token: str) -> dict[str, str]:
    if token.endswith("?"):
        return {token[:-1]: OPTIONAL}
    name, equals, role = token.partition("=")
    if equals:
        return {name: role or VALUE}
    if token.startswith("--"):
        return {token: FLAG}
    return {f"-{letter}": FLAG for letter in token[1:]}


def parse_options(args: Sequence[Word], known: OptionSpec) -> ParsedOptions:
    """Sort arguments into options and operands as GNU getopt does; raises UnclearError."""
    options: list[tuple[str, Word | None]] = []
    operands: list[Word] = []
    rest = iter(args)
    for word in rest:
        if word.value == "--" and not word.has_wildcard:
            after = tuple(rest)
            return ParsedOptions(tuple(options), (*operands, *after), after)
        if not _looks_like_option(word, known):
            operands.append(word)
            if known.stops_at_operand:
                operands.extend(rest)
        elif word.prefix.startswith("--"):
            options.append(_long(word, rest, known))
        else:
            options.extend(_short(word, rest, known))
    return ParsedOptions(tuple(options), tuple(operands))


def _looks_like_option(word: Word, known: OptionSpec) -> bool:
    if word.prefix.startswith("-"):
        return word.value != "-"
    uncertain = (word.value is None and not word.prefix) or (word.has_wildcard and word.prefix[0] in "*?[")
    if uncertain and not known.option_safe:
        raise UnclearCommandError("may turn out to be an option", word.span)
    return False


def _long(word: Word, rest: Iterator[Word], known: OptionSpec) -> tuple[str, Word | None]:
    name, equals, _ = word.prefix.partition("=")
    role = known.options.get(name)
    span = word.span
    if role is None or (word.value is None and not equals):
        raise UnclearCommandError(f"{name} is not a known option", span)
    if equals:
        if role == FLAG:
            raise UnclearCommandError(f"{name} takes no value", span)
        return name, _attached(word.tail(len(name) + 1), role, known)
    return name, None if role in (FLAG, OPTIONAL) else _certain(_next(rest, span))


def _short(word: Word, rest: Iterator[Word], known: OptionSpec) -> Iterator[tuple[str, Word | None]]:
    span = word.span
    if known.takes_number and word.value is not None and word.value[1:].isdecimal():
        return
    for at in range(1, len(word.prefix)):
        name = f"-{word.prefix[at]}"
        role = known.options.get(name)
        if role is None:
            raise UnclearCommandError(f"{name} is not a known option", span)
        if role == FLAG:
            yield name, None
            continue
        attached = word.tail(at + 1)
        is_attached = attached.value != ""
        if role == OPTIONAL:
            yield name, _certain(attached) if is_attached else None
        else:
            yield name, _certain(attached if is_attached else _next(rest, span))
        return
    if word.value is None:
        raise UnclearCommandError("an option that is not known", span)


def _next(rest: Iterator[Word], span: tuple[int, int]) -> Word:
    word = next(rest, None)
    if word is None:
        raise UnclearCommandError("an option without its value", span)
    return word


def _attached(word: Word, role: str, known: OptionSpec) -> Word:
    """`--include=*.ts`: whatever the pattern becomes is this very option again, and harmless."""
    return word if known.option_safe and role == VALUE and not word.may_split else _certain(word)


def _certain(word: Word) -> Word:
    """A value that is one word for sure: more of them would be taken for operands."""
    if word.may_split or word.has_wildcard:
        raise UnclearCommandError("an option's value may become several words", word.span)
    return word
