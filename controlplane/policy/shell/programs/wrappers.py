"""Programs that run another command."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from controlplane.policy.shell.command import ProgramCall
from controlplane.policy.shell.options import OptionSpec, ParsedOptions, build_spec
from controlplane.policy.shell.programs.find import find
from controlplane.policy.shell.programs.registry import run_with_file_names
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import CommandOutcome, StreamContent, always
from controlplane.policy.shell.variables import is_harmless, is_quiet
from controlplane.policy.shell.word import Word, to_any_file_name

ShellCommand = Callable[[ProgramCall], CommandOutcome]
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")


def _stopping(options: str) -> OptionSpec:
    return build_spec(options, "-*", marks="stops_at_operand takes_number")


ENV = _stopping("-i0 -u= --ignore-environment --unset= --null")
EXEC = _stopping("-cl -a=")
COMMAND = _stopping("-pvV")
PLACE = re.compile(r"\{\w*\}|[%@_+]+")
XARGS = build_spec(
    "-0rtx -n= -P= -L= -I= -d= -s= -a=r --null --no-run-if-empty --max-args= --max-procs= --max-lines? "
    "--delimiter= --max-chars= --arg-file=r --verbose --exit",
    "-*",
    marks="stops_at_operand",
)


def _prefixed(options: str, skip: int = 0) -> ShellCommand:
    """A program such as `nice` or `timeout 5`: options, `skip` operands, then a command."""
    known = _stopping(options)

    def run(call: ProgramCall) -> CommandOutcome:
        return call.run_nested(call.parse_options(known).operands[skip:])

    return run


def _untrusted(why: str, options: str = "") -> ShellCommand:
    """The inner command is judged, so that a refusal still counts, but never trusted."""
    known = _stopping(options)

    def run(call: ProgramCall) -> CommandOutcome:
        call.add_unknown(why)
        call.run_nested(call.parse_options(known).operands)
        return always(call.state)

    return run


def _beside(call: ProgramCall) -> CommandOutcome:
    """A coprocess: when it runs, and what of the shell it sees and changes, cannot be said."""
    call.add_unknown("runs beside the shell")
    return always(call.state)


def _env(call: ProgramCall) -> CommandOutcome:
    words = list(call.parse_options(ENV).operands)
    while words and (match := ASSIGNMENT.match(words[0].prefix)):
        variable = words.pop(0)
        call.recorder.exports_variables |= not is_quiet(match[1])
        if not is_harmless(match[1], variable.tail(match.end()).value):
            call.recorder.add_unknown(f"programs may listen to {match[1]}", variable.span)
    return call.run_nested(words)


def _exec(call: ProgramCall) -> CommandOutcome:
    """`exec cmd`, or `exec > file`, behind which every later command may write to the file."""
    words = call.parse_options(EXEC).operands
    call.recorder.exec_redirects += not words
    if not words and call.redirects_to_file:
        call.add_unknown("redirects all that follows")
    return call.run_nested(words)


def _command(call: ProgramCall) -> CommandOutcome:
    """`command -v x` only asks; `command x` runs x."""
    parsed = call.parse_options(COMMAND)
    return always(call.state) if parsed.has("-v", "-V") else call.run_nested(parsed.operands)


def _xargs(call: ProgramCall) -> CommandOutcome:
    """Arguments come from elsewhere, so the program must be one that no option can turn; and it must not
    read what they name, unless they are names of files that are looked through anyway."""
    parsed = call.parse_options(XARGS)
    places = parsed.values("-I")
    call.read_all(parsed.values("-a", "--arg-file"))
    _vet_places(call, parsed, places)
    call = replace(call, stdin=_names(call, parsed))
    program, words = parsed.operands[:1], parsed.operands[1:]
    if any(place.value and place.value in word.prefix for place in places for word in program):
        raise UnclearCommandError("the program is not known", call.span)
    given = [_given(call, places, word) for word in words]
    if not places and call.stdin is StreamContent.ANYTHING:
        given.append(_unknown(call))
    try:
        run_with_file_names(call, [*program, *given] if program else [])
    except UnclearCommandError as error:
        why = "xargs is given names that are not followed" if error.span == call.span else error.reason
        raise UnclearCommandError(why, error.span) from None
    return always(call.state)


def _names(call: ProgramCall, parsed: ParsedOptions) -> StreamContent:
    """What names come in, split as they are separated: elsewhere cut, one may become any other."""
    is_cut = any(word.value not in ("\n", "\\n") for word in parsed.values("-d", "--delimiter"))
    is_joined = call.stdin is StreamContent.NAMES_BY_NUL and not parsed.has("-0", "--null")
    return StreamContent.ANYTHING if is_cut or is_joined or parsed.has("-a", "--arg-file") else call.stdin


def _vet_places(call: ProgramCall, parsed: ParsedOptions, places: Sequence[Word]) -> None:
    """A placeholder that a later option takes back, or that counts in some arguments only, stays what it is:
    it must not be the name of a file."""
    others = parsed.has("-n", "-L", "--max-args", "--max-lines")
    if len(places) > 1 or (places and others):
        raise UnclearCommandError("which placeholder of xargs counts is not clear", call.span)
    for place in places:
        if not PLACE.fullmatch(place.value or ""):
            raise UnclearCommandError("a placeholder that may be a name", place.span)


def _given(call: ProgramCall, places: Sequence[Word], word: Word) -> Word:
    """The word, or what stands for it where it comes from standard input: all that is below its folder."""
    for place in places:
        text = place.value or ""
        if text not in word.prefix:
            continue
        before, _, behind = word.prefix.partition(text)
        folder, slash, start = before.rpartition("/")
        if before.startswith("-"):
            raise UnclearCommandError("an option that is not known", word.span)
        if call.stdin is StreamContent.ANYTHING or not _stays(start, behind, text):
            return _unknown(call)
        if slash:
            call.read(replace(word, value=folder or slash, prefix=folder or slash), recursive=True)
        return to_any_file_name(word)
    return word


def _stays(before: str, behind: str, text: str) -> bool:
    """Whether a name between these two stays below its folder: `.` and `./x` become `../x`,
    and so do `.` and `.`, with which names may end."""
    is_dots = before in (".", "..") or (behind != "" and not behind.strip("."))
    return not (is_dots or "/" in behind or text in behind)


def _unknown(call: ProgramCall) -> Word:
    """A name of which nothing is known, marked with the whole call."""
    return Word(None, "", *call.span)


def _string(call: ProgramCall) -> CommandOutcome:
    """`bash -c '…'` and `eval …`: judged for what it names, never trusted."""
    call.add_unknown("a string is run as a command")
    words = call.args if call.name == "eval" else _command_string(call.args)
    if words and all(word.value is not None for word in words):
        text = " ".join(word.value or "" for word in words)
        call.recorder.add_nested(text, call.state.directories or (), (words[0].start, words[-1].end))
    return always(call.state)


def _command_string(args: Sequence[Word]) -> Sequence[Word]:
    for at, word in enumerate(args):
        if re.fullmatch(r"-[a-z]*c", word.prefix):
            return args[at + 1 : at + 2]
    return ()


WRAPPERS: Mapping[str, ShellCommand] = {
    "env": _env,
    "command": _command,
    "builtin": _prefixed(""),
    "exec": _exec,
    "time": _prefixed("-p"),
    "nice": _prefixed("-n= --adjustment="),
    "ionice": _prefixed("-t -c= -n="),
    "timeout": _prefixed(
        "-v -k= -s= --foreground --kill-after= --preserve-status --signal= --verbose", skip=1
    ),
    "setsid": _prefixed("-cfw --ctty --fork --wait"),
    "stdbuf": _prefixed("-i= -o= -e= --input= --output= --error="),
    "nohup": _untrusted("nohup may write nohup.out"),
    "sudo": _untrusted(
        "runs as another user", "-EHnSk -u= -g= --user= --group= --preserve-env? --non-interactive"
    ),
    "doas": _untrusted("runs as another user", "-n -u="),
    "coproc": _beside,
    "xargs": _xargs,
    "find": find,
    **dict.fromkeys(("bash", "sh", "dash", "zsh", "ksh", "eval"), _string),
}
