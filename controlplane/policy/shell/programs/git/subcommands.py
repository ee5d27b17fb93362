"""`git`: the subcommands that only read, and those that change named files of the work tree.

Everything else (commit, reset, stash, apply, config, fetch …) changes the repository or runs its hooks
and is unclear. So are `-c`, `--git-dir`, `--work-tree` and `-p`, which choose what git runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import translate

from controlplane.policy.effects import Effect
from controlplane.policy.paths.raw_path import PatternUse
from controlplane.policy.shell.lexical_path import CommandPath, change_directory
from controlplane.policy.shell.options import ParsedOptions, parse_options
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.copy import move, parse_route
from controlplane.policy.shell.programs.git.hooks import check_hooks
from controlplane.policy.shell.programs.git.repositories import check_repository
from controlplane.policy.shell.programs.roles import check_presence, record_option_files
from controlplane.policy.shell.result import UnclearCommandError, UnknownUsageError
from controlplane.policy.shell.state import State
from controlplane.policy.shell.table.load import load_table
from controlplane.policy.shell.table.row import PATHSPEC, READ
from controlplane.policy.shell.wildcards import MAX_MATCHES, SPECIAL
from controlplane.policy.shell.word import Word

CHANGES_REPOSITORY = "this git command changes the repository"
OVERWRITES = "overwrites files of the work tree, with what is not committed in them"
GET_OPTIONS = ("--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list")


def run_git(call: ProgramCall) -> None:
    parsed = call.parse_options(load_table().files["git"])
    if not parsed.operands:
        return
    command, *args = parsed.operands
    call = replace(call, args=tuple(args), state=_change_directories(call, parsed.values("-C")))
    check_repository(call, call.state.directories or ())
    check_hooks(call)
    try:
        _run_subcommand(call, command.value or "")
    except UnclearCommandError as error:
        raise UnknownUsageError(error.reason, error.span) from error


def _run_subcommand(call: ProgramCall, command: str) -> None:
    row = load_table().files.get(f"git {command}")
    if row is None:
        raise UnclearCommandError(CHANGES_REPOSITORY)
    parsed = parse_options(call.args, row)
    record_option_files(call, parsed)
    HANDLERS.get(command, _read_subcommand)(call, parsed)


def _change_directories(call: ProgramCall, words: Sequence[Word]) -> State:
    state = call.state
    for word in words:
        if word.value is None or word.has_wildcard:
            raise UnclearCommandError(
                "the directory of git -C is known only when the command runs", word.span
            )
        if state.directories is None:
            raise UnclearCommandError("the current directory is not known here", word.span)
        path = word.value.removeprefix(f"{call.recorder.root}/")
        check_repository(
            call, [path if path != word.value else f"{directory}/{path}" for directory in state.directories]
        )
        directories = tuple(
            change_directory(directory, word.value, call.recorder.root) for directory in state.directories
        )
        state = replace(state, directories=directories)
    return state


def _read_subcommand(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Record the operands of a reading subcommand: revisions or paths; what may be both is a path."""
    row = parsed.row
    check_presence(parsed)
    call.read_cwd()
    action = parsed.operands[0].value if parsed.operands else ""
    is_known = not row.actions or action in row.actions
    if not is_known or (row.operands_with and parsed.operands and not parsed.has(*row.operands_with)):
        raise UnclearCommandError(CHANGES_REPOSITORY)
    for path in call.list_filtered(parsed.operands, "") if row.operands == (PATHSPEC,) else ():
        call.recorder.add_listed(path, PatternUse.CONTENT)
    for word in parsed.values("-L"):
        _read_line_log(call, word)
    roles = row.operands[1:] if parsed.has(*row.first) else row.operands
    for at, word in enumerate(parsed.operands):
        role = roles[min(at, len(roles) - 1)]
        if role == PATHSPEC:
            _read_operand(call, word)
        elif role == READ:
            call.read(word)


