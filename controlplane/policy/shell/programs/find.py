"""`find`: roots, then an expression of a closed list of tests and actions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from controlplane.policy.shell.command import ProgramCall
from controlplane.policy.shell.programs.registry import PROGRAMS, program_name, run_with_file_names
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome, always
from controlplane.policy.shell.word import Word, to_any_file_name

BARE = frozenset(
    [
        "-print",
        "-print0",
        "-prune",
        "-depth",
        "-d",
        "-empty",
        "-ls",
        "-true",
        "-false",
        "-readable",
        "-writable",
        "-executable",
        "-not",
        "-a",
        "-o",
        "-and",
        "-or",
        "-nouser",
        "-nogroup",
        "-noleaf",
        "-mount",
        "-xdev",
        "-daystart",
        "-follow",
        "-quit",
        "-warn",
        "-nowarn",
        "-ignore_readdir_race",
        "!",
        "(",
        ")",
        ",",
    ]
)
VALUED = frozenset(
    [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-iwholename",
        "-regex",
        "-iregex",
        "-regextype",
        "-type",
        "-xtype",
        "-size",
        "-mtime",
        "-mmin",
        "-atime",
        "-amin",
        "-ctime",
        "-cmin",
        "-perm",
        "-user",
        "-group",
        "-uid",
        "-gid",
        "-links",
        "-inum",
        "-maxdepth",
        "-mindepth",
        "-printf",
        "-fstype",
        "-used",
        "-lname",
        "-ilname",
        "-newermt",
        "-newerat",
        "-newerct",
    ]
)
REFERENCES = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})
OUTPUTS = {"-fprint": 1, "-fprint0": 1, "-fls": 1, "-fprintf": 2}  # how many values follow
GLOBAL = frozenset({"-H", "-L", "-P"})
NAME = "{}"
# Readers with options that decide something, but whose files are named last.
NAMED_READERS = frozenset({"file", "jq", "awk", "gawk", "mawk", "sed", "diff", "zcat"})
REMOVING = frozenset({"-f", "-r", "-rf", "-fr", "-v", "--"})
FOLLOWING = frozenset({"-H", "-L", "-follow"})


def find(call: ProgramCall) -> CommandOutcome:
    words = list(call.args)
    follows = any(word.value in FOLLOWING for word in words)
    while words and words[0].value in GLOBAL:
        words.pop(0)
    roots = _roots(words)
    deletes = _expression(call, words[len(roots) :])
    if deletes and follows:
        raise UnclearCommandError("deletes what links lead to")
    here = Word(".", ".", *call.span)
    for root in roots or [here]:
        call.read(root, recursive=True)
        if deletes:
            call.write(root, "delete", recursive=True)
    return always(call.state)


def _roots(words: list[Word]) -> list[Word]:
    found: list[Word] = []
    for word in words:
        if word.prefix.startswith("-") or word.value in ("!", "(", ")", ","):
            break
        if not word.prefix or (word.has_wildcard and word.prefix[0] in "*?["):
            raise UnclearCommandError("may turn out to be an action", word.span)
        found.append(word)
    return found


def _expression(call: ProgramCall, words: list[Word]) -> bool:
    """Judge tests and actions; returns whether it deletes."""
    deletes = False
    rest = iter(words)
    for word in rest:
        if word.value == "-delete":
            deletes = True
        elif word.value == "-exec":
            command = list(_command(rest, word))
            if _removes(command):
                deletes = True
            else:
                _judge_found(call, [*command[:1], *map(_found, command[1:])])
        elif word.value in REFERENCES:
            call.read(_value(rest, word))
        elif word.value in OUTPUTS:
            call.write(_value(rest, word))
            for _ in range(OUTPUTS[word.value] - 1):
                _value(rest, word)
        elif word.value in VALUED:
            _harmless(_value(rest, word))
        elif word.value not in BARE:
            raise UnclearCommandError("find runs something, or an action is not known", word.span)
    return deletes


def _judge_found(call: ProgramCall, words: list[Word]) -> None:
    """Names from find begin with its roots, so they are no options; but what they are may count."""
    name = program_name(words[0].value or "") if words else ""
    if name not in NAMED_READERS:
        run_with_file_names(call, words)
        return
    PROGRAMS[name].record_effects(replace(call, name=name, args=tuple(words[1:])))


def _command(rest: Iterator[Word], word: Word) -> Iterator[Word]:
    """The words up to `;`, or to the `+` behind `{}`."""
    before = None
    for one in rest:
        if one.value == ";" or (one.value == "+" and before == NAME):
            return
        yield one
        before = one.value
    raise UnclearCommandError("an action without its end", word.span)


def _found(word: Word) -> Word:
    """`{}` is a file below the folders that are looked through anyway; inside a word it may be any other."""
    if word.value == NAME:
        return to_any_file_name(word)
    if word.value is None or NAME in word.value:
        raise UnclearCommandError("find passes names that are not followed", word.span)
    return word


def _removes(command: list[Word]) -> bool:
    """`rm -rf {}`: as `-delete`, with all that is below what is found."""
    program, *others = [word.value for word in command] or [None]
    return program_name(program or "") == "rm" and others[-1:] == [NAME] and REMOVING.issuperset(others[:-1])


def _value(rest: Iterator[Word], word: Word) -> Word:
    value = next(rest, None)
    if value is None:
        raise UnclearCommandError("an action without its value", word.span)
    return value


def _harmless(word: Word) -> None:
    """A pattern left unquoted may become file names; none with a dot is an action of find."""
    if word.may_split or (word.has_wildcard and "." not in word.prefix and word.prefix[:1] in "*?["):
        raise UnclearCommandError("may turn out to be an action", word.span)
