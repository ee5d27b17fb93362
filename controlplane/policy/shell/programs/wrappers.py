"""Programs that run another command: `env`, `timeout`, `xargs`, `bash -c`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from controlplane.policy.shell.options import ParsedOptions
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.find import find
from controlplane.policy.shell.programs.registry import run_with_file_names
from controlplane.policy.shell.result import Span, UnclearCommandError, UnknownUsageError
from controlplane.policy.shell.shells import ANY_SHELL, SHELLS_BY_NAME, Shells
from controlplane.policy.shell.state import CommandOutcome, StreamContent
from controlplane.policy.shell.table.load import load_table
from controlplane.policy.shell.variables import SETS, find_setting, is_harmless, is_quiet
from controlplane.policy.shell.word import Word, to_any_file_name

ShellCommand = Callable[[ProgramCall], CommandOutcome]
RUNS_STRING = "a string is run as a command"
# Options that leave a shell's reading of its string alone.
SHELL_OPTION = re.compile(r"-[eluxc]+|-o|pipefail|--login|--norc|--noprofile")
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")
PLACEHOLDER = re.compile(r"\{\w*\}|[%@_+]+")


def _wrap(call: ProgramCall) -> CommandOutcome:
    """Run a wrapper such as `nice` or `timeout 5`: options, some operands, then a command.

    A row with a reason is unknown; the writes of its command are recorded all the same.
    """
    row = load_table().wrappers[call.name]
    if row.why:
        call.add_unknown(row.why)
    outcome = call.run_nested(call.parse_options(row).operands[len(row.operands) - 1 :])
    return CommandOutcome.from_state(call.state) if row.why else outcome


def _rtk(call: ProgramCall) -> CommandOutcome:
    """Run `rtk git status`, which shortens what the command behind it prints; some words are rtk's own."""
    words, first = load_table().words, (call.args[0].value or "") if call.args else ""
    if first in words["rtk_own"] or first.startswith("-") or not first:
        raise UnknownUsageError("this command of rtk is not known")
    return call.run_nested(call.args[1:] if first in words["rtk_wrappers"] else call.args)


def _coproc(call: ProgramCall) -> CommandOutcome:
    """Run `coproc`: when it runs, and what it shares with the shell, is not known."""
    call.add_unknown("runs in the background, next to the shell")
    return CommandOutcome.from_state(call.state)


def _env(call: ProgramCall) -> CommandOutcome:
    words = list(call.parse_options(load_table().wrappers["env"]).operands)
    while words and (match := ASSIGNMENT.match(words[0].prefix)):
        variable = words.pop(0)
        setting = find_setting(match[1], variable.tail(match.end()).value)
        if setting is not None and not variable.has_wildcard:
            call.recorder.claim(*setting, SETS.format(match[1]))
            continue
        call.recorder.exports_variables |= not is_quiet(match[1])
        if not is_harmless(match[1], variable.tail(match.end()).value):
            call.recorder.add_unknown(f"the variable {match[1]} may change what programs do", variable.span)
    return call.run_nested(words)


def _exec(call: ProgramCall) -> CommandOutcome:
    """Run `exec cmd`, or `exec > file`, behind which every later command may write to the file."""
    words = call.parse_options(load_table().wrappers["exec"]).operands
    call.recorder.exec_redirects += not words
    if not words and call.redirects_to_file:
        call.add_unknown("redirects the output of all later commands")
    return call.run_nested(words)


def _command(call: ProgramCall) -> CommandOutcome:
    """Run `command x`, or `command -v x`, which only looks x up."""
    parsed = call.parse_options(load_table().wrappers["command"])
    return (
        CommandOutcome.from_state(call.state) if parsed.has("-v", "-V") else call.run_nested(parsed.operands)
    )


def _xargs(call: ProgramCall) -> CommandOutcome:
    """Run `xargs`, whose arguments come from standard input.

    The program must be `option_safe`, and it may read what they name only where the input holds nothing but
    names of files that are recorded as read.
    """
    parsed = call.parse_options(load_table().wrappers["xargs"])
    placeholders = parsed.values("-I")
    call.read_all(parsed.values("-a", "--arg-file"))
    _check_placeholders(call, parsed, placeholders)
    call = replace(call, stdin=_classify_stdin(call, parsed))
    program, words = parsed.operands[:1], parsed.operands[1:]
    if any(
        placeholder.value and placeholder.value in word.prefix
        for placeholder in placeholders
        for word in program
    ):
        raise UnclearCommandError("the name of the program is known only when the command runs", call.span)
    arguments = [_fill_placeholder(call, placeholders, word) for word in words]
    if not placeholders and call.stdin is StreamContent.ANYTHING:
        arguments.append(_unknown_word(call))
    try:
        run_with_file_names(call, [*program, *arguments] if program else [])
    except UnclearCommandError as error:
        reason = "xargs gets names that may be of any file" if error.span == call.span else error.reason
        raise UnclearCommandError(reason, error.span) from None
    return CommandOutcome.from_state(call.state)