def _read_line_log(call: ProgramCall, word: Word) -> None:
    """Record the file of `git log -L 1,5:file`; `git blame -L 1,5` names none."""
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
    if re.search(r"[^/.]\.\.\.?$", value):  # `main..`, a range up to HEAD
        value = value.rstrip(".")
    if value.startswith(":"):
        raise UnclearCommandError("a path or revision of git that is not understood", word.span)
    _, colon, path = value.partition(":")
    if colon and not path.startswith(("./", "../")):
        # relative to the top of the work tree
        call = replace(call, state=replace(call.state, directories=("",)))
    if path or not colon:
        name = path or value
        call.read(replace(word, value=name, prefix=name))
        if SPECIAL.search(name):
            _read_matching(call, word, name)


def _read_matching(call: ProgramCall, word: Word, pattern: str) -> None:
    """Record the files that a pathspec matches; its wildcards match slashes, and count in quotes too."""
    workspace_files = call.recorder.filesystem.list_files("") if call.recorder.on_disk else None
    for path in call.resolve(replace(word, value=pattern, prefix=pattern)):
        regex = re.compile(translate(path.key.replace("[^", "[!")))
        files = [file for file in workspace_files or () if regex.match(file)]
        for file in files[:MAX_MATCHES]:
            call.recorder.add_read(CommandPath(file, "", file), recursive=False, location=word.span)


def _config(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `git config`: one name without a value reads it."""
    call.read_cwd()
    first = (parsed.operands[0].value if parsed.operands else "") or ""
    is_name = len(parsed.operands) == 1 and "." in first  # `git config edit` opens an editor
    if not (is_name or parsed.has(*GET_OPTIONS) or first in ("get", "list")):
        raise UnclearCommandError("changes the configuration of git")


def _remote(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `git remote`: `show origin` connects to the other machine, unless -n is given."""
    _read_subcommand(call, parsed)
    if len(parsed.operands) > 1 and parsed.operands[0].value == "show" and not parsed.has("-n"):
        raise UnclearCommandError("connects to another machine", call.span)


def _symbolic_ref(call: ProgramCall, parsed: ParsedOptions) -> None:
    if len(parsed.operands) != 1:
        raise UnclearCommandError(CHANGES_REPOSITORY, call.span)


def _write_paths(call: ProgramCall, words: Sequence[Word], op: str) -> None:
    """Record pathspecs that name files or directories; git expands wildcards even in quotes."""
    for word in words:
        value = word.value or ""
        if value.startswith(":") or any(char in value for char in "*?[\\"):
            raise UnclearCommandError("a pathspec of git with wildcards", word.span)
        recursive = any(call.recorder.may_be_directory(path) for path in call.resolve(word))
        call.write(word, op, recursive=recursive, may_link=op != "delete")


def _checkout(call: ProgramCall, parsed: ParsedOptions) -> None:
    """Run `git checkout --`: the operands behind `--` are files for certain."""
    if not parsed.after_double_dash:
        # `git checkout main` and `git checkout src/a.ts` look alike: a file of this disk counts as one.
        files = [word for word in parsed.operands if word.value and _is_file(call, word)]
        _write_paths(call, files, "write")
        raise UnclearCommandError("this git command may change the whole work tree")
    call.recorder.claim("git checkout --", Effect.DISCARDS, OVERWRITES)
    _write_paths(call, parsed.after_double_dash, "write")


def _is_file(call: ProgramCall, word: Word) -> bool:
    recorder = call.recorder
    return recorder.on_disk and any(recorder.filesystem.exists(path.key) for path in call.resolve(word))


def _restore(call: ProgramCall, parsed: ParsedOptions) -> None:
    if not parsed.has("--staged", "-S") or parsed.has("--worktree", "-W"):
        call.recorder.claim("git restore", Effect.DISCARDS, OVERWRITES)
    _write_paths(call, parsed.operands, "write")


def _remove(call: ProgramCall, parsed: ParsedOptions) -> None:
    _write_paths(call, parsed.operands, "delete")


def _move(call: ProgramCall, parsed: ParsedOptions) -> None:
    route = parse_route(call, parsed, "move")
    for source in route.sources:
        move(call, route, source)


HANDLERS: Mapping[str, Callable[[ProgramCall, ParsedOptions], None]] = {
    "remote": _remote,
    "config": _config,
    "symbolic-ref": _symbolic_ref,
    "checkout": _checkout,
    "restore": _restore,
    "rm": _remove,
    "mv": _move,
}
