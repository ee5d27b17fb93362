"""`cp`, `mv`, `ln` and `install`: where a copy ends up depends on what is there already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from controlplane.policy.shell.command import Program, ProgramCall
from controlplane.policy.shell.lexical_path import is_inside
from controlplane.policy.shell.options import ParsedOptions, build_spec
from controlplane.policy.shell.programs.mkdir import make_directory, make_parents
from controlplane.policy.shell.result import UnclearCommandError
from controlplane.policy.shell.word import Word

DIRECTORY = ("-t", "--target-directory")
EXACT = ("-T", "--no-target-directory")
RECURSIVE = ("-r", "-R", "-a", "--recursive", "--archive")
KEEPS_LINKS = (*RECURSIVE, "-d", "-P", "--no-dereference")


@dataclass(frozen=True, slots=True)
class CopyRoute:
    """Sources and where they go; `into` when the destination is a folder for certain."""

    sources: tuple[Word, ...]
    destination: Word
    into_directory: bool
    exact: bool
    op: str


def parse_route(call: ProgramCall, parsed: ParsedOptions, op: str = "write") -> CopyRoute:
    """Read `SOURCE… DESTINATION`, `-t FOLDER SOURCE…` or `-T SOURCE DESTINATION`."""
    given = parsed.values(*DIRECTORY)
    if given:
        return CopyRoute(parsed.operands, given[-1], into_directory=True, exact=False, op=op)
    if len(parsed.operands) < 2:
        raise UnclearCommandError("the destination is missing", call.span)
    *sources, destination = parsed.operands
    last = (destination.value or "").rpartition("/")[2]
    into = len(sources) > 1 or last in ("", ".", "..")
    return CopyRoute(tuple(sources), destination, into, parsed.has(*EXACT), op)


def write_destination(
    call: ProgramCall, way: CopyRoute, source: Word, *, recursive: bool, may_link: bool
) -> None:
    """Report where one source ends up: all the places that are possible."""
    name = _base_name(source)
    if way.exact or (not way.into_directory and not _may_be_folder(call, way.destination)):
        _write_path(call, way, recursive=recursive, may_link=may_link)
        return
    if name == "":  # `cp -r src/. there` fills the destination itself
        _write_path(call, way, recursive=True, may_link=may_link)
        return
    if not way.into_directory and not _is_folder(call, way.destination):
        _write_path(call, way, recursive=recursive, may_link=may_link)
    _write_path(call, way, below=name, recursive=recursive, may_link=may_link)


def _write_path(
    call: ProgramCall, way: CopyRoute, *, below: str = "", recursive: bool, may_link: bool
) -> None:
    """What arrives at a place; a tree that is copied writes through the links that lie there already."""
    call.write(way.destination, way.op, below=below, recursive=recursive, may_link=may_link)
    if recursive and way.op == "write" and call.recorder.on_disk:
        span = (way.destination.start, way.destination.end)
        for path in call.resolve(way.destination, below=below):
            for link in call.recorder.find_links(path, span):
                call.recorder.add_write(link, "write", span)


def _base_name(source: Word) -> str:
    """The name under which a source arrives in a folder, "" for `.` and `..`."""
    if source.value is None or source.has_wildcard:
        raise UnclearCommandError("what is copied is known only when the command runs", source.span)
    name = source.value.rstrip("/").rpartition("/")[2]
    return "" if name in (".", "..") else name


def _is_folder(call: ProgramCall, word: Word) -> bool:
    return all(call.recorder.is_directory(path) for path in call.resolve(word))


def _may_be_folder(call: ProgramCall, word: Word) -> bool:
    return any(call.recorder.may_be_directory(path) for path in call.resolve(word))


def _add_directories(call: ProgramCall, word: Word) -> None:
    """What arrived may be a folder, so a later copy may land inside it."""
    call.recorder.created_directories.update(path.key for path in call.resolve(word))


def _cp(call: ProgramCall, parsed: ParsedOptions) -> None:
    way = parse_route(call, parsed)
    copies_folders = parsed.has(*RECURSIVE)
    for source in way.sources:
        recursive = copies_folders and _may_be_folder(call, source)
        call.read(source, recursive=recursive)
        may_link = parsed.has(*KEEPS_LINKS)
        write_destination(call, way, source, recursive=recursive, may_link=may_link)
    if copies_folders:
        _add_directories(call, way.destination)


def _mv(call: ProgramCall, parsed: ParsedOptions) -> None:
    way = parse_route(call, parsed, "move")
    for source in way.sources:
        move(call, way, source)


def move(call: ProgramCall, way: CopyRoute, source: Word) -> None:
    """Both ends of a move; what is moved may be a folder or a link."""
    recursive = _may_be_folder(call, source)
    write_destination(call, way, source, recursive=recursive, may_link=True)
    call.write(source, "move", recursive=recursive)
    if recursive:
        _add_directories(call, way.destination)


def _ln(call: ProgramCall, parsed: ParsedOptions) -> None:
    if len(parsed.operands) == 1 and not parsed.has(*DIRECTORY):
        here = Word(".", ".", *call.span)
        way = CopyRoute(parsed.operands, here, into_directory=True, exact=False, op="link")
    else:
        way = parse_route(call, parsed, "link")
    for source in way.sources:
        if parsed.has("-s", "--symbolic"):
            _symbolic(call, way, source)
        else:
            call.write(source, "link")  # a second name for the same bytes: whoever writes one writes both
        write_destination(call, way, source, recursive=False, may_link=True)
    _add_directories(call, way.destination)


def _symbolic(call: ProgramCall, way: CopyRoute, source: Word) -> None:
    """What a symbolic link leads to.

    It is written once somebody writes through the link. Inside a workspace on disk that will be seen
    when it happens; elsewhere nobody can follow the link later, so it counts now.
    """
    folder = way.destination.value or ""
    if not way.into_directory and not _is_folder(call, way.destination):
        folder = folder.rpartition("/")[0]
    target = source
    if source.value and folder and not source.value.startswith("/") and not source.has_tilde:
        target = replace(source, value=f"{folder}/{source.value}", prefix=f"{folder}/{source.prefix}")
        target = replace(target, has_tilde=way.destination.has_tilde)
    if call.recorder.on_disk and all(is_inside(path.key) for path in call.resolve(target)):
        call.read(target)
    else:
        call.write(target, "link")


def _install(call: ProgramCall, parsed: ParsedOptions) -> None:
    if parsed.has("-d", "--directory"):
        for word in parsed.operands:
            make_directory(call, word, parents=True)
        return
    way = parse_route(call, parsed)
    if parsed.has("-D"):
        make_parents(call, way.destination)
    for source in way.sources:
        call.read(source)
        write_destination(call, way, source, recursive=False, may_link=False)


COPIERS: Mapping[str, Program] = {
    "cp": Program(
        build_spec(
            "-adfinprRLPHTuvx -t= --archive --force --interactive --no-clobber --no-dereference "
            "--dereference --preserve? --recursive --update? --verbose --target-directory= "
            "--no-target-directory --one-file-system --reflink? --sparse="
        ),
        _cp,
    ),
    "mv": Program(
        build_spec(
            "-finTuv -t= --force --interactive --no-clobber --update? --verbose --target-directory= "
            "--no-target-directory"
        ),
        _mv,
    ),
    "ln": Program(
        build_spec(
            "-sfinLPTv -t= --symbolic --force --interactive --no-dereference --logical --physical --verbose "
            "--target-directory= --no-target-directory"
        ),
        _ln,
    ),
    "install": Program(
        build_spec(
            "-cCdDpTv -m= -o= -g= -t= --directory --mode= --owner= --group= --preserve-timestamps "
            "--target-directory= --no-target-directory --verbose --compare"
        ),
        _install,
    ),
}
