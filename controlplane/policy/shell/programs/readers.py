"""Programs that only read, where the roles of their operands do not say all.

Left out of the table on purpose: options that write or run something (`rg --pre`, `file -C`, `date -s`), and
programs that run what a file of the workspace says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from controlplane.policy.paths.raw_path import PatternUse
from controlplane.policy.shell.lexical_path import is_inside
from controlplane.policy.shell.options import ParsedOptions
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.roles import Handler, record_operands
from controlplane.policy.shell.programs.test import check_test_words, read_tested_files
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.wildcards import regex_to_glob
from controlplane.policy.shell.word import Word

NAME_FILTERS = ("--include", "-g", "--glob", "--iglob")
PRINTF_N = re.compile(r"%[-+ #'0-9*.]*[hlLjtz]*n")


def _grep(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `grep` or `rg`: the first operand is the pattern, unless an option gives it."""
    record_operands(call, parsed)
    files = parsed.operands if parsed.has(*parsed.row.first) else parsed.operands[1:]
    is_recursive = call.name == "rg" or parsed.has(*parsed.row.recursive)
    if not files and is_recursive:
        call.read_cwd()
    if is_recursive:
        _record_search(call, parsed, files)


def _record_search(call: ProgramCall, parsed: ParsedOptions, folders: Sequence[Word]) -> None:
    """Record the filters of a search, without one its folders: `rg --files` only lists names."""
    recorder = call.recorder
    add = recorder.add_listed if parsed.has("--files") else recorder.add_pattern
    names = [word.value for word in parsed.values(*NAME_FILTERS)]
    expected = [name for name in names if name and not name.startswith("!")]
    for name in expected:
        for path in call.list_filtered(folders, name):
            add(path, PatternUse.FILTER)
    for path in call.list_filtered(folders, "") if not expected else ():
        add(path, PatternUse.CONTENT)


def _fd(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `fd`: a pattern, then directories, by default the current one."""
    record_operands(call, parsed)
    if len(parsed.operands) < 2:
        call.read_cwd()
    names = [f"*.{word.value}" for word in parsed.values("-e", "--extension")]
    first = parsed.operands[0].value if parsed.operands else None
    if first and not names:
        names = [first if parsed.has("-g", "--glob") else regex_to_glob(first)]
    for name in names:
        for path in call.list_filtered(parsed.operands[1:], name):
            call.recorder.add_listed(path, PatternUse.FILTER)


def _diff(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `diff`: a file and a directory are compared by the file of that name in the directory."""
    record_operands(call, parsed)
    if parsed.has(*parsed.row.recursive):
        for directory in call.list_filtered(parsed.operands, ""):
            call.recorder.add_pattern(directory, PatternUse.CONTENT)
    operands = [(word, (word.value or "").rstrip("/")) for word in parsed.operands]
    recorder, resolved = call.recorder, {path: call.resolve(word) for word, path in operands if path}
    names = {
        path.rpartition("/")[2]
        for path, candidates in resolved.items()
        if not all(map(recorder.is_directory, candidates))
    }
    for word, path in operands:
        if any(is_inside(path.key) and recorder.may_be_directory(path) for path in resolved.get(path, ())):
            for name in names - {"-", path.rpartition("/")[2]}:
                call.read(replace(word, value=f"{path}/{name}", prefix=f"{path}/{name}"))


def _lsof(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `lsof`, where `+D directory` and the like are options too."""
    for word in parsed.operands:
        if word.prefix.startswith("+"):
            raise UnclearCommandError(f"the option {word.prefix[:2]} is not known to be safe", word.span)
    call.read_all(word for word in parsed.operands if ":" not in word.prefix)


def _date(_call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `date`, which sets the clock by an operand without `+`."""
    for word in parsed.operands:
        if not word.prefix.startswith("+"):
            raise UnclearCommandError("sets the clock", word.span)


def run_test(call: ProgramCall) -> None:
    check_test_words(call.args)
    read_tested_files(call, call.args)


def _printf(_call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `printf`. Its `%n` sets the variable that an argument names: PATH, say."""
    formats, arguments = parsed.operands[:1], parsed.operands[1:]
    for word in formats:
        path = "%n" if word.value is None or word.has_wildcard else word.value.replace("%%", "")
        if word.may_split or (arguments and PRINTF_N.search(path)):
            raise UnclearCommandError("may set a variable", word.span)


READERS: Mapping[str, Handler] = {
    "grep": _grep,
    "rg": _grep,
    "fd": _fd,
    "diff": _diff,
    "date": _date,
    "lsof": _lsof,
    "printf": _printf,
}
