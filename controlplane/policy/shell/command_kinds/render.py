"""Render the table as a page of the docs: `python -m controlplane.policy.shell.command_kinds.render`."""

from __future__ import annotations

from controlplane.policy.effects import DEFAULT_PERMISSIONS, RISKS, Effect, Permission
from controlplane.policy.shell.command_kinds.table import ROWS

HEAD = """# Commands by kind and effect

What the gate knows about commands other than plain readers and writers of files. A row is a kind: grants,
intents and rules name it. It covers the options that stand there and no other: anything else is asked about
separately.
`=` takes any text, `:` a path of the workspace, `<` a file that is read, `>` a file that is written, `?` an
attached value; `^` makes the operands files that are written, `!` makes a kind of its own.

Made from the table by `python -m controlplane.policy.shell.command_kinds.render > docs/commands.md`.
"""


def render() -> str:
    parts = [HEAD]
    for effect in Effect:
        rows = [row for found in ROWS.values() for row in found if row.effect is effect]
        if not rows:
            continue
        default = DEFAULT_PERMISSIONS.get(effect, Permission.ALLOW)
        parts.append(f"## `{effect}`\n\nRisk: {RISKS[effect]}. By default: {default}.\n")
        parts.append("| kind | options | operands |\n|---|---|---|")
        for row in sorted(rows, key=lambda row: row.kind):
            joined = "".join(sorted(row.joined))
            flags = [f"-{joined}"] if joined else []
            options = [*flags, *(f"{name}{role}" for name, role in row.options.items())]
            options += [f"!{form}" for form in sorted(row.forms)]
            text = " ".join(f"`{option}`" for option in options)
            operands = f"`{row.operands}`" if row.operands else ""
            parts.append(f"| `{row.kind}` | {text} | {operands} |")
        parts.append("")
    return "\n".join(parts)


if __name__ == "__main__":
    print(render(), end="")  # noqa: T201  for whoever makes the page
