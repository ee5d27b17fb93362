"""`git`: which subcommands only look, and which change named files of the work tree.

Everything else (commit, reset, stash, apply, config, fetch …) changes the repository or runs its hooks
and is unclear. So are `-c`, `--git-dir`, `--work-tree` and `-p`, which choose what git runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import translate

from controlplane.policy.shell.command import CustomProgram, ProgramCall, record_option_files
from controlplane.policy.shell.lexical_path import CommandPath, change_directory
from controlplane.policy.shell.options import ParsedOptions, build_spec, parse_options
from controlplane.policy.shell.programs.copy import move, parse_route
from controlplane.policy.shell.programs.git.options import READING, WRITING
from controlplane.policy.shell.programs.git.repositories import check_repository
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.state import State
from controlplane.policy.shell.wildcards import MAX_MATCHES, SPECIAL
from controlplane.policy.shell.word import Word

GLOBAL = build_spec(
    "-P -C= --no-pager --no-optional-locks --literal-pathspecs", "-*", marks="stops_at_operand"
)
LISTING = ("-l", "--list", "--merged", "--no-merged", "--contains", "--no-contains", "--points-at")
GETTING = ("--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list")


def _git(call: ProgramCall) -> None:
    parsed = call.parse_options(GLOBAL)
    if not parsed.operands:
        return
    command, *args = parsed.operands
    call = replace(call, args=tuple(args), state=_enter_all(call, parsed.values("-C")))
    check_repository(call, call.state.directories or ())
    known = READING.get(command.value or "") or WRITING.get(command.value or "")
    if known is None:
        raise UnclearCommandError("this git command changes the repository")
    found = parse_options(args, known)
    record_option_files(call, found, known)
    HANDLERS.get(command.value or "", _reading)(call, found)


def _enter_all(call: ProgramCall, folders: Sequence[Word]) -> State:
    state = call.state
    for word in folders:
        if word.value is None or word.has_wildcard:
            raise UnclearCommandError("the folder of git is not known", word.span)
        if state.directories is None:
            raise UnclearCommandError("the folder is not known here", word.span)
        given = word.value.removeprefix(f"{call.recorder.root}/")
        check_repository(
            call, [given if given != word.value else f"{folder}/{given}" for folder in state.directories]
        )
        inside = tuple(
            change_directory(folder, word.value, call.recorder.root) for folder in state.directories
        )
        state = replace(state, directories=inside)
    return state


def _reading(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Operands are revisions or paths; a name that is both is read as a path."""
    call.read_cwd()
    _read_named(call, parsed, parsed.operands)


def _read_named(call: ProgramCall, parsed: ParsedOptions, operands: Sequence[Word]) -> None:
    for word in parsed.values("-L"):
        _read_traced(call, word)
    for word in operands:
        _read_operand(call, word)


def _read_traced(call: ProgramCall, word: Word) -> None:
    """`-L 1,5:file` of `git log`; `git blame -L 1,5` names none."""
    if word.value is None:
        raise UnclearCommandError("what git shows is known only when the command runs", word.span)
    name = word.value.rpartition(":")[2]
    if name != word.value:
        call.read(replace(word, value=name, prefix=name))


def _read_operand(call: ProgramCall, word: Word) -> None:
    value = word.value
    if value is None:
        raise UnclearCommandError("what git shows is known only when the command runs", word.span)
    if value.startswith((":!", ":^", ":(exclude)")):
        return  # excludes paths
    if re.search(r"[^/.]\.\.\.?$", value):  # `main..`, a range to where we are
        value = value.rstrip(".")
    if value.startswith(":"):
        raise UnclearCommandError("a path or revision of git that is not understood", word.span)
    _, colon, path = value.partition(":")
    if colon and not path.startswith(("./", "../")):
        call = replace(call, state=replace(call.state, directories=("",)))  # counted from the top of the tree
    if path or not colon:
        name = path or value
        call.read(replace(word, value=name, prefix=name))
        if SPECIAL.search(name):
            _read_matching(call, word, name)


def _read_matching(call: ProgramCall, word: Word, pattern: str) -> None:
    """The files that a pathspec of git matches: its wildcards also stand for slashes, even in quotes."""
    below = call.recorder.filesystem.list_files("") if call.recorder.on_disk else None
    for path in call.resolve(replace(word, value=pattern, prefix=pattern)):
        wanted = re.compile(translate(path.key.replace("[^", "[!")))
        found = [file for file in below or () if wanted.match(file)]
        for file in found[:MAX_MATCHES]:
            call.recorder.add_read(CommandPath(file, "", file), recursive=False, span=word.span)


