"""PowerShell and cmd: a small set of commands that only look.

There is no parser behind this. Text with any character that could start something else is unknown
as a whole; what is left is split into words and compared with a table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from controlplane.policy.shell.command import CustomProgram, KnownProgram, ProgramCall
from controlplane.policy.shell.result import Span, UnclearCommandError
from controlplane.policy.shell.word import Word

FLAG, VALUE, FILE = "flag", "value", "file"
# Parameters in lower case; the first word of an entry says what bare words are.
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
READS_HERE = frozenset({"get-childitem"})
# Letters, digits and marks that no Windows shell gives a meaning inside or outside of quotes.
TOKEN = re.compile(r"""'([\w .,:/\\=+*?-]*)'|"([\w .,:/\\=+*?-]*)"|([\w.,:/\\=+*?-]+)""")
BORDER = re.compile(r"[ \t]*[|][ \t]*|[ \t]+")


def _parameters() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for entry in re.split(r"\n(?=\S)", TABLE.strip()):
        name, bare, *parameters = entry.split()
        pairs = (parameter.partition("=") for parameter in parameters)
        found[name] = {"": bare} | {key: role or FLAG for key, _, role in pairs}
    return found


PARAMETERS: Mapping[str, Mapping[str, str]] = _parameters()


def _cmdlet(call: ProgramCall) -> None:
    name = call.name.lower()
    known = PARAMETERS[name]
    rest = iter(call.args)
    named_file = False
    for word in rest:
        parameter = word.prefix.lower() if word.prefix.startswith("-") else ""
        role = known.get(parameter)
        value = next(rest, None) if parameter and role != FLAG else word
        if value is None or role not in (FLAG, VALUE, FILE):
            raise UnclearCommandError(f"{word.prefix} is not a known parameter", word.span)
        if role == FILE:
            named_file = True
            call.read(value)
    if name in READS_HERE and not named_file:
        call.read_cwd()


CMDLETS: Mapping[str, KnownProgram] = dict.fromkeys(PARAMETERS, CustomProgram(_cmdlet))


def _words(match: re.Match[str], span: Span) -> list[Word]:
    """The words of a token: without quotes, a comma parts them in both shells, and in cmd `=` does so too.
    A wildcard is one in quotes as well: the commands themselves match it against names."""
    bare = match[3]
    if bare is None:
        names = [match[1] if match[1] is not None else match[2]]
    else:
        names = [name for name in dict.fromkeys((*bare.split(","), *re.split("[,=]", bare))) if name]
    if not names:
        raise UnclearCommandError("more than a plain Windows command")
    return [Word(name, name, *span, has_wildcard=bool(re.search("[*?]", name))) for name in names]


def split_pipeline(text: str) -> list[list[Word]]:
    """The commands of a pipeline, as words with byte spans; raises UnclearError."""
    commands: list[list[Word]] = [[]]
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise UnclearCommandError("more than a plain Windows command")
        span = len(text[:at].encode()), len(text[: match.end()].encode())
        commands[-1].extend(_words(match, span))
        border = BORDER.match(text, match.end())
        at = border.end() if border else match.end()
        if border is None and at < len(text):
            raise UnclearCommandError("more than a plain Windows command")
        if border and "|" in border.group():
            commands.append([])
    if not all(commands):
        raise UnclearCommandError("more than a plain Windows command")
    return commands


def resolve_alias(name: str, dialect: str) -> str:
    """The long name of a command in this dialect; case does not matter on Windows."""
    lower = name.lower()
    return ALIASES.get(dialect, {}).get(lower, lower)
