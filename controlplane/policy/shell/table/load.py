"""Load the table from its files, once, when the first command is analysed.

A file holds any of these sections, each with a row a command:

- `[files]`: commands that are known down to the files that they touch; `[cmdlets]`: the same for PowerShell.
- `[[kinds]]`: commands that are known by their kind, a group for each effect; `programs` are those that have
  the effect with any arguments, and no kind.
- `[wrappers]`: programs that run another one; `[launchers]`: those that run a program of the project.
- `[before]`: options between a program and its subcommand.
- `[script_runners]`: words behind which the name of a script stands; `[interpreters]`: options with code.
- `[special]`: rows that only a module of their own reads.

`[options]` are sets of options that rows share as `@name`, `[words]` lists of names.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from controlplane.policy.effects import Effect
from controlplane.policy.shell.table.row import (
    COMMAND,
    MARKS,
    OPTION_NAMES,
    OTHER_ROLES,
    ROLES,
    STOPS_AT_OPERAND,
    Options,
    TableError,
    TableRow,
    parse_operands,
    parse_options,
)

HERE = Path(__file__).parent
ROW_SECTIONS = (
    "files",
    "cmdlets",
    "wrappers",
    "launchers",
    "before",
    "script_runners",
    "interpreters",
    "special",
)
SECTIONS = frozenset({*ROW_SECTIONS, "kinds", "options", "words"})
ROW_KEYS = frozenset(
    {"also", "operands", "options", "marks", "actions", "never_begins", "why", *OPTION_NAMES}
)
GROUP_KEYS = frozenset({"effect", "why", "marks", "options", "commands", "programs"})
EVERY_PROGRAM = parse_options("--help --version", {})

Rows = Mapping[str, TableRow]


@dataclass(frozen=True, slots=True)
class Table:
    """All rows by name; those of kinds by program, the longest first."""

    files: Rows
    cmdlets: Rows  # by each of their names, the long one in the row
    wrappers: Rows
    launchers: Rows
    before: Rows
    script_runners: Rows
    interpreters: Rows
    special: Rows
    kinds: Mapping[str, tuple[TableRow, ...]]
    programs: Rows  # that have an effect with any arguments
    words: Mapping[str, frozenset[str]]


@cache
def load_table() -> Table:
    """Return the table. Raises TableError where a file has something else than the notation."""
    return read_table(HERE)


def read_table(folder: Path) -> Table:
    """Read the files of a folder. Raises TableError, which names the file and the row."""
    sections: dict[str, dict[str, TableRow]] = {name: {} for name in (*ROW_SECTIONS, "kinds", "programs")}
    words: dict[str, frozenset[str]] = {}
    for path in sorted(folder.glob("*.toml")):
        with _name_place(path.name):
            document = tomllib.loads(path.read_text())
            _check_keys(document, SECTIONS)
            sets = {name: parse_options(text, {}) for name, text in document.get("options", {}).items()}
            for name in ROW_SECTIONS:
                common = EVERY_PROGRAM if name in ("files", "wrappers") else Options()
                _add(sections, name, _read_rows(document.get(name, {}), common, sets))
            for group in document.get("kinds", []):
                _read_group(group, sets, sections)
            words |= {name: frozenset(text.split()) for name, text in document.get("words", {}).items()}
    kinds = _group_by_program(sections.pop("kinds"))
    return Table(**sections, kinds=kinds, words=words)


def _read_rows(
    section: Mapping[str, Mapping[str, Any]], common: Options, sets: Mapping[str, Options], **fields: Any
) -> Iterator[tuple[str, TableRow]]:
    """Yield the rows of a section by each of their names; `also` holds others in place of the last word."""
    for name, entry in section.items():
        with _name_place(name):
            row = _read_row(name, entry, common.extend(parse_options(entry.get("options", ""), sets)), fields)
        *before, last = name.split()
        for word in (last, *entry.get("also", "").split()):
            yield " ".join((*before, word)), row


def _read_row(name: str, entry: Mapping[str, Any], options: Options, fields: Mapping[str, Any]) -> TableRow:
    _check_keys(entry, ROW_KEYS)
    operands, repeats = parse_operands(entry.get("operands", ""))
    marks = frozenset(f"{fields.get('marks', '')} {entry.get('marks', '')}".split())
    if not marks <= MARKS:
        raise TableError(f"{', '.join(sorted(marks - MARKS))} is no mark: one of {', '.join(sorted(MARKS))}")
    if COMMAND in operands:
        marks |= {STOPS_AT_OPERAND}
    named: dict[str, Any] = {key: frozenset(entry.get(key, "").split()) for key in OPTION_NAMES}
    for key, names in named.items():
        if not names <= options.roles.keys():
            raise TableError(
                f"{key}: {', '.join(sorted(names - options.roles.keys()))} is not among the options"
            )
    named["actions"] = frozenset(word.strip("'") for word in entry.get("actions", "").split())
    texts = {key: entry[key] for key in ("why", "never_begins") if key in entry}
    options_by_use = {"options": options.roles, "joined": options.joined, "forms": options.forms}
    return TableRow(
        name=name,
        operands=operands,
        repeats=repeats,
        **{**fields, **options_by_use, **texts, **named, "marks": marks},
    )


def _read_group(
    group: Mapping[str, Any], sets: Mapping[str, Options], sections: Mapping[str, dict[str, TableRow]]
) -> None:
    """Read a group of kinds, and the programs that have its effect with any arguments."""
    _check_keys(group, GROUP_KEYS)
    if group.get("effect") not in list(Effect):
        raise TableError(f"{group.get('effect')!r} is no effect: one of {', '.join(Effect)}")
    if not group.get("why"):
        raise TableError(f"a group of {group['effect']} says no `why`, which people read on the card")
    common = parse_options(group.get("options", ""), sets)
    effect = {"effect": Effect(group["effect"]), "why": group["why"], "marks": group.get("marks", "")}
    _add(sections, "kinds", _read_rows(group.get("commands", {}), common, sets, **effect))
    programs: dict[str, dict[str, str]] = {name: {} for name in group.get("programs", "").split()}
    _add(sections, "programs", _read_rows(programs, common, sets, **effect))


def _add(
    sections: Mapping[str, dict[str, TableRow]], section: str, found: Iterator[tuple[str, TableRow]]
) -> None:
    """Add rows to a section, where each has a name of its own and roles that the section knows."""
    values, operands = ROLES.get(section, OTHER_ROLES)
    for name, row in found:
        if name in sections[section]:
            raise TableError(f"{name} has two rows")
        for roles, known in ((row.options.values(), values), (row.operands, operands)):
            others = ", ".join(sorted(set(roles) - known))
            if others:
                raise TableError(f"{name}: {others} is no role here: one of {', '.join(sorted(known))}")
        sections[section][name] = row


def _group_by_program(kinds: Rows) -> Mapping[str, tuple[TableRow, ...]]:
    """Return the rows of each program, the longest kind first: `git stash drop` before `git stash`."""
    rows = defaultdict(list)
    for row in kinds.values():
        rows[row.words[0]].append(row)
    return {name: tuple(sorted(found, key=lambda row: -len(row.words))) for name, found in rows.items()}


def _check_keys(entry: Mapping[str, Any], known: frozenset[str]) -> None:
    unknown = ", ".join(sorted(entry.keys() - known))
    if unknown:
        raise TableError(f"{unknown} is not known here: one of {', '.join(sorted(known))}")


@contextmanager
def _name_place(place: str) -> Iterator[None]:
    """Put the file or the row in front of an error."""
    try:
        yield
    except (TableError, tomllib.TOMLDecodeError) as error:
        raise TableError(f"{place}: {error}") from error