def _listing(call: ProgramCall, parsed: ParsedOptions) -> None:
    """`git branch x` and `git tag x` create, unless an option makes them list."""
    call.read_cwd()
    if parsed.operands and not parsed.has(*LISTING):
        raise UnclearCommandError("this git command changes the repository")


def _subcommand(*allowed: str, shows: bool = False) -> Callable[[ProgramCall, ParsedOptions], None]:
    """Commands such as `git stash list`, of which only some subcommands look; `shows`: at files, too."""

    def judge(call: ProgramCall, parsed: ParsedOptions) -> None:
        call.read_cwd()
        first = parsed.operands[0].value if parsed.operands else ""
        if first not in allowed:
            raise UnclearCommandError("this git command changes the repository")
        if shows:
            _read_named(call, parsed, parsed.operands[1:])

    return judge


def _config(call: ProgramCall, parsed: ParsedOptions) -> None:
    """One name without a value is a question."""
    call.read_cwd()
    first = (parsed.operands[0].value if parsed.operands else "") or ""
    is_name = len(parsed.operands) == 1 and "." in first  # `git config edit` opens an editor
    if not (is_name or parsed.has(*GETTING) or first in ("get", "list")):
        raise UnclearCommandError("changes the configuration of git")


def _grep(call: ProgramCall, parsed: ParsedOptions) -> None:
    """The pattern comes first, unless -e gave it."""
    call.read_cwd()
    rest = parsed.operands if parsed.has("-e", "-f") else parsed.operands[1:]
    for word in rest:
        _read_operand(call, word)


def _remote(call: ProgramCall, parsed: ParsedOptions) -> None:
    """`git remote show origin` asks the other machine, unless -n keeps it from that."""
    _subcommand("", "show", "get-url")(call, parsed)
    if len(parsed.operands) > 1 and parsed.operands[0].value == "show" and not parsed.has("-n"):
        raise UnclearCommandError("asks another machine", call.span)


def _apply(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Only asked what a patch would do."""
    if not parsed.has("--check", "--stat", "--numstat", "--summary"):
        raise UnclearCommandError("this git command changes the repository")
    call.read_cwd()
    call.read_all(parsed.operands)


def _symbolic_ref(call: ProgramCall, parsed: ParsedOptions) -> None:
    if len(parsed.operands) != 1:
        raise UnclearCommandError("this git command changes the repository", call.span)


def _paths(call: ProgramCall, words: Sequence[Word], op: str) -> None:
    """Pathspecs that name files or folders; git has wildcards of its own, even in quotes."""
    for word in words:
        value = word.value or ""
        if value.startswith(":") or any(char in value for char in "*?[\\"):
            raise UnclearCommandError("a pathspec of git that matches names", word.span)
        recursive = any(call.recorder.may_be_directory(path) for path in call.resolve(word))
        call.write(word, op, recursive=recursive, may_link=op != "delete")


def _checkout(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Only with `--`: what stands behind it are files for certain."""
    if not parsed.after_double_dash:
        raise UnclearCommandError("git switches to another state of the tree")
    _paths(call, parsed.after_double_dash, "write")


def _restore(call: ProgramCall, parsed: ParsedOptions) -> None:
    _paths(call, parsed.operands, "write")


def _remove(call: ProgramCall, parsed: ParsedOptions) -> None:
    _paths(call, parsed.operands, "delete")


def _move(call: ProgramCall, parsed: ParsedOptions) -> None:
    way = parse_route(call, parsed, "move")
    for source in way.sources:
        move(call, way, source)


HANDLERS: Mapping[str, Callable[[ProgramCall, ParsedOptions], None]] = {
    "branch": _listing,
    "tag": _listing,
    "stash": _subcommand("list", "show", shows=True),
    "worktree": _subcommand("list"),
    "remote": _remote,
    "apply": _apply,
    "reflog": _subcommand("", "show", shows=True),
    "submodule": _subcommand("status"),
    "notes": _subcommand("", "list", "show"),
    "bisect": _subcommand("log"),
    "config": _config,
    "grep": _grep,
    "symbolic-ref": _symbolic_ref,
    "checkout": _checkout,
    "restore": _restore,
    "rm": _remove,
    "mv": _move,
}
GIT = CustomProgram(_git)
