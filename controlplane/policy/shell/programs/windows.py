"""PowerShell and cmd.exe: a small set of read-only commands.

There is no parser behind this. Text with any character that could start something else is unknown as a
whole; the rest is split into words and compared with a table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from controlplane.policy.shell.program_call import CustomProgram, KnownProgram, ProgramCall
from controlplane.policy.shell.result import Span, UnclearCommandError
from controlplane.policy.shell.word import Word

FLAG, VALUE, FILE = "flag", "value", "file"
# Parameters in lower case; the word behind the name is the role of arguments without a parameter.
TABLE = """
get-content      file  -path=file -literalpath=file -totalcount=value -head=value -tail=value
                       -encoding=value -raw
get-childitem    file  -path=file -literalpath=file -filter=value -include=value -exclude=value -depth=value
                       -recurse -force -file -name -directory -hidden
get-item         file  -path=file -literalpath=file -force
test-path        file  -path=file -literalpath=file -pathtype=value
resolve-path     file  -path=file -literalpath=file
get-location     none
get-date         none  -format=value
select-string    none  -path=file -literalpath=file -pattern=value -context=value -simplematch
                       -casesensitive -list
select-object    none  -first=value -last=value -skip=value -unique
measure-object   none  -line -word -character
sort-object      value -descending -unique
write-output     value
"""
ALIASES = {
    "powershell": {
        "gc": "get-content",
        "cat": "get-content",
        "type": "get-content",
        "gci": "get-childitem",
        "ls": "get-childitem",
        "dir": "get-childitem",
        "gl": "get-location",
        "pwd": "get-location",
        "sls": "select-string",
        "select": "select-object",
        "measure": "measure-object",
        "sort": "sort-object",
        "echo": "write-output",
    },
    "cmd": {"type": "get-content", "dir": "get-childitem", "echo": "write-output"},
}
READS_CWD = frozenset({"get-childitem"})
# Characters without a meaning of their own in either shell, in quotes or not.
TOKEN = re.compile(r"""'([\w .,:/\\=+*?-]*)'|"([\w .,:/\\=+*?-]*)"|([\w.,:/\\=+*?-]+)""")
SEPARATOR = re.compile(r"[ \t]*[|][ \t]*|[ \t]+")


def _parse_table() -> dict[str, dict[str, str]]:
    table: dict[str, dict[str, str]] = {}
    for entry in re.split(r"\n(?=\S)", TABLE.strip()):
        name, unquoted, *parameters = entry.split()
        pairs = (parameter.partition("=") for parameter in parameters)
        table[name] = {"": unquoted} | {key: role or FLAG for key, _, role in pairs}
    return table


PARAMETERS: Mapping[str, Mapping[str, str]] = _parse_table()


def _run_cmdlet(call: ProgramCall) -> None:
    name = call.name.lower()
    parameters = PARAMETERS[name]
    remaining = iter(call.args)
    has_file = False
    for word in remaining:
        parameter = word.prefix.lower() if word.prefix.startswith("-") else ""
        role = parameters.get(parameter)
        value = next(remaining, None) if parameter and role != FLAG else word
        if value is None or role not in (FLAG, VALUE, FILE):
            raise UnclearCommandError(f"the parameter {word.prefix} is not known to be safe", word.span)
        if role == FILE:
            has_file = True
            call.read(value)
    if name in READS_CWD and not has_file:
        call.read_cwd()


CMDLETS: Mapping[str, KnownProgram] = dict.fromkeys(PARAMETERS, CustomProgram(_run_cmdlet))


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
    lower_name = name.lower()
    return ALIASES.get(dialect, {}).get(lower_name, lower_name)