def _classify_stdin(call: ProgramCall, parsed: ParsedOptions) -> StreamContent:
    """Return what standard input holds for xargs: names that it splits elsewhere may become any other."""
    is_split_elsewhere = any(word.value not in ("\n", "\\n") for word in parsed.values("-d", "--delimiter"))
    is_joined = call.stdin is StreamContent.NAMES_BY_NUL and not parsed.has("-0", "--null")
    return (
        StreamContent.ANYTHING
        if is_split_elsewhere or is_joined or parsed.has("-a", "--arg-file")
        else call.stdin
    )


def _check_placeholders(call: ProgramCall, parsed: ParsedOptions, placeholders: Sequence[Word]) -> None:
    """Require one placeholder that is no file name: where xargs does not replace it, it is passed as it is.

    A later `-I`, `-n` or `-L` disables the placeholder of an earlier one.
    """
    has_batches = parsed.has("-n", "-L", "--max-args", "--max-lines")
    if len(placeholders) > 1 or (placeholders and has_batches):
        raise UnclearCommandError("xargs has several placeholders, or -n or -L with one", call.span)
    for placeholder in placeholders:
        if not PLACEHOLDER.fullmatch(placeholder.value or ""):
            raise UnclearCommandError("a placeholder of xargs that may be a file name", placeholder.span)


def _fill_placeholder(call: ProgramCall, placeholders: Sequence[Word], word: Word) -> Word:
    """Return a word with placeholders for names, and record the directory in front of the name as read."""
    for placeholder in placeholders:
        text = placeholder.value or ""
        if text not in word.prefix:
            continue
        before, _, after = word.prefix.partition(text)
        directory, slash, start = before.rpartition("/")
        if before.startswith("-"):
            raise UnclearCommandError("an option that is known only when the command runs", word.span)
        if call.stdin is StreamContent.ANYTHING or not _stays_below(start, after, text):
            return _unknown_word(call)
        if slash:
            call.read(replace(word, value=directory or slash, prefix=directory or slash), recursive=True)
        return to_any_file_name(word)
    return word


def _stays_below(before: str, after: str, text: str) -> bool:
    """Return whether a name between these two stays below its directory.

    `.` in front of the name `./x` gives `../x`; `.` behind a name that ends in a dot gives `..`.
    """
    is_dots = before in (".", "..") or (after != "" and not after.strip("."))
    return not (is_dots or "/" in after or text in after)


def _unknown_word(call: ProgramCall) -> Word:
    """Return a word of which nothing is known, with the span of the call."""
    return Word(None, "", *call.span)


def _eval(call: ProgramCall) -> CommandOutcome:
    """Run `eval …`: always unknown, but what the string writes is recorded."""
    call.add_unknown(RUNS_STRING)
    if call.args and all(word.value is not None for word in call.args):
        text = " ".join(word.value or "" for word in call.args)
        _record_writes(call, text, (call.args[0].start, call.args[-1].end), call.recorder.shells)
    return CommandOutcome.from_state(call.state)


def _shell(call: ProgramCall) -> CommandOutcome:
    """Run `bash -c '…'`. A string that is certain is judged like a command of its own."""
    if [word.value for word in call.args] == ["--version"]:
        return CommandOutcome.from_state(call.state)
    options, string = _split_command_string(call.args)
    shells = SHELLS_BY_NAME.get(call.name, ANY_SHELL)
    if string is None:
        raise UnknownUsageError(RUNS_STRING)
    if string.value is None:
        raise UnclearCommandError(RUNS_STRING)
    is_clear = call.name in SHELLS_BY_NAME and all(SHELL_OPTION.fullmatch(option) for option in options)
    if call.recorder.exports_variables or call.state.directories is None or not is_clear:
        call.add_unknown(RUNS_STRING)
        _record_writes(call, string.value, string.span, shells)
        return CommandOutcome.from_state(call.state)
    for directory in call.state.directories:
        analysis = call.recorder.analyse_nested(string.value, directory, shells)
        call.recorder.add_nested(analysis, string.span)
    return CommandOutcome.from_state(call.state)


def _record_writes(call: ProgramCall, text: str, location: Span, shells: Shells) -> None:
    """Record what a string writes that is unknown already: its targets may refuse it."""
    for directory in call.state.directories or ():
        with suppress(UnclearCommandError):
            analysis = call.recorder.analyse_nested(text, directory, shells)
            call.recorder.add_nested_writes(analysis, location)


def _split_command_string(args: Sequence[Word]) -> tuple[list[str], Word | None]:
    """Return the options in front of the string that a shell runs, and the string."""
    for index, word in enumerate(args):
        if re.fullmatch(r"-[a-z]*c", word.prefix):
            options = [option.value or "?" for option in args[: index + 1]]
            return options, args[index + 1] if index + 1 < len(args) else None
    return [], None


WRAPPERS: Mapping[str, ShellCommand] = {
    "env": _env,
    "command": _command,
    "exec": _exec,
    "rtk": _rtk,
    "coproc": _coproc,
    "xargs": _xargs,
    "find": find,
    "eval": _eval,
    **dict.fromkeys(("bash", "sh", "dash", "zsh", "ksh"), _shell),
}


def find_wrapper(name: str) -> ShellCommand | None:
    """Return how a program runs the command that stands behind it; None for any other program."""
    return WRAPPERS.get(name) or (_wrap if name in load_table().wrappers else None)
