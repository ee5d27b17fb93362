"""The notation of the table: one line a command, with the options and operands that its kind covers.

    go test | -+v -race -run= -timeout= -o: !-exec | p*

The first field is the kind: the program and its subcommand. Options: `-+abc` are flags that may be joined,
`-race` is a flag, `-run=` takes any text, `-C:` a path inside of the workspace, `-o>` one that is written,
`-P<` a file that is read anywhere, `-j?` may have a value attached, `--fix^` makes the operands files that
are written, `!-f` makes a kind of its own (`git push -f`). The last field has a role for each operand: `-`
any text, `p` a path inside of the workspace, `w` one that is written unless an option only checks, `r` the
name of a remote, `a` the address of one, `f` a file that is read anywhere; `*` repeats the last one, and
nothing stands for no operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from controlplane.policy.effects import Effect

TEXT, PATH, INPUT, OUTPUT, ATTACHED, WRITING, FLAG = "=", ":", "<", ">", "?", "^", ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One command.

    `joined` are letters of flags that may stand behind one dash; `forms` make a kind of their own.
    """

    kind: str
    effect: Effect
    why: str
    options: Mapping[str, str]
    joined: frozenset[str]
    forms: frozenset[str]
    operands: str

    @property
    def takes_any_word(self) -> bool:
        """Whether it may be given words that are known only when it runs: no option of it does more harm."""
        return self.kind == "kill" or (self.effect is Effect.FETCHES and self.words[0] in {"gh", "glab"})

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.kind.split())


def parse_rows(effect: Effect, reason: str, text: str, common: str = "") -> Iterator[TableRow]:
    """Yield the rows of a table. `common` are options that every row of it has."""
    for line in text.strip().splitlines():
        kind, options, operands = (field.strip() for field in f"{line}||".split("|")[:3])
        tokens = f"{common} {options}".split()
        yield TableRow(
            kind,
            effect,
            reason,
            _parse_options(token for token in tokens if not token.startswith(("-+", "!"))),
            frozenset(letter for token in tokens if token.startswith("-+") for letter in token[2:]),
            frozenset(token[1:] for token in tokens if token.startswith("!")),
            operands,
        )


def _parse_options(tokens: Iterable[str]) -> dict[str, str]:
    """Return the role of each option; one that stands there with and without a value may have one."""
    options: dict[str, str] = {}
    for token in tokens:
        name, role = _parse_option(token)
        options[name] = ATTACHED if options.get(name, role) != role else role
    return options


def _parse_option(token: str) -> tuple[str, str]:
    return (
        (token[:-1], token[-1])
        if token[-1] in {TEXT, PATH, INPUT, OUTPUT, ATTACHED, WRITING}
        else (token, FLAG)
    )
