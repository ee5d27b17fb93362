"""`find`: roots, then an expression of known tests and actions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from controlplane.policy.paths.raw_path import PatternUse
from controlplane.policy.shell.lexical_path import CommandPath, is_inside
from controlplane.policy.shell.names import to_names
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.registry import (
    load_programs,
    program_name,
    run_with_file_names,
)
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome
from controlplane.policy.shell.table.load import load_table
from controlplane.policy.shell.table.row import FLAG, READ, WRITE
from controlplane.policy.shell.wildcards import find_below, regex_to_glob
from controlplane.policy.shell.word import Word, to_any_file_name

OPERATORS = frozenset({"!", "(", ")", ","})
NAME_TESTS = to_names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname",
)
GLOBAL_OPTIONS = frozenset({"-H", "-L", "-P"})
PLACEHOLDER = "{}"
RM_OPTIONS = frozenset({"-f", "-r", "-rf", "-fr", "-v", "--"})
FOLLOW_OPTIONS = frozenset({"-H", "-L", "-follow"})


def find(call: ProgramCall) -> CommandOutcome:
    words = list(call.args)
    follows_links = any(word.value in FOLLOW_OPTIONS for word in words)
    while words and words[0].value in GLOBAL_OPTIONS:
        words.pop(0)
    roots = _take_roots(words)
    deletes = _expression(call, words[len(roots) :])
    if deletes and follows_links:
        raise UnclearCommandError("follows symbolic links and deletes what they lead to")
    _record_filters(call, roots, words[len(roots) :])
    current = Word(".", ".", *call.span)
    for root in roots or [current]:
        call.read(root, recursive=True)
        if deletes:
            _record_deletion(call, root, words[len(roots) :])
    return CommandOutcome.from_state(call.state)


def _record_deletion(call: ProgramCall, root: Word, expression: list[Word]) -> None:
    """Record what `-delete` removes: the files of this disk that have the name, or all below the root."""
    patterns = _list_deleted_names(expression)
    paths = call.resolve(root) if patterns and not root.has_wildcard else []
    matches = [match for path in paths for match in _find_named(call, path, patterns) or [""]]
    if not matches or "" in matches:
        call.write(root, "delete", recursive=True)
        return
    for match in matches:
        call.recorder.add_write(CommandPath(match, "", match), "delete", root.span)


def _find_named(call: ProgramCall, root: CommandPath, patterns: list[str]) -> list[str]:
    """Return what has the name below a root; nothing where that is not known, or the root has it as well."""
    if not root.key or not is_inside(root.key) or _has_name(root.key, patterns):
        return []
    below = find_below(call.recorder.filesystem, root.key) or ()
    return [path for path in below if _has_name(path, patterns)]


def _list_deleted_names(expression: list[Word]) -> list[str]:
    """Return the names that all must match; none where the expression holds anything but such tests."""
    texts = [word.value or "?" for word in expression]
    patterns: list[str] = []
    while texts:
        test = texts.pop(0)
        if test in {"-delete", "-print", "-depth"}:
            continue
        if test not in {"-name", "-type"} or not texts:
            return []
        value = texts.pop(0)
        patterns += [value] if test == "-name" else []
    return patterns


def _has_name(path: str, patterns: list[str]) -> bool:
    return all(fnmatchcase(path.rpartition("/")[2], pattern) for pattern in patterns)


def _record_filters(call: ProgramCall, roots: list[Word], expression: list[Word]) -> None:
    """Record the names that the expression asks for, or the roots: they count where files are read."""
    names = list(_list_names(expression))
    for name in names:
        for path in call.list_filtered(roots, name):
            call.recorder.add_listed(path, PatternUse.FILTER)
    for path in call.list_filtered(roots, "") if not names else ():
        call.recorder.add_listed(path, PatternUse.CONTENT)


def _list_names(expression: list[Word]) -> Iterator[str]:
    """Yield the patterns of names, but for those that leave files out (`! -name x`, `-name x -prune`)."""
    texts = [word.value or "" for word in expression]
    for index, test in enumerate(texts):
        value = texts[index + 1] if index + 1 < len(texts) else ""
        is_left_out = texts[index - 1 : index] in (["!"], ["-not"]) or texts[index + 2 : index + 3] == [
            "-prune"
        ]
        name = value.rpartition("/")[2]
        if test not in NAME_TESTS or is_left_out or not name:
            continue
        yield regex_to_glob(f"^{value}$") if "regex" in test else name
        if test.startswith("-i"):
            yield name.lower()


def _take_roots(words: list[Word]) -> list[Word]:
    roots: list[Word] = []
    for word in words:
        if word.prefix.startswith("-") or word.value in ("!", "(", ")", ","):
            break
        if not word.prefix or (word.has_wildcard and word.prefix[0] in "*?["):
            raise UnclearCommandError("its value could be an action of find", word.span)
        roots.append(word)
    return roots


def _expression(call: ProgramCall, words: list[Word]) -> bool:
    """Record what tests and actions do; returns whether the expression deletes."""
    deletes = False
    remaining = iter(words)
    for word in remaining:
        if word.value == "-delete":
            deletes = True
        elif word.value == "-exec":
            command = list(_take_command(remaining, word))
            if _removes(command):
                deletes = True
            else:
                _run_on_matches(call, [*command[:1], *map(_to_file_name, command[1:])])
        elif word.value not in OPERATORS:
            _record_test(call, word, remaining)
    return deletes


def _record_test(call: ProgramCall, word: Word, remaining: Iterator[Word]) -> None:
    """Record the file that a test or an action names."""
    role = load_table().special["find"].options.get(word.value or "")
    if role is None:
        raise UnclearCommandError("find runs a program, or its action is not known", word.span)
    value = None if role == FLAG else _take_value(remaining, word)
    if value is None:
        return
    if role == READ:
        call.read(value)
    elif role == WRITE:
        call.write(value)
        if word.value == "-fprintf":
            _take_value(remaining, word)
    else:
        _check_value(value)


def _run_on_matches(call: ProgramCall, words: list[Word]) -> None:
    """Run `-exec`. The names that find passes begin with a root, so they are never options."""
    name = program_name(words[0].value or "") if words else ""
    if name not in load_table().words["takes_files_last"]:
        run_with_file_names(call, words)
        return
    call.recorder.reads_listed = True
    load_programs()[name].record_effects(replace(call, name=name, args=tuple(words[1:])))


def _take_command(remaining: Iterator[Word], word: Word) -> Iterator[Word]:
    """Yield the words up to `;`, or to the `+` behind `{}`."""
    before = None
    for argument in remaining:
        if argument.value == ";" or (argument.value == "+" and before == PLACEHOLDER):
            return
        yield argument
        before = argument.value
    raise UnclearCommandError("an action of find without its end, ; or +", word.span)


def _to_file_name(word: Word) -> Word:
    """Replace `{}` by a file below the roots, which are recorded as read; `x{}` may be any other."""
    if word.value == PLACEHOLDER:
        return to_any_file_name(word)
    if word.value is None or PLACEHOLDER in word.value:
        raise UnclearCommandError("find passes file names in a way that is not understood", word.span)
    return word


def _removes(command: list[Word]) -> bool:
    """Return whether a command is `rm -rf {}`, which deletes the matches with all that is below them."""
    program, *arguments = [word.value for word in command] or [None]
    return (
        program_name(program or "") == "rm"
        and arguments[-1:] == [PLACEHOLDER]
        and RM_OPTIONS.issuperset(arguments[:-1])
    )


def _take_value(remaining: Iterator[Word], word: Word) -> Word:
    value = next(remaining, None)
    if value is None:
        raise UnclearCommandError("an action of find without its value", word.span)
    return value


def _check_value(word: Word) -> None:
    """Require that the value of a test cannot expand to an action. No action has a dot, so `*.py` is fine."""
    if word.may_split or (word.has_wildcard and "." not in word.prefix and word.prefix[:1] in "*?["):
        raise UnclearCommandError("its value could be an action of find", word.span)
