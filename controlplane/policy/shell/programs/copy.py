"""`cp`, `mv`, `ln` and `install`: where a copy ends up depends on what exists at the destination."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from controlplane.policy.paths.raw_path import PatternUse
from controlplane.policy.shell.options import ParsedOptions
from controlplane.policy.shell.program_call import ProgramCall
from controlplane.policy.shell.programs.mkdir import make_directory, make_parents
from controlplane.policy.shell.programs.roles import Handler
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

DIRECTORY = ("-t", "--target-directory")
EXACT = ("-T", "--no-target-directory")
KEEPS_LINKS = ("-d", "-P", "--no-dereference")


@dataclass(frozen=True, slots=True)
class CopyRoute:
    """Sources and their destination; `into_directory` where that is a directory for certain."""

    sources: tuple[Word, ...]
    destination: Word
    into_directory: bool
    exact: bool
    op: str


def parse_route(call: ProgramCall, parsed: ParsedOptions, op: str = "write") -> CopyRoute:
    """Parse `SOURCE… DESTINATION`, `-t DIRECTORY SOURCE…` or `-T SOURCE DESTINATION`."""
    targets = parsed.values(*DIRECTORY)
    if targets:
        return CopyRoute(parsed.operands, targets[-1], into_directory=True, exact=False, op=op)
    if len(parsed.operands) < 2:
        raise UnclearCommandError("the destination is missing", call.span)
    *sources, destination = parsed.operands
    last = (destination.value or "").rpartition("/")[2]
    into = len(sources) > 1 or last in ("", ".", "..")
    return CopyRoute(tuple(sources), destination, into, parsed.has(*EXACT), op)


def write_destination(
    call: ProgramCall, route: CopyRoute, source: Word, *, recursive: bool, may_link: bool
) -> None:
    """Record every path at which one source may end up."""
    name = _base_name(source)
    if route.exact or (not route.into_directory and not _may_be_directory(call, route.destination)):
        _write_path(call, route, recursive=recursive, may_link=may_link)
        return
    if name == "":  # `cp -r src/. target` copies into the destination itself
        _write_path(call, route, recursive=True, may_link=may_link)
        return
    if not route.into_directory and not _is_directory(call, route.destination):
        _write_path(call, route, recursive=recursive, may_link=may_link)
    _write_path(call, route, below=name, recursive=recursive, may_link=may_link)


def _write_path(
    call: ProgramCall, route: CopyRoute, *, below: str = "", recursive: bool, may_link: bool
) -> None:
    """Record one write. A tree that is copied also writes through the links that exist at its destination."""
    call.write(route.destination, route.op, below=below, recursive=recursive, may_link=may_link)
    if recursive and route.op == "write" and call.recorder.on_disk:
        span = (route.destination.start, route.destination.end)
        for path in call.resolve(route.destination, below=below):
            for link in call.recorder.find_links(path, span):
                call.recorder.add_write(link, "write", span)


def _base_name(source: Word) -> str:
    """Return the name of a source in the destination directory, "" for `.` and `..`."""
    if source.value is None or source.has_wildcard:
        raise UnclearCommandError("what is copied is known only when the command runs", source.span)
    name = source.value.rstrip("/").rpartition("/")[2]
    return "" if name in (".", "..") else name


def _is_directory(call: ProgramCall, word: Word) -> bool:
    return all(call.recorder.is_directory(path) for path in call.resolve(word))


def _may_be_directory(call: ProgramCall, word: Word) -> bool:
    return any(call.recorder.may_be_directory(path) for path in call.resolve(word))


def _add_directories(call: ProgramCall, word: Word) -> None:
    """Remember that the destination may be a directory now, so that a later copy may go below it."""
    call.recorder.created_directories.update(path.key for path in call.resolve(word))


def _cp(call: ProgramCall, parsed: ParsedOptions) -> None:
    route = parse_route(call, parsed)
    is_recursive = parsed.has(*parsed.row.recursive)
    for source in route.sources:
        # A file copied by `cp -r` is one write; only a directory makes everything below the target one.
        recursive = is_recursive and _may_be_directory(call, source)
        call.read(source, recursive=recursive)
        for path in call.list_filtered([source], "") if recursive else ():
            call.recorder.add_pattern(path, PatternUse.COPY)
        may_link = is_recursive or parsed.has(*KEEPS_LINKS)
        write_destination(call, route, source, recursive=recursive, may_link=may_link)
    if is_recursive:
        _add_directories(call, route.destination)


def _mv(call: ProgramCall, parsed: ParsedOptions) -> None:
    route = parse_route(call, parsed, "move")
    for source in route.sources:
        move(call, route, source)


def move(call: ProgramCall, route: CopyRoute, source: Word) -> None:
    """Record both ends of a move; what is moved may be a directory or a link."""
    recursive = _may_be_directory(call, source)
    write_destination(call, route, source, recursive=recursive, may_link=True)
    call.write(source, "move", recursive=recursive)
    if recursive:
        _add_directories(call, route.destination)


def _ln(call: ProgramCall, parsed: ParsedOptions) -> None:
    if len(parsed.operands) == 1 and not parsed.has(*DIRECTORY):
        current = Word(".", ".", *call.span)
        route = CopyRoute(parsed.operands, current, into_directory=True, exact=False, op="link")
    else:
        route = parse_route(call, parsed, "link")
    for source in route.sources:
        if parsed.has("-s", "--symbolic"):
            _record_link_target(call, route, source)
        else:
            call.write(source, "link")  # a hard link: a write to one name changes both
        write_destination(call, route, source, recursive=False, may_link=True)
    _add_directories(call, route.destination)


def _record_link_target(call: ProgramCall, route: CopyRoute, source: Word) -> None:
    """Record the target of a symbolic link as written: a later command, or one that runs already, may write
    through the link."""
    directory = route.destination.value or ""
    if not route.into_directory and not _is_directory(call, route.destination):
        directory = directory.rpartition("/")[0]
    target = source
    if source.value and directory and not source.value.startswith("/") and not source.has_tilde:
        target = replace(source, value=f"{directory}/{source.value}", prefix=f"{directory}/{source.prefix}")
        target = replace(target, has_tilde=route.destination.has_tilde)
    recursive = any(call.recorder.may_be_directory(path) for path in call.resolve(target))
    call.write(target, "link", recursive=recursive)


def _install(call: ProgramCall, parsed: ParsedOptions) -> None:
    if parsed.has("-d", "--directory"):
        for word in parsed.operands:
            make_directory(call, word, parents=True)
        return
    route = parse_route(call, parsed)
    if parsed.has("-D"):
        make_parents(call, route.destination)
    for source in route.sources:
        call.read(source)
        write_destination(call, route, source, recursive=False, may_link=False)


COPIERS: Mapping[str, Handler] = {"cp": _cp, "mv": _mv, "ln": _ln, "install": _install}
