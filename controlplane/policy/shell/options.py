"""Parse command line options as GNU getopt does, against an allowlist.

An `OptionSpec` names every option of a program that is known to be harmless, or whose value is a file. Any
other option makes the command unclear: an allowlist stays safe when a program learns new options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from controlplane.policy.shell.result import Span, UnclearCommandError
from controlplane.policy.shell.word import Word

READ = "r"
WRITE = "w"
VALUE = "-"
FLAG = ""
OPTIONAL = "?"


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """The options of a program, and the role of each operand.

    `options` maps `-x` or `--name` to the role of its value: FLAG (it has none), OPTIONAL (attached only),
    VALUE (no file), READ or WRITE (a file). `operands` holds a role for each operand; a `*` behind the last
    one repeats it. `option_safe`: no option of the program writes or runs anything, so an unknown word
    does no harm as an option. `reads_cwd`: without operands it reads the current directory.
    `takes_number`: it knows `-20`. `stops_at_operand`: options end at the first operand, as for `env`.
    """

    options: Mapping[str, str]
    operands: str = "r*"
    option_safe: bool = False
    reads_cwd: bool = False
    takes_number: bool = False
    stops_at_operand: bool = False


@dataclass(frozen=True, slots=True)
class ParsedOptions:
    """Options with their values, and operands; `after_double_dash` holds those behind `--`."""

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


def parse_options(args: Sequence[Word], spec: OptionSpec) -> ParsedOptions:
    """Sort arguments into options and operands; raises UnclearCommandError for options that are not known."""
    options: list[tuple[str, Word | None]] = []
    operands: list[Word] = []
    remaining = iter(args)
    for word in remaining:
        if word.value == "--" and not word.has_wildcard:
            after = tuple(remaining)
            return ParsedOptions(tuple(options), (*operands, *after), after)
        if not _is_option(word, spec):
            operands.append(word)
            if spec.stops_at_operand:
                operands.extend(remaining)
        elif word.prefix.startswith("--"):
            options.append(_parse_long(word, remaining, spec))
        else:
            options.extend(_parse_short(word, remaining, spec))
    return ParsedOptions(tuple(options), tuple(operands))


def _is_option(word: Word, spec: OptionSpec) -> bool:
    if word.prefix.startswith("-"):
        return word.value != "-"
    # A word that is not known, or a wildcard at its start, may become `-o` or a file named `-o`.
    uncertain = (word.value is None and not word.prefix) or (word.has_wildcard and word.prefix[0] in "*?[")
    if uncertain and not spec.option_safe:
        raise UnclearCommandError("its value could be any path or option", word.span)
    return False


def _parse_long(word: Word, remaining: Iterator[Word], spec: OptionSpec) -> tuple[str, Word | None]:
    name, equals, _ = word.prefix.partition("=")
    role = spec.options.get(name)
    location = word.span
    if role is None or (word.value is None and not equals):
        raise UnclearCommandError(f"the option {name} is not known to be safe", location)
    if equals:
        if role == FLAG:
            raise UnclearCommandError(f"the option {name} takes no value", location)
        return name, _check_attached(word.tail(len(name) + 1), role, spec)
    return name, None if role in (FLAG, OPTIONAL) else _require_single(_take_value(remaining, location))


def _parse_short(
    word: Word, remaining: Iterator[Word], spec: OptionSpec
) -> Iterator[tuple[str, Word | None]]:
    location = word.span
    if spec.takes_number and word.value is not None and word.value[1:].isdecimal():
        return
    for index in range(1, len(word.prefix)):
        name = f"-{word.prefix[index]}"
        role = spec.options.get(name)
        if role is None:
            raise UnclearCommandError(f"the option {name} is not known to be safe", location)
        if role == FLAG:
            yield name, None
            continue
        attached = word.tail(index + 1)
        is_attached = attached.value != ""
        if role == OPTIONAL:
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


def _check_attached(word: Word, role: str, spec: OptionSpec) -> Word:
    """`--include=*.ts`: each file that the pattern matches is this option again, so it does no harm."""
    return word if spec.option_safe and role == VALUE and not word.may_split else _require_single(word)


def _require_single(word: Word) -> Word:
    """Require that a value stays one word: the program would take a second one for an operand."""
    if word.may_split or word.has_wildcard:
        raise UnclearCommandError("the value of an option could be several words", word.span)
    return word
