"""Render the table as a page of the docs: `python -m controlplane.policy.shell.table.render`."""

from __future__ import annotations

from collections.abc import Iterator

from controlplane.policy.effects import DEFAULT_PERMISSIONS, RISKS, Effect, Permission
from controlplane.policy.shell.table.load import EVERY_PROGRAM, HERE, Rows, Table, load_table
from controlplane.policy.shell.table.row import ATTACHED, FLAG, OPTION_NAMES, TEXT, WRITING, TableRow

NOTATION = HERE / "README.md"
FILES = """## Known down to their files

The scope decides about each file that these read or write. Some have rules beyond their row: `find`, `sed`,
`awk`, `jq`, `tar`, `xargs`, copies, and subcommands of git.
"""
WRAPPERS = """## Programs that run another one

The command behind them is judged like one of its own. Those with a reason are asked about all the same.
"""
NOTHING = "''"
UNNAMED = "Whatever their arguments are, without a kind that could be granted: "


def render() -> str:
    """Return the page: the notation, then the rows by their effect, by their files, and those of wrappers."""
    table = load_table()
    files, wrappers = {**table.files, **table.cmdlets}, {**table.wrappers, **table.launchers}
    parts = [NOTATION.read_text(), *_render_kinds(table), FILES, *_render_rows(files), "", WRAPPERS]
    return "\n".join([*parts, *_render_rows(wrappers), ""])


def _render_kinds(table: Table) -> Iterator[str]:
    """Yield a section for each effect: its kinds, and the programs that always have it."""
    kinds = {row.name: row for rows in table.kinds.values() for row in rows}
    for effect in Effect:
        rows = {name: row for name, row in kinds.items() if row.effect is effect}
        programs = [f"`{name}`" for name, row in table.programs.items() if row.effect is effect]
        if not rows and not programs:
            continue
        default = DEFAULT_PERMISSIONS.get(effect, Permission.ALLOW)
        yield f"## `{effect}`\n\nRisk: {RISKS[effect]}. By default: {default}.\n"
        if programs:
            yield f"{UNNAMED}{', '.join(sorted(programs))}.\n"
        for why in sorted({row.why for row in rows.values()}):
            yield f"{why[:1].upper()}{why[1:]}:\n"
            yield from _render_rows({name: row for name, row in rows.items() if row.why == why})
            yield ""


def _render_rows(rows: Rows) -> Iterator[str]:
    """Yield a table in which equal rows stand once, below the options that all of them have."""
    options = {name: tuple(_list_options(row)) for name, row in rows.items()}
    common = [
        option for option in next(iter(options.values())) if all(option in own for own in options.values())
    ]
    if common:
        yield f"Each of them has `{' '.join(common)}`.\n"
    yield "| command | operands | options | more |\n|---|---|---|---|"
    names: dict[tuple[str, ...], list[str]] = {}
    for name, row in sorted(rows.items()):
        operands = " ".join(row.operands) + ("*" if row.repeats else "")
        own = " ".join(option for option in options[name] if option not in common)
        names.setdefault((operands, own, "; ".join(_list_more(row))), []).append(name)
    for cells, equal in names.items():
        texts = ("`, `".join(equal), *cells)
        yield f"| {' | '.join(f'`{text}`' if text else '' for text in texts)} |"


def _list_options(row: TableRow) -> Iterator[str]:
    joined = "".join(sorted(row.joined))
    if joined:
        yield f"-+{joined}"
    for name, role in row.options.items():
        if name not in EVERY_PROGRAM.roles and not (role == FLAG and name[1:] in row.joined):
            signs = {FLAG: "", TEXT: "=", ATTACHED: "?", WRITING: "^"}
            yield name + signs.get(role, f"={role}")
    yield from (f"!{form}" for form in sorted(row.forms))


def _list_more(row: TableRow) -> Iterator[str]:
    """Yield the marks of a row, and its options with a use of their own."""
    yield from sorted(row.marks)
    for use in OPTION_NAMES:
        if getattr(row, use):
            yield f"{use} {' '.join(sorted(getattr(row, use)))}"
    if row.actions:
        yield f"actions {' '.join(word or NOTHING for word in sorted(row.actions))}"
    if row.never_begins:
        yield f"never_begins {row.never_begins}"


if __name__ == "__main__":
    print(render(), end="")  # noqa: T201  for whoever makes the page
