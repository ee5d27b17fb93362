"""PowerShell and cmd.exe: a small set of read-only commands.

There is no parser behind this. Text with any character that could start something else is unknown as a
whole; the rest is split into words and compared with a table.
"""

from __future__ import annotations

import re

from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.roles import CustomProgram
from controlplane.policy.shell.result import Span, UnclearCommandError
from controlplane.policy.shell.table.load import load_table
from controlplane.policy.shell.table.row import FLAG, READ, READS_CWD
from controlplane.policy.shell.word import Word

# Characters without a meaning of their own in either shell, in quotes or not.
TOKEN = re.compile(r"""'([\w .,:/\\=+*?-]*)'|"([\w .,:/\\=+*?-]*)"|([\w.,:/\\=+*?-]+)""")
SEPARATOR = re.compile(r"[ \t]*[|][ \t]*|[ \t]+")


def run_cmdlet(call: ProgramCall) -> None:
    """Record what a cmdlet reads, by its parameters in any case."""
    row = load_table().cmdlets[call.name.lower()]
    remaining = iter(call.args)
    has_file = False
    for word in remaining:
        parameter = word.prefix.lower() if word.prefix.startswith("-") else ""
        role = row.options.get(parameter) if parameter else next(iter(row.operands), None)
        value = next(remaining, None) if parameter and role != FLAG else word
        if value is None or role is None:
            raise UnclearCommandError(f"the parameter {word.prefix} is not known to be safe", word.span)
        if role == READ:
            has_file = True
            call.read(value)
    if READS_CWD in row.marks and not has_file:
        call.read_cwd()


CMDLET = CustomProgram(run_cmdlet)


def find_cmdlet(name: str) -> CustomProgram | None:
    """Return the cmdlet of this long name, in any case."""
    row = load_table().cmdlets.get(name.lower())
    return CMDLET if row is not None and row.name == name.lower() else None


def _split_token(match: re.Match[str], span: Span) -> list[Word]:
    """Return the words of a token. Without quotes a comma separates words in both shells, and `=` in cmd.

    A wildcard counts in quotes too, as the commands themselves match it against names.
    """
    unquoted = match[3]
    if unquoted is None:
        names = [match[1] if match[1] is not None else match[2]]
    else:
        names = [name for name in dict.fromkeys((*unquoted.split(","), *re.split("[,=]", unquoted))) if name]
    if not names:
        raise UnclearCommandError("only plain PowerShell and cmd commands are understood")
    return [Word(name, name, *span, has_wildcard=bool(re.search("[*?]", name))) for name in names]


def split_pipeline(text: str) -> list[list[Word]]:
    """Split a pipeline into commands, and these into words; raises UnclearCommandError."""
    commands: list[list[Word]] = [[]]
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise UnclearCommandError("only plain PowerShell and cmd commands are understood")
        span = len(text[:at].encode()), len(text[: match.end()].encode())
        commands[-1].extend(_split_token(match, span))
        separator = SEPARATOR.match(text, match.end())
        at = separator.end() if separator else match.end()
        if separator is None and at < len(text):
            raise UnclearCommandError("only plain PowerShell and cmd commands are understood")
        if separator and "|" in separator.group():
            commands.append([])
    if not all(commands):
        raise UnclearCommandError("only plain PowerShell and cmd commands are understood")
    return commands


def resolve_alias(name: str, dialect: str) -> str:
    """Return the long name of a command in this dialect, in lower case."""
    name, table = name.lower(), load_table()
    is_alias = name in table.cmdlets and (dialect == "powershell" or name in table.words["cmd_aliases"])
    return table.cmdlets[name].name if is_alias else name
